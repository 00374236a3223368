import operator

import numpy as np
import pytest

from calibrant.errors import InputError, UnknownNameError
from calibrant.stats import bootstrap, bootstrap_table, mean_interval, wilson

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


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_bootstrap_of_a_mean_is_near_the_t_interval(method):
    assert bootstrap(VALUES, np.mean, method=method) == pytest.approx(mean_interval(VALUES), abs=0.04)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_table_of_passes_has_nearly_wilsons_interval(method):
    found = bootstrap_table([200, 800], share_passed, method=method)
    assert found == pytest.approx(wilson(800, 1000), abs=0.003)


def test_drawing_items_and_drawing_counts_are_the_same_law():
    passes = np.repeat([0, 1], [30, 70])
    by_items = bootstrap(passes, np.mean, resamples=40_000)
    by_counts = bootstrap_table(np.bincount(passes), share_passed, resamples=40_000)
    assert by_items == pytest.approx(by_counts, abs=0.0101)  # one item: quantiles fall on whole items
    for method in ("percentile", "bca"):
        assert bootstrap(passes, np.mean, method=method) == pytest.approx(
            bootstrap_table(np.bincount(passes), share_passed, method=method), abs=0.0101
        )


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
    corrected = bootstrap(values, np.mean, resamples=2000, clusters=clusters, method="bca")
    assert 0 <= corrected.lower < corrected.upper <= 4


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    assert bootstrap(VALUES, np.mean, resamples=300, seed=1) == bootstrap(VALUES, np.mean, resamples=300, seed=1)
    assert bootstrap(VALUES, np.mean, resamples=300, seed=1) != bootstrap(VALUES, np.mean, resamples=300, seed=2)
    assert bootstrap_table([500, 900], share_passed) == bootstrap_table([500, 900], share_passed)


def test_equal_values_have_an_interval_without_width():
    for method in ("percentile", "bca"):
        assert bootstrap([2.0] * 5, np.mean, resamples=50, method=method) == (2.0, 2.0)


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


def test_an_unknown_method_is_named_with_those_that_exist():
    with pytest.raises(UnknownNameError, match=r"unknown bootstrap method 'basic'; expected one of: bca, percentile"):
        bootstrap(VALUES, np.mean, method="basic")
