import operator
import re

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.stats import (
    bootstrap,
    bootstrap_bca,
    bootstrap_means,
    bootstrap_table,
    bootstrap_table_bca,
    mean_interval,
    wilson,
)

VALUES = np.random.default_rng(0).normal(size=60)


def share_passed(counts):
    return counts[:, 1] / counts.sum(axis=1)


def kappa(tables):
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    agreed = shares.trace(axis1=1, axis2=2)
    chance = (shares.sum(axis=1) * shares.sum(axis=2)).sum(axis=1)
    return (agreed - chance) / (1 - chance)


def test_a_statistic_takes_an_axis_or_a_batch():
    assert bootstrap(VALUES, np.mean) == bootstrap(VALUES, lambda batch: batch.mean(axis=1))


@pytest.mark.parametrize("interval", [bootstrap, bootstrap_bca])
def test_the_bootstrap_of_a_mean_is_near_the_t_interval(interval):
    assert interval(VALUES, np.mean) == pytest.approx(mean_interval(VALUES), abs=0.04)


@pytest.mark.parametrize("interval", [bootstrap_table, bootstrap_table_bca])
def test_a_table_of_passes_has_nearly_wilsons_interval(interval):
    found = interval([200, 800], share_passed)
    assert found == pytest.approx(wilson(800, 1000), abs=0.003)


def test_drawing_items_and_drawing_counts_are_the_same_law():
    passes = np.repeat([0, 1], [30, 70])
    by_items = bootstrap(passes, np.mean, resamples=40_000)
    by_counts = bootstrap_table(np.bincount(passes), share_passed, resamples=40_000)
    assert by_items == pytest.approx(by_counts, abs=0.0101)  # one item: quantiles fall on whole items
    corrected = bootstrap_table_bca(np.bincount(passes), share_passed)
    assert bootstrap_bca(passes, np.mean) == pytest.approx(corrected, abs=0.0101)


def test_a_table_may_have_any_shape_and_empty_cells():
    lower, upper = bootstrap_table([[40, 5], [0, 15]], kappa)
    assert lower < kappa(np.array([[[40, 5], [0, 15]]]))[0] < upper


def test_several_columns_are_drawn_together():
    pairs = np.column_stack([VALUES, VALUES + 0.25])
    difference = bootstrap(pairs, lambda batch: (batch[:, :, 1] - batch[:, :, 0]).mean(axis=1))
    assert difference == pytest.approx((0.25, 0.25))


def test_whole_clusters_are_drawn():
    values, clusters = np.repeat([0.0, 1.0, 3.0, 4.0], [2, 3, 1, 4]), np.repeat([9, 8, 7, 6], [2, 3, 1, 4])
    alone, together = bootstrap(values, np.mean), bootstrap(values, np.mean, resamples=2000, clusters=clusters)
    assert together.upper - together.lower > 1.3 * (alone.upper - alone.lower)
    corrected = bootstrap_bca(values, np.mean, resamples=2000, clusters=clusters)
    assert 0 <= corrected.lower < corrected.upper <= 4


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    assert bootstrap(VALUES, np.mean, resamples=300, seed=1) == bootstrap(VALUES, np.mean, resamples=300, seed=1)
    assert bootstrap(VALUES, np.mean, resamples=300, seed=1) != bootstrap(VALUES, np.mean, resamples=300, seed=2)
    assert bootstrap_table([500, 900], share_passed) == bootstrap_table([500, 900], share_passed)


def test_equal_values_have_an_interval_without_width():
    for interval in (bootstrap, bootstrap_bca):
        assert interval([2.0] * 5, np.mean, resamples=50) == (2.0, 2.0)


def test_a_statistic_of_the_wrong_shape_is_told_what_to_return():
    with pytest.raises(InputError, match=r"one number for each of 10 samples, but gave shape \(\) for a batch"):
        bootstrap(VALUES, lambda batch: batch.mean(), resamples=10)
    with pytest.raises(InputError, match=r"gave shape \(10, 2\).*reduce every axis but the first"):
        bootstrap(np.ones((5, 2)), np.mean, resamples=10)


def test_a_statistic_that_hides_its_arguments_is_given_the_batch():
    assert bootstrap(VALUES, operator.methodcaller("mean", 1)) == bootstrap(VALUES, np.mean)


