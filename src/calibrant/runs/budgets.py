"""What a whole run may take: money, tokens, calls and minutes, and whether somebody has stopped it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from calibrant.errors import BudgetError, RatingError
from calibrant.models.budgets import Budget, Reserve
from calibrant.ratings import Usage

if TYPE_CHECKING:
    from calibrant.models.invoker import BaseLMInvoker, Request
    from calibrant.runs.settings import RunSettings

__all__ = ["RunBudget"]

LOOK_SECONDS = 0.2
"""So often who waits looks whether the run is over."""


class RunBudget(Budget):
    """The budget that all judges of a run, and its system, share; it also ends with the time, or when it is stopped."""

    def __init__(self, settings: RunSettings) -> None:
        super().__init__(usd=settings.max_cost, tokens=settings.max_tokens, calls=settings.max_calls)
        self.minutes = settings.max_minutes
        self.system_calls = 0
        self.is_stopped = False
        self._ends = None if self.minutes is None else time.monotonic() + 60 * self.minutes

    @property
    def is_late(self) -> bool:
        """Whether the minutes are over."""
        return self._ends is not None and time.monotonic() >= self._ends

    @property
    def judged(self) -> Usage:
        """What the judges took, without the calls to the system."""
        spent = self.spent
        return Usage(
            calls=spent.calls - self.system_calls,
            cached=spent.cached,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            usd=spent.usd,
        )

    def check(self) -> None:
        """Raise when no call may be made any more: the time is over, or the run was stopped."""
        if self.is_stopped:
            raise RatingError("the run was stopped before this call was made", code="interrupted")
        if self.is_late:
            raise BudgetError(f"the {self.minutes:g} minutes of the run were over before this call was made")

    async def wait(self, seconds: float) -> None:
        """Sleep so long, or until the run is over: nobody waits a minute to ask again in a run that was stopped."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            await asyncio.sleep(min(left, LOOK_SECONDS))
            if self.is_stopped or self.is_late:
                return

    def take_system_call(self, name: str) -> None:
        """Count one call to the system under test; raises BudgetError when it would pass the budget."""
        self.check()
        if self.calls is not None and self.spent.calls + self._held.calls + 1 > self.calls:
            raise BudgetError(f"the budget of {self.calls:,} calls is used up; {name} was not called")
        self.spent += Usage(calls=1)
        self.system_calls += 1

    async def reserve(self, invoker: BaseLMInvoker, request: Request) -> Reserve:
        """Set aside what the call may take; raises when that would pass the budget, or when the run is over."""
        self.check()
        return await super().reserve(invoker, request)
