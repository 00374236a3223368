"""What a comparison of runs found: every pair of runs on every metric, and what of it is settled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from calibrant.errors import UnknownNameError
from calibrant.runs.records import EXIT_INCOMPLETE, exit_code_of
from calibrant.stats import is_settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.estimates import Estimate
    from calibrant.runs.likeness import Unlike
    from calibrant.runs.pairing import Quantity
    from calibrant.runs.records import GateAnswer
    from calibrant.stats import TestResult

__all__ = ["ComparedRun", "Comparison", "MetricDifference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRun:
    """A run as a comparison names it: `label` is unique among those compared."""

    label: str
    run: str
    name: str
    n: int
    is_complete: bool

    def to_json(self) -> dict[str, Any]:
        """The run as the comparison's JSON has it."""
        status = "complete" if self.is_complete else "incomplete"
        return {"label": self.label, "run": self.run, "name": self.name, "n": self.n, "status": status}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDifference:
    """Runs `a` and `b` on one quantity of one metric, over the items rated in both; differences are B - A.

    `p_corrected` is the test's p-value after Holm's correction over the whole comparison; both are None when nothing
    could be tested. `effect` is Cohen's h of two pass rates, or d of paired scores. `detectable` is the smallest
    difference that so many items show four times in five. A win is an item on which B is better; `lost_a` and `lost_b`
    are the items that could not be rated in the one and in the other, and count for neither.
    """

    metric: str
    quantity: Quantity
    a: str
    b: str
    value_a: float | None
    value_b: float | None
    difference: Estimate
    test: TestResult | None
    p_corrected: float | None
    effect: float | None
    detectable: float | None
    wins: Sequence[str]
    losses: Sequence[str]
    ties: Sequence[str]
    lost_a: Sequence[str]
    lost_b: Sequence[str]
    higher_is_better: bool = True

    @property
    def better(self) -> Literal["a", "b"] | None:
        """Which run is better; None unless that is settled by the corrected test and by the interval."""
        if not is_settled(self.difference, self.p_corrected):
            return None
        favours_b = ((self.difference.value or 0.0) > 0) == (self.higher_is_better or self.quantity == "pass_rate")
        return "b" if favours_b else "a"

    @property
    def verdict(self) -> str:
        """What may be said: which run is better, or that it is not settled."""
        if self.better is None:
            return "not settled"
        return f"{self.b if self.better == 'b' else self.a} is better"

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON has it, with the items by what became of them."""
        counted = {"wins": self.wins, "losses": self.losses, "ties": self.ties}
        return {
            "metric": self.metric,
            "quantity": self.quantity,
            "a": self.a,
            "b": self.b,
            "value_a": self.value_a,
            "value_b": self.value_b,
            "difference": self.difference.to_json(),
            "test": None if self.test is None else self.test.to_json(),
            "p_corrected": self.p_corrected,
            "effect": self.effect,
            "detectable": self.detectable,
            "better": None if self.better is None else getattr(self, self.better),
            **{name: len(items) for name, items in counted.items()},
            "items": {name: list(items) for name, items in counted.items()},
            "failed": {"a": list(self.lost_a), "b": list(self.lost_b)},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Runs compared pair by pair on every metric that they share. Print it for the table.

    `unlike` is what differs in dataset or instrument, where that was allowed. `only_in` names the metrics that not all
    of the runs have. `gates` are the answers of gates on the second run, held against the first.
    """

    runs: tuple[ComparedRun, ...]
    differences: tuple[MetricDifference, ...]
    unlike: tuple[Unlike, ...] = ()
    only_in: tuple[str, ...] = ()
    level: float = 0.95
    seed: int = 0
    gates: tuple[GateAnswer, ...] = ()

    @property
    def exit_code(self) -> int:
        """4 when one of the runs is incomplete, else 1 when a gate failed, 3 when one is inconclusive, else 0."""
        if not all(run.is_complete for run in self.runs):
            return EXIT_INCOMPLETE
        return exit_code_of(self.gates)

    @property
    def settled(self) -> tuple[MetricDifference, ...]:
        """The differences of which it may be said which run is better."""
        return tuple(one for one in self.differences if one.better is not None)

    def between(
        self, metric: str, quantity: Quantity = "pass_rate", *, a: str | None = None, b: str | None = None
    ) -> MetricDifference:
        """The difference on `metric` between the runs labelled `a` and `b`, the first two unless they are named."""
        a, b = a or self.runs[0].label, b or self.runs[1].label
        for one in self.differences:
            if (one.metric, one.quantity, one.a, one.b) == (metric, quantity, a, b):
                return one
        known = [f"{one.metric}.{one.quantity} of {one.a} and {one.b}" for one in self.differences]
        raise UnknownNameError.among("difference", f"{metric}.{quantity} of {a} and {b}", known)

    def to_json(self) -> dict[str, Any]:
        """The comparison as `--json` prints it: null where there is no number, never NaN."""
        return {
            "schema": "calibrant.comparison/1",
            "runs": [run.to_json() for run in self.runs],
            "level": self.level,
            "seed": self.seed,
            "unlike": [one.to_json() for one in self.unlike],
            "only_in": list(self.only_in),
            "gates": [gate.to_json() for gate in self.gates],
            "exit_code": self.exit_code,
            "differences": [one.to_json() for one in self.differences],
        }

    def __str__(self) -> str:
        from calibrant.report.comparison_tables import comparison_text

        return comparison_text(self.to_json())
