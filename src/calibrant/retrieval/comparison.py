"""Two or many rankings of the same queries compared: which differ, by how much, and what chance would do."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant.errors import InputError, counted
from calibrant.estimates import Coverage
from calibrant.retrieval.compared import CORRECTIONS, Deciding, RankingComparison, SystemPair
from calibrant.retrieval.conventions import Policies
from calibrant.retrieval.differences import ROUNDING, paired_differences
from calibrant.retrieval.letters import compact_letters
from calibrant.retrieval.measures import measure
from calibrant.retrieval.qrels import Qrels
from calibrant.retrieval.systems import common_queries, named_systems, refuse_unlike
from calibrant.retrieval.unjudged import unjudged_ranges
from calibrant.stats import bootstrap_means

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from calibrant.retrieval.conventions import Conventions
    from calibrant.retrieval.measured import MeasureResult
    from calibrant.stats import Interval

__all__ = ["compare_rankings", "compare_results"]

SHOWN_QUERIES, SHOWN_PAIRS = 5, 3


class Settings(Policies, total=False):
    """What `compare_rankings` takes by keyword: how to decide, and every policy of `measure`."""

    test: Literal["t", "sign-flip"]
    correction: Literal["holm", "bh"]
    alpha: float
    resamples: int
    seed: int


def compare_rankings(
    qrels: Any,
    rankings: Any,
    measures: Any,
    *,
    conventions: str | Conventions = "trec_eval",
    **settings: Unpack[Settings],
) -> RankingComparison:
    """All pairs of `rankings` compared on each of `measures`, over the queries of the qrels.

    Rankings are a dict of names, or a list of files or rankings that have names; qrels, rankings and measures are
    whatever `measure` takes. `test` ("t" or "sign-flip") decides at `alpha`, after the `correction` ("holm" or "bh")
    over all pairs on a measure; `resamples` and `seed` are those of the sign-flip test and of the bootstrap. The same
    seed gives the same result. Further keywords are policies of `measure`.

    >>> qrels = {str(number): {"a": 1} for number in range(12)}
    >>> better, worse = {query: ["a"] for query in qrels}, {query: ["x", "a"] for query in qrels}
    >>> comparison = compare_rankings(qrels, {"old": worse, "new": better}, ["RR"])
    >>> comparison.letters["RR"], comparison.pair("old", "new").compared.wins
    ({'new': 'a', 'old': 'b'}, 12)
    """
    given: dict[str, Any] = dict(settings)
    deciding = Deciding(**{name: given.pop(name) for name in DECIDING if name in given})
    systems = named_systems(rankings)
    judged = Qrels.of(qrels, on_duplicate=given.get("on_duplicate", "error"))
    results = {
        name: measure(judged, source, measures, conventions=conventions, name=name, **given)
        for name, source in systems.items()
    }
    return compare_results(results, deciding)


DECIDING = tuple(Deciding.__dataclass_fields__)


def compare_results(results: Mapping[str, MeasureResult], deciding: Deciding | None = None) -> RankingComparison:
    """All pairs of systems that were measured before, by their names, on the queries that all of them have.

    The results must be of the same measures, by the same conventions, on the same qrels.
    """
    if len(results) < 2:
        raise InputError(f"a comparison is of at least two rankings; there is {len(results)}")
    refuse_unlike(results)
    chosen = deciding or Deciding()
    queries, rows = common_queries(results)
    first = next(iter(results.values()))
    coverage = Coverage(rated=len(queries), skipped=len(first.evidence.qrels.queries) - len(queries))
    pairs = tuple(
        pair
        for name in first.measures
        for pair in _pairs(
            name,
            {system: result.of(name)[rows[system]] for system, result in results.items()},
            unjudged_ranges(name, results, rows),
            coverage,
            chosen,
        )
    )
    means = {name: _means(name, results, rows) for name in first.measures}
    return RankingComparison(
        results=dict(results),
        queries=queries,
        pairs=pairs,
        means=means,
        letters={name: _letters(name, of_systems, pairs) for name, of_systems in means.items()},
        deciding=chosen,
        warnings=(*_notes(results, queries), *_doubts(pairs), *_unjudged_warnings(pairs)),
    )


def _pairs(
    name: str,
    values: Mapping[str, NDArray[np.float64]],
    unjudged: Mapping[tuple[str, str], tuple[float, float]],
    coverage: Coverage,
    deciding: Deciding,
) -> list[SystemPair]:
    both = list(combinations(values, 2))
    table = np.stack([values[b] - values[a] for a, b in both], axis=1)
    found = paired_differences(
        table, coverage=coverage, alpha=deciding.alpha, seed=deciding.seed, resamples=deciding.resamples
    )
    raw = [one.t.p_value if deciding.test == "t" else one.randomisation.p_value for one in found]
    corrected = CORRECTIONS[deciding.correction](raw).tolist()
    return [
        SystemPair(
            measure=name,
            a=a,
            b=b,
            compared=one,
            bootstrap=bootstrapped,
            p_corrected=p,
            is_significant=p < deciding.alpha,
            unjudged=unjudged.get((a, b)),
        )
        for (a, b), one, bootstrapped, p in zip(both, found, _bootstrapped(table, deciding), corrected, strict=True)
    ]


def _bootstrapped(table: NDArray[np.float64], deciding: Deciding) -> Sequence[Interval | None]:
    """The bootstrap's interval for each pair, from the same draws of queries; none where all differences are equal.

    Equal differences are equal in every resample, which says nothing of other queries.
    """
    if len(table) < 2:
        return [None] * table.shape[1]
    found = bootstrap_means(table, resamples=deciding.resamples, level=1 - deciding.alpha, seed=deciding.seed)
    is_flat = np.ptp(table, axis=0) < ROUNDING
    return [None if flat else interval for flat, interval in zip(is_flat.tolist(), found, strict=True)]


def _means(
    name: str, results: Mapping[str, MeasureResult], rows: Mapping[str, NDArray[np.intp]]
) -> dict[str, float | None]:
    columns = {system: result.of(name)[rows[system]] for system, result in results.items()}
    return {system: float(values.mean()) if len(values) else None for system, values in columns.items()}


def _letters(name: str, means: Mapping[str, float | None], pairs: Iterable[SystemPair]) -> dict[str, str]:
    best_first = sorted(means, key=lambda system: -(means[system] or 0.0))
    return compact_letters(best_first, [(one.a, one.b) for one in pairs if one.measure == name and one.better])


def _notes(results: Mapping[str, MeasureResult], queries: Sequence[str]) -> list[str]:
    notes = [f"{name}: {warning}" for name, result in results.items() for warning in result.warnings]
    for name, result in results.items():
        missing = result.queries_without_results
        if missing:
            shown = ", ".join(missing[:SHOWN_QUERIES]) + (", ..." if len(missing) > SHOWN_QUERIES else "")
            left_out = result.conventions.queries == "intersection"
            one, many = ("is left out", "are left out") if left_out else ("counts 0", "count 0")
            count = one if len(missing) == 1 else many
            notes.append(f"{name} has no results for {len(missing)} of the queries, which {count}: {shown}")
    if len(queries) < 2:
        notes.append(f"{counted(len(queries), 'query is', 'queries are')} too few to tell systems apart")
    return notes


def _by_measure(pairs: Iterable[SystemPair]) -> dict[str, list[SystemPair]]:
    found: dict[str, list[SystemPair]] = {}
    for one in pairs:
        found.setdefault(one.measure, []).append(one)
    return found


def _doubts(pairs: Iterable[SystemPair]) -> Iterator[str]:
    """Of pairs whose test and interval part."""
    many = "{0} of {1} pairs are not settled: p is small, but their interval does not leave out 0"
    return _told(pairs, lambda one: bool(one.doubt), lambda one: f"{one.b} - {one.a} is not settled: {one.doubt}", many)


def _unjudged_warnings(pairs: Iterable[SystemPair]) -> Iterator[str]:
    """Of pairs that depend on unjudged documents."""
    many = (
        "unjudged documents could undo or turn the differences of {0} of {1} pairs; `unjudged` says how far each could "
        "go"
    )
    return _told(pairs, lambda one: one.depends_on_unjudged, _unjudged_warning, many)


def _told(
    pairs: Iterable[SystemPair], concerns: Callable[[SystemPair], bool], one: Callable[[SystemPair], str], many: str
) -> Iterator[str]:
    """A line for each pair that it `concerns`; where those are many on a measure, one line for all."""
    for name, of_measure in _by_measure(pairs).items():
        concerned = [pair for pair in of_measure if concerns(pair)]
        if len(concerned) > SHOWN_PAIRS:
            yield f"{name}: {many.format(len(concerned), len(of_measure))}"
        else:
            yield from (f"{name}: {one(pair)}" for pair in concerned)


def _unjudged_warning(pair: SystemPair) -> str:
    low, high = pair.unjudged or (0.0, 0.0)
    return (
        f"{pair.b} - {pair.a} is {pair.compared.difference.value:+.4f}, but unjudged documents could "
        f"make it anything from {low:+.4f} to {high:+.4f}"
    )
