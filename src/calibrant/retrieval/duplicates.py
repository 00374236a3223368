"""A document that a query has twice: an error that names it, or one of its rows kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from calibrant.errors import InputError, shortened
from calibrant.retrieval.grouped import Grouped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calibrant.retrieval.conventions import OnDuplicate

__all__ = ["document_keys", "selected", "without_duplicates"]

MIXER = np.uint64(0x9E3779B97F4A7C15)  # 2**64 divided by the golden ratio: spreads small numbers over all bits


def document_keys(documents: pl.Series, codes: NDArray[np.int64], seed: int = 0) -> NDArray[np.uint64]:
    """A 64-bit hash of each row's query and document. Equal rows have equal keys; the reverse is checked where used."""
    return documents.hash(seed).to_numpy() ^ (codes.astype(np.uint64) * MIXER)


def without_duplicates(rows: Grouped, policy: OnDuplicate, name: str) -> Grouped:
    """`rows` with one row a document, by `policy`; as they are when no document comes twice."""
    codes = np.repeat(np.arange(len(rows.queries)), np.diff(rows.starts))
    keys = np.sort(document_keys(rows.documents, codes))
    if not np.any(keys[1:] == keys[:-1]):
        return rows
    frame = pl.DataFrame({"query": codes, "document": rows.documents})
    if policy == "error":
        _refuse(frame, rows, name)
        return rows
    keep = frame.is_unique() | (frame.select(_chosen(policy)).to_series())
    return selected(rows, np.flatnonzero(keep.to_numpy()))


def selected(rows: Grouped, kept: NDArray[np.int64]) -> Grouped:
    """Only the rows `kept`, in their order; a query may end up with none."""
    starts = np.searchsorted(kept, rows.starts)
    return Grouped(rows.queries, starts.astype(np.int64), rows.documents.gather(kept), rows.values[kept])


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
