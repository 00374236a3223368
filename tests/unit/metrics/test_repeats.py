"""Items rated several times over: one result, and how much the ratings differ."""

import asyncio

import pytest

from calibrant import BaseMetric, EvalInput, MultiOutputBaseMetric, ScriptedInvoker, metric
from calibrant.errors import InputError, ModelCallError
from calibrant.metrics import RubricMetric, flip_rate, stability

ITEM = EvalInput(id="q1", answer="Until six.")
DOWN = ModelCallError("down", code="provider_error")


def level(score, why="Because."):
    return {"explanation": why, "score": score}


def fluency(*said, **settings):
    script = [line if isinstance(line, Exception) else level(line, f"level {line}") for line in said]
    return RubricMetric("fluency", models=ScriptedInvoker(script), **settings)


def test_repeats_ask_again_in_slots_of_their_own():
    judge = ScriptedInvoker(level(3))
    result = asyncio.run(RubricMetric("fluency", models=judge, repeats=3).evaluate(ITEM))
    assert [request.slot for request in judge.requests] == [0, 1, 2]
    assert [(one.slot, one.role) for one in result.judges] == [(0, "vote"), (1, "vote"), (2, "vote")]
    assert result.usage.calls == 3


def test_the_result_is_the_aggregate_and_the_details_say_how_the_repeats_differ():
    result = asyncio.run(fluency(1, 3, 3, repeats=3).evaluate(ITEM))
    assert (result.score, result.rubric_score, result.explanation, result.success) == (1.0, 3, "level 3", True)
    account = result.details["repeats"]
    assert (account["scores"], account["passed"]) == ([0.0, 1.0, 1.0], [False, True, True])
    assert account["variance"] == pytest.approx(1 / 3)
    assert account["flip_rate"] == pytest.approx(2 / 3)
    assert result.details["scoring"] == "single"


@pytest.mark.parametrize(("method", "score"), [("majority_vote", 0.0), ("median", 0.5), ("average", 0.4)])
def test_repeats_are_aggregated_as_the_metric_says(method, score):
    result = asyncio.run(fluency(1, 1, 2, 2, 3, repeats=5, aggregation_method=method).evaluate(ITEM))
    assert result.score == pytest.approx(score if method != "majority_vote" else 0.5)


def test_each_repeat_of_a_jury_is_a_whole_jury():
    judges = [ScriptedInvoker([level(a), level(b)], name=f"m{a}{b}") for a, b in [(1, 3), (1, 3), (3, 3)]]
    result = asyncio.run(RubricMetric("fluency", models=judges, repeats=2).evaluate(ITEM))
    assert result.details["repeats"]["scores"] == [0.0, 1.0]
    assert [one.slot for one in result.judges] == list(range(6))
    assert [one.rater for one in result.judges] == ["m13", "m13", "m33"] * 2


def test_a_minority_of_failed_repeats_is_told():
    result = asyncio.run(fluency(3, DOWN, 3, repeats=3).evaluate(ITEM))
    assert (result.score, result.details["repeats"]["errors"]) == (1.0, ["provider_error: down"])


def test_half_of_the_repeats_is_not_enough():
    result = asyncio.run(fluency(3, DOWN, repeats=2).evaluate(ITEM))
    assert (result.score, result.error.code) == (None, "provider_error")
    assert result.error.message == "1 of 2 repeats gave no result; down"


def test_a_rule_does_not_differ_and_labels_flip_too():
    assert asyncio.run(metric(lambda item: 0.5, repeats=4).evaluate(ITEM)).details["repeats"]["variance"] == 0.0
    said = iter(["yes", "no", "yes"])
    labelled = metric(lambda item: next(said), repeats=3, passing_labels=frozenset({"yes"}))
    result = asyncio.run(labelled.evaluate(ITEM))
    assert (result.label, result.details["repeats"]["flip_rate"]) == ("yes", pytest.approx(2 / 3))
    assert result.details["repeats"]["variance"] is None


def test_batch_metrics_repeat_too():
    class Twice(BaseMetric):
        batch = True

        async def _evaluate(self, data):
            return [1.0 for _ in data]

    results = asyncio.run(Twice(repeats=2).evaluate([ITEM, EvalInput(answer="x")]))
    assert [one.details["repeats"]["scores"] for one in results] == [[1.0, 1.0], [1.0, 1.0]]


def test_ratings_keep_every_vote_and_the_result():
    made = fluency(3, 3, repeats=2)
    result = asyncio.run(made.evaluate(ITEM))
    assert [one.role for one in made.ratings(ITEM, result)] == ["vote", "vote", "result"]


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "2"])
def test_repeats_is_a_whole_number(number):
    with pytest.raises(InputError, match="repeats is a whole number from 1 on"):
        RubricMetric("fluency", repeats=number)


def test_metrics_with_several_outputs_do_not_repeat():
    class Many(MultiOutputBaseMetric):
        async def _evaluate(self, data):
            return {"a": 1.0}

    with pytest.raises(InputError, match="many has several outputs, which are not repeated"):
        asyncio.run(Many(repeats=2).evaluate(ITEM))


@pytest.mark.parametrize(("passes", "rate"), [(0, 0.0), (1, 0.5), (2, 2 / 3), (4, 0.0)])
def test_the_flip_rate_is_the_share_of_pairs_that_disagree(passes, rate):
    assert flip_rate([True] * passes + [False] * (4 - passes)) == pytest.approx(rate)


def test_stability_over_items_counts_failures_and_names_the_least_stable():
    results = [
        asyncio.run(fluency(*said, repeats=3).evaluate(ITEM))
        for said in [(3, 3, 3), (1, 3, 3), (2, 2, 2), (DOWN, DOWN, 3), (1, 2, 3), (3, DOWN, 3)]
    ]
    found = stability([*results, asyncio.run(fluency(3).evaluate(ITEM))])
    # Variances: 0, 1/3, 0, failed, 1/4, 0 of two; flips: 0, 2/3, 0, failed, 2/3, 0.
    assert found.variance.value == pytest.approx((1 / 3 + 1 / 4) / 5)
    assert found.flip_rate.value == pytest.approx(4 / 15)
    assert found.unsettled.value == pytest.approx(2 / 5)
    assert found.least_stable == (1, 4)
    coverage = found.flip_rate.coverage
    assert (coverage.rated, coverage.failed, coverage.skipped, coverage.total) == (5, 1, 1, 7)
    assert "flip rate            0.267 [" in str(found)
    assert found.to_json()["least_stable"] == [1, 4]


def test_stability_of_items_that_were_not_repeated_has_a_reason():
    found = stability([asyncio.run(fluency(3).evaluate(ITEM))])
    assert (found.flip_rate.value, found.flip_rate.reason) == (None, "there were no values")
