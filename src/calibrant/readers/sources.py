"""Rows at the edge: files, frames and lists as an iterator that can be started again, and never holds them all."""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from calibrant.errors import InputError, WrongTypeError, counted, shortened
from calibrant.readers.separators import separator_of

__all__ = ["FORMATS", "Row", "RowSource", "row_source"]

FORMATS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
"""The file names' endings that can be read."""

ROWS_AT_A_TIME = 4096


class Row(NamedTuple):
    """One row: where it stands, and its cells by column; `problem` says why there are none."""

    place: str
    cells: Any
    problem: str = ""


class RowSource:
    """Rows that can be gone through as often as needed; a file is opened anew each time.

    `columns` are the names in the header, None where every row brings its own. `is_text` says that all cells are texts,
    so that lists and numbers in them are still to be read. `title` is what errors call it: a file by its whole name.
    """

    def __init__(
        self,
        name: str,
        rows: Callable[[], Iterator[Row]],
        *,
        columns: Sequence[str] | None = None,
        is_text: bool = False,
    ) -> None:
        self.name = name
        self.title = name
        self.columns = None if columns is None else tuple(columns)
        self.is_text = is_text
        self._rows = rows

    def __iter__(self) -> Iterator[Row]:
        return self._rows()


def row_source(source: Any, *, name: str = "") -> RowSource:
    """The rows of a path (CSV, TSV, JSONL, JSON, Parquet), of a polars or pandas frame, or of a list.

    >>> [row.cells for row in row_source([{"query": "Hi?"}])]
    [{'query': 'Hi?'}]
    """
    if isinstance(source, str | Path):
        found = _file(Path(source), name)
        found.title = Path(source).name
        return found
    if isinstance(source, bytes | Mapping):
        raise WrongTypeError(f"a dataset is a path, a frame or a list of items, not {shortened(source)}")
    if hasattr(source, "collect_schema") and hasattr(source, "lazy"):
        return _polars(source, name or "frame")
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        return _pandas(source, name or "frame")
    if isinstance(source, Iterable):
        return _list(cast("Iterable[Any]", source), name)
    raise WrongTypeError(f"a dataset is a path, a frame or a list of items, not {shortened(source)}")


def _file(path: Path, name: str) -> RowSource:
    suffix, name = path.suffix.lower(), name or path.stem
    if suffix not in FORMATS:
        raise InputError(f"cannot tell the format of {path.name}; a dataset's name ends in {', '.join(FORMATS)}")
    if not path.is_file():
        raise InputError(f"there is no file {path}; a dataset's path is relative to the plan, or to the current folder")
    if suffix in {".csv", ".tsv"}:
        return _csv(path, name, "\t" if suffix == ".tsv" else None)
    if suffix == ".parquet":
        return _parquet(path, name)
    if suffix == ".json":
        return _list(_json_items(path), name)
    return RowSource(name, lambda: _jsonl_rows(path))


def _csv(path: Path, name: str, delimiter: str | None) -> RowSource:
    """The rows below the header, which tells the delimiter unless one is given."""
    # A retrieved document may be longer than the 128 KiB that the csv module allows a cell unless it is told.
    csv.field_size_limit(max(csv.field_size_limit(), sys.maxsize >> 32))
    delimiter, header = _header(path, delimiter)
    if not header:
        raise InputError(f"{path.name} is empty; its first line names the columns")
    names = [column.strip() for column in header]
    problems = [f"line 1: column {place} has no name" for place, column in enumerate(names, 1) if not column]
    problems += [
        f"line 1: two columns are called {one!r}" for one in sorted(set(names)) if one and names.count(one) > 1
    ]
    if problems:
        raise InputError.gathered(path.name, problems)
    return RowSource(name, lambda: _csv_rows(path, names, delimiter), columns=names, is_text=True)


