"""What a run found out about one metric: its estimates, what failed and why, and where its judges disagree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from calibrant.ratings import Usage

if TYPE_CHECKING:
    from calibrant.estimates import Estimate
    from calibrant.runs.specification import MetricSpec

__all__ = ["FailureCause", "MetricSummary", "Spread", "UnstableItem"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureCause:
    """One failure code: how many items it cost, and one of them with what was said.

    `number` is that item's place in the dataset, from 1 on, which finds an item that has no id of its own.
    """

    code: str
    count: int
    item: str
    message: str
    number: int = 0

    def to_json(self) -> dict[str, Any]:
        """The cause as JSON has it."""
        example = {"item": self.item, "number": self.number, "message": self.message}
        return {"code": self.code, "count": self.count, **example}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnstableItem:
    """An item on which the votes differ: their number, lowest, highest, and how many of them passed."""

    item: str
    votes: int
    lowest: float
    highest: float
    passed: int

    @property
    def spread(self) -> float:
        """How far the votes lie apart."""
        return self.highest - self.lowest

    def to_json(self) -> dict[str, Any]:
        """The item as JSON has it."""
        return {
            "item": self.item,
            "votes": self.votes,
            "lowest": self.lowest,
            "highest": self.highest,
            "passed": self.passed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How the scores (or the labels) of the rated items are distributed.

    `counts` says how many items have each of `values`. Many different scores are counted in bins, whose middles the
    values are then, and `width` is that of a bin; else it is 0.
    """

    values: tuple[float, ...] | tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    width: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The distribution as JSON has it."""
        return {"values": list(self.values), "counts": list(self.counts), "width": self.width}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSummary:
    """What a run found out about one metric. `failing_items` counts the items that were rated and did not pass.

    Where items have several votes, of repeats or of a jury, `flip_rate` is the mean chance that two votes on an item
    disagree about passing, and `vote_variance` the mean variance of the scores within an item.
    """

    spec: MetricSpec
    pass_rate: Estimate
    score: Estimate
    corrected_pass_rate: Estimate | None = None
    failing_items: int = 0
    failures: tuple[FailureCause, ...] = ()
    unstable: tuple[UnstableItem, ...] = ()
    usage: Usage = field(default_factory=Usage)
    flip_rate: float | None = None
    vote_variance: float | None = None
    distribution: Spread = field(default_factory=Spread)

    @property
    def name(self) -> str:
        """The metric's name."""
        return self.spec.name

    def to_json(self) -> dict[str, Any]:
        """The summary as the run's JSON has it."""
        corrected = self.corrected_pass_rate
        return {
            "name": self.spec.name,
            "instrument": self.spec.instrument,
            "judges": list(self.spec.judges),
            "scoring": self.spec.scoring,
            "threshold": self.spec.threshold,
            "higher_is_better": self.spec.higher_is_better,
            "pass_rate": self.pass_rate.to_json(),
            "score": self.score.to_json(),
            "corrected_pass_rate": None if corrected is None else corrected.to_json(),
            "failing_items": self.failing_items,
            "failures": [cause.to_json() for cause in self.failures],
            "unstable": [item.to_json() for item in self.unstable],
            "flip_rate": self.flip_rate,
            "vote_variance": self.vote_variance,
            "distribution": self.distribution.to_json(),
            "usage": self.usage.to_json(),
        }
