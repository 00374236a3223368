"""Cohen's kappa: agreement with people beyond what chance would give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from calibrant.agreement import Measure, against_each
from calibrant.agreement.published import interpreted
from calibrant.alignment.scorers.built_in import BuiltInScorer, bounds_of, is_single_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.alignment.scorers.comparisons import Comparison
    from calibrant.alignment.scoring_result import BaseScoringResult
    from calibrant.ratings import Value

__all__ = ["CohensKappaScorer"]


class CohensKappaScorer(BuiltInScorer):
    """The mean of the judge's kappas with each person, from -1 to 1, in words and with what it is made of.

    Needs two people. `weights` ("linear", "quadratic") count near answers in part, and need the `order` of labels.
    """

    score_name = "kappa"
    supports_majority = False
    min_human_annotators = 2

    def __init__(
        self, *, weights: Literal["linear", "quadratic"] | None = None, order: Sequence[Value] | None = None
    ) -> None:
        super().__init__(scorer_name="cohens_kappa")
        Measure(name="kappa", weights=weights, order=order)
        self.weights: Literal["linear", "quadratic"] | None = weights
        self.order = order

    def can_score_task(self, sample_label: Any) -> bool:
        """Whether the label is one text or number: sets of labels have no kappa."""
        return is_single_label(sample_label)

    @property
    def measure(self) -> Measure:
        """Cohen's kappa, weighted if it was asked for so."""
        return Measure(name="kappa", weights=self.weights, order=self.order)

    async def score(self, comparison: Comparison) -> BaseScoringResult:
        """The mean kappa over people; one for whom it is not defined is left out and named."""
        measure = self.measure
        each = against_each(comparison.cube, comparison.judge, measure, humans=comparison.active_humans)
        average = each.average
        metadata = {
            "observed_agreement": average.observed,
            "expected_agreement": average.expected,
            "prevalence": average.to_json()["prevalence"],
            "by_annotator": {comparison.person(name): one.to_json() for name, one in each.each.items()},
            "left_out": {comparison.person(name): reason for name, reason in each.left_out.items()},
            **bounds_of(comparison, measure),
        }
        word = None if average.value is None else interpreted(average.value)
        return self.result(comparison, average, metadata=metadata, details={"interpretation": word})
