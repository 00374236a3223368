"""Metrics: code that turns an item into a result by asking one or more raters."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.metrics.base import BaseMetric
    from calibrant.metrics.criteria import GEvalMetric
    from calibrant.metrics.fences import workspace_secret
    from calibrant.metrics.function import FunctionMetric, metric
    from calibrant.metrics.geval import (
        GEvalCoherenceMetric,
        GEvalCompletenessMetric,
        GEvalConsistencyMetric,
        GEvalContextSufficiencyMetric,
        GEvalFluencyMetric,
        GEvalGroundednessMetric,
        GEvalLanguageConsistencyMetric,
        GEvalRedundancyMetric,
        GEvalRefusalAlignmentMetric,
        GEvalRefusalMetric,
        GEvalRelevanceMetric,
    )
    from calibrant.metrics.judges import copy_invoker_with_schema, resolve_primary_invoker
    from calibrant.metrics.multi import MultiOutputBaseMetric
    from calibrant.metrics.repeats import Stability, flip_rate, stability
    from calibrant.metrics.rubric import RubricMetric
    from calibrant.metrics.rubric_files import read_rubric, rubric_names, rubric_text
    from calibrant.metrics.rubric_record import Rubric, RubricExample
    from calibrant.ratings import MetricOutput, MetricResult, MetricScore

__all__ = [
    "BaseMetric",
    "FunctionMetric",
    "GEvalCoherenceMetric",
    "GEvalCompletenessMetric",
    "GEvalConsistencyMetric",
    "GEvalContextSufficiencyMetric",
    "GEvalFluencyMetric",
    "GEvalGroundednessMetric",
    "GEvalLanguageConsistencyMetric",
    "GEvalMetric",
    "GEvalRedundancyMetric",
    "GEvalRefusalAlignmentMetric",
    "GEvalRefusalMetric",
    "GEvalRelevanceMetric",
    "MetricOutput",
    "MetricResult",
    "MetricScore",
    "MultiOutputBaseMetric",
    "Rubric",
    "RubricExample",
    "RubricMetric",
    "Stability",
    "copy_invoker_with_schema",
    "flip_rate",
    "metric",
    "read_rubric",
    "resolve_primary_invoker",
    "rubric_names",
    "rubric_text",
    "stability",
    "workspace_secret",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "BaseMetric": "calibrant.metrics.base",
        "FunctionMetric": "calibrant.metrics.function",
        "GEvalCoherenceMetric": "calibrant.metrics.geval",
        "GEvalCompletenessMetric": "calibrant.metrics.geval",
        "GEvalConsistencyMetric": "calibrant.metrics.geval",
        "GEvalContextSufficiencyMetric": "calibrant.metrics.geval",
        "GEvalFluencyMetric": "calibrant.metrics.geval",
        "GEvalGroundednessMetric": "calibrant.metrics.geval",
        "GEvalLanguageConsistencyMetric": "calibrant.metrics.geval",
        "GEvalMetric": "calibrant.metrics.criteria",
        "GEvalRedundancyMetric": "calibrant.metrics.geval",
        "GEvalRefusalAlignmentMetric": "calibrant.metrics.geval",
        "GEvalRefusalMetric": "calibrant.metrics.geval",
        "GEvalRelevanceMetric": "calibrant.metrics.geval",
        "MetricOutput": "calibrant.ratings",
        "MetricResult": "calibrant.ratings",
        "MetricScore": "calibrant.ratings",
        "MultiOutputBaseMetric": "calibrant.metrics.multi",
        "Rubric": "calibrant.metrics.rubric_record",
        "RubricExample": "calibrant.metrics.rubric_record",
        "RubricMetric": "calibrant.metrics.rubric",
        "Stability": "calibrant.metrics.repeats",
        "copy_invoker_with_schema": "calibrant.metrics.judges",
        "flip_rate": "calibrant.metrics.repeats",
        "metric": "calibrant.metrics.function",
        "read_rubric": "calibrant.metrics.rubric_files",
        "resolve_primary_invoker": "calibrant.metrics.judges",
        "rubric_names": "calibrant.metrics.rubric_files",
        "rubric_text": "calibrant.metrics.rubric_files",
        "stability": "calibrant.metrics.repeats",
        "workspace_secret": "calibrant.metrics.fences",
    },
)
