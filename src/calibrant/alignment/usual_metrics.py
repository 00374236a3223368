"""The metrics that are asked when none were named: by what the labels of each task look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.alignment.configuration import MetricConfig, MetricsConfig
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.scorers.accuracy import AccuracyScorer
from calibrant.alignment.scorers.kappa import CohensKappaScorer
from calibrant.alignment.scorers.replacement import AltTestScorer
from calibrant.alignment.scorers.text import TextSimilarityScorer
from calibrant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.alignment.rater_results import Ratings
    from calibrant.alignment.tasks import EvalTask

__all__ = ["usual_metrics"]

MOST_LABELS = 50
"""More different texts than these, or than half of them, are free text, if any has more words than a label has."""

WORDS = 3


def usual_metrics(ratings: Ratings, tasks: Sequence[str] = (), eval_task: EvalTask | None = None) -> MetricsConfig:
    """Accuracy, kappa and the alternative annotator test of every task with labels; similarity of every free text."""
    metrics: list[MetricConfig] = []
    for task in tasks or ratings.tasks:
        labels = _labels(ratings, task)
        if labels:
            is_text = _is_free_text(labels) if eval_task is None else eval_task.task_schemas.get(task) is None
            scorers: list[Any] = [TextSimilarityScorer()] if is_text else _of_labels()
            metrics += [MetricConfig(scorer, [task], "single", display_name=_name(scorer, task)) for scorer in scorers]
    if not metrics:
        raise InputError("no task has labels of people, so there is nothing to compare with")
    return MetricsConfig(metrics)


def _of_labels() -> list[Any]:
    return [AccuracyScorer(), CohensKappaScorer(), AltTestScorer()]


def _name(scorer: Any, task: str) -> str:
    return f"{scorer.scorer_name}_{task}"


def _labels(ratings: Ratings, task: str) -> list[Any]:
    return ratings.human_frame([task], TaskAggregationMode.SINGLE)["label"].drop_nulls().to_list()


def _is_free_text(labels: list[Any]) -> bool:
    if not isinstance(labels[0], str) or len(set(labels)) <= min(MOST_LABELS, len(labels) / 2):
        return False
    return any(len(label.split()) > WORDS for label in set(labels))
