"""`calibrant compare`: two or more runs of the same items, and whether they differ."""

from __future__ import annotations

import json
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from calibrant.cli.options import examples, html_option, quiet_option, workspace_option, write_page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from calibrant.runs.comparison import Comparison

__all__ = ["compare"]


@click.command(
    epilog=examples(
        "calibrant compare first second --html compared.html",
        'calibrant compare first latest --gate "coverage >= baseline - 0.02"',
    )
)
@click.argument("runs", nargs=-1, metavar="A B [C ...]")
@click.option("--allow", multiple=True, metavar="NAME", help="Compare although the dataset or the instrument differs.")
@click.option("--gate", "gates", multiple=True, metavar="CONDITION", help="A condition on B, with A as its baseline.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the sign flips; same seed, same numbers.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the differences as CSV.")
@html_option
@workspace_option
@quiet_option
def compare(  # noqa: PLR0913 - click hands over every option
    *,
    runs: Sequence[str],
    allow: Sequence[str],
    gates: Sequence[str],
    seed: int,
    as_json: bool,
    as_csv: bool,
    page: Path | None,
    workspace: Path,
) -> int:
    """Compare runs on the items that were rated in both: each is an exported file, or a run of the workspace.

    Differences are B minus A. Runs of another dataset or instrument are refused unless that is allowed by name.
    """
    from calibrant.runs.comparing import compare as compared
    from calibrant.runs.references import reopened

    if len(runs) < 2:
        raise click.UsageError(f"expected two runs or more to compare, got {len(runs)}")
    with ExitStack() as stack:
        opened = [reopened(name, workspace=workspace) for name in runs]
        for run in opened:
            stack.callback(run.close)
        found = compared(*opened, allow=allow, gates=gates, seed=seed)
    write_page(page, found)
    _print(found, as_json=as_json, as_csv=as_csv)
    return found.exit_code


def _print(found: Comparison, *, as_json: bool, as_csv: bool) -> None:
    if as_json:
        click.echo(json.dumps(found.to_json(), ensure_ascii=False, allow_nan=False))
    elif as_csv:
        from calibrant.report.comparison_tables import comparison_csv

        click.echo(comparison_csv(found.to_json()), nl=False)
    else:
        click.echo(str(found))
