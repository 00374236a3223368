import json
import sqlite3
import zlib

import pytest
from sample_runs import brief, faithfulness, items, jury, kept, share, tone

from calibrant import MultiOutputBaseMetric, ScriptedInvoker
from calibrant.aggregation import MedianAggregationStrategy
from calibrant.errors import InputError, StoreError, UnknownNameError
from calibrant.metrics import RubricMetric
from calibrant.runs import export, reopened, verify

LABELS = [
    {"item": f"q{number}", "criterion": "groundedness", "annotator": "kim", "value": "yes" if number % 4 else "no"}
    for number in range(30)
]


@pytest.fixture
def folder(tmp_path):
    """A workspace with one run: a jury that fails on some items, a rule, gates, people's labels."""
    run = kept(
        items(),
        [jury(failing={0, 17}), brief],
        folder=tmp_path / ".calibrant",
        gates=["groundedness.pass_rate >= 0.9", "brief.failing_items <= 20", "coverage >= 0.9"],
        labels=LABELS,
    )
    run.close()
    return tmp_path


def changed(folder, sql, *values):
    """Do something to the database as somebody would who leaves the checksums alone."""
    with sqlite3.connect(folder / ".calibrant" / "calibrant.db") as database:
        assert database.execute(sql, values).rowcount == 1
    database.close()


def rewritten(folder, edit, *, where="role = 'result' AND status = 'rated' AND criterion = 'brief'"):
    """Edit one rating and make its checksum right again."""
    with sqlite3.connect(folder / ".calibrant" / "calibrant.db") as database:
        place, data = database.execute(f"SELECT id, data FROM ratings WHERE {where} ORDER BY id LIMIT 1").fetchone()  # noqa: S608 - the test's own words
        data = json.loads(data)
        edit(data)
        text = json.dumps(data, separators=(",", ":"))
        crc = zlib.crc32(text.encode())
        database.execute("UPDATE ratings SET data = ?, crc = ? WHERE id = ?", (text, crc, place))
    database.close()
    return data["item"]


def manifest(folder, edit):
    with sqlite3.connect(folder / ".calibrant" / "calibrant.db") as database:
        run, data = database.execute("SELECT run, data FROM manifests").fetchone()
        data = json.loads(data)
        edit(data)
        database.execute("UPDATE manifests SET data = ? WHERE run = ?", (json.dumps(data), run))
    database.close()


def places(found):
    return [one.where for one in found.differences]


def test_a_run_as_it_was_kept_is_ok(folder):
    found = verify("latest", workspace=folder)
    assert found.is_ok, str(found)
    assert found.differences == found.damaged == ()
    assert found.ratings == 40 * 4 + 40
    assert found.checked > 100
    assert str(found).startswith(
        f"OK  {found.run}: {found.checked} entries of the report worked out anew from 200 ratings"
    )


def test_what_cannot_be_worked_out_is_said(folder):
    # Two items failed in all three slots, each asked three times over: those calls left no usage in any rating.
    assert any("calls that no rating accounts for" in text for text in verify("latest", workspace=folder).unchecked)


def test_a_changed_row_is_found_by_its_checksum(folder):
    changed(
        folder,
        "UPDATE ratings SET data = replace(data, '\"value\":true', '\"value\":false') "
        "WHERE item = 'q0' AND criterion = 'brief'",
    )
    found = verify("latest", workspace=folder)
    assert not found.is_ok
    assert found.damaged == (f"rating of item 'q0' on 'brief' in run '{found.run}'",)
    assert (
        str(found).splitlines()[0] == f"DAMAGED  {found.run}: 1 of its rows do not match their checksum, or are missing"
    )


def test_a_changed_row_with_its_checksum_made_right_is_found_by_what_it_comes_to(folder):
    rewritten(folder, lambda data: data.update(value=not data["value"]))
    found = verify("latest", workspace=folder)
    assert {"the seal over all ratings", "metrics, brief, pass_rate, value", "metrics, brief, failing_items"} <= set(
        places(found)
    )
    assert str(found).startswith(f"DIFFERS  {found.run}")
    assert "reported 0.6, but the store says 0.575" in str(found)


