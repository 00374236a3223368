"""Retrieval: what a search system returned, measured against what people found relevant."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.retrieval.ab_results import ABTestResult, AggregatedMetrics, QueryPair
    from calibrant.retrieval.ab_testing import ABTestRunner, EvaluationDataset, EvaluationSample
    from calibrant.retrieval.batch import BatchEvaluator
    from calibrant.retrieval.calculator import RetrievalMetricsCalculator
    from calibrant.retrieval.compared import Deciding, RankingComparison, SystemPair
    from calibrant.retrieval.comparison import compare_rankings, compare_results
    from calibrant.retrieval.context import ContextItem, SourceType
    from calibrant.retrieval.conventions import CONVENTIONS, Conventions
    from calibrant.retrieval.human import HumanEvaluationCollector, HumanJudgment
    from calibrant.retrieval.measured import MeasureResult
    from calibrant.retrieval.measures import measure
    from calibrant.retrieval.notation import Measure, UserMeasure
    from calibrant.retrieval.per_query import RetrieverFailure
    from calibrant.retrieval.pipeline import PipelineEvaluator
    from calibrant.retrieval.qrels import Qrels, read_qrels
    from calibrant.retrieval.rag import LLMRAGEvaluator
    from calibrant.retrieval.rankings import Ranking, read_ranking
    from calibrant.retrieval.results import EvaluationResult, RAGMetrics, RetrievalMetrics
    from calibrant.retrieval.retrievers import Retriever

__all__ = [
    "ABTestResult",
    "ABTestRunner",
    "AggregatedMetrics",
    "BatchEvaluator",
    "CONVENTIONS",
    "ContextItem",
    "Conventions",
    "Deciding",
    "EvaluationDataset",
    "EvaluationResult",
    "EvaluationSample",
    "HumanEvaluationCollector",
    "HumanJudgment",
    "LLMRAGEvaluator",
    "Measure",
    "MeasureResult",
    "PipelineEvaluator",
    "Qrels",
    "QueryPair",
    "RAGMetrics",
    "Ranking",
    "RankingComparison",
    "RetrievalMetrics",
    "RetrievalMetricsCalculator",
    "Retriever",
    "RetrieverFailure",
    "SourceType",
    "SystemPair",
    "UserMeasure",
    "compare_rankings",
    "compare_results",
    "measure",
    "read_qrels",
    "read_ranking",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "ABTestResult": "calibrant.retrieval.ab_results",
        "ABTestRunner": "calibrant.retrieval.ab_testing",
        "AggregatedMetrics": "calibrant.retrieval.ab_results",
        "BatchEvaluator": "calibrant.retrieval.batch",
        "CONVENTIONS": "calibrant.retrieval.conventions",
        "ContextItem": "calibrant.retrieval.context",
        "Conventions": "calibrant.retrieval.conventions",
        "Deciding": "calibrant.retrieval.compared",
        "EvaluationDataset": "calibrant.retrieval.ab_testing",
        "EvaluationResult": "calibrant.retrieval.results",
        "EvaluationSample": "calibrant.retrieval.ab_testing",
        "HumanEvaluationCollector": "calibrant.retrieval.human",
        "HumanJudgment": "calibrant.retrieval.human",
        "LLMRAGEvaluator": "calibrant.retrieval.rag",
        "Measure": "calibrant.retrieval.notation",
        "MeasureResult": "calibrant.retrieval.measured",
        "PipelineEvaluator": "calibrant.retrieval.pipeline",
        "Qrels": "calibrant.retrieval.qrels",
        "QueryPair": "calibrant.retrieval.ab_results",
        "RAGMetrics": "calibrant.retrieval.results",
        "Ranking": "calibrant.retrieval.rankings",
        "RankingComparison": "calibrant.retrieval.compared",
        "RetrievalMetrics": "calibrant.retrieval.results",
        "RetrievalMetricsCalculator": "calibrant.retrieval.calculator",
        "Retriever": "calibrant.retrieval.retrievers",
        "RetrieverFailure": "calibrant.retrieval.per_query",
        "SourceType": "calibrant.retrieval.context",
        "SystemPair": "calibrant.retrieval.compared",
        "UserMeasure": "calibrant.retrieval.notation",
        "compare_rankings": "calibrant.retrieval.comparison",
        "compare_results": "calibrant.retrieval.comparison",
        "measure": "calibrant.retrieval.measures",
        "read_qrels": "calibrant.retrieval.qrels",
        "read_ranking": "calibrant.retrieval.rankings",
    },
)
