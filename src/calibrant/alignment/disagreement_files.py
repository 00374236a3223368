"""Disagreements as a file to work through: both lists, apart, with what the judge and people were shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl

from calibrant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from calibrant.agreement import Disagreements

__all__ = ["write_disagreements"]

FIXED = ("list", "item", "judge", "most_people", "share")


def write_disagreements(path: Path, found: Disagreements, items: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write both lists to a CSV file, where `list` tells them apart, or to a JSON file of two lists; the path.

    `items` are the columns of the data that were shown, by item. On "judge_differs" people agree and the judge does
    not: look at the judge. On "people_differ" look at the task.
    """
    rows = [_row(row, items.get(row["item"], {})) for row in found.to_rows()]
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".json":
        lists = {kind: [row for row in rows if row["list"] == kind] for kind in ("judge_differs", "people_differ")}
        data = {"compared": found.compared, "agreed": found.agreed, **lists}
        path.write_text(json.dumps(data, indent=2, ensure_ascii=False, default=str), encoding="utf-8")
    elif path.suffix == ".csv":
        _table(rows).write_csv(path)
    else:
        raise InputError(f"disagreements are written as .csv or .json, not as {path.name!r}")
    return path


def _row(row: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: value for name, value in row.items() if name not in {"kind", "item"}}
    return {"list": row["kind"], "item": row["item"], **said, **{f"data:{name}": one for name, one in shown.items()}}


def _table(rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """The rows as texts, with a column for everyone who rated any of them; without rows, the heads alone."""
    columns = list(dict.fromkeys([*FIXED, *(name for row in rows for name in row)]))
    return pl.DataFrame(
        {name: [_text(row.get(name)) for row in rows] for name in columns}, schema=dict.fromkeys(columns, pl.String)
    )


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return f"{value:.6g}" if isinstance(value, float) else str(value)
