"""How long each call took, in the reply and as quantiles of all."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from calibrant.errors import InputError
from calibrant.models.clocks import Clock
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Reply, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Latencies", "TimedInvoker", "timed"]

STEPS: Final = 16


class Latencies:
    """How long calls took, counted in classes a sixteenth of an octave wide: its size does not grow with the calls.

    >>> latencies = Latencies()
    >>> for milliseconds in range(1, 101):
    ...     latencies.add(milliseconds / 1000)
    >>> latencies.count, round(latencies.quantile(0.5), 3)
    (100, 0.05)
    """

    def __init__(self) -> None:
        self.count = 0
        self._classes = Counter[int]()

    def add(self, seconds: float) -> None:
        """Count one call."""
        self.count += 1
        self._classes[round(STEPS * math.log2(max(seconds, 1e-9)))] += 1

    def quantile(self, share: float) -> float | None:
        """The seconds within which this share of the calls was done, to about 2%; None when there were none."""
        if not 0.0 <= share <= 1.0:
            raise InputError(f"a quantile is between 0 and 1, not {share}")
        seen = 0
        for place in sorted(self._classes):
            seen += self._classes[place]
            if seen >= share * self.count:
                return 2.0 ** (place / STEPS)
        return None

    def to_json(self) -> Mapping[str, Any]:
        """The count and three quantiles, in seconds."""
        return {
            "count": self.count,
            "p50": self.quantile(0.5),
            "p95": self.quantile(0.95),
            "p99": self.quantile(0.99),
        }


class TimedInvoker(InvokerWrapper):
    """The model inside, with a stopwatch: waits for limits and between attempts are not part of what it measures."""

    def __init__(self, inner: BaseLMInvoker, latencies: Latencies | None = None, *, clock: Clock | None = None) -> None:
        super().__init__(inner)
        self.latencies = latencies or Latencies()
        self._clock = clock or Clock()

    async def invoke(self, request: Request) -> Reply:
        """The reply, with `seconds`."""
        began = self._clock.now()
        reply = await self.inner.invoke(request)
        seconds = self._clock.now() - began
        self.latencies.add(seconds)
        return replace(reply, seconds=seconds)


def timed(invoker: BaseLMInvoker, latencies: Latencies | None = None, *, clock: Clock | None = None) -> TimedInvoker:
    """`invoker`, with the seconds of every call in its reply and in `latencies`."""
    return TimedInvoker(invoker, latencies, clock=clock)
