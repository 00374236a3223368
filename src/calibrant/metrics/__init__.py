"""Metrics: code that turns an item into a result by asking one or more raters."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.metrics.base import BaseMetric
    from calibrant.metrics.claim_metrics import (
        AnswerRelevancyMetric,
        BiasMetric,
        ContextualPrecisionMetric,
        ContextualRecallMetric,
        ContextualRelevancyMetric,
        CustomEvalMetric,
        FaithfulnessMetric,
        ToxicityMetric,
    )
    from calibrant.metrics.claims import ClaimMetric
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
    from calibrant.metrics.grounding_rule import GroundednessRule
    from calibrant.metrics.json_rules import JSONEqualityMetric, JSONSchemaMetric
    from calibrant.metrics.judges import copy_invoker_with_schema, resolve_primary_invoker
    from calibrant.metrics.multi import MultiOutputBaseMetric
    from calibrant.metrics.repeats import Stability, flip_rate, stability
    from calibrant.metrics.rubric import RubricMetric
    from calibrant.metrics.rubric_files import read_rubric, rubric_names, rubric_text
    from calibrant.metrics.rubric_record import Rubric, RubricExample
    from calibrant.metrics.shipped import SHIPPED_METRICS, named_metric
    from calibrant.metrics.similarity import (
        EditSimilarityMetric,
        RougeLMetric,
        SemanticSimilarityMetric,
        TextSimilarityMetric,
        common_subsequence,
        edit_distance,
        matching_ratio,
    )
    from calibrant.metrics.text import (
        ContainsMetric,
        ExactMatchMetric,
        LengthMetric,
        NumericMetric,
        RegexMetric,
        TextRule,
    )
    from calibrant.ratings import MetricOutput, MetricResult, MetricScore

__all__ = [
    "AnswerRelevancyMetric",
    "BaseMetric",
    "BiasMetric",
    "ClaimMetric",
    "ContainsMetric",
    "ContextualPrecisionMetric",
    "ContextualRecallMetric",
    "ContextualRelevancyMetric",
    "CustomEvalMetric",
    "EditSimilarityMetric",
    "ExactMatchMetric",
    "FaithfulnessMetric",
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
    "GroundednessRule",
    "JSONEqualityMetric",
    "JSONSchemaMetric",
    "LengthMetric",
    "MetricOutput",
    "MetricResult",
    "MetricScore",
    "MultiOutputBaseMetric",
    "NumericMetric",
    "RegexMetric",
    "RougeLMetric",
    "Rubric",
    "RubricExample",
    "RubricMetric",
    "SHIPPED_METRICS",
    "SemanticSimilarityMetric",
    "Stability",
    "TextRule",
    "TextSimilarityMetric",
    "ToxicityMetric",
    "common_subsequence",
    "copy_invoker_with_schema",
    "edit_distance",
    "flip_rate",
    "matching_ratio",
    "metric",
    "named_metric",
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
        "AnswerRelevancyMetric": "calibrant.metrics.claim_metrics",
        "BaseMetric": "calibrant.metrics.base",
        "BiasMetric": "calibrant.metrics.claim_metrics",
        "ClaimMetric": "calibrant.metrics.claims",
        "ContainsMetric": "calibrant.metrics.text",
        "ContextualPrecisionMetric": "calibrant.metrics.claim_metrics",
        "ContextualRecallMetric": "calibrant.metrics.claim_metrics",
        "ContextualRelevancyMetric": "calibrant.metrics.claim_metrics",
        "CustomEvalMetric": "calibrant.metrics.claim_metrics",
        "EditSimilarityMetric": "calibrant.metrics.similarity",
        "ExactMatchMetric": "calibrant.metrics.text",
        "FaithfulnessMetric": "calibrant.metrics.claim_metrics",
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
        "GroundednessRule": "calibrant.metrics.grounding_rule",
        "JSONEqualityMetric": "calibrant.metrics.json_rules",
        "JSONSchemaMetric": "calibrant.metrics.json_rules",
        "LengthMetric": "calibrant.metrics.text",
        "MetricOutput": "calibrant.ratings",
        "MetricResult": "calibrant.ratings",
        "MetricScore": "calibrant.ratings",
        "MultiOutputBaseMetric": "calibrant.metrics.multi",
        "NumericMetric": "calibrant.metrics.text",
        "RegexMetric": "calibrant.metrics.text",
        "RougeLMetric": "calibrant.metrics.similarity",
        "Rubric": "calibrant.metrics.rubric_record",
        "RubricExample": "calibrant.metrics.rubric_record",
        "RubricMetric": "calibrant.metrics.rubric",
        "SHIPPED_METRICS": "calibrant.metrics.shipped",
        "SemanticSimilarityMetric": "calibrant.metrics.similarity",
        "Stability": "calibrant.metrics.repeats",
        "TextRule": "calibrant.metrics.text",
        "TextSimilarityMetric": "calibrant.metrics.similarity",
        "ToxicityMetric": "calibrant.metrics.claim_metrics",
        "common_subsequence": "calibrant.metrics.similarity",
        "copy_invoker_with_schema": "calibrant.metrics.judges",
        "edit_distance": "calibrant.metrics.similarity",
        "flip_rate": "calibrant.metrics.repeats",
        "matching_ratio": "calibrant.metrics.similarity",
        "metric": "calibrant.metrics.function",
        "named_metric": "calibrant.metrics.shipped",
        "read_rubric": "calibrant.metrics.rubric_files",
        "resolve_primary_invoker": "calibrant.metrics.judges",
        "rubric_names": "calibrant.metrics.rubric_files",
        "rubric_text": "calibrant.metrics.rubric_files",
        "stability": "calibrant.metrics.repeats",
        "workspace_secret": "calibrant.metrics.fences",
    },
)
