"""Retrieval: what a search system returned, measured against what people found relevant."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.retrieval.ab_results import ABTestResult, AggregatedMetrics, QueryPair
    from calibrant.retrieval.ab_testing import ABTestRunner, EvaluationDataset, EvaluationSample
    from calibrant.retrieval.batch import BatchEvaluator
    from calibrant.retrieval.calculator import RetrievalMetricsCalculator
    from calibrant.retrieval.context import ContextItem, SourceType
    from calibrant.retrieval.human import HumanEvaluationCollector, HumanJudgment
    from calibrant.retrieval.per_query import RetrieverFailure
    from calibrant.retrieval.pipeline import PipelineEvaluator
    from calibrant.retrieval.rag import LLMRAGEvaluator
    from calibrant.retrieval.results import EvaluationResult, RAGMetrics, RetrievalMetrics
    from calibrant.retrieval.retrievers import Retriever

__all__ = [
    "ABTestResult",
    "ABTestRunner",
    "AggregatedMetrics",
    "BatchEvaluator",
    "ContextItem",
    "EvaluationDataset",
    "EvaluationResult",
    "EvaluationSample",
    "HumanEvaluationCollector",
    "HumanJudgment",
    "LLMRAGEvaluator",
    "PipelineEvaluator",
    "QueryPair",
    "RAGMetrics",
    "RetrievalMetrics",
    "RetrievalMetricsCalculator",
    "Retriever",
    "RetrieverFailure",
    "SourceType",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "ABTestResult": "calibrant.retrieval.ab_results",
        "ABTestRunner": "calibrant.retrieval.ab_testing",
        "AggregatedMetrics": "calibrant.retrieval.ab_results",
        "BatchEvaluator": "calibrant.retrieval.batch",
        "ContextItem": "calibrant.retrieval.context",
        "EvaluationDataset": "calibrant.retrieval.ab_testing",
        "EvaluationResult": "calibrant.retrieval.results",
        "EvaluationSample": "calibrant.retrieval.ab_testing",
        "HumanEvaluationCollector": "calibrant.retrieval.human",
        "HumanJudgment": "calibrant.retrieval.human",
        "LLMRAGEvaluator": "calibrant.retrieval.rag",
        "PipelineEvaluator": "calibrant.retrieval.pipeline",
        "QueryPair": "calibrant.retrieval.ab_results",
        "RAGMetrics": "calibrant.retrieval.results",
        "RetrievalMetrics": "calibrant.retrieval.results",
        "RetrievalMetricsCalculator": "calibrant.retrieval.calculator",
        "Retriever": "calibrant.retrieval.retrievers",
        "RetrieverFailure": "calibrant.retrieval.per_query",
        "SourceType": "calibrant.retrieval.context",
    },
)