def test_two_changes_that_cancel_out_are_found_by_the_seal(folder):
    for before, after in ((True, False), (False, True)):
        word = str(before).lower()
        rewritten(
            folder,
            lambda data, after=after: data.update(value=after),
            where=f"criterion = 'brief' AND data LIKE '%\"value\":{word}%'" + (" AND item > 'q2'" if after else ""),
        )
    found = verify("latest", workspace=folder)
    assert "the seal over all ratings" in places(found)
    assert "metrics, brief, pass_rate, value" not in places(found)


def test_a_result_that_does_not_follow_from_its_votes_is_named(folder):
    item = rewritten(
        folder,
        lambda data: data.update(value=0.123),
        where="criterion = 'groundedness' AND role = 'result' AND status = 'rated'",
    )
    found = verify("latest", workspace=folder)
    assert f"groundedness, item {item}, by its 3 votes" in places(found)
    assert "reported 0.123" in str(found)


def test_a_changed_vote_is_named_by_the_result_that_no_longer_follows(folder):
    def turned(data):
        data["value"] = 0.0 if data["value"] > 0.5 else 1.0

    rewritten(folder, turned, where="criterion = 'groundedness' AND role = 'vote' AND status = 'rated' AND slot = 1")
    assert "the seal over all ratings" in places(verify("latest", workspace=folder))


def test_a_row_that_was_taken_away_is_found(folder):
    changed(folder, "DELETE FROM ratings WHERE id = (SELECT max(id) FROM ratings)")
    found = verify("latest", workspace=folder)
    assert "metrics, brief, pass_rate, coverage, rated" in places(found)
    assert "the seal over all ratings" in places(found)


def test_a_damaged_item_and_a_damaged_reply_are_found(folder):
    changed(folder, "UPDATE items SET data = replace(data, 'word', 'ward') WHERE item = 'q3'")
    assert verify("latest", workspace=folder).damaged[0].startswith("item 'q3' of run")


def test_a_damaged_reply_of_this_run_is_found(folder):
    changed(folder, "UPDATE calls SET reply = 'x' WHERE key = (SELECT min(key) FROM calls)")
    found = verify("latest", workspace=folder)
    assert [text.partition(" ")[0] for text in found.damaged] == ["call"]


def test_damage_to_another_run_does_not_matter(folder):
    other = kept(items(3), [share], name="other", folder=folder / ".calibrant")
    other.close()
    changed(folder, "UPDATE ratings SET data = data || ' ' WHERE run = ? AND item = 'q1'", other.id)
    first = reopened("kept", workspace=folder)
    assert verify(first).is_ok
    first.close()
    assert not verify(other.id, workspace=folder).is_ok


def test_an_item_that_was_exchanged_with_its_checksum_is_found(folder):
    with sqlite3.connect(folder / ".calibrant" / "calibrant.db") as database:
        item, cluster, data = database.execute("SELECT item, cluster, data FROM items WHERE position = 4").fetchone()
        assert cluster is None
        data = data.replace("Question 4?", "Question 5?")
        crc = zlib.crc32(data.encode(), zlib.crc32(b"\0", zlib.crc32(item.encode())))
        database.execute("UPDATE items SET data = ?, crc = ? WHERE position = 4", (data, crc))
    database.close()
    assert places(verify("latest", workspace=folder)) == ["the items"]


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
        (("metrics", 0, "pass_rate", "value"), 0.99, "metrics, groundedness, pass_rate, value"),
        (("metrics", 0, "pass_rate", "upper"), 0.99, "metrics, groundedness, pass_rate, upper"),
        (("metrics", 0, "score", "lower"), 0.1, "metrics, groundedness, score, lower"),
        (("metrics", 0, "corrected_pass_rate", "value"), 0.9, "metrics, groundedness, corrected_pass_rate, value"),
        (("metrics", 1, "failing_items"), 0, "metrics, brief, failing_items"),
        (("metrics", 0, "pass_rate", "coverage", "failed"), 0, "metrics, groundedness, pass_rate, coverage, failed"),
        (("metrics", 0, "pass_rate", "worst_case", 1), 0.7, "metrics, groundedness, pass_rate, worst_case[1]"),
        (("metrics", 0, "failures", 0, "count"), 1, "metrics, groundedness, failures[0], count"),
        (("metrics", 0, "distribution", "counts", 0), 1, "metrics, groundedness, distribution, counts[0]"),
        (("metrics", 0, "flip_rate"), 0.0, "metrics, groundedness, flip_rate"),
        (("metrics", 0, "unstable", 0, "item"), "q99", "metrics, groundedness, unstable[0], item"),
        (("gates", 0, "answer"), "PASS", "gates, groundedness.pass_rate >= 0.9, answer"),
        (("exit_code",), 0, "exit_code"),
        (("status",), "incomplete", "status"),
        (("dataset", "n"), 41, "dataset, n"),
        (("warnings", 0), "all is well", "warnings[0]"),
        (("usage", "cached"), -1, "usage, cached"),
        (("usage", "calls"), 3, "usage, calls"),
    ],
)
def test_every_number_of_the_report_is_held_against_the_store(folder, path, value, where):
    def edit(data):
        inner = data["report"]
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value

    manifest(folder, edit)
    found = verify("latest", workspace=folder)
    assert where in places(found)
    assert not found.is_ok


