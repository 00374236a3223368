"""Proportions and means as estimates: value, interval, method, coverage and worst case."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from calibrant.errors import InputError
from calibrant.estimates import Coverage, Estimate
from calibrant.stats.arrays import cluster_codes, count, finite_values, tail_level
from calibrant.stats.intervals import (
    Interval,
    clopper_pearson,
    jeffreys,
    mean_error,
    one_sided,
    wilson,
    wilson_of_share,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from calibrant.stats.arrays import Side

__all__ = ["mean", "proportion"]

SMALL = 40
"""Below it a proportion gets the Beta interval: Brown, Cai and DasGupta (2001) part small from large n at 40."""


def proportion(
    successes: int | npt.ArrayLike,
    n: int | None = None,
    *,
    level: float = 0.95,
    coverage: Coverage | None = None,
    clusters: Sequence[Any] | None = None,
    side: Side = "two",
) -> Estimate:
    """The estimate of a proportion, from a count of `n` or from values of 0 and 1.

    Wilson's interval; below 40 items one of the Beta distribution: Jeffreys' with two sides, the exact one of Clopper
    and Pearson with one. With `clusters` (which need the values), Wilson's for the
    effective number of items, n over the design effect, with t of G - 1 df (Dean and Pagano 2015). No items give an
    estimate that is missing; values of one cluster give one without an interval. Both say why.

    >>> print(proportion(322, 397, coverage=Coverage(rated=397, failed=3)))
    0.811 [0.770, 0.847] n=397, 3 failed
    >>> proportion(322, 397, coverage=Coverage(rated=397, failed=3)).worst_case
    (0.805, 0.8125)
    >>> print(proportion(0, 0))
    no estimate: there was nothing to count (n=0)
    """
    values = None if n is not None else _zeros_and_ones(successes)
    if values is None:
        successes, n = count(successes, "successes"), count(n or 0, "n")  # pyright: ignore[reportArgumentType] - count names what is no number
    else:
        successes, n = int(values.sum()), len(values)
    if clusters is not None and values is None:
        raise InputError("clusters need the value of each item: pass the zeros and ones instead of their count")
    coverage = _coverage(coverage, n)
    if not n:
        tail_level(level, side)
        return Estimate.missing("there was nothing to count", method="wilson", coverage=coverage)
    if values is not None and clusters is not None:
        method, interval, reason = _clustered(values, clusters, level, side)
    else:
        method, interval, reason = _counted(successes, n, level, side)
    return _published(
        successes / n, interval, limits=Interval(0.0, 1.0), level=level, method=method, coverage=coverage, reason=reason
    )


def mean(
    values: npt.ArrayLike,
    *,
    level: float = 0.95,
    coverage: Coverage | None = None,
    clusters: Sequence[Any] | None = None,
    scale: tuple[float, float] | None = None,
    side: Side = "two",
) -> Estimate:
    """The estimate of a mean, by t, or cluster-robust when items share `clusters`.

    `scale` is the worst and the best score that was possible: 0 to 1 unless values lie outside of it, and then unknown.
    It gives the worst case, and the bounds when all values are equal: then at most a share 1 - a^(1/n) of the
    population can differ from them, a being the chance of error on that side. No mean lies outside of a scale that is
    named, so no bound does. No values give an estimate that is
    missing; a single one, or a single cluster, one without an interval. Both say why.

    >>> print(mean([0.6, 0.7, 0.9, 0.8], coverage=Coverage(rated=4, failed=1)))
    0.750 [0.545, 0.955] n=4, 1 failed
    >>> print(mean([1.0] * 20))
    1.000 [0.832, 1.000] n=20
    >>> print(mean([1.0, 1.0, 1.0, 0.5]), "but", mean([1.0, 1.0, 1.0, 0.5], scale=(0, 1)))
    0.875 [0.477, 1.273] n=4 but 0.875 [0.477, 1.000] n=4
    >>> mean([0.5]).reason
    'no interval: one value does not say how far values vary'
    """
    array = finite_values(values)
    coverage = _coverage(coverage, len(array))
    tail = tail_level(level, side)
    if not len(array):
        return Estimate.missing("there were no values", method="t", coverage=coverage)
    limits = _limits(array, scale)
    method, interval, reason = _of_mean(array, clusters, limits, tail)
    if interval is not None and scale is not None and limits is not None:
        interval = Interval(max(interval.lower, limits.lower), min(interval.upper, limits.upper))
    return _published(
        float(np.mean(array)),
        interval and one_sided(interval, side, edges=Interval(-math.inf, math.inf)),
        limits=limits,
        level=level,
        method=method,
        coverage=coverage,
        reason=reason,
    )


ROUNDING = 1e-12
"""Values that differ by less than this share of their size are equal but for rounding."""


class _Made(NamedTuple):
    """How an interval was made, or why it could not be."""

    method: str
    interval: Interval | None
    reason: str = ""


def _counted(successes: int, n: int, level: float, side: Side) -> _Made:
    """Wilson's interval, or for few items one of the Beta distribution: exact, when one bound alone is to decide.

    One-sided Jeffreys bounds of 20 items hold only 85% of the time at some pass rates (`bench/stats.py`), which is too
    little for a gate.
    """
    if n >= SMALL:
        return _Made("wilson", wilson(successes, n, level=level, side=side))
    if side == "two":
        return _Made("jeffreys", jeffreys(successes, n, level=level))
    return _Made("clopper_pearson", clopper_pearson(successes, n, level=level, side=side))


def _of_mean(
    values: npt.NDArray[np.float64], clusters: Sequence[Any] | None, limits: Interval | None, tail: float
) -> _Made:
    codes = np.arange(len(values)) if clusters is None else cluster_codes(clusters, len(values))
    groups = int(codes.max()) + 1
    method, what = ("t", "value") if clusters is None else ("t, clustered", "cluster")
    if groups < 2:
        return _Made(method, None, f"no interval: one {what} does not say how far values vary")
    if np.ptp(values) <= ROUNDING * np.abs(values).max():
        if limits is None:
            return _Made(method, None, "no interval: all values are equal, and their scale is unknown; pass scale")
        return _Made("equal values", _equal_values(float(values[0]), groups, limits, tail))
    mean, error, freedom = mean_error(values, clusters)
    spread = float(stdtrit(freedom, tail)) * error
    return _Made(method, Interval(mean - spread, mean + spread))


def _equal_values(value: float, n: int, limits: Interval, tail: float) -> Interval:
    """The bounds of a mean when all `n` values are equal: the share of other values is at most (1 - tail) ** (1/n)."""
    share = -math.expm1(math.log1p(-tail) / n)
    return Interval(value - share * (value - limits.lower), value + share * (limits.upper - value))


def _clustered(values: npt.NDArray[np.float64], clusters: Sequence[Any], level: float, side: Side) -> _Made:
    """Wilson's interval for the effective number of items, which is never more than n.

    Equal values show no variation within clusters either: then a cluster counts as one item.
    """
    method, codes = "wilson, clustered", cluster_codes(clusters, len(values))
    groups, share = int(codes.max()) + 1, float(np.mean(values))
    if groups < 2:
        return _Made(method, None, "no interval: one cluster does not say how far values vary")
    error = mean_error(values, clusters).error
    effective = float(groups) if share in {0.0, 1.0} else len(values)
    if error > 0:
        effective = min(effective, share * (1 - share) / error**2)
    bounds = wilson_of_share(share, effective, float(stdtrit(groups - 1, tail_level(level, side))))
    return _Made(method, one_sided(bounds, side))


def _published(
    value: float,
    interval: Interval | None,
    *,
    limits: Interval | None,
    coverage: Coverage,
    **made: Any,
) -> Estimate:
    """The estimate with its worst case; a bound at infinity is no bound."""
    lower, upper = interval or (None, None)
    return Estimate(
        value=value,
        lower=lower if lower is not None and math.isfinite(lower) else None,
        upper=upper if upper is not None and math.isfinite(upper) else None,
        coverage=coverage,
        worst_case=coverage.worst_case(value, low=limits.lower, high=limits.upper) if limits else None,
        **made,
    )


def _coverage(coverage: Coverage | None, n: int) -> Coverage:
    if coverage is not None and coverage.rated != n:
        raise InputError(f"coverage says that {coverage.rated} items were rated, but there are {n}")
    return coverage or Coverage(rated=n)


def _limits(values: npt.NDArray[np.float64], scale: tuple[float, float] | None) -> Interval | None:
    low, high = scale or (0.0, 1.0)
    if not low < high:
        raise InputError(f"scale is the worst and the best possible number, in rising order, not {low:g} and {high:g}")
    if values.min() >= low and values.max() <= high:
        return Interval(low, high)
    if scale is None:
        return None
    outside = np.flatnonzero((values < low) | (values > high))
    raise InputError.gathered(
        "values", [f"position {row}: {values[row]:g} lies outside of the scale {low:g} to {high:g}" for row in outside]
    )


def _zeros_and_ones(values: object) -> npt.NDArray[np.float64]:
    if np.ndim(values) == 0:  # pyright: ignore[reportArgumentType] - finite_values names what is no number
        raise InputError("a count of successes needs n, the number of items; or pass the zeros and ones themselves")
    array = finite_values(values, "successes without n")  # pyright: ignore[reportArgumentType] - finite_values names what is no number
    wrong = np.flatnonzero((array != 0) & (array != 1))
    if len(wrong):
        raise InputError.gathered("values", [f"position {row}: {array[row]:g} is neither 0 nor 1" for row in wrong])
    return array
