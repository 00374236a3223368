"""Metrics: code that turns an item into a result by asking one or more raters."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.metrics.base import BaseMetric
    from calibrant.metrics.function import FunctionMetric, metric
    from calibrant.metrics.judges import copy_invoker_with_schema, resolve_primary_invoker
    from calibrant.metrics.multi import MultiOutputBaseMetric
    from calibrant.ratings import MetricOutput, MetricResult, MetricScore

__all__ = [
    "BaseMetric",
    "FunctionMetric",
    "MetricOutput",
    "MetricResult",
    "MetricScore",
    "MultiOutputBaseMetric",
    "copy_invoker_with_schema",
    "metric",
    "resolve_primary_invoker",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "BaseMetric": "calibrant.metrics.base",
        "FunctionMetric": "calibrant.metrics.function",
        "MetricOutput": "calibrant.ratings",
        "MetricResult": "calibrant.ratings",
        "MetricScore": "calibrant.ratings",
        "MultiOutputBaseMetric": "calibrant.metrics.multi",
        "copy_invoker_with_schema": "calibrant.metrics.judges",
        "metric": "calibrant.metrics.function",
        "resolve_primary_invoker": "calibrant.metrics.judges",
    },
)
