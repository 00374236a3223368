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

__all__ = [
    "CHECKED_SETTINGS",
    "PLAIN_SETTINGS",
    "check_quorum",
    "checked_criteria",
    "checked_item",
    "checked_items",
    "snake_case",
]


def checked_criteria(value: Any) -> str:
    """The criteria without the space around them; anything that is no text, or says nothing, is an InputError."""
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"criteria is a text that says what is judged, not {shortened(value)}")
    return value.strip()


def check_quorum(quorum: Any, judges: int) -> None:
    """Refuse a quorum that so many judges cannot have; None is more than half of them, as always."""
    PLAIN_SETTINGS["quorum"](quorum)
    if quorum is not None and quorum > judges:
        raise InputError(f"quorum is between 1 and the number of judges ({judges}), not {quorum}")


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


def _checked_names(name: str) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        # One text is a set of letters too, and nobody means that.
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise WrongTypeError(f"{name} are several texts such as {{'one', 'other'}}, not {shortened(value)}")
        names: Any = value if isinstance(value, set | frozenset) else frozenset[Any](value)
        wrong = [one for one in names if not isinstance(one, str)]
        if wrong:
            raise WrongTypeError(f"{name} are texts, not {shortened(wrong[0])}")
        return names

    return checked


def _checked_switch(name: str) -> Callable[[Any], bool]:
    def checked(value: Any) -> bool:
        if not isinstance(value, bool):
            raise WrongTypeError(f"{name} is True or False, not {shortened(value)}")
        return value

    return checked


def _checked_count(name: str) -> Callable[[Any], int | None]:
    def checked(value: Any) -> int | None:
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise InputError(f"{name} is a whole number from 1 on, or None, not {shortened(value)}")
        return value

    return checked


def _checked_name(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"name of a metric is a text that is not empty, not {shortened(value)}")
    return value


CHECKED_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "threshold": _checked_threshold,
    "models": resolve_invokers,
    "aggregation_method": _checked_method,
    "repeats": _checked_repeats,
}
"""Settings that are properties, and what each may be."""

PLAIN_SETTINGS: dict[str, Callable[[Any], Any]] = {
    "name": _checked_name,
    "required_fields": _checked_names("required_fields"),
    "passing_labels": _checked_names("passing_labels"),
    "higher_is_better": _checked_switch("higher_is_better"),
    "strict_mode": _checked_switch("strict_mode"),
    "max_concurrent_judges": _checked_count("max_concurrent_judges"),
    "quorum": _checked_count("quorum"),
}
"""Settings that are plain attributes, and what each may be."""


def snake_case(name: str) -> str:
    """A class name in the style of metric names: `GEvalCompletenessMetric` as `g_eval_completeness`."""
    base = name.removesuffix("Metric") or name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", base).lower()
