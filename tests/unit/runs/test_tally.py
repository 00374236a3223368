"""From ratings to numbers: what is counted, in any order, and what the counts come to."""

import random

import numpy as np
import pytest

from calibrant.ratings import Failure, Rating, Usage
from calibrant.runs.specification import MetricSpec
from calibrant.runs.tally import Tallies, Tally
from calibrant.stats import mean, proportion

SPEC = MetricSpec(name="polite", instrument="sha256:x", rater="openai/x")


def rated(place, value, **more):
    return Rating(item=f"i{place}", criterion="polite", rater="r", instrument="x", status="rated", value=value, **more)


def failed(place, code="judge_timeout", message="60 s were over", status="failed"):
    failure = Failure(code=code, message=message)
    return Rating(item=f"i{place}", criterion="polite", rater="r", instrument="x", status=status, failure=failure)


def vote(place, value, slot=0):
    return rated(place, value, role="vote", slot=slot)


def tallied(ratings, n, spec=SPEC):
    tally = Tally(spec, n)
    for place, rating in ratings:
        tally.add(place, rating)
    return tally


def test_every_item_is_counted_once_under_what_became_of_it():
    tally = tallied(
        [
            (0, rated(0, 1.0)),
            (1, rated(1, 0.0)),
            (2, failed(2)),
            (3, failed(3, "missing_field", "no answer", "skipped")),
            (4, failed(4, "not_applicable", "nothing to rate", "not_applicable")),
        ],
        n=7,
    )
    coverage = tally.coverage
    assert (coverage.rated, coverage.failed, coverage.skipped, coverage.not_applicable) == (2, 1, 3, 1)
    assert coverage.total == 7
    assert coverage.codes == {"judge_timeout": 1, "missing_field": 1, "not_applicable": 1, "interrupted": 2}


@pytest.mark.parametrize("code", ["interrupted", "budget_exhausted"])
def test_items_that_nobody_came_to_are_skipped_by_what_ended_the_run(code):
    tally = Tally(SPEC, 3)
    tally.unreached = code
    assert tally.coverage.codes == {code: 3}


def test_a_rating_of_the_same_item_again_replaces_the_first():
    tally = tallied([(0, failed(0)), (0, rated(0, 1.0))], n=1)
    assert (tally.coverage.rated, tally.coverage.failed, dict(tally.coverage.codes)) == (1, 0, {})


def test_the_order_of_the_ratings_changes_nothing():
    ratings = [(n, failed(n, message=f"m{n}") if n % 7 == 0 else rated(n, (n % 10) / 10)) for n in range(200)]
    expected = tallied(ratings, 200).summary()
    shuffled = [*ratings]
    random.Random(3).shuffle(shuffled)
    assert tallied(shuffled, 200).summary() == expected
    assert (expected.failures[0].item, expected.failures[0].message, expected.failures[0].count) == ("i0", "m0", 29)


def test_the_pass_rate_and_the_score_are_those_of_the_statistics():
    scores = [0.2, 0.5, 0.6, 0.9, 0.4]
    summary = tallied([(n, rated(n, score)) for n, score in enumerate(scores)], 5).summary()
    expected = proportion(3, 5)
    assert (summary.pass_rate.value, summary.pass_rate.lower, summary.pass_rate.upper) == (
        expected.value,
        expected.lower,
        expected.upper,
    )
    alone = mean(np.array(scores), scale=(0.0, 1.0))
    assert (summary.score.value, summary.score.lower, summary.score.upper) == (alone.value, alone.lower, alone.upper)
    assert summary.failing_items == 2


def test_scores_of_zeros_and_ones_have_the_interval_of_a_proportion():
    summary = tallied([(n, rated(n, float(n < 9))) for n in range(10)], 10).summary()
    assert (summary.score.lower, summary.score.upper) == (summary.pass_rate.lower, summary.pass_rate.upper)
    assert summary.score.upper <= 1.0


def test_nothing_rated_gives_a_reason_and_no_number():
    summary = tallied([(0, failed(0))], 1).summary()
    assert (summary.pass_rate.value, summary.pass_rate.reason) == (None, "no item was rated")
    assert (summary.score.value, summary.failing_items, summary.flip_rate) == (None, 0, None)


def test_labels_have_no_score_and_no_pass_rate_unless_some_pass():
    summary = tallied([(0, rated(0, "warm"))], 1).summary()
    assert summary.score.reason == "the metric answers with labels, not numbers"
    assert "nothing says which of them pass" in summary.pass_rate.reason
    passing = MetricSpec(name="polite", instrument="x", passing_labels=("warm",))
    assert tallied([(0, rated(0, "warm")), (1, rated(1, "cold"))], 2, passing).summary().pass_rate.value == 0.5


