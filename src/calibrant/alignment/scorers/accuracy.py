"""Accuracy: how often the judge says what people say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant.agreement import Measure, against_each, majority
from calibrant.agreement.voting import TIES, with_votes
from calibrant.alignment.scorers.built_in import BuiltInScorer, bounds_of, is_single_label
from calibrant.alignment.scorers.label_sets import votes_by_position
from calibrant.errors import UnknownNameError

if TYPE_CHECKING:
    from calibrant.agreement import Majority
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

    @property
    def measure(self) -> Measure:
        """Accuracy."""
        return Measure(name="accuracy")

    async def score(self, comparison: Comparison) -> BaseScoringResult:
        """The accuracy against each person and its mean, or against the majority."""
        return self._by_majority(comparison) if comparison.by_majority else self._by_person(comparison)

    def _by_person(self, comparison: Comparison) -> BaseScoringResult:
        people = comparison.active_humans
        each = against_each(comparison.cube, comparison.judge, "accuracy", humans=people)
        judged = comparison.cube.of_rater(comparison.judge)
        rows = np.stack([comparison.cube.of_rater(name) for name in people])
        both = (rows >= 0) & (judged >= 0)
        metadata = {
            "prevalence": each.average.to_json()["prevalence"],
            "by_annotator": {comparison.person(name): one.to_json() for name, one in each.each.items()},
            **bounds_of(comparison, "accuracy"),
        }
        details = {"total_instances": int(both.sum()), "correct_instances": int((both & (rows == judged)).sum())}
        return self.result(comparison, each.average, metadata=metadata, details=details)

    def _by_majority(self, comparison: Comparison) -> BaseScoringResult:
        votes = self._votes(comparison)
        cube = with_votes(comparison.cube, {"majority": votes[""]})
        found = against_each(cube, comparison.judge, "accuracy", humans=["majority"]).average
        metadata = {
            "prevalence": found.to_json()["prevalence"],
            "ties": votes[""].ties,
            "abstained": votes[""].abstained,
            **bounds_of(comparison, "accuracy", votes=votes),
        }
        details = {"total_instances": found.n, "correct_instances": round((found.value or 0.0) * found.n)}
        return self.result(comparison, found, metadata=metadata, details=details)

    def _votes(self, comparison: Comparison) -> dict[str, Majority]:
        """The vote of all people, under "", and that of all but one, under the one's name."""
        people, positions = comparison.active_humans, comparison.labels.positions
        voters = {"": list(people)}
        if len(people) > 1:
            voters |= {name: [other for other in people if other != name] for name in people}
        if len(positions) > 1:
            return {name: votes_by_position(positions, comparison.cube, who, self.ties) for name, who in voters.items()}
        return {name: majority(comparison.cube, who, ties=self.ties) for name, who in voters.items()}
