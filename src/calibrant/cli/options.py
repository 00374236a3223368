"""The options that every command has, and the notes that one of them silences."""

from __future__ import annotations

import click

__all__ = ["examples", "is_quiet", "note", "quiet_option"]

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
