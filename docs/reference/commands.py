"""The page of every command: usage, options, examples, as `--help` has them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

from calibrant.cli.group import EXIT_CODES, calibrant
from reference.markdown import code, page, table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command_examples", "commands", "commands_page"]

AS_IT_STANDS = "\b"
"""Before a paragraph, it tells click to leave the line ends alone."""


def commands(group: click.Group | None = None, name: str = "calibrant") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its full name: `calibrant models list`."""
    group = group or calibrant
    context = click.Context(group, info_name=name)
    for word in group.list_commands(context):
        found = group.get_command(context, word)
        if isinstance(found, click.Group):
            yield from commands(found, f"{name} {word}")
        elif found is not None:
            yield f"{name} {word}", found


def command_examples(command: click.Command) -> list[str]:
    """The command lines at the end of a command's help."""
    lines = (command.epilog or "").splitlines()
    return [line.strip() for line in lines if line.startswith("  ")]


def commands_page() -> str:
    """The page, with a section for each command."""
    codes = table(("code", "says"), [(str(code), name.replace("_", " ")) for name, code in EXIT_CODES.items()])
    sections = [text for name, command in commands() for text in _section(name, command)]
    return page(
        "The command",
        "Every command takes `--help` and `--quiet`; `--json` prints JSON alone on the standard output. Colours are "
        "left out where the output is no terminal, and where `NO_COLOR` is set. Each command's exit code is one of:",
        codes,
        *sections,
    )


def _section(name: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=name, help_option_names=["-h", "--help"])
    yield f"## {name}"
    yield inspect.cleandoc(command.help or "").replace(AS_IT_STANDS, "")
    yield code(" ".join([name, *command.collect_usage_pieces(context)]), "console")
    rows = [_row(option, context) for option in command.get_params(context) if isinstance(option, click.Option)]
    yield table(("option", "what it does"), rows)
    if shown := command_examples(command):
        yield code("\n".join(shown), "console")


def _row(option: click.Option, context: click.Context) -> tuple[str, str]:
    record = option.get_help_record(context)
    flags, text = record or (", ".join(option.opts), "")
    return f"`{flags}`", text
