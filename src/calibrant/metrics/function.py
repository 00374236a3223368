"""A plain function as a metric: `metric(brief)` makes it one, also as a decorator."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, overload

from calibrant.errors import WrongTypeError, shortened
from calibrant.items import EvalInput
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.instrument import code_fingerprint
from calibrant.ratings import MetricScore, Value

__all__ = ["FunctionMetric", "metric"]

Answer = Value | MetricScore
Function = Callable[[EvalInput], Answer | Awaitable[Answer]]


class FunctionMetric(BaseMetric):
    """A metric that is a function of the item, sync or async, returning a bool, a number, a label or a MetricScore."""

    def __init__(self, function: Function, *, required_fields: Iterable[str] = (), **settings: Any) -> None:
        if not callable(function):
            raise WrongTypeError(f"a function metric is made of a function of the item, not {shortened(function)}")
        self.function = function
        self.name = getattr(function, "__name__", type(function).__name__)
        self.required_fields = required_fields  # pyright: ignore[reportAttributeAccessIssue] - made a set when it is set
        super().__init__(**settings)

    def definition(self) -> dict[str, Any]:
        """The metric's settings and its function's code."""
        return {**super().definition(), "function": code_fingerprint(self.function)}

    async def _evaluate(self, data: EvalInput) -> Any:
        answer = self.function(data)
        return await answer if inspect.isawaitable(answer) else answer

    def __repr__(self) -> str:
        return f"metric({self.name})"


@overload
def metric(function: Function, **settings: Any) -> FunctionMetric: ...
@overload
def metric(function: None = None, **settings: Any) -> Callable[[Function], FunctionMetric]: ...
def metric(function: Function | None = None, **settings: Any) -> Any:
    """The metric that `function` is; without a function, the decorator that makes one.

    Settings are those of every metric: `name`, `threshold`, `higher_is_better`, `required_fields`, `passing_labels`.

    >>> @metric(threshold=1.0, required_fields=["answer"])
    ... def brief(item):
    ...     return len(item.answer.split()) <= 50
    >>> brief.name, brief.threshold
    ('brief', 1.0)
    """
    if function is None:
        return partial(FunctionMetric, **settings)
    return FunctionMetric(function, **settings)
