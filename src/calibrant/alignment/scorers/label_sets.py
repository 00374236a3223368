"""Several labels of one item: as a set that is compared whole, and as positions that are voted on one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.agreement import RatingCube, majority
from calibrant.agreement.published import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from calibrant.ratings import Value

__all__ = ["NEGATIVES", "answer_set", "is_negative", "majority_sets", "sets_of_rows"]

NEGATIVES = frozenset({"", "0", "false", "no"})
"""Answers that say that a label does not hold, whatever their case: they are left out of an item's set."""

Row = tuple[str, str, Any]


def is_negative(value: Any) -> bool:
    """Whether `value` says that a label does not hold.

    >>> is_negative("FALSE"), is_negative(0), is_negative("hateful")
    (True, True, False)
    """
    text = value_text(value) if isinstance(value, bool | int | float) else str(value)
    return text.strip().casefold() in NEGATIVES


def answer_set(answers: Sequence[Any], names: Sequence[str] | None) -> frozenset[str] | None:
    """The labels that hold: (task, value) pairs where tasks have `names`, else the values; None when one is missing.

    >>> sorted(answer_set(["yes", "no", "strong"], ["rude", "sexual", "tone"]))
    ['rude=yes', 'tone=strong']
    """
    if any(answer is None for answer in answers):
        return None
    if names is None:
        return frozenset(str(answer) for answer in answers if not is_negative(answer))
    return frozenset(
        f"{name}={value_text(answer)}" for name, answer in zip(names, answers, strict=True) if not is_negative(answer)
    )


def sets_of_rows(rows: Iterable[Row], names: Sequence[str] | None) -> RatingCube:
    """The cube of sets of rows (item, rater, list of answers); no list, or one with a gap, is missing."""
    return RatingCube.from_records(
        [(item, rater, None if answers is None else answer_set(answers, names)) for item, rater, answers in rows]
    )


def majority_sets(
    positions: Mapping[str, RatingCube], judge: str, humans: Sequence[str], ties: Any
) -> tuple[RatingCube, int, int]:
    """The judge's set of each item beside the one that the majority of each position makes, with ties and gaps."""
    voted: dict[str, list[Value | None]] = {}
    given: dict[str, list[Value | None]] = {}
    tied = 0
    abstained = 0
    items: tuple[str, ...] = ()
    for name, cube in positions.items():
        vote = majority(cube, humans, ties=ties)
        tied += vote.ties
        abstained += vote.abstained
        items = cube.items
        voted[name] = [vote.values[code] if code >= 0 else None for code in vote.codes]
        given[name] = [cube.values[code] if code >= 0 else None for code in cube.of_rater(judge)]
    rows = [
        (item, rater, [answers[name][place] for name in positions])
        for rater, answers in ((judge, given), ("majority", voted))
        for place, item in enumerate(items)
    ]
    return sets_of_rows(rows, list(positions)), tied, abstained
