"""Juries: several judges' results become one representative result, which is always one that a judge really gave.

A judge's result is any mapping with a `score`, or with an `error`. Failed judges are counted and named, and never
become a score. How many must have answered is the metric's question (its `quorum`), not the aggregator's.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from calibrant.errors import InputError, UnknownNameError, WrongTypeError, shortened

if TYPE_CHECKING:
    from calibrant.ratings import MetricOutput

__all__ = [
    "AggregationMethod",
    "AggregationSelector",
    "AverageAggregationStrategy",
    "BaseJudgeAggregator",
    "MajorityVoteAggregationStrategy",
    "MedianAggregationStrategy",
    "RepeatedResults",
    "build_aggregation_strategy",
    "error_text",
    "label_text",
]


class AggregationMethod(StrEnum):
    """How the scores of several judges become one."""

    MAJORITY_VOTE = "majority_vote"
    MEDIAN = "median"
    AVERAGE = "average"


class RepeatedResults(NamedTuple):
    """The valid results of a jury, their scores, their places among all judges, and the errors of the other judges."""

    results: list[MetricOutput]
    scores: list[Any]
    indices: list[int]
    errors: list[str]


class BaseJudgeAggregator(ABC):
    """A strategy that turns repeated judge results into one representative result."""

    @property
    @abstractmethod
    def strategy(self) -> AggregationMethod:
        """The strategy's identifier."""

    @abstractmethod
    def aggregate(self, all_results: list[MetricOutput], total_judges: int) -> MetricOutput:
        """One representative result, annotated with how the judges voted.

        Raises ValueError when no judge gave a valid result, or when a valid score is not a number.
        """

    def aggregate_repeated_results(self, all_results: list[MetricOutput], total_judges: int) -> RepeatedResults:
        """The valid results with their scores and places, and the errors of the judges that gave none.

        A result without a score, with an error, or with a score that is not finite is not valid. Raises ValueError
        when there is no result, or none that is valid.
        """
        _check_jury(all_results, total_judges)
        valid = RepeatedResults([], [], [], [])
        for index, result in enumerate(all_results):
            problem = error_text(result)
            if problem is None:
                valid.results.append(result)
                valid.scores.append(result["score"])
                valid.indices.append(index)
            else:
                valid.errors.append(f"judge {index}: {problem}")
        if not valid.results:
            raise InputError(f"none of the {total_judges} judges gave a valid result: {'; '.join(valid.errors)}")
        return valid

    def annotated(
        self, position: int, valid: RepeatedResults, all_results: list[MetricOutput], total_judges: int
    ) -> dict[str, Any]:
        """The valid result at `position`, with how the whole jury voted; `agreement` is the share of the top score."""
        counts = Counter(valid.scores)
        silent = total_judges - len(all_results)
        unanswered = [f"{silent} of {total_judges} judges gave no result at all"] if silent else []
        return {
            **valid.results[position],
            "aggregation_method": str(self.strategy),
            "representative_judge": valid.indices[position],
            "num_judges": total_judges,
            "valid_judges": len(valid.results),
            "failed_judges": total_judges - len(valid.results),
            "judge_errors": [*valid.errors, *unanswered],
            "score_distribution": {score: counts[score] for score in sorted(counts, key=_rank)},
            "agreement": max(counts.values()) / len(valid.results),
            "individual_results": [dict(result) for result in all_results],
        }


class MedianAggregationStrategy(BaseJudgeAggregator):
    """The observed median: the upper one of an even number, so that it is always some judge's own result.

    >>> votes = [{"score": 1.0}, {"score": 0.0}, {"score": 0.5}, {"score": 0.75}]
    >>> MedianAggregationStrategy().aggregate(votes, total_judges=4)["score"]
    0.75
    """

    @property
    def strategy(self) -> AggregationMethod:
        """The identifier `median`."""
        return AggregationMethod.MEDIAN

    def aggregate(self, all_results: list[MetricOutput], total_judges: int) -> MetricOutput:
        """The first result with the median score, annotated."""
        valid = self.aggregate_repeated_results(all_results, total_judges)
        scores = _numbers(valid)
        position = scores.index(_upper_median(scores))
        return self.annotated(position, valid, all_results, total_judges)


class MajorityVoteAggregationStrategy(BaseJudgeAggregator):
    """The most frequent score; when several are equally frequent, the median strategy decides over all votes.

    >>> votes = [{"score": 1.0}, {"score": 0.0}, {"score": 1.0}, {"error": "timed out"}]
    >>> result = MajorityVoteAggregationStrategy().aggregate(votes, total_judges=4)
    >>> result["score"], result["valid_judges"], result["judge_errors"]
    (1.0, 3, ['judge 3: timed out'])
    """

    @property
    def strategy(self) -> AggregationMethod:
        """The identifier `majority_vote`."""
        return AggregationMethod.MAJORITY_VOTE

    def aggregate(self, all_results: list[MetricOutput], total_judges: int) -> MetricOutput:
        """The first result with the most frequent score, annotated; `tied` says whether the median decided."""
        valid = self.aggregate_repeated_results(all_results, total_judges)
        scores = _numbers(valid)
        (winner, most), *others = Counter(scores).most_common()
        tied = bool(others) and others[0][1] == most
        position = scores.index(_upper_median(scores) if tied else winner)
        return {**self.annotated(position, valid, all_results, total_judges), "tied": tied}