def test_an_interval_over_undefined_resamples_is_refused():
    def ratio(batch):
        with np.errstate(invalid="ignore", divide="ignore"):
            return batch[:, :, 0].sum(axis=1) / batch[:, :, 1].sum(axis=1)

    with pytest.raises(InputError, match=r"undefined on \d+ of 200 resamples: the data are too few or too uniform"):
        bootstrap([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]], ratio, resamples=200)
    rarely = np.column_stack([np.ones(40), np.repeat([0.0, 1.0], [36, 4])])
    lower, upper = bootstrap(rarely, ratio, resamples=200)
    assert 4 < lower < upper < 41


def test_too_little_or_wrong_data_is_refused():
    with pytest.raises(InputError, match=r"a bootstrap needs at least 2 items, not 1"):
        bootstrap([1.0], np.mean)
    with pytest.raises(InputError, match=r"a bootstrap needs at least 2 items, not 1"):
        bootstrap(1.0, np.mean)
    with pytest.raises(InputError, match=r"needs at least 2 of them, not 1"):
        bootstrap([1.0, 2.0], np.mean, clusters=["a", "a"])
    with pytest.raises(InputError, match=r"a bootstrap needs at least 2 items, not 1"):
        bootstrap_table([1, 0], share_passed)
    for counts in ([0.5, 1], [-1, 4], []):
        with pytest.raises(InputError, match=r"counts must be whole numbers of at least 0"):
            bootstrap_table(counts, share_passed)


@pytest.mark.parametrize("interval", [bootstrap, bootstrap_bca])
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"resamples": 0}, "resamples must be at least 1, not 0"),
        ({"resamples": 10.5}, "resamples must be a whole number, not 10.5"),
        ({"level": 1.0}, "level must lie between 0 and 1, not 1.0"),
        ({"clusters": [1, 2]}, "clusters must name the cluster of each of the 60 items, but there are 2"),
    ],
)
def test_a_setting_out_of_range_is_refused(interval, setting, message):
    with pytest.raises((InputError, TypeError), match=re.escape(message)):
        interval(VALUES, np.mean, **{"resamples": 10, **setting})


def test_a_lower_level_lies_inside_a_higher_one():
    for interval in (bootstrap, bootstrap_bca):
        inner, outer = (interval(VALUES, np.mean, resamples=500, level=level) for level in (0.5, 0.99))
        assert outer.lower < inner.lower < inner.upper < outer.upper


def test_bca_follows_the_skew_that_the_percentiles_ignore():
    """Efron and Tibshirani (1993), chapter 14: for a right-skewed sample the BCa interval lies further right."""
    skewed = np.random.default_rng(5).lognormal(size=40)
    plain, corrected = bootstrap(skewed, np.mean), bootstrap_bca(skewed, np.mean)
    assert corrected.lower > plain.lower
    assert corrected.upper > plain.upper


def test_bca_without_anything_to_correct_by_is_refused():
    def second_largest_or_nothing(batch):
        return np.where(batch.shape[1] == 4, np.nan, np.sort(batch, axis=1)[:, -2])

    assert bootstrap([1.0, 2.0, 3.0, 4.0, 5.0], second_largest_or_nothing, resamples=50).upper <= 5
    with pytest.raises(InputError, match="undefined on the data, or on them without one item: the BCa interval has"):
        bootstrap_bca([1.0, 2.0, 3.0, 4.0, 5.0], second_largest_or_nothing, resamples=50)


def test_a_table_with_one_category_left_has_no_width():
    assert bootstrap_table([0, 50], share_passed, resamples=20) == (1.0, 1.0)
    assert bootstrap_table_bca([0, 50], share_passed, resamples=20) == (1.0, 1.0)


@pytest.mark.parametrize("n", [2, 7, 300])
def test_the_means_of_columns_have_the_interval_that_each_has_alone(n):
    table = np.random.default_rng(3).normal(size=(n, 4))
    found = bootstrap_means(table, resamples=4000, level=0.9, seed=5)
    for column, interval in zip(table.T, found, strict=True):
        alone = bootstrap(column, np.mean, resamples=4000, level=0.9, seed=5)
        assert list(interval) == pytest.approx(list(alone), abs=1e-12)


def test_means_of_columns_need_two_rows_of_finite_numbers():
    with pytest.raises(InputError, match="a bootstrap needs at least 2 items, not 1"):
        bootstrap_means([[0.5, 0.5]])
    with pytest.raises(InputError, match="position 1: .* is not a finite number"):
        bootstrap_means([[0.5], [float("nan")]])
    with pytest.raises(InputError, match="table must be a table of items and columns, not shape"):
        bootstrap_means([0.5, 0.6])
    assert bootstrap_means(np.empty((3, 0))) == []
