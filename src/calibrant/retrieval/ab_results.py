"""What an A/B test of two retrievers found, and how it is worked out from the metrics of each query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from calibrant.errors import UnknownNameError
from calibrant.estimates import Coverage
from calibrant.retrieval.differences import PairedDifference, checked_level, paired_differences
from calibrant.retrieval.per_query import RetrieverFailure, refuse_total_failure
from calibrant.retrieval.results import CoverageField, RetrievalMetrics
from calibrant.stats import doubt_of, holm, is_settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.estimates import Estimate

__all__ = ["ABTestResult", "AggregatedMetrics", "QueryPair"]

COMPARED = {"precision": "precision_at_k", "recall": "recall_at_k", "f1": "f1_at_k", "mrr": "mrr", "ndcg": "ndcg"}
"""The metrics that are compared, and their fields in `RetrievalMetrics`."""


class AggregatedMetrics(BaseModel):
    """The means of one retriever's metrics over the queries that both retrievers answered."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mean_precision: float = 0.0
    mean_recall: float = 0.0
    mean_f1: float = 0.0
    mean_mrr: float = 0.0
    mean_ndcg: float = 0.0
    num_samples: int = 0


class QueryPair(BaseModel):
    """What both retrievers got on one query: metrics, or the failure that came instead."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str
    a: RetrievalMetrics | RetrieverFailure
    b: RetrievalMetrics | RetrieverFailure

    @property
    def failures(self) -> list[RetrieverFailure]:
        """The failures on this query: none, one or two."""
        return [one for one in (self.a, self.b) if isinstance(one, RetrieverFailure)]


class ABTestResult(BaseModel):
    """Which of two retrievers is better by `metric`, and how sure that is.

    `p_value` is that of the exact paired t-test; `is_significant` says that it is below `significance_level`. `winner`
    is "tie" unless the interval of the difference leaves out 0 as well. `randomisation_p_value` is the sign-flip
    test's. Differences are B - A. `queries_needed` is how many queries would find the difference seen here, were it the
    truth, four times in five.

    `queries` holds what both retrievers got on every query. A query that one of them failed on is in `failures`, and
    enters neither mean nor test; `coverage` counts them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics_a: AggregatedMetrics
    metrics_b: AggregatedMetrics
    winner: Literal["a", "b", "tie"]
    p_value: float = Field(ge=0.0, le=1.0)
    is_significant: bool
    significance_level: float = Field(default=0.05, gt=0.0, lt=1.0)
    per_metric_comparison: dict[str, dict[str, Any]] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    metric: str = "ndcg"
    randomisation_p_value: float = Field(default=1.0, ge=0.0, le=1.0)
    queries_needed: int | None = None
    coverage: CoverageField = Field(default_factory=lambda: Coverage(rated=0))
    queries: list[QueryPair] = Field(default_factory=list[QueryPair])

    @classmethod
    def of(
        cls,
        queries: Sequence[QueryPair],
        *,
        metric: str = "ndcg",
        significance_level: float = 0.05,
        seed: int = 0,
        metadata: dict[str, Any] | None = None,
    ) -> ABTestResult:
        """The result that follows from what both retrievers got on `queries`; no retriever is asked.

        No queries at all are a tie; queries without any that both answered are an error.
        """
        checked_metric(metric)
        answered = _answered(queries)
        if queries and not answered:
            refuse_total_failure([failure for pair in queries for failure in pair.failures], len(queries))
        compared = _compared(queries, alpha=significance_level, seed=seed)
        chosen = compared[metric]
        is_significant = chosen.t.p_value < significance_level
        better = "b" if (chosen.difference.value or 0.0) > 0 else "a"
        metrics_a, metrics_b = _aggregated(answered, "a"), _aggregated(answered, "b")
        return cls(
            metrics_a=metrics_a,
            metrics_b=metrics_b,
            winner=better if is_settled(chosen.difference, chosen.t.p_value) else "tie",
            p_value=chosen.t.p_value,
            is_significant=is_significant,
            significance_level=significance_level,
            per_metric_comparison=_comparison(metrics_a, metrics_b, compared),
            metadata={**(metadata or {}), "seed": seed, "test": chosen.t.method, "correction": "holm"},
            metric=metric,
            randomisation_p_value=chosen.randomisation.p_value,
            queries_needed=chosen.needed,
            coverage=_coverage(queries),
            queries=list(queries),
        )

    def again(
        self, *, metric: str | None = None, significance_level: float | None = None, seed: int | None = None
    ) -> ABTestResult:
        """The same measurement, decided by another metric, level or seed; no retriever is asked."""
        return ABTestResult.of(
            self.queries,
            metric=self.metric if metric is None else metric,
            significance_level=self.significance_level if significance_level is None else significance_level,
            seed=self.metadata.get("seed", 0) if seed is None else seed,
            metadata=self.metadata,
        )

    @property
    def failures(self) -> list[RetrieverFailure]:
        """Every failure, of either retriever, in the order of the queries."""
        return [failure for pair in self.queries for failure in pair.failures]

    def estimates(self) -> dict[str, Estimate]:
        """The mean difference B - A of each metric with its interval, coverage and worst case."""
        compared = _compared(self.queries, alpha=self.significance_level, seed=0)
        return {name: one.difference for name, one in compared.items()}

    def __str__(self) -> str:
        verdict = "tie" if self.winner == "tie" else f"{self.winner} is better"
        count = self.queries_needed
        needed = "" if count is None else f"; about {count} queries find such a difference four times in five"
        difference = self.estimates()[self.metric]
        doubt = doubt_of(difference, self.p_value)
        doubted = f" (not settled: {doubt})" if doubt else ""
        return f"{verdict} by {self.metric}: b - a = {difference}, p = {self.p_value:.4g}{doubted}{needed}"


