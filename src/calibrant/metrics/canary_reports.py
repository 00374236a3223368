"""How a metric fares on canaries: asked now, or among the items of a run, and always told apart from its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from calibrant.estimates import Coverage, Estimate
from calibrant.metrics.canaries import PREFIX, shipped_canaries
from calibrant.metrics.multi import MultiOutputBaseMetric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from calibrant.metrics.base import BaseMetric
    from calibrant.metrics.canaries import Canary
    from calibrant.ratings import MetricResult

__all__ = ["CanaryReport", "ask_canaries", "canaries_for", "canary_report"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryReport:
    """How a metric fared on its canaries: `wrong` holds those with the wrong verdict, or none, and what was said.

    Canaries that nobody was asked about, since the budget or the time was over, are in the coverage as skipped.
    """

    metric: str
    right: Estimate
    wrong: tuple[tuple[str, str], ...]

    @property
    def passed(self) -> bool:
        """Whether every canary that was asked got its right verdict. A failure to answer is no right verdict."""
        return not self.wrong

    def __str__(self) -> str:
        coverage = self.right.coverage
        if coverage.total == 0:
            return f"{self.metric}: no canary fits it"
        asked = coverage.total - coverage.skipped
        count = f"{asked - len(self.wrong)} of {asked}"
        left = f", {coverage.skipped} not asked" if coverage.skipped else ""
        if self.passed:
            return f"{self.metric}: {count} canaries right{left}"
        told = "; ".join(f"{name}: {said}" for name, said in self.wrong)
        return f"{self.metric}: CANARIES FAILED, {count} right{left} ({told})"

    def to_json(self) -> dict[str, Any]:
        """The report as JSON has it."""
        wrong = [{"canary": name, "said": said} for name, said in self.wrong]
        return {"metric": self.metric, "passed": self.passed, "right": self.right.to_json(), "wrong": wrong}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The report that `to_json` wrote."""
        wrong = tuple((one["canary"], one["said"]) for one in data["wrong"])
        return cls(metric=data["metric"], right=Estimate.from_json(data["right"]), wrong=wrong)


def canaries_for(metric: BaseMetric, canaries: Sequence[Canary] | None = None) -> list[Canary]:
    """Those canaries (all shipped ones by default) that have a verdict on the metric and the fields that it needs."""
    if isinstance(metric, MultiOutputBaseMetric):
        return []
    given = shipped_canaries() if canaries is None else canaries
    return [one for one in given if one.verdict_on(metric) is not None and metric.can_evaluate(one.item)]


def canary_report(metric: BaseMetric, canaries: Sequence[Canary], results: Iterable[MetricResult]) -> CanaryReport:
    """How the metric fared, from its results on `canaries`, in their order."""
    from calibrant.stats import proportion

    asked = list(zip(canaries, results, strict=True))
    coverage = Coverage.of((one.status, one.error.code if one.error else None) for _, one in asked)
    right = [one.error is None and one.success == canary.verdict_on(metric) for canary, one in asked]
    wrong = tuple(
        (canary.item.id.removeprefix(PREFIX), f"{result}, but it is {'good' if canary.verdict_on(metric) else 'bad'}")
        for (canary, result), good in zip(asked, right, strict=True)
        if not good and result.status != "skipped"
    )
    return CanaryReport(
        metric=metric.name, right=proportion(sum(right), coverage.rated, coverage=coverage), wrong=wrong
    )


async def ask_canaries(metric: BaseMetric, canaries: Sequence[Canary] | None = None) -> CanaryReport:
    """How the metric fares on the canaries that fit it, asked now."""
    chosen = canaries_for(metric, canaries)
    return canary_report(metric, chosen, await metric.evaluate([one.item for one in chosen]) if chosen else [])
