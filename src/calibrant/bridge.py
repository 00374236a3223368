"""The one way from synchronous code into the asynchronous core; it also works where a loop is running already."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from inspect import iscoroutine
from threading import Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from calibrant.errors import WrongTypeError, shortened

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["run_sync"]

Result = TypeVar("Result")

PATIENCE = 1.0
"""Seconds for a thread that was asked for to begin; one that has not by then never will."""

WAKES = 0.1
"""Seconds between two looks at whether an interrupt came."""


def run_sync(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What `coroutine` returns, waited for here; what it raises is raised here.

    Without a running loop this is `asyncio.run`. Where one is running already (a notebook, a web handler), the
    coroutine gets a loop and a thread of its own, with the caller's context variables, and the caller's loop stands
    still until it is done. Interrupting the wait cancels the coroutine.

    >>> async def answer() -> int:
    ...     return 42
    >>> run_sync(answer())
    42
    """
    if not iscoroutine(coroutine):
        raise WrongTypeError(f"expected a coroutine (call the async function), got {shortened(coroutine)}")
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return _in_a_thread(coroutine)


def _in_a_thread(coroutine: Coroutine[Any, Any, Result]) -> Result:
    work = _Work(coroutine)
    # A daemon: were the interrupt to come inside of `start`, the thread could be stuck before its first line.
    thread = Thread(target=copy_context().run, args=(work.run,), name="calibrant-bridge", daemon=True)
    try:
        thread.start()
        # A signal that another thread was given is noticed only when this one wakes.
        while not work.over.acquire(timeout=WAKES):
            pass
    except BaseException:
        # Also an interrupt that came while the coroutine was being handed over.
        work.cancel()
        work.settle()
        raise
    thread.join()
    return work.answer()


class _Work(Generic[Result]):
    """A coroutine in a thread and a loop of its own, which another thread may cancel before it starts or after.

    An interrupt that comes inside of a Condition, an Event or a Future can leave its lock taken for good. So what the
    threads share is one bare lock and plain attributes.
    """

    def __init__(self, coroutine: Coroutine[Any, Any, Result]) -> None:
        self.coroutine = coroutine
        self.over = Lock()
        self.over.acquire()
        self.has_begun = self.is_over = self.is_cancelled = False
        self.task: asyncio.Task[Result] | None = None
        self._results: list[Result] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        self.has_begun = True
        try:
            self._results.append(asyncio.run(self._main()))
        except BaseException as error:  # noqa: BLE001 - it is raised where the caller waits
            self._error = error
        self.is_over = True
        self.over.release()

    async def _main(self) -> Result:
        self.task = asyncio.ensure_future(self.coroutine)
        if self.is_cancelled:
            self.task.cancel()
        return await self.task

    def answer(self) -> Result:
        if self._error is not None:
            raise self._error
        return self._results[0]

    def cancel(self) -> None:
        self.is_cancelled = True
        if self.task is not None:
            # When it is over already, its loop is closed.
            with suppress(RuntimeError):
                self.task.get_loop().call_soon_threadsafe(self.task.cancel)

    def settle(self) -> None:
        """Wait until nothing is running any more; a thread that did not come to its first line never will."""
        deadline = monotonic() + PATIENCE
        while not self.is_over:
            if not self.has_begun and monotonic() > deadline:
                self.coroutine.close()
                return
            sleep(0.001)
