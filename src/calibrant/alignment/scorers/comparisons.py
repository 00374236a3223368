"""What a built-in scorer works on: judges and people as raters in a cube, encoded once for all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from calibrant.agreement import RatingCube
from calibrant.agreement.encoding import FAILED, encoded
from calibrant.agreement.published import value_text
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.scorers.label_kinds import stacked, unlike_spellings
from calibrant.alignment.scorers.label_sets import sets_of_rows
from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.items import identifier

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = ["Comparison", "Labels", "labels_of_frames", "long_frame"]

JUDGE = "judge:"
HUMAN = "human:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """All ratings of one task, or of several as one set: `whole` cubes, and by position where there are several."""

    whole: RatingCube
    positions: Mapping[str, RatingCube]

    def judged(self, judge_id: str, task_name: str, mode: TaskAggregationMode, aggregation: str) -> Comparison:
        """One judge of them beside all people."""
        humans = tuple(name for name in self.whole.raters if name.startswith(HUMAN))
        return Comparison(
            labels=self,
            judge=JUDGE + judge_id,
            humans=humans,
            judge_id=judge_id,
            task_name=task_name,
            mode=mode,
            aggregation=aggregation,
        )

    def with_failures(self, failures: Mapping[str, Collection[str]]) -> Labels:
        """The labels, with the judges' failed items counted as failed and not as never asked."""
        return replace(
            self,
            whole=_failed(self.whole, failures),
            positions={name: _failed(cube, failures) for name, cube in self.positions.items()},
        )

    def with_clusters(self, clusters: Mapping[str, Any] | None) -> Labels:
        """The labels, with what items share; an item of which nothing is known shares nothing."""
        if clusters is None:
            return self
        shared = {item: ("alone", item) if clusters.get(item) is None else clusters[item] for item in self.whole.items}
        return replace(
            self,
            whole=_clustered(self.whole, shared),
            positions={name: _clustered(cube, shared) for name, cube in self.positions.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One judge and all people on one task, and what they are compared for."""

    labels: Labels
    judge: str
    humans: tuple[str, ...]
    judge_id: str
    task_name: str
    mode: TaskAggregationMode
    aggregation: str

    @property
    def cube(self) -> RatingCube:
        """The ratings; of several labels an item, as sets."""
        return self.labels.whole

    @property
    def is_multilabel(self) -> bool:
        """Whether a rating is a set of labels."""
        values = self.cube.values
        return len(self.labels.positions) > 1 or (bool(values) and isinstance(values[0], frozenset))

    @property
    def by_majority(self) -> bool:
        """Whether the judge is compared with what most people said."""
        return self.aggregation == "majority_vote"

    @property
    def active_humans(self) -> tuple[str, ...]:
        """The people who rated at least one item."""
        return tuple(name for name in self.humans if (self.cube.of_rater(name) >= 0).any())

    def person(self, rater: str) -> str:
        """The name of a person, as the user gave it."""
        return rater.removeprefix(HUMAN)

    def unlike_spellings(self) -> list[str]:
        """What makes one suspect that the judge writes the labels otherwise than people do."""
        people = {label for name in self.humans for label in self._labels_of(name)}
        return unlike_spellings(self._labels_of(self.judge), people)

    def _labels_of(self, rater: str) -> set[str]:
        """The labels that a rater used, as texts; of sets, those that are in them."""
        codes = np.unique(self.cube.of_rater(rater))
        used = [self.cube.values[code] for code in codes if code >= 0]
        single = (one for value in used for one in (value if isinstance(value, frozenset) else [value]))
        return {value_text(one) for one in single}

    def pairs(self) -> tuple[int, int]:
        """How many ratings of a person stand beside one of the judge, and how many beside a failure of the judge."""
        judged = self.cube.of_rater(self.judge)
        answered = np.sum([self.cube.of_rater(name) >= 0 for name in self.humans], axis=0)
        return int(answered[judged >= 0].sum()), int(answered[judged == FAILED].sum())


def labels_of_frames(
    judges: Mapping[str, pl.DataFrame],
    human_data: pl.DataFrame,
    mode: TaskAggregationMode,
    names: Sequence[str] | None = None,
) -> Labels:
    """The labels of judges (original_id, label) and people (original_id, human_id, label), ids as texts.

    Lists are answers by position where their mode says so and all have one length; else they are sets.
    """
    frame = long_frame(judges, human_data)
    if not (frame["value"].dtype.is_nested() or frame["value"].dtype == pl.Object):
        cube = RatingCube.from_frame(frame)
        return Labels(whole=cube, positions={"": cube})
    rows = list(zip(frame["item"].to_list(), frame["rater"].to_list(), map(_listed, frame["value"]), strict=True))
    lengths = {len(answers) for _, _, answers in rows if answers is not None}
    if mode is not TaskAggregationMode.MULTILABEL or len(lengths) != 1:
        cube = sets_of_rows(rows, None)
        return Labels(whole=cube, positions={"": cube})
    named = list(names) if names is not None else [f"label {place + 1}" for place in range(lengths.pop())]
    positions = {
        name: RatingCube.from_records([(item, rater, answers and answers[place]) for item, rater, answers in rows])
        for place, name in enumerate(named)
    }
    return Labels(whole=sets_of_rows(rows, named), positions=positions)


def long_frame(judges: Mapping[str, pl.DataFrame], human_data: pl.DataFrame) -> pl.DataFrame:
    """One row a rating: item, rater and value, whatever types the two sides had."""
    people = _named(human_data, "human_data", "human_id")
    parts = [people.select("item", pl.concat_str(pl.lit(HUMAN), "rater").alias("rater"), "value")]
    for judge_id, data in judges.items():
        rows = _named(data, "judge_data", None)
        parts.append(rows.select("item", pl.lit(JUDGE + judge_id).alias("rater"), "value"))
    return stacked(parts, "value")


def _named(frame: Any, what: str, rater: str | None) -> pl.DataFrame:
    if not isinstance(frame, pl.DataFrame):
        if not hasattr(frame, "columns"):
            raise WrongTypeError(f"{what} is a polars frame, not {shortened(frame)}")
        frame = pl.DataFrame({str(name): pl.Series(frame[name].tolist(), strict=False) for name in frame.columns})
    needed = ["original_id", "label", *([rater] if rater else [])]
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise InputError(f"{what} has no column {', '.join(missing)}; it has: {', '.join(frame.columns)}")
    columns = [_id_texts(frame["original_id"]).alias("item"), frame["label"].alias("value")]
    if rater:
        columns.append(_id_texts(frame[rater]).alias("rater"))
    return pl.DataFrame(columns)


def _id_texts(column: pl.Series) -> pl.Series:
    """Ids as texts: whole numbers in digits, also where an empty cell had made them floats."""
    if column.dtype.is_integer() or isinstance(column.dtype, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    if column.dtype == pl.String:
        return column
    texts = {value: identifier(value) for value in column.unique().to_list() if value is not None}
    return pl.Series([texts.get(value) for value in column.to_list()], dtype=pl.String)


def _listed(value: Any) -> list[Any] | None:
    if value is None:
        return None
    if isinstance(value, str | int | float):
        return [value]
    return list(value)


def _clustered(cube: RatingCube, clusters: Mapping[str, Any]) -> RatingCube:
    return replace(cube, clusters=encoded([clusters[item] for item in cube.items]).codes)


def _failed(cube: RatingCube, failures: Mapping[str, Collection[str]]) -> RatingCube:
    codes = cube.codes.copy()
    places = {item: place for place, item in enumerate(cube.items)}
    for judge_id, items in failures.items():
        if JUDGE + judge_id in cube.raters:
            row = cube.index(JUDGE + judge_id)
            for item in items:
                if item in places and codes[row, places[item]] < 0:
                    codes[row, places[item]] = FAILED
    return replace(cube, codes=codes)
