"""Intervals for a proportion and for a mean, with two sides or one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from calibrant.errors import InputError
from calibrant.stats.arrays import cluster_codes, cluster_sums, count, finite_values, tail_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from calibrant.stats.arrays import Side

__all__ = ["Interval", "clopper_pearson", "jeffreys", "mean_interval", "paired_difference_interval", "wilson"]


class Interval(NamedTuple):
    """The bounds of an interval. One that was not asked for lies at the edge of the scale, which may be infinity."""

    lower: float
    upper: float


SHARES = Interval(0.0, 1.0)
"""The scale of a proportion."""


class MeanError(NamedTuple):
    """A mean, its standard error and the degrees of freedom of its t distribution."""

    mean: float
    error: float
    freedom: int


def wilson(successes: int, n: int, *, level: float = 0.95, side: Side = "two") -> Interval:
    """The score interval of a proportion (Wilson 1927); with one side, the other bound is 0 or 1.

    Its ends are (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n).

    >>> "[{:.4f}, {:.4f}]".format(*wilson(81, 263))
    '[0.2553, 0.3662]'
    >>> "[{:.4f}, {:.4f}]".format(*wilson(20, 20, side="lower"))
    '[0.8808, 1.0000]'
    """
    successes, n = _counts(successes, n)
    z = float(ndtri(tail_level(level, side)))
    return one_sided(Interval(_wilson_lower(successes, n, z), 1 - _wilson_lower(n - successes, n, z)), side)


def _wilson_lower(successes: float, n: float, z: float) -> float:
    if successes == 0:
        return 0.0  # what the formula says, without its rounding
    share, square = successes / n, z * z
    spread = z * math.sqrt(share * (1 - share) / n + square / (4 * n * n))
    return (share + square / (2 * n) - spread) / (1 + square / n)


def wilson_of_share(share: float, n: float, z: float) -> Interval:
    """The score interval of a share that rests on `n` items, where `n` may be an effective number."""
    return Interval(_wilson_lower(share * n, n, z), 1 - _wilson_lower((1 - share) * n, n, z))


def jeffreys(successes: int, n: int, *, level: float = 0.95, side: Side = "two") -> Interval:
    """The equal-tailed interval of the Beta(s + 1/2, n - s + 1/2) posterior of a proportion.

    The lower bound of no success is 0 and the upper bound of no failure is 1 (Brown, Cai and DasGupta 2001).

    >>> "[{:.4f}, {:.4f}]".format(*jeffreys(9, 10))
    '[0.6187, 0.9890]'
    """
    successes, n = _counts(successes, n)
    tail = 1 - tail_level(level, side)

    def lower(some: int) -> float:
        return float(betaincinv(some + 0.5, n - some + 0.5, tail)) if some else 0.0

    return one_sided(Interval(lower(successes), 1 - lower(n - successes)), side)


def clopper_pearson(successes: int, n: int, *, level: float = 0.95, side: Side = "two") -> Interval:
    """The exact interval of a proportion (Clopper and Pearson 1934): it covers at least `level`, mostly more.

    >>> "[{:.4f}, {:.4f}]".format(*clopper_pearson(81, 263))
    '[0.2527, 0.3676]'
    """
    successes, n = _counts(successes, n)
    tail = 1 - tail_level(level, side)

    def lower(some: int) -> float:
        return float(betaincinv(some, n - some + 1, tail)) if some else 0.0

    return one_sided(Interval(lower(successes), 1 - lower(n - successes)), side)


def paired_difference_interval(
    only_a: int, only_b: int, n: int, *, level: float = 0.95, side: Side = "two"
) -> Interval:
    """The interval of pass rate A minus pass rate B on the same `n` items, from the items that only one of them passed.

    The adjusted Wald interval of Bonett and Price (2012): one discordant item is added to each side, so that it has a
    width also when A and B agree everywhere.

    >>> "[{:.3f}, {:.3f}]".format(*paired_difference_interval(21, 9, 200))
    '[0.005, 0.114]'
    """
    only_a, only_b, n = count(only_a, "only_a"), count(only_b, "only_b"), count(n, "n", least=1)
    if only_a + only_b > n:
        raise InputError(f"only_a and only_b count some of the n items, but {only_a} + {only_b} is more than {n}")
    z = float(ndtri(tail_level(level, side)))
    share_a, share_b = (only_a + 1) / (n + 2), (only_b + 1) / (n + 2)
    difference = share_a - share_b
    spread = z * math.sqrt((share_a + share_b - difference * difference) / (n + 2))
    return one_sided(
        Interval(max(-1.0, difference - spread), min(1.0, difference + spread)), side, edges=Interval(-1.0, 1.0)
    )


def mean_interval(
    values: npt.ArrayLike, *, level: float = 0.95, side: Side = "two", clusters: Sequence[Any] | None = None
) -> Interval:
    """The t interval of a mean; with `clusters`, of items that vary together, the cluster-robust one with G - 1 df.

    Needs two values, or two clusters. Equal values have an interval without width: `mean` knows a better one.

    >>> "[{:.3f}, {:.3f}]".format(*mean_interval([0.6, 0.7, 0.9, 0.8]))
    '[0.545, 0.955]'
    >>> "[{:.3f}, {:.3f}]".format(*mean_interval([0.6, 0.7, 0.9, 0.8], side="lower"))
    '[0.598, inf]'
    """
    estimate = mean_error(finite_values(values), clusters)
    spread = float(stdtrit(estimate.freedom, tail_level(level, side))) * estimate.error
    interval = Interval(estimate.mean - spread, estimate.mean + spread)
    return one_sided(interval, side, edges=Interval(-math.inf, math.inf))


def mean_error(values: npt.NDArray[np.float64], clusters: Sequence[Any] | None = None) -> MeanError:
    """The mean and its standard error: CR1 when there are clusters, which is the plain one when each holds one item.

    SE² = G / (G-1) * sum over clusters of (sum of deviations)² / n² (Miller 2024, with the usual correction for few
    clusters).
    """
    n = len(values)
    codes = np.arange(n) if clusters is None else cluster_codes(clusters, n)
    groups = int(codes.max()) + 1 if n else 0
    if groups < 2:
        what = "values" if clusters is None else "clusters"
        raise InputError(f"the interval of a mean needs at least 2 {what}, not {groups}")
    mean = float(np.mean(values))
    deviations = values - mean if clusters is None else cluster_sums(values - mean, codes)
    size = float(np.abs(deviations).max()) or 1.0  # squares of very small or large numbers would be 0 or infinite
    square = groups / (groups - 1) * float(np.dot(deviations / size, deviations / size)) / (n * n)
    return MeanError(mean, size * math.sqrt(square), groups - 1)


def one_sided(interval: Interval, side: Side, *, edges: Interval = SHARES) -> Interval:
    """`interval` with the bound that `side` does not ask for moved to the edge of the scale."""
    lower = edges.lower if side == "upper" else interval.lower
    return Interval(lower, edges.upper if side == "lower" else interval.upper)


def _counts(successes: int, n: int) -> tuple[int, int]:
    successes, n = count(successes, "successes"), count(n, "n", least=1)
    if successes > n:
        raise InputError(f"successes cannot be more than n, but {successes} > {n}")
    return successes, n
