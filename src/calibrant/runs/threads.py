"""A function that may block, called beside the loop in a thread that does not keep the process from ending."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["called_in_thread"]

Result = TypeVar("Result")


async def called_in_thread(function: Callable[[], Result]) -> Result:
    """What `function` returns, called with the caller's context variables; what it raises is raised here.

    Each call has a daemon thread of its own. A pool's threads are waited for when the process ends, so that a function
    that hangs would keep a run that was interrupted from ending.
    """
    loop = asyncio.get_running_loop()
    settled: asyncio.Future[Callable[[], Result]] = loop.create_future()

    def settle(outcome: Callable[[], Result]) -> None:
        if not settled.done():
            settled.set_result(outcome)

    def work() -> None:
        try:
            outcome = partial(_returned, function())
        except BaseException as error:  # noqa: BLE001 - also SystemExit, which must not end the thread unheard
            outcome = partial(_raised, error)
        # The loop may be closed already: nobody waits for the outcome any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, outcome)

    Thread(target=copy_context().run, args=(work,), daemon=True, name="calibrant-system").start()
    return (await settled)()


def _returned(result: Result) -> Result:
    return result


def _raised(error: BaseException) -> NoReturn:
    raise error
