"""Which scorers are asked of which tasks, and under what name their results are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from calibrant.alignment.modes import ANNOTATOR_AGGREGATIONS, TaskAggregationMode
from calibrant.alignment.scorers.base import BaseScorer
from calibrant.errors import InputError, UnknownNameError, WrongTypeError, shortened
from calibrant.fingerprints import fingerprint

__all__ = ["MetricConfig", "MetricsConfig"]


@dataclass
class MetricConfig:
    """A scorer and the tasks that it is asked of.

    `task_strategy` is "single" (exactly one task), "multitask" (two or more, each apart, and their mean) or
    "multilabel" (two or more, as one set of labels). `annotator_aggregation` compares with each person and averages
    ("individual_average"), or with what most said ("majority_vote"). `display_name` replaces the name that is made.

    >>> from calibrant.alignment import AccuracyScorer
    >>> MetricConfig(AccuracyScorer(), ["helpful"], "multitask")
    Traceback (most recent call last):
    calibrant.errors.InputError: task_strategy 'multitask' takes two or more task_names, not 1: helpful
    """

    scorer: BaseScorer
    task_names: Sequence[str]
    task_strategy: str
    annotator_aggregation: str = "individual_average"
    display_name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.scorer, BaseScorer):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass classes
            raise WrongTypeError(f"scorer is a BaseScorer such as AccuracyScorer(), not {shortened(self.scorer)}")
        self.task_names = _checked_names(self.task_names)
        strategies = [mode.value for mode in TaskAggregationMode]
        if self.task_strategy not in strategies:
            raise UnknownNameError.among("task_strategy", self.task_strategy, strategies)
        if self.annotator_aggregation not in ANNOTATOR_AGGREGATIONS:
            raise UnknownNameError.among("annotator_aggregation", self.annotator_aggregation, ANNOTATOR_AGGREGATIONS)
        self.task_strategy = str(TaskAggregationMode(self.task_strategy).value)
        count, listed = len(self.task_names), ", ".join(self.task_names)
        if self.task_strategy == "single" and count != 1:
            raise InputError(
                f"task_strategy 'single' takes exactly one of task_names, not {count}: {listed}; "
                "use 'multitask' or 'multilabel' for several"
            )
        if self.task_strategy != "single" and count < 2:
            raise InputError(
                f"task_strategy {self.task_strategy!r} takes two or more task_names, not {count}: {listed}"
            )
        if self.display_name is not None and not str(self.display_name).strip():
            raise InputError("display_name is a text that is not empty, or None")

    @property
    def mode(self) -> TaskAggregationMode:
        """The task strategy as scorers are given it."""
        return TaskAggregationMode(self.task_strategy)

    @property
    def hash(self) -> str:
        """The fingerprint of everything that can change a number: scorer, its parameters, tasks, both strategies."""
        return fingerprint(
            {
                "scorer": [self.scorer.scorer_name, type(self.scorer).__qualname__],
                "parameters": self.scorer.parameters(),
                "tasks": sorted(self.task_names),
                "task_strategy": self.task_strategy,
                "annotator_aggregation": self.annotator_aggregation,
            }
        )

    def get_unique_name(self) -> str:
        """The name of this metric's folder and column; another parameter of the scorer gives another name.

        >>> from calibrant.alignment import AltTestScorer
        >>> names = [
        ...     MetricConfig(AltTestScorer(epsilon=epsilon), ["safe"], "single").get_unique_name()
        ...     for epsilon in (0.1, 0.2)
        ... ]
        >>> names[0] == names[1], names[0].startswith("alt_test_1tasks_"), names[0].endswith("_single")
        (False, True, True)
        """
        if self.display_name is not None:
            return self.display_name
        short = self.hash.removeprefix("sha256:")[:8]
        return f"{self.scorer.scorer_name}_{len(self.task_names)}tasks_{short}_{self.task_strategy}"


@dataclass
class MetricsConfig:
    """All metrics of a comparison; two of one name would share a file, and are refused."""

    metrics: Sequence[MetricConfig]

    def __post_init__(self) -> None:
        metrics: list[Any] = list(self.metrics)
        wrong = [metric for metric in metrics if not isinstance(metric, MetricConfig)]
        if wrong:
            raise WrongTypeError(f"metrics are MetricConfigs, not {shortened(wrong[0])}")
        if not metrics:
            raise InputError("metrics is empty; name at least one MetricConfig")
        self.metrics = cast("list[MetricConfig]", metrics)
        counts = Counter(metric.get_unique_name().casefold() for metric in self.metrics)
        twice = [name for name, count in counts.items() if count > 1]
        if twice:
            raise InputError.gathered(
                "metrics", [f"{counts[name]} metrics are named {name!r}; leave one out, or rename it" for name in twice]
            )


def _checked_names(names: Any) -> list[str]:
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise InputError(f"task_names is a list of names, not {shortened(names)}")
    listed: list[Any] = list(cast("Sequence[Any]", names))
    if not listed:
        raise InputError("task_names is empty; name the task to score")
    wrong = [name for name in listed if not isinstance(name, str) or not name.strip()]
    if wrong:
        raise InputError(f"task_names holds names of tasks, not {shortened(wrong[0])}")
    if len(set(listed)) < len(listed):
        raise InputError(f"task_names names a task twice: {', '.join(listed)}")
    return listed
