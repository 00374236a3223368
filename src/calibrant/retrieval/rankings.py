"""What a search system returned for the queries, best first or with scores."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.readers.rows import Rows
from calibrant.retrieval.grouped import Grouped, query_starts
from calibrant.retrieval.sources import file_blocks, file_name, ranking_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Ranking", "ScatteredQueriesError", "ranking_blocks", "read_ranking"]

BLOCK_ROWS = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Documents by query: query i has the rows from `starts[i]` to before `starts[i + 1]`.

    With `scores` the order is theirs, whatever the order of the rows; without, the rows stand best first. `is_distinct`
    says that no query has a document twice, where that is known.

    >>> ranking = Ranking.of({"q1": {"a": 0.5, "b": 0.9}}, name="bm25")
    >>> ranking.name, ranking.queries, len(ranking)
    ('bm25', ('q1',), 2)
    """

    name: str
    queries: tuple[str, ...]
    starts: NDArray[np.int64]
    documents: pl.Series
    scores: NDArray[np.float64] | None
    path: str | None = None
    is_distinct: bool = False

    @classmethod
    def of(cls, source: Any, *, name: str | None = None) -> Ranking:
        """The ranking in `source`: a path (TREC, Parquet, CSV), a frame, a dict of dicts or of lists, or items."""
        if isinstance(source, Ranking):
            return source
        rows = ranking_rows(source)
        return cls.from_grouped(rows.rows, name=name or rows.name, has_scores=rows.has_scores, path=rows.path)

    @classmethod
    def from_grouped(
        cls, rows: Grouped, *, name: str = "ranking", has_scores: bool = True, path: str | None = None
    ) -> Ranking:
        """The ranking of rows that stand together by query."""
        scores = rows.values if has_scores else None
        return cls(name, rows.queries, rows.starts, rows.documents, scores, path, rows.is_distinct)

    def __len__(self) -> int:
        return len(self.documents)

    def blocks(self, rows: int = BLOCK_ROWS) -> Iterator[Ranking]:
        """The ranking in parts of about so many `rows`, with whole queries."""
        marks = np.searchsorted(self.starts, np.arange(rows, len(self), rows))
        for first, last in pairwise(np.unique(np.concatenate(([0], marks, [len(self.queries)]))).tolist()):
            begin, end = int(self.starts[first]), int(self.starts[last])
            yield Ranking(
                self.name,
                self.queries[first:last],
                self.starts[first : last + 1] - begin,
                self.documents[begin:end],
                None if self.scores is None else self.scores[begin:end],
                self.path,
                self.is_distinct,
            )


def read_ranking(path: str | Path, *, name: str | None = None) -> Ranking:
    """The ranking in a file: TREC (`query Q0 document rank score tag`, any white space, gzip), Parquet or CSV."""
    return Ranking.of(path, name=name)


class ScatteredQueriesError(Exception):
    """A query goes on after rows of another one, so the file cannot be measured block by block."""


def ranking_blocks(path: str | Path) -> Iterator[Ranking]:
    """The ranking in a file, in blocks of whole queries, as long as the rows of each query stand together."""
    seen: set[str] = set()
    held: Rows | None = None
    scored = True
    for rows, scored in file_blocks(Path(path), "ranking"):
        held = rows if held is None else Rows.joined([held, rows])
        starts = query_starts(held)
        if len(starts) > 1:
            yield _block(held.part(0, int(starts[-1])), starts, path, seen, has_scores=scored)
            held = held.part(int(starts[-1]), len(held))
    if held is not None and len(held):
        yield _block(held, np.array([0, len(held)]), path, seen, has_scores=scored)


def _block(rows: Rows, starts: NDArray[np.int64], path: str | Path, seen: set[str], *, has_scores: bool) -> Ranking:
    queries: list[str] = rows.queries.gather(starts[:-1]).to_list()
    before = len(seen)
    seen.update(queries)
    if len(seen) < before + len(queries):
        raise ScatteredQueriesError
    together = Grouped(tuple(queries), starts, rows.documents, rows.values)
    return Ranking.from_grouped(together, name=file_name(Path(path)), has_scores=has_scores, path=str(path))
