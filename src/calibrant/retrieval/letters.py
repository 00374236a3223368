"""Letters for groups that cannot be told apart, as tables of comparisons have them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["compact_letters"]

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def compact_letters(names: Sequence[str], different: Collection[tuple[str, str]]) -> dict[str, str]:
    """The letters of each of `names`, best first: two that share a letter cannot be told apart.

    `different` holds the pairs that can, in either order. By the insert-and-absorb algorithm (Piepho 2004): every pair
    splits the groups that hold both, and a group within another is dropped.

    >>> compact_letters(["A", "B", "C"], [("A", "C")])
    {'A': 'a', 'B': 'ab', 'C': 'b'}
    """
    places = {name: place for place, name in enumerate(names)}
    groups: set[frozenset[int]] = {frozenset(places.values())}
    for first, second in sorted(tuple(sorted((places[one], places[other]))) for one, other in different):
        split = {group for group in groups if {first, second} <= group}
        pieces = {group - {one} for group in split for one in (first, second)}
        groups = _absorbed((groups - split) | pieces)
    ordered = sorted(groups, key=sorted)
    letters = _letters(len(ordered))
    return {
        name: "".join(letter for letter, group in zip(letters, ordered, strict=True) if place in group)
        for name, place in places.items()
    }


def _absorbed(groups: set[frozenset[int]]) -> set[frozenset[int]]:
    return {group for group in groups if not any(group < other for other in groups)}


def _letters(count: int) -> list[str]:
    """So many letters: a to z, and then capitals and pairs in brackets, which stay apart when joined."""
    singles = [*ALPHABET, *ALPHABET.upper()]
    if count <= len(singles):
        return singles[:count]
    return [*singles, *(f"({one}{two})" for one, two in product(ALPHABET, repeat=2))][:count]
