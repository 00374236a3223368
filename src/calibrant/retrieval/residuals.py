"""What unjudged documents could make of a measure: its value if all of those retrieved were relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calibrant.errors import InputError
from calibrant.retrieval.evidence import Evidence
from calibrant.retrieval.formulas import rank_biased_mass, values_of
from calibrant.retrieval.grouped import places_within
from calibrant.retrieval.judged import Judged
from calibrant.retrieval.notation import Measure, UserMeasure
from calibrant.retrieval.qrels import Qrels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["residual_values", "supposed_leads"]


def residual_values(evidence: Evidence, measure: Measure | UserMeasure) -> NDArray[np.float64]:
    """How much higher each query's value would be, were every unjudged document of the first k relevant, never below 0.

    Grades are then the highest of the qrels for nDCG, and the lowest relevant one for the others.
    """
    if isinstance(measure, UserMeasure):
        raise InputError(f"{measure.name} is your own measure; what unjudged documents could make of it is not known")
    if measure.family.name == "RBP":
        return np.maximum(1.0 - rank_biased_mass(evidence, measure), 0.0)
    if measure.family.name == "judged":
        return np.zeros(evidence.count)  # it counts no relevance
    return np.maximum(values_of(_filled(evidence, measure), measure) - values_of(evidence, measure), 0.0)


def supposed_leads(one: Evidence, others: Sequence[Evidence], measure: Measure) -> list[NDArray[np.float64]]:
    """By how much `one` would lead each of the `others`, query by query, were its unjudged documents relevant.

    The others are taken to have found none of these documents. They are then among the relevant ones that the others
    missed, so that the recall of the others falls, and with it AP, nDCG and whatever else divides by all relevant.
    """
    if measure.family.name in {"RBP", "judged"}:  # neither divides by what is relevant
        best = values_of(one, measure) + residual_values(one, measure)
        return [best - values_of(other, measure) for other in others]
    filled = _filled(one, measure)
    best = values_of(filled, measure)
    return [best - values_of(Evidence(filled.qrels, other.judged, other.conventions), measure) for other in others]


def _filled(evidence: Evidence, measure: Measure) -> Evidence:
    """The evidence as it were if the unjudged documents of the first k had been judged relevant."""
    judged, qrels = evidence.judged, evidence.qrels
    queries, ranks, sizes = _unjudged(judged, measure.cutoff)
    grade = float(measure.parameter("rel") or max(qrels.grades.max(), 1.0))
    order = np.argsort(np.concatenate([(judged.queries << 40) + judged.ranks, (queries << 40) + ranks]), kind="stable")
    filled = Judged(
        np.concatenate([judged.queries, queries])[order],
        np.concatenate([judged.ranks, ranks])[order],
        np.concatenate([judged.grades, np.full(len(queries), grade)])[order],
        None if judged.sizes is None else np.concatenate([judged.sizes, sizes])[order],
        judged.retrieved,
        judged.present,
    )
    return Evidence(_with_judgments(qrels, queries, grade), filled, evidence.conventions)


def _unjudged(judged: Judged, cutoff: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The queries and ranks of the first k documents that are not judged, and how many share each of these ranks.

    The unjudged documents of a tie with a judged one share its ranks, all of them when the tie goes on behind k: each
    may stand in the first k. Where no document of a tie is judged, it does not matter which stands where.
    """
    depths = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
    ties, counts = _judged_ties(judged, depths)
    sizes = np.ones_like(counts) if judged.sizes is None else judged.sizes[ties]
    begins = np.cumsum(depths) - depths
    first, last = judged.ranks[ties] - 1, np.minimum(judged.ranks[ties] - 1 + sizes, depths[judged.queries[ties]])
    edges = np.zeros(int(depths.sum()) + 1, dtype=np.int64)
    np.add.at(edges, begins[judged.queries[ties]] + first, 1)
    np.add.at(edges, begins[judged.queries[ties]] + last, -1)
    is_free = np.cumsum(edges[:-1]) == 0
    beside = np.repeat(ties, sizes - counts)
    ranks = np.concatenate([judged.ranks[beside], (places_within(depths) + 1)[is_free]])
    shared = np.concatenate([np.repeat(sizes, sizes - counts), np.ones(int(is_free.sum()), dtype=np.int64)])
    return np.concatenate([judged.queries[beside], np.repeat(np.arange(len(depths)), depths)[is_free]]), ranks, shared


def _judged_ties(judged: Judged, depths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of every judged rank down to `depths`, and how many judged documents share it."""
    is_first = np.ones(len(judged.queries), dtype=np.bool_)
    is_first[1:] = (judged.queries[1:] != judged.queries[:-1]) | (judged.ranks[1:] != judged.ranks[:-1])
    rows = np.flatnonzero(is_first)
    counts = np.diff(rows, append=len(is_first))
    inside = judged.ranks[rows] <= depths[judged.queries[rows]]
    return rows[inside], counts[inside]


def _with_judgments(qrels: Qrels, queries: NDArray[np.int64], grade: float) -> Qrels:
    codes = np.concatenate([qrels.codes, queries])
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=len(qrels.queries)))))
    grades = np.concatenate([qrels.grades, np.full(len(queries), grade)])[order]
    return Qrels(qrels.name, qrels.queries, starts, qrels.documents, grades)
