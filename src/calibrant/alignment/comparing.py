"""Every judge by every metric: what one of them raises is that one's reason, and stops no other."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from calibrant.alignment.combining import combined
from calibrant.alignment.insights import compared_judges
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.scorers.built_in import BuiltInScorer
from calibrant.alignment.scoring_result import BaseScoringResult
from calibrant.errors import EvalError, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.alignment.configuration import MetricConfig
    from calibrant.alignment.rater_results import Ratings

__all__ = ["MetricResults", "compared"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResults:
    """One metric's results, a judge each; `about` says what was compared, `comparison` is of judge with judge."""

    name: str
    scorer_name: str
    results: tuple[BaseScoringResult, ...]
    higher_is_better: bool = True
    about: str = ""
    comparison: Mapping[str, Any] | None = None


async def compared(metrics: Sequence[MetricConfig], ratings: Ratings) -> list[MetricResults]:
    """The results of all judges by all metrics, in order."""
    return [await _by_metric(metric, ratings) for metric in metrics]


async def _by_metric(metric: MetricConfig, ratings: Ratings) -> MetricResults:
    results = await asyncio.gather(*(_of_judge(metric, ratings, judge) for judge in ratings.judges))
    marked = [result.model_copy(update={"config_hash": metric.hash}) for result in results]
    return MetricResults(
        name=metric.get_unique_name(),
        scorer_name=metric.scorer.scorer_name,
        results=tuple(marked),
        higher_is_better=bool(getattr(metric.scorer, "higher_is_better", True)),
        about=f"{', '.join(metric.task_names)}; {_aggregation(metric)}",
        comparison=_of_judges(metric, ratings),
    )


def _aggregation(metric: MetricConfig) -> str:
    """How people's answers are taken together: as was asked, unless the scorer only knows single people."""
    single = isinstance(metric.scorer, BuiltInScorer) and not metric.scorer.supports_majority
    return "individual_average" if single else metric.annotator_aggregation


def _of_judges(metric: MetricConfig, ratings: Ratings) -> Mapping[str, Any] | None:
    """The judges in pairs by the metric's own measure, against single people; None without one, or with one judge."""
    measure = metric.scorer.measure if isinstance(metric.scorer, BuiltInScorer) else None
    apart = metric.mode is TaskAggregationMode.MULTITASK or _aggregation(metric) == "majority_vote"
    if measure is None or apart or len(ratings.judges) < 2:
        return None
    try:
        return compared_judges(ratings, metric.task_names, metric.mode, measure).to_json()
    except EvalError as error:
        return {"measure": measure.name, "reason": str(error)}


async def _of_judge(metric: MetricConfig, ratings: Ratings, judge: str) -> BaseScoringResult:
    if metric.mode is not TaskAggregationMode.MULTITASK:
        return await _of_tasks(metric, ratings, judge, list(metric.task_names))
    each = {task: await _of_tasks(metric, ratings, judge, [task]) for task in metric.task_names}
    return combined(each)


async def _of_tasks(metric: MetricConfig, ratings: Ratings, judge: str, tasks: list[str]) -> BaseScoringResult:
    """One judge's result on the tasks that a scorer sees as one."""
    unasked = [task for task in tasks if task not in ratings.judges[judge].tasks]
    if unasked:
        answered = ", ".join(ratings.judges[judge].tasks)
        reason = f"the judge has no results for {', '.join(unasked)}, but for {answered}; name the tasks alike"
        return _without_score(metric, judge, tasks, reason)
    try:
        if isinstance(metric.scorer, BuiltInScorer):
            labels = ratings.labels(judge, tasks, metric.mode)
            given = labels.judged(judge, _task_name(tasks), metric.mode, metric.annotator_aggregation)
            return await metric.scorer.score_comparison(given)
        return await _by_own_scorer(metric, ratings, judge, tasks)
    except EvalError as error:
        return _without_score(metric, judge, tasks, str(error))
    except Exception as error:
        metric.scorer.logger.exception("scoring %s failed", judge)
        return _without_score(metric, judge, tasks, f"the scorer raised {type(error).__name__}: {error}")


async def _by_own_scorer(metric: MetricConfig, ratings: Ratings, judge: str, tasks: list[str]) -> BaseScoringResult:
    """What a scorer of the user's own says of the labels that are there; missing ones are left out."""
    frame = ratings.judge_frame(judge, tasks, metric.mode)
    humans = ratings.human_frame(tasks, metric.mode).drop_nulls("label")
    judged = humans.clear().drop("human_id") if frame is None else frame.drop_nulls("label")
    reason = _own_obstacle(metric, judged["label"].to_list(), humans["label"].to_list(), humans["human_id"].n_unique())
    if reason:
        return _without_score(metric, judge, tasks, reason)
    extra = {"annotator_aggregation": metric.annotator_aggregation} if _takes_aggregation(metric.scorer) else {}
    found = await metric.scorer.compute_score_async(judged, humans, _task_name(tasks), judge, metric.mode, **extra)
    if not isinstance(found, BaseScoringResult):  # pyright: ignore[reportUnnecessaryIsInstance] - the user's own code
        return _without_score(
            metric, judge, tasks, f"the scorer returned {shortened(found)} and not a BaseScoringResult"
        )
    return found


def _own_obstacle(metric: MetricConfig, judged: list[Any], said: list[Any], people: int) -> str:
    needed = metric.scorer.min_human_annotators
    if people < needed:
        return f"{metric.scorer.scorer_name} needs {needed} human annotators, and there are {people}"
    if not judged:
        return "the judge rated no item"
    wrong = [label for label in (judged[0], said[0]) if not metric.scorer.can_score_task(label)]
    return f"{metric.scorer.scorer_name} cannot score labels such as {shortened(wrong[0])}" if wrong else ""


def _takes_aggregation(scorer: Any) -> bool:
    parameters = signature(scorer.compute_score_async).parameters
    has_any = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    return has_any or "annotator_aggregation" in parameters


def _without_score(metric: MetricConfig, judge: str, tasks: Sequence[str], reason: str) -> BaseScoringResult:
    if isinstance(metric.scorer, BuiltInScorer):
        return metric.scorer.without_score(judge, _task_name(tasks), metric.mode, reason)
    return BaseScoringResult(
        scorer_name=metric.scorer.scorer_name,
        task_name=_task_name(tasks),
        judge_id=judge,
        scores={},
        aggregation_mode=metric.mode,
        num_comparisons=0,
        failed_comparisons=1,
        reason=reason,
    )


def _task_name(tasks: Sequence[str]) -> str:
    return ", ".join(tasks)
