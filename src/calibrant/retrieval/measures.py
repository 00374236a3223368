"""The kernel: qrels and a ranking in, every measure of every query out."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibrant.retrieval.conventions import Conventions, Policies
from calibrant.retrieval.evidence import Evidence
from calibrant.retrieval.formulas import values_of
from calibrant.retrieval.judged import Judged, JudgedIndex, joined, judged_ranks
from calibrant.retrieval.measured import MeasureResult
from calibrant.retrieval.notation import named_measures
from calibrant.retrieval.qrels import Qrels
from calibrant.retrieval.rankings import Ranking, ScatteredQueriesError, ranking_blocks
from calibrant.retrieval.sources import file_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Unpack

    from calibrant.retrieval.notation import Measure, UserMeasure

__all__ = ["measure"]


def measure(
    qrels: Any,
    ranking: Any,
    measures: Any,
    *,
    conventions: str | Conventions = "trec_eval",
    name: str | None = None,
    **policies: Unpack[Policies],
) -> MeasureResult:
    """The measures of a ranking by query, and their means as estimates; queries without results are named.

    Qrels and rankings are paths (TREC, Parquet, CSV), frames, dicts by query or lists of items; measures are texts
    such as "nDCG@10", or functions of ranks and grades. `conventions` name a tool to follow, and every policy of
    `Conventions` can be passed by its keyword. A TREC or Parquet file is read block by block and never held whole.

    >>> result = measure({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["x", "a"]}, ["RR", "R@10"])
    >>> result.per_query["q1"], result.queries_without_results
    ({'RR': 0.5, 'R@10': 1.0}, ('q2',))
    """
    chosen = Conventions.of(conventions, **policies)
    named = named_measures(measures)
    judgments = Qrels.of(qrels, on_duplicate=chosen.on_duplicate)
    index = JudgedIndex(judgments)
    judged, found_name, path = _reduced(ranking, index, chosen)
    return _result(Evidence(judgments, judged, chosen), named, name or found_name, path)


def _reduced(ranking: Any, index: JudgedIndex, conventions: Conventions) -> tuple[Judged, str, str | None]:
    """The judged documents of the ranking, its name and path."""
    if isinstance(ranking, str | PathLike):
        path = Path(cast("str | PathLike[str]", ranking))
        try:
            return joined(_parts(ranking_blocks(path), index, conventions)), file_name(path), str(path)
        except ScatteredQueriesError:
            pass  # some query goes on after another one, so the file is read whole
    whole = Ranking.of(ranking)
    return joined(_parts(whole.blocks(), index, conventions)), whole.name, whole.path


def _parts(blocks: Iterable[Ranking], index: JudgedIndex, conventions: Conventions) -> list[Judged]:
    parts = [judged_ranks(block, index, conventions) for block in blocks]
    return parts or [judged_ranks(Ranking.of({}), index, conventions)]


def _result(
    evidence: Evidence, named: Mapping[str, Measure | UserMeasure], name: str, path: str | None
) -> MeasureResult:
    judged, conventions = evidence.judged, evidence.conventions
    queries = evidence.qrels.queries
    kept = np.flatnonzero(judged.present) if conventions.queries == "intersection" else np.arange(len(queries))
    return MeasureResult(
        name=name,
        path=path,
        qrels=evidence.qrels.name,
        queries=tuple(queries[place] for place in kept.tolist()),
        values={text: values_of(evidence, one)[kept] for text, one in named.items()},
        queries_without_results=tuple(queries[place] for place in np.flatnonzero(~judged.present).tolist()),
        conventions=conventions,
        warnings=_warnings(evidence.qrels, judged),
        kept=kept,
        evidence=evidence,
        asked=named,
    )


def _warnings(qrels: Qrels, judged: Judged) -> tuple[str, ...]:
    found: list[str] = []
    unjudged = int((np.diff(qrels.starts) == 0).sum())
    if unjudged:
        who = "1 query of the qrels has" if unjudged == 1 else f"{unjudged} queries of the qrels have"
        found.append(f"{who} no judged document, so every measure is 0 there")
    if judged.dropped:
        what = "1 row was" if judged.dropped == 1 else f"{judged.dropped} rows were"
        found.append(f"{what} dropped, with a score that is not a number")
    if judged.unknown:
        who = "1 query of the ranking is" if judged.unknown == 1 else f"{judged.unknown} queries of the ranking are"
        found.append(f"{who} ignored, not being in the qrels")
    if not judged.present.any():
        found.append("no query of the qrels has results: do the ids of the queries agree?")
    elif not len(judged.queries):
        found.append("no document that was retrieved is judged: do the ids of the documents agree?")
    return tuple(found)
