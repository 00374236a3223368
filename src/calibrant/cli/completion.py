"""`calibrant completion`: the lines that make a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

from calibrant.cli.options import examples, quiet_option

__all__ = ["completion"]

SHELLS = {"bash": BashComplete, "fish": FishComplete, "zsh": ZshComplete}


@click.command(epilog=examples("calibrant completion zsh", 'eval "$(calibrant completion bash)"'))
@click.argument("shell", type=click.Choice(SHELLS))
@quiet_option
def completion(shell: str) -> None:
    """Print the script that makes SHELL complete this command; put the example's second line into its start file."""
    root = click.get_current_context().find_root().command
    click.echo(SHELLS[shell](root, {}, "calibrant", "_CALIBRANT_COMPLETE").source())
