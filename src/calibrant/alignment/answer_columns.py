"""One answer an item, as texts: a judge's column, or what most of several people said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.aggregation.labels import majority_label
from calibrant.agreement.published import value_text
from calibrant.alignment.answers import answers_of_raters
from calibrant.alignment.result_tables import id_column_of, nested_answers, read_table, with_ids
from calibrant.alignment.scorers.label_kinds import TRUTH
from calibrant.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from calibrant.alignment.rater_results import RaterResults

__all__ = ["answers_by_item", "clusters_by_item", "most_frequent", "votes_by_item"]

RATERS = ("judge_id", "annotator_id", "human_id", "annotator")


def answers_by_item(path: Path, task: str | None = None, *, without: str | None = None) -> dict[str, str | None]:
    """The answer to each item in a file; of several people's the most frequent, and None where they are tied.

    The column `without` is none of the answers.
    """
    return {item: most_frequent(votes) for item, votes in votes_by_item(path, task, without=without).items()}


def votes_by_item(path: Path, task: str | None = None, *, without: str | None = None) -> dict[str, list[str]]:
    """All answers to each item in a file, of everyone who gave one."""
    nested = nested_answers(path)
    tables = [read_table(answers) for answers in nested.values()] if nested else [read_table(path)]
    tables = [table.drop(without, strict=False) if without else table for table in tables]
    given: dict[str, list[str]] = {}
    for table in tables:
        several = any(name in table.columns for name in RATERS)
        for results in answers_of_raters(table, None if several else path.stem, RATERS, task=None, id_column=None):
            for item, answer in _answers(results, task, path):
                given.setdefault(item, [])
                given[item] += [] if answer is None else [_text(answer)]
    return given


def clusters_by_item(path: Path, column: str) -> dict[str, str]:
    """What each item of a file shares with others, by a column of it."""
    table = read_table(path)
    if column not in table.columns:
        raise InputError(f"{path.name} has no column {column!r}; it has: {', '.join(table.columns)}")
    rows = with_ids(table, id_column_of(table, None, path.name), path.name)
    return {item: str(one) for item, one in zip(rows["original_id"], rows[column], strict=True) if one is not None}


def _answers(results: RaterResults, task: str | None, path: Path) -> Iterable[tuple[str, Any]]:
    if task is None and len(results.tasks) > 1:
        raise InputError(f"{path.name} has answers to {', '.join(results.tasks)}; name one with --task")
    name = task or next(iter(results.tasks))
    if name not in results.tasks:
        raise UnknownNameError.among("task", name, results.tasks)
    return zip(results.frame["original_id"].to_list(), results.frame[name].to_list(), strict=True)


def _text(answer: Any) -> str:
    """The answer as a text; "True" of one file is the true of another."""
    text = value_text(answer) if isinstance(answer, str | bool | int | float) else str(answer)
    return text.casefold() if text.casefold() in TRUTH else text


def most_frequent(answers: Sequence[str]) -> str | None:
    """The answer that was given most often; None when there is none, or two were given as often.

    >>> most_frequent(["yes", "no", "yes"]), most_frequent(["yes", "no"])
    ('yes', None)
    """
    return majority_label(answers, ties="abstain").label if answers else None
