"""What `make demo` shows: a jury, its failures, and the verdicts of an answer, with a judge from a script."""

from __future__ import annotations

import asyncio

from calibrant import BaseMetric, EvalInput, MetricScore, ScriptedInvoker
from calibrant.aggregation import what_if_verdicts
from calibrant.errors import ModelCallError
from calibrant.models import Request


class PoliteMetric(BaseMetric):
    """Asks its judge whether an answer is polite."""

    required_fields = frozenset({"answer"})

    async def _evaluate(self, data: EvalInput) -> MetricScore:
        reply = await self.judge.invoke(Request.of(f"Is this polite?\n\n{data.answer}", schema={"type": "object"}))
        return MetricScore(reply.data["score"], reply.data["why"])


async def demo() -> None:
    """Print a jury's results over four items, one of which no jury could rate."""

    def kind(request: Request) -> dict[str, object] | ModelCallError:
        if "invoice" in request.messages[-1].content:
            return ModelCallError("no answer within 60 s", code="judge_timeout")
        return {"score": 1.0, "why": "nothing rude in it"}

    def strict(request: Request) -> dict[str, object]:
        return {"score": float("please" in request.messages[-1].content.lower()), "why": "it wants a please"}

    jury = PoliteMetric(models=[ScriptedInvoker(kind, name="demo/kind"), ScriptedInvoker(strict, name="demo/strict")])
    jury.aggregation_method = "average"
    items = [
        EvalInput(id="hours", answer="Please come before six."),
        EvalInput(id="rude", answer="Read the page."),
        EvalInput(id="invoice", answer="Your invoice is attached."),
        EvalInput(id="empty"),
    ]
    print("A jury of two scripted judges, averaged:\n")
    for item, result in zip(items, await jury.evaluate(items), strict=True):
        print(f"  {item.id:8} {result}")
    print("\nOne answer's verdicts, from the strictest temperature to the most lenient:\n")
    for temperature, score in what_if_verdicts(["fully", "mostly", "partial", "minor"]).items():
        print(f"  {temperature:<4} {score:.3f}")
    print("\nThis shows scoring alone. Runs, retrieval and judges against people join the demo as they are built.")


if __name__ == "__main__":
    asyncio.run(demo())
