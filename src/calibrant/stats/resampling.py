"""The bootstrap: intervals for whatever can be computed from a sample, or from a table of counts."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from calibrant.errors import InputError
from calibrant.stats.arrays import cluster_codes, count, finite_values, tail_level
from calibrant.stats.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Statistic = Callable[..., Any]

__all__ = ["bootstrap", "bootstrap_bca", "bootstrap_means", "bootstrap_table", "bootstrap_table_bca"]

BATCH_NUMBERS = 1 << 20
"""The numbers of resampled data that are held at a time."""

UNDEFINED = 0.05
"""Above this share of resamples without a value, an interval from the rest would leave out what makes it wide."""


class _Left(NamedTuple):
    """The statistic with one item (or cluster) left out, and how many items each value stands for."""

    values: Floats
    weights: Floats


class _Correction(NamedTuple):
    """What the BCa interval is corrected by: the statistic of the data, and of the data without each item."""

    observed: float
    left: _Left


def bootstrap(
    data: npt.ArrayLike,
    statistic: Statistic,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    clusters: Sequence[Any] | None = None,
) -> Interval:
    """The percentile interval of `statistic` over the items of `data`, its first axis (Efron 1979).

    `statistic` takes a batch of samples, of shape (B, n, ...), and returns B numbers; if it has an argument `axis`, as
    `numpy.mean` has, it is called with axis=1. With `clusters`, whole clusters are drawn. Resamples whose statistic is
    undefined are left out, and are an error above 5%.

    >>> import numpy as np
    >>> "[{:.3f}, {:.3f}]".format(*bootstrap([0.6, 0.7, 0.9, 0.8, 0.4, 0.8], np.median))
    '[0.500, 0.850]'
    """
    sample = _Sample.of(data, statistic, clusters)
    return _interval(sample.replicates(resamples, seed), level)


def bootstrap_bca(
    data: npt.ArrayLike,
    statistic: Statistic,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
    clusters: Sequence[Any] | None = None,
) -> Interval:
    """The interval of `bootstrap`, corrected for bias and skew (BCa, Efron 1987) by leaving out each item once.

    >>> import numpy as np
    >>> "[{:.3f}, {:.3f}]".format(*bootstrap_bca([0.6, 0.7, 0.9, 0.8, 0.4, 0.8], np.mean))
    '[0.533, 0.817]'
    """
    sample = _Sample.of(data, statistic, clusters)
    replicates = sample.replicates(resamples, seed)
    return _interval(replicates, level, _Correction(sample.observed(), sample.left_out()))


def bootstrap_means(
    table: npt.ArrayLike, *, resamples: int = 10_000, level: float = 0.95, seed: int = 0
) -> list[Interval]:
    """The interval that `bootstrap` gives for the mean of each column, from the same draws of rows for all columns.

    >>> for interval in bootstrap_means([[0.6, 1.0], [0.7, 0.0], [0.9, 1.0], [0.8, 1.0]]):
    ...     print("[{:.3f}, {:.3f}]".format(*interval))
    [0.650, 0.850]
    [0.250, 1.000]
    """
    values = finite_values(table, "table", columns=True)
    count(resamples, "resamples", least=1)
    n = len(values)
    if n < 2:
        raise InputError(f"a bootstrap needs at least 2 items, not {n}")
    random = np.random.default_rng(seed)
    replicates = [_times_drawn(rows, n) @ values / n for rows in _drawn_items(values[:, :1], resamples, random)]
    return [_interval(column, level) for column in np.concatenate(replicates).T]


def _times_drawn(rows: npt.NDArray[np.intp], n: int) -> Floats:
    """How often each of `n` items is in each sample; a mean of a column is then a product of matrices."""
    cells = rows + n * np.arange(len(rows))[:, None]
    return np.bincount(cells.ravel(), minlength=rows.size).reshape(len(rows), n).astype(np.float64)


def bootstrap_table(
    counts: npt.ArrayLike,
    statistic: Callable[[npt.NDArray[np.int64]], Any],
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The percentile interval of a statistic of categories, from their `counts`, in any shape.

    Drawing n items again is drawing the counts from a multinomial distribution: the work depends on the number of
    categories that occur, not on n. `statistic` takes resampled counts, of shape (B, *counts.shape), and returns B
    numbers.

    >>> pass_rate = lambda counts: counts[:, 1] / counts.sum(axis=1)
    >>> "[{:.3f}, {:.3f}]".format(*bootstrap_table([20_000, 80_000], pass_rate))
    '[0.797, 0.802]'
    """
    table, apply = _table(counts), _applied(statistic)
    return _interval(_replicates_of_table(table, apply, resamples, seed), level)


