"""Metrics with several outputs at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, RatingError, shortened
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.judges import Slot
from calibrant.metrics.jury import CONCURRENT_ITEMS, answers_in_slot, each, error_output, score_of
from calibrant.ratings import Failure, MetricOutput

if TYPE_CHECKING:
    from calibrant.items import EvalInput

__all__ = ["MultiOutputBaseMetric"]


class MultiOutputBaseMetric(BaseMetric):
    """A metric with several outputs at once, such as retrieval measures at several depths.

    `_evaluate` returns a mapping from sub-metric to its score (or to a mapping with a `score`); `evaluate` returns
    that mapping with every output as `{"score": ..., "explanation": ...}`. What went wrong is `{"error": ...}`.
    """

    async def evaluate(self, data: Any) -> Any:
        """The outputs of one item, or of each item of a list, by sub-metric."""
        return await super().evaluate(data)

    async def _evaluate_items(self, items: list[EvalInput]) -> list[MetricOutput]:
        if self.repeats != 1:
            raise InputError(f"{self.name} has several outputs, which are not repeated; leave repeats at 1")
        if not self.batch:
            return await each(items, self._evaluate_item, limit=CONCURRENT_ITEMS)
        able = [item for item in items if self.can_evaluate(item)]
        answers = await self._answers(able) if able else []
        given = {id(item): answer for item, answer in zip(able, answers, strict=True)}
        return [_outputs(given[id(one)]) if id(one) in given else self._skipped(one) for one in items]

    async def _evaluate_item(self, item: EvalInput) -> MetricOutput:
        if not self.can_evaluate(item):
            return self._skipped(item)
        return _outputs((await self._answers([item]))[0])

    async def _answers(self, items: list[EvalInput]) -> list[Any]:
        return await answers_in_slot(self, Slot(0, self._models[0] if self._models else None), items)

    def _skipped(self, item: EvalInput) -> MetricOutput:
        return error_output(self._lacking(item))


def _outputs(answer: Any) -> MetricOutput:
    """The outputs by sub-metric; one that is no score is an error of its own, and leaves the others as they are."""
    if isinstance(answer, Failure):
        return error_output(answer)
    if not isinstance(answer, Mapping):
        problem = f"expected a mapping from sub-metric to score, got {shortened(answer)}"
        return error_output(Failure(code="score_invalid", message=problem))
    return {str(name): _output(value) for name, value in answer.items()}


def _output(value: Any) -> MetricOutput:
    if isinstance(value, Mapping) and value.get("error"):
        return value
    try:
        return score_of(value).to_output()
    except RatingError as error:
        return error_output(Failure.of(error))
