"""Every shipped metric by the name that a plan gives it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant.errors import UnknownNameError, WrongTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.metrics.base import BaseMetric

__all__ = ["SHIPPED_METRICS", "named_metric"]

_MODULES: Mapping[str, Mapping[str, str]] = {
    "calibrant.metrics.geval": {
        "coherence": "GEvalCoherenceMetric",
        "completeness": "GEvalCompletenessMetric",
        "consistency": "GEvalConsistencyMetric",
        "context_sufficiency": "GEvalContextSufficiencyMetric",
        "fluency": "GEvalFluencyMetric",
        "groundedness": "GEvalGroundednessMetric",
        "language_consistency": "GEvalLanguageConsistencyMetric",
        "redundancy": "GEvalRedundancyMetric",
        "refusal": "GEvalRefusalMetric",
        "refusal_alignment": "GEvalRefusalAlignmentMetric",
        "relevance": "GEvalRelevanceMetric",
    },
    "calibrant.metrics.criteria": {"g_eval": "GEvalMetric"},
    "calibrant.metrics.claim_metrics": {
        "answer_relevancy": "AnswerRelevancyMetric",
        "bias": "BiasMetric",
        "contextual_precision": "ContextualPrecisionMetric",
        "contextual_recall": "ContextualRecallMetric",
        "contextual_relevancy": "ContextualRelevancyMetric",
        "custom_eval": "CustomEvalMetric",
        "faithfulness": "FaithfulnessMetric",
        "toxicity": "ToxicityMetric",
    },
    "calibrant.metrics.text": {
        "contains": "ContainsMetric",
        "exact_match": "ExactMatchMetric",
        "length": "LengthMetric",
        "numeric": "NumericMetric",
        "regex": "RegexMetric",
    },
    "calibrant.metrics.json_rules": {"json_equality": "JSONEqualityMetric", "json_schema": "JSONSchemaMetric"},
    "calibrant.metrics.similarity": {
        "edit_similarity": "EditSimilarityMetric",
        "rouge_l": "RougeLMetric",
        "semantic_similarity": "SemanticSimilarityMetric",
        "text_similarity": "TextSimilarityMetric",
    },
    "calibrant.metrics.pairwise": {"pairwise": "PairwiseMetric"},
    "calibrant.metrics.ranking": {"pytrec_metric": "PyTrecMetric", "top_k_accuracy": "TopKAccuracy"},
    "calibrant.metrics.grounding_rule": {"groundedness_rule": "GroundednessRule"},
}

SHIPPED_METRICS: Mapping[str, tuple[str, str]] = {
    name: (module, made) for module, names in _MODULES.items() for name, made in names.items()
}
"""The module and the class behind every name."""


def named_metric(name: str, /, **settings: Any) -> BaseMetric:
    """The shipped metric called `name`, with `settings`; an unknown name or setting is an error that says which.

    >>> named_metric("faithfulness", threshold=0.9).threshold
    0.9
    """
    if name not in SHIPPED_METRICS:
        raise UnknownNameError.among("metric", name, SHIPPED_METRICS)
    module, made = SHIPPED_METRICS[name]
    metric_class = getattr(import_module(module), made)
    try:
        return metric_class(**settings)
    except WrongTypeError:
        raise
    except TypeError as error:
        raise WrongTypeError(f"metric {name!r} cannot be made with these settings: {error}") from None
