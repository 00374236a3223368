"""Which documents people judged for which query, and how relevant they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibrant.errors import InputError, shortened
from calibrant.retrieval.duplicates import without_duplicates
from calibrant.retrieval.sources import qrels_rows, unjudged_queries

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl
    from numpy.typing import NDArray

    from calibrant.retrieval.conventions import OnDuplicate
    from calibrant.retrieval.grouped import Grouped

__all__ = ["Qrels", "read_qrels"]

LARGE_GRADE = 1 << 20


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judged documents by query: query i has the rows from `starts[i]` to before `starts[i + 1]`.

    A grade of 0 or less is a document that was judged and is not relevant; a document without a row was not judged.
    A query that a dict or an item names without documents stays, and every measure of it is 0.

    >>> qrels = Qrels.of({"q1": {"a": 2, "b": 0}})
    >>> qrels.queries, len(qrels), qrels.to_dict()
    (('q1',), 2, {'q1': {'a': 2, 'b': 0}})
    """

    name: str
    queries: tuple[str, ...]
    starts: NDArray[np.int64]
    documents: pl.Series
    grades: NDArray[np.float64]
    _relevant: dict[float, NDArray[np.int64]] = field(default_factory=dict[float, Any], repr=False)

    @classmethod
    def of(cls, source: Any, *, name: str | None = None, on_duplicate: OnDuplicate = "error") -> Qrels:
        """The qrels in `source`: a path (TREC, Parquet, CSV), a frame, a dict of dicts or of relevant ids, or items."""
        if isinstance(source, Qrels):
            return source
        if isinstance(source, Iterator):
            source = list(cast("Iterator[Any]", source))
        together, found_name = qrels_rows(source)
        unjudged = tuple(unjudged_queries(source))
        together = together._replace(
            queries=together.queries + unjudged,
            starts=np.append(together.starts, np.full(len(unjudged), together.starts[-1])),
        )
        where = str(source) if isinstance(source, str | PathLike) else found_name
        kept = without_duplicates(_judgments(together, where), on_duplicate, where)
        return cls(name or found_name, kept.queries, kept.starts, kept.documents, kept.values)

    def __len__(self) -> int:
        return len(self.grades)

    def agrees_with(self, other: Qrels) -> bool:
        """Whether both hold the same judgments, row by row."""
        return self is other or (
            self.queries == other.queries
            and np.array_equal(self.starts, other.starts)
            and np.array_equal(self.grades, other.grades)
            and self.documents.equals(other.documents)
        )

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """The query of every row, as its place in `queries`."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.starts))

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each query stands in `queries`."""
        return {query: place for place, query in enumerate(self.queries)}

    @cached_property
    def by_grade(self) -> NDArray[np.int64]:
        """The rows with a grade above 0 by query, best grade first: the order of an ideal ranking."""
        rows = np.flatnonzero(self.grades > 0)
        grades, codes = self.grades[rows], self.codes[rows]
        whole = np.minimum(grades, LARGE_GRADE).astype(np.int64)
        if np.array_equal(whole, grades):
            return rows[np.argsort(codes * (LARGE_GRADE + 1) - whole)]  # one key sorts several times faster than two
        return rows[np.lexsort((-grades, codes))]

    def relevant(self, level: float = 1.0) -> NDArray[np.int64]:
        """How many documents of each query have at least the grade `level`."""
        if level not in self._relevant:
            self._relevant[level] = np.bincount(self.codes[self.grades >= level], minlength=len(self.queries))
        return self._relevant[level]

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The grades as a dict of dicts; whole grades as whole numbers."""
        documents = self.documents.to_list()
        grades = [int(grade) if grade.is_integer() else grade for grade in self.grades.tolist()]
        spans = zip(self.queries, self.starts.tolist(), self.starts[1:].tolist(), strict=False)
        return {query: dict(zip(documents[a:b], grades[a:b], strict=True)) for query, a, b in spans}


def read_qrels(path: str | Path, *, on_duplicate: OnDuplicate = "error") -> Qrels:
    """The qrels in a file: TREC (`query iteration document grade`, any white space, gzip), Parquet or CSV."""
    return Qrels.of(path, on_duplicate=on_duplicate)


def _judgments(rows: Grouped, where: str) -> Grouped:
    """`rows`, when there are some and all grades are finite numbers."""
    if not len(rows.documents):
        raise InputError(f"{where} holds no judgments; qrels need at least one query with a judged document")
    wrong = np.flatnonzero(~np.isfinite(rows.values))
    if len(wrong):
        raise InputError.gathered(
            where, (f"{_place(rows, row)} has the grade {rows.values[row]}" for row in wrong.tolist())
        )
    return rows


def _place(rows: Grouped, row: int) -> str:
    query = rows.queries[int(np.searchsorted(rows.starts, row, side="right")) - 1]
    return f"document {shortened(rows.documents[row])} of query {shortened(query)}"
