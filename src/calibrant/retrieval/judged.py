"""A ranking reduced to the ranks of its judged documents: all that measures need, and far less than the ranking.

Texts are touched twice: every document is hashed to find the judged ones, and ties that hold a judged document are
ordered by id. Everything else is arithmetic on scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from calibrant.errors import InputError, shortened
from calibrant.retrieval.duplicates import document_hashes, document_keys, hash_order, selected, without_duplicates
from calibrant.retrieval.grouped import Grouped, places_within
from calibrant.retrieval.order import counts_above, descending_order

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from calibrant.retrieval.conventions import Conventions
    from calibrant.retrieval.qrels import Qrels
    from calibrant.retrieval.rankings import Ranking

__all__ = ["Judged", "JudgedIndex", "joined", "judged_ranks"]


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The judged documents of a ranking, by query and rank, and how much was retrieved.

    `queries` are places in the qrels; `sizes` are set when ties are kept: the document shares the ranks from
    `ranks` to `ranks + sizes - 1` with the others of its score. `retrieved` and `present` go by the qrels' queries.
    `dropped` counts rows without a score, `unknown` queries that the qrels do not have.
    """

    queries: NDArray[np.int64]
    ranks: NDArray[np.int64]
    grades: NDArray[np.float64]
    sizes: NDArray[np.int64] | None
    retrieved: NDArray[np.int64]
    present: NDArray[np.bool_]
    dropped: int = 0
    unknown: int = 0


