"""What most people said: the majority of the raters of each item, with ties by a named policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from calibrant.agreement.cube import RatingCube, distinct_columns
from calibrant.agreement.encoding import ABSENT, FAILED, NOT_APPLICABLE, encoded, value_order
from calibrant.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

    from calibrant.ratings import Value

    Codes = npt.NDArray[np.int32]

__all__ = ["TIES", "Majority", "majority", "with_votes"]

TIES = ("abstain", "first")


class Majority(NamedTuple):
    """The majority's answer to each item, as codes of `values`; `tied` items are counted whatever the policy."""

    values: tuple[Value, ...]
    codes: Codes
    ties: int
    abstained: int


def majority(
    cube: RatingCube, raters: Iterable[str] | None = None, *, ties: Literal["first", "abstain"] = "first"
) -> Majority:
    """The most frequent answer of `raters` (all of them, unless named) to each item; nobody's answer is no vote.

    Of tied answers "first" takes the first in the order of the values, which for labels is the alphabet; "abstain"
    leaves the item out. Sets of labels are voted on label by label: one that exactly half of the raters gave is tied,
    and "first" leaves it out of the set.

    >>> cube = RatingCube.of({"a": {1: "x", 2: "x"}, "b": {1: "x", 2: "y"}})
    >>> vote = majority(cube)
    >>> vote.codes.tolist(), vote.ties
    ([0, 0], 1)
    """
    if ties not in TIES:
        raise UnknownNameError.among("policy for ties", ties, TIES)
    people = cube if raters is None else cube.select(raters)
    if people.values and isinstance(people.values[0], frozenset):
        return _majority_of_sets(people, ties)
    first, number, _ = distinct_columns(people.codes + 3, len(people.values) + 3)
    patterns = people.codes[:, first]
    votes = np.stack([(patterns == code).sum(0) for code in range(len(people.values))] or [np.zeros(len(first))])
    best = votes.max(0)
    tied = ((votes == best).sum(0) > 1) & (best > 0)
    codes = np.where(best > 0, votes.argmax(0), ABSENT).astype(np.int32)
    return _decided(people.values, codes[number], tied[number], ties)


def with_votes(cube: RatingCube, votes: Mapping[str, Majority]) -> RatingCube:
    """The cube with the votes as further raters; answers that only a vote gave are added to its values.

    >>> cube = RatingCube.of({"a": {1: "x", 2: "x"}, "b": {1: "x", 2: "y"}})
    >>> with_votes(cube, {"most": majority(cube)}).answers("most")
    {'1': 'x', '2': 'x'}
    """
    given = {value for vote in votes.values() for value in vote.values}
    values = tuple(sorted({*cube.values, *given}, key=value_order))
    rows = [_places(vote.values, values)[vote.codes] for vote in votes.values()]
    return type(cube)(
        items=cube.items,
        raters=(*cube.raters, *votes),
        values=values,
        codes=np.vstack([_places(cube.values, values)[cube.codes], *rows]),
        clusters=cube.clusters,
    )


def _places(values: Sequence[Value], among: Sequence[Value]) -> Codes:
    """Where codes of `values` stand among others; the codes below zero stay."""
    place = {value: number for number, value in enumerate(among)}
    return np.array([*(place[value] for value in values), NOT_APPLICABLE, FAILED, ABSENT], np.int32)


def _majority_of_sets(people: RatingCube, ties: str) -> Majority:
    sets = [value for value in people.values if isinstance(value, frozenset)]
    labels = sorted({label for value in sets for label in value})
    held = np.array([[label in value for label in labels] for value in sets], bool).reshape(len(sets), len(labels))
    first, number, _ = distinct_columns(people.codes + 3, len(people.values) + 3)
    patterns = people.codes[:, first]
    rated = patterns >= 0
    votes = (held[np.maximum(patterns, 0)] & rated[:, :, None]).sum(0)
    raters = rated.sum(0)[:, None]
    chosen = [frozenset(np.array(labels)[row].tolist()) for row in 2 * votes > raters]
    tied = ((2 * votes == raters) & (raters > 0)).any(1)
    ordered = sorted({*people.values, *chosen}, key=value_order)
    codes = encoded([*ordered, *chosen]).codes[len(ordered) :]
    codes = np.where(raters[:, 0] > 0, codes, ABSENT).astype(np.int32)
    return _decided(tuple(ordered), codes[number], tied[number], ties)


def _decided(values: tuple[Value, ...], codes: Codes, tied: npt.NDArray[np.bool_], ties: str) -> Majority:
    if ties == "abstain":
        codes = np.where(tied, ABSENT, codes).astype(np.int32)
    count = int(tied.sum())
    return Majority(values, codes, count, count if ties == "abstain" else 0)
