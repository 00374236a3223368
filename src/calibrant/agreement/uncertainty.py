"""Intervals for statistics that are functions of sums over items: by the bootstrap, or by the jackknife.

Items with equal ratings are one cell with a weight, so the work depends on how many different items there are and not
on how many there are of each. The bootstrap draws the weights from a multinomial distribution (percentile intervals,
Efron 1979, expanded for few items, Hesterberg 2015). Where there are clusters, or too many cells to draw, the jackknife
leaves out one cluster or one item at a time (Efron and Stein 1981) and takes t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from calibrant.stats import wilson
from calibrant.stats.intervals import wilson_of_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from calibrant.agreement.published import Resampling

    Array = npt.NDArray[np.float64]
    Statistic = Callable[[Array], Array]

__all__ = ["Bounds", "Tally", "bounds_of", "error_of", "left_out", "replicates", "share_bounds_of"]

CELLS = 100
"""The most cells that are drawn; beyond, there are so many items that the jackknife does as well."""

REUSED_CELLS = 32
BATCH_NUMBERS = 1 << 21
UNDEFINED = 0.05
"""Above this share of resamples without a value, the rest would leave out what makes the interval wide."""


class Bounds(NamedTuple):
    """A value with its interval and how it was made; without a value or an interval, why."""

    value: float | None
    lower: float | None
    upper: float | None
    method: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Units by cell: what a unit of each cell adds to the sums, and how many units each cell has.

    A unit is what is drawn or left out: an item, a cluster of them, or one of many groups of items where there are too
    many unlike items to leave out each. `items` counts the items. `dissent` is what an item would add on which raters
    of these habits disagree: it bounds a coefficient of 1.
    """

    features: Array
    counts: npt.NDArray[np.int64]
    items: int
    unit: str = "item"
    dissent: Array | None = None

    def sums(self) -> Array:
        """The sums over all units."""
        return self.counts @ self.features

    @property
    def units(self) -> int:
        """The number of units."""
        return int(self.counts.sum())

    @property
    def is_drawn(self) -> bool:
        """Whether its resamples are drawn; else the jackknife leaves out one unit at a time."""
        return self.unit == "item" and len(self.counts) <= CELLS

    @property
    def method(self) -> str:
        """How intervals from it are made, as estimates name it."""
        if self.is_drawn:
            return "multinomial bootstrap"
        return {"item": "jackknife", "cluster": "cluster jackknife"}.get(self.unit, "grouped jackknife")


def bounds_of(tally: Tally, statistic: Statistic, resampling: Resampling) -> Bounds:
    """The value of `statistic` and its interval, which ends at 1."""
    value = float(statistic(tally.sums()))
    if np.isnan(value):
        return Bounds(None, None, None, tally.method, "it is not defined for these ratings")
    if tally.units < 2:
        return Bounds(value, None, None, tally.method, f"no interval: one {tally.unit} does not say how far they vary")
    interval = _drawn_interval if tally.is_drawn else _left_out_interval
    made = interval(tally, statistic, resampling)
    if isinstance(made, str):
        return Bounds(value, None, None, tally.method, made)
    lower, upper = made
    if upper - lower > 1e-12:
        return Bounds(value, min(lower, value), max(min(upper, 1.0), value), tally.method)
    return _without_spread(tally, statistic, resampling, value)


def share_bounds_of(tally: Tally, statistic: Statistic, resampling: Resampling) -> Bounds:
    """The same for a mean of shares: Wilson's interval at the number of items that would be as uncertain alone.

    The bootstrap of a share near 0 or 1 ends too soon. That number is p (1 - p) over the jackknife's squared error, and
    the quantile is t's, as for shares in surveys (Korn and Graubard 1998; Dean and Pagano 2015).
    """
    value = float(statistic(tally.sums()))
    if np.isnan(value) or tally.units < 2 or not tally.is_drawn or not 0.0 < value < 1.0:
        return bounds_of(tally, statistic, resampling)
    error = float(error_of(tally, left_out(tally, statistic)))
    if not error > 0:
        return bounds_of(tally, statistic, resampling)
    spread = float(stdtrit(tally.units - 1, (1.0 + resampling.level) / 2.0))
    lower, upper = wilson_of_share(value, value * (1.0 - value) / error**2, spread)
    return Bounds(value, min(lower, value), max(upper, value), "wilson, effective n")


