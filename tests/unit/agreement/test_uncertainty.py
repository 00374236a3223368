"""Intervals of functions of sums: drawn or left out, expanded for few units, and honest where nothing varies."""

import math

import numpy as np
import pytest
from scipy import stats

from calibrant.agreement import Resampling
from calibrant.agreement.uncertainty import Tally, bounds_of, error_of, left_out, replicates, share_bounds_of
from calibrant.errors import InputError


def tally(counts, *, unit="item", dissent=None):
    """Units of two kinds: those that agree and those that do not."""
    features = np.array([[1.0, 1.0], [0.0, 1.0]])[: len(counts)]
    return Tally(features=features, counts=np.array(counts), items=sum(counts), unit=unit, dissent=dissent)


def share(sums):
    return sums[..., 0] / sums[..., 1]


def test_the_value_is_the_statistic_of_the_sums():
    assert bounds_of(tally([30, 10]), share, Resampling()).value == 0.75
    assert tally([30, 10]).sums().tolist() == [30.0, 40.0]
    assert tally([30, 10]).units == 40


def test_resamples_are_binomial():
    values = replicates(tally([30, 10]), share, Resampling(resamples=20_000)) * 40
    assert values.mean() == pytest.approx(30, abs=0.1)
    assert values.var() == pytest.approx(40 * 0.75 * 0.25, rel=0.05)


def test_bounds_are_the_expanded_quantiles_of_a_binomial():
    # Hesterberg, What Teachers Should Know About the Bootstrap (2015), section 3.3: the tail is the normal's beyond
    # sqrt(n / (n - 1)) t, so that for n = 40 and 95% it is 0.0203 and not 0.025.
    tail = stats.norm.cdf(-math.sqrt(40 / 39) * stats.t.ppf(0.975, 39))
    assert tail == pytest.approx(0.0203, abs=1e-4)
    found = bounds_of(tally([30, 10]), share, Resampling(resamples=50_000))
    exact = stats.binom.ppf([tail, 1 - tail], 40, 0.75) / 40
    assert (found.lower, found.upper) == pytest.approx(tuple(exact), abs=0.026)
    assert found.method == "multinomial bootstrap"


def test_many_units_are_hardly_expanded():
    found = bounds_of(tally([7500, 2500]), share, Resampling(resamples=20_000))
    error = math.sqrt(0.75 * 0.25 / 10_000)
    assert found.lower == pytest.approx(0.75 - 1.96 * error, abs=0.0004)
    assert found.upper == pytest.approx(0.75 + 1.96 * error, abs=0.0004)


def test_a_higher_level_is_wider():
    found = [bounds_of(tally([30, 10]), share, Resampling(level=level)) for level in (0.8, 0.95, 0.99)]
    assert found[0].lower > found[1].lower > found[2].lower
    assert found[0].upper < found[1].upper < found[2].upper


def test_clusters_are_left_out_one_at_a_time_and_take_t():
    found = bounds_of(tally([30, 10], unit="cluster"), share, Resampling())
    # The jackknife of a mean is its textbook error: s / sqrt(n) with n - 1 in the variance.
    error = math.sqrt(0.75 * 0.25 / 39)
    spread = stats.t.ppf(0.975, 39) * error
    assert (found.lower, found.upper) == pytest.approx((0.75 - spread, 0.75 + spread))
    assert found.method == "cluster jackknife"


def test_leaving_out_is_by_cell():
    assert left_out(tally([3, 1]), share).tolist() == pytest.approx([2 / 3, 1.0])
    assert error_of(tally([3, 1]), left_out(tally([3, 1]), share)) == pytest.approx(math.sqrt(0.75 * 0.25 / 3))


def test_too_many_cells_are_not_drawn():
    many = Tally(features=np.column_stack([np.arange(150.0), np.ones(150)]), counts=np.ones(150, int), items=150)
    assert not many.is_drawn
    assert bounds_of(many, share, Resampling()).method == "jackknife"


