"""Where a judge and people part: items on which people agree and the judge differs, and those on which they differ."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.agreement.published import value_text
from calibrant.errors import InputError, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from calibrant.agreement.cube import RatingCube
    from calibrant.ratings import Value

__all__ = ["Disagreement", "Disagreements", "disagreements"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """An item that is worth a look: what the judge said, what each person said, and how many said the most usual."""

    item: str
    kind: str
    judge: Value | None
    people: Mapping[str, Value]
    answer: Value
    share: float

    def to_row(self) -> dict[str, Any]:
        """The item as a flat row for a table, a column for each person."""
        return {
            "item": self.item,
            "kind": self.kind,
            "judge": None if self.judge is None else value_text(self.judge),
            "most_people": value_text(self.answer),
            "share": self.share,
            **{f"human:{name}": value_text(value) for name, value in self.people.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreements:
    """Both lists, apart: on the first the judge is likely wrong, on the second the task may be unclear.

    `compared` counts the items with the judge's answer and at least two people's, and `agreed` those on which all went
    together.
    """

    judge_differs: tuple[Disagreement, ...]
    people_differ: tuple[Disagreement, ...]
    compared: int
    agreed: int

    def __str__(self) -> str:
        return (
            f"of {counted(self.compared, 'item')}, the judge and people agree on {self.agreed}; people agree and the "
            f"judge differs on {len(self.judge_differs)}, and people differ on {len(self.people_differ)}"
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """All items as flat rows, those on which the judge differs first."""
        return [one.to_row() for one in (*self.judge_differs, *self.people_differ)]


def disagreements(
    cube: RatingCube, judge: str, *, humans: Iterable[str] | None = None, agreement: float = 1.0
) -> Disagreements:
    """The items of at least two people on which they agree and `judge` differs, and those on which they differ.

    People agree when at least the share `agreement` of them gave one answer. The first list begins with what most
    people agree on, the second with what they agree on least.

    >>> from calibrant.agreement import RatingCube
    >>> ratings = {"judge": {1: "x", 2: "x", 3: "y"}, "a": {1: "x", 2: "y", 3: "x"}, "b": {1: "x", 2: "y", 3: "y"}}
    >>> found = disagreements(RatingCube.of(ratings), "judge")
    >>> [one.item for one in found.judge_differs], [one.item for one in found.people_differ], found.agreed
    (['2'], ['3'], 1)
    """
    if not 0.5 < agreement <= 1.0:
        raise InputError(f"agreement is a share above one half and up to 1, not {agreement}")
    people = cube.others(judge, humans)
    codes, judged = cube.select(people).codes, cube.of_rater(judge)
    answer, most, raters = _most_usual(codes)
    share = most / np.maximum(raters, 1)
    compared = (judged >= 0) & (raters >= 2)
    together = share >= agreement - 1e-12
    wrong = np.flatnonzero(compared & together & (judged != answer))
    split = np.flatnonzero(compared & ~together)
    wrong = wrong[np.lexsort((wrong, -share[wrong], -raters[wrong]))]
    split = split[np.lexsort((split, share[split]))]
    listed = _Listed(cube, people, codes, judged, answer, share)
    return Disagreements(
        judge_differs=tuple(listed.record(item, "judge_differs") for item in wrong),
        people_differ=tuple(listed.record(item, "people_differ") for item in split),
        compared=int(compared.sum()),
        agreed=int((compared & together & (judged == answer)).sum()),
    )


@dataclass(frozen=True, slots=True)
class _Listed:
    cube: RatingCube
    people: tuple[str, ...]
    codes: npt.NDArray[np.int32]
    judged: npt.NDArray[np.int32]
    answer: npt.NDArray[np.int32]
    share: npt.NDArray[np.float64]

    def record(self, item: int, kind: str) -> Disagreement:
        values, said = self.cube.values, self.codes[:, item].tolist()
        people = {name: values[code] for name, code in zip(self.people, said, strict=True) if code >= 0}
        return Disagreement(
            item=self.cube.items[item],
            kind=kind,
            judge=values[self.judged[item]],
            people=MappingProxyType(people),
            answer=values[self.answer[item]],
            share=float(self.share[item]),
        )


def _most_usual(
    codes: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The most usual answer to each item (the first in order of those that tie), its votes, and all votes."""
    votes = np.stack([((codes == row) & (row >= 0)).sum(0) for row in codes])
    most = votes.max(0)
    first = np.where(votes == most, codes, np.iinfo(np.int32).max).min(0).astype(np.int32)
    return np.where(most > 0, first, -1).astype(np.int32), most, (codes >= 0).sum(0)
