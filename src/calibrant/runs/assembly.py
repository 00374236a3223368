"""From a plan to what `run` takes: metrics with their judges, the system, gates, labels and settings."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.errors import EvalError, InputError, UnknownNameError
from calibrant.models.connecting import connect
from calibrant.readers.plan import surveyed_plan
from calibrant.readers.tabular import read_items
from calibrant.runs.engine import gate_conditions
from calibrant.runs.gate_text import checked_gates
from calibrant.runs.missing_keys import key_warnings
from calibrant.runs.needed_fields import unmet_needs
from calibrant.runs.people import Labels, check_labels, read_labels
from calibrant.runs.plan_imports import imported
from calibrant.runs.plan_metrics import PlanJudges, plan_metric
from calibrant.runs.preparation import Measurement, measurement
from calibrant.runs.references import names_a_file
from calibrant.runs.settings import RunSettings
from calibrant.runs.system import System

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    from calibrant.metrics.base import BaseMetric
    from calibrant.readers.plan import Plan
    from calibrant.readers.schema import Finding
    from calibrant.runs.gate_text import Gate

__all__ = ["Assembly", "assembled", "assembled_file"]

WORKSPACE = ".calibrant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """A plan made ready: what to measure, and what becomes of it. `asked` is the rest of what `measured` takes."""

    plan: Plan
    measurement: Measurement
    gates: tuple[Gate, ...] = ()
    baseline: str | None = None
    labels: Labels = field(default_factory=dict[str, Any])

    @property
    def forecast(self) -> dict[str, Any]:
        """What the run would take, and what may keep it from being answered, as JSON has it."""
        told = {"schema": "calibrant.forecast/1", "name": self.plan.name, **self.measurement.forecast.to_json()}
        return {**told, "warnings": [*key_warnings(self.measurement.metrics)]}

    @property
    def asked(self) -> dict[str, Any]:
        """The gates, the baseline and the labels, as `measured` takes them."""
        return {"gates": self.gates, "baseline": self.baseline, "labels": self.labels}


class _Problems:
    """What is wrong with a plan, with its lines, gathered while it is put together."""

    def __init__(self, found: Iterable[Finding] = ()) -> None:
        self.found: list[tuple[int, str]] = [(one.line, one.problem) for one in found]

    def at(self, line: int) -> bool:
        """Whether something was found on that line already; what follows from it is not told too."""
        return any(place == line for place, _ in self.found)

    @contextlib.contextmanager
    def of(self, line: int, what: str = "") -> Generator[None]:
        """Gather what is raised within; `what` is said before it."""
        try:
            yield
        except (EvalError, ValueError, TypeError, ImportError) as error:
            told = str(error).replace("\n", "\n  ")
            self.found.append((line, f"{what}{told}"))

    def settle(self, plan: Plan) -> None:
        """Raise one error for all of them, in the order of their lines."""
        if self.found:
            raise InputError.gathered(plan.path.name, [f"line {line}: {text}" for line, text in sorted(self.found)])


def assembled_file(path: Path | str, *, without_baseline: bool = False, **changes: Any) -> Assembly:
    """`assembled`, from the plan's file: what is wrong with its text and with what it names is one error."""
    plan, found = surveyed_plan(path)
    if plan is None:
        raise InputError.gathered(Path(path).name, [str(one) for one in found])
    return assembled(plan, found=found, without_baseline=without_baseline, **changes)


def assembled(plan: Plan, *, found: Sequence[Finding] = (), without_baseline: bool = False, **changes: Any) -> Assembly:
    """The plan with its functions imported and its judges connected; `changes` are settings that replace the plan's.

    All that cannot be had is one error, with the lines of the plan, along with what was `found` when it was read.
    `without_baseline` is for a first run: gates that are held against the baseline stay open.
    """
    problems = _Problems(found)
    metrics, system = _metrics(plan, problems), None
    if not problems.at(plan.line("system")):
        with problems.of(plan.line("system"), "system: "):
            system = None if plan.system is None else System(imported(plan.system, plan.folder), name=plan.system)
    baseline = None if without_baseline else _baseline(plan, problems)
    labels = _labels(plan, metrics, problems)
    gates = _gates(plan, metrics, problems)
    canaries = changes.pop("canaries", None) or plan.canaries
    if problems.found:
        _look_at_items(plan, problems)
    problems.settle(plan)
    asked = measurement(plan.dataset.path, metrics, system, _settings(plan, changes), canaries=canaries)
    lines = {entry.name: entry.line for entry in plan.metrics}
    problems.found += [(lines.get(name, 1), f"metric {name!r} {needs}") for name, needs in unmet_needs(asked)]
    problems.settle(plan)
    return Assembly(plan=plan, measurement=asked, gates=gates, baseline=baseline, labels=labels)


