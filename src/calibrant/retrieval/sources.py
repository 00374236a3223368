"""Everything that qrels and rankings are given as, turned into rows of documents and numbers by query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, compress
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
import polars as pl

from calibrant.errors import InputError, WrongTypeError, counted, shortened
from calibrant.items import identifier
from calibrant.readers.columns import (
    DOCUMENT_NAMES,
    GRADES,
    QUERY_NAMES,
    SCORES,
    Columns,
    as_frame,
    csv_rows,
    may_be_blank,
    parquet_rows,
    rows_of_frame,
)
from calibrant.readers.rows import Rows
from calibrant.readers.trec import QRELS, RANKING, read_trec
from calibrant.retrieval.grouped import Grouped, grouped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = ["RankingRows", "file_blocks", "file_name", "qrels_rows", "ranking_rows", "unjudged_queries"]

MARK = "\n"
MANY_QUERIES = 100
"""From so many queries on, joining their ids pays."""

ITEM_FIELDS = {"ranking": "retrieved_chunks", "qrels": "relevant_ids"}


class RankingRows(NamedTuple):
    """Rows of a ranking, where they came from, and whether their numbers are scores or there is only their order."""

    rows: Grouped
    name: str
    has_scores: bool = True
    path: str | None = None


def qrels_rows(source: Any) -> tuple[Grouped, str]:
    """The judgments in `source`, and its name."""
    if isinstance(source, str | PathLike):
        path = Path(fspath(source))
        return grouped(Rows.joined([rows for rows, _ in file_blocks(path, "qrels")])), file_name(path)
    return _rows_in_memory(source, GRADES, "qrels")[0], "qrels"


def unjudged_queries(source: Any) -> list[str]:
    """The queries that a dict or a list of items names without a single judgment: they count, and have no rows."""
    if as_frame(source) is not None or isinstance(source, str | PathLike) or not isinstance(source, Iterable):
        return []
    if isinstance(source, Mapping):
        named = cast("Mapping[object, Any]", source).items()
        return [identifier(query, "query") for query, documents in named if not len(documents)]
    field = ITEM_FIELDS["qrels"]
    items = [item for item in cast("Iterable[Any]", source) if _has(item, field)]
    return [identifier(_value(item, "id") or _value(item, "query"), "id") for item in items if not _value(item, field)]


def ranking_rows(source: Any) -> RankingRows:
    """The results in `source`, whole."""
    if isinstance(source, str | PathLike):
        path = Path(fspath(source))
        blocks = list(file_blocks(path, "ranking"))
        scored = all(has_scores for _, has_scores in blocks)
        return RankingRows(grouped(Rows.joined([rows for rows, _ in blocks])), file_name(path), scored, str(path))
    rows, has_scores = _rows_in_memory(source, SCORES, "ranking")
    return RankingRows(rows, "ranking", has_scores)


def file_name(path: Path) -> str:
    """What a file's content is called: its name without what says how it is written.

    >>> file_name(Path("runs/bm25.run.gz"))
    'bm25'
    """
    name = path.name.removesuffix(".gz")
    for ending in (".txt", ".run", ".trec", ".qrels", ".res", ".csv", ".tsv", ".parquet"):
        name = name.removesuffix(ending)
    return name or path.name


def file_blocks(path: Path, what: Literal["ranking", "qrels"]) -> Iterator[tuple[Rows, bool]]:
    """The rows of a file, block by block, and whether they have numbers; its ending says how it is written."""
    columns = SCORES if what == "ranking" else GRADES
    ending = path.name.removesuffix(".gz").rpartition(".")[2].lower()
    if ending in {"parquet", "pq"}:
        yield from parquet_rows(path, columns)
    elif ending in {"csv", "tsv"}:
        yield csv_rows(path, columns)
    else:
        layout = RANKING if what == "ranking" else QRELS
        yield from ((rows, True) for rows in read_trec(path, layout))


def _rows_in_memory(source: Any, columns: Columns, name: str) -> tuple[Grouped, bool]:
    frame = as_frame(source)
    if frame is not None:
        return _rows_of_frame(frame, columns, name)
    if isinstance(source, Mapping):
        return _rows_of_mapping(cast("Mapping[object, Any]", source), name)
    if isinstance(source, Iterable):
        return _rows_of_items(list(cast("Iterable[Any]", source)), columns, name)
    raise WrongTypeError(
        f"{name}: expected a path, a frame, a dict by query or a list of items, "
        f"not {type(source).__name__} {shortened(source)}"
    )


def _rows_of_frame(frame: pl.DataFrame, columns: Columns, name: str) -> tuple[Grouped, bool]:
    rows, has_numbers = rows_of_frame(frame, columns, name)
    return grouped(rows), has_numbers


def _rows_of_mapping(data: Mapping[object, Any], name: str) -> tuple[Grouped, bool]:
    """Rows of {query: {document: number}}, or of {query: documents}: in order for a ranking, relevant for qrels."""
    inner = list(data.values())
    scored = [type(documents) is dict or isinstance(documents, Mapping) for documents in inner]
    if any(scored) and not all(scored):
        raise InputError(f"{name}: expected a dict of documents for every query, or a list for every query, got both")
    queries = _query_ids(data)
    if not inner or not scored[0]:
        listed = [_listed(query, documents, name) for query, documents in zip(queries, inner, strict=True)]
        return _rows(queries, listed, np.ones(sum(map(len, listed))), name), False
    return _rows(queries, inner, _values(inner, queries, name), name), True


def _query_ids(data: Mapping[object, Any]) -> list[str]:
    texts = _plain_texts([data])
    return [identifier(query, "query") for query in data] if texts is None else texts.to_list()


def _rows(queries: Sequence[str], documents: Sequence[Collection[object]], values: Any, name: str) -> Grouped:
    """The rows of each query that has some; two queries become one when their ids are the same text."""
    lengths = np.fromiter(map(len, documents), np.int64, len(documents))
    plain = _plain_texts(documents)
    texts = _checked_texts(queries, documents, name) if plain is None else plain
    if len(set(queries)) < len(queries):
        names = pl.Series(list(queries), dtype=pl.String).gather(np.repeat(np.arange(len(queries)), lengths))
        return grouped(Rows(names, texts, values))
    filled = tuple(compress(queries, lengths))
    starts = np.concatenate(([0], np.cumsum(lengths[lengths > 0])))
    is_distinct = plain is not None and all(type(found) is dict for found in documents)
    return Grouped(filled, starts, texts, values, is_distinct)


def _plain_texts(documents: Sequence[Collection[object]]) -> pl.Series | None:
    """All documents' ids when they are texts already; None when one is not, or may be blank."""
    try:
        texts = _joined(documents) if len(documents) >= MANY_QUERIES else None
        if texts is None:
            texts = pl.Series(list(chain.from_iterable(documents)), dtype=pl.String)
    except TypeError:
        return None
    return None if texts.null_count() or may_be_blank(texts) else texts


