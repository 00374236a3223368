"""`calibrant retrieval eval`: measures of rankings, printed as a paper would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.options import examples, note, quiet_option
from calibrant.cli.policies import conventions_option, measure_option, policies_of, policy_option
from calibrant.cli.ranking_rows import mean_rows, query_rows, write_csv

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from calibrant.retrieval.measured import MeasureResult

__all__ = ["evaluate"]

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
SHOWN_QUERIES = 5


@click.command(
    "eval",
    epilog=examples(
        "calibrant retrieval eval qrels.txt bm25.run",
        "calibrant retrieval eval qrels.txt bm25.run dense.run -m nDCG@10 -m 'P(rel=2)@5' --json",
    ),
)
@click.argument("qrels", type=click.Path())
@click.argument("rankings", type=click.Path(), nargs=-1, required=True)
@measure_option(DEFAULT_MEASURES)
@conventions_option
@policy_option
@click.option("--per-query", is_flag=True, help="Print the values of every query too; with --csv, these alone.")
@click.option("--json", "form", flag_value="json", help="Print JSON (schema calibrant.retrieval/1).")
@click.option("--csv", "form", flag_value="csv", help="Print CSV, a row a measure.")
@quiet_option
def evaluate(
    *,
    qrels: str,
    rankings: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    form: str | None,
    **settings: Any,
) -> None:
    """Print the measures of each RANKING against QRELS, with intervals.

    Files are TREC text (any white space, gzipped or not), Parquet or CSV. Queries without results are named.
    """
    policies = {"conventions": settings["conventions"], **policies_of(settings["policies"])}
    results = _results(qrels, rankings, measures, policies)
    if form == "json":
        document = _document(qrels, results, per_query=per_query)
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1))
    elif form == "csv":
        write_csv(query_rows({result.name: result for result in results}) if per_query else mean_rows(results))
        for line in _notes(results):
            note(line)
    else:
        click.echo("\n".join([*_table(results), *(_queries(results) if per_query else ()), "", *_notes(results)]))


def _results(
    qrels: str, paths: Sequence[str], measures: Sequence[str], policies: Mapping[str, Any]
) -> list[MeasureResult]:
    from calibrant.retrieval import Conventions, Qrels, measure
    from calibrant.retrieval.systems import named_systems

    conventions = Conventions.of(**policies)
    judgments = Qrels.of(qrels, on_duplicate=conventions.on_duplicate)
    return [
        measure(judgments, path, measures, conventions=conventions, name=name)
        for name, path in named_systems(paths).items()
    ]


def _document(qrels: str, results: Sequence[MeasureResult], *, per_query: bool) -> dict[str, Any]:
    return {
        "schema": "calibrant.retrieval/1",
        "qrels": qrels,
        "queries": len(results[0].evidence.qrels.queries),
        "conventions": results[0].conventions.to_json(),
        "rankings": [result.to_json(per_query=per_query) for result in results],
        "warnings": [f"{result.name}: {warning}" for result in results for warning in result.warnings],
    }


def _table(results: Sequence[MeasureResult]) -> list[str]:
    """A row a ranking, a column a measure; behind RBP its residual."""
    header = ["ranking", *results[0].measures, "n", "without results"]
    rows = [
        [result.name, *_cells(result), str(len(result.queries)), str(len(result.queries_without_results))]
        for result in results
    ]
    from calibrant.retrieval.comparison_table import aligned

    return aligned([header, *rows])


def _queries(results: Sequence[MeasureResult]) -> list[str]:
    from calibrant.retrieval.comparison_table import query_table

    return ["", *query_table({result.name: result for result in results})]


def _cells(result: MeasureResult) -> Iterator[str]:
    residuals = result.residuals
    for name, estimate in result.estimates.items():
        if estimate.value is None:
            yield "-"
            continue
        more = f"+{residuals[name]:.3f}" if residuals.get(name) is not None else ""
        interval = "" if estimate.lower is None else f" [{estimate.lower:.3f}, {estimate.upper:.3f}]"
        yield f"{estimate.value:.3f}{more}{interval}"


def _notes(results: Sequence[MeasureResult]) -> Iterator[str]:
    policies = results[0].conventions.to_json()
    yield f"conventions: {policies.pop('name')} ({', '.join(f'{name}={value}' for name, value in policies.items())})"
    for result in results:
        missing = result.queries_without_results
        if missing:
            more = f", ... ({len(missing)} in all)" if len(missing) > SHOWN_QUERIES else ""
            counted = "left out" if result.conventions.queries == "intersection" else "counted as 0"
            yield f"{result.name}: without results, {counted}: {', '.join(missing[:SHOWN_QUERIES])}{more}"
        yield from (f"{result.name}: {warning}" for warning in result.warnings)
