"""`calibrant retrieval`: rankings measured and compared."""

from __future__ import annotations

from typing import Any

import click

from calibrant.cli.group import NamedGroup
from calibrant.cli.options import examples
from calibrant.cli.policies import in_options
from calibrant.cli.retrieval_compare import compare
from calibrant.cli.retrieval_eval import evaluate
from calibrant.errors import EvalError, InputError

__all__ = ["retrieval"]


class GroupOnRankings(NamedGroup):
    """A group whose errors name policies as its options have them, and not as Python's arguments."""

    def invoke(self, ctx: click.Context) -> Any:
        """What the subcommand returns."""
        try:
            return super().invoke(ctx)
        except EvalError as error:
            raise InputError(in_options(str(error))) from error


@click.group(
    cls=GroupOnRankings,
    epilog=examples(
        "calibrant retrieval eval qrels.txt bm25.run", "calibrant retrieval compare qrels.txt bm25.run dense.run"
    ),
)
def retrieval() -> None:
    """Measure rankings against judged documents, and compare them."""


retrieval.add_command(compare)
retrieval.add_command(evaluate)
