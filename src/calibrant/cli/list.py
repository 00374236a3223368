"""`calibrant list`: the runs of a workspace, the newest first."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.options import examples, quiet_option, workspace_option

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["list_runs"]


@click.command("list", epilog=examples("calibrant list", "calibrant list --json"))
@workspace_option
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@quiet_option
def list_runs(*, workspace: Path, as_json: bool) -> None:
    """List the runs that were kept, the newest first; "interrupted" is one that was killed."""
    from calibrant.runs.archive import existing_workspace, manifest_of

    with existing_workspace(workspace) as opened:
        manifests = [manifest_of(opened, name) for name in reversed(opened.runs())]
    if as_json:
        rows = [_row(manifest) for manifest in manifests]
        click.echo(json.dumps({"schema": "calibrant.runs/1", "runs": rows}, ensure_ascii=False))
        return
    from calibrant.report.columns import aligned

    header = ("run", "name", "started (UTC)", "status", "items", "pass rates")
    click.echo(aligned(header, [_cells(manifest) for manifest in manifests], right=frozenset({"items"})))


def _row(manifest: Mapping[str, Any]) -> dict[str, Any]:
    from calibrant.runs.at_work import status_of

    report = manifest.get("report", {})
    return {
        "run": manifest["run"],
        "name": manifest["name"],
        "started": manifest["started"],
        "status": status_of(manifest),
        "n": manifest["dataset"]["n"],
        "pass_rates": {metric["name"]: metric["pass_rate"] for metric in report.get("metrics", ())},
    }


def _cells(manifest: Mapping[str, Any]) -> list[str]:
    from calibrant.report.tables import estimate_text

    row = _row(manifest)
    started = datetime.fromtimestamp(row["started"], tz=UTC)
    rates = ", ".join(f"{name} {estimate_text(rate)}" for name, rate in row["pass_rates"].items())
    return [row["run"], row["name"], f"{started:%Y-%m-%d %H:%M}", row["status"], str(row["n"]), rates or "-"]
