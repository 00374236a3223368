"""The shipped rubrics as classes."""

from __future__ import annotations

from typing import Any, ClassVar

from calibrant.metrics.rubric import RubricMetric

__all__ = [
    "GEvalCoherenceMetric",
    "GEvalCompletenessMetric",
    "GEvalConsistencyMetric",
    "GEvalContextSufficiencyMetric",
    "GEvalFluencyMetric",
    "GEvalGroundednessMetric",
    "GEvalLanguageConsistencyMetric",
    "GEvalRedundancyMetric",
    "GEvalRefusalAlignmentMetric",
    "GEvalRefusalMetric",
    "GEvalRelevanceMetric",
    "ShippedRubricMetric",
]


class ShippedRubricMetric(RubricMetric):
    """A shipped rubric as a class; `rubric_name` is its file. Settings are those of RubricMetric."""

    rubric_name: ClassVar[str]

    def __init__(self, **settings: Any) -> None:
        super().__init__(self.rubric_name, **settings)


class GEvalCompletenessMetric(ShippedRubricMetric):
    """How much of what the reference answer says in reply to the question is in the answer.

    >>> from calibrant import ScriptedInvoker
    >>> my_invoker = ScriptedInvoker({"explanation": "Nothing is missing.", "score": 3})
    >>> metric = GEvalCompletenessMetric(models=[my_invoker] * 3)
    >>> metric.num_judges, sorted(metric.required_fields)
    (3, ['answer', 'ground_truth', 'query'])
    """

    rubric_name = "completeness"
    name = "completeness"
    required_fields = frozenset({"query", "answer", "ground_truth"})


class GEvalGroundednessMetric(ShippedRubricMetric):
    """Whether what the answer states is supported by its contexts."""

    rubric_name = "groundedness"
    name = "groundedness"
    required_fields = frozenset({"answer", "contexts"})


class GEvalRedundancyMetric(ShippedRubricMetric):
    """How much of the answer is said twice or could be left out. Lower is better."""

    rubric_name = "redundancy"
    name = "redundancy"
    required_fields = frozenset({"query", "answer"})
    higher_is_better = False


class GEvalLanguageConsistencyMetric(ShippedRubricMetric):
    """Whether the answer is in the language of the question, or in the one that it asks for."""

    rubric_name = "language_consistency"
    name = "language_consistency"
    required_fields = frozenset({"query", "answer"})


class GEvalRefusalMetric(ShippedRubricMetric):
    """Whether the answer refuses what was asked. Lower is better: 1.0 is an answer that refuses all of it."""

    rubric_name = "refusal"
    name = "refusal"
    required_fields = frozenset({"query", "answer"})
    higher_is_better = False


class GEvalRefusalAlignmentMetric(ShippedRubricMetric):
    """Whether the answer refuses exactly when the reference answer does."""

    rubric_name = "refusal_alignment"
    name = "refusal_alignment"
    required_fields = frozenset({"query", "answer", "ground_truth"})


class GEvalContextSufficiencyMetric(ShippedRubricMetric):
    """Whether the contexts suffice to answer the question."""

    rubric_name = "context_sufficiency"
    name = "context_sufficiency"
    required_fields = frozenset({"query", "contexts"})


class GEvalCoherenceMetric(ShippedRubricMetric):
    """Whether a summary hangs together as one text."""

    rubric_name = "coherence"
    name = "coherence"
    required_fields = frozenset({"answer", "contexts"})


class GEvalConsistencyMetric(ShippedRubricMetric):
    """Whether a summary states only what its source states."""

    rubric_name = "consistency"
    name = "consistency"
    required_fields = frozenset({"answer", "contexts"})


class GEvalFluencyMetric(ShippedRubricMetric):
    """Whether a text is well-formed, sentence by sentence."""

    rubric_name = "fluency"
    name = "fluency"
    required_fields = frozenset({"answer"})


class GEvalRelevanceMetric(ShippedRubricMetric):
    """Whether a summary has what matters in its source."""

    rubric_name = "relevance"
    name = "relevance"
    required_fields = frozenset({"answer", "contexts"})
