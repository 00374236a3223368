"""Expected values over all orders of tied documents, for measures that no weight by rank can give.

McSherry and Najork (2008), Computing Information Retrieval Performance Measures Efficiently in the Presence of Tied
Scores, ECIR.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant.retrieval.evidence import ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from calibrant.retrieval.evidence import Evidence

__all__ = ["first_relevant", "precision_sums", "preferences"]


@dataclass(frozen=True, slots=True, eq=False)
class _TieGroups:
    """Groups of tied documents that hold a relevant one: where they start, their size, their relevant documents."""

    queries: NDArray[np.int64]
    ranks: NDArray[np.int64]
    sizes: NDArray[np.int64]
    relevant: NDArray[np.int64]
    before: NDArray[np.int64]

    @classmethod
    def of(cls, evidence: Evidence, level: float) -> _TieGroups:
        judged, rows = evidence.judged, evidence.relevant(level)
        queries, ranks = judged.queries[rows], judged.ranks[rows]
        is_first = np.ones(len(rows), dtype=np.bool_)
        is_first[1:] = (queries[1:] != queries[:-1]) | (ranks[1:] != ranks[:-1])
        first = np.flatnonzero(is_first)
        counts = np.diff(first, append=len(rows))
        before = first - np.searchsorted(queries, queries[first])
        sizes = np.ones(0, dtype=np.int64) if judged.sizes is None else judged.sizes[rows][first]
        return cls(queries[first], ranks[first], sizes, counts, before)


def precision_sums(evidence: Evidence, level: float, cutoff: int | None) -> NDArray[np.float64]:
    """The expected sum of the precision at each relevant document of the first k, by query."""
    groups = _TieGroups.of(evidence, level)
    totals = np.zeros(evidence.count)
    for query, rank, size, relevant, before in zip(
        groups.queries, groups.ranks, groups.sizes, groups.relevant, groups.before, strict=True
    ):
        places = np.arange(size)
        others = places * ((relevant - 1) / max(size - 1, 1))  # relevant ones expected above, within the tie
        precisions = (before + 1 + others) / (rank + places)
        if cutoff is not None:
            precisions = precisions[rank + places <= cutoff]
        totals[query] += precisions.sum() * relevant / size
    return totals


def first_relevant(
    evidence: Evidence,
    level: float,
    cutoff: int | None,
    worth: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """The expected worth of the rank of the first relevant document, 0 behind the cutoff, by query."""
    groups = _TieGroups.of(evidence, level)
    values = np.zeros(evidence.count)
    first = groups.before == 0
    for query, rank, size, relevant in zip(
        groups.queries[first], groups.ranks[first], groups.sizes[first], groups.relevant[first], strict=True
    ):
        places = np.arange(size - relevant + 1)
        # the chance that the first of the relevant stands here: all before it are of the size - relevant others
        stays = 1.0 - relevant / (size - places)
        chances = np.concatenate(([1.0], np.cumprod(stays[:-1]))) * (1.0 - stays)
        ranks = (rank + places).astype(np.float64)
        values[query] = (chances * worth(ranks))[ranks <= (np.inf if cutoff is None else cutoff)].sum()
    return values


def preferences(
    evidence: Evidence,
    rows: NDArray[np.int64],
    before: NDArray[np.int64],
    most: NDArray[np.int64],
) -> NDArray[np.float64]:
    """What each of these relevant rows adds to bpref, expected: any of its tie's irrelevant ones may stand above it.

    `before` counts the irrelevant judged rows before each judged row.
    """
    judged = evidence.judged
    same = (judged.queries << np.int64(40)) + judged.ranks
    begins, ends = np.searchsorted(same, same[rows]), np.searchsorted(same, same[rows], side="right")
    above = before[begins] - before[evidence.first_rows[judged.queries[rows]]]
    tied = before[ends] - before[begins]
    # the mean of min(above + j, most) over j = 0 .. tied
    rising = np.clip(most - above, 0, tied + 1)
    total = rising * above + rising * (rising - 1) / 2 + (tied + 1 - rising) * np.minimum(most, above + tied)
    return 1.0 - ratio(total / (tied + 1), most)
