"""The option `--policy NAME=VALUE`, which the commands on rankings share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from calibrant.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["policies_of", "policy_option"]

policy_option = click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME=VALUE",
    help="A convention of your own, such as ties=expected; may be repeated.",
)


def policies_of(texts: Sequence[str]) -> dict[str, str]:
    """The policies by name, as `measure` takes them; a text that is none, or no policy's name, is an error.

    >>> policies_of(["ties=expected", "queries = intersection"])
    {'ties': 'expected', 'queries': 'intersection'}
    """
    from calibrant.retrieval.conventions import Policies

    chosen: dict[str, str] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise InputError(f"--policy takes NAME=VALUE, for example ties=expected, not {text!r}")
        if name not in Policies.__annotations__:
            raise UnknownNameError.among("policy", name, Policies.__annotations__)
        if chosen.setdefault(name, value) != value:
            raise InputError(f"--policy {name} is there twice: {chosen[name]!r} and {value!r}")
        chosen[name] = value
    return chosen
