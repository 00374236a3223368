"""Calibrant measures systems built on language models, with instruments that it has checked first.

Importing this package runs nothing: every name below loads its module when it is first used.
"""

from calibrant._lazy import lazy_exports

TYPE_CHECKING = False  # importing typing would double what the import of this package costs
if TYPE_CHECKING:
    from calibrant.aggregation.combined import AggregationResult, MetricsAggregator, WeightedMetricsAggregator
    from calibrant.aggregation.juries import (
        AggregationMethod,
        AverageAggregationStrategy,
        MajorityVoteAggregationStrategy,
        MedianAggregationStrategy,
        build_aggregation_strategy,
    )
    from calibrant.aggregation.verdicts import score_agg
    from calibrant.agreement.correction import corrected_rate
    from calibrant.agreement.cube import RatingCube
    from calibrant.agreement.many_raters import krippendorff_alpha
    from calibrant.agreement.replacement import alt_test
    from calibrant.agreement.two_raters import cohens_kappa
    from calibrant.alignment.configuration import MetricConfig, MetricsConfig
    from calibrant.alignment.modes import TaskAggregationMode
    from calibrant.alignment.project import MetaEvaluator
    from calibrant.alignment.scorers.accuracy import AccuracyScorer
    from calibrant.alignment.scorers.base import BaseScorer
    from calibrant.alignment.scorers.kappa import CohensKappaScorer
    from calibrant.alignment.scorers.replacement import AltTestScorer
    from calibrant.alignment.scorers.semantic import SemanticSimilarityScorer
    from calibrant.alignment.scorers.text import TextSimilarityScorer
    from calibrant.alignment.scoring_result import BaseScoringResult
    from calibrant.errors import EvalError, InputError
    from calibrant.estimates import Coverage, Estimate
    from calibrant.items import Dataset, EvalInput
    from calibrant.metrics.base import BaseMetric
    from calibrant.metrics.claim_metrics import AnswerRelevancyMetric, CustomEvalMetric, FaithfulnessMetric
    from calibrant.metrics.criteria import GEvalMetric
    from calibrant.metrics.function import metric
    from calibrant.metrics.geval import GEvalCompletenessMetric, GEvalGroundednessMetric
    from calibrant.metrics.grounding_rule import GroundednessRule
    from calibrant.metrics.multi import MultiOutputBaseMetric
    from calibrant.metrics.pairwise import PairwiseMetric
    from calibrant.metrics.rubric import RubricMetric
    from calibrant.metrics.shipped import named_metric
    from calibrant.models.budgets import Budget
    from calibrant.models.connecting import connect
    from calibrant.models.costs import estimate_cost
    from calibrant.models.embedding import embed
    from calibrant.models.invoker import BaseLMInvoker
    from calibrant.models.replaying import ReplayInvoker
    from calibrant.models.scripted import ScriptedInvoker
    from calibrant.ratings import Failure, MetricOutput, MetricResult, MetricScore, Rating, Usage
    from calibrant.retrieval.ab_testing import ABTestRunner
    from calibrant.retrieval.batch import BatchEvaluator
    from calibrant.retrieval.calculator import RetrievalMetricsCalculator
    from calibrant.retrieval.comparison import compare_rankings
    from calibrant.retrieval.context import ContextItem
    from calibrant.retrieval.human import HumanEvaluationCollector, HumanJudgment
    from calibrant.retrieval.measures import measure
    from calibrant.retrieval.pipeline import PipelineEvaluator
    from calibrant.retrieval.qrels import read_qrels
    from calibrant.retrieval.rag import LLMRAGEvaluator
    from calibrant.retrieval.rankings import read_ranking
    from calibrant.runs.comparing import compare
    from calibrant.runs.engine import run, run_async
    from calibrant.runs.records import Run
    from calibrant.runs.settings import RunSettings
    from calibrant.store.workspace import Workspace

__version__ = "0.1.0"

