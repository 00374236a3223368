"""`calibrant show`: a run that was kept, and the items that did not pass."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.options import examples, html_option, quiet_option, run_argument, workspace_option, write_page

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from calibrant.items import EvalInput
    from calibrant.ratings import Rating
    from calibrant.runs.records import Run

__all__ = ["show"]

TEXT_LENGTH = 200


@click.command(epilog=examples("calibrant show", "calibrant show latest --failing", "calibrant show --html run.html"))
@run_argument
@click.option("--failing", is_flag=True, help="Also the items that did not pass or could not be rated, and why.")
@click.option("--json", "as_json", is_flag=True, help="Print the run as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the estimates as CSV.")
@html_option
@workspace_option
@quiet_option
def show(*, name: str, failing: bool, as_json: bool, as_csv: bool, page: Path | None, workspace: Path) -> None:
    """Show RUN: its id or the beginning of that, its name, or an exported .jsonl file; the latest, unless named."""
    from calibrant.runs.references import reopened

    found = reopened(name, workspace=workspace)
    with closing(found):
        manifest = {} if found.keeper is None else found.keeper.manifest(found.id) or {}
        report = manifest.get("report") or found.to_json()
        rows = [*_failing(found)] if failing else []
    write_page(page, report)
    if as_json:
        given = {**report, "failing": rows} if failing else report
        click.echo(json.dumps(given, ensure_ascii=False, allow_nan=False))
        return
    from calibrant.report.tables import run_csv, run_text

    click.echo(run_csv(report) if as_csv else f"{run_text(report)}\n", nl=False)
    if not as_csv:
        _print_failing(rows)


def _print_failing(rows: Sequence[Mapping[str, Any]]) -> None:
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