def test_a_changed_threshold_or_prompt_is_not_the_instrument_that_measured(folder):
    def edit(data):
        data["definitions"]["groundedness"]["threshold"] = 0.1

    manifest(folder, edit)
    assert "groundedness, instrument" in places(verify("latest", workspace=folder))


def test_a_run_without_a_seal_says_so(folder):
    manifest(folder, lambda data: data.pop("seal"))
    found = verify("latest", workspace=folder)
    assert found.is_ok
    assert "the seal: this run was kept without one" in found.unchecked


def test_a_corrected_rate_without_its_labels_is_left_open(folder):
    manifest(folder, lambda data: data.pop("labels"))
    found = verify("latest", workspace=folder)
    assert found.is_ok, str(found)
    assert any(text.startswith("groundedness, corrected pass rate: the labels") for text in found.unchecked)


def test_a_run_that_did_not_end_has_nothing_to_verify(folder):
    manifest(folder, lambda data: data.pop("report"))
    with pytest.raises(InputError, match="has no report: it has not ended; the same `calibrant run` goes on with it"):
        verify("latest", workspace=folder)


def test_an_unknown_run_and_an_unknown_folder_are_named(folder, tmp_path):
    with pytest.raises(UnknownNameError, match="unknown run 'r-none'"):
        verify("r-none", workspace=folder)
    with pytest.raises(InputError, match="there is no workspace in"):
        verify("latest", workspace=tmp_path / "elsewhere")


def test_an_exported_file_is_verified_without_its_workspace(folder, tmp_path):
    run = reopened("latest", workspace=folder)
    path = export(run, tmp_path / "elsewhere" / "run.jsonl")
    run.close()
    assert verify(path).is_ok
    lines = path.read_text().splitlines()
    place = next(place for place, line in enumerate(lines) if '"criterion": "brief"' in line)
    lines[place] = lines[place].replace('"value": true', '"value": false')
    path.write_text("\n".join(lines) + "\n")
    assert "the seal over all ratings" in places(verify(path))


def test_a_line_taken_from_an_exported_file_is_found(folder, tmp_path):
    run = reopened("latest", workspace=folder)
    path = export(run, tmp_path / "run.jsonl")
    run.close()
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    assert not verify(path).is_ok


def test_a_run_in_memory_is_verified():
    run = kept(items(), [brief, share, tone])
    found = verify(run)
    assert (found.is_ok, found.ratings) == (True, 120)
    assert found.unchecked == ()


def test_a_run_whose_ratings_are_gone_is_an_error():
    from dataclasses import replace

    with pytest.raises(InputError, match="are not there any more; open it again with reopened"):
        verify(replace(kept(items(3), [brief]), keeper=None))


def test_scores_are_held_against_their_verdicts(tmp_path):
    run = kept(items(4), [faithfulness("fully", "minor", size=2)], folder=tmp_path)
    assert verify(run).is_ok
    run.close()
    with sqlite3.connect(tmp_path / "calibrant.db") as database:
        for place, data in database.execute("SELECT id, data FROM ratings WHERE item = 'q2'").fetchall():
            text = json.dumps({**json.loads(data), "value": 0.9}, separators=(",", ":"))
            crc = zlib.crc32(text.encode())
            database.execute("UPDATE ratings SET data = ?, crc = ? WHERE id = ?", (text, crc, place))
    database.close()
    found = verify("latest", workspace=tmp_path)
    assert places(found).count("faithfulness, item q2, by its 2 verdicts") == 2