def _joined(documents: Sequence[Collection[object]]) -> pl.Series | None:
    """All ids, one text a query handed over and split there: half the work of so many short texts.

    None when an id holds the mark between them.
    """
    each = cast("list[Iterable[str]]", [found for found in documents if len(found)])
    texts = pl.Series([MARK.join(ids) for ids in each], dtype=pl.String).str.split(MARK).explode()
    return texts if len(texts) == sum(map(len, documents)) else None


def _checked_texts(queries: Sequence[str], documents: Sequence[Collection[object]], name: str) -> pl.Series:
    """All documents' ids as texts; one that is none is an error."""
    each = [_texts(query, found, name) for query, found in zip(queries, documents, strict=True)]
    return pl.Series(list(chain.from_iterable(each)), dtype=pl.String)


def _values(inner: Sequence[Mapping[object, Any]], queries: Sequence[str], name: str) -> Any:
    try:
        numbers = chain.from_iterable([documents.values() for documents in inner])
        return np.fromiter(numbers, np.float64, sum(map(len, inner)))
    except (TypeError, ValueError):
        problems = [
            f"query {shortened(query)}: expected a number for document {shortened(document)}, got {shortened(value)}"
            for query, documents in zip(queries, inner, strict=True)
            for document, value in documents.items()
            if not _is_number(value)
        ]
        raise InputError.gathered(name, problems or ["a value is no number"]) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str)


