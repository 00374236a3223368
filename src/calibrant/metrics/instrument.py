"""What identifies a metric as a measuring device: two scores are comparable when their instruments are the same."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from calibrant.aggregation.juries import build_aggregation_strategy
from calibrant.errors import WrongTypeError
from calibrant.fingerprints import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable

    from calibrant.metrics.base import BaseMetric

__all__ = ["code_fingerprint", "definition_of"]


def definition_of(metric: BaseMetric) -> dict[str, Any]:
    """The parts of a metric that make its scores differ: its code, judges, aggregation, threshold and polarity."""
    from calibrant.models.reading import PARSER_VERSION

    return {
        "name": metric.name,
        "code": _code_of(type(metric)),
        "judges": [dict(model.identity) for model in metric.models],
        "parser": PARSER_VERSION if metric.models else None,
        "aggregation": _aggregation(metric),
        "quorum": metric.quorum,
        "repeats": metric.repeats,
        "threshold": metric.threshold,
        "strict_mode": metric.strict_mode,
        "higher_is_better": metric.higher_is_better,
        "required_fields": sorted(metric.required_fields),
        "passing_labels": sorted(metric.passing_labels),
    }


def code_fingerprint(code: Callable[..., Any] | type) -> str:
    """The hash of a function's or class's source; of its byte code where there is no source.

    Two functions of the same text have the same fingerprint, wherever they are defined. An object that can be called
    is told by its class, a `functools.partial` by its function and what it gives it.
    """
    if isinstance(code, partial):
        return fingerprint([code_fingerprint(code.func), repr(code.args), repr(sorted(code.keywords.items()))])
    if not isinstance(code, type) and not hasattr(code, "__qualname__"):
        return code_fingerprint(type(code))
    try:
        return fingerprint(inspect.getsource(code))
    except (OSError, TypeError):
        compiled = getattr(code, "__code__", None)
        if compiled is None:
            return fingerprint(f"{code.__module__}.{code.__qualname__}")
        return fingerprint([compiled.co_code, repr(compiled.co_consts), compiled.co_names])


def _code_of(metric_class: type[BaseMetric]) -> str:
    """Shipped metrics by name and version, so that a refactoring keeps baselines; a user's own by its source."""
    name = f"{metric_class.__module__}.{metric_class.__qualname__}/{metric_class.version}"
    if metric_class.__module__.partition(".")[0] == "calibrant":
        return name
    return f"{metric_class.__qualname__}/{metric_class.version}/{code_fingerprint(metric_class)}"


def _aggregation(metric: BaseMetric) -> Any:
    strategy = build_aggregation_strategy(metric.aggregation_method)
    settings = {name: value for name, value in vars(strategy).items() if not name.startswith("_")}
    try:
        fingerprint(settings)
    except WrongTypeError:
        settings = {name: repr(value) for name, value in settings.items()}
    return [str(strategy.strategy), type(strategy).__qualname__, settings]
