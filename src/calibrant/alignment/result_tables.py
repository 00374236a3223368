"""Results from outside as tables: files and frames, with the ids of items as texts and every cell as it was."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.items import identifier
from calibrant.readers.columns import as_frame
from calibrant.readers.separators import separator_of
from calibrant.readers.sources import row_source

__all__ = ["id_column_of", "nested_answers", "read_table", "with_ids"]

ID_COLUMNS = ("original_id", "id", "item", "item_id")
FORMATS = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


def read_table(source: Any, *, data_format: str | None = None) -> pl.DataFrame:
    """The rows of a file (CSV, TSV, JSON, JSONL, Parquet), a polars or pandas frame, or a list of dicts.

    Cells of CSV files stay texts, so that an id such as 007 stays what it is.

    >>> read_table([{"original_id": 7, "safe": "yes"}])["safe"].to_list()
    ['yes']
    """
    frame = as_frame(source)
    if frame is not None:
        return frame
    if isinstance(source, str | Path):
        return _read_file(Path(source), data_format)
    if isinstance(source, Mapping):
        return _of_mapping(cast("Mapping[Any, Any]", source))
    if isinstance(source, Sequence):
        return _frame(list(cast("Sequence[Any]", source)))
    raise WrongTypeError(f"results come as a path, a frame, a list of dicts or a mapping, not {shortened(source)}")


def nested_answers(source: Any) -> dict[str, dict[Any, Any]] | None:
    """`{rater: {item: label}}`, given or in a JSON file, with its raters as texts; None for anything else."""
    data = source
    if isinstance(source, str | Path) and Path(source).suffix.lower() == ".json" and Path(source).is_file():
        data = _loaded(Path(source))
    if not isinstance(data, Mapping) or not data:
        return None
    raters = cast("Mapping[Any, Any]", data)
    if not all(isinstance(answers, Mapping) for answers in raters.values()):
        return None
    return {str(rater): dict(answers) for rater, answers in raters.items()}


def id_column_of(frame: pl.DataFrame, id_column: str | None, what: str) -> str:
    """The column that holds the ids: the one that was named, or the first of the usual names."""
    names = [id_column] if id_column else list(ID_COLUMNS)
    found = next((name for name in names if name in frame.columns), None)
    if found is None:
        wanted = repr(names[0]) if id_column else f"{', '.join(map(repr, names[:-1]))} or {names[-1]!r}"
        remedy = "name one of them" if id_column else "rename the one that holds them, or in Python pass id_column="
        raise InputError(
            f"{what} has no column {wanted} with the ids of items; it has: {', '.join(frame.columns)}; {remedy}"
        )
    return found


def with_ids(frame: pl.DataFrame, column: str, what: str) -> pl.DataFrame:
    """The frame with its ids as texts in `original_id`; rows without one, and ids that stand twice, are named."""
    names: list[str] = []
    problems: list[str] = []
    rows: dict[str, int] = {}
    for row, value in enumerate(frame[column].to_list(), start=1):
        try:
            name = identifier(value)
        except InputError as error:
            problems.append(f"row {row}: {error}")
            continue
        if name in rows:
            problems.append(f"rows {rows[name]} and {row} share the id {name!r}; keep one")
        rows.setdefault(name, row)
        names.append(name)
    if problems:
        raise InputError.gathered(what, problems)
    ids = pl.Series("original_id", names, dtype=pl.String)
    return frame.drop(column).insert_column(0, ids)


def _read_file(path: Path, data_format: str | None) -> pl.DataFrame:
    if not path.is_file():
        raise InputError(f"there is no file of results at {path}; give the path of a file that exists")
    chosen = data_format or FORMATS.get(path.suffix.lower())
    readers = {
        "csv": lambda: pl.read_csv(path, infer_schema=False, separator=_separator(path)),
        "tsv": lambda: pl.read_csv(path, infer_schema=False, separator="\t"),
        "json": lambda: _of_json(path),
        "jsonl": lambda: pl.read_ndjson(path, infer_schema_length=None),
        "parquet": lambda: pl.read_parquet(path),
    }
    if chosen not in readers:
        raise InputError(f"{path.name} is of no known format; results come as {', '.join(readers)}")
    try:
        return readers[chosen]()
    except pl.exceptions.PolarsError as error:
        if FORMATS.get(path.suffix.lower()) == chosen and chosen != "parquet":
            _name_lines(path)
        raise InputError(f"{path} cannot be read as {chosen}: {str(error).splitlines()[0]}") from None


def _separator(path: Path) -> str:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        return separator_of(file.readline())


def _name_lines(path: Path) -> None:
    """Raise an error that names the lines of the file that are no rows, if it can be said which."""
    problems = [f"{row.place} {row.problem}" for row in row_source(path) if row.cells is None]
    if problems:
        raise InputError.gathered(path.name, problems)


def _of_json(path: Path) -> pl.DataFrame:
    data = _loaded(path)
    if not isinstance(data, Mapping | list):
        raise InputError(f"{path} holds {shortened(data)}; expected a list of rows, or an object of items and labels")
    return read_table(cast("Any", data))


def _loaded(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}") from None


def _of_mapping(answers: Mapping[Any, Any]) -> pl.DataFrame:
    """The rows of `{item: label}`, or of `{item: {task: label}}`: one of them, and not here this and there that."""
    if not answers:
        raise InputError("the results hold no answer; expected {item: label}")
    single = [item for item, answer in answers.items() if not isinstance(answer, Mapping)]
    if 0 < len(single) < len(answers):
        raise InputError(
            f"{shortened(single[0])} has a label where others have answers by name; "
            "write {item: label} or {rater: {item: label}} throughout"
        )
    return _frame([{"original_id": identifier(item), **_row(answer)} for item, answer in answers.items()])


def _row(answer: Any) -> dict[str, Any]:
    return dict(cast("Mapping[str, Any]", answer)) if isinstance(answer, Mapping) else {"label": answer}


def _frame(rows: list[Any]) -> pl.DataFrame:
    wrong = [row for row in rows if not isinstance(row, Mapping)]
    if wrong:
        raise WrongTypeError(f"rows are mappings of columns to values, not {shortened(wrong[0])}")
    try:
        return pl.DataFrame(rows, infer_schema_length=None)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)
