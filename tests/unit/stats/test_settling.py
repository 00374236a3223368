"""When a difference is settled: test and interval must both say so."""

import pytest

from calibrant.estimates import Coverage, Estimate
from calibrant.stats import doubt_of, is_settled, mean, paired_t


def difference(lower, upper, level=0.95, value=0.2):
    return Estimate(
        value=value, lower=lower, upper=upper, level=level, method="t", coverage=Coverage(rated=9), reason="because"
    )


@pytest.mark.parametrize(
    ("lower", "upper", "p", "settled", "doubt"),
    [
        (0.1, 0.3, 0.01, True, ""),
        (0.1, 0.3, 0.05, False, ""),
        (0.1, 0.3, None, False, ""),
        (-0.1, 0.3, 0.01, False, "p is below 0.05, but the interval holds 0"),
        (0.0, 0.3, 0.01, False, "p is below 0.05, but the interval holds 0"),
        (-0.1, 0.3, 0.2, False, ""),
        (None, None, 0.01, False, "p is below 0.05, but there is no interval"),
    ],
)
def test_only_what_both_say_is_settled(lower, upper, p, settled, doubt):
    assert is_settled(difference(lower, upper), p) is settled
    assert doubt_of(difference(lower, upper), p) == doubt


def test_the_level_of_the_interval_is_that_of_the_test():
    assert is_settled(difference(0.1, 0.3, level=0.9), 0.07)
    assert not is_settled(difference(0.1, 0.3, level=0.99), 0.02)
    assert doubt_of(difference(-0.1, 0.3, level=0.9), 0.07).startswith("p is below 0.1,")


def test_a_difference_that_could_not_be_estimated_is_not_settled():
    missing = Estimate.missing("nobody answered", method="t", coverage=Coverage(rated=0))
    assert not is_settled(missing, 0.001)


@pytest.mark.parametrize("n", [3, 8, 20, 60])
def test_where_differences_vary_the_t_test_and_its_interval_agree(n):
    """The t interval leaves out 0 exactly when the t-test rejects: they are one computation."""
    for shift in (0.0, 0.1, 0.3, 0.6):
        values = [shift + (place % 3 - 1) * 0.4 for place in range(n)]
        assert doubt_of(mean(values), paired_t(values).p_value) == ""