class AverageAggregationStrategy(BaseJudgeAggregator):
    """The arithmetic mean as score; everything else is from the result nearest to it, the first one on ties.

    >>> votes = [{"score": 1.0, "explanation": "good"}, {"score": 0.5, "explanation": "fair"}, {"score": 0.0}]
    >>> result = AverageAggregationStrategy().aggregate(votes, total_judges=3)
    >>> result["score"], result["explanation"]
    (0.5, 'fair')
    """

    @property
    def strategy(self) -> AggregationMethod:
        """The identifier `average`."""
        return AggregationMethod.AVERAGE

    def aggregate(self, all_results: list[MetricOutput], total_judges: int) -> MetricOutput:
        """The result nearest to the mean, with the mean as its score, annotated."""
        valid = self.aggregate_repeated_results(all_results, total_judges)
        scores = _numbers(valid)
        mean = math.fsum(scores) / len(scores)
        distances = [abs(score - mean) for score in scores]
        nearest = min(distances)
        # Decimal scores that lie equally far from their mean differ by a rounding error in binary.
        position = next(i for i, distance in enumerate(distances) if math.isclose(distance, nearest, abs_tol=1e-12))
        annotated = self.annotated(position, valid, all_results, total_judges)
        return {**annotated, "score": mean, "representative_score": scores[position]}


AggregationSelector: TypeAlias = AggregationMethod | Literal["majority_vote", "median", "average"] | BaseJudgeAggregator
"""What selects a strategy: its enum value, its name, or an instance of one's own."""

_STRATEGIES: Mapping[AggregationMethod, type[BaseJudgeAggregator]] = {
    AggregationMethod.MAJORITY_VOTE: MajorityVoteAggregationStrategy,
    AggregationMethod.MEDIAN: MedianAggregationStrategy,
    AggregationMethod.AVERAGE: AverageAggregationStrategy,
}


def build_aggregation_strategy(aggregation_method: AggregationSelector | str) -> BaseJudgeAggregator:
    """The strategy that `aggregation_method` selects; an instance is returned as it is.

    Raises ValueError for an unknown name and TypeError for anything that is no name, enum value or strategy.

    >>> build_aggregation_strategy("median").strategy
    <AggregationMethod.MEDIAN: 'median'>
    """
    if isinstance(aggregation_method, BaseJudgeAggregator):
        return aggregation_method
    if not isinstance(aggregation_method, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        expected = "an AggregationMethod, its name, or a BaseJudgeAggregator"
        raise WrongTypeError(f"an aggregation method is {expected}, not {shortened(aggregation_method)}")
    try:
        return _STRATEGIES[AggregationMethod(aggregation_method.strip().lower())]()
    except ValueError:
        raise UnknownNameError.among("aggregation method", aggregation_method, AggregationMethod) from None


def error_text(result: MetricOutput) -> str | None:
    """Why `result` is no valid vote; None when it is one.

    >>> error_text({"score": 0.5}), error_text({"score": float("nan")}), error_text({"explanation": "?"})
    (None, 'its score is nan', 'it gave no score')
    """
    error = result.get("error")
    if error:
        return str(error)
    score = result.get("score")
    if score is None:
        return "it gave no score"
    return None if not _is_number(score) or _is_finite(score) else f"its score is {shortened(score)}"


def _check_jury(all_results: Sequence[MetricOutput], total_judges: int) -> None:
    if not all_results:
        raise InputError("there are no judge results to aggregate")
    for index, result in enumerate(all_results):
        if not isinstance(result, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
            raise WrongTypeError(f"judge {index}'s result is a mapping, not {shortened(result)}")
    if isinstance(total_judges, bool) or not isinstance(total_judges, int):  # pyright: ignore[reportUnnecessaryIsInstance] - callers may be untyped
        raise WrongTypeError(f"total_judges is how many judges were asked, not {shortened(total_judges)}")
    if total_judges < len(all_results):
        raise InputError(f"{len(all_results)} results came from a jury of {total_judges}; total_judges counts them all")


def _numbers(valid: RepeatedResults) -> list[float]:
    """The valid scores as numbers; labels and other things that are none are an error, with every judge named."""
    wrong = [
        f"judge {index}: {shortened(score)}"
        for index, score in zip(valid.indices, valid.scores, strict=True)
        if not _is_number(score)
    ]
    if wrong:
        raise InputError.gathered("a jury whose scores must be numbers (for labels use majority_label)", wrong)
    return [float(score) for score in valid.scores]


def _is_number(score: object) -> bool:
    return not isinstance(score, str) and hasattr(score, "__float__")


def _is_finite(score: Any) -> bool:
    """Whether `score` is a finite number, of whatever library; one that a float cannot hold is none."""
    try:
        return math.isfinite(score)
    except (OverflowError, TypeError, ValueError):
        return False


def _rank(score: object) -> tuple[bool, Any]:
    """Numbers before labels, each in their order."""
    return (True, label_text(score)) if not _is_number(score) else (False, score)


def label_text(score: object) -> str:
    """A label as it is counted and shown: a set of labels by its members in order, for equal sets print unlike.

    >>> label_text("calm"), label_text(frozenset({"b", "a"}))
    ('calm', 'a, b')
    """
    return ", ".join(sorted(map(str, score))) if isinstance(score, frozenset) else str(score)


def _upper_median(scores: Sequence[float]) -> float:
    return sorted(scores)[len(scores) // 2]
