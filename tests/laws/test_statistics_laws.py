"""What holds for every sample: intervals hold their estimate, adjusted p-values rise, signs do not matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import stats

INTERVALS = [stats.wilson, stats.jeffreys, stats.clopper_pearson]
LEVELS = st.floats(0.5, 0.999)
COUNTS = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
NUMBERS = st.floats(-100, 100, allow_nan=False).map(lambda number: round(number, 3))
SAMPLES = st.lists(NUMBERS, min_size=2, max_size=40)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize("interval", INTERVALS)
@given(counts=COUNTS, level=LEVELS)
def test_an_interval_of_a_proportion_holds_it_and_stays_between_0_and_1(interval, counts, level):
    lower, upper = interval(*counts, level=level)
    assert 0 <= lower <= counts[0] / counts[1] + 1e-12
    assert counts[0] / counts[1] - 1e-12 <= upper <= 1


@pytest.mark.parametrize("interval", INTERVALS)
@given(counts=COUNTS, levels=st.tuples(LEVELS, LEVELS))
def test_a_higher_level_never_has_a_narrower_interval(interval, counts, levels):
    low, high = (interval(*counts, level=level) for level in sorted(levels))
    assert high.lower <= low.lower + 1e-12
    assert low.upper <= high.upper + 1e-12


@pytest.mark.parametrize("interval", INTERVALS)
@given(counts=COUNTS, level=LEVELS)
def test_the_interval_of_failures_mirrors_that_of_successes(interval, counts, level):
    successes, n = counts
    lower, upper = interval(successes, n, level=level)
    mirrored = interval(n - successes, n, level=level)
    assert (1 - upper, 1 - lower) == pytest.approx(mirrored, abs=1e-12)


@pytest.mark.parametrize("interval", INTERVALS)
@given(counts=COUNTS, level=st.floats(0.5, 0.99))
def test_a_one_sided_bound_is_that_of_a_two_sided_interval_with_twice_the_error(interval, counts, level):
    both = interval(*counts, level=2 * level - 1) if level > 0.5 else None
    if both is not None:
        assert interval(*counts, level=level, side="lower") == pytest.approx((both.lower, 1.0), abs=1e-9)
        assert interval(*counts, level=level, side="upper") == pytest.approx((0.0, both.upper), abs=1e-9)


@pytest.mark.parametrize("interval", INTERVALS)
@given(counts=COUNTS, level=LEVELS)
def test_one_success_more_never_lowers_a_bound(interval, counts, level):
    successes, n = counts
    if successes < n:
        fewer, more = interval(successes, n, level=level), interval(successes + 1, n, level=level)
        assert fewer.lower <= more.lower
        assert fewer.upper <= more.upper


@given(values=SAMPLES, shift=NUMBERS, factor=st.floats(0.01, 100))
def test_the_interval_of_a_mean_moves_and_stretches_with_the_values(values, shift, factor):
    lower, upper = stats.mean_interval(values)
    moved = stats.mean_interval([factor * value + shift for value in values])
    assert moved == pytest.approx((factor * lower + shift, factor * upper + shift), abs=1e-6, rel=1e-6)


@given(values=SAMPLES)
def test_clusters_of_one_item_each_change_nothing(values):
    alone = list(range(len(values)))
    assert stats.mean_interval(values, clusters=alone) == pytest.approx(stats.mean_interval(values), rel=1e-9, abs=1e-9)
    assert stats.paired_t(values, clusters=alone).p_value == pytest.approx(stats.paired_t(values).p_value, rel=1e-6)
    assert (
        stats.sign_flip(values, clusters=alone, resamples=50).p_value == stats.sign_flip(values, resamples=50).p_value
    )


@given(values=SAMPLES.filter(lambda values: len(set(values)) > 1))
def test_copies_of_every_item_add_nothing_when_they_are_one_cluster(values):
    twice = stats.mean_interval(values * 2, clusters=list(range(len(values))) * 2)
    assert twice == pytest.approx(stats.mean_interval(values), rel=1e-9, abs=1e-9)


@given(
    values=st.lists(st.floats(0, 1), min_size=1, max_size=30),
    failed=st.integers(0, 10),
    side=st.sampled_from(["two", "lower", "upper"]),
)
def test_an_estimate_of_a_mean_is_finite_and_lies_within_its_bounds_and_its_worst_case(values, failed, side):
    estimate = stats.mean(values, coverage=stats_coverage(len(values), failed), side=side)
    assert estimate.worst_case[0] - 1e-9 <= estimate.value <= estimate.worst_case[1] + 1e-9
    assert estimate.lower is None or estimate.lower <= estimate.value
    assert estimate.upper is None or estimate.value <= estimate.upper
    assert estimate.reason or estimate.lower is not None or estimate.upper is not None


@given(
    values=st.lists(st.integers(0, 1), min_size=1, max_size=60),
    groups=st.integers(1, 6),
    side=st.sampled_from(["two", "lower", "upper"]),
)
def test_an_estimate_of_a_clustered_proportion_is_never_without_a_width(values, groups, side):
    clusters = [row % groups for row in range(len(values))]
    estimate = stats.proportion(values, clusters=clusters, side=side)
    if estimate.reason:
        assert len(set(clusters)) == 1
    else:
        assert 0 <= estimate.lower <= estimate.value <= estimate.upper <= 1
        assert estimate.upper - estimate.lower > 0


@pytest.mark.parametrize("adjust", [stats.holm, stats.benjamini_hochberg, stats.benjamini_yekutieli])
@given(p=P_VALUES)
def test_adjusted_p_values_are_no_smaller_and_keep_their_order(adjust, p):
    adjusted = adjust(p)
    assert (adjusted >= np.array(p) * (1 - 1e-12)).all()
    assert (adjusted <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


@given(p=P_VALUES)
def test_hochberg_is_never_stricter_than_holm_nor_yekutieli_laxer_than_hochberg(p):
    assert (stats.benjamini_hochberg(p) <= stats.holm(p) + 1e-12).all()
    assert (stats.benjamini_hochberg(p) <= stats.benjamini_yekutieli(p) + 1e-12).all()


@pytest.mark.parametrize("test", [stats.sign_flip, stats.paired_t, stats.wilcoxon])
@given(values=st.lists(NUMBERS, max_size=24), factor=st.sampled_from([-1.0, -4.0, 0.5]))
def test_a_paired_test_does_not_depend_on_direction_or_unit(test, values, factor):
    p = test(values).p_value
    assert 0 < p <= 1
    assert test([factor * value for value in values]).p_value == pytest.approx(p, rel=1e-6)


@given(values=st.lists(NUMBERS, max_size=14), random=st.randoms())
def test_the_exact_sign_flip_test_does_not_depend_on_the_order_of_items(values, random):
    shuffled = random.sample(values, len(values))
    assert stats.sign_flip(values).p_value == stats.sign_flip(shuffled).p_value


@given(values=st.lists(st.integers(-5, 5), min_size=1, max_size=9))
def test_the_exact_sign_flip_test_counts_all_signs(values):
    signs = 1 - 2 * ((np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1)
    sums = np.abs(signs @ np.array(values))
    assert stats.sign_flip(values).p_value == pytest.approx((sums >= abs(sum(values))).mean(), rel=1e-12)


@given(only_a=st.integers(0, 200), only_b=st.integers(0, 200))
def test_the_sign_flip_test_of_passes_is_mcnemars(only_a, only_b):
    differences = [1] * only_a + [-1] * only_b
    exact = stats.mcnemar(only_a, only_b).p_value
    assert stats.sign_flip(differences).p_value == pytest.approx(exact, rel=1e-9)
    assert stats.mcnemar(only_a, only_b, mid_p=True).p_value <= exact


@settings(max_examples=25, deadline=None)
@given(counts=st.lists(st.integers(0, 50), min_size=2, max_size=5).filter(lambda counts: sum(counts) > 1))
def test_the_bootstrap_of_a_table_stays_within_the_values_of_its_categories(counts):
    values = np.arange(len(counts))
    for interval in (stats.bootstrap_table, stats.bootstrap_table_bca):
        lower, upper = interval(counts, lambda drawn: drawn @ values / drawn.sum(axis=1), resamples=200)
        occurring = np.flatnonzero(counts)
        assert occurring.min() <= lower <= upper <= occurring.max()


@given(rate=st.floats(0.05, 0.95), reference=st.floats(0.05, 0.95), power=st.floats(0.3, 0.95))
def test_a_sample_size_has_its_power_and_one_item_fewer_has_not(rate, reference, power):
    if abs(rate - reference) > 0.01:
        n = stats.sample_size_proportion(rate, reference, power=power)
        assert stats.power_proportion(n, rate, reference) >= power
        assert n == 1 or stats.power_proportion(n - 1, rate, reference) < power


@settings(max_examples=40)
@given(n=st.integers(3, 500), power=st.floats(0.3, 0.95))
def test_what_can_just_be_detected_has_the_power_that_was_asked_for(n, power):
    gap = stats.detectable_paired_mean(n, 2.0, power=power)
    assert stats.power_paired_mean(n, 2.0, gap) == pytest.approx(power, abs=1e-6)
    smallest = stats.detectable_paired_proportions(n, 0.4, power=power)
    if smallest is not None:
        a, b = 0.2 + smallest / 2, 0.2 - smallest / 2
        assert stats.power_paired_proportions(n, a, max(b, 0.0)) == pytest.approx(power, abs=1e-6)


def stats_coverage(rated, failed):
    from calibrant.estimates import Coverage

    return Coverage(rated=rated, failed=failed)
