"""What the score would have been: other strategies and temperatures over votes and verdicts that are already there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calibrant.aggregation.juries import AggregationMethod, build_aggregation_strategy
from calibrant.aggregation.verdicts import TEMPERATURE_KNOTS, score_agg, verdict_weight
from calibrant.ratings import MetricOutput, Rating

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["what_if_verdicts", "what_if_votes"]


def what_if_votes(votes: Iterable[Rating | MetricOutput | float]) -> dict[str, float]:
    """The score under every aggregation strategy, from stored votes: ratings, judges' outputs, or bare scores.

    Failed votes are left out as the strategies leave them out; no judge is asked.

    >>> what_if_votes([1.0, 1.0, 0.0, 0.25])
    {'majority_vote': 1.0, 'median': 1.0, 'average': 0.5625}
    """
    outputs = [_output(vote) for vote in votes]
    return {
        str(method): float(build_aggregation_strategy(method).aggregate(outputs, len(outputs))["score"])
        for method in AggregationMethod
    }


def what_if_verdicts(
    verdicts: Sequence[str | float],
    *,
    temperatures: Sequence[float] = tuple(knot for knot, _ in TEMPERATURE_KNOTS),
    penalty: float = 0.1,
) -> dict[float, float]:
    """The score at every temperature, from stored verdicts: words, or their weights.

    >>> {t: round(score, 3) for t, score in what_if_verdicts(["fully", "mostly", "partial", "minor"]).items()}
    {0.1: 0.357, 0.3: 0.48, 0.5: 0.725, 0.7: 0.842, 1.0: 0.912}
    """
    weights = [verdict_weight(verdict) if isinstance(verdict, str) else float(verdict) for verdict in verdicts]
    return {temperature: score_agg(weights, temperature, penalty) for temperature in temperatures}


def _output(vote: Rating | MetricOutput | float) -> Mapping[str, Any]:
    if isinstance(vote, Rating):
        return {"score": vote.value} if vote.failure is None else {"error": str(vote.failure)}
    return vote if isinstance(vote, Mapping) else {"score": vote}
