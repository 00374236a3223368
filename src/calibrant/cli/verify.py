"""`calibrant verify`: whether a report is what its ratings come to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from calibrant.cli.options import examples, quiet_option, run_argument, workspace_option

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["verify"]


@click.command(epilog=examples("calibrant verify", "calibrant verify first --json"))
@run_argument
@click.option("--baseline", metavar="RUN", help="What its gates were held against, when it is not in the workspace.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
@workspace_option
@quiet_option
def verify(*, name: str, baseline: str | None, as_json: bool, workspace: Path) -> int:
    """Work out every number of the report of RUN anew, from its ratings, and say OK or what differs.

    RUN is a run of the workspace (the latest, unless named) or an exported .jsonl file. Nobody is asked. Exits with 1
    when something differs.
    """
    from calibrant.runs.verifying import verify as verified

    found = verified(name, baseline=baseline, workspace=workspace)
    click.echo(json.dumps(found.to_json(), ensure_ascii=False) if as_json else str(found))
    return 0 if found.is_ok else 1
