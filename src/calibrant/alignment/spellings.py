"""Answers that differ only in capitals or blanks: `Yes` and `yes` are two labels, which hardly anyone means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from calibrant.alignment.rater_results import RaterResults

__all__ = ["spelled_apart", "spelling_notes"]

MOST_LABELS = 50
"""A task with more different answers is of free text, where capitals are part of what was said."""


def spelled_apart(labels: Iterable[str]) -> list[tuple[str, ...]]:
    """The labels that differ only in capitals or in blanks around them, together.

    >>> spelled_apart(["yes", "no", "Yes", "No "])
    [('No ', 'no'), ('Yes', 'yes')]
    """
    alike: dict[str, set[str]] = {}
    for label in labels:
        alike.setdefault(label.strip().casefold(), set()).add(label)
    return [tuple(sorted(found)) for _, found in sorted(alike.items()) if len(found) > 1]


def spelling_notes(raters: Sequence[RaterResults]) -> list[str]:
    """A line for each task in which an answer is written in several ways."""
    return [
        f"{task}: {', '.join(map(repr, found))} count as different answers; write them alike if they are meant alike"
        for task in dict.fromkeys(name for rater in raters for name in rater.tasks)
        for found in spelled_apart(_labels(raters, task))
    ]


def _labels(raters: Sequence[RaterResults], task: str) -> set[str]:
    """The different answers to a task, if they are labels; nothing for numbers, sets and free text."""
    found: set[str] = set()
    for rater in raters:
        if task in rater.tasks and rater.frame[task].dtype == pl.String:
            found |= set(rater.frame[task].drop_nulls().unique().to_list())
    return found if len(found) <= MOST_LABELS else set()
