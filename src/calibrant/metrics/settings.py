"""Checks of what users set on a metric and hand to it, with errors that say what was expected."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from calibrant.aggregation.juries import build_aggregation_strategy
from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.items import EvalInput
from calibrant.metrics.judges import resolve_invokers

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CHECKED_SETTINGS", "checked_item", "checked_items", "snake_case"]


def checked_item(data: EvalInput | Mapping[str, Any]) -> EvalInput:
    """The item, made of a mapping if it is one."""
    return data if isinstance(data, EvalInput) else EvalInput.from_dict(data)


def checked_items(data: Any) -> list[EvalInput]:
    """The items of a list; anything that is no item is named by its row."""
    if isinstance(data, str) or not isinstance(data, Iterable):
        raise WrongTypeError(f"evaluate takes an EvalInput, or a list of them, not {shortened(data)}")
    items: list[Any] = [*data]
    wrong = [
        f"item {row}: {shortened(one)}" for row, one in enumerate(items, 1) if not isinstance(one, EvalInput | Mapping)
    ]
    if wrong:
        raise WrongTypeError("evaluate takes EvalInputs or mappings of their fields, not " + "; ".join(wrong[:3]))
    return [checked_item(one) for one in items]


def _checked_threshold(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InputError(f"threshold is a number in [0, 1], not {shortened(value)}")
    return float(value)


def _checked_repeats(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"repeats is a whole number from 1 on, not {shortened(value)}")
    return value


def _checked_method(value: Any) -> Any:
    build_aggregation_strategy(value)
    return value


CHECKED_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "threshold": _checked_threshold,
    "models": resolve_invokers,
    "aggregation_method": _checked_method,
    "repeats": _checked_repeats,
}


def snake_case(name: str) -> str:
    """A class name in the style of metric names: `GEvalCompletenessMetric` as `g_eval_completeness`."""
    base = name.removesuffix("Metric") or name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", base).lower()
