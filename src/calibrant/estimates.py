"""What may be published: a number with its interval, its method, and the count of what it rests on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from calibrant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from calibrant.errors import Status

__all__ = ["Coverage", "Estimate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many items were rated, failed, were skipped or had nothing to rate. They add up to the dataset.

    `codes` counts the failure codes behind all that was not rated.

    >>> print(Coverage(rated=397, failed=3, codes={"judge_timeout": 3}))
    397 rated, 3 failed (3 judge_timeout)
    """

    rated: int
    failed: int = 0
    skipped: int = 0
    not_applicable: int = 0
    codes: Mapping[str, int] = field(default_factory=dict[str, int])

    def __post_init__(self) -> None:
        for name in ("rated", "failed", "skipped", "not_applicable"):
            object.__setattr__(self, name, _count(name, getattr(self, name)))
        object.__setattr__(self, "codes", MappingProxyType(dict(sorted(self.codes.items()))))

    def __hash__(self) -> int:
        return hash((self.rated, self.failed, self.skipped, self.not_applicable, tuple(self.codes.items())))

    def __reduce__(self) -> tuple[Any, ...]:
        return Coverage.from_json, (self.to_json(),)

    @classmethod
    def of(cls, outcomes: Iterable[tuple[Status, str | None]]) -> Self:
        """The coverage of items given as pairs of status and failure code.

        >>> Coverage.of([("rated", None), ("failed", "judge_timeout")]).failed
        1
        """
        counts = {"rated": 0, "failed": 0, "skipped": 0, "not_applicable": 0}
        codes: dict[str, int] = {}
        for status, code in outcomes:
            counts[status] += 1
            if code is not None:
                codes[code] = codes.get(code, 0) + 1
        return cls(**counts, codes=codes)

    @property
    def total(self) -> int:
        """All items, whatever became of them."""
        return self.rated + self.failed + self.skipped + self.not_applicable

    @property
    def share(self) -> float | None:
        """The share of the items to which the question applied that were rated; None when it applied to none."""
        applicable = self.rated + self.failed + self.skipped
        return self.rated / applicable if applicable else None

    def worst_case(self, value: float, *, low: float = 0.0, high: float = 1.0) -> tuple[float, float]:
        """A mean `value` of the rated, had all failures got the score `low`, and had they got `high`.

        >>> Coverage(rated=90, failed=10).worst_case(0.8)
        (0.72, 0.82)
        """
        asked = self.rated + self.failed
        if not asked:
            return (low, high)
        return ((value * self.rated + low * self.failed) / asked, (value * self.rated + high * self.failed) / asked)

    def __add__(self, other: Coverage) -> Coverage:
        codes = {code: self.codes.get(code, 0) + other.codes.get(code, 0) for code in {*self.codes, *other.codes}}
        return Coverage(
            rated=self.rated + other.rated,
            failed=self.failed + other.failed,
            skipped=self.skipped + other.skipped,
            not_applicable=self.not_applicable + other.not_applicable,
            codes=codes,
        )

    def __str__(self) -> str:
        codes = ", ".join(f"{count} {code}" for code, count in self.codes.items())
        return f"{self.rated} rated{self.missing_text()}" + (f" ({codes})" if codes else "")

    def missing_text(self) -> str:
        """What was not rated, as it stands behind an n: empty when everything was.

        >>> Coverage(rated=5, failed=1, not_applicable=2).missing_text()
        ', 1 failed, 2 not applicable'
        """
        counts = {"failed": self.failed, "skipped": self.skipped, "not applicable": self.not_applicable}
        return "".join(f", {count} {name}" for name, count in counts.items() if count)

    def to_json(self) -> dict[str, Any]:
        """The coverage as JSON has it."""
        return {
            "rated": self.rated,
            "failed": self.failed,
            "skipped": self.skipped,
            "not_applicable": self.not_applicable,
            "codes": dict(self.codes),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The coverage that `to_json` wrote."""
        return cls(**data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A number as it may leave the library: value, interval, level, method and coverage.

    An estimate that cannot be made has the value None and a reason. `worst_case` is the value with all failures
    counted as the worst score, and as the best.

    >>> print(Estimate(value=0.81, lower=0.77, upper=0.847, method="wilson", coverage=Coverage(rated=397, failed=3)))
    0.810 [0.770, 0.847] n=397, 3 failed
    >>> print(Estimate.missing("both raters are constant", method="kappa", coverage=Coverage(rated=12)))
    no estimate: both raters are constant (n=12)
    """

    value: float | None
    lower: float | None = None
    upper: float | None = None
    level: float = 0.95
    method: str
    coverage: Coverage
    worst_case: tuple[float, float] | None = None
    reason: str = ""

    def __post_init__(self) -> None:
        for name in ("value", "lower", "upper"):
            object.__setattr__(self, name, _finite(name, getattr(self, name)))
        if not 0.0 < self.level < 1.0:
            raise InputError(f"level is a probability between 0 and 1, not {self.level}")
        if self.value is None and not self.reason:
            raise InputError("an estimate without a value needs a reason")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise InputError(f"the interval is upside down: [{self.lower}, {self.upper}]")
        if self.worst_case is not None:
            low, high = self.worst_case
            object.__setattr__(self, "worst_case", (float(low), float(high)))

    @classmethod
    def missing(cls, reason: str, *, method: str, coverage: Coverage) -> Self:
        """The estimate that could not be made, and why."""
        return cls(value=None, method=method, coverage=coverage, reason=reason)

    @property
    def n(self) -> int:
        """How many items the value rests on."""
        return self.coverage.rated

    def __str__(self) -> str:
        return self.text()

    def __format__(self, spec: str) -> str:
        return self.text(spec) if spec else self.text()

    def text(self, number: str = ".3f") -> str:
        """The estimate in a line, its numbers formatted by `number`."""
        behind = f"n={self.n}{self.coverage.missing_text()}"
        if self.value is None:
            return f"no estimate: {self.reason} ({behind})"
        interval = ""
        if self.lower is not None or self.upper is not None:
            low = "-inf" if self.lower is None else format(self.lower, number)
            high = "inf" if self.upper is None else format(self.upper, number)
            interval = f" [{low}, {high}]"
        return f"{self.value:{number}}{interval} {behind}"

    def to_json(self) -> dict[str, Any]:
        """The estimate as JSON has it: null where there is no number, never NaN."""
        return {
            "value": self.value,
            "lower": self.lower,
            "upper": self.upper,
            "level": self.level,
            "method": self.method,
            "n": self.n,
            "coverage": self.coverage.to_json(),
            "worst_case": None if self.worst_case is None else list(self.worst_case),
            "reason": self.reason,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The estimate that `to_json` wrote."""
        fields = {name: value for name, value in data.items() if name != "n"}
        worst = fields.pop("worst_case")
        coverage = Coverage.from_json(fields.pop("coverage"))
        return cls(**fields, coverage=coverage, worst_case=None if worst is None else tuple(worst))


def _count(name: str, number: Any) -> int:
    """The count as Python's own whole number, whichever library it comes from."""
    index = getattr(number, "__index__", None)
    if index is None or index() < 0:
        raise InputError(f"{name} counts items and cannot be {number}")
    return index()


def _finite(name: str, number: float | None) -> float | None:
    if number is None:
        return None
    if not math.isfinite(number):
        raise InputError(f"the {name} of an estimate is a finite number or None, not {number}")
    return float(number)
