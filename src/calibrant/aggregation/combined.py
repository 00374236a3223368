"""Several metrics of one item become one pass or fail and one score."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from calibrant.errors import InputError
from calibrant.ratings import Failure, MetricResult

__all__ = ["AggregationResult", "MetricsAggregator", "ScoreMapping", "WeightedMetricsAggregator"]

ScoreMapping = Mapping[int, float] | Callable[[float], float]
"""How a metric's rubric level becomes a quality between 0 and 1: a table of levels, or a function."""


@dataclass(frozen=True, slots=True)
class AggregationResult:
    """What several metrics came to.

    `aggregate_success` is True when every metric passed. `aggregate_score` leaves out the metrics that failed to give
    a result; `errors` names them. It is None when metrics were asked and none of them gave a score.
    """

    aggregate_success: bool
    aggregate_score: float | None
    errors: Mapping[str, Failure] = field(default_factory=dict[str, Failure], kw_only=True, hash=False)


class MetricsAggregator:
    """The AND-gate of all metrics' success, and the mean of their scores with polarity taken into account.

    Subclass it and override `compute_success` or `compute_score`; `compute_score` is given only metrics that have a
    result.

    >>> good, bad = MetricResult(score=0.8, success=True), MetricResult(score=0.1, success=True, higher_is_better=False)
    >>> result = MetricsAggregator().aggregate({"complete": good, "redundant": bad})
    >>> result.aggregate_success, round(result.aggregate_score, 3)
    (True, 0.85)
    """

    def aggregate(self, named_results: dict[str, MetricResult]) -> AggregationResult:
        """The aggregate of `named_results`; of none at all it is False and 0.0."""
        errors = {name: result.error for name, result in named_results.items() if result.error is not None}
        present = {name: result for name, result in named_results.items() if name not in errors}
        return AggregationResult(
            aggregate_success=self.compute_success(named_results),
            aggregate_score=self.compute_score(present) if present or not named_results else None,
            errors=errors,
        )

    def compute_success(self, named_results: dict[str, MetricResult]) -> bool:
        """True if every metric passed; False for none at all, and when one has no result."""
        return bool(named_results) and all(result.success for result in named_results.values())

    def compute_score(self, named_results: dict[str, MetricResult]) -> float | None:
        """The mean of the scores, those of lower-is-better metrics as 1 - score.

        0.0 for no metrics; None when there are metrics, and all of them gave labels, of which there is no mean.
        """
        qualities = [
            result.score if result.higher_is_better else 1.0 - result.score
            for result in named_results.values()
            if result.score is not None
        ]
        if not qualities:
            return None if named_results else 0.0
        return math.fsum(qualities) / len(qualities)


class WeightedMetricsAggregator(MetricsAggregator):
    """A MetricsAggregator whose score is the weighted mean of mapped rubric levels.

    `score_mapping` turns each metric's `rubric_score` (the level, not the normalised score) into a quality, polarity
    included. The weighted sum is divided by the total weight of the metrics that have a result.

    >>> aggregator = WeightedMetricsAggregator(
    ...     weights={"complete": 3.0, "redundant": 1.0},
    ...     score_mapping={"complete": {1: 0.0, 2: 0.5, 3: 1.0}, "redundant": lambda level: (3 - level) / 2},
    ... )
    >>> aggregator.compute_score(
    ...     {
    ...         "complete": MetricResult(score=0.5, success=True, rubric_score=2),
    ...         "redundant": MetricResult(score=0.0, success=True, rubric_score=1),
    ...     }
    ... )
    0.625
    """

    def __init__(self, weights: dict[str, float], score_mapping: dict[str, ScoreMapping]) -> None:
        wrong = [f"{name}: {weight}" for name, weight in weights.items() if not 0.0 <= weight < math.inf]
        if wrong:
            raise InputError.gathered("weights, which are finite and not negative,", wrong)
        self.weights = weights
        self.score_mapping = score_mapping

    def compute_score(self, named_results: dict[str, MetricResult]) -> float:
        """The weighted mean; 0.0 for no results or zero total weight.

        Raises ValueError that names every metric without a weight, a mapping or a rubric level, or whose level the
        mapping does not know.
        """
        present = {name: result for name, result in named_results.items() if result.error is None}
        problems = [problem for name, result in present.items() if (problem := self._problem(name, result))]
        if problems:
            raise InputError.gathered("the weighted score", problems)
        total = math.fsum(self.weights[name] for name in present)
        if not total:
            return 0.0
        return math.fsum(self.weights[name] * self._quality(name, result) for name, result in present.items()) / total

    def _problem(self, name: str, result: MetricResult) -> str | None:
        if name not in self.weights:
            return f"metric {name!r} has no weight"
        mapping = self.score_mapping.get(name)
        if mapping is None:
            return f"metric {name!r} has no score mapping"
        if result.rubric_score is None:
            return f"metric {name!r} gave no rubric level; weighted scores are made of rubric levels"
        if isinstance(mapping, Mapping) and result.rubric_score not in mapping:
            return f"metric {name!r} gave level {result.rubric_score:g}, but its mapping knows {sorted(mapping)}"
        return None

    def _quality(self, name: str, result: MetricResult) -> float:
        mapping = self.score_mapping[name]
        level = result.rubric_score or 0.0
        quality = mapping[level] if isinstance(mapping, Mapping) else mapping(level)  # type: ignore[index]  # 2.0 == 2
        if not math.isfinite(quality):
            raise InputError(f"the mapping of metric {name!r} turned level {level:g} into {quality}")
        return quality
