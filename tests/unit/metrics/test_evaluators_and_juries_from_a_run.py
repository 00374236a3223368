"""Sets of metrics, and what is asked of a jury's stored votes: evaluators, influence, stability, after a run."""

import asyncio

import pytest

from calibrant import EvalInput, MultiOutputBaseMetric, ScriptedInvoker
from calibrant.errors import InputError, ModelCallError
from calibrant.metrics import (
    FaithfulnessMetric,
    GEvalGenerationEvaluator,
    GEvalMetric,
    RougeLMetric,
    RubricMetric,
    leave_one_out,
    metric,
    stability,
)
from calibrant.runs import RunSettings, export, read_export, run
from calibrant.runs.reopening import kept_run

ITEMS = [EvalInput(id=f"i{n}", answer=f"Answer {n}.", contexts=["x"], ground_truth="Answer 1.") for n in range(8)]


def said(score):
    return {"explanation": "x", "score": score}


def number(request):
    return int(request.messages[-1].content.split("Answer ")[1].split(".")[0])


def judge_of(rule, name):
    return ScriptedInvoker(lambda request: said(rule(number(request))), name=name)


JURY = [
    judge_of(lambda n: 3, "always/three"),
    judge_of(lambda n: 3 if n % 2 else 1, "odd/three"),
    judge_of(lambda n: 3 if n < 6 else 1, "low/three"),
]


def test_the_stored_votes_of_a_run_say_what_each_judge_changes_and_nobody_is_asked(tmp_path):
    metric = RubricMetric("fluency", models=JURY)
    result = run(ITEMS, [metric], settings=RunSettings(workspace=tmp_path))
    asked = [len(judge.requests) for judge in JURY]
    found = leave_one_out(result.ratings("fluency"))
    assert [one.rater for one in found] == ["always/three", "odd/three", "low/three"]
    assert [len(judge.requests) for judge in JURY] == asked
    again = leave_one_out(kept_run(result.keeper, "latest").ratings("fluency"))
    assert [one.to_json() for one in again] == [one.to_json() for one in found]
    exported = read_export(export(result, tmp_path / "run.jsonl"))
    assert [one.to_json() for one in leave_one_out(exported.ratings("fluency"))] == [one.to_json() for one in found]


def test_results_that_were_not_rated_by_a_jury_have_no_judge_to_leave_out():
    lone = run(ITEMS, [RubricMetric("fluency", models=JURY[0])])
    with pytest.raises(InputError, match="needs the votes of at least two judges, got those of 0"):
        leave_one_out(lone.ratings("fluency"))


def test_votes_that_are_labels_are_refused_with_the_item():
    labelled = metric(lambda item: "good", name="kind", models=JURY, passing_labels=frozenset({"good"}))
    votes = [vote for one in asyncio.run(labelled.evaluate(ITEMS)) for vote in one.judges]
    with pytest.raises(InputError, match="takes votes that are numbers; on item 'i0' it is 'good'"):
        leave_one_out(votes)


def test_a_judge_that_was_down_for_some_items_is_left_out_of_those():
    moody = ScriptedInvoker(
        lambda request: ModelCallError("no", code="unsupported") if number(request) < 4 else said(1), name="moody"
    )
    result = run(ITEMS, [RubricMetric("fluency", models=[*JURY, moody])])
    by_rater = {one.rater: one for one in leave_one_out(result.ratings("fluency"))}
    # Of four judges three are needed; where moody is down, leaving out another one leaves two of three: still enough.
    assert by_rater["moody"].changed.coverage.rated == 8
    assert by_rater["always/three"].changed.coverage.rated == 8


