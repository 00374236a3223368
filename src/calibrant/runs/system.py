"""The user's own application, called within the run: journalled, budgeted, timed; what it raises is its failure."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from calibrant.errors import RatingError, WrongTypeError, shortened
from calibrant.fingerprints import canonical_json, fingerprint
from calibrant.items import EvalInput
from calibrant.metrics.instrument import code_fingerprint
from calibrant.models.timing import Latencies
from calibrant.ratings import Failure
from calibrant.runs.records import SystemSummary
from calibrant.runs.threads import called_in_thread
from calibrant.store.records import CallRecord

if TYPE_CHECKING:
    from calibrant.runs.budgets import RunBudget
    from calibrant.store.workspace import Workspace

__all__ = ["Answered", "System"]


class Answered(NamedTuple):
    """The item with the system's answer, or with the failure that there is none."""

    item: EvalInput
    failure: Failure | None = None


class System:
    """A function from an item to its answer (or to a dict of fields), sync or async.

    An answer that the workspace holds for this run is not asked for again. A function that is not async runs in a
    thread, so that it may block. Whatever it raises is a failure of the system; a run ends by it for no other item.
    """

    def __init__(self, function: Callable[[EvalInput], Any], *, name: str = "") -> None:
        if not callable(function):
            raise WrongTypeError(f"a system is a function of the item, not {shortened(function)}")
        self.function = function
        self.name = name or _name_of(function)
        self.identity = fingerprint([self.name, code_fingerprint(function)])
        self._calls = self._cached = self._failed = 0
        self._latencies = Latencies()

    async def answer(
        self, item: EvalInput, run: str, *, workspace: Workspace | None, budget: RunBudget, seats: asyncio.Semaphore
    ) -> Answered:
        """The item as the system answers it; an exception of the system is a `system_error`."""
        key = fingerprint(["system", self.identity, run, item.id, item.inputs()])
        kept = None if workspace is None else workspace.call(key)
        if kept is not None and kept.reply is not None:
            self._cached += 1
            return Answered(item.replace(**kept.reply["fields"]))
        async with seats:
            try:
                budget.take_system_call(self.name)
            except RatingError as error:
                return Answered(item, Failure.of(error))
            began = time.monotonic()
            try:
                fields = _fields(await self._called(item))
                answered = item.replace(**fields)
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                if isinstance(error, asyncio.CancelledError) and _is_being_cancelled():
                    raise
                self._failed += 1
                return Answered(item, Failure(code="system_error", message=_told(error)))
            seconds = time.monotonic() - began
        self._calls += 1
        self._latencies.add(seconds)
        if workspace is not None:
            reply = {"fields": fields, "mode": "system", "seconds": seconds}
            await workspace.put_call(CallRecord(key=key, model=self.name, request={"item": item.id}, reply=reply))
        return Answered(answered)

    def summary(self) -> SystemSummary:
        """How often it was called in this run, how often it failed, and how long it took."""
        times = {name: self._latencies.quantile(share) for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}
        latency = times if self._calls else {}
        return SystemSummary(
            name=self.name, calls=self._calls + self._failed, cached=self._cached, failed=self._failed, latency=latency
        )

    async def _called(self, item: EvalInput) -> Any:
        if inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(
            getattr(self.function, "__call__", None)  # noqa: B004 - asks whether calling the object gives a coroutine
        ):
            return await self.function(item)
        answer = await called_in_thread(partial(self.function, item))
        return await answer if inspect.isawaitable(answer) else answer


def _name_of(function: Callable[..., Any]) -> str:
    """Where the function lives; an object that can be called goes by its class, so that its name is always the same."""
    if isinstance(function, partial):
        return _name_of(function.func)
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def _is_being_cancelled() -> bool:
    """Whether it is the run that cancels this call, and not the system that gave up by itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _fields(answer: Any) -> dict[str, Any]:
    """What the system's answer changes in the item, as JSON can hold it."""
    if answer is None:
        raise WrongTypeError("the system returned None; it returns the answer, or a dict of fields")
    given = answer.to_json() if isinstance(answer, EvalInput) else answer
    fields = dict(cast("Mapping[str, Any]", given)) if isinstance(given, Mapping) else {"answer": given}
    fields.pop("id", None)
    canonical_json(fields)
    return fields
