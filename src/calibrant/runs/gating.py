"""PASS, FAIL or INCONCLUSIVE: gates held against what a run found, by one-sided bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from calibrant.runs.gate_evidence import Bounded, bounded, counted
from calibrant.runs.likeness import unlikeness
from calibrant.runs.records import GateAnswer
from calibrant.stats import more_items

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.estimates import Estimate
    from calibrant.runs.gate_text import Gate
    from calibrant.runs.records import Run

__all__ = ["judged", "rounded_for_people"]

Answer = Literal["PASS", "FAIL", "INCONCLUSIVE"]


def judged(
    gates: Sequence[Gate], run: Run, *, baseline: Run | None = None, level: float = 0.95
) -> tuple[GateAnswer, ...]:
    """The answer to each gate, in their order.

    A gate passes when the one-sided bound at `level` lies on the good side; for all to pass, each must, which needs no
    correction. It fails when the other bound lies on the bad side after Holm's correction over the gates that have an
    interval, so that the chance of naming any gate wrongly stays below 1 - `level`. Failures of judges count for
    neither: where they could turn the answer, it is INCONCLUSIVE.
    """
    cases = [_case(gate, run, baseline) for gate in gates]
    open_cases = [case for case in cases if isinstance(case, _Case)]
    failing = _holm(open_cases, level)
    return tuple(case if isinstance(case, GateAnswer) else _answer(case, failing, level) for case in cases)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Case:
    """A gate that is decided by a bound."""

    gate: Gate
    found: Bounded

    def bound(self, *, good: bool, level: float) -> tuple[Estimate, float | None]:
        """The estimate, and its bound on the side that would show that the gate holds, or that it does not."""
        side = "lower" if self.gate.wants_more == good else "upper"
        estimate = self.found.estimate(side, level)
        return estimate, estimate.lower if side == "lower" else estimate.upper

    def passes(self, level: float) -> bool:
        """Whether the bound lies on the good side, also if all failures were on the bad one."""
        estimate, bound = self.bound(good=True, level=level)
        return bound is not None and self.gate.holds(bound) and self.gate.holds(self.extreme(estimate, good=False))

    def fails(self, level: float) -> bool:
        """Whether the bound lies on the bad side, also if all failures were on the good one."""
        estimate, bound = self.bound(good=False, level=level)
        if bound is None or self.gate.holds(bound):
            return False
        return not self.gate.holds(self.extreme(estimate, good=True))

    def extreme(self, estimate: Estimate, *, good: bool) -> float:
        """The value, had all failures been for the gate, or against it."""
        value = 0.0 if estimate.value is None else estimate.value
        if estimate.worst_case is None:
            return value
        return estimate.worst_case[1 if self.gate.wants_more == good else 0]


def _case(gate: Gate, run: Run, baseline: Run | None) -> _Case | GateAnswer:
    if gate.is_paired and baseline is None:
        reason = "there is no baseline yet; export this run to be it"
        return GateAnswer(gate=gate.text, answer="INCONCLUSIVE", reason=reason)
    if gate.is_paired and baseline is not None:
        unlike = unlikeness(baseline, run, [] if gate.metric is None else [gate.metric])
        if unlike:
            return GateAnswer(gate=gate.text, answer="INCONCLUSIVE", reason=f"unlike the baseline: {unlike[0].text}")
    if gate.is_exact:
        return _exact(gate, run, baseline)
    return _Case(gate=gate, found=bounded(gate, run, baseline))


def _exact(gate: Gate, run: Run, baseline: Run | None) -> GateAnswer:
    found = counted(gate, run, baseline)
    if found.value is None:
        return GateAnswer(gate=gate.text, answer="INCONCLUSIVE", reason=found.reason)
    answers = {gate.holds(found.lowest), gate.holds(found.highest)}
    answer: Answer = "INCONCLUSIVE" if len(answers) == 2 else "PASS" if True in answers else "FAIL"
    return GateAnswer(gate=gate.text, answer=answer, reason=found.reason)


def _holm(cases: Sequence[_Case], level: float) -> set[_Case]:
    """The cases that fail by Holm's procedure: of those left, at the level divided by their number, until none does."""
    failing: set[_Case] = set()
    while left := [case for case in cases if case not in failing]:
        strict = 1 - (1 - level) / len(left)
        found = {case for case in left if case.fails(strict)}
        if not found:
            break
        failing |= found
    return failing


def _answer(case: _Case, failing: set[_Case], level: float) -> GateAnswer:
    estimate, low = case.bound(good=case.gate.wants_more, level=level)
    high = case.bound(good=not case.gate.wants_more, level=level)[1]
    answer: Answer = "FAIL" if case in failing else "PASS" if case.passes(level) else "INCONCLUSIVE"
    given = GateAnswer(gate=case.gate.text, answer=answer)
    if estimate.value is None or (low is None and high is None):
        return replace(given, reason=estimate.reason or "there is no bound")
    value = _number(case.gate, estimate.value)
    if answer != "INCONCLUSIVE":
        is_low = (answer == "PASS") == case.gate.wants_more
        side, bound = ("at least", low) if is_low else ("at most", high)
        return replace(given, reason=f"{value}, {side} {_number(case.gate, bound)} with {level:.0%} confidence")
    between = f"{value}, between {_number(case.gate, low)} and {_number(case.gate, high)}"
    return _undecided(case, replace(given, reason=between), estimate, level)


def _undecided(case: _Case, given: GateAnswer, estimate: Estimate, level: float) -> GateAnswer:
    """The answer with what would settle it: more items, or the ratings that failed."""
    good, bad = case.bound(good=True, level=level)[1], case.bound(good=False, level=level)[1]
    against = bad is not None and not case.gate.holds(bad)
    if against or (good is not None and case.gate.holds(good)):
        turned = case.extreme(estimate, good=against)
        if case.gate.holds(turned) == against:
            lost = estimate.coverage.failed
            would = f"{_number(case.gate, turned)} if the {lost} that failed {'were' if against else 'were not'} for it"
            return replace(given, reason=f"{given.reason}; but {would}")
        holm = "it fails by its own bound, but not after Holm's correction over the gates"
        return replace(given, reason=f"{given.reason}; {holm}")
    more = _more(case, estimate, level)
    if more is None and estimate.value == case.gate.limit:
        return replace(given, reason=f"{given.reason}; it lies on the threshold, which no number of items settles")
    return replace(given, more_items=None if more is None else rounded_for_people(more))


def _more(case: _Case, estimate: Estimate, level: float) -> int | None:
    """About how many more items would bring the bound to the threshold; None when that cannot be said."""
    value, n, limit, found = estimate.value, estimate.n, case.gate.limit, case.found
    if value is None or value == limit or (found.sd is None and not found.is_rate):
        return None
    more = 0 if found.sd == 0 else more_items(value, n, limit, sd=found.sd, level=level)
    bound = case.bound(good=case.gate.holds(value), level=level)[1]
    if more == 0 and bound is not None:
        # No spread to go by, or a bound wider than the formula's: such bounds narrow as 1 / n.
        more = math.ceil(n * abs(value - bound) / abs(value - limit)) - n
    return None if more is None else max(1, more)


def rounded_for_people(number: int) -> int:
    """`number` to one significant digit: it rests on an estimate, and more digits would pretend.

    >>> rounded_for_people(3117), rounded_for_people(7)
    (3000, 7)
    """
    return round(number, 1 - len(str(number)))


def _number(gate: Gate, value: float | None) -> str:
    if value is None:
        return "no bound"
    return f"{value:+.3f}" if gate.is_paired else f"{value:.3f}"
