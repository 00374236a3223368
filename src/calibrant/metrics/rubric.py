"""Metrics made of rubrics: a judge reads the criterion and its levels, explains, and gives a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from calibrant.metrics.base import BaseMetric
from calibrant.metrics.fences import fenced, sections_of
from calibrant.metrics.rubric_files import read_rubric
from calibrant.metrics.rubric_record import Rubric
from calibrant.metrics.scoring import Scoring, ScoringMode, level_schema, requests_for, scored

if TYPE_CHECKING:
    from pathlib import Path

    from calibrant.items import EvalInput
    from calibrant.models.invoker import Request
    from calibrant.ratings import MetricScore

__all__ = ["RubricMetric"]


class RubricMetric(BaseMetric):
    """A metric that a rubric describes: a file of your own, the name of a shipped one, or a Rubric.

    The level is the result's `rubric_score`; its place between the lowest and the highest level is the score.
    `scoring` is `single` (one level), `weighted` (the expected level under the probabilities that the judge gives the
    levels' labels; without them the error `unsupported`, unless `fallback="sampled"`), or `sampled` (the mean of
    `samples` answers); `details["scoring"]` of a result says which it was. Name, required fields, polarity and
    threshold are the rubric's, unless set.

    >>> from calibrant import EvalInput, ScriptedInvoker
    >>> import asyncio
    >>> judge = ScriptedInvoker({"explanation": "Both hours are in the context.", "score": 3})
    >>> metric = RubricMetric("groundedness", models=judge)
    >>> item = EvalInput(answer="Open from ten to six.", contexts=["Opening hours: 10:00 to 18:00."])
    >>> result = asyncio.run(metric.evaluate(item))
    >>> print(result, result.rubric_score, result.details["scoring"])
    pass 1.000 (>= 0.5) 3 single
    """

    rubric: Rubric

    def __init__(
        self,
        rubric: Rubric | str | Path,
        *,
        scoring: ScoringMode = "single",
        samples: int = 5,
        fallback: Literal["sampled"] | None = None,
        **settings: Any,
    ) -> None:
        self._scoring = Scoring(scoring, samples, fallback)
        self.rubric = rubric if isinstance(rubric, Rubric) else read_rubric(rubric)
        self.name = self.rubric.criterion
        self.required_fields = frozenset(self.rubric.fields)
        self.higher_is_better = self.rubric.higher_is_better
        self.threshold = self.rubric.threshold
        super().__init__(**settings)

    @property
    def scoring(self) -> ScoringMode:
        """The mode that was asked for; a result's details say which one was used."""
        return self._scoring.mode

    def prompt(self, data: EvalInput) -> str:
        """What the judge is shown of an item: its texts between markers, and the request to rate them."""
        texts = sections_of(data, (*self.rubric.fields, *self.rubric.optional))
        return f"{fenced(texts)}\n\nRate the data above on {self.rubric.criterion}, by the levels you were given."

    def estimated_requests(self, item: EvalInput) -> list[Request]:
        """The requests of one vote; a fallback would add its samples to them."""
        return requests_for(self.rubric, self.prompt(item), self._scoring)

    def definition(self) -> dict[str, Any]:
        """The metric's settings, its rubric, the prompt and the form of the reply."""
        weighted = self._scoring.mode == "weighted"
        return {
            **super().definition(),
            "rubric": self.rubric.to_json(),
            "scoring": self._scoring.to_json(),
            "prompt": self.rubric.instructions(labelled=weighted),
            "schema": level_schema(self.rubric),
        }

    async def _evaluate(self, data: EvalInput) -> MetricScore:
        return await scored(self.judge, self.rubric, self.prompt(data), self._scoring)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.rubric.criterion!r}, scoring={self._scoring.mode!r})"
