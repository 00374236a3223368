"""A metric rebuilt from what a run kept of it: it makes votes into results as the metric did, and can ask nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from calibrant.aggregation.juries import AggregationMethod, build_aggregation_strategy
from calibrant.aggregation.labels import LabelMajorityAggregationStrategy
from calibrant.errors import InputError, ModelCallError
from calibrant.items import EvalInput
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.judges import Slot
from calibrant.metrics.jury import Vote
from calibrant.models.invoker import BaseLMInvoker
from calibrant.ratings import MetricScore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.aggregation.juries import AggregationSelector
    from calibrant.models.invoker import Reply, Request
    from calibrant.ratings import Rating
    from calibrant.runs.specification import MetricSpec

__all__ = ["RebuiltMetric"]


class RebuiltMetric(BaseMetric):
    """A metric with the name, the jury, the aggregation and the threshold of one that a run kept.

    Its definition, and so its instrument, is the kept one: what is changed in it changes the instrument as it would
    have changed that of the metric itself.
    """

    def __init__(self, spec: MetricSpec, definition: Mapping[str, Any]) -> None:
        super().__init__(
            threshold=definition["threshold"],
            quorum=definition["quorum"],
            repeats=definition["repeats"],
            strict_mode=definition["strict_mode"],
            higher_is_better=definition["higher_is_better"],
            passing_labels=frozenset(definition["passing_labels"]),
            aggregation_method=_strategy(spec.name, definition["aggregation"]),
            models=[_Absent(name) for name in spec.judges] or None,
        )
        self.name = spec.name
        self.kept = {**definition}

    def definition(self) -> dict[str, Any]:
        """What the run kept of the metric, as it was changed."""
        return self.kept

    async def _evaluate(self, data: Any) -> Any:
        del data
        raise InputError(f"{self.name} is rebuilt from its votes, and rates no items")

    def result(self, votes: Sequence[Rating]) -> Rating:
        """The result that the votes on one item come to, by slot."""
        ordered = sorted(votes, key=lambda vote: vote.slot)
        item = EvalInput(id=ordered[0].item)
        return self.ratings(item, self._result(item, [self._vote(vote) for vote in ordered]))[-1]

    def _vote(self, rating: Rating) -> Vote:
        slot = Slot(rating.slot, self.models[rating.slot % len(self.models)] if self.models else None)
        score = None if rating.value is None else MetricScore(rating.value, rating.explanation)
        return Vote(slot, score, rating.failure)


class _Absent(BaseLMInvoker):
    """Stands for a judge that has answered already."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def invoke(self, request: Request) -> Reply:
        del request
        raise ModelCallError(f"{self.name} is not asked again: its votes are there", code="unsupported")


def _strategy(metric: str, kept: Sequence[Any]) -> AggregationSelector:
    """The strategy that a definition names; one of the user's own cannot be made from its name."""
    method, name, settings = kept
    if name == LabelMajorityAggregationStrategy.__name__:
        return LabelMajorityAggregationStrategy(**cast("dict[str, Any]", settings))
    shipped = {type(build_aggregation_strategy(one)).__qualname__: one for one in AggregationMethod}
    if name not in shipped:
        remedy = f"name one of {', '.join(AggregationMethod)} (--aggregation)"
        raise InputError(f"{metric} combines its votes by {name} ({method}), which is not kept with a run; {remedy}")
    return shipped[name]