def bootstrap_table_bca(
    counts: npt.ArrayLike,
    statistic: Callable[[npt.NDArray[np.int64]], Any],
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The interval of `bootstrap_table`, corrected for bias and skew (BCa, Efron 1987), one item of each cell left out.

    >>> pass_rate = lambda counts: counts[:, 1] / counts.sum(axis=1)
    >>> "[{:.3f}, {:.3f}]".format(*bootstrap_table_bca([20, 80], pass_rate))
    '[0.710, 0.870]'
    """
    table, apply = _table(counts), _applied(statistic)
    replicates = _replicates_of_table(table, apply, resamples, seed)
    return _interval(replicates, level, _Correction(float(apply(table[None])[0]), _left_out_of_table(table, apply)))


@dataclass(frozen=True, slots=True)
class _Sample:
    """Items, or whole clusters of them, and what is computed from a batch of samples."""

    array: npt.NDArray[Any]
    apply: Callable[[npt.NDArray[Any]], Floats]
    groups: list[npt.NDArray[np.intp]] | None

    @classmethod
    def of(cls, data: npt.ArrayLike, statistic: Statistic, clusters: Sequence[Any] | None) -> _Sample:
        array = np.asarray(data)
        if array.ndim < 1 or len(array) < 2:
            raise InputError(f"a bootstrap needs at least 2 items, not {len(array) if array.ndim else 1}")
        groups = None if clusters is None else _members(cluster_codes(clusters, len(array)))
        if groups is not None and len(groups) < 2:
            raise InputError("a bootstrap of clusters needs at least 2 of them, not 1")
        return cls(array, _applied(statistic), groups)

    def observed(self) -> float:
        return float(self.apply(self.array[None])[0])

    def replicates(self, resamples: int, seed: int) -> Floats:
        count(resamples, "resamples", least=1)
        random = np.random.default_rng(seed)
        drawn = (
            _drawn_items(self.array, resamples, random)
            if self.groups is None
            else _drawn(self.groups, resamples, random)
        )
        return np.concatenate([self.apply(self.array[rows]) for rows in drawn])

    def left_out(self) -> _Left:
        """The statistic without each item, or without each cluster."""
        if self.groups is not None:
            values = [self.apply(np.delete(self.array, rows, axis=0)[None]) for rows in self.groups]
            return _Left(np.concatenate(values), np.ones(len(self.groups)))
        n = len(self.array)
        values, start, kept = [], 0, np.arange(n - 1)
        for rows in _batches(n, self.array.size):
            out = np.arange(start, start + rows)[:, None]
            values.append(self.apply(self.array[kept + (kept >= out)]))
            start += rows
        return _Left(np.concatenate(values), np.ones(n))


def _table(counts: npt.ArrayLike) -> npt.NDArray[np.int64]:
    table = np.asarray(counts)
    if not table.size or not np.issubdtype(table.dtype, np.integer) or table.min() < 0:
        raise InputError("counts must be whole numbers of at least 0, one for each category")
    if table.sum() < 2:
        raise InputError(f"a bootstrap needs at least 2 items, not {table.sum()}")
    return table.astype(np.int64)


def _replicates_of_table(
    table: npt.NDArray[np.int64], apply: Callable[[npt.NDArray[Any]], Floats], resamples: int, seed: int
) -> Floats:
    count(resamples, "resamples", least=1)
    random = np.random.default_rng(seed)
    return np.concatenate([apply(drawn) for drawn in _drawn_tables(table, resamples, random)])


def _applied(statistic: Statistic) -> Callable[[npt.NDArray[Any]], Floats]:
    """`statistic` of a batch, checked to be one number a sample."""
    try:
        settings = {"axis": 1} if "axis" in inspect.signature(statistic).parameters else {}
    except ValueError:  # a function in C may not tell its arguments
        settings = {}

    def apply(batch: npt.NDArray[Any]) -> Floats:
        values = np.asarray(statistic(batch, **settings), dtype=np.float64)
        if values.shape != (len(batch),):
            raise InputError(
                f"the statistic must return one number for each of {len(batch)} samples, "
                f"but gave shape {values.shape} for a batch of shape {batch.shape}; reduce every axis but the first"
            )
        return values

    return apply


def _batches(resamples: int, size: int) -> Iterator[int]:
    step = max(1, BATCH_NUMBERS // max(size, 1))
    for start in range(0, resamples, step):
        yield min(step, resamples - start)


def _drawn_items(
    array: npt.NDArray[Any], resamples: int, random: np.random.Generator
) -> Iterator[npt.NDArray[np.intp]]:
    n = len(array)
    for rows in _batches(resamples, array.size):
        yield random.integers(0, n, size=(rows, n), dtype=np.intp)


def _drawn(
    groups: list[npt.NDArray[np.intp]], resamples: int, random: np.random.Generator
) -> Iterator[npt.NDArray[np.intp]]:
    """The rows of clusters drawn with replacement; one sample at a time, because their sizes differ."""
    for _ in range(resamples):
        chosen = random.integers(0, len(groups), size=len(groups))
        yield np.concatenate([groups[group] for group in chosen])[None]


def _drawn_tables(
    table: npt.NDArray[Any], resamples: int, random: np.random.Generator
) -> Iterator[npt.NDArray[np.int64]]:
    flat = table.ravel().astype(np.int64)
    used, total = np.flatnonzero(flat), int(flat.sum())
    for rows in _batches(resamples, table.size):
        drawn = np.zeros((rows, table.size), dtype=np.int64)
        drawn[:, used] = random.multinomial(total, flat[used] / total, size=rows)
        yield drawn.reshape(rows, *table.shape)


def _members(codes: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes))[:-1])


def _left_out_of_table(table: npt.NDArray[Any], apply: Callable[[npt.NDArray[Any]], Floats]) -> _Left:
    used = np.flatnonzero(table)
    without = np.repeat(table.reshape(1, -1), len(used), axis=0)
    without[np.arange(len(used)), used] -= 1
    return _Left(apply(without.reshape(-1, *table.shape)), table.ravel()[used].astype(np.float64))


def _interval(replicates: Floats, level: float, correction: _Correction | None = None) -> Interval:
    upper_tail = tail_level(level, "two")
    undefined = int((~np.isfinite(replicates)).sum())
    if undefined > UNDEFINED * len(replicates):
        raise InputError(
            f"the statistic is undefined on {undefined} of {len(replicates)} resamples: "
            "the data are too few or too uniform for a bootstrap"
        )
    tails = np.array([1 - upper_tail, upper_tail])
    defined = replicates[np.isfinite(replicates)]
    if correction is not None:
        tails = _corrected(tails, defined, correction)
    lower, upper = np.quantile(defined, tails)
    return Interval(float(lower), float(upper))


def _corrected(tails: Floats, replicates: Floats, correction: _Correction) -> Floats:
    """The tails of the BCa interval; ties count half, and a bias without bound is cut at half a resample."""
    observed, left = correction
    if not (math.isfinite(observed) and np.isfinite(left.values).all()):
        raise InputError(
            "the statistic is undefined on the data, or on them without one item: the BCa interval has nothing to "
            "correct by; take the percentile interval, or more data"
        )
    below = ((replicates < observed).mean() + (replicates <= observed).mean()) / 2
    edge = 0.5 / len(replicates)
    bias = ndtri(np.clip(below, edge, 1 - edge))
    deviations = np.average(left.values, weights=left.weights) - left.values
    spread = float(np.dot(left.weights, deviations**2))
    acceleration = float(np.dot(left.weights, deviations**3)) / (6 * spread**1.5) if spread > 0 else 0.0
    shifted = bias + ndtri(tails)
    return ndtr(bias + shifted / (1 - acceleration * shifted))
