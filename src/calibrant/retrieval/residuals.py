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
    from numpy.typing import NDArray

__all__ = ["residual_values"]


def residual_values(evidence: Evidence, measure: Measure | UserMeasure) -> NDArray[np.float64]:
    """How much higher each query's value would be, were every unjudged document of the first k relevant, never below 0.

    Grades are then the highest of the qrels for nDCG, and the lowest relevant one for the others.
    """
    if isinstance(measure, UserMeasure):
        raise InputError(f"{measure.name} is your own measure; what unjudged documents could make of it is not known")
    if measure.family.name == "RBP":
        return np.maximum(1.0 - rank_biased_mass(evidence, measure), 0.0)
    if measure.family.name in {"judged", "bpref"}:
        return np.zeros(evidence.count)  # the one counts no relevance, the other ignores unjudged documents
    filled = _filled(evidence, measure)
    return np.maximum(values_of(filled, measure) - values_of(evidence, measure), 0.0)


def _filled(evidence: Evidence, measure: Measure) -> Evidence:
    """The evidence as it were if the unjudged documents of the first k had been judged relevant."""
    judged, qrels = evidence.judged, evidence.qrels
    queries, ranks = _unjudged(judged, measure.cutoff)
    grade = float(measure.parameter("rel") or max(qrels.grades.max(), 1.0))
    order = np.argsort(np.concatenate([(judged.queries << 40) + judged.ranks, (queries << 40) + ranks]), kind="stable")
    filled = Judged(
        np.concatenate([judged.queries, queries])[order],
        np.concatenate([judged.ranks, ranks])[order],
        np.concatenate([judged.grades, np.full(len(queries), grade)])[order],
        None,
        judged.retrieved,
        judged.present,
    )
    return Evidence(_with_judgments(qrels, queries, grade), filled, evidence.conventions)


def _unjudged(judged: Judged, cutoff: int | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The queries and ranks of the first k documents that are not judged."""
    depths = judged.retrieved if cutoff is None else np.minimum(judged.retrieved, cutoff)
    begins = np.cumsum(depths) - depths
    is_judged = np.zeros(int(depths.sum()), dtype=np.bool_)
    inside = judged.ranks <= depths[judged.queries]
    is_judged[begins[judged.queries[inside]] + judged.ranks[inside] - 1] = True
    queries = np.repeat(np.arange(len(depths)), depths)
    return queries[~is_judged], (places_within(depths) + 1)[~is_judged]


def _with_judgments(qrels: Qrels, queries: NDArray[np.int64], grade: float) -> Qrels:
    codes = np.concatenate([qrels.codes, queries])
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(codes, minlength=len(qrels.queries)))))
    grades = np.concatenate([qrels.grades, np.full(len(queries), grade)])[order]
    return Qrels(qrels.name, qrels.queries, starts, qrels.documents, grades)