def replicates(tally: Tally, statistic: Statistic, resampling: Resampling) -> Array:
    """The statistic on each multinomial resample; resamples lie side by side in memory, where numpy adds fastest."""
    # einsum, since for such thin matrices a threaded product costs more in waiting than in adding
    sums = (np.einsum("cd,cb->db", tally.features, drawn) for drawn in _draws(tally, resampling))
    return np.concatenate([statistic(found.T) for found in sums])


def left_out(tally: Tally, statistic: Statistic) -> Array:
    """The statistic without one unit of each cell."""
    return statistic(tally.sums() - tally.features)


def _drawn_interval(tally: Tally, statistic: Statistic, resampling: Resampling) -> tuple[float, float] | str:
    values = replicates(tally, statistic, resampling)
    undefined = np.isnan(values)
    if undefined.any():
        if undefined.mean() > UNDEFINED:
            return f"no interval: it is not defined on {undefined.mean():.0%} of the resamples"
        values = values[~undefined]
    tail = _expanded_tail(tally.units, resampling.level)
    lower, upper = np.quantile(values, [tail, 1.0 - tail])
    return float(lower), float(upper)


def _expanded_tail(units: int, level: float) -> float:
    """The share of resamples outside of the interval on each side: less for few units, which resamples vary too little.

    Hesterberg (2015), the expanded percentile interval: as far out as t instead of z, and n instead of n - 1, would be.
    """
    return float(ndtr(-math.sqrt(units / (units - 1)) * float(stdtrit(units - 1, (1.0 + level) / 2.0))))


def _left_out_interval(tally: Tally, statistic: Statistic, resampling: Resampling) -> tuple[float, float] | str:
    values = left_out(tally, statistic)
    if np.isnan(values).any():
        return f"no interval: without one {tally.unit} of these it is not defined"
    value = float(statistic(tally.sums()))
    spread = float(error_of(tally, values)) * float(stdtrit(tally.units - 1, (1.0 + resampling.level) / 2.0))
    return value - spread, value + spread


def error_of(tally: Tally, left: Array) -> Array:
    """The jackknife's standard error, from the statistic (along the first axis) with one unit left out."""
    weights = tally.counts / tally.units
    deviations = left - np.tensordot(weights, left, 1)
    return np.sqrt((tally.units - 1) * np.tensordot(weights, deviations**2, 1))


def _without_spread(tally: Tally, statistic: Statistic, resampling: Resampling, value: float) -> Bounds:
    """What can be said when no resample differs: of n units none disagreed, so Wilson bounds the share that would."""
    if value < 1.0 - 1e-9 or tally.dissent is None:
        return Bounds(value, None, None, "point", "no interval: every resample of these ratings gives the same value")
    share = 1.0 - wilson(tally.units, tally.units, level=resampling.level).lower
    lower = float(statistic((1.0 - share) * tally.sums() + share * tally.items * tally.dissent))
    return Bounds(value, min(lower, value), value, "wilson, carried through")


def _draws(tally: Tally, resampling: Resampling) -> list[Array]:
    counts, settings = tuple(tally.counts.tolist()), (resampling.resamples, resampling.seed)
    return [_kept_draws(counts, *settings)] if len(counts) <= REUSED_CELLS else list(_batches(counts, *settings))


@lru_cache(maxsize=16)
def _kept_draws(counts: tuple[int, ...], resamples: int, seed: int) -> Array:
    """The resamples of a small table are kept: a report asks a dozen statistics of the same one."""
    return np.concatenate(list(_batches(counts, resamples, seed)), axis=1)


def _batches(counts: tuple[int, ...], resamples: int, seed: int) -> Iterator[Array]:
    weights, random = np.asarray(counts), np.random.default_rng(seed)
    step = max(1, BATCH_NUMBERS // len(counts))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = random.multinomial(int(weights.sum()), weights / weights.sum(), size=size)
        yield np.ascontiguousarray(drawn.T, dtype=np.float64)
