import math

import pytest

from calibrant import stats
from calibrant.errors import InputError, UnknownNameError


def test_p_values_that_are_none_are_named():
    with pytest.raises(InputError, match=r"position 1: 1\.2 is no probability"):
        stats.holm([0.1, 1.2])
    with pytest.raises(InputError, match=r"position 0: nan is not a finite number"):
        stats.benjamini_yekutieli([math.nan])


def test_no_p_values_are_adjusted_to_none():
    for adjust in (stats.holm, stats.benjamini_hochberg, stats.benjamini_yekutieli):
        assert adjust([]).tolist() == []
        assert adjust([0.03]).tolist() == [0.03]


def test_an_effect_of_nothing_is_zero_and_of_equal_differences_undefined():
    assert stats.cohens_d([0.0, 0.0]) == 0.0
    assert stats.cohens_d([0.2, 0.2, 0.2]) is None
    assert stats.cohens_d([0.2]) is None
    assert stats.cohens_d([1.0, 3.0]) == pytest.approx(2 / math.sqrt(2))
    assert stats.cohens_h(0.3, 0.3) == 0.0
    with pytest.raises(InputError, match=r"a proportion lies between 0 and 1, not at 1\.5"):
        stats.cohens_h(1.5, 0.5)


def test_a_larger_difference_needs_fewer_items():
    sizes = [stats.sample_size_proportion(rate, 0.8) for rate in (0.82, 0.85, 0.9, 1.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert stats.sample_size_proportion(0.9, 0.8, side="one") < stats.sample_size_proportion(0.9, 0.8)


def test_no_number_of_items_tells_equal_things_apart():
    with pytest.raises(InputError, match=r"no number of items tells 0\.8 from 0\.8"):
        stats.sample_size_proportion(0.8, 0.8)
    with pytest.raises(InputError, match=r"no number of items tells 0\.1 from 0\.1"):
        stats.sample_size_paired_proportions(0.1, 0.1)
    with pytest.raises(InputError, match=r"no number of items tells 0 from 0"):
        stats.sample_size_paired_mean(1, 0)
    with pytest.raises(InputError, match=r"no number of items that exists would do"):
        stats.sample_size_paired_mean(1, 1e-9)


def test_wrong_shares_and_sides_are_named():
    with pytest.raises(InputError, match=r"only_a and only_b are shares of the items, not 0\.7 and 0\.6"):
        stats.power_paired_proportions(100, 0.7, 0.6)
    with pytest.raises(UnknownNameError, match=r"unknown side 'lower'; expected one of: one, two"):
        stats.power_paired_mean(10, 1, 0.5, side="lower")
    with pytest.raises(InputError, match=r"sd is the standard deviation .* not 0"):
        stats.power_paired_mean(10, 0, 0.5)
    with pytest.raises(InputError, match=r"power must lie between 0 and 1, not 80"):
        stats.sample_size_paired_mean(1, 0.5, power=80)


def test_rates_that_cannot_be_are_named():
    with pytest.raises(InputError, match=r"rate lies between 0 and 1, not at 1\.2"):
        stats.sample_size_proportion(1.2, 0.5)
    with pytest.raises(InputError, match=r"reference must lie between 0 and 1, not 1"):
        stats.power_proportion(10, 0.5, 1)


def test_a_difference_that_no_item_may_contradict_has_power_0_or_1():
    assert stats.power_paired_proportions(50, 1.0, 0.0) == 1.0
    assert stats.power_paired_proportions(1, 1.0, 0.0) == 0.0
    assert stats.power_proportion(50, 1.0, 0.5) == 1.0


def test_too_few_items_detect_nothing():
    assert stats.detectable_proportion(2, 0.5) is None
    assert stats.detectable_paired_proportions(20, 0.1) is None
    assert stats.detectable_proportion(50, 0.9) == pytest.approx(0.15, abs=0.03)


def test_more_items_settle_a_gate_that_they_are_planned_for():
    more = stats.more_items(0.8111, 397, 0.80)
    n = 397 + more
    assert stats.wilson(round(0.8111 * n), n, side="lower").lower == pytest.approx(0.80, abs=2e-4)
    assert stats.wilson(322, 397, side="lower").lower < 0.80


def test_enough_items_need_no_more_and_none_settle_the_threshold_itself():
    assert stats.more_items(0.95, 400, 0.80) == 0
    assert stats.more_items(0.80, 400, 0.80) is None
    assert stats.more_items(0.6, 30, 0.80) == 0


def test_a_gate_on_a_mean_needs_the_deviation_of_the_values():
    more = stats.more_items(4.1, 50, 4.0, sd=0.8)
    assert more == math.ceil((1.6448536 * 0.8 / 0.1) ** 2) - 50
    with pytest.raises(InputError, match=r"for a mean pass the sd of its values"):
        stats.more_items(4.1, 50, 4.0)


def test_a_wilson_interval_of_the_planned_size_is_as_narrow_as_asked():
    n = stats.sample_size_width(0.8, 0.05)
    lower, upper = stats.wilson(round(0.8 * n), n)
    assert (upper - lower) / 2 == pytest.approx(0.05, abs=3e-4)
    with pytest.raises(InputError, match=r"rate lies between 0 and 1, not at 1\.2"):
        stats.sample_size_width(1.2, 0.05)


@pytest.mark.parametrize("side", ["one", "two"])
@pytest.mark.parametrize("power", [0.05, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("effect", [9.0, 2.0, 0.7, 0.11, 0.01])
def test_a_sample_size_is_enough_and_one_item_less_is_not(effect, power, side):
    """Wherever the search begins, it ends at the smallest number: two items are the least of all."""
    n = stats.sample_size_paired_mean(1, effect, power=power, side=side)
    assert stats.power_paired_mean(n, 1, effect, side=side) >= power
    assert n == 2 or stats.power_paired_mean(n - 1, 1, effect, side=side) < power


@pytest.mark.parametrize("difference", [1e-5, 1e-300, 5e-324])
def test_a_tiny_difference_needs_very_many_items_or_more_than_there_are(difference):
    if difference == 1e-5:
        assert stats.sample_size_paired_mean(1, difference) == pytest.approx(2.8016**2 / difference**2, rel=1e-3)
        return
    with pytest.raises(InputError, match="no number of items that exists would do"):
        stats.sample_size_paired_mean(1, difference)
