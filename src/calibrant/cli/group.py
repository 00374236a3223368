"""The command's root: finds subcommands by name, and turns errors into one screen and an exit code."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

import click

from calibrant.cli.options import examples
from calibrant.errors import EvalError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from click.shell_completion import CompletionItem

__all__ = ["COMMANDS", "EXIT_CODES", "LazyGroup", "NamedGroup", "main"]

EXIT_CODES: Mapping[str, int] = {"passed": 0, "failed": 1, "wrong_use": 2, "inconclusive": 3, "incomplete": 4}
"""What every command's exit code says."""

COMMANDS: dict[str, tuple[str, str]] = {
    "align": ("calibrant.cli.align:align", "Compare judges with people, and correct rates by what people said."),
    "compare": ("calibrant.cli.compare:compare", "Say whether runs differ, by how much, and what is not settled."),
    "completion": ("calibrant.cli.completion:completion", "Print what makes a shell complete commands."),
    "export": ("calibrant.cli.export:export", "Write a run to a file: JSONL, CSV or Parquet."),
    "init": ("calibrant.cli.init:init", "Write a plan and a rubric for your own data."),
    "list": ("calibrant.cli.list:list_runs", "List the runs that were kept."),
    "models": ("calibrant.cli.models:models", "List the models that can be asked, fetch the offline one, ask one."),
    "plan": ("calibrant.cli.plan:plan", "Check a plan line by line, or print its schema."),
    "replay": ("calibrant.cli.replay:replay", "Work a run out under other settings, from the votes that were given."),
    "retrieval": ("calibrant.cli.retrieval:retrieval", "Measure rankings against judged documents, and compare them."),
    "run": ("calibrant.cli.run:run", "Rate a dataset as a plan says; again to go on where it stopped."),
    "show": ("calibrant.cli.show:show", "Show a run that was kept, and what did not pass."),
    "verify": ("calibrant.cli.verify:verify", "Work out every number of a report anew, and say what differs."),
}
"""Subcommand: where it lives (`module:name`), and its line in `calibrant --help`."""


class NamedGroup(click.Group):
    """A group whose help has the first sentence of each subcommand, whole."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of subcommands."""
        rows = list(self.summaries(ctx))
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def summaries(self, ctx: click.Context) -> Iterator[tuple[str, str]]:
        """Each subcommand's name and what it does."""
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            yield name, command.get_short_help_str(limit=200) if command is not None else ""


class LazyGroup(NamedGroup):
    """A group whose subcommands are imported when they are called; its help needs only their summaries."""

    def __init__(self, *, lazy: Mapping[str, tuple[str, str]], **settings: object) -> None:
        super().__init__(**settings)  # pyright: ignore[reportArgumentType] - click's own settings, passed on
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all subcommands."""
        return sorted({*super().list_commands(ctx), *self.lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The subcommand called `cmd_name`, imported now; None when there is none."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _, name = self.lazy[cmd_name][0].partition(":")
        return getattr(import_module(module), name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that `args` begin with; an unknown one is an error with the nearest known."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}; {suggestion(args[0], known)}")
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The subcommands that begin with `incomplete`, without importing any."""
        from click.shell_completion import CompletionItem

        found = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [CompletionItem(name, help=self.lazy[name][1]) for name in found] or click.Command.shell_complete(
            self, ctx, incomplete
        )

    def summaries(self, ctx: click.Context) -> Iterator[tuple[str, str]]:  # noqa: ARG002 - NamedGroup's
        """Each subcommand's name and what it does, without importing any."""
        return ((name, self.lazy[name][1]) for name in sorted(self.lazy))


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    context_settings={"help_option_names": ["--help", "-h"]},
    epilog=f"{examples('calibrant init items.csv', 'calibrant run plan.yaml', 'calibrant show --failing')}\n\n"
    "Exit codes: 0 done and passed, 1 a gate failed, 2 wrong use or input, 3 inconclusive, 4 incomplete.",
)
@click.version_option(package_name="calibrant", message="calibrant %(version)s")
def calibrant() -> None:
    """Measure systems built on language models, with instruments that were checked first."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command with `arguments` (the process's own by default) and exit with its code."""
    try:
        code = calibrant.main(args=None if arguments is None else list(arguments), standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("interrupted", err=True)
        code = EXIT_CODES["incomplete"]
    except click.ClickException as error:
        error.show()
        code = EXIT_CODES["wrong_use"]
    except EvalError as error:
        click.echo(f"error: {error}", err=True)
        code = EXIT_CODES["wrong_use"]
    except BrokenPipeError:
        code = 0
        sys.stderr.close()
    except OSError as error:
        named = error.filename or "a file"
        click.echo(f"error: cannot use {named}: {error.strerror or error}", err=True)
        code = EXIT_CODES["wrong_use"]
    sys.exit(code if isinstance(code, int) else 0)
