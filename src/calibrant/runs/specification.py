"""What a run keeps of a metric: enough to tell again, from a stored rating, what it counts for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from calibrant.metrics.multi import MultiOutputBaseMetric

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.metrics.base import BaseMetric
    from calibrant.ratings import Value

__all__ = ["MetricSpec", "Outcome", "label_of"]


def label_of(value: Value) -> str:
    """A label, or several, as one text.

    >>> label_of(frozenset({"rude", "late"}))
    'late, rude'
    """
    return ", ".join(sorted(value)) if isinstance(value, frozenset) else str(value)


class Outcome(NamedTuple):
    """What a value counts for: its score (None for a label), and whether it passes (None when nothing says so)."""

    score: float | None
    passed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """A metric as a run records it: its instrument, judges, and how a value passes."""

    name: str
    instrument: str
    judges: tuple[str, ...] = ()
    rater: str = ""
    scoring: str = "single"
    threshold: float = 0.5
    higher_is_better: bool = True
    strict_mode: bool = False
    passing_labels: tuple[str, ...] = ()
    parent: str | None = None
    has_parts: bool = False

    @classmethod
    def of(cls, metric: BaseMetric) -> Self:
        """The specification of a metric whose judges are settled."""
        return cls(
            name=metric.name,
            instrument=metric.instrument,
            judges=tuple(model.name for model in metric.models),
            rater=metric.rater,
            scoring=str(getattr(metric, "scoring", "single")),
            threshold=metric.threshold,
            higher_is_better=metric.higher_is_better,
            strict_mode=metric.strict_mode,
            passing_labels=tuple(sorted(metric.passing_labels)),
            has_parts=isinstance(metric, MultiOutputBaseMetric),
        )

    def part(self, name: str) -> MetricSpec:
        """The specification of one output of this metric, which has several."""
        return replace(self, name=f"{self.name}/{name}", parent=self.name, has_parts=False)

    def outcome(self, value: Value) -> Outcome:
        """What `value` counts for under this metric's threshold and polarity.

        >>> MetricSpec(name="polite", instrument="", threshold=0.6).outcome(0.7)
        Outcome(score=0.7, passed=True)
        """
        if isinstance(value, str | frozenset):
            label = label_of(value)
            return Outcome(None, label in self.passing_labels if self.passing_labels else None)
        score = float(value)
        if self.strict_mode:
            best = 1.0 if self.higher_is_better else 0.0
            score = best if score == best else 1.0 - best
        return Outcome(score, score >= self.threshold if self.higher_is_better else score <= self.threshold)

    def to_json(self) -> dict[str, Any]:
        """The specification as JSON has it."""
        return {
            "name": self.name,
            "instrument": self.instrument,
            "judges": list(self.judges),
            "rater": self.rater,
            "scoring": self.scoring,
            "threshold": self.threshold,
            "higher_is_better": self.higher_is_better,
            "strict_mode": self.strict_mode,
            "passing_labels": list(self.passing_labels),
            "parent": self.parent,
            "has_parts": self.has_parts,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The specification that `to_json` wrote."""
        changed: dict[str, Any] = {name: tuple(data[name]) for name in ("judges", "passing_labels")}
        return cls(**{**data, **changed})
