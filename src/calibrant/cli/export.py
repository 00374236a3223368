"""`calibrant export`: a run as a file, to be kept, read by other tools, or used as a baseline."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import click

from calibrant.cli.options import examples, is_quiet, quiet_option, run_argument, workspace_option

__all__ = ["export"]


@click.command(
    epilog=examples("calibrant export latest -o baselines/main.jsonl", "calibrant export first -o ratings.parquet")
)
@run_argument
@click.option(
    "-o",
    "--output",
    "target",
    type=click.Path(path_type=Path),
    metavar="FILE",
    required=True,
    help="The file to write.",
)
@click.option("--format", "form", metavar="FORMAT", help="jsonl, csv or parquet [by the ending of the file].")
@click.option("--no-text", is_flag=True, help="Leave out explanations and messages.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
@workspace_option
@quiet_option
def export(*, name: str, target: Path, form: str | None, no_text: bool, as_json: bool, workspace: Path) -> None:
    """Write the ratings of RUN (the latest, unless named), votes and results, to a file.

    A .jsonl file opens again: compare with it, verify it, or commit it as the baseline of a plan. A .csv or .parquet
    file is a table with one row a rating.
    """
    from calibrant.runs.exporting import export as exported
    from calibrant.runs.references import reopened

    run = reopened(name, workspace=workspace)
    with closing(run):
        path = exported(run, target, format=form, text=not no_text)  # pyright: ignore[reportArgumentType] - checked by export
        ratings = sum(1 for _ in run.ratings())
    if run.status != "complete" and not is_quiet():
        click.echo(f"note: {run.id} is {run.status}: what it did not reach is not in the file", err=True)
    if as_json:
        told = {"schema": "calibrant.exported/1", "run": run.id, "path": str(path), "ratings": ratings}
        click.echo(json.dumps(told, ensure_ascii=False))
    else:
        click.echo(f"{path}: {ratings:,} ratings of {run.id}")
