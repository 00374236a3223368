"""The one way from synchronous code into the asynchronous core; it also works where a loop is running already."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from calibrant.errors import WrongTypeError, shortened

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["run_sync"]

Result = TypeVar("Result")


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
    cancellable = _Cancellable(coroutine)
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="calibrant-bridge") as pool:
        try:
            return pool.submit(copy_context().run, asyncio.run, cancellable.main()).result()
        except BaseException:
            # Also an interrupt that came while the coroutine was being handed over.
            cancellable.cancel()
            raise


class _Cancellable(Generic[Result]):
    """A coroutine that another thread may cancel, before it has started or after."""

    def __init__(self, coroutine: Coroutine[Any, Any, Result]) -> None:
        self.coroutine = coroutine
        self.task: asyncio.Task[Result] | None = None
        self.is_cancelled = False

    async def main(self) -> Result:
        self.task = asyncio.ensure_future(self.coroutine)
        if self.is_cancelled:
            self.task.cancel()
        return await self.task

    def cancel(self) -> None:
        self.is_cancelled = True
        if self.task is not None:
            # When it is over already, its loop is closed.
            with suppress(RuntimeError):
                self.task.get_loop().call_soon_threadsafe(self.task.cancel)
