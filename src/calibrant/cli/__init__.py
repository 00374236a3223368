"""The command `calibrant`: each subcommand in a module of its own, loaded when it is called."""

from calibrant.cli.group import main

__all__ = [
    "main",
]
