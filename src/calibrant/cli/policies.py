"""Options that the commands on rankings share: `--measure`, `--conventions` and `--policy NAME=VALUE`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from calibrant.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["conventions_option", "in_options", "measure_option", "policies_of", "policy_option"]

CHOICES = (
    "queries=qrels|intersection, ties=trec|given|expected, score_dtype=float64|float32, gain=linear|exponential, "
    "on_duplicate=error|first|last, on_nan=error|drop, precision=k|retrieved"
)

conventions_option = click.option(
    "--conventions",
    default="trec_eval",
    show_default=True,
    metavar="NAME",
    help="Whose conventions to follow: trec_eval, pytrec_eval, ranx or seed.",
)

policy_option = click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME=VALUE",
    help=f"A convention of your own; may be repeated. {CHOICES}.",
)


def measure_option(default: Sequence[str]) -> Callable[[Any], Any]:
    """The option `--measure`, which may be repeated; without it `default`."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        default=tuple(default),
        metavar="MEASURE",
        help=f"A measure such as P(rel=2)@5; may be repeated. Default: {' '.join(default)}.",
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
    return chosen


def in_options(message: str) -> str:
    """An error's text with the policies that it names as arguments named as options of the command.

    >>> in_options('pass on_duplicate="first" or "last" to keep one')
    'pass --policy on_duplicate=first or --policy on_duplicate=last to keep one'
    """
    from calibrant.retrieval.conventions import Policies

    named = re.compile(rf"\b({'|'.join(Policies.__annotations__)})=(['\"])(\w+)\2(?: or \2(\w+)\2)?")

    def as_options(found: re.Match[str]) -> str:
        policy, _, *values = found.groups()
        return " or ".join(f"--policy {policy}={value}" for value in values if value)

    return named.sub(as_options, message)
