"""`calibrant retrieval`: rankings measured and compared."""

from __future__ import annotations

import click

from calibrant.cli.group import NamedGroup
from calibrant.cli.options import examples
from calibrant.cli.retrieval_compare import compare
from calibrant.cli.retrieval_eval import evaluate

__all__ = ["retrieval"]


@click.group(
    cls=NamedGroup,
    epilog=examples(
        "calibrant retrieval eval qrels.txt bm25.run", "calibrant retrieval compare qrels.txt bm25.run dense.run"
    ),
)
def retrieval() -> None:
    """Measure rankings against judged documents, and compare them."""


retrieval.add_command(compare)
retrieval.add_command(evaluate)