def checked_metric(metric: str) -> str:
    """`metric` when it is one of those that an A/B test compares."""
    if metric not in COMPARED:
        raise UnknownNameError.among("metric", metric, COMPARED)
    return metric


def _answered(queries: Sequence[QueryPair]) -> list[QueryPair]:
    return [pair for pair in queries if not pair.failures]


def _coverage(queries: Sequence[QueryPair]) -> Coverage:
    """Queries are counted: one that both retrievers failed on has failed once."""
    codes = [pair.failures[0].code if pair.failures else None for pair in queries]
    return Coverage.of(("failed" if code else "rated", code) for code in codes)


def _column(answered: Sequence[QueryPair], side: Literal["a", "b"], metric: str) -> list[float]:
    return [getattr(getattr(pair, side), COMPARED[metric]) for pair in answered]


def _compared(queries: Sequence[QueryPair], *, alpha: float, seed: int) -> dict[str, PairedDifference]:
    answered = _answered(queries)
    table = np.array(
        [np.subtract(_column(answered, "b", metric), _column(answered, "a", metric)) for metric in COMPARED]
    ).T.reshape(len(answered), len(COMPARED))
    found = paired_differences(table, coverage=_coverage(queries), alpha=checked_level(alpha), seed=seed)
    return dict(zip(COMPARED, found, strict=True))


def _aggregated(answered: Sequence[QueryPair], side: Literal["a", "b"]) -> AggregatedMetrics:
    if not answered:
        return AggregatedMetrics()
    means = {f"mean_{metric}": float(np.mean(_column(answered, side, metric))) for metric in COMPARED}
    return AggregatedMetrics(**means, num_samples=len(answered))


def _comparison(
    metrics_a: AggregatedMetrics, metrics_b: AggregatedMetrics, compared: dict[str, PairedDifference]
) -> dict[str, dict[str, Any]]:
    """One row a metric, of plain numbers; what could not be worked out is None."""
    corrected = holm([one.t.p_value for one in compared.values()])
    return {
        metric: {
            "mean_a": getattr(metrics_a, f"mean_{metric}"),
            "mean_b": getattr(metrics_b, f"mean_{metric}"),
            "delta": one.difference.value,
            "lower": one.difference.lower,
            "upper": one.difference.upper,
            "level": one.difference.level,
            "p_value": one.t.p_value,
            "p_value_holm": float(p),
            "randomisation_p_value": one.randomisation.p_value,
            "effect_size": one.effect_size,
            "queries_needed": one.needed,
            "wins": one.wins,
            "losses": one.losses,
            "ties": one.ties,
            "reason": one.difference.reason,
        }
        for (metric, one), p in zip(compared.items(), corrected, strict=True)
    }
