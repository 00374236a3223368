"""What a provider's headers say is left of its limits, held against the calls that are under way."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.models.clocks import Clock
    from calibrant.models.http_errors import RateLimit
    from calibrant.ratings import Usage

__all__ = ["Headroom", "calls_left"]


class Headroom:
    """Lets a call begin only while fewer are under way than the provider said are left.

    A reply says what was left when the provider wrote it; the calls under way may have been counted by then or not, so
    all of them are taken off. Once the limit has been reset as much is left as at most before, until a reply says
    otherwise. Without such headers it holds nobody up.
    """

    def __init__(self, clock: Clock, *, longest_wait: float) -> None:
        self._clock = clock
        self._longest_wait = longest_wait
        self._left = math.inf
        self._most = 0.0
        self._resets_at = -math.inf
        self._under_way = 0
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> None:
        """Begin a call, as soon as there is room for it."""
        while not self._has_room():
            await self._change()
        self._under_way += 1

    def leave(self) -> None:
        """End a call, however it ended."""
        self._under_way -= 1
        self._wake()

    def told(self, limit: RateLimit | None, usage: Usage) -> None:
        """Learn from the headers of a reply that took `usage`."""
        left = None if limit is None else calls_left(limit, usage)
        if left is None:
            return
        self._left, seconds = left
        self._most = max(self._most, self._left + 1.0)
        self._resets_at = self._clock.now() + min(seconds, self._longest_wait)

    def _has_room(self) -> bool:
        if self._left < self._most and self._clock.now() >= self._resets_at:
            self._left = self._most
        return self._under_way < self._left

    async def _change(self) -> None:
        """Wait for a call to end or, where the limit has yet to be reset, for that."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        seconds = self._resets_at - self._clock.now()
        reset = asyncio.ensure_future(self._clock.sleep(max(0.0, seconds) * (1.0 + 0.1 * self._clock.draw())))
        try:
            # After the reset there is room for a call at least, so without any it is one under way that ends next.
            await asyncio.wait((waiter, reset) if seconds > 0.0 else (waiter,), return_when=asyncio.FIRST_COMPLETED)
        finally:
            reset.cancel()
            with contextlib.suppress(ValueError):
                self._waiters.remove(waiter)

    def _wake(self) -> None:
        """Wake as many of those who wait as there is room for; with no call under way all, to wait for the reset."""
        room = self._left - self._under_way if self._under_way else math.inf
        while self._waiters and room > 0:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                room -= 1


def calls_left(limit: RateLimit, usage: Usage) -> tuple[float, float] | None:
    """How many calls like the one that took `usage` the provider has left, and in how many seconds that is reset.

    None when its headers do not say.
    """
    found: list[tuple[float, float]] = []
    if limit.requests_left is not None:
        found.append((math.floor(limit.requests_left), limit.requests_reset))
    tokens = usage.input_tokens + usage.output_tokens
    if limit.tokens_left is not None and tokens:
        found.append((limit.tokens_left // tokens, limit.tokens_reset))
    return min(found, default=None)