def test_causes_are_told_the_most_frequent_first_and_then_by_name():
    ratings = [
        failed(n, code) for n, code in enumerate(["judge_timeout", "score_invalid", "judge_refused", "judge_refused"])
    ]
    codes = [cause.code for cause in tallied(enumerate(ratings), 4).summary().failures]
    assert codes == ["judge_refused", "judge_timeout", "score_invalid"]


def test_usage_is_added_up():
    usage = Usage(calls=2, input_tokens=10, output_tokens=3, usd=0.01)
    summary = tallied([(n, rated(n, 1.0, usage=usage)) for n in range(3)], 3).summary()
    assert (summary.usage.calls, summary.usage.input_tokens) == (6, 30)
    assert summary.usage.usd == pytest.approx(0.03)


def test_the_flip_rate_is_the_chance_that_two_votes_on_an_item_disagree():
    """Of three votes, two against one: two of the three pairs disagree. Of 2 and 2: four of six."""
    tally = Tally(SPEC, 3)
    tally.add(0, rated(0, 1.0), [vote(0, 1.0), vote(0, 1.0, 1), vote(0, 0.0, 2)])
    tally.add(1, rated(1, 1.0), [vote(1, 1.0), vote(1, 1.0, 1), vote(1, 1.0, 2)])
    tally.add(2, rated(2, 1.0), [vote(2, float(n < 2), n) for n in range(4)])
    summary = tally.summary()
    assert summary.flip_rate == pytest.approx((2 / 3 + 0 + 4 / 6) / 3)
    assert [one.item for one in summary.unstable] == ["i0", "i2"]


def test_only_the_least_stable_items_are_kept():
    tally = Tally(SPEC, 50)
    for n in range(50):
        tally.add(n, rated(n, 1.0), [vote(n, 1.0), vote(n, 1.0 - n / 100, 1)])
    unstable = tally.summary().unstable
    assert [one.item for one in unstable] == ["i49", "i48", "i47", "i46", "i45"]
    assert unstable[0].spread == pytest.approx(0.49)


def test_a_vote_alone_says_nothing_of_stability():
    tally = Tally(SPEC, 1)
    tally.add(0, rated(0, 1.0), [vote(0, 1.0), failed(0)])
    assert tally.summary().flip_rate is None


def test_clusters_make_the_interval_wider_and_say_so():
    tallies = Tallies([SPEC], 40)
    for n in range(40):
        tallies.place(n, f"c{n // 10}")
        tallies.add(n, [rated(n, float(n // 10 < 2))])
    (robust,) = tallies.summaries(level=0.95)
    plain = tallied([(n, rated(n, float(n // 10 < 2))) for n in range(40)], 40).summary()
    assert robust.pass_rate.method.endswith("clustered")
    assert robust.pass_rate.value == plain.pass_rate.value == 0.5
    assert robust.pass_rate.upper - robust.pass_rate.lower > plain.pass_rate.upper - plain.pass_rate.lower


def test_a_level_is_that_of_the_interval():
    ratings = [(n, rated(n, float(n % 3 > 0))) for n in range(60)]
    wide, narrow = (tallied(ratings, 60).summary(level=level).pass_rate for level in (0.99, 0.8))
    assert (wide.level, narrow.level) == (0.99, 0.8)
    assert wide.lower < narrow.lower < narrow.upper < wide.upper


def test_outputs_that_come_late_are_rows_in_the_order_of_their_metrics():
    parent = MetricSpec(name="hits", instrument="x", has_parts=True)
    tallies = Tallies([parent, SPEC], 2)
    tallies.add(0, [rated(0, 1.0)])
    output = Rating(item="i1", criterion="hits/at_1", rater="r", instrument="x", status="rated", value=1.0)
    broken = Rating(
        item="i0",
        criterion="hits",
        rater="r",
        instrument="x",
        status="failed",
        failure=Failure(code="metric_error", message="?"),
    )
    tallies.add(0, [broken])
    tallies.add(1, [output])
    names = [tally.spec.name for tally in tallies.settled()]
    assert names == ["hits/at_1", "polite"]
    assert tallies.settled()[0].coverage.codes == {"metric_error": 1}


def test_a_metric_whose_outputs_never_came_is_one_row_of_failures():
    parent = MetricSpec(name="hits", instrument="x", has_parts=True)
    tallies = Tallies([parent], 1)
    tallies.add(
        0,
        [
            Rating(
                item="i0",
                criterion="hits",
                rater="r",
                instrument="x",
                status="failed",
                failure=Failure(code="metric_error", message="?"),
            )
        ],
    )
    (summary,) = tallies.summaries(level=0.95)
    assert (summary.name, summary.pass_rate.coverage.failed) == ("hits", 1)
