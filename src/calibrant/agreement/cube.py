"""The rating cube: one criterion's ratings as integers, of which every statistic of agreement is a function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from calibrant.agreement.encoding import (
    ABSENT,
    FAILED,
    NOT_APPLICABLE,
    Column,
    answer_column,
    encoded,
    encoded_ids,
    encoded_values,
    frame_column,
)
from calibrant.errors import InputError, UnknownNameError, WrongTypeError, shortened
from calibrant.estimates import Coverage
from calibrant.items import identifier
from calibrant.ratings import Rating

if TYPE_CHECKING:
    import numpy.typing as npt

    from calibrant.ratings import Value

__all__ = ["RatingCube"]

TABLE = 1 << 20
"""The most keys that are looked up in a table rather than sorted."""

STATUS_CODES = {"failed": FAILED, "not_applicable": NOT_APPLICABLE, "skipped": ABSENT}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatingCube:
    """What every rater said of every item, on one criterion.

    `codes` has a row for each rater and a column for each item: the number of a value in `values`, or -1 where the
    rater said nothing, -2 where the rating failed and -3 where there was nothing to rate. Values are in order: numbers
    by size, labels by the alphabet. `clusters` numbers the documents, customers or conversations that items share.

    >>> cube = RatingCube.of({"judge": {1: "yes", 2: "no"}, "kim": {"1": "yes", "2": "yes", "3": "no"}})
    >>> cube.items, cube.values, cube.codes.tolist()
    (('1', '2', '3'), ('no', 'yes'), [[1, 0, -1], [1, 1, 0]])
    """

    items: tuple[str, ...]
    raters: tuple[str, ...]
    values: tuple[Value, ...]
    codes: npt.NDArray[np.int32]
    clusters: npt.NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        shape = (len(self.raters), len(self.items))
        if self.codes.shape != shape:
            raise InputError(f"codes have a row a rater and a column an item, {shape}, not {self.codes.shape}")
        if self.codes.size and not NOT_APPLICABLE <= int(self.codes.min()) <= int(self.codes.max()) < len(self.values):
            raise InputError(
                f"codes lie between -3 and {len(self.values) - 1}, the last of the {len(self.values)} values"
            )
        if self.clusters is not None and self.clusters.shape != (len(self.items),):
            raise InputError(f"clusters name one for each of the {len(self.items)} items, not {self.clusters.shape}")

    @classmethod
    def of(cls, ratings: Any, *, clusters: Mapping[Any, Any] | None = None) -> Self:
        """The cube of `ratings`, whatever their form.

        They are `{rater: {item: value}}`, or records of item, rater and value (tuples or mappings), or Ratings of one
        criterion, or a polars or pandas frame with the columns `item`, `rater` and `value`. None and NaN are missing.
        `clusters` maps items to what they share with others.
        """
        if isinstance(ratings, cls):
            return ratings
        if hasattr(ratings, "columns"):
            return cls.from_frame(ratings, clusters=clusters)
        if isinstance(ratings, Mapping):
            return cls.from_dict(ratings, clusters=clusters)
        if isinstance(ratings, str) or not isinstance(ratings, Iterable):
            raise WrongTypeError(f"ratings are a dict, records, Ratings or a frame, not {shortened(ratings)}")
        rows: list[Any] = list(cast("Iterable[Any]", ratings))
        if rows and isinstance(rows[0], Rating):
            return cls.from_ratings(rows, clusters=clusters)
        return cls.from_records(rows, clusters=clusters)

    @classmethod
    def from_dict(cls, ratings: Mapping[Any, Mapping[Any, Any]], *, clusters: Mapping[Any, Any] | None = None) -> Self:
        """The cube of `{rater: {item: value}}`."""
        given = cast("Mapping[Any, object]", ratings)
        wrong = [rater for rater, answers in given.items() if not isinstance(answers, Mapping)]
        if wrong:
            raise WrongTypeError(
                f"rater {wrong[0]!r} has a mapping of items to values, not {shortened(ratings[wrong[0]])}"
            )
        items = encoded(list(chain.from_iterable(ratings.values())))
        values = answer_column(list(chain.from_iterable(answers.values() for answers in ratings.values())))
        lengths = [len(answers) for answers in ratings.values()]
        raters = Column(tuple(ratings), np.repeat(np.arange(len(ratings), dtype=np.int32), lengths))
        return cls._of_columns(items, raters, values, clusters)

    @classmethod
    def from_records(
        cls, records: Iterable[Sequence[Any] | Mapping[str, Any]], *, clusters: Mapping[Any, Any] | None = None
    ) -> Self:
        """The cube of records: tuples (item, rater, value), or mappings with these keys."""
        rows: list[Any] = list(records)
        if set(map(type, rows)) != {tuple} or set(map(len, rows)) != {3}:
            rows = [_row(record, number) for number, record in enumerate(rows, start=1)]
        items, raters, values = ([row[place] for row in rows] for place in range(3))
        return cls._of_columns(encoded(items), encoded(raters), answer_column(values), clusters)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        item: str = "item",
        rater: str = "rater",
        value: str = "value",
        clusters: Mapping[Any, Any] | None = None,
    ) -> Self:
        """The cube of a long polars or pandas frame, whose columns are named by `item`, `rater` and `value`."""
        return cls._of_columns(
            frame_column(frame, item), frame_column(frame, rater), frame_column(frame, value), clusters
        )

    @classmethod
    def from_ratings(
        cls, ratings: Iterable[Rating], *, criterion: str | None = None, clusters: Mapping[Any, Any] | None = None
    ) -> Self:
        """The cube of the results among `ratings`, on one criterion; the votes behind a jury's result are left out."""
        results = [rating for rating in ratings if rating.role == "result"]
        criteria = {rating.criterion for rating in results}
        if criterion is None and len(criteria) > 1:
            raise InputError(f"a cube holds one criterion; name one of: {', '.join(sorted(criteria))}")
        chosen = results if criterion is None else [one for one in results if one.criterion == criterion]
        if results and not chosen:
            raise UnknownNameError.among("criterion", criterion, criteria)
        states = np.fromiter((STATUS_CODES.get(one.status, 0) for one in chosen), np.int32, len(chosen))
        return cls._of_columns(
            encoded([one.item for one in chosen]),
            encoded([one.rater for one in chosen]),
            answer_column([one.value for one in chosen]),
            clusters,
            states,
        )

    @classmethod
    def _of_columns(
        cls,
        items: Column,
        raters: Column,
        values: Column,
        clusters: Mapping[Any, Any] | None,
        states: npt.NDArray[np.int32] | None = None,
    ) -> Self:
        items, raters = encoded_ids(items, "item"), encoded_ids(raters, "rater")
        values = encoded_values(values)
        codes = np.full((len(raters.values), len(items.values)), ABSENT, np.int32)
        _check_duplicates(items, raters)
        codes[raters.codes, items.codes] = values.codes if states is None else np.where(states, states, values.codes)
        shared = None if clusters is None else _cluster_codes(items.values, clusters)
        return cls(items=items.values, raters=raters.values, values=values.values, codes=codes, clusters=shared)

    def index(self, rater: str) -> int:
        """The row of `rater`; an unknown one is an error that lists those there are."""
        name = identifier(rater, "rater")
        if name not in self.raters:
            raise UnknownNameError.among("rater", name, self.raters)
        return self.raters.index(name)

    def of_rater(self, rater: str) -> npt.NDArray[np.int32]:
        """The codes of one rater, item by item."""
        return self.codes[self.index(rater)]

    def answers(self, rater: str) -> dict[str, Value]:
        """What `rater` answered, by item; items without an answer are left out."""
        codes = self.of_rater(rater)
        return {self.items[item]: self.values[codes[item]] for item in np.flatnonzero(codes >= 0)}

    def select(self, raters: Iterable[str]) -> Self:
        """The cube of these raters alone, in this order; items and values stay."""
        rows = [self.index(rater) for rater in raters]
        return type(self)(
            items=self.items,
            raters=tuple(self.raters[row] for row in rows),
            values=self.values,
            codes=self.codes[rows],
            clusters=self.clusters,
        )

    def others(self, judge: str, humans: Iterable[str] | None = None) -> tuple[str, ...]:
        """The people that `judge` is compared with: `humans`, or every other rater. There is at least one."""
        row = self.index(judge)
        chosen = self.raters if humans is None else [self.raters[self.index(human)] for human in humans]
        people = tuple(name for name in chosen if name != self.raters[row])
        if not people:
            raise InputError(f"there is nobody to compare {judge!r} with; the ratings hold: {', '.join(self.raters)}")
        return people

    def patterns(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The distinct columns of `codes`, and how many items have each: the data, at a size that does not grow.

        >>> patterns, weights = RatingCube.of({"a": {1: "x", 2: "x", 3: "y"}, "b": {1: "x", 2: "x"}}).patterns()
        >>> patterns.tolist(), weights.tolist()
        ([[0, 1], [0, -1]], [2, 1])
        """
        patterns, _, weights = self.pattern_codes()
        return patterns, weights

    def pattern_codes(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.intp], npt.NDArray[np.int64]]:
        """The patterns, the number of each item's pattern, and the weights."""
        first, number, weights = distinct_columns(self.codes - NOT_APPLICABLE, len(self.values) - NOT_APPLICABLE)
        return self.codes[:, first], number, weights

    def coverage(self, rater: str) -> Coverage:
        """How many items `rater` rated; where nobody asked, the item counts as skipped."""
        return coverage_of(self.of_rater(rater))


def coverage_of(codes: npt.NDArray[np.int32]) -> Coverage:
    """The coverage that a row of codes amounts to."""
    return Coverage(
        rated=int((codes >= 0).sum()),
        failed=int((codes == FAILED).sum()),
        skipped=int((codes == ABSENT).sum()),
        not_applicable=int((codes == NOT_APPLICABLE).sum()),
    )


def distinct_columns(
    digits: npt.NDArray[Any], base: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Of columns of digits below `base`: where each distinct one stands first, the number of each, and their counts."""
    keys, size = np.zeros(digits.shape[1], np.int64), 1
    for row in digits:
        if size * base > TABLE:
            keys, size = _renumbered(keys, size)
        keys, size = keys * base + row, size * base
    number, count = _renumbered(keys, size)
    first = np.zeros(count, np.intp)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first, number, np.bincount(number, minlength=count)


def _renumbered(keys: npt.NDArray[np.int64], size: int) -> tuple[npt.NDArray[np.int64], int]:
    """Keys below `size` as numbers of the distinct ones, in order; by a table where it is small enough."""
    if size > TABLE:
        distinct, number = np.unique(keys, return_inverse=True)
        return number.reshape(-1), len(distinct)
    used = np.bincount(keys, minlength=size) > 0
    places = np.cumsum(used) - 1
    return places[keys], int(places[-1]) + 1


def _row(record: Any, number: int) -> Sequence[Any]:
    if isinstance(record, Mapping):
        missing = [name for name in ("item", "rater", "value") if name not in record]
        if missing:
            raise InputError(f"record {number} has no {', '.join(missing)}; it has: {', '.join(map(str, record))}")
        return record["item"], record["rater"], record["value"]
    if isinstance(record, str) or not isinstance(record, Sequence) or len(record) != 3:
        raise InputError(f"record {number} is not (item, rater, value): {shortened(record)}")
    return record


def _check_duplicates(items: Column, raters: Column) -> None:
    keys = raters.codes.astype(np.int64) * len(items.values) + items.codes
    counts = np.bincount(keys)
    if not len(keys) or counts.max() < 2:
        return
    twice = np.flatnonzero(counts > 1)
    named = (divmod(int(key), len(items.values)) for key in twice)
    raise InputError.gathered(
        "the table of ratings",
        [
            f"item {items.values[item]!r} is rated {counts[key]} times by {raters.values[rater]!r}; keep one"
            for key, (rater, item) in zip(twice, named, strict=True)
        ],
    )


def _cluster_codes(items: tuple[str, ...], clusters: Mapping[Any, Any]) -> npt.NDArray[np.int32]:
    named = {identifier(item, "item"): cluster for item, cluster in clusters.items()}
    missing = [item for item in items if named.get(item) is None]
    if missing:
        raise InputError.gathered("clusters", [f"item {item!r} has no cluster" for item in missing])
    return encoded([named[item] for item in items]).codes
