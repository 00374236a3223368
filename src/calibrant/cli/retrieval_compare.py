"""`calibrant retrieval compare`: two or more rankings of the same queries, in one table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.options import examples, quiet_option
from calibrant.cli.policies import policies_of, policy_option

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["compare"]

EXISTING_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(epilog=examples("calibrant retrieval compare qrels.txt bm25.run dense.run -m nDCG@10 -m RR"))
@click.argument("qrels", type=EXISTING_FILE)
@click.argument("rankings", type=EXISTING_FILE, nargs=-1, required=True)
@click.option("-m", "--measure", "measures", multiple=True, default=("nDCG@10",), show_default=True, help="A measure.")
@click.option("--conventions", default="trec_eval", show_default=True, help="Whose conventions to follow.")
@policy_option
@click.option(
    "--test", type=click.Choice(["t", "sign-flip"]), default="t", show_default=True, help="The test that decides."
)
@click.option(
    "--correction",
    type=click.Choice(["holm", "bh"]),
    default="holm",
    show_default=True,
    help="How p-values are corrected over the pairs on a measure.",
)
@click.option("--alpha", type=float, default=0.05, show_default=True, help="The level that decides.")
@click.option("--resamples", type=int, default=10_000, show_default=True, help="Of the sign flips and the bootstrap.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same numbers.")
@click.option("--per-query", is_flag=True, help="Print the values of every query too.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
@quiet_option
def compare(
    *,
    qrels: Path,
    rankings: Sequence[Path],
    measures: Sequence[str],
    policies: Sequence[str],
    per_query: bool,
    as_json: bool,
    **settings: Any,
) -> None:
    """Compare RANKINGS (two or more) with each other by the judgments in QRELS.

    Files are TREC text (also gzipped), Parquet or CSV. Differences are the later ranking minus the earlier one.
    """
    from calibrant.retrieval import compare_rankings
    from calibrant.retrieval.comparison_table import comparison_text, query_table

    comparison = compare_rankings(qrels, rankings, list(measures), **policies_of(policies), **settings)
    if as_json:
        document = {**comparison.to_json(per_query=per_query), "qrels": str(qrels)}
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))
        return
    click.echo(comparison_text(comparison))
    if per_query:
        click.echo("\n".join(["", *query_table(comparison.results)]))
