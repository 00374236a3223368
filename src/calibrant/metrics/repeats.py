"""Repeats: one item rated several times over, and how much the ratings differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from calibrant.estimates import Coverage, Estimate
from calibrant.metrics.jury import (
    commonest_failure,
    error_output,
    failed_result,
    judged_result,
    result_of,
    strategy_for,
)
from calibrant.ratings import MetricResult, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from calibrant.items import EvalInput
    from calibrant.metrics.base import BaseMetric
    from calibrant.metrics.jury import Vote
    from calibrant.ratings import MetricOutput

__all__ = ["Stability", "flip_rate", "repeated_result", "stability", "within_item_variance"]


def repeated_result(metric: BaseMetric, item: EvalInput, votes: Sequence[Vote]) -> MetricResult:
    """What all repeats of one item come to, by the metric's own aggregation; `details["repeats"]` says how they differ.

    Each repeat is a whole jury with its quorum. More than half of the repeats must give a result, else there is none.
    """
    size = metric.num_judges
    rounds = [result_of(metric, item, votes[start : start + size]) for start in range(0, len(votes), size)]
    ratings = tuple(replace(rating, role="vote") for one in rounds for rating in one.judges)
    usages = [one.usage for one in rounds if one.usage is not None]
    usage = sum(usages, Usage()) if usages else None
    failures = [one.error for one in rounds if one.error is not None]
    if len(failures) * 2 >= len(rounds):
        return failed_result(metric, commonest_failure(failures, len(rounds), "repeats"), ratings=ratings, usage=usage)
    output = strategy_for(metric, votes).aggregate([_output(one) for one in rounds], len(rounds))
    chosen = rounds[output["representative_judge"]]
    told: dict[str, Any] = {
        **chosen.details,
        "score": output["score"],
        "explanation": chosen.explanation,
        "repeats": _account(rounds),
    }
    if chosen.rubric_score is not None:
        told["rubric_score"] = chosen.rubric_score
    return judged_result(metric, told, ratings, usage)


def flip_rate(passed: Sequence[bool]) -> float | None:
    r"""The chance that two different repeats of an item disagree about passing; None for fewer than two.

    The share of the pairs of repeats that disagree: :math:`k(n-k) / \binom{n}{2}` for k passes of n.

    >>> flip_rate([True, True, False]), flip_rate([True])
    (0.6666666666666666, None)
    """
    if len(passed) < 2:
        return None
    passes = sum(passed)
    return passes * (len(passed) - passes) / math.comb(len(passed), 2)


def within_item_variance(scores: Sequence[float]) -> float | None:
    """The sample variance of several scores of one item; None for fewer than two.

    >>> within_item_variance([0.0, 1.0, 1.0, 0.0]), within_item_variance([1.0])
    (0.3333333333333333, None)
    """
    if len(scores) < 2:
        return None
    centre = math.fsum(scores) / len(scores)
    return math.fsum((score - centre) ** 2 for score in scores) / (len(scores) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stability:
    """How much the repeats of the same items differ.

    `variance` is the mean within-item variance of the scores, `flip_rate` the mean chance that two repeats of an item
    disagree about passing, `unsettled` the share of items with repeats on both sides of the threshold, and
    `least_stable` the places of those items in the list, the most divided first.
    """

    variance: Estimate
    flip_rate: Estimate
    unsettled: Estimate
    least_stable: tuple[int, ...]

    def __str__(self) -> str:
        return (
            f"within-item variance {self.variance:.4f}\nflip rate            {self.flip_rate}\n"
            f"unsettled items      {self.unsettled}"
        )

    def to_json(self) -> dict[str, Any]:
        """The stability as JSON has it."""
        return {
            "variance": self.variance.to_json(),
            "flip_rate": self.flip_rate.to_json(),
            "unsettled": self.unsettled.to_json(),
            "least_stable": list(self.least_stable),
        }


def stability(results: Iterable[MetricResult], *, level: float = 0.95) -> Stability:
    """How stable a metric with `repeats` was over `results`.

    Items whose repeats failed are in the coverage; those with one valid repeat say nothing and count as skipped.
    """
    from calibrant.stats import mean, proportion

    given = list(results)
    accounts: dict[int, Mapping[str, Any]] = {
        place: one.details["repeats"]
        for place, one in enumerate(given)
        if one.error is None and one.details.get("repeats", {}).get("flip_rate") is not None
    }
    flips = {place: cast("float", account["flip_rate"]) for place, account in accounts.items()}
    variances = [cast("float", one["variance"]) for one in accounts.values() if one["variance"] is not None]
    coverage = _coverage(given, len(accounts))
    numeric = coverage if len(variances) == len(accounts) else _coverage(given, len(variances))
    return Stability(
        variance=mean(variances, level=level, coverage=numeric),
        flip_rate=mean(list(flips.values()), level=level, coverage=coverage),
        unsettled=proportion(sum(flip > 0 for flip in flips.values()), len(flips), level=level, coverage=coverage),
        least_stable=tuple(sorted((place for place in flips if flips[place] > 0), key=lambda one: (-flips[one], one))),
    )


def _account(rounds: Sequence[MetricResult]) -> dict[str, Any]:
    valid = [one for one in rounds if one.error is None]
    scores = [one.score for one in valid if one.score is not None]
    return {
        "asked": len(rounds),
        "scores": scores or [one.label for one in valid],
        "passed": [one.success for one in valid],
        "variance": within_item_variance(scores),
        "flip_rate": flip_rate([one.success for one in valid]),
        "errors": [str(one.error) for one in rounds if one.error is not None],
    }


def _output(one: MetricResult) -> MetricOutput:
    if one.error is not None:
        return error_output(one.error)
    return {"score": one.label if one.score is None else one.score}


def _coverage(given: Sequence[MetricResult], rated: int) -> Coverage:
    counted = Coverage.of((one.status, one.error.code if one.error else None) for one in given)
    return replace(counted, rated=rated, skipped=counted.skipped + counted.rated - rated)
