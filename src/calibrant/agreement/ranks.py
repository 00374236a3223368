"""Rank correlations of values that are too many for a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtrit

from calibrant.agreement.uncertainty import Bounds
from calibrant.errors import counted

if TYPE_CHECKING:
    import numpy.typing as npt

    from calibrant.agreement.published import Resampling

    Array = npt.NDArray[np.float64]

__all__ = ["rank_bounds"]

GROUPS = 100
"""The most clusters, or groups of items, that are left out one by one; more are merged by chance into that many."""


def rank_bounds(
    first: Array, second: Array, name: str, clusters: npt.NDArray[np.int32] | None, resampling: Resampling
) -> Bounds:
    """Spearman's or Kendall's correlation of pairs (rows; NaN is missing), or their mean, on Fisher's scale.

    The variance there is (1 + r²/2) / (n - 3) for Spearman (Bonett and Wright 2000) and 0.437 / (n - 4) for Kendall
    (Fieller, Hartley and Pearson 1957); of a mean over pairs, and with clusters, it is the jackknife's.
    """
    value = _mean_correlation(first, second, name)
    if value is None:
        return Bounds(None, None, None, name, f"{name} is not defined, because one rater always gave one value")
    if clusters is not None or len(first) > 1:
        return _left_out(first, second, name, clusters, value, resampling)
    n = int((~np.isnan(first) & ~np.isnan(second)).sum())
    spare = n - (3 if name == "spearman" else 4)
    if spare < 1:
        return Bounds(value, None, None, "fisher z", f"no interval: {counted(n, 'item is', 'items are')} too few")
    error = math.sqrt((1.0 + value**2 / 2.0 if name == "spearman" else 0.437) / spare)
    return _on_fisher_scale(value, error * float(ndtri((1.0 + resampling.level) / 2.0)), "fisher z")


def _left_out(
    first: Array,
    second: Array,
    name: str,
    clusters: npt.NDArray[np.int32] | None,
    value: float,
    resampling: Resampling,
) -> Bounds:
    method = "grouped jackknife" if clusters is None else "cluster jackknife"
    codes = np.unique(np.arange(first.shape[1]) if clusters is None else clusters, return_inverse=True)[1]
    count = int(codes.max()) + 1
    if count > GROUPS:
        codes, count = np.random.default_rng(0).permutation(np.arange(count) % GROUPS)[codes], GROUPS
    left = [_mean_correlation(first[:, codes != group], second[:, codes != group], name) for group in range(count)]
    known = np.array([math.atanh(_inside(one)) for one in left if one is not None])
    if count < 2 or len(known) < count:
        return Bounds(value, None, None, method, "no interval: too few clusters")
    error = math.sqrt((count - 1) / count * float(np.sum((known - known.mean()) ** 2)))
    return _on_fisher_scale(value, error * float(stdtrit(count - 1, (1.0 + resampling.level) / 2.0)), method)


def _on_fisher_scale(value: float, spread: float, method: str) -> Bounds:
    middle = math.atanh(_inside(value))
    return Bounds(value, min(math.tanh(middle - spread), value), max(math.tanh(middle + spread), value), method)


def _inside(value: float) -> float:
    return min(max(value, -1.0 + 1e-12), 1.0 - 1e-12)


def _mean_correlation(first: Array, second: Array, name: str) -> float | None:
    found = [_correlation(one, other, name) for one, other in zip(first, second, strict=True)]
    known = [one for one in found if one is not None]
    return float(np.mean(known)) if known else None


def _correlation(first: Array, second: Array, name: str) -> float | None:
    both = ~np.isnan(first) & ~np.isnan(second)
    first, second = first[both], second[both]
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    from scipy import stats

    found = stats.spearmanr(first, second) if name == "spearman" else stats.kendalltau(first, second)
    return float(found.statistic)