class JudgedIndex:
    """The judged documents of qrels, to be looked up by hash; made once for all blocks of all rankings."""

    def __init__(self, qrels: Qrels) -> None:
        self.qrels = qrels
        self.seed = -1
        while self.seed < 0 or np.any(self.keys[1:] == self.keys[:-1]):
            self.seed += 1  # no two rows are equal, so equal hashes are chance, and other ones are taken
            hashes = document_hashes(qrels.documents, self.seed)
            self.order = hash_order(hashes, qrels.starts)
            self.keys = self.keys_of(hashes, qrels.codes)[self.order]
        self.documents = qrels.documents.gather(self.order)
        bits = min(max((16 * len(self.keys)).bit_length(), 10), 26)
        self.shift = np.uint64(64 - bits)
        self.table = np.zeros(1 << bits, dtype=np.bool_)
        self.table[self.keys >> self.shift] = True

    def keys_of(self, hashes: NDArray[np.uint64], codes: NDArray[np.int64]) -> NDArray[np.uint64]:
        """The keys of rows with these hashes of documents and these places of queries in the qrels."""
        return document_keys(hashes, codes, len(self.qrels.queries))

    def find(self, documents: pl.Series, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of a ranking that are judged, and the rows of the qrels that judge them."""
        rows = np.flatnonzero(self.table[keys >> self.shift])
        wanted = keys[rows]
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        same = self.keys[places] == wanted
        rows, places = rows[same], places[same]
        equal = (documents.gather(rows) == self.documents.gather(places)).to_numpy()
        return rows[equal], self.order[places[equal]]


def judged_ranks(block: Ranking, index: JudgedIndex, conventions: Conventions) -> Judged:
    """The judged documents of one block, whose queries are whole."""
    rows, hashes, dropped = _clean(block, conventions, index.seed)
    scores = None if block.scores is None else rows.values.astype(conventions.score_dtype, copy=False)
    codes = _codes(rows, index.qrels)
    lengths = np.diff(rows.starts)
    row_segments = np.repeat(np.arange(len(lengths)), lengths)
    found, judgments = index.find(rows.documents, index.keys_of(hashes, codes[row_segments]))
    segments = row_segments[found]
    ranks, sizes = _ranks(rows, scores, _Found(found, segments), conventions)
    known = codes >= 0
    total = len(index.qrels.queries)
    retrieved, present = np.zeros(total, dtype=np.int64), np.zeros(total, dtype=np.bool_)
    retrieved[codes[known]], present[codes[known]] = lengths[known], lengths[known] > 0
    return Judged(
        codes[segments], ranks, index.qrels.grades[judgments], sizes, retrieved, present, dropped, int((~known).sum())
    )


def joined(parts: Sequence[Judged]) -> Judged:
    """The judged documents of all blocks, by query and rank."""
    queries = np.concatenate([part.queries for part in parts])
    ranks = np.concatenate([part.ranks for part in parts])
    order = np.argsort((queries << np.int64(40)) + ranks, kind="stable")
    sizes = [part.sizes for part in parts if part.sizes is not None]
    return Judged(
        queries[order],
        ranks[order],
        np.concatenate([part.grades for part in parts])[order],
        np.concatenate(sizes)[order] if sizes else None,
        np.sum([part.retrieved for part in parts], axis=0),
        np.any([part.present for part in parts], axis=0),
        sum(part.dropped for part in parts),
        sum(part.unknown for part in parts),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """Judged rows of a block, and the segment (the place of the query in the block) of each."""

    rows: NDArray[np.int64]
    segments: NDArray[np.int64]


def _clean(block: Ranking, conventions: Conventions, seed: int) -> tuple[Grouped, NDArray[np.uint64], int]:
    """The block without what is not counted (scores that are no number, documents that come twice), and its hashes."""
    values = np.zeros(len(block)) if block.scores is None else block.scores
    rows = Grouped(block.queries, block.starts, block.documents, values, block.is_distinct)
    missing = np.isnan(values)
    dropped = int(missing.sum())
    if dropped and conventions.on_nan == "error":
        raise InputError.gathered(block.path or block.name, _nan_problems(rows, np.flatnonzero(missing)))
    if dropped:
        rows = selected(rows, np.flatnonzero(~missing))
    hashes = document_hashes(rows.documents, seed)
    kept = without_duplicates(rows, conventions.on_duplicate, block.path or block.name, hashes)
    return kept, hashes if kept is rows else document_hashes(kept.documents, seed), dropped


def _nan_problems(rows: Grouped, places: NDArray[np.int64]) -> list[str]:
    segments = np.searchsorted(rows.starts, places, side="right") - 1
    return [
        f"the score of document {shortened(rows.documents[int(place)])} of query {shortened(rows.queries[segment])} "
        'is not a number; pass on_nan="drop" to count and drop such rows'
        for place, segment in zip(places.tolist(), segments.tolist(), strict=True)
    ]


def _codes(rows: Grouped, qrels: Qrels) -> NDArray[np.int64]:
    """Where each query of the block stands in the qrels; -1 for one that they do not have."""
    return np.array([qrels.places.get(query, -1) for query in rows.queries], dtype=np.int64)


def _ranks(
    rows: Grouped, scores: NDArray[np.floating] | None, found: _Found, conventions: Conventions
) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """The rank of every judged row, and with ties="expected" how many share it."""
    if scores is None:
        ranks = found.rows - rows.starts[found.segments] + 1
        return ranks, np.ones_like(ranks) if conventions.ties == "expected" else None
    above, equal = counts_above(scores, rows.starts, found.rows, found.segments)
    if conventions.ties == "expected":
        return above + 1, equal
    tied = np.flatnonzero(equal > 1)
    if len(tied):
        ties = _Found(found.rows[tied], found.segments[tied])
        before = _before_in_tie(rows, scores, ties, (above[tied], equal[tied]), by_document=conventions.ties == "trec")
        above = above.copy()
        above[tied] += before
    return above + 1, None


def _before_in_tie(
    rows: Grouped,
    scores: NDArray[np.floating],
    ties: _Found,
    groups: tuple[NDArray[np.int64], NDArray[np.int64]],
    *,
    by_document: bool,
) -> NDArray[np.int64]:
    """How many documents of the same score stand before each tied judged one: by id, descending, or as they came."""
    above, equal = groups
    begins, which = np.unique(rows.starts[ties.segments] + above, return_inverse=True)
    sizes = np.zeros(len(begins), dtype=np.int64)
    sizes[which] = equal
    order = descending_order(scores, rows.starts, np.unique(ties.segments))
    places = places_within(sizes)
    members = order[np.repeat(begins, sizes) + places]
    if by_document:
        members = _by_document(members, np.repeat(np.arange(len(begins)), sizes), rows.documents)
    by_row = np.argsort(members)
    return places[by_row[np.searchsorted(members, ties.rows, sorter=by_row)]]


def _by_document(members: NDArray[np.int64], groups: NDArray[np.int64], documents: pl.Series) -> NDArray[np.int64]:
    """The rows of each group by document id, descending by bytes as strcmp has it; the groups stay where they are."""
    frame = pl.DataFrame({"group": groups, "document": documents.gather(members), "row": members})
    return frame.sort("group", "document", descending=[False, True])["row"].to_numpy()
