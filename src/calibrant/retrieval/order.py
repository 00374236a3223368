"""Scores by query, best first: sorted values, counts of better and equal ones, and the order of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calibrant.retrieval.grouped import padded_rows, places_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["counts_above", "descending_order"]


def descending_scores(scores: NDArray[np.floating], starts: NDArray[np.int64]) -> NDArray[np.floating]:
    """The scores with each query's sorted, best first; queries that are sorted already, as most files are, stay."""
    unsorted = _unsorted_segments(scores, starts)
    if not len(unsorted):
        return scores
    arranged = scores.copy()
    widths = np.diff(starts)[unsorted]
    for rows, inside in padded_rows(starts[unsorted], widths):
        matrix = np.where(inside, -scores[rows], scores.dtype.type(np.inf))
        matrix.sort(axis=1)
        arranged[rows[inside]] = -matrix[inside]
    return arranged


def _unsorted_segments(scores: NDArray[np.floating], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    rising = np.flatnonzero(scores[1:] > scores[:-1]) + 1
    segments = np.searchsorted(starts, rising, side="right") - 1
    return np.unique(segments[starts[segments] != rising])


def counts_above(
    scores: NDArray[np.floating],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    segments: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For the scores of these rows: how many of their query's are higher, and how many are equal."""
    arranged = descending_scores(scores, starts)
    if arranged is scores:
        return _counts_in_order(scores, starts, rows, segments)
    wanted, begins, ends = scores[rows], starts[segments], starts[segments + 1]
    higher = _first_at_most(arranged, begins, ends, wanted, strictly=False)
    at_least = _first_at_most(arranged, higher, ends, wanted, strictly=True)
    return higher - begins, at_least - higher


def _counts_in_order(
    scores: NDArray[np.floating],
    starts: NDArray[np.int64],
    rows: NDArray[np.int64],
    segments: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same for rows that stand in the order of their scores: equal scores are neighbours."""
    is_first = np.ones(len(scores), dtype=np.bool_)
    np.not_equal(scores[1:], scores[:-1], out=is_first[1:])
    is_first[starts[:-1][np.diff(starts) > 0]] = True
    firsts = np.append(np.flatnonzero(is_first), len(scores))
    groups = np.searchsorted(firsts, rows, side="right") - 1
    return firsts[groups] - starts[segments], firsts[groups + 1] - firsts[groups]


def _first_at_most(
    arranged: NDArray[np.floating],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    wanted: NDArray[np.floating],
    *,
    strictly: bool,
) -> NDArray[np.int64]:
    """By bisection, all at once: the first place with a score at most, or strictly below, the wanted one."""
    low, high = low.copy(), high.copy()
    for _ in range(int((high - low).max(initial=0)).bit_length()):
        open_ = low < high
        middle = (low + high) >> 1
        seen = arranged[np.minimum(middle, len(arranged) - 1)]
        passed = (seen >= wanted if strictly else seen > wanted) & open_
        low = np.where(passed, middle + 1, low)
        high = np.where(passed | ~open_, high, middle)
    return low


def descending_order(
    scores: NDArray[np.floating], starts: NDArray[np.int64], segments: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The rows in their order with those of `segments` sorted by score, best first, equal ones as they came."""
    order = np.arange(len(scores))
    lengths = np.diff(starts)[segments]
    rows = np.repeat(starts[segments], lengths) + places_within(lengths)
    order[rows] = rows[np.lexsort((-scores[rows], np.repeat(segments, lengths)))]
    return order
