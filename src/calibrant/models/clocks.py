"""Time and chance as the wrappers see them, so that a test can turn the hands itself."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

__all__ = ["Clock"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """`now` in seconds that only go forward, `sleep` for some, and `draw` a number in [0, 1) for jitter.

    >>> Clock(draw=lambda: 0.5).draw()
    0.5
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    draw: Callable[[], float] = random.random
