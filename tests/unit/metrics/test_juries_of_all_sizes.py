"""Juries of two to nine, mixed, with failures, repeats and a quorum: what each setting makes of the same votes."""

import asyncio
import itertools
from statistics import fmean, median

import pytest

from calibrant import EvalInput, ScriptedInvoker
from calibrant.errors import ModelCallError
from calibrant.metrics import RubricMetric, leave_one_out, stability
from calibrant.runs import run

ITEM = EvalInput(id="q1", answer="x")
SIZES = pytest.mark.parametrize("size", range(2, 10))


def voting(level, name):
    if level is None:
        return ScriptedInvoker(ModelCallError("down", code="unsupported"), name=name)
    return ScriptedInvoker({"explanation": f"{name} says so.", "score": level}, name=name)


def jury(levels):
    return [voting(level, f"judge/{place}") for place, level in enumerate(levels)]


def result_of(levels, **settings):
    return asyncio.run(RubricMetric("fluency", models=jury(levels), **settings).evaluate(ITEM))


def levels_of(size, offset=0):
    return [(place + offset) % 3 + 1 for place in range(size)]


@SIZES
def test_the_average_is_the_mean_of_the_votes_and_the_median_their_middle(size):
    levels = levels_of(size)
    scores = [(level - 1) / 2 for level in levels]
    assert result_of(levels, aggregation_method="average").score == pytest.approx(fmean(scores))
    middle = result_of(levels, aggregation_method="median").score
    assert middle == pytest.approx(median(scores)) or middle in scores


@SIZES
def test_the_order_of_the_judges_changes_neither_average_nor_median_nor_a_clear_majority(size):
    levels = [3] * (size // 2 + 1) + [1] * (size - size // 2 - 1)
    for method in ("majority_vote", "median", "average"):
        found = {result_of(order, aggregation_method=method).score for order in _turned(levels)}
        assert len(found) == 1
    assert result_of(levels, aggregation_method="majority_vote").score == 1.0


def _turned(levels):
    return [levels[place:] + levels[:place] for place in range(len(levels))]


@SIZES
def test_more_than_half_must_answer_unless_a_quorum_says_otherwise(size):
    for failed in range(size + 1):
        levels = [None] * failed + [3] * (size - failed)
        result = result_of(levels)
        if size - failed > size / 2:
            assert (result.score, result.details["failed_judges"]) == (1.0, failed)
        else:
            assert (result.score, result.error.code) == (None, "quorum_not_met")
            assert f"{size - failed} of {size} judges answered, {size // 2 + 1} are needed" in result.error.message


@SIZES
def test_a_quorum_of_one_takes_whoever_answers_and_a_quorum_of_all_everybody(size):
    one_left = [None] * (size - 1) + [2]
    assert result_of(one_left, quorum=1).score == 0.5
    assert result_of(one_left, quorum=size).error.code == "quorum_not_met"
    assert result_of([3] * size, quorum=size).score == 1.0


@SIZES
def test_agreement_is_the_share_of_the_commonest_score(size):
    for dissenters in range(size // 2):
        levels = [3] * (size - dissenters) + [1] * dissenters
        assert result_of(levels).details["agreement"] == pytest.approx((size - dissenters) / size)


@SIZES
def test_every_vote_is_kept_with_who_cast_it_and_why(size):
    result = result_of([None, *levels_of(size - 1)])
    if result.error is not None:
        assert size == 2
    assert [vote.role for vote in result.judges] == ["vote"] * size
    assert [vote.rater for vote in result.judges] == [f"judge/{place}" for place in range(size)]
    assert [vote.status for vote in result.judges] == ["failed"] + ["rated"] * (size - 1)
    assert all(vote.explanation == f"{vote.rater} says so." for vote in result.judges[1:])


@SIZES
def test_leaving_one_out_of_a_run_needs_no_call_and_names_each_judge(size):
    judges = jury(levels_of(size))
    result = run([ITEM, EvalInput(id="q2", answer="y")], [RubricMetric("fluency", models=judges)])
    asked = [len(judge.requests) for judge in judges]
    found = leave_one_out(result.ratings("fluency"))
    assert [one.rater for one in found] == [judge.name for judge in judges]
    assert [len(judge.requests) for judge in judges] == asked == [2] * size


@pytest.mark.parametrize(("size", "repeats"), [*itertools.product((2, 3, 5), (2, 3))])
def test_repeats_of_a_jury_are_whole_juries(size, repeats):
    judges = jury([3] * size)
    metric = RubricMetric("fluency", models=judges, repeats=repeats)
    result = asyncio.run(metric.evaluate(ITEM))
    assert metric.estimated_calls(ITEM) == sum(len(judge.requests) for judge in judges) == size * repeats
    assert result.details["repeats"]["asked"] == repeats
    assert [vote.slot for vote in result.judges] == list(range(size * repeats))
    assert stability([result]).flip_rate.value == 0.0


def test_a_jury_that_flips_between_repeats_is_unsettled_and_its_votes_say_who():
    wavering = iter([3, 1, 3, 1])
    judges = [
        ScriptedInvoker(lambda request: {"explanation": "w", "score": next(wavering)}, name="judge/wavering"),
        voting(3, "judge/high"),
        voting(1, "judge/low"),
    ]
    result = asyncio.run(RubricMetric("fluency", models=judges, repeats=4, max_concurrent_judges=1).evaluate(ITEM))
    told = result.details["repeats"]
    assert told["passed"] == [True, False, True, False]
    assert told["flip_rate"] == pytest.approx(2 * 2 / 6)
    assert told["variance"] == pytest.approx(1 / 3)
    by_judge = {
        name: [vote.value for vote in result.judges if vote.rater == f"judge/{name}"]
        for name in ("wavering", "high", "low")
    }
    assert by_judge == {"wavering": [1.0, 0.0, 1.0, 0.0], "high": [1.0] * 4, "low": [0.0] * 4}
    assert stability([result]).least_stable == (0,)


def test_a_jury_of_one_name_several_times_is_asked_in_slots_and_of_several_in_its_order():
    one = voting(3, "judge/one")
    result = asyncio.run(RubricMetric("fluency", models=[one, voting(1, "judge/two"), one]).evaluate(ITEM))
    assert [vote.rater for vote in result.judges] == ["judge/one", "judge/two", "judge/one"]
    assert [request.slot for request in one.requests] == [0, 2]
    assert (result.score, result.usage.calls) == (1.0, 3)
