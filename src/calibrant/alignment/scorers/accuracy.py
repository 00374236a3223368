"""Accuracy: how often the judge says what people say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant.agreement import against_each, against_majority
from calibrant.agreement.voting import TIES
from calibrant.alignment.scorers.built_in import BuiltInScorer, bounds_of, is_single_label
from calibrant.alignment.scorers.label_sets import majority_sets
from calibrant.errors import UnknownNameError

if TYPE_CHECKING:
    from calibrant.agreement import Coefficient
    from calibrant.alignment.scorers.comparisons import Comparison
    from calibrant.alignment.scoring_result import BaseScoringResult

__all__ = ["AccuracyScorer"]


class AccuracyScorer(BuiltInScorer):
    """The share of items on which judge and person agree, from 0 to 1; sets of labels agree when they are equal.

    Against a majority, tied answers go to the first of them in the alphabet; `ties="abstain"` leaves the item out.
    Several labels are voted on position by position. Ties are counted in the metadata.
    """

    score_name = "accuracy"

    def __init__(self, *, ties: Literal["first", "abstain"] = "first") -> None:
        super().__init__(scorer_name="accuracy")
        if ties not in TIES:
            raise UnknownNameError.among("policy for ties", ties, TIES)
        self.ties: Literal["first", "abstain"] = ties

    def can_score_task(self, sample_label: Any) -> bool:
        """Whether the label is a text, a number, or a list of them."""
        if isinstance(sample_label, list | tuple | set | frozenset):
            return all(is_single_label(one) for one in sample_label)
        return is_single_label(sample_label)

    async def score(self, comparison: Comparison) -> BaseScoringResult:
        """The accuracy against each person and its mean, or against the majority."""
        found = self._by_majority(comparison) if comparison.by_majority else self._by_person(comparison)
        total, correct = found[1]
        metadata: dict[str, Any] = {"prevalence": found[0].to_json()["prevalence"]}
        if comparison.by_majority:
            metadata |= {"ties": found[0].ties, "abstained": found[0].abstained}
        else:
            metadata |= {"by_annotator": found[2], **bounds_of(comparison, "accuracy")}
        details = {"total_instances": total, "correct_instances": correct}
        return self.result(comparison, found[0], metadata=metadata, details=details)

    def _by_person(self, comparison: Comparison) -> tuple[Coefficient, tuple[int, int], dict[str, Any]]:
        people = comparison.active_humans
        each = against_each(comparison.cube, comparison.judge, "accuracy", humans=people)
        judged = comparison.cube.of_rater(comparison.judge)
        rows = np.stack([comparison.cube.of_rater(name) for name in people])
        both = (rows >= 0) & (judged >= 0)
        counts = int(both.sum()), int((both & (rows == judged)).sum())
        return each.average, counts, {comparison.person(name): one.value for name, one in each.each.items()}

    def _by_majority(self, comparison: Comparison) -> tuple[Coefficient, tuple[int, int], dict[str, Any]]:
        people, positions = comparison.active_humans, comparison.labels.positions
        if len(positions) > 1:
            cube, ties, abstained = majority_sets(positions, comparison.judge, people, self.ties)
            found = against_each(cube, comparison.judge, "accuracy", humans=["majority"]).each["majority"]
            found = replace(found, ties=ties, abstained=abstained)
        else:
            found = against_majority(comparison.cube, comparison.judge, "accuracy", humans=people, ties=self.ties)
        return found, (found.n, round((found.value or 0.0) * found.n)), {}
