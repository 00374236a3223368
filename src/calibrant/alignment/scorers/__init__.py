"""Scorers: ways to compare a judge with people, and what a scorer of your own builds on."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.alignment.modes import TaskAggregationMode
    from calibrant.alignment.scorers.accuracy import AccuracyScorer
    from calibrant.alignment.scorers.base import BaseScorer
    from calibrant.alignment.scorers.kappa import CohensKappaScorer
    from calibrant.alignment.scorers.replacement import AltTestScorer
    from calibrant.alignment.scorers.semantic import SemanticSimilarityScorer
    from calibrant.alignment.scorers.text import TextSimilarityScorer
    from calibrant.alignment.scoring_result import BaseScoringResult

__all__ = [
    "AccuracyScorer",
    "AltTestScorer",
    "BaseScorer",
    "BaseScoringResult",
    "CohensKappaScorer",
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
        "SemanticSimilarityScorer": "calibrant.alignment.scorers.semantic",
        "TaskAggregationMode": "calibrant.alignment.modes",
        "TextSimilarityScorer": "calibrant.alignment.scorers.text",
    },
)
