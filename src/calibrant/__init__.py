"""Calibrant measures systems built on language models, with instruments that it has checked first.

Importing this package runs nothing: every name below loads its module when it is first used.
"""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.errors import EvalError, InputError
    from calibrant.estimates import Coverage, Estimate
    from calibrant.items import Dataset, EvalInput
    from calibrant.ratings import Failure, MetricOutput, MetricResult, MetricScore, Rating, Usage

__version__ = "0.1.0"

__all__ = [
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
    "Rating",
    "Usage",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
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
        "Rating": "calibrant.ratings",
        "Usage": "calibrant.ratings",
    },
)
