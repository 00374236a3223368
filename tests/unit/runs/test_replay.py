import json
from itertools import permutations

import pytest
from sample_runs import brief, faithfulness, items, judge, jury, kept, share, tone

from calibrant import metric
from calibrant.aggregation import MedianAggregationStrategy, score_agg
from calibrant.errors import InputError, ModelCallError, UnknownNameError
from calibrant.metrics import RubricMetric
from calibrant.models import Request
from calibrant.runs import compare, export, reopened, replay, verify
from calibrant.runs.rebuilding import RebuiltMetric
from calibrant.runs.specification import MetricSpec

METHODS = ("majority_vote", "median", "average")


@pytest.mark.parametrize(("before", "after"), list(permutations(METHODS, 2)))
def test_a_replay_is_what_a_run_with_that_aggregation_would_have_been(before, after):
    first = kept(items(), [jury(aggregation=before, failing={3, 12})])
    true = kept(items(), [jury(aggregation=after, failing={3, 12})])
    found = replay(first, aggregation=after).after
    assert found.metric("groundedness").to_json() == true.metric("groundedness").to_json()
    assert [one.value for one in found.ratings()] == [one.value for one in true.ratings()]


@pytest.mark.parametrize("threshold", [0.0, 0.34, 0.5, 1.0])
def test_a_replay_is_what_a_run_with_that_threshold_would_have_been(threshold):
    first, true = kept(items(), [jury()]), kept(items(), [jury(threshold=threshold)])
    assert replay(first, threshold=threshold).after.metrics == true.metrics


