"""The six metrics of one retrieved list: plain Python, since one list is too short for anything heavier."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from math import log2
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.retrieval.context import ContextItem, document_id, document_ids
from calibrant.retrieval.results import RetrievalMetrics

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RetrievalMetricsCalculator"]


class RetrievalMetricsCalculator:
    """Computes precision, recall, F1, reciprocal rank, nDCG and hit of one ranked list, by the seed's conventions.

    >>> calculator = RetrievalMetricsCalculator(k=5)
    >>> metrics = calculator.evaluate(["a"], relevant=["a", "b"], k=3)
    >>> metrics.precision_at_k, metrics.recall_at_k, metrics.conventions
    (1.0, 0.5, 'seed')
    """

    __slots__ = ("k",)

    def __init__(self, k: int = 10) -> None:
        self.k = checked_cutoff(k)

    def evaluate(
        self,
        retrieved: Sequence[ContextItem | str | Any],
        relevant: Sequence[str],
        k: int | None = None,
    ) -> RetrievalMetrics:
        """The metrics of `retrieved`, best first, cut at `k` (the calculator's own by default).

        A document that was retrieved twice counts once, at its first place. Precision divides by the number of
        documents retrieved, at most k. Where nothing is relevant or nothing was retrieved, every metric is 0.0.
        """
        cutoff = self.k if k is None else checked_cutoff(k)
        ranked = _ranked_ids(retrieved)
        if len(set(ranked)) < len(ranked):
            ranked = list(dict.fromkeys(ranked))
        if len(ranked) > cutoff:
            ranked = ranked[:cutoff]
        wanted = set(document_ids(relevant, "relevant"))
        hits = [rank for rank, document in enumerate(ranked) if document in wanted]
        if not hits:
            return _NOTHING_FOUND
        depth, found, total = len(ranked), len(hits), len(wanted)
        discounts, ideal = _gains(cutoff if cutoff <= _USUAL else 1 << max(depth, total).bit_length())
        return _metrics(
            {
                "precision_at_k": found / depth,
                "recall_at_k": found / total,
                "f1_at_k": 2 * found / (depth + total),
                "mrr": 1 / (hits[0] + 1),
                "ndcg": sum([discounts[rank] for rank in hits]) / ideal[min(total, cutoff) - 1],
                "hit_rate": 1.0,
            }
        )


_USUAL = 1024  # up to this cutoff a table of gains is kept for each; beyond it, one for each power of two
_NOTHING_FOUND = RetrievalMetrics(precision_at_k=0.0, recall_at_k=0.0, f1_at_k=0.0, mrr=0.0, ndcg=0.0, hit_rate=0.0)


_metrics = RetrievalMetrics.__pydantic_validator__.validate_python


def checked_cutoff(k: object) -> int:
    """`k` as a cutoff: a whole number of at least 1."""
    if type(k) is int and k >= 1:
        return k
    if isinstance(k, bool) or not hasattr(k, "__index__"):
        raise WrongTypeError(f"k is a whole number, not {shortened(k)}")
    cutoff = int(k)  # pyright: ignore[reportArgumentType] - what has __index__ is a whole number
    if cutoff < 1:
        raise InputError(f"k is the number of documents looked at, so at least 1; got {cutoff}")
    return cutoff


def _ranked_ids(retrieved: Any) -> list[str]:
    if type(retrieved) is list and retrieved and type(retrieved[0]) is ContextItem:
        return [one.id if type(one) is ContextItem else document_id(one) for one in retrieved]
    return document_ids(retrieved, "retrieved")


@lru_cache(maxsize=64)
def _gains(size: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What a relevant document adds at each rank, and the most that so many could add together.

    Jarvelin and Kekalainen 2002, with binary gains and the discount 1 / log2(rank + 1).
    """
    discounts = tuple(1 / log2(rank + 2) for rank in range(size))
    return discounts, tuple(accumulate(discounts))
