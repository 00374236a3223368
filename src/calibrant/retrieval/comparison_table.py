"""A comparison of rankings as a paper prints it: a row a system, its letters beside each mean, and the pairs below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibrant.errors import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.retrieval.compared import RankingComparison, SystemPair
    from calibrant.retrieval.measured import MeasureResult

__all__ = ["aligned", "comparison_text", "query_table"]

CORRECTED = {"holm": "Holm", "bh": "BH"}
TESTED = {"t": "paired t-test", "sign-flip": "sign-flip test"}


def comparison_text(comparison: RankingComparison) -> str:
    """The comparison in plain text: the means with their letters, every pair, and the warnings."""
    deciding = comparison.deciding
    first = next(iter(comparison.results.values()))
    how = f"{TESTED[deciding.test]}, {CORRECTED[deciding.correction]} over pairs"
    queries = counted(len(comparison.queries), "query", "queries")
    parts = [
        f"{queries} of {first.qrels}, conventions {first.conventions.name}",
        "\n".join(aligned(_systems(comparison))),
        f"Systems that share a letter cannot be told apart ({how}, alpha {deciding.alpha:g}).",
        "\n".join(aligned(_pairs(comparison))),
        f"Intervals at {1 - deciding.alpha:.4g}; {deciding.resamples} flips and resamples, seed {deciding.seed}.",
        "Needed: the queries that would find such a difference four times in five, were it the truth.",
        "\n".join(f"warning: {warning}" for warning in comparison.warnings),
    ]
    return "\n\n".join(part for part in parts if part)


def query_table(results: Mapping[str, MeasureResult]) -> list[str]:
    """Lines of a table with a row a query of each ranking, by its name."""
    rows = [
        [name, query, *(f"{value:.4f}" for value in values.values())]
        for name, result in results.items()
        for query, values in result.per_query.items()
    ]
    measures = next(iter(results.values())).measures
    return aligned([["ranking", "query", *measures], *rows])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table whose columns begin below each other.

    >>> aligned([["name", "n"], ["bm25-long", "7"]])
    ['name       n', 'bm25-long  7']
    """
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _systems(comparison: RankingComparison) -> list[list[str]]:
    rows = [["system", *comparison.measures]]
    for system in comparison.systems:
        cells = [
            f"{_number(comparison.means[name][system])} {comparison.letters[name][system]}"
            for name in comparison.measures
        ]
        rows.append([system, *cells])
    return rows


def _pairs(comparison: RankingComparison) -> list[list[str]]:
    corrected = f"p {CORRECTED[comparison.deciding.correction]}"
    head = [
        "measure",
        "pair",
        "difference",
        "interval",
        "bootstrap",
        "p t",
        "p flips",
        corrected,
        "d",
        "W/L/T",
        "needed",
    ]
    return [head, *(_pair(one) for one in comparison.pairs)]


def _pair(pair: SystemPair) -> list[str]:
    compared = pair.compared
    difference = compared.difference
    return [
        pair.measure,
        f"{pair.b} - {pair.a}",
        "-" if difference.value is None else f"{difference.value:+.4f}",
        _interval(difference.lower, difference.upper),
        "-" if pair.bootstrap is None else _interval(*pair.bootstrap),
        _p(compared.t.p_value),
        _p(compared.randomisation.p_value),
        _p(pair.p_corrected) + ("*" if pair.better else ""),
        "-" if compared.effect_size is None else f"{compared.effect_size:.2f}",
        f"{compared.wins}/{compared.losses}/{compared.ties}",
        "-" if compared.needed is None else str(compared.needed),
    ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _interval(lower: float | None, upper: float | None) -> str:
    return "-" if lower is None or upper is None else f"[{lower:+.4f}, {upper:+.4f}]"


def _p(p: float) -> str:
    return f"{p:.4f}" if p >= 0.0001 else "<0.0001"
