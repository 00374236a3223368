"""How far a run is: what a progress display is told, several times a second."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calibrant.ratings import Usage

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ProgressState", "reported"]

EVERY_SECONDS = 0.2


@dataclass(slots=True, kw_only=True)
class ProgressState:
    """How far a run is: items done, and items with a rating that failed.

    `expected_usd` is what it was estimated to cost; None when a price is unknown. `is_stopping` says that the run was
    interrupted, and waits for the calls that are under way.
    """

    total: int
    done: int = 0
    failed: int = 0
    usage: Usage = field(default_factory=Usage)
    expected_calls: int = 0
    expected_usd: float | None = None
    started: float = field(default_factory=time.monotonic)
    is_stopping: bool = False
    is_over: bool = False

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float | None:
        """About how many seconds are left; None before the first item is done."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None


async def reported(state: ProgressState, report: Callable[[ProgressState], None] | None) -> None:
    """Tell `report` about `state` until the run is over, and then once more."""
    while report is not None:
        report(state)
        if state.is_over:
            return
        await asyncio.sleep(EVERY_SECONDS)
