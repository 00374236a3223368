"""From a plan to what `run` takes: metrics with their judges, the system, gates, labels and settings."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from calibrant.errors import EvalError, InputError, UnknownNameError
from calibrant.models.connecting import connect
from calibrant.runs.engine import gate_conditions
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
    from collections.abc import Generator, Mapping, Sequence

    from calibrant.metrics.base import BaseMetric
    from calibrant.readers.plan import Plan
    from calibrant.runs.gate_text import Gate

__all__ = ["Assembly", "assembled"]

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

    def __init__(self) -> None:
        self.found: list[tuple[int, str]] = []

    @contextlib.contextmanager
    def of(self, line: int, what: str = "") -> Generator[None]:
        """Gather what is raised within; `what` is said before it."""
        try:
            yield
        except (EvalError, ValueError, TypeError, ImportError) as error:
            self.found.append((line, f"{what}{error}"))

    def settle(self, plan: Plan) -> None:
        """Raise one error for all of them, in the order of their lines."""
        if self.found:
            raise InputError.gathered(plan.path.name, [f"line {line}: {text}" for line, text in sorted(self.found)])


def assembled(plan: Plan, *, without_baseline: bool = False, **changes: Any) -> Assembly:
    """The plan with its functions imported and its judges connected; `changes` are settings that replace the plan's.

    All that cannot be had is one error, with the lines of the plan. `without_baseline` is for a first run: gates that
    are held against the baseline stay open.
    """
    problems = _Problems()
    metrics, system = _metrics(plan, problems), None
    are_made = not problems.found
    with problems.of(plan.line("system"), "system: "):
        system = None if plan.system is None else System(imported(plan.system, plan.folder), name=plan.system)
    baseline = None if without_baseline else _baseline(plan, problems)
    labels: Labels = {} if plan.labels is None else read_labels(plan.labels)
    gates: tuple[Gate, ...] = ()
    if are_made:
        # What is wrong with a metric would be told again with every gate that names it.
        with problems.of(plan.line("labels")):
            check_labels(labels, metrics)
        gates = _gates(plan, metrics, problems)
    problems.settle(plan)
    canaries = changes.pop("canaries", None) or plan.canaries
    asked = measurement(plan.dataset.path, metrics, system, _settings(plan, changes), canaries=canaries)
    lines = {entry.name: entry.line for entry in plan.metrics}
    problems.found += [(lines.get(name, 1), f"metric {name!r} {needs}") for name, needs in unmet_needs(asked)]
    problems.settle(plan)
    return Assembly(plan=plan, measurement=asked, gates=gates, baseline=baseline, labels=labels)


def _metrics(plan: Plan, problems: _Problems) -> list[BaseMetric]:
    models: dict[str, Any] = {}
    for name, entry in plan.models.items():
        with problems.of(entry.line, f"model {name!r}: "):
            models[name] = connect(entry.model, **entry.options, **entry.limits)
    if problems.found:
        return []
    judges, metrics = PlanJudges(models), list["BaseMetric"]()
    for entry in plan.metrics:
        with problems.of(entry.line, f"metric {entry.name!r}: "):
            metrics.append(plan_metric(entry, plan, judges))
    return metrics


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
    found: list[Gate] = []
    for place, text in enumerate(plan.gates):
        with problems.of(plan.line("gates", place)):
            found += gate_conditions([text], metrics, has_baseline=plan.baseline is not None)
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
