"""Rows brought together by query: what qrels and rankings have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

    from calibrant.readers.rows import Rows

__all__ = ["Grouped", "PaddedRows", "grouped", "padded_rows", "places_within", "query_starts"]


class Grouped(NamedTuple):
    """Rows whose queries stand together: query i has the rows from `starts[i]` to before `starts[i + 1]`.

    `is_distinct` says that no document comes twice in a query, where that is known, as of dicts.
    """

    queries: tuple[str, ...]
    starts: NDArray[np.int64]
    documents: pl.Series
    values: NDArray[np.float64]
    is_distinct: bool = False


def query_starts(rows: Rows) -> NDArray[np.int64]:
    """Where a row has another query than the row before it."""
    return np.flatnonzero(rows.queries.ne_missing(rows.queries.shift()).to_numpy())


def grouped(rows: Rows) -> Grouped:
    """The rows by query, queries in the order of their first row, a query's rows in the order they came."""
    starts = query_starts(rows)
    names: list[str] = rows.queries.gather(starts).to_list()
    places: dict[str, int] = {}
    for name in names:
        places.setdefault(name, len(places))
    if len(places) == len(names):
        return Grouped(tuple(names), np.append(starts, len(rows)), rows.documents, rows.values)
    runs = np.array([places[name] for name in names], dtype=np.int32)
    codes = np.repeat(runs, np.diff(starts, append=len(rows)))
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes, minlength=len(places))
    return Grouped(
        tuple(places),
        np.concatenate(([0], np.cumsum(counts))),
        rows.documents.gather(order),
        rows.values[order],
    )


def places_within(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, 2, ... within each of the groups that have these lengths."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


class PaddedRows(NamedTuple):
    """Groups as rows of a matrix of places: `inside` says which are the group's own, the others point anywhere."""

    places: NDArray[np.int64]
    inside: NDArray[np.bool_]


def padded_rows(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> Iterator[PaddedRows]:
    """The places of groups that begin and are as long as this, groups of about one length together; empty ones none.

    Many short rows are sorted much quicker than one long array. No row is padded to more than twice its length.
    """
    classes = np.frexp(lengths)[1]
    for size in np.unique(classes[lengths > 0]):
        chosen = np.flatnonzero(classes == size)
        within = np.arange(int(lengths[chosen].max()))
        inside = within < lengths[chosen, None]
        yield PaddedRows(np.where(inside, begins[chosen, None] + within, 0), inside)
