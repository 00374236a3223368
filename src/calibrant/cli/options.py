"""The options that every command has, and the notes that one of them silences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

__all__ = [
    "examples",
    "html_option",
    "is_quiet",
    "note",
    "quiet_option",
    "run_argument",
    "workspace_option",
    "write_page",
]

QUIET = "calibrant.quiet"


def _silence(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001 - as click calls it
    context.meta[QUIET] = context.meta.get(QUIET, False) or value


quiet_option = click.option(
    "--quiet",
    "-q",
    is_flag=True,
    expose_value=False,
    callback=_silence,
    help="No progress and no notes: the result alone, and errors.",
)
"""`--quiet`, which commands never see: what they say on the side goes through `note`, or asks `is_quiet`."""


workspace_option = click.option(
    "--workspace",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="The folder of the runs [here].",
)
"""`--workspace`, for the commands that read what was kept."""

run_argument = click.argument("name", metavar="[RUN]", default="latest")
"""The run that a command is about; the latest, unless one is named."""

html_option = click.option(
    "--html", "page", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Also write one HTML page."
)
"""`--html FILE`; `write_page` writes it."""


def write_page(page: Path | None, *parts: Any) -> None:
    """Write the parts as one HTML page to `page`, if one was asked for, and say so."""
    if page is None:
        return
    from calibrant.errors import InputError
    from calibrant.report import html_report

    try:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(html_report(*parts), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {page}: {error.strerror or error}") from None
    note(f"wrote {page}")


def examples(*lines: str) -> str:
    """The end of a command's help: command lines that work as they stand.

    >>> examples("calibrant run plan.yaml").splitlines()[1:]
    ['Examples:', '  calibrant run plan.yaml']
    """
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def is_quiet() -> bool:
    """Whether the command that runs was called with `--quiet`; False outside of a command."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET, False))


def note(text: str) -> None:
    """Say something beside the result, on the error stream, unless the user wants quiet."""
    if not is_quiet():
        click.echo(text, err=True)
