"""What holds of any run that is kept: it opens again, verifies, replays, compares and is drawn."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import metric
from calibrant.report import html_report
from calibrant.runs import RunSettings, compare, export, read_export, replay, run, verify

answers = st.one_of(st.booleans(), st.sampled_from([0.0, 0.2, 0.35, 0.5, 0.8, 1.0]), st.none())
tables = st.lists(answers, min_size=1, max_size=25)
names = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=8)
few = settings(max_examples=25, deadline=None)


def measured(values, *, name="run", threshold=0.5, clusters=1, higher_is_better=True):
    """A run in which item k got `values[k]`, or could not be rated where that is None."""

    def said(item):
        value = values[int(item.id)]
        if value is None:
            raise RuntimeError("no answer <at all>")
        return value

    def answer(item):
        return said(item)

    rows = [{"id": str(place), "query": "?", "group": str(place % clusters)} for place in range(len(values))]
    rule = metric(answer, name="said", threshold=threshold, higher_is_better=higher_is_better)
    cluster = "group" if clusters > 1 else None
    return run(rows, [rule], settings=RunSettings(name=name, cluster=cluster, concurrency=1))


@few
@given(tables, names, st.integers(1, 4))
def test_an_exported_run_opens_again_as_it_was(values, name, clusters):
    made = measured(values, name=name, clusters=clusters)
    with tempfile.TemporaryDirectory() as folder:
        found = read_export(export(made, Path(folder) / "run.jsonl"))
    assert found.to_json() == made.to_json()
    assert [*found.ratings()] == [*made.ratings()]


@few
@given(tables, st.integers(1, 4))
def test_a_run_that_nobody_touched_verifies(values, clusters):
    found = verify(measured(values, clusters=clusters))
    assert found.is_ok, str(found)
    assert found.ratings == len(values)


@few
@given(tables, st.data())
def test_any_changed_value_is_found(values, data):
    made = measured(values)
    with tempfile.TemporaryDirectory() as folder:
        path = export(made, Path(folder) / "run.jsonl")
        lines = path.read_text(encoding="utf-8").splitlines()
        place = data.draw(st.integers(1, len(lines) - 1))
        rating = json.loads(lines[place])
        changed = {"status": "rated", "failure": None, "value": 0.123}
        lines[place] = json.dumps({**rating, **changed})
        path.write_text("\n".join(lines), encoding="utf-8")
        found = verify(path)
    assert not found.is_ok
    assert found.differences[0].where == "the seal over all ratings"


@few
@given(tables, st.sampled_from([0.0, 0.2, 0.3, 0.5, 0.9, 1.0]), st.booleans())
def test_a_replay_at_any_threshold_is_the_run_at_that_threshold(values, threshold, higher_is_better):
    made = measured(values, threshold=0.4, higher_is_better=higher_is_better)
    true = measured(values, threshold=threshold, higher_is_better=higher_is_better)
    found = replay(made, threshold=threshold)
    assert found.after.metrics == true.metrics
    told = found.metric("said")
    assert not {*told.to_pass} & {*told.to_fail}
    turned = true.metric("said").failing_items - made.metric("said").failing_items
    assert len(told.to_fail) - len(told.to_pass) == turned


@few
@given(tables)
def test_a_replay_forth_and_back_is_the_run(values):
    made = measured(values, threshold=0.4)
    back = replay(replay(made, threshold=0.9).after, threshold=0.4).after
    assert back.metrics == made.metrics


@few
@given(tables)
def test_a_run_and_itself_differ_nowhere(values):
    made = measured(values)
    for one in compare(made, made).differences:
        assert one.better is None
        assert one.wins == one.losses == ()
        assert one.difference.value in {0.0, None}


@few
@given(st.lists(st.tuples(answers, answers), min_size=1, max_size=25), st.integers(1, 3))
def test_runs_that_change_places_turn_every_difference_around(pairs, clusters):
    values = {"a": [one for one, _ in pairs], "b": [one for _, one in pairs]}
    runs = {name: measured(table, name=name, clusters=clusters) for name, table in values.items()}
    # Each run's function closes over its own table; by its text it is the same instrument.
    there = compare(runs["a"], runs["b"], allow="instrument")
    back = compare(runs["b"], runs["a"], allow="instrument")
    for one, other in zip(there.differences, back.differences, strict=True):
        assert (one.wins, one.losses, one.ties) == (other.losses, other.wins, other.ties)
        assert (one.lost_a, one.lost_b) == (other.lost_b, other.lost_a)
        assert (one.p_corrected is None) == (other.p_corrected is None)
        if one.p_corrected is not None:
            assert 0 < one.p_corrected <= 1
            assert one.p_corrected == pytest.approx(other.p_corrected)
            assert one.difference.value == pytest.approx(-other.difference.value)
        assert {None: None, "a": "b", "b": "a"}[one.better] == other.better


@few
@given(tables, st.text("<>&'\"ü日 x", min_size=1, max_size=8))
def test_any_run_is_drawn_with_nothing_unescaped_and_no_nan(values, name):
    made = measured(values, name=name)
    page = html_report(made, compare(made, measured(values, name=f"{name}2")))
    assert "<at all>" not in page
    assert "nan" not in page.partition("<body>")[2].lower()
    assert "None" not in page.partition("<body>")[2]
    assert page.count("<table") == page.count("</table>")
    json.dumps(made.to_json(), allow_nan=False)
