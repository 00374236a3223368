"""What holds of agreement whatever the data."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from calibrant.agreement import (
    Measure,
    RatingCube,
    Resampling,
    against_each,
    alt_test,
    cohens_kappa,
    corrected_rate,
    fleiss_kappa,
    krippendorff_alpha,
    many_raters_ac1,
    mean_pairwise_kappa,
)
from calibrant.agreement.measures import MEASURES

FAST = Resampling(resamples=100)
SYMMETRIC = ["accuracy", "kappa", "ac1", "matthews"]
MANY = [fleiss_kappa, krippendorff_alpha, many_raters_ac1, mean_pairwise_kappa]

answers = st.sampled_from([1, 2, 3])
perhaps = st.one_of(st.none(), answers)


@st.composite
def studies(draw, values=perhaps, least=2, most=12):
    items = draw(st.integers(least, most))
    row = st.lists(values, min_size=items, max_size=items)
    return {name: dict(enumerate(draw(row))) for name in ("judge", "ann", "bob", "cem")}


def same(first, second):
    if first is None or second is None:
        return first is second
    return math.isclose(first, second, abs_tol=1e-9)


@settings(max_examples=60, deadline=None)
@given(studies())
def test_every_measure_gives_a_finite_number_or_a_reason(ratings):
    cube = RatingCube.of(ratings)
    for name in MEASURES:
        found = against_each(cube, "judge", Measure(name=name), resampling=FAST)
        for one in (found.average, *found.each.values()):
            assert (one.value is None) == (one.value is None and bool(one.reason))
            least = -math.inf if name == "ac2" else -1.0  # with weights, chance can be above one half
            assert one.value is None or least - 1e-9 <= one.value <= 1.0 + 1e-9
            assert one.lower is None or one.lower <= one.value <= one.upper


@settings(max_examples=60, deadline=None)
@given(studies())
def test_new_names_for_labels_change_nothing(ratings):
    names = {1: "zebra", 2: "ant", 3: "moth", None: None}
    renamed = {rater: {item: names[value] for item, value in of.items()} for rater, of in ratings.items()}
    for name in ("accuracy", "f1", "balanced_accuracy", "matthews", "kappa", "ac1"):
        first = against_each(RatingCube.of(ratings), "judge", name, resampling=FAST).average.value
        assert same(first, against_each(RatingCube.of(renamed), "judge", name, resampling=FAST).average.value)
    for statistic in MANY:
        assert same(statistic(ratings, resampling=FAST).value, statistic(renamed, resampling=FAST).value)


@settings(max_examples=40, deadline=None)
@given(studies(), st.permutations(["judge", "ann", "bob", "cem"]))
def test_the_order_of_raters_changes_nothing(ratings, order):
    shuffled = {rater: ratings[rater] for rater in order}
    for statistic in MANY:
        assert same(statistic(ratings, resampling=FAST).value, statistic(shuffled, resampling=FAST).value)
    found = against_each(RatingCube.of(ratings), "judge", "kappa", resampling=FAST).average.value
    assert same(found, against_each(RatingCube.of(shuffled), "judge", "kappa", resampling=FAST).average.value)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(answers, answers), min_size=1, max_size=20), st.sampled_from(SYMMETRIC))
def test_symmetric_measures_do_not_ask_who_is_first(pairs, name):
    cube = RatingCube.of({"a": dict(enumerate(one for one, _ in pairs)), "b": dict(enumerate(two for _, two in pairs))})
    forth = against_each(cube, "a", name, resampling=FAST).average.value
    assert same(forth, against_each(cube, "b", name, resampling=FAST).average.value)


@settings(max_examples=40, deadline=None)
@given(st.lists(answers, min_size=2, max_size=20))
def test_identical_raters_agree_perfectly(row):
    ratings = {name: dict(enumerate(row)) for name in ("judge", "ann", "bob")}
    for statistic in MANY:
        assert statistic(ratings, resampling=FAST).value == pytest.approx(1.0)
    assert cohens_kappa(row, row, resampling=FAST).value == pytest.approx(1.0)


@settings(max_examples=40, deadline=None)
@given(studies(), st.integers(2, 4))
def test_repeating_the_data_leaves_the_value(ratings, times):
    repeated = {
        rater: {times * item + copy: value for item, value in of.items() for copy in range(times)}
        for rater, of in ratings.items()
    }
    for statistic in (fleiss_kappa, many_raters_ac1, mean_pairwise_kappa):  # alpha corrects for few items, and moves
        assert same(statistic(ratings, resampling=FAST).value, statistic(repeated, resampling=FAST).value)
    for name in ("accuracy", "f1", "kappa", "spearman"):
        first = against_each(RatingCube.of(ratings), "judge", name, resampling=FAST).average.value
        assert same(first, against_each(RatingCube.of(repeated), "judge", name, resampling=FAST).average.value)


@settings(max_examples=40, deadline=None)
@given(studies())
def test_patterns_weigh_as_much_as_the_items(ratings):
    cube = RatingCube.of(ratings)
    patterns, weights = cube.patterns()
    assert weights.sum() == len(cube.items)
    assert patterns.shape == (4, len(weights))
    assert len({tuple(column) for column in patterns.T}) == len(weights)


@settings(max_examples=25, deadline=None)
@given(studies(values=answers, least=30, most=45))
def test_the_winning_rate_never_falls_with_epsilon(ratings):
    found = alt_test(ratings, "judge")
    rates = list(found.winning_rate.values())
    assert rates == sorted(rates)
    assert all(0.0 < one.p <= 1.0 for one in found.annotators)
    assert all(one.judge_advantage + one.human_advantage >= 1.0 for one in found.annotators)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.one_of(st.none(), st.booleans())), min_size=1, max_size=60))
def test_rates_of_passes_and_of_failures_add_up_to_one(pairs):
    judge, human = [one for one, _ in pairs], [two for _, two in pairs]
    passes, failures = corrected_rate(judge, human), corrected_rate(judge, human, positive=False)
    assume(passes.estimate.value is not None)
    assert passes.estimate.value + failures.estimate.value == pytest.approx(1.0)
    assert passes.estimate.lower + failures.estimate.upper == pytest.approx(1.0)
    assert 0.0 <= passes.estimate.lower <= passes.estimate.value <= passes.estimate.upper <= 1.0
