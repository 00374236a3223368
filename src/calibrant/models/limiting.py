"""As fast as the provider allows, and no faster: requests and tokens per minute, and calls at a time."""

from __future__ import annotations

import asyncio
import contextlib
import math
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from calibrant.errors import InputError, ModelCallError, WrongTypeError, shortened
from calibrant.models.clocks import Clock
from calibrant.models.costs import estimated_tokens, tokens_of
from calibrant.models.headroom import Headroom
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Reply, Request

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from calibrant.models.http_errors import RateLimit

__all__ = ["LimitedInvoker", "Limiter", "limited"]

LONGEST_PAUSE: Final = 60.0
REFUSED_PAUSE: Final = 1.0


class Bucket:
    """A token bucket that fills evenly and holds a second's worth; taking more than it holds makes the taker wait."""

    def __init__(self, per_minute: float, clock: Clock) -> None:
        self._rate = per_minute / 60.0
        self._capacity = max(1.0, self._rate)
        self._level = self._capacity
        self._clock = clock
        self._filled = clock.now()

    def take(self, amount: float) -> float:
        """Take `amount`; the seconds to wait until the bucket has earned it."""
        now = self._clock.now()
        self._level = min(self._capacity, self._level + (now - self._filled) * self._rate) - amount
        self._filled = now
        return max(0.0, -self._level / self._rate)

    def give_back(self, amount: float) -> None:
        """Undo a taking; a negative amount takes more, without waiting."""
        self._level = min(self._capacity, self._level + amount)


class Limiter:
    """The limits of one account: share it between the models that it covers.

    Whatever the limits given here, no more calls are under way than the provider's headers say are left, and after a
    refusal with HTTP 429 everyone waits until the time that it names (at most a minute).
    """

    def __init__(
        self,
        *,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        concurrency: int | None = None,
        clock: Clock | None = None,
    ) -> None:
        given = {
            "requests_per_minute": requests_per_minute,
            "tokens_per_minute": tokens_per_minute,
            "concurrency": concurrency,
        }
        wrong = [f"{name} is a number above 0, not {shortened(one)}" for name, one in given.items() if _wrong(one)]
        if not wrong and concurrency is not None and concurrency != int(concurrency):
            wrong = [f"concurrency is a whole number of calls at a time, not {concurrency}"]
        if wrong:
            raise InputError.gathered("the limits", wrong)
        self._clock = clock or Clock()
        self._requests = None if requests_per_minute is None else Bucket(requests_per_minute, self._clock)
        self._tokens = None if tokens_per_minute is None else Bucket(tokens_per_minute, self._clock)
        self._concurrency = concurrency
        self._semaphores = WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]()
        self._paused_until = -math.inf
        self._headroom = Headroom(self._clock, longest_wait=LONGEST_PAUSE)

    def seat(self) -> AbstractAsyncContextManager[object]:
        """One of the calls that may be made at a time in the running loop."""
        if self._concurrency is None:
            return contextlib.nullcontext()
        loop = asyncio.get_running_loop()
        semaphore = self._semaphores.get(loop)
        if semaphore is None:
            semaphore = self._semaphores[loop] = asyncio.Semaphore(int(self._concurrency))
        return semaphore

    async def turn(self, request: Request) -> int:
        """Wait for the call's turn; the tokens that were counted for it."""
        tokens = 0 if self._tokens is None else estimated_tokens(request)
        wait = 0.0 if self._requests is None else self._requests.take(1.0)
        if self._tokens is not None:
            wait = max(wait, self._tokens.take(tokens))
        try:
            if wait > 0.0:
                await self._clock.sleep(wait)
            while (pause := self._paused_until - self._clock.now()) > 0.0:
                await self._clock.sleep(pause * (1.0 + 0.1 * self._clock.draw()))
            await self._headroom.enter()
        except BaseException:
            self._give_back(tokens)
            raise
        return tokens

    def answered(self, reply: Reply, tokens: int) -> None:
        """Learn from a reply: the tokens that it really took, and what the provider says is left."""
        counted = reply.usage.input_tokens + reply.usage.output_tokens
        if self._tokens is not None:
            # A provider that counts nothing leaves only the estimate to go by.
            self._tokens.give_back(tokens - (counted or tokens + tokens_of(reply.text)))
        limit: RateLimit | None = reply.rate_limit
        self._headroom.told(limit, reply.usage)
        if limit is not None and limit.tokens_left is not None and limit.tokens_left < 1:
            self._pause(limit.tokens_reset)

    def ended(self) -> None:
        """Make room for another call, however this one ended."""
        self._headroom.leave()

    def refused(self, error: ModelCallError) -> None:
        """Learn from an error: after HTTP 429 everyone waits."""
        if error.code == "judge_rate_limited":
            self._pause(REFUSED_PAUSE if error.retry_after is None else error.retry_after)

    def _pause(self, seconds: float) -> None:
        self._paused_until = max(self._paused_until, self._clock.now() + min(seconds, LONGEST_PAUSE))

    def _give_back(self, tokens: int) -> None:
        if self._requests is not None:
            self._requests.give_back(1.0)
        if self._tokens is not None:
            self._tokens.give_back(tokens)


class LimitedInvoker(InvokerWrapper):
    """The model inside, asked at the pace of its limiter."""

    def __init__(self, inner: BaseLMInvoker, limiter: Limiter) -> None:
        super().__init__(inner)
        if not isinstance(limiter, Limiter):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass numbers
            raise WrongTypeError(f"expected a limiter such as Limiter(concurrency=8), got {shortened(limiter)}")
        self.limiter = limiter

    async def invoke(self, request: Request) -> Reply:
        """The reply, when its turn has come."""
        limiter = self.limiter
        async with limiter.seat():
            tokens = await limiter.turn(request)
            try:
                reply = await self.inner.invoke(request)
            except ModelCallError as error:
                limiter.refused(error)
                raise
            else:
                limiter.answered(reply, tokens)
                return reply
            finally:
                limiter.ended()


def _wrong(value: object) -> bool:
    if value is None:
        return False
    return isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf


def limited(
    invoker: BaseLMInvoker,
    limiter: Limiter | None = None,
    *,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    concurrency: int | None = None,
    clock: Clock | None = None,
) -> LimitedInvoker:
    """`invoker`, at the pace of these limits, or of a `limiter` that it shares with others."""
    if limiter is not None and (requests_per_minute or tokens_per_minute or concurrency):
        raise InputError("limits are given by a limiter or by numbers, not by both")
    if limiter is None:
        limiter = Limiter(
            requests_per_minute=requests_per_minute,
            tokens_per_minute=tokens_per_minute,
            concurrency=concurrency,
            clock=clock,
        )
    return LimitedInvoker(invoker, limiter)
