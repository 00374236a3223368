"""Several labels of one item: as a set that is compared whole, and as positions that are voted on one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.agreement import Majority, RatingCube, majority
from calibrant.agreement.encoding import ABSENT, value_order
from calibrant.agreement.published import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from calibrant.ratings import Value

__all__ = ["NEGATIVES", "answer_set", "is_negative", "sets_of_rows", "votes_by_position"]

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


def votes_by_position(
    positions: Mapping[str, RatingCube], whole: RatingCube, humans: Sequence[str], ties: Any
) -> Majority:
    """What most of `humans` said of each position, as one set an item; ties and abstentions of all positions added."""
    voted = {name: majority(cube, humans, ties=ties) for name, cube in positions.items()}
    rows = [
        answer_set([_answer(vote, place) for vote in voted.values()], list(voted)) for place in range(len(whole.items))
    ]
    values = tuple(sorted({row for row in rows if row is not None}, key=value_order))
    places = {value: place for place, value in enumerate(values)}
    codes = np.array([ABSENT if row is None else places[row] for row in rows], np.int32)
    votes = voted.values()
    return Majority(values, codes, sum(vote.ties for vote in votes), sum(vote.abstained for vote in votes))


def _answer(vote: Majority, place: int) -> Value | None:
    code = int(vote.codes[place])
    return vote.values[code] if code >= 0 else None
