"""Paired differences of two systems on one measure."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

from calibrant.errors import InputError
from calibrant.estimates import Coverage
from calibrant.retrieval.differences import checked_level, paired_differences

VALUES = np.array([0.1, 0.3, -0.2, 0.4, 0.25, 0.0, 0.15, -0.05, 0.35, 0.2])


def difference(values, **settings):
    (found,) = paired_differences(np.reshape(values, (-1, 1)), coverage=Coverage(rated=len(values)), **settings)
    return found


def test_the_t_test_is_scipys():
    wanted = scipy_stats.ttest_1samp(VALUES, 0.0)
    found = difference(VALUES)
    assert found.t.p_value == pytest.approx(wanted.pvalue)
    assert found.t.statistic == pytest.approx(wanted.statistic)
    interval = wanted.confidence_interval(0.95)
    assert (found.difference.lower, found.difference.upper) == pytest.approx((interval.low, interval.high))


def test_the_randomisation_test_is_exact_where_all_flips_can_be_counted():
    flips = np.array(np.meshgrid(*[[1, -1]] * len(VALUES))).reshape(len(VALUES), -1).T
    means = np.abs(flips @ VALUES)
    wanted = (means >= abs(VALUES.sum()) - 1e-12).mean()
    assert difference(VALUES).randomisation.p_value == pytest.approx(wanted)


def test_wins_losses_and_ties_are_counted_by_query():
    found = difference(VALUES)
    assert (found.wins, found.losses, found.ties) == (7, 2, 1)


def test_cohens_d_is_the_mean_over_the_deviation():
    assert difference(VALUES).effect_size == pytest.approx(VALUES.mean() / VALUES.std(ddof=1))


def test_rounding_is_no_difference():
    found = difference([1e-13, -1e-14, 0.0, 5e-16])
    assert (found.wins, found.losses, found.ties) == (0, 0, 4)
    assert (found.t.p_value, found.randomisation.p_value) == (1.0, 1.0)
    assert found.needed is None


def test_the_queries_needed_find_the_difference_four_times_in_five():
    needed = difference(VALUES).needed
    effect = VALUES.mean() / VALUES.std(ddof=1)

    def power(n):
        limit = scipy_stats.t.ppf(0.975, n - 1)
        away = scipy_stats.nct(n - 1, effect * np.sqrt(n))
        return away.sf(limit) + away.cdf(-limit)

    assert power(needed) >= 0.8 > power(needed - 1)


def test_a_stricter_level_widens_the_interval_and_needs_more_queries():
    usual, strict = difference(VALUES), difference(VALUES, alpha=0.001)
    assert strict.difference.level == pytest.approx(0.999)
    assert strict.difference.lower < usual.difference.lower
    assert strict.needed > usual.needed
    assert strict.t.p_value == usual.t.p_value


def test_columns_are_compared_each_for_itself():
    table = np.stack([VALUES, -VALUES, np.zeros_like(VALUES)], axis=1)
    up, down, none = paired_differences(table, coverage=Coverage(rated=len(VALUES)))
    assert up.difference.value == pytest.approx(-down.difference.value)
    assert up.randomisation.p_value == down.randomisation.p_value
    assert (up.wins, up.losses) == (down.losses, down.wins)
    assert none.difference.value == 0.0
    assert up.to_json() == difference(VALUES).to_json()


def test_the_seed_gives_the_same_flips_and_another_one_others():
    many = np.random.default_rng(3).normal(0.05, 1, 200)
    first, same, other = (difference(many, seed=seed, resamples=500).randomisation.p_value for seed in (1, 1, 2))
    assert first == same
    assert first != other


def test_no_queries_and_one_query_say_why_there_is_no_interval():
    none, one = difference([]), difference([0.5])
    assert (none.difference.value, none.t.p_value, none.wins) == (None, 1.0, 0)
    assert none.difference.reason == "there were no values"
    assert (one.difference.value, one.difference.lower, one.t.p_value) == (0.5, None, 1.0)
    assert one.effect_size is None


def test_values_beyond_one_have_no_known_worst_case():
    failed = Coverage(rated=2, failed=1)
    (inside,) = paired_differences([[0.5], [0.25]], coverage=failed)
    (beyond,) = paired_differences([[5.0], [0.25]], coverage=failed)
    assert inside.difference.worst_case == pytest.approx(((0.75 - 1) / 3, (0.75 + 1) / 3))
    assert beyond.difference.worst_case is None


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 5, float("nan")])
def test_a_level_outside_of_0_and_1_is_refused(alpha):
    with pytest.raises(InputError, match=r"a significance level lies between 0 and 1 \(0.05 is usual\), not at"):
        checked_level(alpha)


def test_a_significance_level_that_is_a_text_is_named():
    with pytest.raises(InputError, match=r"a significance level lies between 0 and 1 .*, not at '0.05'"):
        checked_level("0.05")
