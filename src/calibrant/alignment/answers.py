"""A table of results as answers by rater: checked against the tasks, with every odd answer named and not counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from calibrant.alignment.rater_results import RaterResults
from calibrant.alignment.result_tables import id_column_of, with_ids
from calibrant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.alignment.tasks import EvalTask

__all__ = ["SYSTEM_COLUMNS", "answers_of_raters", "answers_of_table"]

SYSTEM_COLUMNS = frozenset(
    {
        "sample_example_id", "run_id", "status", "error_message", "error_details_json", "judge_id", "annotator_id",
        "human_id", "llm_raw_response_content", "llm_prompt_tokens", "llm_completion_tokens", "llm_total_tokens",
        "llm_call_duration_seconds", "annotation_timestamp", "original_id", "repeats", "failure",
    }
)  # fmt: skip
"""Columns of result files that are no tasks."""

SHOWN = 5


def answers_of_raters(
    table: pl.DataFrame, rater: str | None, columns: Sequence[str], *, task: EvalTask | None, id_column: str | None
) -> list[RaterResults]:
    """The answers in a table of one rater, or of several that one of the `columns` names."""
    if rater is not None:
        return [answers_of_table(table, rater, task=task, id_column=id_column)]
    column = next((name for name in columns if name in table.columns), None)
    if column is None:
        raise InputError(f"say whose results these are, or give them a column {columns[0]!r}")
    if table[column].null_count():
        row = table[column].is_null().arg_true()[0] + 1
        raise InputError(f"row {row} has no {column}; every row says whose result it is")
    named = table.with_columns(pl.col(column).cast(pl.String))
    return [
        answers_of_table(part.drop(column), str(part[column][0]), task=task, id_column=id_column)
        for part in named.partition_by(column, maintain_order=True)
    ]


def answers_of_table(
    table: pl.DataFrame, rater: str, *, task: EvalTask | None, id_column: str | None = None
) -> RaterResults:
    """One rater's answers in a table: the columns of the tasks, or all that are no bookkeeping.

    An answer that its task does not know is no answer: it is named in the notes, and its item counts as failed, as
    does a row whose `status` is neither "success" nor "skipped". A "partial" row keeps what was answered.
    """
    what = f"the table of {rater!r}"
    frame = with_ids(table, id_column_of(table, id_column, what), what)
    tasks = _tasks(frame, task, what)
    failed, gone = _unsuccessful(frame)
    is_gone = frame["original_id"].is_in(sorted(gone))
    notes: list[str] = []
    columns: dict[str, pl.Series] = {"original_id": frame["original_id"]}
    for name in tasks:
        answers, problems = _checked(frame[name], name, task)
        wrong = {frame["original_id"][row]: problem for row, problem in problems.items()}
        failed |= set(wrong)
        notes += _notes(rater, name, wrong)
        columns[name] = pl.select(pl.when(~is_gone).then(answers).alias(name)).to_series() if gone else answers
    return RaterResults(rater=rater, frame=pl.DataFrame(columns), failed=frozenset(failed), notes=tuple(notes))


def _tasks(frame: pl.DataFrame, task: EvalTask | None, what: str) -> list[str]:
    if task is not None:
        found = [name for name in task.task_schemas if name in frame.columns]
        expected = ", ".join(task.task_schemas)
    else:
        found = [name for name in frame.columns if name not in SYSTEM_COLUMNS]
        expected = "a task"
    if not found:
        raise InputError(f"{what} has no column for {expected}; it has: {', '.join(frame.columns)}")
    return found


def _unsuccessful(frame: pl.DataFrame) -> tuple[set[str], set[str]]:
    """The items that failed, wholly or in part, and those whose answers do not count."""
    if "status" not in frame.columns:
        return set(), set()
    status = frame["status"].cast(pl.String).fill_null("")
    items = frame["original_id"]
    failed = set(items.filter(~status.is_in(["success", "skipped"])).to_list())
    return failed, set(items.filter(~status.is_in(["success", "partial"])).to_list())


def _checked(column: pl.Series, name: str, task: EvalTask | None) -> tuple[pl.Series, dict[int, str]]:
    """The column as the schema writes answers, and what is wrong with those that it does not know, by row."""
    if task is None:
        return column, {}
    answers = [task.answer(name, _plain(value)) for value in column.to_list()]
    known: dict[str, str] = {}
    problems: dict[int, str] = {}
    for row, answer in enumerate(answers):
        key = repr(answer)
        if key not in known:
            known[key] = task.problem(name, answer)
        if known[key]:
            problems[row] = known[key]
            answers[row] = None
    return pl.Series(name, answers, strict=False), problems


def _plain(value: Any) -> Any:
    return value.to_list() if isinstance(value, pl.Series) else value


def _notes(rater: str, task: str, wrong: Mapping[str, str]) -> list[str]:
    shown = [f"{rater}, {task}, item {item}: {problem}" for item, problem in list(wrong.items())[:SHOWN]]
    if len(wrong) > SHOWN:
        shown.append(f"{rater}, {task}: {len(wrong) - SHOWN} more answers that the task does not know")
    return shown
