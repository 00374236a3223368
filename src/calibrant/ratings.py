"""What a rater said of an item: people, models and rules all end up as the same record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal, Self, cast

from calibrant.errors import CODES, InputError, RatingError, Status, UnknownNameError, WrongTypeError, shortened
from calibrant.fingerprints import plain_json

__all__ = ["Failure", "MetricOutput", "MetricResult", "MetricScore", "Rating", "Usage", "Value"]

Value = bool | float | str | frozenset[str]
"""What a rating may be: yes or no, a number, a label, or a set of labels."""

MetricOutput = Mapping[str, Any]
"""One judge's result as aggregation sees it: `{"score": ..., "explanation": ...}`, or `{"error": ...}`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What calls to models took. `usd` is None when a price was not known; `cached` calls cost nothing."""

    calls: int = 0
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
        )

    def to_json(self) -> dict[str, Any]:
        """The usage as JSON has it; unknown money is null."""
        return {spec.name: getattr(self, spec.name) for spec in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no value: a stable code of `calibrant.errors.CODES`, and what happened in words.

    >>> print(Failure(code="judge_timeout", message="no answer within 60 s"))
    judge_timeout: no answer within 60 s
    """

    code: str
    message: str
    retryable: bool = False

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise UnknownNameError.among("failure code", self.code, CODES)

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """The failure that `error` amounts to; an exception of no known kind is the metric's own."""
        if isinstance(error, RatingError):
            return cls(code=error.code, message=str(error), retryable=error.retryable)
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return cls(code="metric_error", message=text)

    @property
    def status(self) -> Status:
        """How an item with this failure is counted: failed, skipped or not_applicable."""
        return CODES[self.code].status

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def to_json(self) -> dict[str, Any]:
        """The failure as JSON has it."""
        return {"code": self.code, "message": self.message, "retryable": self.retryable}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The failure that `to_json` wrote."""
        return cls(**data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One rater's answer on one criterion of one item: the one stored truth.

    `role` is "vote" for one judge of a jury and "result" for what the jury came to; a lone rater gives a result.
    A rating that is "rated" has a value; any other has none, and a failure that says why.
    """

    item: str
    criterion: str
    rater: str
    instrument: str = ""
    slot: int = 0
    role: Literal["vote", "result"] = "result"
    status: Status = "rated"
    value: Value | None = None
    failure: Failure | None = None
    explanation: str = ""
    call_keys: tuple[str, ...] = ()
    usage: Usage | None = None

    def __post_init__(self) -> None:
        where = f"rating of item {self.item!r} by {self.rater!r}"
        if self.status == "rated":
            if self.value is None or self.failure is not None:
                raise InputError(f"{where} is rated, so it has a value and no failure")
            check_value(self.value, where)
        elif self.value is not None or self.failure is None:
            raise InputError(f"{where} is {self.status}, so it has a failure and no value")
        elif self.failure.status != self.status:
            raise InputError(f"{where} is {self.status}, but {self.failure.code} counts as {self.failure.status}")

    def to_json(self) -> dict[str, Any]:
        """The rating as JSON has it; a set of labels is a sorted list."""
        value = sorted(self.value) if isinstance(self.value, frozenset) else self.value
        return {
            "item": self.item,
            "criterion": self.criterion,
            "rater": self.rater,
            "instrument": self.instrument,
            "slot": self.slot,
            "role": self.role,
            "status": self.status,
            "value": value,
            "failure": None if self.failure is None else self.failure.to_json(),
            "explanation": self.explanation,
            "call_keys": list(self.call_keys),
            "usage": None if self.usage is None else self.usage.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The rating that `to_json` wrote."""
        value, failure, usage = data["value"], data["failure"], data["usage"]
        changed: dict[str, Any] = {
            "value": frozenset(cast("list[str]", value)) if isinstance(value, list) else value,
            "failure": None if failure is None else Failure.from_json(failure),
            "usage": None if usage is None else Usage(**usage),
            "call_keys": tuple(data["call_keys"]),
        }
        return cls(**{**data, **changed})


@dataclass(frozen=True, slots=True)
class MetricScore:
    """What a metric's `_evaluate` returns for one item: the score, and why.

    `score` is a number in [0, 1], a bool, or a label; `rubric_score` is the level before it was normalised.

    >>> MetricScore(0.8, "names two of the three causes").score
    0.8
    """

    score: Value
    explanation: str = ""
    rubric_score: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any], kw_only=True)

    def __post_init__(self) -> None:
        check_value(self.score, "a metric's score")
        if "error" in self.details:
            raise InputError(
                "a score has no error among its details; raise the error, and there is a Failure, no score"
            )
        object.__setattr__(self, "details", MappingProxyType(dict(self.details)))

    def __hash__(self) -> int:
        return hash((self.score, self.explanation, self.rubric_score))

    def __reduce__(self) -> tuple[Any, ...]:
        return _metric_score, (self.score, self.explanation, self.rubric_score, dict(self.details))

    def to_output(self) -> dict[str, Any]:
        """The score as a MetricOutput: what aggregation takes."""
        output: dict[str, Any] = {**self.details, "score": self.score, "explanation": self.explanation}
        if self.rubric_score is not None:
            output["rubric_score"] = self.rubric_score
        return output


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """What a metric says of one item. With `error` set, `score` is None and `success` is False.

    `judges` holds the vote of every judge, `details` what the aggregation and the metric say beside the score.
    """

    score: float | None
    success: bool
    threshold: float = 0.5
    strict_mode: bool = False
    higher_is_better: bool = True
    rubric_score: float | None = None
    label: str | None = None
    explanation: str = ""
    judges: tuple[Rating, ...] = ()
    error: Failure | None = None
    usage: Usage | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        if self.error is not None and (self.score is not None or self.success):
            raise InputError("a result with an error has no score and is no success")
        if self.error is None and self.score is None and self.label is None:
            raise InputError("a result without an error has a score or a label")
        if self.score is not None:
            check_value(self.score, "a metric's score")
        object.__setattr__(self, "details", MappingProxyType(dict(self.details)))

    def __hash__(self) -> int:
        return hash((self.score, self.label, self.success, self.explanation, self.error))

    def __reduce__(self) -> tuple[Any, ...]:
        given = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        return _metric_result, ({**given, "details": dict(self.details)},)

    @property
    def status(self) -> Status:
        """How this item is counted: rated, failed, skipped or not_applicable."""
        return "rated" if self.error is None else self.error.status

    def __str__(self) -> str:
        if self.error is not None:
            return f"{self.status.replace('_', ' ')}: {self.error}"
        mark = "pass" if self.success else "fail"
        if self.score is None:
            return f"{mark} {self.label}"
        return f"{mark} {self._score_text()} ({'>=' if self.higher_is_better else '<='} {self.threshold:g})"

    def _score_text(self) -> str:
        """The score in three digits, or in as many as it takes not to be rounded over the threshold or onto it."""
        score = cast("float", self.score)
        texts = (f"{score:.{digits}f}" for digits in range(3, 17))
        sides = (score > self.threshold, score < self.threshold)
        return next((t for t in texts if (float(t) > self.threshold, float(t) < self.threshold) == sides), repr(score))

    def to_json(self) -> dict[str, Any]:
        """The result as JSON has it."""
        given = {spec.name: getattr(self, spec.name) for spec in fields(self)}
        return {
            **given,
            "judges": [rating.to_json() for rating in self.judges],
            "error": None if self.error is None else self.error.to_json(),
            "usage": None if self.usage is None else self.usage.to_json(),
            "details": plain_json(self.details),
        }


def check_value(value: object, where: str) -> None:
    """Raise unless `value` is a bool, a finite number, a label or a set of labels; `where` names it in the error."""
    if isinstance(value, bool | int | str):
        return
    if isinstance(value, frozenset):
        wrong = [one for one in cast("frozenset[object]", value) if not isinstance(one, str)]
        if not wrong:
            return
        raise WrongTypeError(f"{where} is a set of labels, which are texts, not {shortened(wrong[0])}")
    if not isinstance(value, float):
        raise WrongTypeError(
            f"{where} is a bool, a number, a label or a frozenset of labels, "
            f"not {type(value).__name__} {shortened(value)}"
        )
    if not math.isfinite(value):
        raise InputError(f"{where} is a finite number, not {value}; a judge that failed is a Failure, not a number")


def _metric_score(score: Value, explanation: str, rubric: float | None, details: Mapping[str, Any]) -> MetricScore:
    return MetricScore(score, explanation, rubric, details=details)


def _metric_result(given: Mapping[str, Any]) -> MetricResult:
    return MetricResult(**given)
