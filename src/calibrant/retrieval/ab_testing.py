"""Two retrievers on the same queries: which is better, and whether it could be chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import Field

from calibrant.retrieval.ab_results import ABTestResult, AggregatedMetrics, QueryPair, checked_metric
from calibrant.retrieval.calculator import checked_cutoff
from calibrant.retrieval.differences import checked_level
from calibrant.retrieval.per_query import JudgedQuery, QuerySet, evaluated, samples_of
from calibrant.retrieval.retrievers import retrieve_all, retrieve_all_async

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.retrieval.pipeline import PipelineEvaluator
    from calibrant.retrieval.retrievers import Retrieved, RetrieverLike

__all__ = [
    "ABTestResult",
    "ABTestRunner",
    "AggregatedMetrics",
    "EvaluationDataset",
    "EvaluationSample",
    "QueryPair",
]


class EvaluationSample(JudgedQuery):
    """One query, with the ids of the documents that are relevant to it."""


class EvaluationDataset(QuerySet):
    """The queries that both retrievers are asked."""

    samples: list[EvaluationSample] = Field(default_factory=list[EvaluationSample])


class ABTestRunner:
    """Asks two retrievers the queries of one dataset and compares what they return.

    >>> from calibrant.retrieval import PipelineEvaluator
    >>> samples = [EvaluationSample(query=str(number), relevant_ids=["a"]) for number in range(12)]
    >>> runner = ABTestRunner(PipelineEvaluator(), EvaluationDataset(samples=samples))
    >>> result = runner.run(lambda query, top_k: ["x", "a"], lambda query, top_k: ["a", "x"])
    >>> result.winner, result.p_value
    ('b', 0.00048828125)
    """

    def __init__(self, evaluator: PipelineEvaluator, dataset: Any, *, concurrency: int = 8) -> None:
        samples_of(dataset)
        self.evaluator = evaluator
        self.dataset = dataset
        self.concurrency = concurrency

    def run(
        self,
        retriever_a: RetrieverLike,
        retriever_b: RetrieverLike,
        k: int = 10,
        significance_level: float = 0.05,
        *,
        metric: str = "ndcg",
        seed: int = 0,
    ) -> ABTestResult:
        """The comparison of both retrievers, cut at `k` and decided by `metric`; also inside a running loop.

        A query that either retriever fails on is left out for both, counted and named.
        """
        decision = _Decision(k, significance_level, metric, seed)
        found = [
            retrieve_all(one, self._queries(), decision.k, concurrency=self.concurrency)
            for one in (retriever_a, retriever_b)
        ]
        return self._result(found, decision)

    async def run_async(
        self,
        retriever_a: RetrieverLike,
        retriever_b: RetrieverLike,
        k: int = 10,
        significance_level: float = 0.05,
        *,
        metric: str = "ndcg",
        seed: int = 0,
    ) -> ABTestResult:
        """What `run` gives, in the running loop: for retrievers that belong to it."""
        decision = _Decision(k, significance_level, metric, seed)
        found = [
            await retrieve_all_async(one, self._queries(), decision.k, concurrency=self.concurrency)
            for one in (retriever_a, retriever_b)
        ]
        return self._result(found, decision)

    def _queries(self) -> list[str]:
        return [sample.query for sample in samples_of(self.dataset)]

    def _result(self, found: Sequence[Sequence[Retrieved]], decision: _Decision) -> ABTestResult:
        samples = samples_of(self.dataset)
        a, b = (
            evaluated(self.evaluator, samples, retrieved, k=decision.k, name=name)
            for name, retrieved in zip("ab", found, strict=True)
        )
        pairs = [QueryPair(query=sample.query, a=one, b=two) for sample, one, two in zip(samples, a, b, strict=True)]
        return ABTestResult.of(
            pairs,
            metric=decision.metric,
            significance_level=decision.significance_level,
            seed=decision.seed,
            metadata={
                "dataset": getattr(self.dataset, "name", ""),
                "k": decision.k,
                "queries_without_relevant_documents": sum(not sample.relevant_ids for sample in samples),
            },
        )


@dataclass(frozen=True, slots=True)
class _Decision:
    """How a test is decided, checked before any retriever is asked."""

    k: int
    significance_level: float
    metric: str
    seed: int

    def __post_init__(self) -> None:
        checked_cutoff(self.k)
        checked_level(self.significance_level)
        checked_metric(self.metric)
