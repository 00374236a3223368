"""The judges of a metric: named, resolved, and seen from one slot of a jury."""

from __future__ import annotations

import os
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calibrant.errors import ModelNotNamedError, WrongTypeError, shortened
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Reply, Request, SchemaInvoker, json_schema_of
from calibrant.ratings import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "CURRENT_SLOT",
    "DEFAULT_JUDGE",
    "DEFAULT_MODEL_VARIABLE",
    "Slot",
    "SlotJudge",
    "copy_invoker_with_schema",
    "resolve_invokers",
    "resolve_primary_invoker",
]

DEFAULT_MODEL_VARIABLE = "CALIBRANT_MODEL"
"""The environment variable that names the model for metrics that name none."""


class SlotJudge(InvokerWrapper):
    """A judge as one slot of a jury sees it: it marks every request with the slot, and keeps account of the calls.

    A metric that puts one question several times numbers them by the request's own `slot`; of `slots` slots in all,
    each such sample gets a number that no other slot uses.
    """

    def __init__(self, inner: BaseLMInvoker, slot: int = 0, *, slots: int = 1) -> None:
        super().__init__(inner)
        self.slot = slot
        self.slots = slots
        self.call_keys: list[str] = []
        self.usage = Usage()

    async def invoke(self, request: Request) -> Reply:
        """The judge's reply to the request, asked in this slot."""
        Request.checked(request)
        slot = self.slot + self.slots * request.slot
        if request.slot != slot:
            request = replace(request, slot=slot)
        reply = await self.inner.invoke(request)
        self.call_keys.append(reply.call_key or self.inner.call_key(request))
        self.usage += reply.usage
        return reply


class Slot:
    """One judge's turn at one item or batch. The judge is made when it is first asked, so a rule needs none."""

    def __init__(self, number: int, model: BaseLMInvoker | None = None, *, slots: int = 1) -> None:
        self.number = number
        self.slots = slots
        self.model = model
        self.asked: SlotJudge | None = None

    @property
    def judge(self) -> SlotJudge:
        """This slot's judge: its model, else the default one."""
        if self.asked is None:
            self.asked = SlotJudge(self.model or resolve_primary_invoker(None), self.number, slots=self.slots)
        return self.asked

    def rater(self, rule: str) -> str:
        """Who answered in this slot: the model, or `rule` when no model was asked."""
        judge = self.asked or self.model
        return judge.name if judge else f"rule:{rule}"


CURRENT_SLOT: ContextVar[Slot | None] = ContextVar("calibrant_slot", default=None)
"""The slot in which the running task is asked; every task has its own."""

DEFAULT_JUDGE: ContextVar[BaseLMInvoker | None] = ContextVar("calibrant_default_judge", default=None)
"""The judge of metrics that name none, within a run: the default model with the run's journal and budget around it."""


def resolve_invokers(models: BaseLMInvoker | str | Sequence[BaseLMInvoker | str] | None) -> list[BaseLMInvoker]:
    """The invokers that `models` stands for: one, several, names of them, or none.

    A name that stands there several times becomes one invoker, asked several times.
    """
    if models is None:
        return []
    given = [models] if isinstance(models, BaseLMInvoker | str) else list(models)
    named: dict[str, BaseLMInvoker] = {}
    for model in given:
        if isinstance(model, str):
            if model not in named:
                from calibrant.models import connect

                named[model] = connect(model)
        elif not isinstance(model, BaseLMInvoker):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
            raise WrongTypeError(f"a judge is a model or the name of one, not {shortened(model)}")
    return [named[model] if isinstance(model, str) else model for model in given]


def resolve_primary_invoker(models: BaseLMInvoker | str | Sequence[BaseLMInvoker | str] | None) -> BaseLMInvoker:
    """The invoker for integrations that take one model: the first of `models`, else the model in CALIBRANT_MODEL.

    Without either it raises ModelNotNamedError: nobody is judged by a model that nobody chose.
    """
    default = DEFAULT_JUDGE.get() or os.environ.get(DEFAULT_MODEL_VARIABLE)
    resolved = resolve_invokers(models) or resolve_invokers(default or None)
    if not resolved:
        raise ModelNotNamedError
    return resolved[0]


def copy_invoker_with_schema(model: BaseLMInvoker, schema: Any | None) -> BaseLMInvoker:
    """`model` itself when `schema` is None; else a copy that asks for JSON of that schema.

    The copy shares connections, limits, budget and journal with its source. `schema` is a JSON schema or a pydantic
    model class.
    """
    return model if schema is None else SchemaInvoker(model, json_schema_of(schema))
