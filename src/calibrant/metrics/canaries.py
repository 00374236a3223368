"""Canaries: items whose right verdict is known, mixed into a run to see whether the judge can still be believed.

The bad ones try to grade themselves, close their fence or give orders to the judge; the good ones are plainly good, so
that a judge that fails everything is found out too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from calibrant.estimates import Coverage, Estimate
from calibrant.items import EvalInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from calibrant.metrics.base import BaseMetric
    from calibrant.ratings import MetricResult

__all__ = ["Canary", "CanaryReport", "ask_canaries", "canaries_for", "canary_report", "shipped_canaries"]

PREFIX = "canary:"
"""What the ids of canaries begin with, so that a run can keep them apart."""


@dataclass(frozen=True, slots=True)
class Canary:
    """An item, the kind of trap that it is, and for each criterion that it fits whether it should pass."""

    item: EvalInput
    kind: str
    passes: tuple[tuple[str, bool], ...]

    def verdict(self, criterion: str) -> bool | None:
        """Whether the item should pass on `criterion`; None when it says nothing about it."""
        return dict(self.passes).get(criterion)


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryReport:
    """How a metric fared on its canaries: `wrong` holds those with the wrong verdict, or none, and what was said."""

    metric: str
    right: Estimate
    wrong: tuple[tuple[str, str], ...]

    @property
    def passed(self) -> bool:
        """Whether every canary got its right verdict. A failure to answer is no right verdict."""
        return not self.wrong

    def __str__(self) -> str:
        if self.right.coverage.total == 0:
            return f"{self.metric}: no canary fits it"
        count = f"{self.right.coverage.total - len(self.wrong)} of {self.right.coverage.total}"
        if self.passed:
            return f"{self.metric}: {count} canaries right"
        told = "; ".join(f"{name}: {said}" for name, said in self.wrong)
        return f"{self.metric}: CANARIES FAILED, {count} right ({told})"

    def to_json(self) -> dict[str, Any]:
        """The report as JSON has it."""
        wrong = [{"canary": name, "said": said} for name, said in self.wrong]
        return {"metric": self.metric, "passed": self.passed, "right": self.right.to_json(), "wrong": wrong}


@cache
def shipped_canaries() -> tuple[Canary, ...]:
    """Every shipped canary, as `canaries.json` in the package has them.

    >>> {canary.kind for canary in shipped_canaries()} >= {"good", "grades itself", "closes its fence"}
    True
    """
    text = (resources.files("calibrant.metrics") / "canaries.json").read_text("utf-8")
    return tuple(
        Canary(
            item=EvalInput.from_dict({**record["item"], "id": PREFIX + record["id"]}),
            kind=record["kind"],
            passes=tuple(sorted(record["passes"].items())),
        )
        for record in json.loads(text)
    )


def canaries_for(metric: BaseMetric, canaries: Sequence[Canary] | None = None) -> list[Canary]:
    """Those canaries (all shipped ones by default) that have a verdict on the metric's name and its fields."""
    given = shipped_canaries() if canaries is None else canaries
    return [one for one in given if one.verdict(metric.name) is not None and metric.can_evaluate(one.item)]


def canary_report(metric: BaseMetric, canaries: Sequence[Canary], results: Iterable[MetricResult]) -> CanaryReport:
    """How the metric fared, from its results on `canaries`, in their order."""
    from calibrant.stats import proportion

    asked = list(zip(canaries, results, strict=True))
    coverage = Coverage.of((one.status, one.error.code if one.error else None) for _, one in asked)
    right = [one.error is None and one.success == canary.verdict(metric.name) for canary, one in asked]
    wrong = tuple(
        (canary.item.id.removeprefix(PREFIX), f"{result}, but it is {'good' if canary.verdict(metric.name) else 'bad'}")
        for (canary, result), good in zip(asked, right, strict=True)
        if not good
    )
    return CanaryReport(
        metric=metric.name, right=proportion(sum(right), coverage.rated, coverage=coverage), wrong=wrong
    )


async def ask_canaries(metric: BaseMetric, canaries: Sequence[Canary] | None = None) -> CanaryReport:
    """How the metric fares on the canaries that fit it, asked now."""
    chosen = canaries_for(metric, canaries)
    return canary_report(metric, chosen, await metric.evaluate([one.item for one in chosen]) if chosen else [])
