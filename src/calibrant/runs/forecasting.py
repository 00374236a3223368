"""What a run will take, before a single call is made: from its first items, for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant.models.costs import CostEstimate, estimate_cost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.items import EvalInput
    from calibrant.metrics.base import BaseMetric

__all__ = ["Forecast", "forecast"]

OUTPUT_TOKENS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What a run is expected to take; `cost` is None where no metric says what it asks.

    Answers that the workspace holds already are not subtracted: it is what a first run takes.
    """

    items: int
    calls: int
    system_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0

    def __str__(self) -> str:
        if not self.calls and not self.system_calls:
            return f"{self.items:,} items, no calls to models"
        parts = [f"{self.items:,} items"]
        if self.system_calls:
            parts.append(f"{self.system_calls:,} calls to the system")
        if self.calls:
            money = "price unknown" if self.usd is None else f"about ${self.usd:.4g}"
            tokens = f"about {self.input_tokens:,} tokens read and {self.output_tokens:,} written"
            parts += [f"about {self.calls:,} calls to judges", tokens, money]
        return ", ".join(parts)

    def joined(self, other: Forecast) -> Forecast:
        """This forecast with the calls of `other` on top; the number of items stays."""
        return Forecast(
            items=self.items,
            calls=self.calls + other.calls,
            system_calls=self.system_calls + other.system_calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
        )

    def to_json(self) -> dict[str, Any]:
        """The forecast as JSON has it; unknown money is null."""
        return {
            "items": self.items,
            "calls": self.calls,
            "system_calls": self.system_calls,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": self.usd,
        }


def forecast(metrics: Sequence[BaseMetric], sample: Sequence[EvalInput], n: int, *, has_system: bool) -> Forecast:
    """What rating `n` items takes, if they are like those of `sample`; answers still to come count as empty."""
    if has_system:
        sample = [item if item.answer is not None else item.replace(answer="") for item in sample]
    share = n / len(sample)
    calls = read = written = 0.0
    usd: float | None = 0.0
    for metric in metrics:
        asked = sum(metric.estimated_calls(item) for item in sample) * share + len(metric.preparing_requests())
        estimates = _costs(metric, sample)
        calls += asked
        if not asked:
            continue
        made = sum(one.calls for one in estimates)
        scale = asked / made if made else 0.0
        read += sum(one.input_tokens for one in estimates) * scale
        written += asked * OUTPUT_TOKENS
        prices = [one.usd for one in estimates]
        usd = None if usd is None or not made or None in prices else usd + sum(one or 0.0 for one in prices) * scale
    return Forecast(
        items=n,
        calls=round(calls),
        system_calls=n if has_system else 0,
        input_tokens=round(read),
        output_tokens=round(written),
        usd=usd,
    )


def _costs(metric: BaseMetric, sample: Sequence[EvalInput]) -> list[CostEstimate]:
    able = [item for item in sample if metric.can_evaluate(item)]
    return [
        estimate_cost(judge, metric.estimated_requests(item), output_tokens=OUTPUT_TOKENS)
        for judge in metric.models
        for item in able
    ]