def test_verdicts_that_were_not_kept_are_left_open(tmp_path):
    run = kept(items(4), [faithfulness("fully", "minor")], folder=tmp_path, store_text=False)
    found = verify(run)
    run.close()
    assert found.is_ok, str(found)
    assert "faithfulness: its verdicts are in replies that are not kept here" in found.unchecked


def test_an_aggregation_of_one_s_own_is_left_open():
    class Sterner(MedianAggregationStrategy):
        pass

    found = verify(kept(items(), [jury(aggregation=Sterner())]))
    assert found.is_ok
    assert any("combines its votes by" in text and "Sterner" in text for text in found.unchecked)


def test_gates_against_a_baseline_are_worked_out_with_it(tmp_path):
    folder = tmp_path / ".calibrant"
    first = kept(items(words=5), [brief], name="first", folder=folder)
    gate = "brief.pass_rate >= baseline - 0.2"
    second = kept(
        items(words=4), [brief], name="second", folder=folder, gates=[gate, "coverage >= 0.9"], baseline=first.id
    )
    assert verify(second).is_ok
    baseline, alone = export(first, tmp_path / "first.jsonl"), export(second, tmp_path / "second.jsonl")
    found = verify(alone)
    assert found.is_ok
    assert f"gate {gate}: its baseline {first.id} is not kept here; name it (--baseline)" in found.unchecked
    assert all("gate" not in text for text in verify(alone, baseline=baseline).unchecked)
    wrong = verify(alone, baseline=alone)
    assert f"gate {gate}: it was held against {first.id}, not against {second.id}" in wrong.unchecked
    lost = verify(alone, baseline=tmp_path / "lost.jsonl")
    assert any("its baseline cannot be opened: there is no file" in text for text in lost.unchecked)
    first.close()
    second.close()


def test_metrics_of_several_outputs_and_failures_verify():
    class Both(MultiOutputBaseMetric):
        required_fields = {"answer"}

        async def _evaluate(self, data):
            if data.id == "q3":
                raise RuntimeError("broken")
            return {"long": len(data.answer) > 10, "half": 0.5}

    found = verify(kept([*items(8), {"id": "bare", "query": "?"}], [Both(), share]))
    assert found.is_ok, str(found)


def test_the_json_says_what_the_text_says(folder):
    rewritten(folder, lambda data: data.update(value=not data["value"]))
    data = json.loads(json.dumps(verify("latest", workspace=folder).to_json(), allow_nan=False))
    assert (data["schema"], data["ok"]) == ("calibrant.verification/1", False)
    assert data["differences"][0].keys() == {"where", "reported", "found"}


def test_an_item_that_was_taken_away_is_named_and_its_run_cannot_be_opened(folder):
    changed(folder, "DELETE FROM items WHERE item = 'q3'")
    found = verify("latest", workspace=folder)
    assert found.damaged == ("item 'q3', of which there are ratings, is missing",)
    assert not found.is_ok
    with pytest.raises(StoreError, match="holds ratings of item 'q3', but not the item; `calibrant verify` lists all"):
        reopened("latest", workspace=folder)


def test_warnings_on_how_votes_were_scored_are_not_held_against_the_ratings(tmp_path):
    judge = ScriptedInvoker(lambda request: "B" if request.labels else {"explanation": "Sampled.", "score": 3})
    fluency = RubricMetric("fluency", models=judge, scoring="weighted", fallback="sampled", samples=1)
    run = kept(items(4), [fluency], folder=tmp_path)
    assert "could not be weighted" in run.warnings[0]
    for found in (verify(run), verify(export(run, tmp_path / "run.jsonl"))):
        assert found.is_ok
        assert found.unchecked == ("warnings on how votes were scored: counted while it ran",)
    run.close()
    with sqlite3.connect(tmp_path / "calibrant.db") as database:
        database.execute('UPDATE manifests SET data = replace(data, \'"warnings":[\', \'"warnings":["Fine.",\')')
    database.close()
    assert places(verify("latest", workspace=tmp_path)) == ["warnings"]
