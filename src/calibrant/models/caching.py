"""A call is made once: what the workspace holds is not asked again, nor is what is being asked just now."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from calibrant.errors import EvalError, WrongTypeError, shortened
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Reply, Request
from calibrant.ratings import Usage
from calibrant.store.records import CallRecord

if TYPE_CHECKING:
    from calibrant.store.workspace import Workspace

__all__ = ["CachedInvoker", "cached"]

Outcome = Reply | EvalError | None
"""How a call in flight ended: with a reply, with an error, or with its caller cancelled."""

SEEN_BEFORE = Usage(cached=1)


class CachedInvoker(InvokerWrapper):
    """The model inside, asked once for each call key. A new reply is returned when it is in the workspace.

    Errors are never kept. Without a workspace only equal requests in flight are put together.
    """

    def __init__(self, inner: BaseLMInvoker, workspace: Workspace | None = None) -> None:
        super().__init__(inner)
        if workspace is not None and not callable(getattr(workspace, "put_call", None)):
            raise WrongTypeError(f"expected a workspace, got {shortened(workspace)}; Workspace(FOLDER) opens one")
        self.workspace = workspace
        self._flights = WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Future[Outcome]]]()

    async def invoke(self, request: Request) -> Reply:
        """The reply that was kept, the one that is on its way, or a new one; `usage.cached` tells."""
        Request.checked(request)
        key = self.inner.call_key(request)
        flights = self._flights.setdefault(asyncio.get_running_loop(), {})
        while True:
            kept = self._kept(key)
            if kept is not None:
                return kept
            flight = flights.get(key)
            if flight is None:
                return await self._asked(key, request, flights)
            # Shielded: whoever stops waiting must not end the call for the others.
            outcome = await asyncio.shield(flight)
            if isinstance(outcome, Reply):
                return replace(outcome, usage=SEEN_BEFORE)
            if outcome is not None:
                raise outcome

    def _kept(self, key: str) -> Reply | None:
        record = None if self.workspace is None else self.workspace.call(key)
        return None if record is None else reply_of(record)

    async def _asked(self, key: str, request: Request, flights: dict[str, asyncio.Future[Outcome]]) -> Reply:
        flight = flights[key] = asyncio.get_running_loop().create_future()
        outcome: Outcome = None
        try:
            reply = replace(await self.inner.invoke(request), call_key=key)
            if self.workspace is not None:
                asked = {"identity": dict(self.inner.identity), **request.to_json()}
                record = CallRecord(key=key, model=self.name, request=asked, reply=reply.to_json())
                await self.workspace.put_call(record)
            outcome = reply
        except EvalError as error:
            outcome = error
            raise
        else:
            return reply
        finally:
            del flights[key]
            flight.set_result(outcome)


def reply_of(record: CallRecord) -> Reply | None:
    """The reply that was kept, costing nothing now; None when the workspace kept no text of it."""
    if record.reply is None:
        return None
    return replace(Reply.from_json(record.reply, call_key=record.key), usage=SEEN_BEFORE)


def cached(invoker: BaseLMInvoker, workspace: Workspace | None = None) -> CachedInvoker:
    """`invoker`, asked once for each call key: from the workspace when it is there, together when in flight."""
    return CachedInvoker(invoker, workspace)
