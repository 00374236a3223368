"""Raters' results from outside, whatever they come as: whose they are, of which task, and what they say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.alignment.answers import answers_of_raters
from calibrant.alignment.result_tables import nested_answers, read_table
from calibrant.items import identifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from calibrant.alignment.rater_results import RaterResults
    from calibrant.alignment.stored_results import RaterKind
    from calibrant.alignment.tasks import EvalTask

__all__ = ["Source"]

NAMING: dict[RaterKind, tuple[str, ...]] = {
    "judge": ("judge_id", "judge"),
    "annotator": ("annotator_id", "human_id", "annotator"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Results of one rater or several: the data, and what its reader was told about it."""

    kind: RaterKind
    given: Any
    rater: str | None = None
    task: str | None = None
    id_column: str | None = None
    data_format: str | None = None

    def results(self, eval_task: EvalTask | None) -> list[RaterResults]:
        """The results of every rater in it, checked against the task."""
        name = _only_task(self.task, eval_task)
        found: list[RaterResults] = []
        for rater, frame in self._tables().items():
            labelled = frame.rename({"label": name}) if "label" in frame.columns and name else frame
            named = None if rater is None else identifier(rater, f"{self.kind}_id")
            found += answers_of_raters(labelled, named, NAMING[self.kind], task=eval_task, id_column=self.id_column)
        return found

    def _tables(self) -> dict[str | None, pl.DataFrame]:
        """A table for each rater that is known by now; None stands for those that a column tells apart."""
        nested = nested_answers(self.given) if self.rater is None else None
        if nested is not None:
            return {rater: read_table(answers) for rater, answers in nested.items()}
        frame = read_table(self.given, data_format=self.data_format)
        return {_named_by(self.given, frame, NAMING[self.kind]) if self.rater is None else self.rater: frame}


def _named_by(given: Any, frame: pl.DataFrame, columns: Sequence[str]) -> str | None:
    """The name of the file, when no column says whose the results are."""
    is_file = isinstance(given, str | Path) and not any(name in frame.columns for name in columns)
    return Path(given).stem if is_file else None


def _only_task(task: str | None, eval_task: EvalTask | None) -> str | None:
    """The task that labels without a column of their own belong to."""
    if task is None and eval_task is not None and len(eval_task.task_schemas) == 1:
        return next(iter(eval_task.task_schemas))
    return task
