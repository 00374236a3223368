"""The metrics of a plan, made with the judges that it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.metrics.base import BaseMetric
from calibrant.metrics.function import FunctionMetric
from calibrant.metrics.rubric import RubricMetric
from calibrant.models.connecting import connect
from calibrant.runs.plan_imports import imported
from calibrant.runs.preparation import asks_judges, metric_called

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.models.invoker import BaseLMInvoker
    from calibrant.readers.plan import MetricEntry, Plan

__all__ = ["PlanJudges", "plan_metric"]

RENAMED = {"aggregation": "aggregation_method"}


class PlanJudges:
    """The models of the plan by their names; others are connected when they are named."""

    def __init__(self, models: Mapping[str, BaseLMInvoker]) -> None:
        self._models = dict(models)

    def named(self, name: str) -> BaseLMInvoker:
        """The model of that name; the same one each time."""
        if name not in self._models:
            self._models[name] = connect(name)
        return self._models[name]


def plan_metric(entry: MetricEntry, plan: Plan, judges: PlanJudges) -> BaseMetric:
    """The metric that the plan describes, with its judges connected."""
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
    found = imported(entry.function, plan.folder)
    if isinstance(found, type) and issubclass(found, BaseMetric):
        return found(**named)
    if isinstance(found, BaseMetric):
        for name, value in named.items():
            setattr(found, name, value)
        return found
    return FunctionMetric(found, **named)
