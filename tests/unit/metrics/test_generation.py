"""Several metrics on one answer, combined, and one table."""

import asyncio

import pytest

from calibrant import EvalInput, ScriptedInvoker, WeightedMetricsAggregator
from calibrant.errors import InputError, ModelCallError
from calibrant.metrics import GEvalGenerationEvaluator, RubricMetric, metric

ITEM = EvalInput(id="q1", query="Open?", answer="Until six.", contexts=["Until six."], ground_truth="Until six.")


def judge(*scores):
    lines = [one if isinstance(one, Exception) else {"explanation": "x", "score": one} for one in scores]
    return ScriptedInvoker(lines if len(lines) > 1 else lines[0])


def test_the_default_metrics_share_a_judge_and_are_combined_with_polarity():
    evaluator = GEvalGenerationEvaluator(models=judge(3))
    assert evaluator.estimated_calls(ITEM) == 5
    result = asyncio.run(evaluator.evaluate(ITEM))
    assert list(result.results) == [
        "completeness",
        "groundedness",
        "redundancy",
        "language_consistency",
        "refusal_alignment",
    ]
    assert result.aggregate.aggregate_score == pytest.approx(4 / 5)
    assert result.aggregate.aggregate_success is False


def test_a_metric_keeps_the_judge_that_it_has():
    own = judge(1)
    evaluator = GEvalGenerationEvaluator([RubricMetric("fluency", models=own)], models=judge(3))
    assert asyncio.run(evaluator.evaluate(ITEM)).results["fluency"].score == 0.0
    assert len(own.requests) == 1


def test_one_table_comes_out():
    metrics = {"style": RubricMetric("fluency", models=judge(3, 1, ModelCallError("down", code="provider_error")))}
    metrics["brief"] = metric(lambda item: len(item.answer) < 20)
    report = asyncio.run(
        GEvalGenerationEvaluator(metrics).evaluate([ITEM, ITEM.replace(id="q2"), ITEM.replace(id="q3")])
    )
    assert [row["success"] for row in report.rows()].count(True) == 1
    assert [row["id"] for row in report.rows()] == ["q1", "q2", "q3"]
    lines = str(report).splitlines()
    assert lines[0].split() == ["metric", "score", "pass", "rate"]
    assert [line.split()[0] for line in lines[1:]] == ["style", "brief", "all"]
    assert "n=2, 1 failed" in lines[1]
    assert "n=2, 1 failed" in lines[3]
    assert report.estimates()["all"]["pass_rate"].value == 0.5
    assert (len(report), report[0].item.id) == (3, "q1")


def test_an_aggregator_of_ones_own_weighs_the_levels():
    aggregator = WeightedMetricsAggregator({"fluency": 1.0}, {"fluency": {1: 0.0, 2: 0.3, 3: 1.0}})
    evaluator = GEvalGenerationEvaluator([RubricMetric("fluency", models=judge(2))], aggregator=aggregator)
    assert asyncio.run(evaluator.evaluate(ITEM)).aggregate.aggregate_score == pytest.approx(0.3)


def test_no_items_give_an_empty_table():
    report = asyncio.run(GEvalGenerationEvaluator(models=judge(3)).evaluate([]))
    assert (len(report), report.rows(), report.estimates()) == (0, [], {})


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ([], "needs at least one metric"),
        ([RubricMetric("fluency"), RubricMetric("fluency")], "two metrics have one name"),
        ({"all": RubricMetric("fluency")}, "`all` is the name of the metrics together"),
    ],
)
def test_sets_that_cannot_be_told_apart_are_refused(metrics, message):
    with pytest.raises(InputError, match=message):
        GEvalGenerationEvaluator(metrics)