def _metrics(plan: Plan, problems: _Problems) -> list[BaseMetric]:
    """The metrics that can be made. Where a model or a judge is wrong, that is told, and not every metric besides."""
    models: dict[str, Any] = {}
    for name, entry in plan.models.items():
        with problems.of(entry.line, f"model {name!r}: "):
            models[name] = connect(entry.model, **entry.options, **entry.limits)
    judges, metrics = PlanJudges(models), list["BaseMetric"]()
    for entry in plan.metrics:
        named = entry.judges or plan.judges
        if problems.at(entry.line) or any(
            name not in models and (name in plan.models or "/" not in name) for name in named
        ):
            continue
        with problems.of(entry.line, f"metric {entry.name!r}: "):
            metrics.append(plan_metric(entry, plan, judges))
    return metrics


def _labels(plan: Plan, metrics: Sequence[BaseMetric], problems: _Problems) -> Labels:
    """The labels; they are held against the metrics when all of those could be made."""
    labels: Labels = {}
    if plan.labels is not None and not problems.at(plan.line("labels")):
        with problems.of(plan.line("labels")):
            labels = read_labels(plan.labels)
            if len(metrics) == len(plan.metrics):
                check_labels(labels, metrics)
    return labels


def _look_at_items(plan: Plan, problems: _Problems) -> None:
    """Gather also what is wrong with the dataset, when the plan is wrong anyway."""
    if not problems.at(plan.line("dataset")) and plan.dataset.path.is_file():
        with problems.of(plan.line("dataset")):
            read_items(plan.dataset.path, columns=plan.dataset.columns, cluster=plan.dataset.cluster).survey()


def _baseline(plan: Plan, problems: _Problems) -> str | None:
    """The exported file, as a path from here, or the name of a run."""
    if plan.baseline is None or not names_a_file(plan.folder / plan.baseline):
        return plan.baseline
    path = plan.folder / plan.baseline
    if not path.is_file() and names_a_file(plan.baseline):
        remedy = "for a first run leave it out (calibrant run --no-baseline), then export that run"
        problems.found.append((plan.line("baseline"), f"there is no baseline {plan.baseline!r}; {remedy}"))
    return str(path) if path.is_file() else plan.baseline


def _gates(plan: Plan, metrics: Sequence[BaseMetric], problems: _Problems) -> tuple[Gate, ...]:
    """The gates. What is wrong with a metric is not told again with every gate that names it."""
    found: list[Gate] = []
    are_made = len(metrics) == len(plan.metrics)
    names = {entry.name: True for entry in plan.metrics}
    for place, text in enumerate(plan.gates):
        with problems.of(plan.line("gates", place)):
            if are_made:
                found += gate_conditions([text], metrics, has_baseline=plan.baseline is not None)
            else:
                checked_gates([text], names, has_baseline=plan.baseline is not None)
    return tuple(found)


def _settings(plan: Plan, changes: Mapping[str, Any]) -> RunSettings:
    budget = {"usd": "max_cost", "calls": "max_calls", "tokens": "max_tokens", "minutes": "max_minutes"}
    given: dict[str, Any] = {
        "name": plan.name,
        "workspace": plan.folder / WORKSPACE,
        "seed": plan.seed,
        "store_text": plan.store_text,
        "columns": plan.dataset.columns,
        "cluster": plan.dataset.cluster,
        **{budget[name]: value for name, value in plan.budget.items()},
    }
    if plan.concurrency is not None:
        given["concurrency"] = plan.concurrency
    known = [setting.name for setting in fields(RunSettings)]
    for name in changes.keys() - {*known}:
        raise UnknownNameError.among("setting", name, known)
    return RunSettings(**{**given, **{name: value for name, value in changes.items() if value is not None}})