def test_the_same_seed_is_the_same_interval_and_another_is_near():
    same = {bounds_of(tally([30, 10]), share, Resampling(seed=4)) for _ in range(2)}
    assert len(same) == 1
    other = bounds_of(tally([30, 10]), share, Resampling(seed=5))
    assert other.lower == pytest.approx(next(iter(same)).lower, abs=0.06)


def test_one_unit_says_nothing_of_how_far_it_varies():
    found = bounds_of(tally([1]), share, Resampling())
    assert (found.value, found.lower) == (1.0, None)
    assert found.reason == "no interval: one item does not say how far they vary"
    cluster = bounds_of(tally([1], unit="cluster"), share, Resampling())
    assert cluster.reason == "no interval: one cluster does not say how far they vary"


def test_what_is_not_defined_has_no_value():
    found = bounds_of(tally([3, 3]), lambda sums: np.full(sums.shape[:-1], np.nan), Resampling())
    assert (found.value, found.reason) == (None, "it is not defined for these ratings")


def test_what_is_often_not_defined_has_no_interval():
    def fragile(sums):
        return np.where(sums[..., 0] >= 3, share(sums), np.nan)

    found = bounds_of(tally([3, 3]), fragile, Resampling())
    assert found.value == 0.5
    assert found.lower is None
    assert found.reason.startswith("no interval: it is not defined on 3")
    left = bounds_of(tally([3, 3], unit="cluster"), fragile, Resampling())
    assert left.reason == "no interval: without one cluster of these it is not defined"


def test_where_nobody_disagreed_wilson_says_how_many_might():
    # Of 20 items none differed: Wilson's lower bound of 20 in 20 is 0.8389 (Newcombe 1998).
    found = bounds_of(tally([20], dissent=np.array([0.0, 1.0])), share, Resampling())
    assert (found.value, found.upper, found.method) == (1.0, 1.0, "wilson, carried through")
    assert found.lower == pytest.approx(0.8389, abs=1e-4)


def test_where_nothing_varies_and_nothing_could_there_is_no_interval():
    found = bounds_of(tally([20]), share, Resampling())
    assert (found.value, found.lower) == (1.0, None)
    assert found.reason == "no interval: every resample of these ratings gives the same value"


def test_an_interval_ends_at_one_and_surrounds_its_value():
    found = bounds_of(tally([38, 2], unit="cluster"), share, Resampling())
    assert found.upper == 1.0
    assert found.lower <= found.value


def test_a_share_is_wilson_s_at_the_number_of_items_that_would_be_as_uncertain():
    # With one share an item the jackknife's error is sqrt(p q / (n - 1)), so the effective number is n - 1.
    found = share_bounds_of(tally([30, 10]), share, Resampling())
    z, n, p = stats.t.ppf(0.975, 39), 39, 0.75
    middle, half = (
        (p + z**2 / (2 * n)) / (1 + z**2 / n),
        z * math.sqrt(p * 0.25 / n + z**2 / (4 * n**2)) / (1 + z**2 / n),
    )
    assert (found.lower, found.upper) == pytest.approx((middle - half, middle + half))
    assert found.method == "wilson, effective n"


def test_raters_who_err_together_make_a_wider_interval_than_those_who_err_apart():
    together = Tally(features=np.array([[2.0, 2.0], [0.0, 2.0]]), counts=np.array([30, 10]), items=40)
    apart = Tally(features=np.array([[2.0, 2.0], [1.0, 2.0]]), counts=np.array([20, 20]), items=40)
    wide, narrow = (share_bounds_of(one, share, Resampling()) for one in (together, apart))
    assert wide.value == narrow.value == 0.75
    assert wide.upper - wide.lower > 1.5 * (narrow.upper - narrow.lower)


@pytest.mark.parametrize("counts", [[20], [20, 0], [1]])
def test_a_share_that_cannot_vary_is_left_to_the_other_intervals(counts):
    assert share_bounds_of(tally(counts), share, Resampling()) == bounds_of(tally(counts), share, Resampling())


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"level": 1.0}, "level"), ({"level": 0.0}, "level"), ({"resamples": 10}, "resamples")],
)
def test_settings_that_make_no_sense_are_refused(settings, words):
    with pytest.raises(InputError, match=words):
        Resampling(**settings)
