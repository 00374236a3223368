"""The statistics where numbers are very many, very few, very large or very small."""

import math
import sys

import numpy as np
import pytest

from calibrant import stats

INTERVALS = [stats.wilson, stats.jeffreys, stats.clopper_pearson]


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("side", ["two", "lower", "upper"])
def test_one_item_says_something_and_not_much(interval, side):
    for successes in (0, 1):
        lower, upper = interval(successes, 1, side=side)
        assert 0 <= lower <= successes <= upper <= 1
        assert upper - lower > 0.5


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_thousand_million_items_are_no_trouble(interval):
    lower, upper = interval(999_000_000, 1_000_000_000)
    assert 0.99899 < lower < 0.999 < upper < 0.99901


@pytest.mark.parametrize("interval", INTERVALS)
def test_levels_at_the_ends_still_have_bounds(interval):
    lower, upper = interval(3, 10, level=1 - 1e-9)
    assert 0 <= lower < 0.05
    assert 0.85 < upper <= 1
    lower, upper = interval(3, 10, level=1e-6)
    assert 0.2 < lower <= upper < 0.4


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e12, 1e150])
def test_a_mean_does_not_mind_the_unit(scale):
    values = np.array([0.2, 0.4, 0.9]) * scale
    lower, upper = stats.mean_interval(values)
    assert (lower / scale, upper / scale) == pytest.approx(stats.mean_interval([0.2, 0.4, 0.9]), rel=1e-9)


@pytest.mark.parametrize("test", [stats.paired_t, stats.sign_flip, stats.wilcoxon])
@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e9, 1e150])
def test_a_paired_test_does_not_mind_the_unit(test, scale):
    values = np.array([0.5, 0.25, -0.125, 1.0, 0.75])
    assert test(values * scale).p_value == pytest.approx(test(values).p_value)


def test_evidence_beyond_all_doubt_is_a_p_value_all_the_same():
    assert stats.mcnemar(0, 100_000).p_value == sys.float_info.min
    assert 0 < stats.mcnemar(0, 1000).p_value < 1e-300
    assert stats.paired_t(np.linspace(0.9, 1.0, 100_000)).p_value == sys.float_info.min


def test_mcnemar_of_very_many_is_near_the_normal_test():
    found = stats.mcnemar(50_500, 49_500)
    z = (50_500 - 49_500 - 1) / math.sqrt(100_000)
    assert found.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=1e-3)


def test_sizes_that_differ_by_far_do_not_drown_each_other():
    """Beside 1e9 the small ones still count: of 16 sums, 8 are at least as large as 1e9 + 1 in size."""
    assert stats.sign_flip([1e9, 1.0, -1.0, 1.0]).p_value == 0.5


def test_planning_goes_as_far_as_anybody_would():
    assert stats.sample_size_proportion(0.5001, 0.5) > 100_000_000
    assert stats.power_paired_mean(100_000, 1.0, 0.01) == pytest.approx(0.885, abs=5e-4)
    assert stats.detectable_proportion(10**9, 0.5) < 1e-4


@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_power_without_an_effect_is_the_level(n):
    assert stats.power_paired_mean(n, 1.0, 0.0, alpha=0.05) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("p", [[0.0], [1.0], [0.0, 1.0], [0.5] * 1000])
def test_adjusted_p_values_stay_probabilities(p):
    for adjust in (stats.holm, stats.benjamini_hochberg, stats.benjamini_yekutieli):
        found = adjust(p)
        assert len(found) == len(p)
        assert ((found >= p) & (found <= 1)).all()


def test_one_test_is_not_corrected():
    for adjust in (stats.holm, stats.benjamini_hochberg, stats.benjamini_yekutieli):
        assert adjust([0.03]).tolist() == [0.03]


def test_equal_p_values_are_adjusted_alike():
    for adjust in (stats.holm, stats.benjamini_hochberg, stats.benjamini_yekutieli):
        assert len(set(adjust([0.02, 0.02, 0.02]).round(12))) == 1


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 39), (40, 40), (0, 10**6)])
@pytest.mark.parametrize("side", ["two", "lower", "upper"])
def test_an_estimate_of_all_or_nothing_has_bounds_that_hold_it(successes, n, side):
    estimate = stats.proportion(successes, n, side=side)
    assert (estimate.lower or 0.0) <= estimate.value <= (1.0 if estimate.upper is None else estimate.upper)
    assert estimate.worst_case == (estimate.value, estimate.value)


def test_a_bound_that_was_not_asked_for_is_at_the_edge_of_its_scale():
    assert stats.proportion(30, 50, side="lower").upper == 1.0
    assert stats.proportion(30, 50, side="upper").lower == 0.0
    assert stats.mean([0.2, 0.4, 0.9], side="lower").upper is None
