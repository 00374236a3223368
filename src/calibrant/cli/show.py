"""`calibrant show`: a run that was kept, and the items that did not pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.options import examples, quiet_option

if TYPE_CHECKING:
    from collections.abc import Iterator

    from calibrant.items import EvalInput
    from calibrant.ratings import Rating
    from calibrant.runs.records import Run

__all__ = ["show"]

TEXT_LENGTH = 200


@click.command(epilog=examples("calibrant show", "calibrant show latest --failing"))
@click.argument("name", metavar="RUN", default="latest")
@click.option("--failing", is_flag=True, help="Also the items that did not pass or could not be rated, and why.")
@click.option("--workspace", type=click.Path(path_type=Path), default=Path(), help="The folder of the runs [here].")
@click.option("--json", "as_json", is_flag=True, help="Print the run as JSON.")
@quiet_option
def show(name: str, *, failing: bool, workspace: Path, as_json: bool) -> None:
    """Show RUN: its name, the beginning of it, or `latest`."""
    from calibrant.runs.archive import existing_workspace, manifest_of
    from calibrant.runs.keeping import WorkspaceKeeper
    from calibrant.runs.reopening import kept_run

    with existing_workspace(workspace) as opened:
        found = kept_run(WorkspaceKeeper(opened), name)
        report = manifest_of(opened, name).get("report") or found.to_json()
        rows = [*_failing(found)] if failing else []
    if as_json:
        given = {**report, "failing": rows} if failing else report
        click.echo(json.dumps(given, ensure_ascii=False, allow_nan=False))
        return
    from calibrant.report.tables import run_text

    click.echo(run_text(report))
    for row in rows:
        click.echo(f"\n{row['metric']}  item {row['item']}: {row['what']}")
        click.echo("".join(f"  {name}: {text}\n" for name, text in row["shown"].items() if text), nl=False)


def _failing(found: Run) -> Iterator[dict[str, Any]]:
    items = {item.id: item for item in found.items()}
    for summary in found.metrics:
        for rating in found.ratings(summary.name):
            if rating.role == "result" and (what := _what(summary.spec.outcome, rating)):
                shown = {**_texts(items[rating.item]), "because": _short(rating.explanation)}
                yield {"metric": summary.name, "item": rating.item, "what": what, "shown": shown}


def _what(outcome: Any, rating: Rating) -> str:
    """What is the matter with a rating; empty when it passed, or when there was nothing to rate."""
    if rating.failure is not None:
        return "" if rating.status == "not_applicable" else f"{rating.status}, {rating.failure}"
    counted = outcome(rating.value)
    return "" if counted.passed is not False else f"scored {rating.value}"


def _texts(item: EvalInput) -> dict[str, str]:
    return {name: _short(item.get(name, "")) for name in ("query", "answer", "ground_truth")}


def _short(text: Any) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= TEXT_LENGTH else f"{line[:TEXT_LENGTH]}..."
