"""Tables as items: CSV, JSONL, JSON, Parquet, frames and lists, read as a stream, every bad row named."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, cast

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.items import Dataset, EvalInput, ItemDigest, identifier
from calibrant.readers.sources import Row, RowSource, row_source

__all__ = ["ItemTable", "Survey", "read_items"]

MOST_PROBLEMS = 1000
"""After so many bad rows reading stops: the file is another one than was meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What one passage through a table finds: how many items, their hashes, how many clusters, and the first few.

    `fields` are those that at least one item has.
    """

    n: int
    hash: str
    contents: str
    clusters: int | None
    first: tuple[EvalInput, ...]
    fields: frozenset[str] = frozenset()


class ItemTable:
    """The items of a table, read anew each time they are gone through, so that a million need no memory.

    `columns` says which column holds which field (`{"query": "question"}`); columns that are not named keep their own
    name. `cluster` is the column or field that says which items belong together.
    """

    def __init__(
        self, rows: RowSource, *, columns: Mapping[str, str] | None = None, cluster: str | None = None
    ) -> None:
        self.rows = rows
        self.name = rows.name
        self.title = rows.title
        self.cluster = cluster
        self._fields = _fields_of_columns(rows, dict(columns or {}))
        self._own_clusters: Sequence[str] | None = None
        if cluster is not None and rows.columns is not None and cluster not in {*rows.columns, *self._fields.values()}:
            raise InputError(f"{rows.title} has no column {cluster!r} for clusters; it has: {', '.join(rows.columns)}")

    @classmethod
    def of(cls, dataset: Dataset) -> ItemTable:
        """The items of a dataset, with its clusters."""
        table = cls(row_source(dataset, name=dataset.name))
        table._own_clusters = dataset.clusters
        return table

    @property
    def has_clusters(self) -> bool:
        """Whether items belong to clusters."""
        return self.cluster is not None or self._own_clusters is not None

    def __iter__(self) -> Iterator[EvalInput]:
        """The items in order. A row that is none raises InputError, naming it."""
        for row in self.rows:
            item, problem = self._item(row)
            if item is None:
                raise InputError.gathered(self.title, [problem])
            yield item

    def cluster_of(self, item: EvalInput, position: int) -> str:
        """The cluster that the item at `position` belongs to."""
        if self._own_clusters is not None:
            return self._own_clusters[position]
        return identifier(item.get(self._fields.get(self.cluster or "", self.cluster or "")), "cluster")

    def survey(self, *, first: int = 20) -> Survey:
        """Go through the whole table: count and hash the items, and raise one error for all rows that are none."""
        digest, names, problems = ItemDigest(), array("q"), list[str]()
        clusters: set[str] = set()
        sample: list[EvalInput] = []
        fields = set[str]()
        for row in self.rows:
            item, problem = self._checked(row, clusters, len(names))
            if item is None:
                problems.append(problem)
                if len(problems) >= MOST_PROBLEMS:
                    break
                continue
            digest.add(item)
            fields.update(item.to_json())
            names.append(_short_hash(item.id))
            if len(sample) < first:
                sample.append(item)
        problems += self._repeated(names)
        if problems:
            raise InputError.gathered(self.title, problems)
        return Survey(
            n=digest.n,
            hash=digest.inputs,
            contents=digest.contents,
            clusters=len(clusters) if self.has_clusters else None,
            first=tuple(sample),
            fields=frozenset(fields),
        )

    def _checked(self, row: Row, clusters: set[str], position: int) -> tuple[EvalInput | None, str]:
        item, problem = self._item(row)
        if item is not None and self.has_clusters:
            try:
                clusters.add(self.cluster_of(item, position))
            except InputError:
                return None, f"{row.place}: has no {self.cluster!r}, which says its cluster"
        return item, problem

    def _item(self, row: Row) -> tuple[EvalInput | None, str]:
        if isinstance(row.cells, EvalInput):
            return row.cells, ""
        if row.problem:
            return None, f"{row.place}: {row.problem}"
        if not isinstance(row.cells, Mapping):
            return None, f"{row.place}: expected an EvalInput or a mapping of its fields, got {shortened(row.cells)}"
        cells = cast("Mapping[str, Any]", row.cells)
        try:
            return EvalInput.from_dict(self._named(cells)), ""
        except (InputError, WrongTypeError) as error:
            return None, f"{row.place}: {error}"

    def _named(self, cells: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._fields:
            taken = set(self._fields.values())
            cells = {
                self._fields.get(column, column): cell
                for column, cell in cells.items()
                if column in self._fields or column not in taken
            }
        return {name: _read_cell(name, cell) for name, cell in cells.items()} if self.rows.is_text else cells

    def _repeated(self, names: array[int]) -> list[str]:
        """The problems of ids that stand in several rows. The hashes find that there are some; a second pass, which."""
        if len(set(names) if len(names) < 10_000 else _distinct(names)) == len(names):
            return []
        places: dict[str, list[str]] = {}
        suspects = _twice(names)
        for row in self.rows:
            item, _ = self._item(row)
            if item is not None and _short_hash(item.id) in suspects:
                places.setdefault(item.id, []).append(row.place)
        return [
            f"{', '.join(rows[:5])}{' ...' if len(rows) > 5 else ''} share the id {name!r}; give each an id of its own"
            for name, rows in places.items()
            if len(rows) > 1
        ]


def read_items(
    source: Any, *, columns: Mapping[str, str] | None = None, cluster: str | None = None, name: str = ""
) -> ItemTable:
    """The items of a path, a polars or pandas frame, a list of dicts or EvalInputs, or a Dataset.

    >>> [item.query for item in read_items([{"question": "Hi?"}], columns={"query": "question"})]
    ['Hi?']
    """
    if isinstance(source, ItemTable):
        return source
    if isinstance(source, Dataset) and cluster is None and not columns:
        return ItemTable.of(source)
    return ItemTable(row_source(source, name=name), columns=columns, cluster=cluster)


def _fields_of_columns(rows: RowSource, columns: Mapping[str, str]) -> dict[str, str]:
    """Which field each renamed column becomes; a column that does not exist is an error that lists those that do."""
    known = rows.columns
    if known is None:
        return {column: name for name, column in columns.items()}
    listed = ", ".join(known)
    problems = [
        f"{name}: there is no column {column!r}; it has: {listed}"
        for name, column in columns.items()
        if column not in known
    ]
    fields = {column: name for name, column in columns.items()}
    problems += [
        f"column {column!r} cannot be a field of that name; rename it by columns: {{my_{column}: {column}}}"
        for column in known
        if column not in fields and column not in {*EvalInput.FIELDS, "id"} and _is_taken(column)
    ]
    if problems:
        raise InputError.gathered(rows.title, problems)
    return fields


def _is_taken(column: str) -> bool:
    return column.startswith("_") or hasattr(EvalInput, column)


def _read_cell(name: str, cell: str) -> Any:
    """A text cell as its field has it: lists and mappings stand in it as JSON."""
    if name not in {"contexts", "retrieved_chunks", "relevant_ids", "metadata"}:
        return cell
    wanted = dict if name == "metadata" else list
    try:
        value = json.loads(cell)
    except ValueError:
        value = None
    if isinstance(value, wanted):
        return value
    if name == "contexts":
        return cell
    example = '{"source": "web"}' if wanted is dict else '["d1", "d2"]'
    raise InputError(f"{name} is written as JSON, such as {example}, not {shortened(cell)}")


def _short_hash(name: str) -> int:
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big", signed=True)


def _distinct(names: array[int]) -> Any:
    import numpy as np

    return np.unique(np.frombuffer(names, dtype=np.int64))


def _twice(names: array[int]) -> set[int]:
    seen: set[int] = set()
    return {name for name in names if name in seen or seen.add(name)}
