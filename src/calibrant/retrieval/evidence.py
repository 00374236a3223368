"""What the formulas work on: the judged documents of a ranking beside the qrels, with what they share kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from calibrant.retrieval.conventions import Conventions
    from calibrant.retrieval.judged import Judged
    from calibrant.retrieval.qrels import Qrels

__all__ = ["EVERY", "Evidence", "Rows", "gains", "ratio"]

Rows = NDArray[np.int64] | slice
"""Judged rows, by their places."""

EVERY = slice(None)
"""All judged rows."""

Cutoff = int | NDArray[np.int64] | None
"""How many documents count: of every query as many, or by query; None is all."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """One ranking's judged documents, the qrels, and the conventions to measure by."""

    qrels: Qrels
    judged: Judged
    conventions: Conventions
    _relevant: dict[float, NDArray[np.int64]] = field(default_factory=dict[Any, Any], repr=False)

    @property
    def count(self) -> int:
        """How many queries the qrels have."""
        return len(self.qrels.queries)

    def per_query(self, rows: Rows, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum by query of the `values` of these judged rows."""
        return np.bincount(self.judged.queries[rows], values, minlength=self.count).astype(np.float64)

    def relevant(self, level: float) -> NDArray[np.int64]:
        """The judged rows that have at least the grade `level`."""
        if level not in self._relevant:
            self._relevant[level] = np.flatnonzero(self.judged.grades >= level)
        return self._relevant[level]

    @cached_property
    def first_rows(self) -> NDArray[np.int64]:
        """Where the judged rows of each query begin."""
        return np.searchsorted(self.judged.queries, np.arange(self.count))

    def weights(
        self, rows: Rows, weight: Callable[[NDArray[np.float64]], NDArray[np.float64]], cutoff: Cutoff
    ) -> NDArray[np.float64]:
        """`weight(rank)` of these judged rows, 0 behind the cutoff; the mean over the ranks that a tie shares."""
        ranks = self.judged.ranks[rows]
        last_rank = cutoff[self.judged.queries[rows]] if isinstance(cutoff, np.ndarray) else cutoff
        if self.judged.sizes is None:
            values = weight(ranks.astype(np.float64))
            return values if last_rank is None else np.where(ranks <= last_rank, values, 0.0)
        sizes = self.judged.sizes[rows]
        sums = np.concatenate(([0.0], np.cumsum(weight(np.arange(1.0, self.deepest + 1)))))
        last = ranks + sizes - 1
        if last_rank is not None:
            last = np.clip(last_rank, ranks - 1, last)
        return (sums[np.minimum(last, self.deepest)] - sums[ranks - 1]) / sizes

    @cached_property
    def deepest(self) -> int:
        """The last rank that a judged document may have."""
        sizes = 1 if self.judged.sizes is None else self.judged.sizes
        return int((self.judged.ranks + sizes - 1).max(initial=0))

    def hits(self, level: float, cutoff: Cutoff) -> NDArray[np.float64]:
        """How many of the first `cutoff` documents are relevant, by query."""
        rows = self.relevant(level)
        return self.per_query(rows, self.weights(rows, np.ones_like, cutoff))


def gains(grades: NDArray[np.float64], gain: str) -> NDArray[np.float64]:
    """The gain of each grade above 0: itself, or 2**grade - 1."""
    return grades if gain == "linear" else np.exp2(grades) - 1.0


def ratio(numerator: NDArray[Any], denominator: Any) -> NDArray[np.float64]:
    """The quotient, 0 where there is nothing to divide by."""
    above = np.asarray(numerator, dtype=np.float64)  # bincount of nothing gives integers
    below = np.broadcast_to(np.asarray(denominator, dtype=np.float64), above.shape)
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
