"""The judges of a run: each model wrapped once, whatever the number of metrics that ask it."""

from __future__ import annotations

import asyncio
import copy
from typing import TYPE_CHECKING, Any, cast

from calibrant.models.clocks import Clock
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Reply, Request
from calibrant.models.wrapping import wrapped

if TYPE_CHECKING:
    from calibrant.metrics.base import BaseMetric
    from calibrant.runs.budgets import RunBudget
    from calibrant.store.records import CallRecord
    from calibrant.store.workspace import Workspace

__all__ = ["FreshCalls", "Judges"]


class FreshCalls:
    """A workspace that forgets all calls but those of this run: what `fresh` asks is asked anew, and kept."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._made: set[str] = set()

    def call(self, key: str) -> CallRecord | None:
        """The call of this key, if this run made it."""
        return self._workspace.call(key) if key in self._made else None

    async def put_call(self, record: CallRecord) -> None:
        """Keep the call; what was kept under its key is replaced."""
        self._made.add(record.key)
        await self._workspace.put_call(record)


class SeatedInvoker(InvokerWrapper):
    """The model inside, asked when one of the run's seats is free: so many calls are under way at a time.

    A seat is held until the reply is kept, so that a kill loses no more calls than there are seats.
    """

    def __init__(self, inner: BaseLMInvoker, seats: asyncio.Semaphore) -> None:
        super().__init__(inner)
        self._seats = seats

    async def invoke(self, request: Request) -> Reply:
        """The reply, when there was a seat."""
        async with self._seats:
            return await self.inner.invoke(request)


class Judges:
    """Wraps models for one run: cached, re-asked, retried, budgeted, limited, timed, and never too many at a time."""

    def __init__(
        self, *, workspace: Workspace | None, budget: RunBudget, concurrency: int, fresh: bool = False
    ) -> None:
        self._workspace = workspace
        self._fresh = FreshCalls(workspace) if fresh and workspace is not None else None
        self._budget = budget
        self._clock = Clock(sleep=budget.wait)
        self._seats = asyncio.Semaphore(concurrency)
        self._wrapped: dict[int, BaseLMInvoker] = {}
        self._sources: list[BaseLMInvoker] = []

    def wrap(self, model: BaseLMInvoker) -> BaseLMInvoker:
        """The model as the run asks it; the same one for the same model."""
        known = self._wrapped.get(id(model))
        if known is None:
            cached = wrapped(model, workspace=self._workspace, budget=self._budget, clock=self._clock)
            if self._fresh is not None:
                cached.workspace = cast("Any", self._fresh)
            known = self._wrapped[id(model)] = SeatedInvoker(cached, self._seats)
            self._sources.append(model)
        return known

    def metric(self, metric: BaseMetric) -> BaseMetric:
        """A copy of `metric` that asks its judges through this run; the user's own is left as it is."""
        asked = copy.copy(metric)
        if metric.models:
            asked.models = [self.wrap(model) for model in metric.models]
        return asked

    async def aclose(self) -> None:
        """Let go of all connections."""
        for model in self._sources:
            await model.aclose()
