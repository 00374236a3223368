"""What the scorers that come with the package share: frames to cubes, too little data to a reason, and a chart."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.agreement import ceiling_and_floor, ceiling_and_floor_by_vote
from calibrant.alignment.modes import ANNOTATOR_AGGREGATIONS, TaskAggregationMode
from calibrant.alignment.safe_names import safe_name
from calibrant.alignment.scorers.base import BaseScorer
from calibrant.alignment.scorers.comparisons import Comparison, labels_of_frames
from calibrant.alignment.scoring_result import BaseScoringResult
from calibrant.errors import EvalError, UnknownNameError, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from calibrant.agreement import Majority, Measure
    from calibrant.estimates import Estimate

__all__ = ["BuiltInScorer", "bounds_of", "is_single_label"]


class BuiltInScorer(BaseScorer):
    """A scorer that compares encoded ratings: it writes `score`, and gets the rest.

    `score_name` is the name of its headline. Those without `supports_majority` measure the agreement of single people,
    which a vote takes away: asked for one they log a warning, and average over people.
    """

    score_name: str = ""
    supports_majority: bool = True

    @property
    def measure(self) -> Measure | None:
        """The measure by which judges can also be compared with each other; None where there is none."""
        return None

    async def compute_score_async(
        self,
        judge_data: pl.DataFrame,
        human_data: pl.DataFrame,
        task_name: str,
        judge_id: str,
        aggregation_mode: TaskAggregationMode,
        annotator_aggregation: str = "individual_average",
    ) -> BaseScoringResult:
        """The result of one judge; whatever is wrong with the data is its reason, and no exception."""
        if annotator_aggregation not in ANNOTATOR_AGGREGATIONS:
            raise UnknownNameError.among("annotator_aggregation", annotator_aggregation, ANNOTATOR_AGGREGATIONS)
        judge_id, mode = str(judge_id), TaskAggregationMode(aggregation_mode)
        try:
            labels = labels_of_frames({judge_id: judge_data}, human_data, mode)
        except EvalError as error:
            return self.without_score(judge_id, task_name, mode, str(error))
        return await self.score_comparison(labels.judged(judge_id, task_name, mode, annotator_aggregation))

    async def score_comparison(self, comparison: Comparison) -> BaseScoringResult:
        """The result of one judge whose ratings are encoded already."""
        reason = self._obstacle(comparison)
        if not reason:
            try:
                return await self.score(self._aggregated(comparison))
            except EvalError as error:
                reason = str(error)
        return self.without_score(comparison.judge_id, comparison.task_name, comparison.mode, reason, comparison)

    @abstractmethod
    async def score(self, comparison: Comparison) -> BaseScoringResult:
        """The result of a comparison that has a judge, and people enough."""

    def without_score(
        self,
        judge_id: str,
        task_name: str,
        mode: TaskAggregationMode,
        reason: str,
        comparison: Comparison | None = None,
    ) -> BaseScoringResult:
        """The result that says why there is no number."""
        people = 0 if comparison is None else len(comparison.active_humans)
        return BaseScoringResult(
            scorer_name=self.scorer_name,
            task_name=task_name,
            judge_id=judge_id,
            scores=self.empty_scores(),
            metadata={"human_annotators": people},
            aggregation_mode=mode,
            num_comparisons=0,
            failed_comparisons=1,
            reason=reason,
        )

    def empty_scores(self) -> dict[str, Any]:
        """The scores of a judge that has none."""
        return {self.score_name: None}

    def result(
        self, comparison: Comparison, estimate: Estimate, *, metadata: dict[str, Any], details: dict[str, Any]
    ) -> BaseScoringResult:
        """The result whose headline is `estimate`."""
        compared, failed = comparison.pairs()
        return BaseScoringResult(
            scorer_name=self.scorer_name,
            task_name=comparison.task_name,
            judge_id=comparison.judge_id,
            scores={self.score_name: estimate.value},
            metadata={"human_annotators": len(comparison.active_humans), **self._method(comparison), **metadata},
            aggregation_mode=comparison.mode,
            num_comparisons=compared,
            failed_comparisons=max(failed, 0 if estimate.value is not None else 1),
            intervals={self.score_name: estimate.to_json()},
            details=details,
            reason=estimate.reason if estimate.value is None else "",
        )

    def aggregate_results(self, results: Sequence[BaseScoringResult], scores_dir: str, unique_name: str = "") -> None:
        """Draw one bar a judge, with its interval, as `<scorer>_scores.png` in the metric's folder under `scores_dir`.

        Without the extra `[charts]` that is a MissingExtraError, which a comparison reports once for all its metrics.
        """
        self._draw(results, Path(scores_dir) / safe_name(self.scorer_name) / safe_name(unique_name or self.scorer_name))

    def _draw(self, results: Sequence[BaseScoringResult], folder: Path) -> None:
        from calibrant.report.charts import Bar, bar_chart

        bars = [Bar(label=one.judge_id, estimate=one.estimate(self.score_name), reason=one.reason) for one in results]
        bar_chart(bars, folder / f"{self.scorer_name}_scores.png", title=self.score_name)

    def _aggregated(self, comparison: Comparison) -> Comparison:
        if not comparison.by_majority or self.supports_majority:
            return comparison
        self.logger.warning(
            "%s measures the agreement of single people, which a majority vote takes away; "
            "individual_average is used instead of majority_vote",
            self.scorer_name,
        )
        return Comparison(
            **{name: getattr(comparison, name) for name in Comparison.__slots__ if name != "aggregation"},
            aggregation="individual_average",
        )

    def _method(self, comparison: Comparison) -> dict[str, str]:
        method = "majority_vote" if comparison.by_majority else "individual_human_comparison"
        return {"annotator_aggregation": comparison.aggregation, "ground_truth_method": method}

    def _obstacle(self, comparison: Comparison) -> str:
        if comparison.judge not in comparison.cube.raters:
            return "the judge gave no result"
        people = comparison.active_humans
        if len(people) < self.min_human_annotators:
            needed = self.min_human_annotators
            return f"{self.scorer_name} needs {needed} human annotator{'s' * (needed > 1)}, and there are {len(people)}"
        judged = comparison.cube.of_rater(comparison.judge)
        if not (judged >= 0).any():
            return "the judge rated no item"
        if not np.any([(comparison.cube.of_rater(name) >= 0) & (judged >= 0) for name in people]):
            return "no item was rated by both the judge and a person; check that their ids are the same"
        wrong = [_as_label(value) for value in comparison.cube.values if not self.can_score_task(_as_label(value))]
        example = max(wrong, key=lambda label: len(str(label)), default=None)
        if not wrong:
            return ""
        is_set = comparison.mode is TaskAggregationMode.MULTILABEL
        remedy = "; name each task in a metric of its own, or all with task_strategy='multitask'" if is_set else ""
        return f"{self.scorer_name} cannot score labels such as {shortened(example)}{remedy}"


def bounds_of(comparison: Comparison, measure: str | Measure, *, votes: Mapping[str, Majority] | None = None) -> Any:
    """People among themselves and the best constant answer by the same measure, and where the judge stands between.

    Against a majority, people are each compared with the others' vote (`votes`, where it is not the usual one).
    """
    people = comparison.active_humans
    if comparison.by_majority:
        found = ceiling_and_floor_by_vote(comparison.cube, comparison.judge, measure, humans=people, votes=votes)
    else:
        found = ceiling_and_floor(comparison.cube, comparison.judge, measure, humans=people)
    made = found.to_json()
    shown = {name: made[name] for name in ("ceiling", "floor", "relative", "constant")}
    return {**shown, "warnings": [*comparison.unlike_spellings(), *made["warnings"]]}


def _as_label(value: Any) -> Any:
    return sorted(value) if isinstance(value, frozenset) else value


def is_single_label(label: Any) -> bool:
    """Whether a label is one text, number or truth value."""
    return isinstance(label, str | int | float)