def _texts(query: str, documents: Iterable[object], name: str) -> list[str]:
    """The documents' ids as texts; an error names the query."""
    try:
        return [identifier(document, "document") for document in documents]
    except InputError as error:
        raise InputError(f"{name}, query {shortened(query)}: {error}") from None


def _listed(query: str, documents: Any, name: str) -> list[object]:
    """A query's documents, given as ids or as anything that has an id."""
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise WrongTypeError(
            f"{name}, query {shortened(query)}: expected a dict or a list of documents, got {shortened(documents)}"
        )
    return [_identified(document) for document in cast("Iterable[Any]", documents)]


def _identified(document: Any) -> object:
    """A document's id, where it is given as a mapping or an object that has one; else what was given."""
    if isinstance(document, Mapping):
        return cast("Mapping[str, object]", document).get("id", cast("object", document))
    return getattr(document, "id", document)


def _rows_of_items(items: Sequence[Any], columns: Columns, name: str) -> tuple[Grouped, bool]:
    """Rows of items with an id and their documents, of records, or of triples."""
    field = ITEM_FIELDS[columns.what]
    if items and all(_has(item, field) for item in items):
        return _rows_of_mapping(_documents_by_item(items, field, name), name)
    records = [_record(item, columns, name) for item in items]
    names = dict.fromkeys(chain.from_iterable(records))
    frame = pl.DataFrame({key: pl.Series([record.get(key) for record in records], strict=False) for key in names})
    if not records:
        return grouped(Rows.joined([])), True
    return _rows_of_frame(frame, columns, name)


def _documents_by_item(items: Sequence[Any], field: str, name: str) -> dict[object, Any]:
    by_item: dict[object, Any] = {}
    for item in items:
        key = identifier(_value(item, "id") or _value(item, "query"), "id")
        if key in by_item:
            raise InputError(f"{name}: two items have the id {shortened(key)}; ids are unique")
        by_item[key] = _value(item, field) or ()
    return by_item


def _record(item: Any, columns: Columns, name: str) -> dict[str, Any]:
    if isinstance(item, tuple | list):
        return _triple(cast("Sequence[Any]", item), columns, name)
    if isinstance(item, Mapping):
        return dict(cast("Mapping[str, Any]", item))
    record = {key: _value(item, key) for key in (*QUERY_NAMES, *DOCUMENT_NAMES, *columns.numbers) if _has(item, key)}
    if not record:
        raise WrongTypeError(f"{name}: expected items, records or triples, got {shortened(item)}")
    return record


def _triple(item: Sequence[Any], columns: Columns, name: str) -> dict[str, Any]:
    """A row given by its place: query, document and number; a ranking may leave the number to the order of the rows."""
    fields = ("query", "document", columns.numbers[0])
    if not len(fields) - (not columns.required) <= len(item) <= len(fields):
        raise InputError(
            f"{name}: expected rows of ({', '.join(fields)}), got {counted(len(item), 'field')}: {shortened(item)}"
        )
    return dict(zip(fields, item, strict=False))


def _has(item: Any, field: str) -> bool:
    return field in item if isinstance(item, Mapping) else hasattr(item, field)


def _value(item: Any, field: str) -> Any:
    return cast("Mapping[str, Any]", item).get(field) if isinstance(item, Mapping) else getattr(item, field, None)
