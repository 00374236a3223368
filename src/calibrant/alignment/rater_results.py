"""What raters said, task by task: the columns that scorers are given."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.scorers.comparisons import Labels, labels_of_frames
from calibrant.alignment.scorers.label_kinds import label_texts, stacked
from calibrant.errors import EvalError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["RaterResults", "Ratings"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RaterResults:
    """One rater's answers: a frame of `original_id` and a column a task; `failed` are the items without an answer.

    `notes` say what was wrong with answers that are not counted.
    """

    rater: str
    frame: pl.DataFrame
    failed: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that were answered."""
        return tuple(name for name in self.frame.columns if name != "original_id")

    def __repr__(self) -> str:
        return (
            f"RaterResults({self.rater!r}, {len(self.frame)} items, {', '.join(self.tasks)}; {len(self.failed)} failed)"
        )

    def answers(self, tasks: Sequence[str], mode: TaskAggregationMode) -> pl.DataFrame | None:
        """original_id and label, a list of answers when there are several tasks; None when a task was not asked."""
        if any(task not in self.tasks for task in tasks):
            return None
        if mode is TaskAggregationMode.MULTILABEL:
            label = pl.concat_list([label_texts(self.frame[task]) for task in tasks])
            return self.frame.select("original_id", label.alias("label"))
        return self.frame.select("original_id", pl.col(tasks[0]).alias("label"))


class Ratings:
    """The answers of all judges and people, encoded once for each task."""

    def __init__(
        self,
        judges: Mapping[str, RaterResults],
        humans: Mapping[str, RaterResults],
        clusters: Mapping[str, Any] | None = None,
    ) -> None:
        self.judges = judges
        self.humans = humans
        self.clusters = clusters
        self._labels: dict[Any, Labels | EvalError] = {}

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """Every task that anyone answered."""
        raters = [*self.judges.values(), *self.humans.values()]
        return tuple(dict.fromkeys(task for rater in raters for task in rater.tasks))

    def judge_frame(self, judge_id: str, tasks: Sequence[str], mode: TaskAggregationMode) -> pl.DataFrame | None:
        """What a judge said: original_id and label."""
        return self.judges[judge_id].answers(tasks, mode)

    def human_frame(self, tasks: Sequence[str], mode: TaskAggregationMode) -> pl.DataFrame:
        """What people said: original_id, human_id and label."""
        frames: list[pl.DataFrame] = []
        for name, results in self.humans.items():
            answers = results.answers(tasks, mode)
            if answers is not None:
                frames.append(answers.select("original_id", pl.lit(name).alias("human_id"), "label"))
        if not frames:
            return pl.DataFrame(schema={"original_id": pl.String, "human_id": pl.String, "label": pl.Null})
        return stacked(frames, "label")

    def labels(self, judge_id: str, tasks: Sequence[str], mode: TaskAggregationMode) -> Labels:
        """The encoded labels in which this judge is: of all judges together, or of it alone when they do not mix."""
        together = self._encoded(tuple(self.judges), tasks, mode)
        found = self._encoded((judge_id,), tasks, mode) if isinstance(together, EvalError) else together
        if isinstance(found, EvalError):
            raise found
        return found

    def _encoded(self, judges: tuple[str, ...], tasks: Sequence[str], mode: TaskAggregationMode) -> Labels | EvalError:
        key = (judges, tuple(tasks), mode)
        if key not in self._labels:
            frames = {name: self.judge_frame(name, tasks, mode) for name in judges}
            given = {name: frame for name, frame in frames.items() if frame is not None}
            try:
                labels = labels_of_frames(given, self.human_frame(tasks, mode), mode, tasks)
                failures = {name: self.judges[name].failed for name in judges}
                self._labels[key] = labels.with_failures(failures).with_clusters(self.clusters)
            except EvalError as error:
                self._labels[key] = error
        return self._labels[key]