def _header(path: Path, delimiter: str | None) -> tuple[str, list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            chosen = delimiter or separator_of(file.readline())
            file.seek(0)
            return chosen, next(csv.reader(file, delimiter=chosen), [])
        except UnicodeDecodeError:
            raise _not_utf8(path) from None


def _csv_rows(path: Path, columns: list[str], delimiter: str) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        start = 1
        try:
            next(reader)
            for cells in reader:
                place, start = f"line {start + 1}", reader.line_num
                if len(cells) == len(columns):
                    yield Row(place, {name: cell for name, cell in zip(columns, cells, strict=True) if cell != ""})
                elif cells:
                    yield Row(place, None, f"has {counted(len(cells), 'cell')}, the header has {len(columns)}")
        except UnicodeDecodeError:
            raise _not_utf8(path) from None
        except csv.Error as error:
            raise InputError(f"{path.name}, line {reader.line_num}: {error}") from None


def _not_utf8(path: Path) -> InputError:
    """The error that names the first line which is not UTF-8."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return InputError(f"{path.name} is not UTF-8: line {number} has the byte {line[error.start]:#04x}")
    return InputError(f"{path.name} is not UTF-8")


def _jsonl_rows(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if text.strip():
                yield _json_row(f"line {number}", text)


def _json_row(place: str, text: bytes) -> Row:
    try:
        cells = json.loads(text)
    except ValueError as error:
        return Row(place, None, f"is not JSON ({error})")
    if not isinstance(cells, dict):
        return Row(place, None, f"expected a JSON object, got {shortened(cells)}")
    return Row(place, cells)


def _json_items(path: Path) -> list[Any]:
    """The items of a JSON file: a list, or an object that holds it as `items`."""
    try:
        content = json.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except ValueError as error:
        raise InputError(f"{path.name} is not JSON: {error}") from None
    found = cast("Any", content.get("items") if isinstance(content, dict) else content)
    if not isinstance(found, list):
        raise InputError(
            f"{path.name} holds a list of items, or an object with one as `items`, not {shortened(content)}"
        )
    return cast("list[Any]", found)


def _parquet(path: Path, name: str) -> RowSource:
    import polars as pl

    try:
        columns = pl.scan_parquet(path).collect_schema().names()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path.name} is not a Parquet file: {error}") from None
    return RowSource(name, lambda: _lazy_rows(pl.scan_parquet(path)), columns=columns)


def _polars(frame: Any, name: str) -> RowSource:
    return RowSource(name, lambda: _lazy_rows(frame.lazy()), columns=frame.collect_schema().names())


def _lazy_rows(frame: Any) -> Iterator[Row]:
    number = 0
    for part in frame.collect_batches(chunk_size=ROWS_AT_A_TIME, maintain_order=True):
        for cells in part.iter_rows(named=True):
            number += 1
            yield Row(f"row {number}", _given(cells))


def _pandas(frame: Any, name: str) -> RowSource:
    def rows() -> Iterator[Row]:
        for start in range(0, len(frame), ROWS_AT_A_TIME):
            part = frame.iloc[start : start + ROWS_AT_A_TIME].to_dict("records")
            for number, cells in enumerate(part, start + 1):
                yield Row(f"row {number}", _given({str(column): cell for column, cell in cells.items()}))

    return RowSource(name, rows, columns=[str(column) for column in frame.columns])


def _list(items: Iterable[Any], name: str) -> RowSource:
    """The rows of a list or dataset; an iterator, which can be gone through only once, is kept as a list."""
    kept = list(cast("Iterable[Any]", items)) if isinstance(items, Iterator) else items

    def rows() -> Iterator[Row]:
        for number, item in enumerate(kept, 1):
            yield Row(f"item {number}", _given(item) if isinstance(item, dict) else item)

    return RowSource(name or str(getattr(items, "name", "")) or "items", rows)


def _given(cells: Mapping[str, Any]) -> Mapping[str, Any]:
    """The cells that hold something: in frames an absent number is NaN."""
    return {name: cell for name, cell in cells.items() if cell is not None and not _is_absent(cell)}


def _is_absent(cell: Any) -> bool:
    if isinstance(cell, float):
        return math.isnan(cell)
    return type(cell).__name__ in {"NAType", "NaTType"}
