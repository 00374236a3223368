"""Majority over labels: which label most raters gave, and what happens when two are level."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from calibrant.aggregation.juries import AggregationMethod, BaseJudgeAggregator, label_text
from calibrant.errors import InputError, RatingError, UnknownNameError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from calibrant.ratings import MetricOutput

__all__ = ["LabelMajorityAggregationStrategy", "LabelVote", "TiePolicy", "majority_label"]

TiePolicy = Literal["first", "abstain"]
"""On a tie: the alphabetically first of the leading labels, or none."""


class LabelVote(NamedTuple):
    """What a vote over labels came to: the label (None if abstained), how many gave each, and the leading ones."""

    label: str | None
    counts: Mapping[str, int]
    leading: Sequence[str]

    @property
    def tied(self) -> bool:
        """Whether several labels were given equally often."""
        return len(self.leading) > 1


def majority_label(labels: Iterable[str], *, ties: TiePolicy = "first") -> LabelVote:
    """The label given most often; on a tie the alphabetically first one, or None with `ties="abstain"`.

    It does not depend on the order of the labels. Raises ValueError when there are none.

    >>> majority_label(["b", "a", "b"]).label, majority_label(["b", "a"]).label
    ('b', 'a')
    >>> majority_label(["b", "a"], ties="abstain").label is None
    True
    """
    if ties not in ("first", "abstain"):
        raise UnknownNameError.among("tie policy", ties, ["first", "abstain"])
    counts = Counter(labels)
    if not counts:
        raise InputError("there are no labels to take a majority of")
    most = max(counts.values())
    leading = sorted(label for label, count in counts.items() if count == most)
    label = None if len(leading) > 1 and ties == "abstain" else leading[0]
    return LabelVote(label, {name: counts[name] for name in sorted(counts)}, leading)


class LabelMajorityAggregationStrategy(BaseJudgeAggregator):
    """A jury whose judges give labels: the majority's, under a named policy for ties."""

    def __init__(self, ties: TiePolicy = "first") -> None:
        if ties not in ("first", "abstain"):
            raise UnknownNameError.among("tie policy", ties, ["first", "abstain"])
        self.ties: TiePolicy = ties

    @property
    def strategy(self) -> AggregationMethod:
        """The identifier `majority_vote`."""
        return AggregationMethod.MAJORITY_VOTE

    def aggregate(self, all_results: list[MetricOutput], total_judges: int) -> MetricOutput:
        """The first result with the majority's label, annotated; a tie that is abstained on raises `jury_tied`."""
        valid = self.aggregate_repeated_results(all_results, total_judges)
        numbers = [score for score in valid.scores if not isinstance(score, str | frozenset)]
        if numbers and len(numbers) < len(valid.scores):
            raise InputError(
                f"some judges gave labels and others numbers, such as {shortened(numbers[0])}; no majority"
            )
        labels = [label_text(score) for score in valid.scores]
        vote = majority_label(labels, ties=self.ties)
        if vote.label is None:
            raise RatingError(f"the judges are level between {', '.join(vote.leading)}", code="jury_tied")
        position = labels.index(vote.label)
        return {
            **self.annotated(position, valid, all_results, total_judges),
            "score_distribution": dict(vote.counts),
            "tied": vote.tied,
        }
