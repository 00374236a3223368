"""A named set of metrics over generated answers, combined into one verdict an item, and one table."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant.aggregation.combined import AggregationResult, MetricsAggregator
from calibrant.errors import InputError
from calibrant.estimates import Coverage, Estimate
from calibrant.items import EvalInput
from calibrant.metrics.jury import CONCURRENT_ITEMS, each
from calibrant.metrics.multi import MultiOutputBaseMetric
from calibrant.metrics.settings import checked_item, checked_items

if TYPE_CHECKING:
    from calibrant.errors import Status
    from calibrant.metrics.base import BaseMetric
    from calibrant.ratings import MetricResult

__all__ = ["GEvalGenerationEvaluator", "GenerationReport", "GenerationResult"]


@dataclass(frozen=True, slots=True)
class GenerationResult:
    """One item: the result of every metric by its name, and what they come to together."""

    item: EvalInput
    results: Mapping[str, MetricResult]
    aggregate: AggregationResult


class GenerationReport(Sequence[GenerationResult]):
    """The results of all items in their order; printed, it is one table with a row a metric."""

    def __init__(self, results: Iterable[GenerationResult]) -> None:
        self.results = tuple(results)

    def __getitem__(self, place: Any) -> Any:
        return self.results[place]

    def __len__(self) -> int:
        return len(self.results)

    def estimates(self, *, level: float = 0.95) -> dict[str, dict[str, Estimate]]:
        """For each metric, and for `all` together, the `score` and the `pass_rate` as estimates."""
        names = list(self.results[0].results) if self.results else []
        found = {name: _of_metric([one.results[name] for one in self.results], level) for name in names}
        return {**found, "all": _of_all([one.aggregate for one in self.results], level)} if names else found

    def rows(self) -> list[dict[str, Any]]:
        """One record an item: its id, each metric's score (None where there is none), success and score of all."""
        return [
            {
                "id": one.item.id,
                **{name: result.score for name, result in one.results.items()},
                "success": one.aggregate.aggregate_success,
                "score": one.aggregate.aggregate_score,
            }
            for one in self.results
        ]

    def __str__(self) -> str:
        cells = [("metric", "score", "pass rate")]
        cells += [(name, str(told["score"]), str(told["pass_rate"])) for name, told in self.estimates().items()]
        widths = [max(len(row[column]) for row in cells) for column in range(3)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        return "\n".join(line.rstrip() for line in lines)


class GEvalGenerationEvaluator:
    """Several metrics on generated answers, combined.

    By default they are completeness, groundedness, redundancy, language consistency and refusal alignment. `metrics`
    are a list, or a mapping from the names they shall have; `models` are the judges of those that have none.
    `aggregator` combines them (`MetricsAggregator`: every one must pass; the score is their mean, polarity minded).
    """

    def __init__(
        self,
        metrics: Mapping[str, BaseMetric] | Sequence[BaseMetric] | None = None,
        *,
        models: Any = None,
        aggregator: MetricsAggregator | None = None,
    ) -> None:
        self.metrics = _named(_default_metrics() if metrics is None else metrics)
        self.aggregator = aggregator or MetricsAggregator()
        if models is not None:
            self.metrics = {name: _judged(metric, models) for name, metric in self.metrics.items()}

    async def evaluate(self, data: Any) -> Any:
        """The GenerationResult of one item, or the GenerationReport of a list of them."""
        if isinstance(data, EvalInput | Mapping):
            return await self._evaluate_item(checked_item(data))
        return GenerationReport(await each(checked_items(data), self._evaluate_item, limit=CONCURRENT_ITEMS))

    async def _evaluate_item(self, item: EvalInput) -> GenerationResult:
        async def ask(metric: BaseMetric) -> MetricResult:
            return await metric.evaluate(item)

        answers = await each(list(self.metrics.values()), ask, limit=len(self.metrics))
        results = dict(zip(self.metrics, answers, strict=True))
        return GenerationResult(item, results, self.aggregator.aggregate(results))

    def estimated_calls(self, item: EvalInput) -> int:
        """How many calls to models the item takes."""
        return sum(metric.estimated_calls(item) for metric in self.metrics.values())


def _default_metrics() -> list[BaseMetric]:
    from calibrant.metrics.shipped import named_metric

    names = ("completeness", "groundedness", "redundancy", "language_consistency", "refusal_alignment")
    return [named_metric(name) for name in names]


def _named(metrics: Mapping[str, BaseMetric] | Sequence[BaseMetric]) -> dict[str, BaseMetric]:
    if isinstance(metrics, Mapping):
        found = dict(metrics)
    else:
        found = {metric.name: metric for metric in metrics}
        if len(found) < len(metrics):
            raise InputError("two metrics have one name; pass a mapping from the names they shall have")
    if not found:
        raise InputError("an evaluator needs at least one metric")
    several = [name for name, metric in found.items() if isinstance(metric, MultiOutputBaseMetric)]
    if several:
        raise InputError(f"{several[0]} has several outputs, which cannot be combined with the score of one metric")
    if "all" in found:
        raise InputError("`all` is the name of the metrics together; call the metric something else")
    return found


def _judged(metric: BaseMetric, models: Any) -> BaseMetric:
    """`metric` itself when it has judges, else a copy that asks `models`."""
    if metric.models:
        return metric
    asked = copy.copy(metric)
    asked.models = models
    return asked


def _of_metric(results: Sequence[MetricResult], level: float) -> dict[str, Estimate]:
    from calibrant.stats import mean, proportion

    coverage = Coverage.of((one.status, one.error.code if one.error else None) for one in results)
    scores = [one.score for one in results if one.score is not None]
    numeric = coverage if len(scores) == coverage.rated else None
    passed = sum(one.success for one in results)
    return {
        "score": mean(scores, level=level, coverage=numeric),
        "pass_rate": proportion(passed, coverage.rated, level=level, coverage=coverage),
    }


def _of_all(aggregates: Sequence[AggregationResult], level: float) -> dict[str, Estimate]:
    from calibrant.stats import mean, proportion

    whole = [one for one in aggregates if not one.errors]
    failed = [next(iter(one.errors.values())) for one in aggregates if one.errors]
    outcomes: list[tuple[Status, str | None]] = [("rated", None)] * len(whole)
    coverage = Coverage.of([*outcomes, *((error.status, error.code) for error in failed)])
    scores = [one.aggregate_score for one in whole if one.aggregate_score is not None]
    passed = sum(one.aggregate_success for one in whole)
    return {
        "score": mean(scores, level=level, coverage=coverage),
        "pass_rate": proportion(passed, len(whole), level=level, coverage=coverage),
    }
