"""`calibrant init`: a commented plan and a rubric for the user's own data."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.options import examples, is_quiet, quiet_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.readers.sources import RowSource

__all__ = ["init"]


@click.command(epilog=examples("calibrant init items.csv", "calibrant init items.csv --model openai/NAME --force"))
@click.argument("data", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--model", metavar="PROVIDER/MODEL", help="The judge [the model in CALIBRANT_MODEL].")
@click.option("--force", is_flag=True, help="Replace files that are there already.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
@quiet_option
def init(data: Path, *, model: str | None, force: bool, as_json: bool) -> None:
    """Write plan.yaml, rubrics/helpful.md and checks.py beside DATA, for its own columns."""
    from calibrant.errors import InputError
    from calibrant.readers.sources import row_source
    from calibrant.runs.templates import checks_text, columns_guess, plan_text, rubric_text

    rows = row_source(data)
    first = next(iter(rows), None)
    columns = rows.columns or (tuple(first.cells) if first is not None and isinstance(first.cells, dict) else ())
    if not columns:
        raise InputError(f"{data.name} has no rows to learn its columns from")
    fields = columns_guess(columns, unique=_unique_columns(rows, columns))
    judge = model or os.environ.get("CALIBRANT_MODEL")
    written = _write(
        data.parent,
        {
            "plan.yaml": plan_text(data.name, columns, fields=fields, model=judge),
            "rubrics/helpful.md": rubric_text(fields),
            "checks.py": checks_text(),
        },
        force=force,
    )
    if as_json:
        told = {"schema": "calibrant.init/1", "written": [str(place) for place in written], "fields": fields}
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    for place in written:
        click.echo(f"wrote {place}")
    if is_quiet():
        return
    guessed = ", ".join(f"{name} from {column!r}" for name, column in fields.items()) or "none; name them in plan.yaml"
    click.echo(f"fields: {guessed}")
    if "answer" not in fields:
        click.echo("no column looks like the answer: name it in plan.yaml (columns: {answer: ...}), or name a system")
    if judge is None:
        click.echo("no judge is named yet: put one into plan.yaml to have rubrics/helpful.md asked")
    click.echo(f"next: calibrant run {data.parent / 'plan.yaml'}")


def _unique_columns(rows: RowSource, columns: Sequence[str]) -> set[str]:
    """The columns whose cells are all filled and all different, as ids are."""
    seen: dict[str, set[str]] = {column: set() for column in columns}
    for row in rows:
        cells: Mapping[str, Any] = row.cells if isinstance(row.cells, dict) else {}
        for column in [*seen]:
            cell = cells.get(column)
            text = "" if cell is None else str(cell)
            if not text.strip() or text in seen[column]:
                del seen[column]
            else:
                seen[column].add(text)
    return {*seen}


def _write(folder: Path, texts: Mapping[str, str], *, force: bool) -> list[Path]:
    """Write all files, or none when one is there already, and return their paths."""
    from calibrant.errors import InputError

    present = [name for name in texts if (folder / name).exists()]
    if present and not force:
        raise InputError(f"{', '.join(present)} exist already in {folder}; --force replaces them")
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]
