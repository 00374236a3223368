"""A document that a query has twice: an error that names it, or one of its rows kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from calibrant.errors import InputError, shortened
from calibrant.retrieval.grouped import Grouped, padded_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calibrant.retrieval.conventions import OnDuplicate

__all__ = ["document_hashes", "document_keys", "hash_order", "selected", "without_duplicates"]

LARGEST = np.uint64(2**64 - 1)
"""What rows are padded with: it is sorted last."""


def document_hashes(documents: pl.Series, seed: int = 0) -> NDArray[np.uint64]:
    """A hash of each document's id. Equal ids have equal hashes; the reverse is checked where they are used."""
    return documents.hash(seed).to_numpy()


def document_keys(hashes: NDArray[np.uint64], codes: NDArray[np.int64], queries: int) -> NDArray[np.uint64]:
    """A key of each row's query and document: the code in the highest bits, so that a query's keys lie together.

    Codes go from 0 to before `queries`, or are -1 for a query that is not among them.
    """
    bits = np.uint64(queries.bit_length())
    return (codes.astype(np.uint64) << (np.uint64(64) - bits)) | (hashes >> bits)


def without_duplicates(
    rows: Grouped, policy: OnDuplicate, name: str, hashes: NDArray[np.uint64] | None = None
) -> Grouped:
    """`rows` with one row a document, by `policy`; the same object when no document comes twice.

    `hashes` are those of the documents, where they are known.
    """
    if rows.is_distinct:
        return rows
    if not _has_equals(document_hashes(rows.documents) if hashes is None else hashes, rows.starts):
        return rows
    codes = np.repeat(np.arange(len(rows.queries)), np.diff(rows.starts))
    frame = pl.DataFrame({"query": codes, "document": rows.documents})
    if policy == "error":
        _refuse(frame, rows, name)
        return rows
    keep = frame.is_unique() | (frame.select(_chosen(policy)).to_series())
    return selected(rows, np.flatnonzero(keep.to_numpy()))


def _has_equals(hashes: NDArray[np.uint64], starts: NDArray[np.int64]) -> bool:
    """Whether a query has two equal hashes."""
    for rows, inside in padded_rows(starts[:-1], np.diff(starts)):
        matrix = np.where(inside, hashes[rows], LARGEST)
        matrix.sort(axis=1)
        if np.any((matrix[:, 1:] == matrix[:, :-1]) & inside[:, 1:]):
            return True
    return False


def hash_order(hashes: NDArray[np.uint64], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows by query and hash."""
    order = np.empty(len(hashes), dtype=np.int64)
    for rows, inside in padded_rows(starts[:-1], np.diff(starts)):
        width = rows.shape[1]
        mask = np.uint64((1 << width.bit_length()) - 1)  # the last bits make room for the place in the row
        matrix = np.where(inside, hashes[rows], LARGEST) & ~mask | np.arange(width, dtype=np.uint64)
        matrix.sort(axis=1)
        order[rows[inside]] = (rows[:, :1] + (matrix & mask).astype(np.int64))[inside]
    falls = np.flatnonzero(hashes[order[1:]] < hashes[order[:-1]]) + 1
    if np.isin(falls, starts).all():
        return order
    return np.lexsort(
        (hashes, np.repeat(np.arange(len(starts) - 1), np.diff(starts)))
    )  # some differ in last bits alone


def selected(rows: Grouped, kept: NDArray[np.int64]) -> Grouped:
    """Only the rows `kept`, in their order; a query may end up with none."""
    starts = np.searchsorted(kept, rows.starts)
    return Grouped(
        rows.queries, starts.astype(np.int64), rows.documents.gather(kept), rows.values[kept], rows.is_distinct
    )


def _chosen(policy: OnDuplicate) -> pl.Expr:
    named = pl.struct("query", "document")
    return named.is_first_distinct() if policy == "first" else named.is_last_distinct()


def _refuse(frame: pl.DataFrame, rows: Grouped, name: str) -> None:
    twice = frame.filter(frame.is_duplicated()).group_by("query", "document", maintain_order=True).len()
    problems = [
        f"query {shortened(rows.queries[code])} has document {shortened(document)} {count} times; "
        'pass on_duplicate="first" or "last" to keep one'
        for code, document, count in twice.iter_rows()
    ]
    if problems:
        raise InputError.gathered(name, problems)
