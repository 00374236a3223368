"""The demo's judge metric: one short question about each answer, in as few tokens as it can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibrant import BaseMetric, MetricScore
from calibrant.models import Request

if TYPE_CHECKING:
    from calibrant import EvalInput

QUESTION = "Text: {text}\n\nStatement: {answer}\n\nIs the statement true according to the text?"


class Supported(BaseMetric):
    """The judge's probability that the documents say what the answer says."""

    required_fields = frozenset({"answer", "contexts"})

    async def _evaluate(self, data: EvalInput) -> MetricScore:
        (request,) = self.estimated_requests(data)
        reply = await self.judge.invoke(request)
        return MetricScore(reply.label_probs["yes"], f"the judge says {reply.data}")

    def estimated_requests(self, item: EvalInput) -> list[Request]:
        """What is asked about an item, so that a run knows beforehand what it takes."""
        question = QUESTION.format(text="\n".join(item.contexts), answer=item.answer)
        return [Request.of(question, labels=("yes", "no"))]

    def definition(self) -> dict[str, object]:
        """What changes the scores: the instrument's hash is made of it."""
        return {**super().definition(), "question": QUESTION}
