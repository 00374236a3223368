"""Calibrant measures systems built on language models, with instruments that it has checked first.

Importing this package runs nothing: every name below loads its module when it is first used.
"""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.aggregation.combined import AggregationResult, MetricsAggregator, WeightedMetricsAggregator
    from calibrant.aggregation.juries import AggregationMethod
    from calibrant.aggregation.verdicts import score_agg
    from calibrant.errors import EvalError, InputError
    from calibrant.estimates import Coverage, Estimate
    from calibrant.items import Dataset, EvalInput
    from calibrant.metrics.base import BaseMetric
    from calibrant.metrics.function import metric
    from calibrant.metrics.multi import MultiOutputBaseMetric
    from calibrant.models.scripted import ScriptedInvoker
    from calibrant.ratings import Failure, MetricOutput, MetricResult, MetricScore, Rating, Usage

__version__ = "0.1.0"

__all__ = [
    "AggregationMethod",
    "AggregationResult",
    "BaseMetric",
    "Coverage",
    "Dataset",
    "Estimate",
    "EvalError",
    "EvalInput",
    "Failure",
    "InputError",
    "MetricOutput",
    "MetricResult",
    "MetricScore",
    "MetricsAggregator",
    "MultiOutputBaseMetric",
    "Rating",
    "ScriptedInvoker",
    "Usage",
    "WeightedMetricsAggregator",
    "metric",
    "score_agg",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "AggregationMethod": "calibrant.aggregation.juries",
        "AggregationResult": "calibrant.aggregation.combined",
        "BaseMetric": "calibrant.metrics.base",
        "Coverage": "calibrant.estimates",
        "Dataset": "calibrant.items",
        "Estimate": "calibrant.estimates",
        "EvalError": "calibrant.errors",
        "EvalInput": "calibrant.items",
        "Failure": "calibrant.ratings",
        "InputError": "calibrant.errors",
        "MetricOutput": "calibrant.ratings",
        "MetricResult": "calibrant.ratings",
        "MetricScore": "calibrant.ratings",
        "MetricsAggregator": "calibrant.aggregation.combined",
        "MultiOutputBaseMetric": "calibrant.metrics.multi",
        "Rating": "calibrant.ratings",
        "ScriptedInvoker": "calibrant.models.scripted",
        "Usage": "calibrant.ratings",
        "WeightedMetricsAggregator": "calibrant.aggregation.combined",
        "metric": "calibrant.metrics.function",
        "score_agg": "calibrant.aggregation.verdicts",
    },
)
