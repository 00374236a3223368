"""Columns as codes: ids to row numbers and labels to small integers, once, at the edge."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.items import identifier
from calibrant.ratings import check_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from calibrant.ratings import Value

    Codes = npt.NDArray[np.int32]

__all__ = [
    "ABSENT",
    "FAILED",
    "NOT_APPLICABLE",
    "Column",
    "answer_column",
    "check_kinds",
    "encoded",
    "encoded_ids",
    "encoded_values",
    "frame_column",
    "hashable",
    "places_in_order",
    "value_order",
]

ABSENT = -1
FAILED = -2
NOT_APPLICABLE = -3


class Column(NamedTuple):
    """The distinct values of a column, and for each row the number of its value; missing rows have -1."""

    values: tuple[Any, ...]
    codes: Codes


def encoded(column: Sequence[Any]) -> Column:
    """A column of hashable values, numbered by first appearance; None is missing.

    >>> encoded(["b", None, "a", "b"]).codes.tolist()
    [0, -1, 1, 0]
    """
    numbers: dict[Any, int] = {value: number for number, value in enumerate(dict.fromkeys(column))}
    codes = np.fromiter(map(numbers.__getitem__, column), np.int32, len(column))
    if None not in numbers:
        return Column(tuple(numbers), codes)
    return _without(Column(tuple(numbers), codes), _is_none)


def encoded_ids(column: Column, what: str) -> Column:
    """`column` with its values as ids: 7, 7.0 and "7" are one; rows without an id are refused."""
    if not column.values or (column.codes < 0).any():
        rows = np.flatnonzero(column.codes < 0)
        if len(rows):
            raise InputError.gathered("the table of ratings", [f"row {row + 1} has no {what}" for row in rows])
        return column
    names, problems = _identified(column.values, what)
    if problems:
        raise InputError.gathered("the table of ratings", problems)
    merged = encoded(names)
    return column._replace(values=tuple(names)) if len(merged.values) == len(names) else _recoded(column, merged)


def answer_column(answers: Sequence[Any]) -> Column:
    """A column of answers, whose kinds are told apart before True and 1 become the same key."""
    kinds = set(map(type, answers))
    if list in kinds or set in kinds or tuple in kinds:
        answers = [hashable(answer) for answer in answers]
    if bool in kinds and kinds & {int, float}:
        check_kinds([next(answer for answer in answers if type(answer) is kind) for kind in kinds & {bool, int, float}])
    return encoded(answers)


def encoded_values(column: Column) -> Column:
    """`column` with its values in order: numbers by size, labels by the alphabet; NaN is missing.

    Values of unlike kinds are refused: a yes that is True for one rater and "yes" for another would never agree.
    """
    column = _without(column, _is_missing)
    values = [_plain_value(value) for value in column.values]
    check_kinds(values)
    order = sorted(range(len(values)), key=lambda number: value_order(values[number]))
    ordered = encoded([values[number] for number in order])
    places = np.empty(len(values) + 1, np.int32)
    places[order] = ordered.codes
    places[-1] = ABSENT
    return Column(ordered.values, places[column.codes])


def value_order(value: Value) -> Any:
    """What values are sorted by: a set of labels by its labels in order."""
    return tuple(sorted(value)) if isinstance(value, frozenset) else value


def places_in_order(values: Sequence[Value], order: Sequence[Value]) -> Codes:
    """The new code of each code, with the answers in the user's `order`; the codes below zero stay."""
    unknown = [value for value in values if value not in order]
    if unknown:
        raise InputError(f"order lists every answer from low to high, but {shortened(unknown[0])} is not in it")
    return np.array([*(list(order).index(value) for value in values), NOT_APPLICABLE, FAILED, ABSENT], np.int32)


def check_kinds(values: Iterable[Value]) -> None:
    """Raise unless all values are of one kind: bools, numbers, labels or sets of labels."""
    examples: dict[str, Value] = {}
    for value in values:
        examples.setdefault(_kind(value), value)
    if len(examples) > 1:
        seen = ", ".join(f"{kind} such as {shortened(value)}" for kind, value in examples.items())
        raise InputError(
            f"values must be of one kind, but there are {seen}; "
            "write them alike, since True and 'yes', or 1 and '1', are not the same answer"
        )


def frame_column(frame: Any, name: str) -> Column:
    """A column of a polars or pandas frame, encoded by the frame's own machinery."""
    columns = [str(column) for column in frame.columns]
    if name not in columns:
        raise InputError(f"the frame has no column {name!r}; it has: {', '.join(columns)}")
    series = frame[name]
    if hasattr(series, "to_physical"):
        return _polars_column(series)
    if hasattr(series, "factorize"):
        codes, values = series.factorize()
        return Column(tuple(values.tolist()), np.asarray(codes, np.int32))
    raise WrongTypeError(f"ratings come as records or as a polars or pandas frame, not {type(frame).__name__}")


def _polars_column(series: Any) -> Column:
    import polars as pl

    if series.dtype.base_type() in {pl.List, pl.Array, pl.Object}:
        return encoded([hashable(value) for value in series.to_list()])
    values = pl.DataFrame({"value": series}).unique(maintain_order=True).drop_nulls().with_row_index("code")
    joined = pl.DataFrame({"value": series}).join(values, on="value", how="left", maintain_order="left")
    return Column(tuple(values["value"].to_list()), joined["code"].cast(pl.Int32).fill_null(ABSENT).to_numpy())


def _identified(values: Sequence[Any], what: str) -> tuple[list[str], list[str]]:
    if set(map(type, values)) == {str} and all(map(str.strip, values)):
        return list(values), []
    names: list[str] = []
    problems: list[str] = []
    for value in values:
        try:
            names.append(identifier(value, what))
        except InputError as error:
            problems.append(str(error))
    return names, problems


def _recoded(column: Column, merged: Column) -> Column:
    return Column(merged.values, merged.codes[column.codes])


def _is_none(value: Any) -> bool:
    return value is None


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _without(column: Column, is_missing: Callable[[Any], bool]) -> Column:
    missing = [number for number, value in enumerate(column.values) if is_missing(value)]
    if not missing:
        return column
    places = np.zeros(len(column.values) + 1, np.int32)
    places[[*missing, -1]] = 1
    places = np.where(places == 1, ABSENT, np.cumsum(1 - places, dtype=np.int32) - 1).astype(np.int32)
    gone = set(missing)
    kept = tuple(value for number, value in enumerate(column.values) if number not in gone)
    return Column(kept, places[column.codes])


def _plain_value(value: Any) -> Value:
    """Scalars of numpy as Python has them; sets, lists and tuples of labels as frozensets."""
    item = getattr(value, "item", None)
    plain: Any = item() if callable(item) else value
    check_value(plain, "a rating")
    return plain


def _kind(value: Value) -> str:
    if isinstance(value, bool):
        return "a bool"
    if isinstance(value, str):
        return "a label"
    return "a set of labels" if isinstance(value, frozenset) else "a number"


def hashable(value: Any) -> Any:
    """`value`, or the frozenset of it when it is a list, a set or a tuple of labels."""
    return frozenset(value) if isinstance(value, list | set | tuple) else value
