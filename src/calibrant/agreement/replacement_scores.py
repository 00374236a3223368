"""How the judge and each person agree with the rest, item by item: what the alternative annotator test counts.

Scores of an item are compared, never published, so each is taken in the form that keeps ties exact: the number of
equal answers, the sum of squared differences, the sum of Jaccard similarities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from calibrant.errors import InputError, UnknownNameError, shortened

if TYPE_CHECKING:
    import numpy.typing as npt

    from calibrant.ratings import Value

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int32]

__all__ = ["SCORINGS", "Indicators", "indicators", "scoring_for", "scoring_of"]

SCORINGS = ("accuracy", "jaccard", "neg_rmse")

TIE = 1e-9
"""Scores closer than this, relative to their size, are equal: 0.7 - 0.5 and 0.5 - 0.3 differ in the last bit."""


class Indicators(NamedTuple):
    """Whether the judge, and whether the person, agrees with the rest at least as well, by person (rows) and item.

    `counted` says where the person rated an item that is kept; elsewhere both are False.
    """

    judge: npt.NDArray[np.bool_]
    person: npt.NDArray[np.bool_]
    counted: npt.NDArray[np.bool_]


def scoring_of(scoring: str | None, values: tuple[Value, ...]) -> str:
    """`scoring`, which must fit the values; None is the one for their kind."""
    if scoring is None:
        return scoring_for(values)
    if scoring not in SCORINGS:
        raise UnknownNameError.among("scoring", scoring, SCORINGS)
    if scoring != "accuracy" and values and scoring != scoring_for(values):
        needed = {"neg_rmse": "numbers", "jaccard": "sets of labels"}[scoring]
        raise InputError(f"{scoring} compares {needed}, and the ratings are values such as {shortened(values[0])}")
    return scoring


def scoring_for(values: tuple[Value, ...]) -> str:
    """How answers of this kind are compared: sets by Jaccard, numbers by root mean square error, others exactly."""
    example = values[0] if values else ""
    if isinstance(example, frozenset):
        return "jaccard"
    return "neg_rmse" if isinstance(example, int | float) and not isinstance(example, bool) else "accuracy"


def indicators(
    judge: Codes, people: Codes, kept: npt.NDArray[np.bool_], scoring: str, values: tuple[Value, ...]
) -> Indicators:
    """Whether the judge scores at least as well as each left-out person with the rest, and the reverse."""
    counted = (people >= 0) & kept
    likeness = {"accuracy": _equal, "neg_rmse": _distance(values), "jaccard": _jaccard(values)}[scoring]
    with_judge = [np.where(present, likeness(judge, row), 0.0) for row, present in zip(people, counted, strict=True)]
    judge_total = np.sum(with_judge, axis=0)
    judge_wins, person_wins = np.zeros_like(counted), np.zeros_like(counted)
    for left, row in enumerate(people):
        rest = [other for other in range(len(people)) if other != left]
        of_person = np.sum([np.where(counted[other], likeness(row, people[other]), 0.0) for other in rest], axis=0)
        of_judge = np.sum([with_judge[other] for other in rest], axis=0)
        near = np.abs(of_judge - of_person) <= TIE * np.abs(judge_total)
        judge_wins[left] = counted[left] & ((of_judge >= of_person) | near)
        person_wins[left] = counted[left] & ((of_person >= of_judge) | near)
    return Indicators(judge_wins, person_wins, counted)


Likeness = Callable[["Codes", "Codes"], "Array"]


def _equal(first: Codes, second: Codes) -> Array:
    return (first == second).astype(float)


def _distance(values: tuple[Value, ...]) -> Likeness:
    """The squared difference, negative: the root of its mean over the rest falls as it does."""
    numbers = np.asarray([0.0 if isinstance(value, str | frozenset) else value for value in values], float)
    return lambda first, second: -((numbers[_place(first)] - numbers[_place(second)]) ** 2)


def _jaccard(values: tuple[Value, ...]) -> Likeness:
    """The share of labels that two sets have in common, of all they have; two empty sets are alike."""
    sets = [value for value in values if isinstance(value, frozenset)]
    labels = sorted({label for one in sets for label in one})
    held = np.array([[label in one for label in labels] for one in sets], bool).reshape(len(sets), len(labels))

    def likeness(first: Codes, second: Codes) -> Array:
        one, other = held[_place(first)], held[_place(second)]
        shared, union = (one & other).sum(1), (one | other).sum(1)
        return np.where(union > 0, shared / np.maximum(union, 1), 1.0)

    return likeness


def _place(codes: Codes) -> Codes:
    """Where a code's value stands; a missing answer gets any place, since what comes of it is not counted."""
    return np.maximum(codes, 0)
