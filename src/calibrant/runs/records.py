"""A run as it is handed out: one summary a metric, what failed and why, what it took, and the ratings behind it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from calibrant.errors import UnknownNameError
from calibrant.ratings import Rating, Usage
from calibrant.runs.spending import Spending

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from calibrant.items import EvalInput
    from calibrant.metrics.canary_reports import CanaryReport
    from calibrant.runs.keeping import Keeper
    from calibrant.runs.summaries import MetricSummary
    from calibrant.runs.tally import Outcomes

__all__ = ["EXIT_INCOMPLETE", "DatasetInfo", "GateAnswer", "Run", "SystemSummary", "exit_code_of"]

RunStatus = Literal["complete", "incomplete"]
EXIT_PASSED, EXIT_FAILED, EXIT_INCONCLUSIVE, EXIT_INCOMPLETE = 0, 1, 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetInfo:
    """Which items were rated: name, number, hash of the inputs, hash of everything, and the number of clusters."""

    name: str
    n: int
    hash: str
    contents: str = ""
    clusters: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The dataset as the run's JSON has it."""
        given = {"name": self.name, "n": self.n, "hash": self.hash}
        return given if self.clusters is None else {**given, "clusters": self.clusters}


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSummary:
    """The system under test in this run: its name, its calls, its failures, and its latency in seconds."""

    name: str
    calls: int = 0
    cached: int = 0
    failed: int = 0
    latency: Mapping[str, float | None] = field(default_factory=dict[str, float | None])

    def to_json(self) -> dict[str, Any]:
        """The system as JSON has it."""
        return {
            "name": self.name,
            "calls": self.calls,
            "cached": self.cached,
            "failed": self.failed,
            "latency": dict(self.latency),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """What became of one gate; `more_items` is about how many more would settle one that is INCONCLUSIVE."""

    gate: str
    answer: Literal["PASS", "FAIL", "INCONCLUSIVE"]
    more_items: int | None = None
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """The answer as the run's JSON has it."""
        return {"gate": self.gate, "answer": self.answer, "more_items": self.more_items, "reason": self.reason}


def exit_code_of(gates: Iterable[GateAnswer]) -> int:
    """1 when a gate failed, else 3 when one is inconclusive, else 0.

    >>> exit_code_of([GateAnswer(gate="coverage >= 0.9", answer="PASS")]), exit_code_of([])
    (0, 0)
    """
    answers = {gate.answer for gate in gates}
    if "FAIL" in answers:
        return EXIT_FAILED
    return EXIT_INCONCLUSIVE if "INCONCLUSIVE" in answers else EXIT_PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A dataset rated by metrics. Print it for the table; `to_json()` is what `--json` prints.

    `status` is "incomplete" when a budget or an interruption left items out; the numbers hold for those that were
    rated, and their coverage says how many were not. `canaries` says how each metric fared on items whose verdict is
    known, where they were asked for; no number of `metrics` has them in it. `ratings()` and `items()` stream what was
    kept. `usage` is what it took this time, `spending` what it took in all, with the times before.
    """

    id: str
    name: str
    status: RunStatus
    dataset: DatasetInfo
    metrics: tuple[MetricSummary, ...]
    gates: tuple[GateAnswer, ...] = ()
    usage: Usage = field(default_factory=Usage)
    warnings: tuple[str, ...] = ()
    system: SystemSummary | None = None
    seconds: float = 0.0
    canaries: tuple[CanaryReport, ...] = ()
    spending: Spending = field(default_factory=Spending)
    keeper: Keeper | None = field(default=None, repr=False, compare=False)

    @property
    def exit_code(self) -> int:
        """4 when the run is incomplete, else 1 when a gate failed, 3 when one is inconclusive, 0 when all passed.

        It is also 3 when a metric rated nothing, with gates or without: of that metric, nothing is known.
        """
        if self.status == "incomplete":
            return EXIT_INCOMPLETE
        code = exit_code_of(self.gates)
        return EXIT_INCONCLUSIVE if code == EXIT_PASSED and self.unrated else code

    @property
    def unrated(self) -> tuple[str, ...]:
        """The names of the metrics that rated no item at all; `warnings` says why, and what to do."""
        return tuple(summary.name for summary in self.metrics if not summary.pass_rate.coverage.rated)

    @property
    def coverage(self) -> float | None:
        """The share of all ratings asked for that were made; None when nothing was asked."""
        counts = [summary.pass_rate.coverage for summary in self.metrics]
        asked = sum(one.rated + one.failed + one.skipped for one in counts)
        return sum(one.rated for one in counts) / asked if asked else None

    def metric(self, name: str) -> MetricSummary:
        """The summary of the metric called `name`."""
        for summary in self.metrics:
            if summary.name == name:
                return summary
        raise UnknownNameError.among("metric", name, [summary.name for summary in self.metrics])

    def ratings(self, criterion: str | None = None) -> Iterator[Rating]:
        """The ratings that were kept, votes and results, of all metrics or of one."""
        return iter(()) if self.keeper is None else self.keeper.ratings(self.id, criterion)

    def items(self) -> Iterator[EvalInput]:
        """The items as they were rated, with the system's answers, in the dataset's order."""
        return iter(()) if self.keeper is None else (record.item for record in self.keeper.items(self.id))

    def outcomes(self, name: str) -> Outcomes:
        """Score, pass and status of every item on the metric called `name`, as arrays in the dataset's order."""
        from calibrant.runs.tally import outcomes_of

        return outcomes_of(self, self.metric(name).spec)

    def close(self) -> None:
        """Let go of the workspace; the numbers stay, the ratings and items can no longer be read."""
        if self.keeper is not None:
            self.keeper.close()

    def to_json(self) -> dict[str, Any]:
        """The run as `--json` prints it: null where there is no number, never NaN."""
        given: dict[str, Any] = {
            "schema": "calibrant.run/1",
            "run": self.id,
            "name": self.name,
            "status": self.status,
            "exit_code": self.exit_code,
            "dataset": self.dataset.to_json(),
            "metrics": [summary.to_json() for summary in self.metrics],
            "gates": [gate.to_json() for gate in self.gates],
            "usage": self.usage.to_json(),
            "warnings": list(self.warnings),
            "canaries": [report.to_json() for report in self.canaries],
        }
        if self.spending.sessions > 1:
            given["spending"] = self.spending.to_json()
        return given if self.system is None else {**given, "system": self.system.to_json()}

    def __str__(self) -> str:
        from calibrant.report.tables import run_text

        return run_text(self.to_json())
