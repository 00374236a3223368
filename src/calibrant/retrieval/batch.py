"""One retriever evaluated over a whole dataset, with the spread of its metrics."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from calibrant.estimates import Coverage
from calibrant.retrieval.calculator import checked_cutoff
from calibrant.retrieval.per_query import (
    JudgedQuery,
    QuerySet,
    RetrieverFailure,
    evaluated,
    refuse_total_failure,
    samples_of,
)
from calibrant.retrieval.results import EvaluationResult, RetrievalMetrics
from calibrant.retrieval.retrievers import Retrieved, RetrieverLike, retrieve_all, retrieve_all_async

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.estimates import Estimate
    from calibrant.retrieval.pipeline import PipelineEvaluator

__all__ = ["AggregatedMetrics", "BatchEvaluator", "EvaluationDataset", "EvaluationSample"]

FIELDS = {
    "precision": "precision_at_k",
    "recall": "recall_at_k",
    "f1": "f1_at_k",
    "mrr": "mrr",
    "ndcg": "ndcg",
    "hit_rate": "hit_rate",
}
"""The short name of each metric, and its field in `RetrievalMetrics`."""


class EvaluationSample(JudgedQuery):
    """One query, with the ids of the documents that are relevant to it."""


class EvaluationDataset(QuerySet):
    """The queries that a batch evaluation asks."""

    samples: list[EvaluationSample] = Field(default_factory=list[EvaluationSample])


class AggregatedMetrics(BaseModel):
    """The metrics of a retriever over a dataset: means, 95th percentiles and minima over the queries it answered.

    `count` is the number of those queries; the others are named in `failures` and in no mean. `per_sample_results`
    holds the metrics of each, with its query and the sample's metadata in `metadata`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    count: int = 0
    mean_precision: float = 0.0
    mean_recall: float = 0.0
    mean_f1: float = 0.0
    mean_mrr: float = 0.0
    mean_ndcg: float = 0.0
    mean_hit_rate: float = 0.0
    p95_precision: float = 0.0
    p95_recall: float = 0.0
    min_precision: float = 0.0
    min_recall: float = 0.0
    per_sample_results: list[EvaluationResult] = Field(default_factory=list[EvaluationResult])
    failures: list[RetrieverFailure] = Field(default_factory=list[RetrieverFailure])

    def estimates(self, *, level: float = 0.95) -> dict[str, Estimate]:
        """The mean of each metric with its interval, coverage and worst case, by its short name: precision, f1, ..."""
        from calibrant.stats import mean

        codes = dict(Counter(failure.code for failure in self.failures))
        coverage = Coverage(rated=self.count, failed=len(self.failures), codes=codes)
        columns = _columns([one.retrieval_metrics for one in self.per_sample_results])
        return {
            name: mean(values, level=level, coverage=coverage, scale=(0.0, 1.0)) for name, values in columns.items()
        }

    def __str__(self) -> str:
        lines = [f"{name:<10}{estimate}" for name, estimate in self.estimates().items()]
        return "\n".join([*lines, *(f"failed: {failure}" for failure in self.failures)])


class BatchEvaluator:
    """Evaluates `retriever` on every query of a dataset, asking it for `top_k` documents each.

    >>> from calibrant.retrieval import PipelineEvaluator
    >>> batch = BatchEvaluator(PipelineEvaluator(), lambda query, top_k: ["a", "b"][:top_k])
    >>> batch.evaluate(EvaluationDataset(samples=[EvaluationSample(query="q", relevant_ids=["b"])])).mean_mrr
    0.5
    """

    def __init__(self, evaluator: PipelineEvaluator, retriever: RetrieverLike, top_k: int = 10) -> None:
        self.evaluator = evaluator
        self.retriever = retriever
        self.top_k = checked_cutoff(top_k)

    def evaluate(self, dataset: Any, k: int = 10) -> AggregatedMetrics:
        """The metrics over `dataset`, this module's or ab_testing's, cut at `k`; an empty one has the count 0.

        A query that the retriever fails on is in `failures` and in no mean; when it fails on all, that is an error.
        """
        samples = samples_of(dataset)
        retrieved = retrieve_all(self.retriever, [sample.query for sample in samples], self.top_k)
        return self._aggregated(samples, retrieved, k)

    async def evaluate_async(self, dataset: Any, k: int = 10) -> AggregatedMetrics:
        """What `evaluate` gives, in the running loop: for retrievers that belong to it."""
        samples = samples_of(dataset)
        retrieved = await retrieve_all_async(self.retriever, [sample.query for sample in samples], self.top_k)
        return self._aggregated(samples, retrieved, k)

    def _aggregated(self, samples: Sequence[Any], retrieved: Sequence[Retrieved], k: int) -> AggregatedMetrics:
        outcomes = evaluated(self.evaluator, samples, retrieved, k=checked_cutoff(k))
        failures = [one for one in outcomes if isinstance(one, RetrieverFailure)]
        if failures and len(failures) == len(samples):
            refuse_total_failure(failures, len(samples))
        results = [
            EvaluationResult(retrieval_metrics=one, metadata={**sample.metadata, "query": sample.query})
            for sample, one in zip(samples, outcomes, strict=True)
            if isinstance(one, RetrievalMetrics)
        ]
        return AggregatedMetrics(per_sample_results=results, failures=failures, **_summary(results))


def _columns(metrics: Sequence[RetrievalMetrics | None]) -> dict[str, list[float]]:
    return {name: [getattr(one, field) for one in metrics if one is not None] for name, field in FIELDS.items()}


def _summary(results: Sequence[EvaluationResult]) -> dict[str, Any]:
    if not results:
        return {}
    import numpy as np

    columns = _columns([one.retrieval_metrics for one in results])
    means = {f"mean_{name}": float(np.mean(values)) for name, values in columns.items()}
    spread = {f"min_{name}": min(columns[name]) for name in ("precision", "recall")}
    upper = {f"p95_{name}": float(np.percentile(columns[name], 95)) for name in ("precision", "recall")}
    return {"count": len(results), **means, **upper, **spread}
