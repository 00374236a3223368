"""What each judge changes, from the votes."""

import asyncio

import pytest

from calibrant import EvalInput, Failure, Rating, ScriptedInvoker
from calibrant.errors import InputError
from calibrant.metrics import RubricMetric, leave_one_out


def votes(*by_item, criterion="fluency"):
    """One row an item, one value a judge; None is a judge that failed."""
    made = []
    for item, values in enumerate(by_item):
        for slot, value in enumerate(values):
            failed = value is None
            failure = Failure(code="judge_timeout", message="slow") if failed else None
            made.append(
                Rating(
                    item=f"i{item}",
                    criterion=criterion,
                    rater=f"m{slot}",
                    slot=slot,
                    role="vote",
                    status="failed" if failed else "rated",
                    value=value,
                    failure=failure,
                )
            )
    return made


def test_the_judge_that_decides_is_the_one_that_changes():
    found = leave_one_out(
        votes([1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]), aggregation="average"
    )
    # With the average and the threshold 0.5: all 2/3, 1/3, 1, 1/3; without m0 1/2, 1/2, 1, 1/2.
    assert [one.rater for one in found] == ["m0", "m1", "m2"]
    assert found[0].changed.value == pytest.approx(2 / 4)
    assert found[0].shift.value == pytest.approx(((2 / 3 - 1 / 2) + (1 / 3 - 1 / 2) + 0 + (1 / 3 - 1 / 2)) / 4)
    assert found[0].pass_rate_without.value == 1.0
    assert found[2].changed.value == pytest.approx(2 / 4 - 1 / 4)


def test_failed_votes_and_juries_that_cannot_decide_are_counted():
    found = leave_one_out(votes([1.0, 0.0, None], [1.0, 1.0, 1.0]))
    # Without m0 the first item has one valid vote of two, which is no more than half.
    coverage = found[0].changed.coverage
    assert (coverage.rated, coverage.failed, dict(coverage.codes)) == (1, 1, {"quorum_not_met": 1})
    assert found[2].changed.coverage.rated == 2


def test_a_quorum_and_a_polarity_of_ones_own():
    low = leave_one_out(votes([1.0, 0.0], [0.0, 0.0]), higher_is_better=False, aggregation="average", quorum=1)
    assert [one.pass_rate_without.value for one in low] == [1.0, 0.5]


def test_votes_of_a_real_jury_and_no_call_is_made():
    judges = [ScriptedInvoker({"explanation": "x", "score": score}, name=f"m{score}") for score in (1, 3, 3)]
    metric = RubricMetric("fluency", models=judges)
    item = EvalInput(id="q1", answer="x")
    ratings = metric.ratings(item, asyncio.run(metric.evaluate(item)))
    asked = [len(judge.requests) for judge in judges]
    found = leave_one_out(ratings)
    assert [one.shift.value for one in found] == [0.0, 0.0, 0.0]
    assert [one.changed.value for one in found] == [0.0, 0.0, 0.0]
    assert [len(judge.requests) for judge in judges] == asked
    assert str(found[0]).startswith("without m1 (slot 0): 0.000 [")
    assert found[0].to_json()["slot"] == 0


def test_fewer_than_two_judges_and_several_criteria_are_refused():
    with pytest.raises(InputError, match="needs the votes of at least two judges, got those of 1"):
        leave_one_out(votes([1.0]))
    with pytest.raises(InputError, match="takes the votes of one criterion, not of a, b"):
        leave_one_out([*votes([1.0, 0.0], criterion="a"), *votes([1.0, 0.0], criterion="b")])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threshold": 5}, r"threshold is a number in \[0, 1\], not 5"),
        ({"threshold": "high"}, r"threshold is a number in \[0, 1\], not 'high'"),
        ({"quorum": 4}, r"quorum is between 1 and the number of judges \(3\), not 4"),
        ({"quorum": 0}, "quorum is a whole number from 1 on, or None, not 0"),
        ({"quorum": 1.5}, "quorum is a whole number from 1 on, or None, not 1.5"),
    ],
)
def test_a_threshold_or_a_quorum_that_no_jury_has_is_refused(settings, message):
    with pytest.raises(InputError, match=message):
        leave_one_out(votes([1.0, 1.0, 0.0]), **settings)


def test_a_quorum_of_all_judges_is_of_all_that_are_left_without_one():
    found = leave_one_out(votes([1.0, 1.0, 0.0], [1.0, None, 1.0]), quorum=3)
    assert [one.changed.coverage.rated for one in found] == [1, 1, 1]
    assert [one.changed.coverage.failed for one in found] == [1, 1, 1]
