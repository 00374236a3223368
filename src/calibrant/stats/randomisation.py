"""The sign-flip test: if two systems are alike, each difference between them could as well have had the other sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.stats.arrays import cluster_codes, cluster_sums, count, finite_values
from calibrant.stats.paired import TestResult, at_most_heads

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = ["sign_flip", "sign_flip_columns"]

EXACT = 32
"""Up to so many differences all 2^n signs are counted: two tables of 2^16 sums, one sorted, in milliseconds."""

SLACK = 1e-12
"""Sums that differ by less than this share of the sum of sizes are ties: a sum depends on its order by rounding."""

BLOCK_BYTES = 1 << 22
"""The random bytes that are held at a time."""

SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64) * 2 - 1
"""The eight signs that each byte stands for."""


def sign_flip(
    differences: npt.ArrayLike,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Sequence[Any] | None = None,
) -> TestResult:
    """The randomisation test of paired differences (Fisher 1935); the statistic is their mean.

    Exact when all differences have one size (that is McNemar's test) and for up to 32 that are not zero. For more, p is
    (count + 1) / (resamples + 1), where count are the random signs that give as large a mean (Phipson and Smyth 2010).
    With `clusters`, the items of one cluster keep their signs together.

    >>> sign_flip([0.1, 0.3, -0.1, 0.2, 0.1]).p_value
    0.25
    >>> sign_flip([1] * 9 + [-1]).p_value == 0.021484375
    True
    """
    values = finite_values(differences, "differences")
    return _tests(values[:, None], resamples, seed, clusters)[0]


def sign_flip_columns(
    differences: npt.ArrayLike,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Sequence[Any] | None = None,
) -> list[TestResult]:
    """The sign-flip test of each column: items in rows, measures in columns, the same random signs for all.

    >>> [test.p_value for test in sign_flip_columns([[0.1, 0.0], [0.3, 0.0], [0.2, 0.0]])]
    [0.25, 1.0]
    """
    return _tests(finite_values(differences, "differences", columns=True), resamples, seed, clusters)


def _tests(table: Floats, resamples: int, seed: int, clusters: Sequence[Any] | None) -> list[TestResult]:
    count(resamples, "resamples", least=1)
    n, columns = len(table), np.ascontiguousarray(table.T)
    if clusters is not None:
        codes = cluster_codes(clusters, n)
        columns = np.array([cluster_sums(column, codes) for column in columns])
    exact = {index: p for index, column in enumerate(columns) if (p := _exact(column)) is not None}
    sampled = [index for index in range(len(columns)) if index not in exact]
    drawn = dict(zip(sampled, _sampled(columns[sampled], resamples, seed), strict=True)) if sampled else {}
    return [
        TestResult(
            p_value=exact[index] if index in exact else drawn[index],
            statistic=float(column.sum()) / max(n, 1),
            method="sign-flip, exact" if index in exact else f"sign-flip, {resamples} resamples",
            n=n,
        )
        for index, column in enumerate(columns)
    ]


def _exact(values: Floats) -> float | None:
    """The p-value over all signs, or None when there are too many of them."""
    values = values[values != 0]
    if not len(values):
        return 1.0
    sizes = np.abs(values)
    if np.ptp(sizes) <= SLACK * sizes.max():
        few = min(int((values > 0).sum()), int((values < 0).sum()))
        return min(1.0, 2 * at_most_heads(few, len(values)))
    return _enumerated(values) if len(values) <= EXACT else None


def _enumerated(values: Floats) -> float:
    """The share of all 2^n sums that are as large: every sum of one half, against the sorted sums of the other."""
    least = abs(float(values.sum())) - SLACK * float(np.abs(values).sum())
    if least <= 0:
        return 1.0
    half = len(values) // 2
    first, second = _all_sums(values[:half]), np.sort(_all_sums(values[half:]))
    above = len(second) - np.searchsorted(second, np.sort(least - first), side="left")
    return min(1.0, 2 * int(above.sum()) / 2.0 ** len(values))  # the sums below -least mirror those above least


def _all_sums(values: Floats) -> Floats:
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def _sampled(columns: Floats, resamples: int, seed: int) -> list[float]:
    """The p-value of each column, with random signs that all columns share.

    Each byte draws the signs of eight items: their 256 possible sums stand in a table, and a resample adds up one entry
    of each table.
    """
    random = np.random.default_rng(seed)
    groups = np.pad(columns, ((0, 0), (0, -columns.shape[1] % 8))).reshape(len(columns), -1, 8)
    sums = np.zeros((len(columns), resamples))
    step = max(1, BLOCK_BYTES // resamples)
    for start in range(0, groups.shape[1], step):
        block = groups[:, start : start + step]
        drawn = random.integers(0, 256, size=(block.shape[1], resamples), dtype=np.uint8)
        for column, eights in enumerate(block):
            for eight, signs in zip(eights, drawn, strict=True):
                sums[column] += (SIGNS @ eight)[signs]
    least = np.abs(columns.sum(axis=1)) - SLACK * np.abs(columns).sum(axis=1)
    return [(int(found) + 1) / (resamples + 1) for found in (np.abs(sums) >= least[:, None]).sum(axis=1)]
