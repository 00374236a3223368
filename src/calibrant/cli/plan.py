"""`calibrant plan`: check a plan line by line, and print the schema that it follows."""

from __future__ import annotations

import json
from pathlib import Path

import click

from calibrant.cli.group import NamedGroup
from calibrant.cli.options import examples, quiet_option

__all__ = ["plan"]


@click.group(cls=NamedGroup, epilog=examples("calibrant plan check plan.yaml"))
def plan() -> None:
    """Check a plan, or print its JSON schema."""


@plan.command(epilog=examples("calibrant plan check plan.yaml"))
@click.argument("path", metavar="PLAN", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print what the run would take as JSON.")
@click.option("--no-baseline", "without_baseline", is_flag=True, help="For a first run: there is no baseline yet.")
@quiet_option
def check(path: Path, *, as_json: bool, without_baseline: bool) -> None:
    """Check PLAN: its keys, files, judges, functions, gates, labels and every row of its dataset.

    Nobody is asked. A judge whose key is nowhere is a warning: kept answers need none.
    """
    from calibrant.runs.assembly import assembled_file

    ready = assembled_file(path, without_baseline=without_baseline)
    told = ready.forecast
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    click.echo(f"{path.name} is right: {ready.measurement.forecast}")
    for text in told["warnings"]:
        click.echo(f"warning: {text}")


@plan.command(epilog=examples("calibrant plan schema > plan.schema.json"))
@quiet_option
def schema() -> None:
    """Print the JSON schema of a plan, for editors that complete and check YAML; it is JSON always."""
    from calibrant.readers.plan import plan_schema

    click.echo(json.dumps(plan_schema(), indent=2, ensure_ascii=False))
