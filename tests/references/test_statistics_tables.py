"""Printed tables and textbook data that statistics have been checked against for decades."""

import math
from fractions import Fraction

import numpy as np
import pytest

from calibrant import stats
from calibrant.stats.paired import at_most_heads

# McCornack (1965), JASA 60:864-871: the largest rank sum that is significant at 0.05, two-sided.
WILCOXON_CRITICAL = {6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 11: 10, 12: 13, 13: 17, 14: 21, 15: 25, 16: 29, 17: 34, 20: 52}
# Siegel (1956), Nonparametric Statistics, table D: the largest number of the rarer sign, at 0.05, two-sided.
SIGN_CRITICAL = {
    6: 0,
    7: 0,
    8: 0,
    9: 1,
    10: 1,
    11: 1,
    12: 2,
    13: 2,
    14: 2,
    15: 3,
    16: 3,
    17: 4,
    18: 4,
    19: 4,
    20: 5,
    25: 7,
}
# Any table of Student's t: the 97.5th percentile.
T_CRITICAL = {1: 12.706, 2: 4.303, 3: 3.182, 5: 2.571, 10: 2.228, 30: 2.042, 120: 1.980}
# Student (1908), Biometrika 6:1-25: hours of sleep gained by a second soporific over a first.
SLEEP = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
# Benjamini and Hochberg (1995), JRSS B 57:289-300, section 4: fifteen outcomes of a study of thrombolysis.
THROMBOLYSIS = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0,
]  # fmt: skip


def differences_with_rank_sum(n, total):
    """The numbers 1 to n, of which those that add up to `total` are negative."""
    signs = np.ones(n)
    for rank in range(n, 0, -1):
        if rank <= total:
            signs[rank - 1], total = -1, total - rank
    return np.arange(1, n + 1) * signs


@pytest.mark.parametrize(("n", "critical"), WILCOXON_CRITICAL.items())
def test_wilcoxon_is_significant_up_to_the_printed_rank_sum(n, critical):
    assert stats.wilcoxon(differences_with_rank_sum(n, critical)).p_value <= 0.05
    assert stats.wilcoxon(differences_with_rank_sum(n, critical + 1)).p_value > 0.05


@pytest.mark.parametrize(("n", "critical"), SIGN_CRITICAL.items())
def test_the_sign_test_is_significant_up_to_the_printed_count(n, critical):
    assert stats.mcnemar(critical, n - critical).p_value <= 0.05
    assert stats.mcnemar(critical + 1, n - critical - 1).p_value > 0.05
    assert stats.sign_flip([-1] * critical + [1] * (n - critical)).p_value <= 0.05


@pytest.mark.parametrize(("freedom", "critical"), T_CRITICAL.items())
def test_a_mean_reaches_as_far_as_the_table_of_t(freedom, critical):
    values = np.arange(freedom + 1.0)
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert (stats.mean_interval(values).upper - values.mean()) / error == pytest.approx(critical, abs=5e-4)


def test_students_sleep_data():
    # R: t.test(extra ~ group, data = sleep, paired = TRUE) prints t = -4.0621, p-value = 0.002833 and the interval
    # -2.4598858 -0.7001142.
    found = stats.paired_t(SLEEP)
    assert found.statistic == pytest.approx(4.0621, abs=5e-5)
    assert found.p_value == pytest.approx(0.002833, abs=5e-7)
    assert stats.mean_interval(SLEEP) == pytest.approx((0.7001142, 2.4598858), abs=5e-8)


def test_the_published_mean_of_the_sleep_data_is_the_same():
    estimate = stats.mean(SLEEP)
    assert (estimate.value, estimate.method, estimate.n) == (pytest.approx(1.58), "t", 10)
    assert (estimate.lower, estimate.upper) == pytest.approx((0.7001142, 2.4598858), abs=5e-8)
    assert estimate.worst_case is None


def test_mendels_peas():
    # R: binom.test(682, 925, p = 3/4), Conover (1971) p. 97f, prints 0.7076683 0.7654066.
    assert stats.clopper_pearson(682, 925) == pytest.approx((0.7076683, 0.7654066), abs=5e-8)


def test_the_false_discovery_rate_rejects_four_where_the_family_wise_error_rejects_three():
    assert sum(stats.benjamini_hochberg(THROMBOLYSIS) <= 0.05) == 4
    assert sum(stats.holm(THROMBOLYSIS) <= 0.05) == 3
    assert stats.benjamini_hochberg(THROMBOLYSIS)[3] == pytest.approx(0.0095 * 15 / 4)


@pytest.mark.parametrize(
    ("share", "angle"), [(0.05, 0.451), (0.10, 0.644), (0.25, 1.047), (0.50, 1.571), (0.75, 2.094), (0.95, 2.691)]
)
def test_cohens_angles(share, angle):
    # Cohen (1988), Statistical Power Analysis, table 6.2.2.
    assert stats.cohens_h(share, 0.0) == pytest.approx(angle, abs=5e-4)


@pytest.mark.parametrize("n", [1, 2, 7, 40, 999, 1000])
def test_fair_coins_are_counted_to_the_last_bit(n):
    ways = 0
    for few in range(min(n, 60) + 1):
        ways += math.comb(n, few)
        assert at_most_heads(few, n) == float(Fraction(ways, 2**n))


def test_where_counting_stops_the_chances_go_on():
    """On both sides of the limit the chance of at most half the heads tends to one half from above."""
    for n in (998, 1000, 1002, 5000, 100_000):
        assert at_most_heads(n // 2, n) == pytest.approx(0.5 + 0.5 * math.sqrt(2 / (math.pi * n)), rel=1e-4)
    assert at_most_heads(-1, 1002) == 0.0


@pytest.mark.parametrize(("n", "p"), [(3, 0.25), (4, 0.125), (5, 0.0625), (10, 0.001953125)])
def test_when_all_agree_every_exact_test_says_two_in_two_to_the_n(n, p):
    growing = np.arange(1, n + 1) / 10
    assert stats.sign_flip(growing).p_value == p
    assert stats.mcnemar(0, n).p_value == p
    assert stats.wilcoxon(growing).p_value == p
