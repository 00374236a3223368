"""Alignment: whether a judge may stand in for people, measured against what people said."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.alignment.configuration import MetricConfig, MetricsConfig
    from calibrant.alignment.judges import JudgeConfig
    from calibrant.alignment.modes import TaskAggregationMode
    from calibrant.alignment.project import MetaEvaluator
    from calibrant.alignment.score_report import ScoreReport
    from calibrant.alignment.scorers.accuracy import AccuracyScorer
    from calibrant.alignment.scorers.base import BaseScorer
    from calibrant.alignment.scorers.kappa import CohensKappaScorer
    from calibrant.alignment.scorers.replacement import AltTestScorer
    from calibrant.alignment.scorers.semantic import SemanticSimilarityScorer
    from calibrant.alignment.scorers.text import TextSimilarityScorer
    from calibrant.alignment.scoring_result import BaseScoringResult
    from calibrant.alignment.tasks import EvalTask, MultiLabelSchema

__all__ = [
    "AccuracyScorer",
    "AltTestScorer",
    "BaseScorer",
    "BaseScoringResult",
    "CohensKappaScorer",
    "EvalTask",
    "JudgeConfig",
    "MetaEvaluator",
    "MetricConfig",
    "MetricsConfig",
    "MultiLabelSchema",
    "ScoreReport",
    "SemanticSimilarityScorer",
    "TaskAggregationMode",
    "TextSimilarityScorer",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "AccuracyScorer": "calibrant.alignment.scorers.accuracy",
        "AltTestScorer": "calibrant.alignment.scorers.replacement",
        "BaseScorer": "calibrant.alignment.scorers.base",
        "BaseScoringResult": "calibrant.alignment.scoring_result",
        "CohensKappaScorer": "calibrant.alignment.scorers.kappa",
        "EvalTask": "calibrant.alignment.tasks",
        "JudgeConfig": "calibrant.alignment.judges",
        "MetaEvaluator": "calibrant.alignment.project",
        "MetricConfig": "calibrant.alignment.configuration",
        "MetricsConfig": "calibrant.alignment.configuration",
        "MultiLabelSchema": "calibrant.alignment.tasks",
        "ScoreReport": "calibrant.alignment.score_report",
        "SemanticSimilarityScorer": "calibrant.alignment.scorers.semantic",
        "TaskAggregationMode": "calibrant.alignment.modes",
        "TextSimilarityScorer": "calibrant.alignment.scorers.text",
    },
)
