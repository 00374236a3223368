"""Gates as they are written: `groundedness.pass_rate >= 0.90`, `polite.score >= baseline - 0.02`."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from calibrant.errors import InputError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Gate", "checked_gates", "parse_gate"]

Operator = Literal[">=", "<=", ">", "<"]

ESTIMATED = ("corrected_pass_rate", "pass_rate", "score")
"""What is estimated, and so decided by a bound."""

COUNTED = ("coverage", "failing_items", "failures")
"""What is counted, and so decided exactly."""

PAIRED = frozenset({"pass_rate", "score", *COUNTED})
"""What can be held against a baseline."""

SHARES = frozenset({*ESTIMATED, "coverage"})
QUANTITIES = tuple(sorted((*ESTIMATED, *COUNTED)))

FORM = re.compile(r"(?P<subject>[^<>=]+?)\s*(?P<operator>[<>]=?)\s*(?P<limit>[^<>=]+)")
NUMBER = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<percent>%?)")
BASELINE = re.compile(r"baseline(?:\s*(?P<sign>[+-])\s*(?P<margin>\S.*))?")
EXPECTED = "expected METRIC.QUANTITY >= NUMBER, such as 'polite.pass_rate >= 0.90' or 'polite.score >= baseline - 0.02'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A condition on one quantity. `metric` is None for the coverage of the whole run.

    `limit` is the number to be reached or, with `is_paired`, what is added to the baseline's.
    """

    text: str
    metric: str | None
    quantity: str
    operator: Operator
    limit: float
    is_paired: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether it is decided by a count, without an interval."""
        return self.quantity in COUNTED

    @property
    def wants_more(self) -> bool:
        """Whether more is better for this gate: `>=` and `>`."""
        return self.operator.startswith(">")

    def holds(self, number: float, limit: float | None = None) -> bool:
        """Whether `number` satisfies the condition.

        >>> parse_gate("polite.pass_rate >= 90%").holds(0.9)
        True
        """
        limit = self.limit if limit is None else limit
        if self.operator.endswith("="):
            return number >= limit if self.wants_more else number <= limit
        return number > limit if self.wants_more else number < limit

    def __str__(self) -> str:
        return self.text


def parse_gate(text: str) -> Gate:
    """The gate that `text` writes; InputError names the gate and says what is expected.

    >>> gate = parse_gate("polite.score >= baseline - 0.02")
    >>> gate.metric, gate.quantity, gate.limit, gate.is_paired
    ('polite', 'score', -0.02, True)
    """
    found = FORM.fullmatch(text.strip()) if isinstance(text, str) else None  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
    if found is None:
        raise InputError(f"gate {shortened(text)} is no condition; {EXPECTED}")
    metric, quantity = _subject(text, found["subject"])
    limit, is_paired = _limit(text, found["limit"])
    _check_limit(text, quantity, limit, is_paired=is_paired)
    operator: Operator = found["operator"]  # pyright: ignore[reportAssignmentType] - the pattern allows these four
    return Gate(
        text=text.strip(), metric=metric, quantity=quantity, operator=operator, limit=limit, is_paired=is_paired
    )


def checked_gates(gates: Iterable[str | Gate], metrics: Mapping[str, bool], *, has_baseline: bool) -> tuple[Gate, ...]:
    """The gates, read and held against the metrics of the run; all that is wrong with them is one InputError.

    `metrics` says of each metric's name whether it has several outputs, whose names are known only when they come.

    >>> checked_gates(["polite.score > 0.8"], {"brief": False}, has_baseline=False)
    Traceback (most recent call last):
        ...
    calibrant.errors.InputError: gate 'polite.score > 0.8' is about 'polite'; the metrics of this run are: brief
    """
    given = [gates] if isinstance(gates, str) else gates
    read: list[Gate] = []
    problems: list[str] = []
    for one in given:
        try:
            gate = one if isinstance(one, Gate) else parse_gate(one)
            _check_against(gate, metrics, has_baseline=has_baseline)
            read.append(gate)
        except InputError as error:
            problems.append(str(error))
    if len(problems) == 1:
        raise InputError(problems[0])
    if problems:
        raise InputError.gathered("gates", problems)
    return tuple(read)


def _subject(text: str, subject: str) -> tuple[str | None, str]:
    if subject == "coverage":
        return None, subject
    metric, dot, quantity = subject.rpartition(".")
    if not dot or not metric:
        raise InputError(f"gate {text!r} does not say what of which metric; {EXPECTED}, or coverage alone")
    if quantity not in QUANTITIES:
        raise InputError(f"gate {text!r} asks for {quantity!r}; expected one of: {', '.join(QUANTITIES)}")
    return metric, quantity


def _limit(text: str, limit: str) -> tuple[float, bool]:
    baseline = BASELINE.fullmatch(limit.strip())
    if baseline is None:
        return _number(text, limit), False
    if baseline["margin"] is None:
        return 0.0, True
    margin = _number(text, baseline["margin"])
    return (-margin if baseline["sign"] == "-" else margin), True


def _number(text: str, written: str) -> float:
    found = NUMBER.fullmatch(written.strip())
    if found is None:
        expected = "expected a number, a percentage or baseline"
        raise InputError(f"gate {text!r} has the limit {shortened(written)}; {expected}")
    return float(found["number"]) / (100 if found["percent"] else 1)


def _check_limit(text: str, quantity: str, limit: float, *, is_paired: bool) -> None:
    if is_paired and quantity not in PAIRED:
        known = ", ".join(sorted(PAIRED))
        raise InputError(f"gate {text!r} holds {quantity} against the baseline; that works for {known}")
    if quantity not in SHARES or not math.isfinite(limit):
        return
    if is_paired and not -1 <= limit <= 1:
        raise InputError(f"gate {text!r} moves the baseline's {quantity} by {limit:g}, but it lies between 0 and 1")
    if not is_paired and not 0 <= limit <= 1:
        hint = f"; did you mean {limit:g}%?" if 1 < limit <= 100 else ""
        raise InputError(f"gate {text!r} has the limit {limit:g}, but {quantity} lies between 0 and 1{hint}")


def _check_against(gate: Gate, metrics: Mapping[str, bool], *, has_baseline: bool) -> None:
    if gate.is_paired and not has_baseline:
        remedy = "name an exported run, or one of the workspace (baseline)"
        raise InputError(f"gate {gate.text!r} needs a baseline; {remedy}")
    if gate.metric is None or gate.metric in metrics:
        return
    if not any(has_parts and gate.metric.startswith(f"{name}/") for name, has_parts in metrics.items()):
        known = ", ".join(metrics)
        raise InputError(f"gate {gate.text!r} is about {gate.metric!r}; the metrics of this run are: {known}")
