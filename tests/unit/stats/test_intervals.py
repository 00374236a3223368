import math

import numpy as np
import pytest

from calibrant.errors import InputError, UnknownNameError, WrongTypeError
from calibrant.stats import (
    Interval,
    clopper_pearson,
    jeffreys,
    mean_interval,
    paired_difference_interval,
    wilson,
)


@pytest.mark.parametrize("interval", [wilson, jeffreys, clopper_pearson])
def test_counts_that_cannot_be_are_refused_by_name(interval):
    with pytest.raises(InputError, match=r"successes cannot be more than n, but 5 > 4"):
        interval(5, 4)
    with pytest.raises(InputError, match=r"n must be at least 1, not 0"):
        interval(0, 0)
    with pytest.raises(InputError, match=r"successes must be at least 0, not -1"):
        interval(-1, 4)
    with pytest.raises(WrongTypeError, match=r"successes must be a whole number, not 0\.5"):
        interval(0.5, 4)


@pytest.mark.parametrize("interval", [wilson, jeffreys, clopper_pearson])
def test_whole_numbers_of_any_kind_are_counts(interval):
    assert interval(np.int64(3), np.int32(8)) == interval(3.0, 8) == interval(3, 8)


@pytest.mark.parametrize("level", [0, 1, 95, -0.1, math.nan])
def test_a_level_is_a_probability(level):
    with pytest.raises(InputError, match=r"level must lie between 0 and 1, not"):
        wilson(3, 8, level=level)


def test_an_unknown_side_is_named_with_those_that_exist():
    with pytest.raises(UnknownNameError, match=r"unknown side 'both'; expected one of: lower, two, upper"):
        wilson(3, 8, side="both")


@pytest.mark.parametrize("interval", [wilson, jeffreys, clopper_pearson])
def test_all_and_nothing_end_exactly_at_the_edge(interval):
    assert interval(0, 12).lower == 0.0
    assert interval(12, 12).upper == 1.0
    assert interval(0, 12).upper < 0.3
    assert interval(12, 12).lower > 0.7


def test_an_interval_has_named_bounds():
    assert wilson(1, 4)._fields == ("lower", "upper")
    assert isinstance(mean_interval([1, 2]), Interval)


def test_the_bound_of_a_mean_that_was_not_asked_for_is_infinite():
    both = mean_interval([1.0, 2.0, 4.0], level=0.9)
    assert mean_interval([1.0, 2.0, 4.0], level=0.95, side="lower") == pytest.approx((both.lower, math.inf))
    assert mean_interval([1.0, 2.0, 4.0], level=0.95, side="upper") == pytest.approx((-math.inf, both.upper))


def test_one_value_or_one_cluster_has_no_interval():
    with pytest.raises(InputError, match=r"the interval of a mean needs at least 2 values, not 1"):
        mean_interval([0.5])
    with pytest.raises(InputError, match=r"needs at least 2 values, not 0"):
        mean_interval([])
    with pytest.raises(InputError, match=r"needs at least 2 clusters, not 1"):
        mean_interval([0.5, 0.6], clusters=["a", "a"])


def test_every_value_that_is_not_finite_is_named():
    with pytest.raises(InputError) as caught:
        mean_interval([0.5, math.nan, 0.7, math.inf])
    assert caught.value.problems == ("position 1: nan is not a finite number", "position 3: inf is not a finite number")


def test_values_that_are_no_numbers_or_no_row_are_refused():
    with pytest.raises(WrongTypeError, match=r"values must be numbers, not \['good'\]"):
        mean_interval(["good"])
    with pytest.raises(InputError, match=r"values must be one row of numbers, not shape \(2, 2\)"):
        mean_interval([[1, 2], [3, 4]])


def test_clusters_must_name_each_item():
    with pytest.raises(InputError, match=r"each of the 3 items, but there are 2"):
        mean_interval([1, 2, 3], clusters=["a", "b"])
    with pytest.raises(InputError, match=r"clusters has 2 problems:\n  item 1 has none\n  item 2 has none"):
        mean_interval([1, 2, 3], clusters=["a", None, math.nan])


def test_clusters_are_told_apart_by_label_in_any_form():
    values, labels = [1.0, 2.0, 2.5, 4.0, 7.0], [7, 7, 9, 9, 11]
    expected = mean_interval(values, clusters=labels)
    assert mean_interval(values, clusters=np.array(labels)) == expected
    assert mean_interval(values, clusters=["x", "x", "y", "y", "z"]) == expected


def test_items_that_vary_together_have_a_wider_interval_than_items_that_do_not():
    values, clusters = [0.0, 0.1, 0.9, 1.0, 0.4, 0.5], ["a", "a", "b", "b", "c", "c"]
    alone, together = mean_interval(values), mean_interval(values, clusters=clusters)
    assert together.upper - together.lower > 1.5 * (alone.upper - alone.lower)


def test_the_clustered_error_is_that_of_the_cluster_sums_by_hand():
    # Deviations from 0.5: a +0.2, b -0.2 (sums of two items each); SE² = 2/1 * (0.04 + 0.04) / 16 = 0.01.
    lower, upper = mean_interval([0.6, 0.6, 0.4, 0.4], clusters=["a", "a", "b", "b"])
    assert (upper - lower) / 2 == pytest.approx(0.1 * 12.7062, rel=1e-5)  # t of 1 df at 0.975


def test_a_paired_difference_has_a_width_also_without_a_single_discordant_item():
    lower, upper = paired_difference_interval(0, 0, 50)
    assert lower == -upper
    assert 0.04 < upper < 0.08


def test_a_paired_difference_mirrors_when_the_systems_change_places():
    lower, upper = paired_difference_interval(12, 3, 90)
    assert paired_difference_interval(3, 12, 90) == pytest.approx((-upper, -lower))
    assert lower < (12 - 3) / 90 < upper
    assert paired_difference_interval(12, 3, 90, side="lower").upper == 1.0


def test_more_discordant_items_than_items_are_refused():
    with pytest.raises(InputError, match=r"some of the n items, but 3 \+ 4 is more than 5"):
        paired_difference_interval(3, 4, 5)
