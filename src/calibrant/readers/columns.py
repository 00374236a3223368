"""Frames and their files (Parquet, CSV) as rows of a query, a document and a number, by what columns are called."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

from calibrant.errors import InputError, counted, shortened
from calibrant.readers.rows import BROKEN_GZIP, PROBLEM_LIMIT, Rows, broken_gzip, existing_file
from calibrant.readers.separators import separator_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["GRADES", "SCORES", "Columns", "as_frame", "csv_rows", "may_be_blank", "parquet_rows", "rows_of_frame"]

QUERY_NAMES = ("query", "query_id", "qid", "q_id", "topic", "topic_id")
DOCUMENT_NAMES = ("document", "document_id", "doc_id", "docid", "docno", "doc", "item_id", "item", "id")
SCORE_NAMES = ("score", "sim", "similarity")
GRADE_NAMES = ("grade", "relevance", "rel", "label", "judgment")
RANK_NAMES = ("rank",)
SLICE_ROWS = 1 << 20


@dataclass(frozen=True, slots=True)
class Columns:
    """What a table is read as: its kind, the names its number may have, and whether it may have none."""

    what: str
    numbers: tuple[str, ...]
    required: bool


SCORES = Columns("ranking", SCORE_NAMES, required=False)
GRADES = Columns("qrels", GRADE_NAMES, required=True)


def rows_of_frame(
    frame: pl.DataFrame, columns: Columns, name: str, *, lines: Sequence[int] | None = None
) -> tuple[Rows, bool]:
    """The rows of `frame`, and whether they have numbers of their own; a ranking may have ranks, or its order, instead.

    Ids that are whole numbers become their digits; every cell that is empty or no number is named by its row, or by
    its line in the file where `lines` are known.
    """
    query = _column(frame, QUERY_NAMES, name)
    document = _column(frame, DOCUMENT_NAMES, name)
    number = _found(frame, columns.numbers)
    rank = _found(frame, RANK_NAMES) if number is None and not columns.required else None
    if number is None and columns.required:
        raise _missing(frame, columns.numbers, name)
    problems: list[tuple[int, str]] = []
    ids = [_ids(frame[column], problems) for column in (query, document)]
    source = number or rank
    values = np.zeros(frame.height) if source is None else _numbers(frame[source], problems)
    if problems:
        places = [(f"line {lines[row]}" if lines else f"row {row + 1}", text) for row, text in sorted(problems)]
        raise InputError.gathered(name, [f"{place}: {text}" for place, text in places[:PROBLEM_LIMIT]])
    return Rows(ids[0], ids[1], -values if number is None else values), source is not None


def as_frame(source: Any) -> pl.DataFrame | None:
    """`source` as a polars frame, when it is one or pandas has made it; None for anything else."""
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if hasattr(source, "columns") and hasattr(source, "iloc"):
        return pl.DataFrame({str(column): _pandas_column(source[column]) for column in source.columns})
    return None


def parquet_rows(path: str | Path, columns: Columns, *, slice_rows: int = SLICE_ROWS) -> Iterator[tuple[Rows, bool]]:
    """The rows of a Parquet file, slice by slice, as `rows_of_frame` gives them."""
    lazy = pl.scan_parquet(existing_file(Path(path), columns.what))
    known = {*QUERY_NAMES, *DOCUMENT_NAMES, *columns.numbers, *RANK_NAMES}
    try:
        kept = lazy.select([name for name in lazy.collect_schema().names() if name.strip().lower() in known])
        height = lazy.select(pl.len()).collect().item()
        for first in range(0, max(height, 1), slice_rows):
            yield rows_of_frame(kept.slice(first, slice_rows).collect(), columns, str(path))
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{path} cannot be read as a Parquet file: {error}") from error


def csv_rows(path: str | Path, columns: Columns) -> tuple[Rows, bool]:
    """The rows of a CSV or TSV file with a header, gzipped or not, as `rows_of_frame` gives them.

    Every line that is wrong is named: the file is then read a second time, line by line.
    """
    file_path = existing_file(Path(path), columns.what)
    try:
        separator = _separator(file_path)
        try:
            frame = pl.read_csv(file_path, separator=separator, infer_schema=False)
            return rows_of_frame(frame, columns, str(path))
        except (pl.exceptions.PolarsError, OSError, InputError):
            frame, lines = _exact_csv(file_path, separator)
            return rows_of_frame(frame, columns, str(path), lines=lines)
    except BROKEN_GZIP as error:
        raise broken_gzip(path, error) from error


def _exact_csv(path: Path, separator: str) -> tuple[pl.DataFrame, list[int]]:
    """The file read line by line: the frame, and the line that each row ends on; another length is an error."""
    problems: list[str] = []
    kept: list[Sequence[str]] = []
    numbers: list[int] = []
    with _text(path) as file:
        lines = csv.reader(file, delimiter=separator)
        header = next(lines, [])
        for fields in lines:
            if fields and len(fields) != len(header):
                problems.append(f"line {lines.line_num}: expected {counted(len(header), 'field')}, got {len(fields)}")
            elif fields:
                kept.append(fields)
                numbers.append(lines.line_num)
            if len(problems) >= PROBLEM_LIMIT:
                break
    if not header:
        raise InputError(f"{path} is empty; expected a header line with the names of its columns")
    if problems:
        raise InputError.gathered(str(path), problems)
    return pl.DataFrame(kept, schema=dict.fromkeys(header, pl.String), orient="row"), numbers


def _text(path: Path) -> Any:
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    opened = gzip.open if is_gzip else open
    return opened(path, "rt", encoding="utf-8-sig", errors="replace", newline="")


def _separator(path: Path) -> str:
    with _text(path) as file:
        header = file.readline()
    return separator_of(header)


def _found(frame: pl.DataFrame, names: Sequence[str]) -> str | None:
    by_name = {column.strip().lower(): column for column in frame.columns}
    return next((by_name[name] for name in names if name in by_name), None)


def _column(frame: pl.DataFrame, names: Sequence[str], where: str) -> str:
    column = _found(frame, names)
    if column is None:
        raise _missing(frame, names, where)
    return column


def _missing(frame: pl.DataFrame, names: Sequence[str], where: str) -> InputError:
    return InputError(
        f"{where} has no column {names[0]!r} (nor {', '.join(names[1:])}); "
        f"it has {shortened(', '.join(frame.columns), 200)}"
    )


def _ids(column: pl.Series, problems: list[tuple[int, str]]) -> pl.Series:
    """The column as texts: whole numbers in digits, also those that an empty cell had turned into floats."""
    texts = column
    if column.dtype.is_float():
        whole = column.cast(pl.Int64, strict=False)
        texts = pl.select(pl.when(whole.cast(pl.Float64) == column).then(whole)).to_series()
    if texts.dtype == pl.Object:
        texts = pl.Series([None if value is None else str(value) for value in column.to_list()], dtype=pl.String)
    texts = texts.cast(pl.String)
    if texts.null_count() or may_be_blank(texts):
        wrong = texts.is_null() | (texts.str.strip_chars() == "")
        _name_rows(column, wrong, "a text or a whole number", problems)
    return texts


def may_be_blank(texts: pl.Series) -> bool:
    """Whether a text begins outside of visible ASCII, as blank ones do: much quicker to see than that one is blank."""
    return bool((texts < "!").any() or (texts > "~").any())


def _numbers(column: pl.Series, problems: list[tuple[int, str]]) -> Any:
    if column.dtype == pl.Object:
        column = pl.Series(column.to_list(), strict=False)
    numbers = column.cast(pl.Float64, strict=False)
    _name_rows(column, numbers.is_null(), "a number", problems)
    return numbers.rechunk().to_numpy()


def _name_rows(column: pl.Series, wrong: pl.Series, expected: str, problems: list[tuple[int, str]]) -> None:
    problems.extend(
        (row, f"expected {expected} as the {column.name}, got {shortened(column[row])}")
        for row in cast("list[int]", wrong.arg_true().head(PROBLEM_LIMIT).to_list())
    )


def _pandas_column(column: Any) -> pl.Series:
    values = column.to_numpy()
    return pl.Series(values.tolist(), strict=False) if values.dtype == object else pl.Series(values)
