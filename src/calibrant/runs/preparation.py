"""Before the first call: items checked, metrics settled, judges wrapped, the run named by what it measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.fingerprints import fingerprint
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.canaries import Canaries, chosen_canaries
from calibrant.metrics.canary_reports import canaries_for
from calibrant.metrics.function import FunctionMetric
from calibrant.metrics.judges import resolve_primary_invoker
from calibrant.metrics.rubric import RubricMetric
from calibrant.metrics.shipped import named_metric
from calibrant.readers.tabular import ItemTable, Survey, read_items
from calibrant.runs.forecasting import Forecast, forecast
from calibrant.runs.records import DatasetInfo
from calibrant.runs.system import System

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from calibrant.metrics.canaries import Canary
    from calibrant.runs.keeping import Keeper
    from calibrant.runs.settings import RunSettings
    from calibrant.runs.specification import MetricSpec

__all__ = ["Measurement", "asks_judges", "measurement", "metric_called", "metric_list"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What is to be measured: the items, the metrics with their judges not yet wrapped, and the system."""

    table: ItemTable
    survey: Survey
    metrics: tuple[BaseMetric, ...]
    system: System | None
    settings: RunSettings
    canaries: tuple[Canary, ...] = ()

    @property
    def dataset(self) -> DatasetInfo:
        """Which items they are."""
        survey = self.survey
        return DatasetInfo(
            name=self.table.name, n=survey.n, hash=survey.hash, contents=survey.contents, clusters=survey.clusters
        )

    @property
    def forecast(self) -> Forecast:
        """What it will take."""
        expected = forecast(self.metrics, self.survey.first, self.survey.n, has_system=self.system is not None)
        for metric in self.metrics:
            known = [canary.item for canary in canaries_for(metric, self.canaries)]
            expected = expected.joined(forecast([metric], known, len(known), has_system=False)) if known else expected
        return expected

    def identity(self, specs: Sequence[MetricSpec]) -> str:
        """The hash of all that is measured, and by what: the same run again has the same one."""
        return fingerprint(
            [
                self.settings.name,
                self.survey.hash,
                self.survey.contents,
                sorted([spec.name, spec.instrument] for spec in specs),
                None if self.system is None else self.system.identity,
                self.settings.seed,
            ]
        )

    def run_id(self, specs: Sequence[MetricSpec], keeper: Keeper) -> str:
        """The run's name in its workspace. The same measurement goes on with the run that it began.

        When that one is complete, a system is measured anew, since it may have changed; `fresh` always is.
        """
        base, number = f"r-{self.identity(specs).removeprefix('sha256:')[:8]}", 1
        known = keeper.manifest(base)
        name = base
        while known is not None and (self.settings.fresh or (self.system and known["status"] == "complete")):
            number += 1
            name = f"{base}-{number}"
            known = keeper.manifest(name)
        return name


def measurement(
    dataset: Any, metrics: Any, system: Any, settings: RunSettings, *, canaries: Canaries = False
) -> Measurement:
    """What `run` was asked to measure, checked; nothing is called yet."""
    chosen = metric_list(metrics)
    _check_prices(chosen, settings)
    table = read_items(dataset, columns=settings.columns, cluster=settings.cluster)
    survey = table.survey()
    if not survey.n:
        raise InputError(f"{table.title or 'the dataset'} has no items; a run needs at least one")
    asked = system if system is None or isinstance(system, System) else System(system)
    return Measurement(
        table=table,
        survey=survey,
        metrics=chosen,
        system=asked,
        settings=settings,
        canaries=chosen_canaries(canaries),
    )


def _check_prices(metrics: Iterable[BaseMetric], settings: RunSettings) -> None:
    """Raise where money is to be kept to and a judge's price is unknown: no call could be made at all."""
    if settings.max_cost is None:
        return
    models = {model.name: model for metric in metrics for model in metric.models}
    unknown = sorted(name for name, model in models.items() if model.cost(1, 1) is None and not model.tells_cost)
    if unknown:
        raise InputError(
            f"a budget in usd cannot be kept, because the price of {', '.join(unknown)} is unknown: give it "
            "(price: {input: 1.25, output: 10}, in US dollars per million tokens), install calibrant[prices], "
            "or set the budget in calls or tokens"
        )


def metric_list(metrics: Any) -> tuple[BaseMetric, ...]:
    """The metrics that `metrics` stands for: instances, functions, names of shipped ones, or one of these."""
    given: Iterable[Any] = [metrics] if isinstance(metrics, str | BaseMetric) or callable(metrics) else metrics
    found = tuple(_metric(one) for one in given)
    if not found:
        raise InputError("a run needs at least one metric")
    names = [metric.name for metric in found]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise InputError(f"two metrics are called {repeated[0]!r}; give each a name of its own (name=...)")
    return found


def _metric(given: BaseMetric | str | Callable[..., Any]) -> BaseMetric:
    if isinstance(given, str):
        given = metric_called(given)
    elif not isinstance(given, BaseMetric):
        if not callable(given) or isinstance(given, type):
            raise WrongTypeError(f"a metric is a BaseMetric, a function or a name, not {shortened(given)}")
        given = FunctionMetric(given)
    if not given.models and asks_judges(given):
        # The default judge is settled here, so that it is wrapped like any other and part of the instrument.
        given = _with_judge(given)
    return given


def metric_called(name: str, **settings: Any) -> BaseMetric:
    """The shipped metric of that name, or the rubric in the file that it names (`rubrics/polite.md`).

    >>> metric_called("groundedness_rule").name
    'groundedness_rule'
    """
    is_file = "/" in name or name.endswith(".md")
    return RubricMetric(name, **settings) if is_file else named_metric(name, **settings)


def asks_judges(metric: BaseMetric) -> bool:
    """Whether a metric asks a judge: it says what it would ask, or a method of its class names `self.judge`."""
    kind = type(metric)
    if kind.estimated_requests is not BaseMetric.estimated_requests:
        return True
    own = kind.__mro__[: kind.__mro__.index(BaseMetric)]
    codes = (getattr(method, "__code__", None) for one in own for method in vars(one).values())
    return any(code is not None and "judge" in code.co_names for code in codes)


def _with_judge(metric: BaseMetric) -> BaseMetric:
    import copy

    asked = copy.copy(metric)
    asked.models = [resolve_primary_invoker(None)]
    return asked
