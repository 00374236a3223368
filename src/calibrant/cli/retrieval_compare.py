"""`calibrant retrieval compare`: two or more rankings of the same queries, in one table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.options import examples, note, quiet_option
from calibrant.cli.policies import conventions_option, measure_option, policies_of, policy_option
from calibrant.cli.ranking_rows import pair_rows, query_rows, write_csv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.retrieval import RankingComparison

__all__ = ["compare"]


@click.command(
    epilog=examples(
        "calibrant retrieval compare qrels.txt bm25.run dense.run -m nDCG@10 -m RR",
        "calibrant retrieval compare qrels.txt bm25.run dense.run --test sign-flip --csv",
    )
)
@click.argument("qrels", type=click.Path())
@click.argument("rankings", type=click.Path(), nargs=-1, required=True)
@measure_option(["nDCG@10"])
@conventions_option
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
@click.option("--per-query", is_flag=True, help="Print the values of every query too; with --csv, these alone.")
@click.option("--json", "form", flag_value="json", help="Print JSON (schema calibrant.retrieval/1).")
@click.option("--csv", "form", flag_value="csv", help="Print CSV, a row a pair and measure.")
@quiet_option
def compare(
    *,
    qrels: str,
    rankings: Sequence[str],
    measures: Sequence[str],
    policies: Sequence[str],
    per_query: bool,
    form: str | None,
    **settings: Any,
) -> None:
    """Compare RANKINGS (two or more) with each other by the judgments in QRELS.

    Files are TREC text (any white space, gzipped or not), Parquet or CSV. Differences are the later ranking minus the
    earlier one. Rankings that share a letter cannot be told apart.
    """
    from calibrant.retrieval import compare_rankings

    comparison = compare_rankings(qrels, rankings, list(measures), **policies_of(policies), **settings)
    if form == "json":
        document = {**comparison.to_json(per_query=per_query), "qrels": qrels}
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1))
    elif form == "csv":
        write_csv(query_rows(comparison.results) if per_query else pair_rows(comparison.pairs))
        for warning in comparison.warnings:
            note(f"warning: {warning}")
    else:
        click.echo("\n".join(_lines(comparison, per_query=per_query)))


def _lines(comparison: RankingComparison, *, per_query: bool) -> list[str]:
    from calibrant.retrieval.comparison_table import comparison_text, query_table

    lines = [comparison_text(comparison)]
    return [*lines, "", *query_table(comparison.results)] if per_query else lines
