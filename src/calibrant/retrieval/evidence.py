"""What the formulas work on: the judged documents of a ranking beside the qrels, with what they share kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.retrieval.grouped import places_within

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from calibrant.retrieval.conventions import Conventions
    from calibrant.retrieval.judged import Judged
    from calibrant.retrieval.qrels import Qrels

__all__ = ["Evidence", "gains", "ratio"]


@dataclass(frozen=True, eq=False)
class Evidence:
    """One ranking's judged documents, the qrels, and the conventions to measure by."""

    qrels: Qrels
    judged: Judged
    conventions: Conventions
    _ideals: dict[tuple[str, int | None], NDArray[np.float64]] = field(default_factory=dict[Any, Any])

    @property
    def count(self) -> int:
        """How many queries the qrels have."""
        return len(self.qrels.queries)

    def per_query(self, rows: NDArray[np.bool_], values: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """The sum of `values` (or the number) of these judged rows by query."""
        weights = None if values is None else values[rows]
        return np.bincount(self.judged.queries[rows], weights, minlength=self.count).astype(np.float64)

    def relevant(self, level: float) -> NDArray[np.bool_]:
        """Which judged rows have at least the grade `level`."""
        return self.judged.grades >= level

    def weights(
        self, weight: Callable[[NDArray[np.float64]], NDArray[np.float64]], cutoff: int | NDArray[np.int64] | None
    ) -> NDArray[np.float64]:
        """`weight(rank)` of each judged row, 0 behind the cutoff; the mean over the ranks that a tie shares."""
        ranks = self.judged.ranks
        if self.judged.sizes is None:
            values = weight(ranks.astype(np.float64))
            return values if cutoff is None else np.where(ranks <= cutoff, values, 0.0)
        sums = np.concatenate(([0.0], np.cumsum(weight(np.arange(1.0, self.deepest + 1)))))
        last = ranks + self.judged.sizes - 1
        if cutoff is not None:
            last = np.clip(cutoff, ranks - 1, last)
        return (sums[np.minimum(last, self.deepest)] - sums[ranks - 1]) / self.judged.sizes

    @cached_property
    def deepest(self) -> int:
        """The last rank that a judged document may have."""
        sizes = 1 if self.judged.sizes is None else self.judged.sizes
        return int((self.judged.ranks + sizes - 1).max(initial=0))

    def hits(self, level: float, cutoff: int | NDArray[np.int64] | None) -> NDArray[np.float64]:
        """How many of the first `cutoff` documents are relevant, by query."""
        return self.per_query(self.relevant(level), self.weights(np.ones_like, cutoff))

    def ideal(self, gain: str, cutoff: int | None) -> NDArray[np.float64]:
        """The discounted gain of the best order of each query's judged documents."""
        known = self._ideals.get((gain, cutoff))
        if known is None:
            known = self._ideals[gain, cutoff] = _ideal(self.qrels, gain, cutoff)
        return known

    def gains(self, gain: str) -> NDArray[np.float64]:
        """The gain of each judged row."""
        return gains(self.judged.grades, gain)


def gains(grades: NDArray[np.float64], gain: str) -> NDArray[np.float64]:
    """The gain of each grade: itself, or 2**grade - 1; nothing for grades below 0."""
    positive = np.maximum(grades, 0.0)
    return positive if gain == "linear" else np.exp2(positive) - 1.0


def ratio(numerator: NDArray[Any], denominator: Any) -> NDArray[np.float64]:
    """The quotient, 0 where there is nothing to divide by."""
    above = np.asarray(numerator, dtype=np.float64)  # bincount of nothing gives integers
    below = np.broadcast_to(np.asarray(denominator, dtype=np.float64), above.shape)
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _ideal(qrels: Qrels, gain: str, cutoff: int | None) -> NDArray[np.float64]:
    places = places_within(np.diff(qrels.starts))
    values = gains(qrels.grades[qrels.by_grade], gain) / np.log2(places + 2.0)
    if cutoff is not None:
        values = np.where(places < cutoff, values, 0.0)
    return np.bincount(qrels.codes, values, minlength=len(qrels.queries)).astype(np.float64)
