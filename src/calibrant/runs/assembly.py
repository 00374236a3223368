"""From a plan to what `run` takes: metrics with their judges, the system, and settings."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant.errors import EvalError, InputError
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.function import FunctionMetric
from calibrant.metrics.rubric import RubricMetric
from calibrant.models.connecting import connect
from calibrant.runs.preparation import Measurement, asks_judges, measurement, metric_called
from calibrant.runs.settings import RunSettings
from calibrant.runs.system import System

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.models.invoker import BaseLMInvoker
    from calibrant.readers.plan import MetricEntry, Plan

__all__ = ["Assembly", "assembled"]

RENAMED = {"aggregation": "aggregation_method"}
WORKSPACE = ".calibrant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """A plan made ready: what to measure, and what becomes of it."""

    plan: Plan
    measurement: Measurement

    @property
    def asked(self) -> dict[str, Any]:
        """The gates, the baseline and the labels, as `measured` takes them."""
        baseline = self.plan.baseline
        if baseline is not None and (self.plan.folder / baseline).is_file():
            baseline = str(self.plan.folder / baseline)
        return {"gates": self.plan.gates, "baseline": baseline, "labels": self.plan.labels}


def assembled(plan: Plan, **changes: Any) -> Assembly:
    """The plan with its functions imported and its judges connected; `changes` are settings that replace the plan's.

    All that cannot be had is one error, with the lines of the plan.
    """
    models = {name: connect(entry.model, **entry.options, **entry.limits) for name, entry in plan.models.items()}
    judges = _Judges(models)
    metrics: list[BaseMetric] = []
    problems: list[str] = []
    for entry in plan.metrics:
        try:
            metrics.append(_metric(entry, plan, judges))
        except (EvalError, ValueError, TypeError, ImportError) as error:
            problems.append(f"line {entry.line}: metric {entry.name!r}: {error}")
    system: System | None = None
    try:
        system = None if plan.system is None else System(_imported(plan.system, plan), name=plan.system)
    except EvalError as error:
        problems.append(f"system: {error}")
    if problems:
        raise InputError.gathered(plan.path.name, problems)
    canaries = changes.pop("canaries", None) or plan.canaries
    asked = measurement(plan.dataset.path, metrics, system, _settings(plan, changes), canaries=canaries)
    return Assembly(plan=plan, measurement=asked)


class _Judges:
    """The models of the plan by their names; others are connected when they are named."""

    def __init__(self, models: Mapping[str, BaseLMInvoker]) -> None:
        self._models = dict(models)

    def named(self, name: str) -> BaseLMInvoker:
        if name not in self._models:
            self._models[name] = connect(name)
        return self._models[name]


def _metric(entry: MetricEntry, plan: Plan, judges: _Judges) -> BaseMetric:
    settings = {RENAMED.get(name, name): value for name, value in entry.settings.items()}
    if "passing_labels" in settings:
        settings["passing_labels"] = frozenset(settings["passing_labels"])
    made = _made(entry, plan, settings)
    named = entry.judges or (plan.judges if asks_judges(made) and not made.models else ())
    if named:
        made.models = [judges.named(name) for name in named]
    return made


def _made(entry: MetricEntry, plan: Plan, settings: dict[str, Any]) -> BaseMetric:
    named: dict[str, Any] = {**settings, "name": entry.name}
    if entry.rubric is not None:
        return RubricMetric(entry.rubric, **named)
    if entry.function is None:
        return metric_called(entry.name, **settings)
    found = _imported(entry.function, plan)
    if isinstance(found, type) and issubclass(found, BaseMetric):
        return found(**named)
    if isinstance(found, BaseMetric):
        for name, value in named.items():
            setattr(found, name, value)
        return found
    return FunctionMetric(found, **named)


def _imported(reference: str, plan: Plan) -> Any:
    """What `module:name` stands for; modules beside the plan are found first."""
    module, _, name = reference.partition(":")
    folder = str(plan.folder.resolve())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        raise InputError(f"cannot import {reference!r}: {error} (looked in {plan.folder} first)") from None
    except AttributeError:
        raise InputError(f"module {module!r} has no {name!r}") from None
    except Exception as error:
        raise InputError(f"importing {module!r} failed: {type(error).__name__}: {error}") from error
    return found


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
    return RunSettings(**{**given, **{name: value for name, value in changes.items() if value is not None}})
