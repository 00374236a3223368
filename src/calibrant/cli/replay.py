"""`calibrant replay`: what a run would have come to with the same votes and other settings."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.options import examples, note, quiet_option, run_argument, workspace_option

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["replay"]


@click.command(
    epilog=examples("calibrant replay --threshold 0.7", "calibrant replay first --threshold 0.9 -o stricter.jsonl")
)
@run_argument
@click.option("--aggregation", metavar="METHOD", help="majority_vote, median or average.")
@click.option("--threshold", type=float, metavar="T", help="Where passing begins, from 0 to 1.")
@click.option("--temperature", type=float, metavar="T", help="How verdicts are combined: 0.1 strict to 1.0 lenient.")
@click.option("--metric", "metrics", multiple=True, metavar="NAME", help="Only this metric; may be repeated [all].")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Also write the replayed run to this file."
)
@click.option("--json", "as_json", is_flag=True, help="Print what changed as JSON.")
@workspace_option
@quiet_option
def replay(
    *, name: str, metrics: Sequence[str], output: Path | None, as_json: bool, workspace: Path, **changes: Any
) -> None:
    """Work RUN (the latest, unless named) out anew under another aggregation, threshold or temperature.

    It says what changed. The votes and verdicts are those that were given: nobody is asked, and the run that was kept
    stays as it is.
    """
    from calibrant.runs.exporting import export
    from calibrant.runs.references import reopened
    from calibrant.runs.replaying import replay as replayed

    run = reopened(name, workspace=workspace)
    with closing(run):
        found = replayed(run, metrics=metrics, **changes)
    if output is not None:
        note(f"wrote {export(found.after, output)}")
    click.echo(json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False) if as_json else str(found))
