"""Retrieval and answer of one query, evaluated together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError
from calibrant.retrieval.calculator import RetrievalMetricsCalculator
from calibrant.retrieval.results import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.retrieval.context import ContextItem
    from calibrant.retrieval.rag import LLMRAGEvaluator
    from calibrant.retrieval.results import RAGMetrics, RetrievalMetrics

__all__ = ["PipelineEvaluator"]


class PipelineEvaluator:
    """Evaluates what was retrieved and what was answered. Without a `rag_evaluator`, answers are not evaluated.

    >>> pipeline = PipelineEvaluator()
    >>> pipeline.evaluate("Is it open?", "Yes.", ["a"], ["a"], contexts=["Open daily."]).rag_metrics is None
    True
    """

    def __init__(
        self,
        *,
        retrieval_calculator: RetrievalMetricsCalculator | None = None,
        rag_evaluator: LLMRAGEvaluator | None = None,
    ) -> None:
        self.retrieval_calculator = retrieval_calculator or RetrievalMetricsCalculator()
        self.rag_evaluator = rag_evaluator

    def evaluate_retrieval(
        self, retrieved: Sequence[ContextItem | str | Any], relevant: Sequence[str], k: int = 10
    ) -> RetrievalMetrics:
        """The metrics of `retrieved`, best first, cut at `k`, whatever the calculator's own cutoff is."""
        return self.retrieval_calculator.evaluate(retrieved, relevant, k=k)

    def evaluate_rag(
        self, query: str, answer: str, contexts: Sequence[str], ground_truth: str | None = None
    ) -> RAGMetrics:
        """The metrics of `answer`; an error when this evaluator has no `rag_evaluator`."""
        if self.rag_evaluator is None:
            raise InputError(
                "no rag_evaluator was configured; pass PipelineEvaluator(rag_evaluator=LLMRAGEvaluator(...))"
            )
        return self.rag_evaluator.evaluate(query, answer, contexts, ground_truth=ground_truth)

    def evaluate(  # noqa: PLR0913, PLR0917 - the seed's signature
        self,
        query: str,
        answer: str,
        retrieved: Sequence[ContextItem | str | Any],
        relevant: Sequence[str],
        contexts: Sequence[str],
        ground_truth: str | None = None,
        k: int = 10,
        metadata: Mapping[str, Any] | None = None,
    ) -> EvaluationResult:
        """Both evaluations in one result; `rag_metrics` is None when this evaluator has no `rag_evaluator`."""
        has_rag = self.rag_evaluator is not None
        return EvaluationResult(
            retrieval_metrics=self.evaluate_retrieval(retrieved, relevant, k=k),
            rag_metrics=self.evaluate_rag(query, answer, contexts, ground_truth) if has_rag else None,
            metadata=dict(metadata or {}),
        )
