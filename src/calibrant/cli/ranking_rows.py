"""Measured and compared rankings as rows of CSV."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from calibrant.retrieval import MeasureResult, SystemPair

__all__ = ["mean_rows", "pair_rows", "query_rows", "write_csv"]


def mean_rows(results: Iterable[MeasureResult]) -> Iterator[Sequence[Any]]:
    """A header, and a row for each measure of each ranking."""
    yield ("ranking", "measure", "value", "lower", "upper", "level", "method", "n", "without_results", "residual")
    for result in results:
        for name, estimate in result.estimates.items():
            numbers = (estimate.value, estimate.lower, estimate.upper, estimate.level, estimate.method, estimate.n)
            yield (result.name, name, *numbers, len(result.queries_without_results), result.residuals.get(name))


def query_rows(results: Mapping[str, MeasureResult]) -> Iterator[Sequence[Any]]:
    """A header, and a row for each measure of each query of each ranking, by its name."""
    yield ("ranking", "query", "measure", "value")
    for name, result in results.items():
        for query, values in result.per_query.items():
            yield from ((name, query, measure, value) for measure, value in values.items())


def pair_rows(pairs: Iterable[SystemPair]) -> Iterator[Sequence[Any]]:
    """A header, and a row for each pair of rankings on each measure; differences are B - A."""
    yield ("measure", "a", "b", "difference", "lower", "upper", "level", "p_t", "p_flips", "p_corrected",
           "is_significant", "better", "effect_size", "wins", "losses", "ties", "needed",
           "unjudged_lower", "unjudged_upper")  # fmt: skip
    for pair in pairs:
        compared, difference = pair.compared, pair.compared.difference
        yield (
            *(pair.measure, pair.a, pair.b),
            *(difference.value, difference.lower, difference.upper, difference.level),
            *(compared.t.p_value, compared.randomisation.p_value, pair.p_corrected, pair.is_significant),
            *(pair.better, compared.effect_size, compared.wins, compared.losses, compared.ties, compared.needed),
            *(pair.unjudged or (None, None)),
        )


def write_csv(rows: Iterable[Sequence[Any]]) -> None:
    """Write `rows` to the standard output."""
    csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
