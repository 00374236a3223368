"""What a scorer says of one judge: numbers, their intervals, what they rest on, or why there are none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Self, cast

from pydantic import BaseModel, Field, field_validator, model_validator

from calibrant.alignment.modes import TaskAggregationMode
from calibrant.estimates import Estimate

__all__ = ["BaseScoringResult"]

SUMMARY = frozenset({"task_strategy", "score", "n", "interval", "level", "coverage", "unique_name"})
"""What a result's file says of it again, in short."""


class BaseScoringResult(BaseModel):
    """One judge's result by one scorer. `scores` maps names to numbers, the headline first; None comes with `reason`.

    `intervals` holds, by the name of a score, its whole estimate as JSON: bounds, level, method, n and coverage.
    `details` are what a result file shows beside the score, such as an interpretation. A NaN becomes None.

    >>> result = BaseScoringResult(
    ...     scorer_name="mine",
    ...     task_name="text",
    ...     judge_id="judge",
    ...     scores={"wins": float("nan")},
    ...     aggregation_mode=TaskAggregationMode.SINGLE,
    ...     num_comparisons=3,
    ... )
    >>> result.score, result.reason
    (None, 'wins is no finite number')
    """

    scorer_name: str
    task_name: str
    judge_id: str
    scores: dict[str, Any]
    metadata: dict[str, Any] = Field(default_factory=dict)
    aggregation_mode: TaskAggregationMode
    num_comparisons: int
    failed_comparisons: int = 0
    intervals: dict[str, dict[str, Any]] = Field(default_factory=dict)
    details: dict[str, Any] = Field(default_factory=dict)
    reason: str = ""
    timestamp: datetime = Field(default_factory=lambda: datetime.now(UTC))
    config_hash: str = ""

    @field_validator("judge_id", "task_name", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("scores", "metadata", "details", mode="before")
    @classmethod
    def _as_plain(cls, value: Any) -> Any:
        return plain(value)

    @model_validator(mode="after")
    def _without_nan(self) -> BaseScoringResult:
        wrong = [name for name, value in self.scores.items() if _is_no_number(value)]
        for name in wrong:
            self.scores[name] = None
        if wrong and not self.reason:
            self.reason = f"{', '.join(wrong)} {'is no finite number' if len(wrong) == 1 else 'are no finite numbers'}"
        self.metadata = finite(self.metadata)
        return self

    @property
    def score(self) -> float | None:
        """The headline: the first score that is a number by itself; None when there is none."""
        numbers = [value for value in self.scores.values() if not isinstance(value, dict)]
        return numbers[0] if numbers else None

    def estimate(self, name: str) -> Estimate | None:
        """The score of this name as an estimate, when the scorer gave an interval."""
        found = self.intervals.get(name)
        return None if found is None else Estimate.from_json({key: found[key] for key in _ESTIMATE})

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The result that `to_json` wrote, with its details; keys that a file has besides are among them."""
        details = {name: value for name, value in data.items() if name not in {*cls.model_fields, *SUMMARY}}
        return cls.model_validate({**data, "details": details})

    def to_json(self) -> dict[str, Any]:
        """The result as its file has it: every field, the details, and the headline as `score`."""
        fields = self.model_dump(mode="json", exclude={"details"})
        headline = next(iter(self.intervals.values()), None)
        return {
            "judge_id": self.judge_id,
            "scorer_name": self.scorer_name,
            "task_strategy": self.aggregation_mode.value,
            "task_name": self.task_name,
            "score": self.score,
            **finite(self.details),
            "n": None if headline is None else headline["n"],
            "interval": None if headline is None else [headline["lower"], headline["upper"]],
            "level": None if headline is None else headline["level"],
            "coverage": None if headline is None else headline["coverage"],
            **fields,
            "metadata": {**finite(self.metadata), "scoring_date": fields["timestamp"]},
        }


_ESTIMATE = ("value", "lower", "upper", "level", "method", "n", "coverage", "worst_case", "reason")


def plain(value: Any) -> Any:
    """`value` in what JSON knows, at any depth: numbers and arrays of numpy as Python's, other objects as texts.

    >>> import numpy as np
    >>> plain({"wins": np.int64(3), "each": np.array([1.0]), 7: {"b", "a"}})
    {'wins': 3, 'each': [1.0], '7': ['a', 'b']}
    """
    if value is None or isinstance(value, str | int | float):
        return float(value) if isinstance(value, float) else value
    if isinstance(value, Mapping):
        table = cast("Mapping[Any, Any]", value)
        return {str(name): plain(inner) for name, inner in table.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(inner) for inner in cast("set[Any]", value)), key=str)
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in cast("list[Any]", value)]
    of_numpy = getattr(value, "tolist", None)
    return plain(of_numpy()) if callable(of_numpy) else str(value)


def finite(value: Any) -> Any:
    """`value` with None in the place of every NaN and infinity, at any depth."""
    if isinstance(value, dict):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return None if _is_no_number(value) else value


def _is_no_number(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)
