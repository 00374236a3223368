"""Statistics of many raters from counts, and rank correlations of many values, against their definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from calibrant.agreement import RatingCube, Resampling, fleiss_kappa, krippendorff_alpha, many_raters_ac1, spearman
from calibrant.agreement.counts import alpha_of, coincidences, distances, fleiss_of, shares
from calibrant.agreement.ranks import rank_bounds

FAST = Resampling(resamples=100)
ratings = st.lists(st.lists(st.sampled_from([1, 2, 3, None]), min_size=3, max_size=3), min_size=2, max_size=8)


def cube_of(items):
    """Items with the answers of three raters each."""
    return RatingCube.of({f"r{number}": {place: row[number] for place, row in enumerate(items)} for number in range(3)})


def paired(items):
    """The answers to every item that two raters rated."""
    return [kept for row in items if len(kept := [one for one in row if one is not None]) >= 2]


def by_definition(items, distance):
    """Krippendorff (2011): disagreement within items over that of all pairs of values, whoever gave them."""
    units = paired(items)
    values = [one for unit in units for one in unit]
    n = len(values)
    seen = (
        sum(distance(one, other) / (len(unit) - 1) for unit in units for one, other in itertools.permutations(unit, 2))
        / n
    )
    chance = sum(distance(one, other) for one, other in itertools.permutations(values, 2)) / (n * (n - 1))
    return 1.0 if chance == 0 else 1.0 - seen / chance


@settings(max_examples=120, deadline=None)
@given(ratings, st.sampled_from(["nominal", "interval", "ratio"]))
def test_alpha_is_its_definition(items, metric):
    assume(paired(items))
    distance = {
        "nominal": lambda one, other: float(one != other),
        "interval": lambda one, other: float((one - other) ** 2),
        "ratio": lambda one, other: ((one - other) / (one + other)) ** 2,
    }[metric]
    found = krippendorff_alpha(cube_of(items), metric=metric, resampling=FAST)
    assert found.value == pytest.approx(by_definition(items, distance), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(ratings)
def test_ordinal_alpha_counts_the_values_between(items):
    assume(paired(items))
    values = [one for unit in paired(items) for one in unit]
    count = {value: values.count(value) for value in (1, 2, 3)}

    def distance(one, other):
        low, high = sorted((one, other))
        between = sum(count[value] for value in range(low, high + 1))
        return float((between - (count[low] + count[high]) / 2) ** 2) if one != other else 0.0

    found = krippendorff_alpha(cube_of(items), metric="ordinal", resampling=FAST)
    assert found.value == pytest.approx(by_definition(items, distance), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(ratings)
def test_fleiss_kappa_is_mean_pairwise_agreement_beyond_the_answers_rates(items):
    units = paired(items)
    assume(units)
    rated = [kept for row in items if (kept := [one for one in row if one is not None])]
    seen = sum(
        sum(one == other for one, other in itertools.permutations(unit, 2)) / (len(unit) * (len(unit) - 1))
        for unit in units
    ) / len(units)
    rates = [sum(row.count(value) / len(row) for row in rated) / len(rated) for value in (1, 2, 3)]
    chance = sum(rate**2 for rate in rates)
    found = fleiss_kappa(cube_of(items), resampling=FAST)
    expected = 1.0 if chance > 1 - 1e-12 and seen == 1 else (seen - chance) / (1 - chance)
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert many_raters_ac1(cube_of(items), resampling=FAST).value >= found.value - 1e-9


def test_an_item_with_one_rating_tells_of_rates_and_not_of_agreement():
    rows = shares(np.array([[2.0, 0.0], [0.0, 1.0]]), np.eye(2))
    assert rows.tolist() == [[1.0, 1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 1.0]]
    assert float(fleiss_of(rows.sum(0))) == pytest.approx(1.0)


def test_coincidences_hold_every_pair_once_for_each_rater():
    table = coincidences(np.array([[2.0, 1.0]])).reshape(2, 2)
    assert table.tolist() == [[1.0, 1.0], [1.0, 0.0]]
    assert table.sum() == 3.0


def test_an_item_with_one_rating_has_no_coincidence():
    assert coincidences(np.array([[1.0, 0.0]])).sum() == 0.0
    assert math.isnan(float(alpha_of(np.zeros(4), "nominal", np.arange(2.0))))


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("nominal", [[0, 1], [1, 0]]), ("interval", [[0, 4], [4, 0]]), ("ratio", [[0, 0.25], [0.25, 0]])],
)
def test_distances_of_two_numbers(metric, expected):
    assert distances(metric, np.array([1.0, 3.0]), np.ones(2)).tolist() == expected


def test_two_zeros_are_no_distance_apart_on_a_ratio_scale():
    assert distances("ratio", np.array([0.0, 1.0]), np.ones(2)).tolist() == [[0.0, 1.0], [1.0, 0.0]]


RANDOM = np.random.default_rng(5)
FIRST = RANDOM.normal(size=60)
SECOND = FIRST + RANDOM.normal(size=60)


def test_the_interval_of_spearman_is_bonett_and_wright_s():
    found = rank_bounds(FIRST[None], SECOND[None], "spearman", None, Resampling())
    rho = stats.spearmanr(FIRST, SECOND).statistic
    spread = 1.959963984540054 * math.sqrt((1 + rho**2 / 2) / 57)
    assert (found.value, found.method) == (pytest.approx(rho), "fisher z")
    assert (found.lower, found.upper) == pytest.approx(
        (math.tanh(math.atanh(rho) - spread), math.tanh(math.atanh(rho) + spread))
    )


def test_the_interval_of_kendall_is_fieller_hartley_and_pearson_s():
    found = rank_bounds(FIRST[None], SECOND[None], "kendall", None, Resampling())
    tau = stats.kendalltau(FIRST, SECOND).statistic
    spread = 1.959963984540054 * math.sqrt(0.437 / 56)
    assert (found.lower, found.upper) == pytest.approx(
        (math.tanh(math.atanh(tau) - spread), math.tanh(math.atanh(tau) + spread))
    )


def test_a_mean_over_pairs_and_clusters_take_the_jackknife():
    both = rank_bounds(np.stack([FIRST, FIRST]), np.stack([SECOND, -SECOND]), "spearman", None, Resampling())
    assert both.value == pytest.approx(0.0, abs=1e-12)
    assert both.method == "grouped jackknife"
    shared = rank_bounds(FIRST[None], SECOND[None], "spearman", np.arange(60) // 6, Resampling())
    assert shared.method == "cluster jackknife"
    assert shared.lower < shared.value < shared.upper


def test_missing_numbers_leave_their_items_out():
    gone = np.where(np.arange(60) % 7 == 0, np.nan, FIRST)
    kept = ~np.isnan(gone)
    found = rank_bounds(gone[None], SECOND[None], "spearman", None, Resampling())
    assert found.value == pytest.approx(stats.spearmanr(FIRST[kept], SECOND[kept]).statistic)


def test_constant_numbers_correlate_with_nothing():
    found = rank_bounds(np.ones((1, 9)), SECOND[None, :9], "spearman", None, Resampling())
    assert found.reason == "spearman is not defined, because one rater always gave one value"


def test_three_items_are_too_few_for_an_interval():
    found = rank_bounds(FIRST[None, :3], SECOND[None, :3], "spearman", None, Resampling())
    assert found.reason == "no interval: 3 items are too few"
    one = rank_bounds(FIRST[None], SECOND[None], "spearman", np.zeros(60, int), Resampling())
    assert one.reason == "no interval: too few clusters"


def test_perfect_order_stays_within_one():
    found = spearman(list(range(100)), list(range(100)))
    assert found.value == pytest.approx(1.0)
    assert found.lower <= found.value <= 1.0 + 1e-12
