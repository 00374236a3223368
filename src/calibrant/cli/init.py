"""`calibrant init`: a commented plan and a rubric for the user's own data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["init"]


@click.command()
@click.argument("data", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--model", metavar="PROVIDER/MODEL", help="The judge [the model in CALIBRANT_MODEL].")
@click.option("--force", is_flag=True, help="Replace files that are there already.")
def init(data: Path, *, model: str | None, force: bool) -> None:
    """Write plan.yaml, rubrics/helpful.md and checks.py beside DATA, for its own columns."""
    from calibrant.errors import InputError
    from calibrant.readers.sources import row_source
    from calibrant.runs.templates import checks_text, columns_guess, plan_text, rubric_text

    rows = row_source(data)
    first = next(iter(rows), None)
    columns = rows.columns or (tuple(first.cells) if first is not None and isinstance(first.cells, dict) else ())
    if not columns:
        raise InputError(f"{data.name} has no rows to learn its columns from")
    fields = columns_guess(columns)
    judge = model or os.environ.get("CALIBRANT_MODEL")
    _write(
        data.parent,
        {
            "plan.yaml": plan_text(data.name, columns, fields=fields, model=judge),
            "rubrics/helpful.md": rubric_text(fields),
            "checks.py": checks_text(),
        },
        force=force,
    )
    guessed = ", ".join(f"{name} from {column!r}" for name, column in fields.items()) or "none; name them in plan.yaml"
    click.echo(f"fields: {guessed}")
    if judge is None:
        click.echo("no judge is named yet: put one into plan.yaml to have rubrics/helpful.md asked")
    click.echo(f"next: calibrant run {data.parent / 'plan.yaml'}")


def _write(folder: Path, texts: Mapping[str, str], *, force: bool) -> None:
    """Write all files, or none when one is there already."""
    from calibrant.errors import InputError

    present = [name for name in texts if (folder / name).exists()]
    if present and not force:
        raise InputError(f"{', '.join(present)} exist already in {folder}; --force replaces them")
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        click.echo(f"wrote {place}")
