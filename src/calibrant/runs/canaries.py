"""Canaries among the items of a run: when each is asked, and what they come to, apart from the metrics' numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from calibrant.metrics.canary_reports import canaries_for, canary_report
from calibrant.metrics.jury import failed_result
from calibrant.ratings import Failure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from calibrant.metrics.base import BaseMetric
    from calibrant.metrics.canaries import Canary
    from calibrant.metrics.canary_reports import CanaryReport
    from calibrant.ratings import MetricResult
    from calibrant.runs.session import Place

__all__ = ["CanaryRound", "CanaryTurn", "mixed"]


class CanaryTurn(NamedTuple):
    """One metric's turn at one canary."""

    metric: BaseMetric
    canary: Canary


class CanaryRound:
    """The turns of all metrics at the canaries that fit them, and what came of those that were taken."""

    def __init__(self, metrics: Sequence[BaseMetric], canaries: Sequence[Canary]) -> None:
        self._metrics = tuple(metrics) if canaries else ()
        self._chosen = {metric.name: canaries_for(metric, canaries) for metric in self._metrics}
        self._results: dict[tuple[str, str], MetricResult] = {}

    @property
    def turns(self) -> list[CanaryTurn]:
        """Who is to be asked about what, canary by canary."""
        fitting = [(metric, self._chosen[metric.name]) for metric in self._metrics]
        longest = max((len(chosen) for _, chosen in fitting), default=0)
        return [
            CanaryTurn(metric, chosen[place])
            for place in range(longest)
            for metric, chosen in fitting
            if place < len(chosen)
        ]

    async def take(self, turn: CanaryTurn) -> None:
        """Ask the metric about the canary. Its ratings are in the report alone."""
        self._results[turn.metric.name, turn.canary.item.id] = await turn.metric.evaluate(turn.canary.item)

    def reports(self, *, unreached: str) -> tuple[CanaryReport, ...]:
        """A report for each metric, if canaries were asked for; turns not taken count as skipped, by that code."""
        missed = Failure(code=unreached, message="the run ended before this canary was asked about")
        return tuple(
            canary_report(
                metric,
                chosen := self._chosen[metric.name],
                [self._results.get((metric.name, one.item.id)) or failed_result(metric, missed) for one in chosen],
            )
            for metric in self._metrics
        )


def mixed(chunks: Iterable[list[Place]], turns: Sequence[CanaryTurn], count: int) -> Iterator[list[Place] | CanaryTurn]:
    """The chunks, `count` of them, with the turns spread evenly before them; a run that ends early leaves some out.

    >>> list(mixed([["a"], ["b"]], ["x", "y", "z"], 2))
    ['x', ['a'], 'y', 'z', ['b']]
    """
    told = 0
    for place, chunk in enumerate(chunks, 1):
        due = len(turns) * place // count
        yield from turns[told:due]
        told = due
        yield chunk
