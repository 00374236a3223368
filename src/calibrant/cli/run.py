"""`calibrant run`: rate a dataset as a plan says, go on where it stopped, and end in numbers and an exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.options import examples, html_option, is_quiet, note, quiet_option, write_page

if TYPE_CHECKING:
    from calibrant.runs.assembly import Assembly
    from calibrant.runs.records import Run

__all__ = ["run"]

PLAN = click.Path(dir_okay=False, path_type=Path)


@click.command(epilog=examples("calibrant run plan.yaml --dry-run", "calibrant run plan.yaml --max-calls 500"))
@click.argument("plan", type=PLAN)
@click.option("--dry-run", is_flag=True, help="Check everything, say what the run would take, and ask nobody.")
@click.option("--max-cost", type=float, metavar="USD", help="Stop before it costs more.")
@click.option("--max-calls", type=int, metavar="N", help="Stop before it takes more calls.")
@click.option("--max-minutes", type=float, metavar="MINUTES", help="Stop after so long.")
@click.option("--concurrency", type=int, metavar="N", help="So many items at a time.")
@click.option("--name", metavar="NAME", help="The run's name; another name is another run.")
@click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Where runs are kept [.calibrant beside the plan].",
)
@click.option("--fresh", is_flag=True, default=None, help="Ask everything anew, and keep it as another run.")
@click.option("--canaries", is_flag=True, default=None, help="Ask also about items whose verdict is known; told apart.")
@click.option("--no-baseline", "without_baseline", is_flag=True, help="A first run: leave gates against it open.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the estimates as CSV.")
@html_option
@quiet_option
def run(plan: Path, *, dry_run: bool, as_json: bool, as_csv: bool, page: Path | None, **changes: Any) -> int:
    """Rate the dataset of PLAN by its metrics.

    The same command again goes on where it stopped: calls that were answered are not made again.
    """
    from calibrant.runs.assembly import assembled_file
    from calibrant.runs.planned import carried_out

    progress = None if is_quiet() or dry_run else _progress()
    ready = assembled_file(plan, progress=progress, catch_interrupt=True, **changes)
    if dry_run:
        return _foretell(ready, as_json=as_json)
    note(f"{ready.plan.name}: {ready.measurement.forecast}")
    result = carried_out(ready)
    write_page(page, result)
    _show(result, as_json=as_json, as_csv=as_csv)
    return result.exit_code


def _progress() -> Any:
    from calibrant.cli.progress_line import progress_line

    return progress_line()


def _foretell(ready: Assembly, *, as_json: bool) -> int:
    told = ready.forecast
    if as_json:
        click.echo(json.dumps(told))
    else:
        click.echo(f"{ready.plan.name}: {ready.measurement.forecast}")
        for text in told["warnings"]:
            click.echo(f"warning: {text}")
        click.echo("nobody was asked (--dry-run)")
    return 0


def _show(result: Run, *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        click.echo(json.dumps(result.to_json(), ensure_ascii=False, allow_nan=False))
    elif as_csv:
        from calibrant.report.tables import run_csv

        click.echo(run_csv(result.to_json()), nl=False)
    else:
        click.echo(str(result))