@pytest.mark.parametrize("temperature", [0.1, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("size", [1, 3])
def test_a_replay_is_what_a_run_with_that_temperature_would_have_been(tmp_path, temperature, size):
    words = ("fully", "minor")
    first = kept(items(6), [faithfulness(*words, size=size)], folder=tmp_path / "a")
    true = kept(items(6), [faithfulness(*words, size=size, temperature=temperature)], folder=tmp_path / "b")
    found = replay(first, temperature=temperature).metric("faithfulness")
    assert found.after.to_json() == true.metric("faithfulness").to_json()
    assert found.after.score.value == pytest.approx(score_agg([1.0, 0.3], temperature))
    first.close()
    true.close()


def test_several_changes_at_once(tmp_path):
    first = kept(items(6), [faithfulness("fully", "minor", size=2), jury()], folder=tmp_path)
    found = replay(first, aggregation="average", threshold=0.7, temperature=0.1)
    assert [one.after.name for one in found.metrics] == ["faithfulness", "groundedness"]
    assert found.settings == {"aggregation": "average", "threshold": 0.7, "temperature": 0.1}
    assert found.metric("faithfulness").after.pass_rate.value == 0.0
    first.close()


def test_repeats_are_combined_in_rounds_as_the_run_did():
    def asked(aggregation):
        return RubricMetric("groundedness", models=[judge()] * 2, aggregation_method=aggregation, repeats=3)

    first, true = kept(items(), [asked("median")]), kept(items(), [asked("average")])
    assert replay(first, aggregation="average").after.metrics == true.metrics


def test_a_quorum_is_kept():
    first = kept(items(), [jury(size=3, quorum=3, failing={1})])
    found = replay(first, aggregation="average").after.metric("groundedness")
    assert found.pass_rate.coverage.codes == {"quorum_not_met": 1}


def test_strict_mode_stays():
    first, true = (kept(items(), [jury(aggregation=one, strict_mode=True)]) for one in ("median", "average"))
    assert replay(first, aggregation="average").after.metrics == true.metrics


def test_labels_of_a_jury_are_counted_again():
    class Labelled(RubricMetric):
        async def _evaluate(self, data):
            level = await super()._evaluate(data)
            return "good" if level.score > 0.5 else "bad"

    first = kept(items(), [Labelled("groundedness", models=[judge()] * 3, passing_labels=frozenset({"good"}))])
    assert verify(first).is_ok
    assert replay(first, threshold=0.9).metric("groundedness").moved == ()


def test_what_turned_is_named_item_by_item():
    first = kept([{"id": name, "answer": "word " * words} for name, words in (("a", 1), ("b", 2), ("c", 4))], [share])
    found = replay(first, threshold=0.2).metric("share")
    assert (found.to_pass, found.to_fail, found.moved) == (("c",), (), ())
    assert replay(first, threshold=0.9).metric("share").to_fail == ("b",)


def test_lower_is_better_turns_the_other_way():
    first = kept(items(5), [metric(share, name="share", higher_is_better=False)])
    assert set(replay(first, threshold=0.3).metric("share").to_fail) == {"q1", "q2"}


def test_only_the_metrics_that_were_named_change():
    first = kept(items(), [share, metric(share, name="other")])
    found = replay(first, threshold=0.9, metrics=["other"])
    assert [one.after.name for one in found.metrics] == ["other"]
    assert found.after.metric("share") == first.metric("share")
    assert [one.after.name for one in replay(first, threshold=0.9, metrics="share").metrics] == ["share"]


def test_the_run_that_was_kept_stays_as_it_was(tmp_path):
    first = kept(items(), [jury()], folder=tmp_path)
    before = (first.to_json(), [*first.ratings()], first.keeper.manifest(first.id))
    replay(first, aggregation="average", threshold=0.9)
    assert before == (first.to_json(), [*first.ratings()], first.keeper.manifest(first.id))
    first.close()


def test_no_call_is_made():
    asked = judge()
    first = kept(items(), [RubricMetric("groundedness", models=[asked] * 3)])
    made = len(asked.requests)
    replay(first, aggregation="average", threshold=0.9)
    assert len(asked.requests) == made


def test_a_replayed_run_compares_exports_and_opens_again(tmp_path):
    first = kept(items(), [jury()])
    after = replay(first, aggregation="average").after
    found = compare(first, after, allow="instrument")
    assert found.unlike[0].text.startswith(
        "groundedness was measured by another instrument: aggregation[0] 'median' ->"
    )
    path = export(after, tmp_path / "replayed.jsonl")
    assert reopened(path).metrics == after.metrics
    true = kept(items(), [jury(aggregation="average")])
    assert compare(true, reopened(path)).unlike == ()


def test_gates_are_answered_then_and_now():
    gates = ["share.failing_items <= 20", "coverage >= 0.9"]
    first = kept(items(), [share], gates=gates)
    told = replay(first, threshold=0.9).to_json()["gates"]
    assert [(one["gate"], one["before"], one["answer"]) for one in told] == [
        ("share.failing_items <= 20", "FAIL" if first.exit_code else "PASS", "FAIL"),
        ("coverage >= 0.9", "PASS", "PASS"),
    ]


def test_gates_that_need_more_than_the_ratings_are_left_out():
    first = kept(items(words=5), [share], name="first")
    second = kept(items(words=5), [share], name="second", gates=["share.score >= baseline - 0.9"], baseline=first)
    assert replay(second, threshold=0.9).after.gates == ()


def test_an_item_without_an_answer_stays_a_failure():
    first = kept([*items(4), {"id": "bare", "query": "?"}], [jury()])
    found = replay(first, aggregation="average").after.metric("groundedness")
    assert found.pass_rate.coverage == first.metric("groundedness").pass_rate.coverage
    assert found.pass_rate.coverage.skipped == 1


def test_the_text_says_what_changed_beside_the_original():
    first = kept(items(), [share], name="shares", gates=["share.failing_items <= 20"])
    text = str(replay(first, threshold=0.9))
    head, table, turned, gates = text.split("\n\n")
    assert head == f"shares  {first.id}  replayed with threshold 0.9; nobody was asked"
    assert table.splitlines()[0].split() == [
        *("metric", "of", "as", "it", "was", "replayed", "turned", "to", "pass", "turned", "to", "fail")
    ]
    assert turned == "share: no longer pass: q1, q6, q11, q16, q21, ... (8 in all)"
    assert gates.endswith("FAIL  share.failing_items <= 20")


def test_the_json_of_a_replay_holds_both_sides():
    data = json.loads(json.dumps(replay(kept(items(), [share]), threshold=0.9).to_json(), allow_nan=False))
    assert data["schema"] == "calibrant.replay/1"
    assert data["settings"] == {"threshold": 0.9}
    [one] = data["metrics"]
    assert (one["before"]["threshold"], one["after"]["threshold"]) == (0.5, 0.9)
    assert one["before"]["instrument"] != one["after"]["instrument"]
    assert one["before"]["score"] == one["after"]["score"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "a replay changes something: an aggregation, a threshold, a temperature, or several"),
        ({"threshold": 1.5}, r"threshold is a number in \[0, 1\], not 1\.5"),
        ({"temperature": float("nan")}, "temperature is a finite number"),
        ({"aggregation": "mode"}, "unknown aggregation method 'mode'"),
        (
            {"aggregation": "median"},
            "an aggregation concerns juries and repeats, and each of these metrics has one vote",
        ),
        (
            {"temperature": 0.3},
            "a temperature concerns metrics that give verdicts on statements, and none of these does",
        ),
        ({"threshold": 0.5}, "would change nothing: they were measured with these settings"),
    ],
)
def test_a_replay_that_would_change_nothing_says_why(changes, message):
    with pytest.raises((InputError, UnknownNameError), match=message):
        replay(kept(items(4), [share, tone]), **changes)