__all__ = [
    "ABTestRunner",
    "AccuracyScorer",
    "AggregationMethod",
    "AggregationResult",
    "AltTestScorer",
    "AnswerRelevancyMetric",
    "AverageAggregationStrategy",
    "BaseLMInvoker",
    "BaseMetric",
    "BaseScorer",
    "BaseScoringResult",
    "BatchEvaluator",
    "Budget",
    "CohensKappaScorer",
    "ContextItem",
    "Coverage",
    "CustomEvalMetric",
    "Dataset",
    "Estimate",
    "EvalError",
    "EvalInput",
    "Failure",
    "FaithfulnessMetric",
    "GEvalCompletenessMetric",
    "GEvalGroundednessMetric",
    "GEvalMetric",
    "GroundednessRule",
    "HumanEvaluationCollector",
    "HumanJudgment",
    "InputError",
    "LLMRAGEvaluator",
    "MajorityVoteAggregationStrategy",
    "MedianAggregationStrategy",
    "MetaEvaluator",
    "MetricConfig",
    "MetricOutput",
    "MetricResult",
    "MetricScore",
    "MetricsAggregator",
    "MetricsConfig",
    "MultiOutputBaseMetric",
    "PairwiseMetric",
    "PipelineEvaluator",
    "Rating",
    "RatingCube",
    "ReplayInvoker",
    "RetrievalMetricsCalculator",
    "RubricMetric",
    "Run",
    "RunSettings",
    "ScriptedInvoker",
    "SemanticSimilarityScorer",
    "TaskAggregationMode",
    "TextSimilarityScorer",
    "Usage",
    "WeightedMetricsAggregator",
    "Workspace",
    "alt_test",
    "build_aggregation_strategy",
    "cohens_kappa",
    "compare",
    "compare_rankings",
    "connect",
    "corrected_rate",
    "embed",
    "estimate_cost",
    "krippendorff_alpha",
    "measure",
    "metric",
    "named_metric",
    "read_qrels",
    "read_ranking",
    "run",
    "run_async",
    "score_agg",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "ABTestRunner": "calibrant.retrieval.ab_testing",
        "AccuracyScorer": "calibrant.alignment.scorers.accuracy",
        "AggregationMethod": "calibrant.aggregation.juries",
        "AggregationResult": "calibrant.aggregation.combined",
        "AltTestScorer": "calibrant.alignment.scorers.replacement",
        "AnswerRelevancyMetric": "calibrant.metrics.claim_metrics",
        "AverageAggregationStrategy": "calibrant.aggregation.juries",
        "BaseLMInvoker": "calibrant.models.invoker",
        "BaseMetric": "calibrant.metrics.base",
        "BaseScorer": "calibrant.alignment.scorers.base",
        "BaseScoringResult": "calibrant.alignment.scoring_result",
        "BatchEvaluator": "calibrant.retrieval.batch",
        "Budget": "calibrant.models.budgets",
        "CohensKappaScorer": "calibrant.alignment.scorers.kappa",
        "ContextItem": "calibrant.retrieval.context",
        "Coverage": "calibrant.estimates",
        "CustomEvalMetric": "calibrant.metrics.claim_metrics",
        "Dataset": "calibrant.items",
        "Estimate": "calibrant.estimates",
        "EvalError": "calibrant.errors",
        "EvalInput": "calibrant.items",
        "Failure": "calibrant.ratings",
        "FaithfulnessMetric": "calibrant.metrics.claim_metrics",
        "GEvalCompletenessMetric": "calibrant.metrics.geval",
        "GEvalGroundednessMetric": "calibrant.metrics.geval",
        "GEvalMetric": "calibrant.metrics.criteria",
        "GroundednessRule": "calibrant.metrics.grounding_rule",
        "HumanEvaluationCollector": "calibrant.retrieval.human",
        "HumanJudgment": "calibrant.retrieval.human",
        "InputError": "calibrant.errors",
        "LLMRAGEvaluator": "calibrant.retrieval.rag",
        "MajorityVoteAggregationStrategy": "calibrant.aggregation.juries",
        "MedianAggregationStrategy": "calibrant.aggregation.juries",
        "MetaEvaluator": "calibrant.alignment.project",
        "MetricConfig": "calibrant.alignment.configuration",
        "MetricOutput": "calibrant.ratings",
        "MetricResult": "calibrant.ratings",
        "MetricScore": "calibrant.ratings",
        "MetricsAggregator": "calibrant.aggregation.combined",
        "MetricsConfig": "calibrant.alignment.configuration",
        "MultiOutputBaseMetric": "calibrant.metrics.multi",
        "PairwiseMetric": "calibrant.metrics.pairwise",
        "PipelineEvaluator": "calibrant.retrieval.pipeline",
        "Rating": "calibrant.ratings",
        "RatingCube": "calibrant.agreement.cube",
        "ReplayInvoker": "calibrant.models.replaying",
        "RetrievalMetricsCalculator": "calibrant.retrieval.calculator",
        "RubricMetric": "calibrant.metrics.rubric",
        "Run": "calibrant.runs.records",
        "RunSettings": "calibrant.runs.settings",
        "ScriptedInvoker": "calibrant.models.scripted",
        "SemanticSimilarityScorer": "calibrant.alignment.scorers.semantic",
        "TaskAggregationMode": "calibrant.alignment.modes",
        "TextSimilarityScorer": "calibrant.alignment.scorers.text",
        "Usage": "calibrant.ratings",
        "WeightedMetricsAggregator": "calibrant.aggregation.combined",
        "Workspace": "calibrant.store.workspace",
        "alt_test": "calibrant.agreement.replacement",
        "build_aggregation_strategy": "calibrant.aggregation.juries",
        "cohens_kappa": "calibrant.agreement.two_raters",
        "compare": "calibrant.runs.comparing",
        "compare_rankings": "calibrant.retrieval.comparison",
        "connect": "calibrant.models.connecting",
        "corrected_rate": "calibrant.agreement.correction",
        "embed": "calibrant.models.embedding",
        "estimate_cost": "calibrant.models.costs",
        "krippendorff_alpha": "calibrant.agreement.many_raters",
        "measure": "calibrant.retrieval.measures",
        "metric": "calibrant.metrics.function",
        "named_metric": "calibrant.metrics.shipped",
        "read_qrels": "calibrant.retrieval.qrels",
        "read_ranking": "calibrant.retrieval.rankings",
        "run": "calibrant.runs.engine",
        "run_async": "calibrant.runs.engine",
        "score_agg": "calibrant.aggregation.verdicts",
    },
)
