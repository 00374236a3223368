"""A hard cap on a whole run, in money, tokens or calls: the call that would pass it is not made."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Final, NamedTuple

from calibrant.errors import BudgetError, InputError, JudgeReplyError, WrongTypeError, shortened
from calibrant.models.costs import estimated_tokens, tokens_of
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Reply, Request
from calibrant.ratings import Usage

__all__ = ["Budget", "BudgetedInvoker", "budgeted"]

FIRST_OUTPUT: Final = 256
LIMITS: Final = ("max_tokens", "max_completion_tokens")


class Reserve(NamedTuple):
    """What a call is expected to take at most."""

    input_tokens: int
    output_tokens: int
    usd: float

    @property
    def tokens(self) -> int:
        """Read and written together."""
        return self.input_tokens + self.output_tokens

    def largest(self, other: Reserve) -> Reserve:
        """The larger of each number."""
        return Reserve(
            max(self.input_tokens, other.input_tokens),
            max(self.output_tokens, other.output_tokens),
            max(self.usd, other.usd),
        )


class Held:
    """What is set aside for calls in flight."""

    def __init__(self) -> None:
        self.calls = 0
        self.tokens = 0
        self.usd = 0.0

    def add(self, reserve: Reserve) -> None:
        """Set aside for one call more."""
        self.calls += 1
        self.tokens += reserve.tokens
        self.usd += reserve.usd

    def remove(self, reserve: Reserve) -> None:
        """Let go of what one call had; sums of floats leave crumbs, which go with the last call."""
        self.calls -= 1
        self.tokens -= reserve.tokens
        self.usd = self.usd - reserve.usd if self.calls else 0.0


NOTHING_HELD: Final = Held()


class Budget:
    """What a whole run may take; one object is shared by all its models. A cap that is None is no cap.

    `spent` is what was really taken, failed attempts and all; where a provider counts no tokens, an estimate of them.
    Before a call its expected cost is set aside, so that calls in flight cannot pass the cap together.

    >>> Budget(calls=2).spent.calls
    0
    """

    def __init__(self, *, usd: float | None = None, tokens: float | None = None, calls: int | None = None) -> None:
        self.usd = usd
        self.tokens = tokens
        self.calls = calls
        self.spent = Usage()
        self._held = Held()
        self._waiters: list[asyncio.Future[None]] = []
        self._price_unknown = False
        self._largest = Reserve(0, 0, 0.0)
        self._understated = 1.0
        for name in ("usd", "tokens", "calls"):
            cap = getattr(self, name)
            if cap is None:
                continue
            if isinstance(cap, bool) or not isinstance(cap, int | float) or not 0 <= cap < math.inf:
                raise InputError(f"a budget's {name} is a number, 0 or more, not {shortened(cap)}")

    def __repr__(self) -> str:
        caps = {"usd": self.usd, "tokens": self.tokens, "calls": self.calls}
        shown = ", ".join(f"{name}={cap}" for name, cap in caps.items() if cap is not None)
        return f"Budget({shown})"

    async def reserve(self, invoker: BaseLMInvoker, request: Request) -> Reserve:
        """Set aside what the call may take; raises BudgetError when that would pass a cap.

        Waits when it fits what was spent but not what is set aside for calls in flight: those may take less.
        """
        while True:
            reserve = self._expected(invoker, request)
            self._refuse(invoker, reserve)
            if self._fits(reserve, self._held):
                self._held.add(reserve)
                return reserve
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            await waiter

    def settle(self, reserve: Reserve, usage: Usage) -> None:
        """Count what the call took, and let go of what was set aside for it."""
        self._held.remove(reserve)
        self.spent += usage
        if usage.usd is None:
            self._price_unknown = True
        seen = Reserve(usage.input_tokens, usage.output_tokens, usage.usd or 0.0)
        self._largest = self._largest.largest(seen)
        if reserve.input_tokens:
            self._understated = max(self._understated, usage.input_tokens / reserve.input_tokens)
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    def taken(self, invoker: BaseLMInvoker, reserve: Reserve, usage: Usage, text: str) -> Usage:
        """What the call took: as its provider counted, or where it did not, as what was read and `text` come to.

        A cap on tokens would never be reached by replies that count none.
        """
        if usage.input_tokens or usage.output_tokens or not reserve.input_tokens:
            return usage
        read, written = reserve.input_tokens, tokens_of(text)
        usd = invoker.cost(read, written) if usage.usd is None else usage.usd
        return replace(usage, input_tokens=read, output_tokens=written, usd=usd)

    def _expected(self, invoker: BaseLMInvoker, request: Request) -> Reserve:
        if self.usd is None and self.tokens is None:
            return Reserve(0, 0, 0.0)
        read = math.ceil(estimated_tokens(request) * min(self._understated, 4.0))
        sampling = {**(invoker.identity.get("sampling") or {}), **request.sampling}
        limit = max(sampling.get(name) or 0 for name in LIMITS)
        written = limit or self._largest.output_tokens or FIRST_OUTPUT
        cost = None if self.usd is None else invoker.cost(read, written)
        if cost is None and self.usd is not None and not invoker.tells_cost:
            raise self._unknown(invoker)
        # A model that tells its cost only afterwards is expected to cost what its dearest call did.
        return Reserve(read, written, cost or self._largest.usd)

    def _refuse(self, invoker: BaseLMInvoker, reserve: Reserve) -> None:
        if self._price_unknown and self.usd is not None:
            raise self._unknown(invoker)
        calls = self.spent.calls + self._held.calls
        if self.calls is not None and calls + 1 > self.calls:
            raise BudgetError(f"the budget of {self.calls:,} calls is used up; {invoker.name} was not asked")
        if not self._fits(reserve, NOTHING_HELD):
            raise BudgetError(f"the next call would pass the budget ({self._left()}); {invoker.name} was not asked")

    def _fits(self, reserve: Reserve, held: Held) -> bool:
        tokens = self.spent.input_tokens + self.spent.output_tokens + held.tokens
        if self.tokens is not None and tokens + reserve.tokens > self.tokens:
            return False
        usd = (self.spent.usd or 0.0) + held.usd
        return self.usd is None or usd + reserve.usd <= self.usd

    def _left(self) -> str:
        parts: list[str] = []
        if self.usd is not None:
            parts.append(f"${self.spent.usd or 0.0:.4g} of ${self.usd:.4g} spent")
        if self.tokens is not None:
            parts.append(f"{self.spent.input_tokens + self.spent.output_tokens:,} of {self.tokens:,} tokens used")
        return ", ".join(parts)

    def _unknown(self, invoker: BaseLMInvoker) -> BudgetError:
        return BudgetError(
            f"a budget in usd cannot be kept, because the price of {invoker.name} is unknown: give it "
            "(price=(input, output) in US dollars per million tokens), install calibrant[prices], "
            "or set the budget in tokens or calls"
        )


class BudgetedInvoker(InvokerWrapper):
    """The model inside, asked only while the budget lasts."""

    def __init__(self, inner: BaseLMInvoker, budget: Budget) -> None:
        super().__init__(inner)
        if not isinstance(budget, Budget):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass numbers
            raise WrongTypeError(f"expected a budget such as Budget(calls=100), got {shortened(budget)}")
        self.budget = budget

    async def invoke(self, request: Request) -> Reply:
        """The reply; raises BudgetError, without asking, when the call would pass the budget."""
        reserve = await self.budget.reserve(self.inner, request)
        usage = Usage(calls=1)
        try:
            reply = await self.inner.invoke(request)
            usage = self.budget.taken(self.inner, reserve, reply.usage, reply.reasoning + reply.text)
        except JudgeReplyError as error:
            usage = self.budget.taken(self.inner, reserve, error.usage or usage, error.reply)
            raise
        else:
            return reply
        finally:
            self.budget.settle(reserve, usage)


def budgeted(invoker: BaseLMInvoker, budget: Budget) -> BudgetedInvoker:
    """`invoker`, asked only while `budget`, which the whole run shares, lasts."""
    return BudgetedInvoker(invoker, budget)