def test_unknown_metrics_are_named():
    first = kept(items(4), [share])
    with pytest.raises(UnknownNameError, match="unknown metric 'shares'; expected one of: share"):
        replay(first, threshold=0.9, metrics=["shares"])
    with pytest.raises(UnknownNameError, match="unknown replayed metric 'brief'"):
        replay(first, threshold=0.9).metric("brief")


def test_verdicts_that_were_not_kept_are_named_with_the_remedy(tmp_path):
    first = kept(items(3), [faithfulness("fully", "none")], folder=tmp_path)
    path = export(first, tmp_path / "run.jsonl")
    first.close()
    with pytest.raises(
        InputError, match="the verdicts of faithfulness on item 'q0' are not kept.*replay the run in the workspace"
    ):
        replay(path, temperature=0.1)
    assert replay(path, threshold=0.9).metric("faithfulness").after.pass_rate.value == 0.0


def test_an_aggregation_of_one_s_own_needs_a_name_only_when_votes_are_combined_again():
    class Sterner(MedianAggregationStrategy):
        pass

    first = kept(items(), [jury(aggregation=Sterner())])
    assert replay(first, threshold=0.9).metric("groundedness").moved == ()
    assert replay(first, aggregation="average").metric("groundedness").moved
    spec = MetricSpec.of(jury(aggregation=Sterner()))
    with pytest.raises(
        InputError, match=r"Sterner \(median\), which is not kept with a run; name one of majority_vote"
    ):
        RebuiltMetric(spec, jury(aggregation=Sterner()).definition())


async def ask(invoker):
    return await invoker.invoke(Request.of("?"))


def test_a_rebuilt_metric_can_ask_nobody():
    import asyncio

    rebuilt = RebuiltMetric(MetricSpec.of(jury()), jury().definition())
    assert rebuilt.instrument == jury().instrument
    with pytest.raises(ModelCallError, match="is not asked again: its votes are there"):
        asyncio.run(ask(rebuilt.models[0]))
    result = asyncio.run(rebuilt.evaluate({"answer": "word", "contexts": ["w"], "query": "?"}))
    assert "is rebuilt from its votes, and rates no items" in result.error.message


def test_a_run_whose_ratings_are_gone_cannot_be_replayed():
    from dataclasses import replace

    with pytest.raises(InputError, match="open it again with reopened"):
        replay(replace(kept(items(3), [brief]), keeper=None), threshold=0.9)


def test_a_replayed_run_verifies_and_so_does_its_file(tmp_path):
    labels = [
        {"item": f"q{number}", "criterion": "groundedness", "annotator": "kim", "value": number % 3 > 0}
        for number in range(20)
    ]
    gates = ["groundedness.pass_rate >= 0.5", "coverage >= 0.9"]
    first = kept(items(), [jury(failing={0, 17}), brief], labels=labels, gates=gates, cluster="customer")
    for name, value in (("threshold", 0.9), ("aggregation", "average")):
        after = replay(first, **{name: value}).after
        assert after.metric("groundedness").corrected_pass_rate is None
        assert [text[:47] for text in after.warnings] == ["groundedness: 2 of 40 items could not be rated;"]
        assert verify(after).is_ok
        assert verify(export(after, tmp_path / f"{name}.jsonl")).is_ok
    assert verify(first).is_ok