def test_the_stability_of_repeats_has_intervals_and_names_the_least_stable():
    wavering = iter([1, 3] * 100)
    judge = ScriptedInvoker(lambda request: said(3 if number(request) < 4 else next(wavering)))
    results = asyncio.run(RubricMetric("fluency", models=judge, repeats=4).evaluate(ITEMS))
    found = stability(results)
    assert found.flip_rate.value == pytest.approx(0.5 * (2 * 2 / 6))
    assert found.unsettled.value == 0.5
    assert found.least_stable == (4, 5, 6, 7)
    # Within an item of two 0.0 and two 1.0 the variance is 1/3; half of the items have none.
    assert found.variance.value == pytest.approx(0.5 * (1 / 3))
    assert found.flip_rate.lower < found.flip_rate.value < found.flip_rate.upper
    assert "flip rate            0.333 [" in str(found)
    assert found.to_json()["least_stable"] == [4, 5, 6, 7]


def test_any_metric_repeats_rules_and_functions_too():
    for one in (RougeLMetric(repeats=3), metric(lambda item: 0.7, name="f", repeats=3)):
        results = asyncio.run(one.evaluate(ITEMS))
        assert [result.details["repeats"]["flip_rate"] for result in results] == [0.0] * len(ITEMS)
        assert stability(results).variance.value == pytest.approx(0.0)


def evaluate(evaluator, data=ITEMS):
    return asyncio.run(evaluator.evaluate(data))


def test_an_evaluator_leaves_the_metrics_that_it_was_given_as_they_are():
    own = RubricMetric("fluency")
    before = own.instrument
    evaluator = GEvalGenerationEvaluator([own], models=JURY[0])
    assert evaluate(evaluator).estimates()["fluency"]["score"].value == 1.0
    assert (own.models, own.instrument) == ([], before)
    assert evaluator.metrics["fluency"].models == [JURY[0]]


def test_an_evaluator_takes_metrics_of_all_kinds_with_one_output():
    script = ScriptedInvoker(
        lambda request: (
            {"steps": ["Look."]}
            if "steps" in request.schema["properties"]
            else {"statements": ["a"], "verdicts": [{"reason": "r", "quote": "", "verdict": "fully"}]}
            if "verdicts" in request.schema["properties"]
            else said(3)
        )
    )
    evaluator = GEvalGenerationEvaluator(
        [FaithfulnessMetric(calls=1), RougeLMetric(), GEvalMetric("Kind?"), metric(lambda item: True, name="fine")],
        models=script,
    )
    report = evaluate(evaluator)
    assert list(report.estimates()) == ["faithfulness", "rouge_l", "g_eval", "fine", "all"]
    assert report.estimates()["all"]["pass_rate"].coverage.rated == len(ITEMS)
    # One call a claim metric, one a rubric and one for the steps; rules ask nobody.
    assert len(script.requests) == 2 * len(ITEMS) + 1


def test_a_metric_with_several_outputs_cannot_be_combined():
    class Both(MultiOutputBaseMetric):
        name = "both"

        async def _evaluate(self, data):
            return {"a": 1.0}

    with pytest.raises(InputError, match="both has several outputs, which cannot be combined"):
        GEvalGenerationEvaluator([Both()])


def test_an_item_that_lacks_a_field_is_skipped_by_that_metric_and_not_passed_by_all():
    report = evaluate(
        GEvalGenerationEvaluator([RougeLMetric(), metric(lambda item: True, name="fine")]), [{"answer": "x"}]
    )
    estimates = report.estimates()
    assert estimates["rouge_l"]["score"].coverage.skipped == 1
    assert estimates["fine"]["pass_rate"].value == 1.0
    assert (estimates["all"]["pass_rate"].value, estimates["all"]["pass_rate"].coverage.skipped) == (None, 1)
    assert report[0].aggregate.aggregate_success is False
    assert report.rows() == [
        {
            "id": report[0].item.id,
            "rouge_l": None,
            "fine": 1.0,
            "success": False,
            "score": report[0].aggregate.aggregate_score,
        }
    ]


def test_one_item_and_a_mapping_are_taken_as_they_come():
    evaluator = GEvalGenerationEvaluator([metric(lambda item: item.answer == "x", name="is x")])
    assert evaluate(evaluator, {"id": "q", "answer": "x"}).aggregate.aggregate_success is True
    assert [one.item.id for one in evaluate(evaluator, ITEMS)] == [item.id for item in ITEMS]
    assert len(evaluate(evaluator, ITEMS)[2:4]) == 2
