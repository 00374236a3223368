"""`calibrant plan`: check a plan line by line, and print the schema that it follows."""

from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["plan"]


@click.group()
def plan() -> None:
    """Check a plan, or print its JSON schema."""


@plan.command()
@click.argument("path", type=click.Path(dir_okay=False, path_type=Path))
def check(path: Path) -> None:
    """Check the plan in PATH: its keys, files, judges, functions and every row of its dataset. Nobody is asked."""
    from calibrant.readers.plan import read_plan
    from calibrant.runs.assembly import assembled

    ready = assembled(read_plan(path))
    click.echo(f"{path.name} is right: {ready.measurement.forecast}")


@plan.command()
def schema() -> None:
    """Print the JSON schema of a plan, for editors that complete and check YAML."""
    from calibrant.readers.plan import plan_schema

    click.echo(json.dumps(plan_schema(), indent=2, ensure_ascii=False))
