"""The measures as arithmetic on judged documents: every function gives one value a query of the qrels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calibrant.errors import InputError, shortened
from calibrant.retrieval import expected
from calibrant.retrieval.evidence import EVERY, gains, ratio
from calibrant.retrieval.notation import UserMeasure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from calibrant.retrieval.evidence import Evidence, Rows
    from calibrant.retrieval.notation import Measure
    from calibrant.retrieval.qrels import Qrels

__all__ = ["FORMULAS", "rank_biased_mass", "user_values", "values_of"]


def precision(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """Relevant documents in the first k, over k or over what was retrieved; without k over all that was retrieved."""
    hits = evidence.hits(measure.parameter("rel"), measure.cutoff)
    return ratio(hits, _retrieved(evidence, measure))


def recall(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """Relevant documents in the first k, over all relevant ones."""
    level = measure.parameter("rel")
    return ratio(evidence.hits(level, measure.cutoff), evidence.qrels.relevant(level))


def harmonic_mean(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """F1: 2PR / (P + R), which is 2 * hits / (what P divides by + all relevant)."""
    level = measure.parameter("rel")
    hits = evidence.hits(level, measure.cutoff)
    return ratio(2.0 * hits, _retrieved(evidence, measure) + evidence.qrels.relevant(level))


def _retrieved(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    retrieved = evidence.judged.retrieved.astype(np.float64)
    if measure.cutoff is None:
        return retrieved
    if evidence.conventions.precision == "retrieved":
        return np.minimum(retrieved, measure.cutoff)
    return np.full(evidence.count, float(measure.cutoff))


def average_precision(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """The sum of the precision at each relevant document of the first k, over all relevant documents."""
    level = measure.parameter("rel")
    if evidence.judged.sizes is not None:
        total = expected.precision_sums(evidence, level, measure.cutoff)
    else:
        rows = evidence.relevant(level)
        ranks, queries = evidence.judged.ranks[rows], evidence.judged.queries[rows]
        found = np.arange(1, len(queries) + 1) - np.searchsorted(queries, queries)
        precisions = found / ranks
        if measure.cutoff is not None:
            precisions = np.where(ranks <= measure.cutoff, precisions, 0.0)
        total = np.bincount(queries, precisions, minlength=evidence.count)
    return ratio(total, evidence.qrels.relevant(level))


def reciprocal_rank(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """One over the rank of the first relevant document, 0 when there is none in the first k."""
    level = measure.parameter("rel")
    if evidence.judged.sizes is not None:
        return expected.first_relevant(evidence, level, measure.cutoff, lambda ranks: 1.0 / ranks)
    first = _first_rank(evidence, level)
    cutoff = np.inf if measure.cutoff is None else measure.cutoff
    return np.where(first <= cutoff, 1.0 / first, 0.0)


def success(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """1 when there is a relevant document in the first k."""
    level = measure.parameter("rel")
    if evidence.judged.sizes is not None:
        return expected.first_relevant(evidence, level, measure.cutoff, np.ones_like)
    cutoff = np.finfo(np.float64).max if measure.cutoff is None else measure.cutoff
    return (_first_rank(evidence, level) <= cutoff).astype(np.float64)


def _first_rank(evidence: Evidence, level: float) -> NDArray[np.float64]:
    rows = evidence.relevant(level)
    first = np.full(evidence.count, np.inf)
    np.minimum.at(first, evidence.judged.queries[rows], evidence.judged.ranks[rows])
    return first


def ndcg(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """The gains over log2(rank + 1) of the first k, over those of the best order of all judged documents."""
    gain = measure.parameter("gain") or evidence.conventions.gain
    rows = np.flatnonzero(evidence.judged.grades > 0)
    discounts = evidence.weights(rows, lambda ranks: 1.0 / np.log2(ranks + 1.0), measure.cutoff)
    with np.errstate(over="ignore", invalid="ignore"):  # too large a grade is named below
        found = evidence.per_query(rows, gains(evidence.judged.grades[rows], gain) * discounts)
        ideal = _ideal(evidence.qrels, gain, measure.cutoff)
    _refuse_too_large(evidence.qrels, np.isfinite(ideal) & np.isfinite(found), gain)
    return ratio(found, ideal)


def _refuse_too_large(qrels: Qrels, is_finite: NDArray[np.bool_], gain: str) -> None:
    """Raise when a query has a grade whose gain is beyond what a floating-point number can hold."""
    problems = [
        f"query {shortened(qrels.queries[place])} has the grade "
        f"{qrels.grades[qrels.starts[place] : qrels.starts[place + 1]].max():g}, too large for {gain} gain; "
        "map the grades to smaller ones"
        for place in np.flatnonzero(~is_finite).tolist()
    ]
    if problems:
        raise InputError.gathered(qrels.name, problems)


def _ideal(qrels: Qrels, gain: str, cutoff: int | None) -> NDArray[np.float64]:
    """The discounted gain of the best order of each query's judged documents."""
    rows = qrels.by_grade
    codes = qrels.codes[rows]
    places = np.arange(len(rows)) - np.searchsorted(codes, codes)
    inside = places < (len(rows) if cutoff is None else cutoff)
    values = gains(qrels.grades[rows[inside]], gain) / np.log2(places[inside] + 2.0)
    return np.bincount(codes[inside], values, minlength=len(qrels.queries)).astype(np.float64)


def r_precision(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """Relevant documents in the first R, over R, where R documents are relevant."""
    level = measure.parameter("rel")
    relevant = evidence.qrels.relevant(level)
    return ratio(evidence.hits(level, relevant), relevant)


def bpref(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """The mean over relevant documents of 1 - (judged irrelevant ones above, at most R) / min(R, N).

    A relevant document that was not retrieved adds 0.

    Buckley and Voorhees (2004), in trec_eval's version: 1 for a document with no judged irrelevant one above.
    """
    level, judged = measure.parameter("rel"), evidence.judged
    rows = evidence.relevant(level)
    queries = judged.queries[rows]
    irrelevant = (judged.grades >= 0) & (judged.grades < level)  # below 0, trec_eval has it, nobody judged
    before = np.concatenate(([0], np.cumsum(irrelevant)))
    totals = evidence.qrels.relevant(level)
    most = np.minimum(totals, evidence.qrels.relevant(0.0) - totals)[queries]
    if judged.sizes is not None:
        worth = expected.preferences(evidence, rows, before, most)
    else:
        above = before[rows] - before[evidence.first_rows[queries]]
        worth = 1.0 - ratio(np.minimum(above, most), most)
    return ratio(evidence.per_query(rows, worth), totals)


def rank_biased_precision(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """(1 - p) times the sum of p**(rank - 1) over relevant documents: Moffat and Zobel (2008)."""
    return _persistence(evidence, measure, evidence.relevant(measure.parameter("rel")))


def _persistence(evidence: Evidence, measure: Measure, rows: Rows) -> NDArray[np.float64]:
    p = measure.parameter("p")
    return evidence.per_query(
        rows, evidence.weights(rows, lambda ranks: (1.0 - p) * p ** (ranks - 1.0), measure.cutoff)
    )


def rank_biased_mass(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """The weight in RBP of all judged documents; what is missing to 1 is its residual."""
    return _persistence(evidence, measure, EVERY)


def judged_share(evidence: Evidence, measure: Measure) -> NDArray[np.float64]:
    """Judged documents in the first k, over what was retrieved, at most k."""
    found = evidence.per_query(EVERY, evidence.weights(EVERY, np.ones_like, measure.cutoff))
    retrieved = evidence.judged.retrieved
    return ratio(found, retrieved if measure.cutoff is None else np.minimum(retrieved, measure.cutoff))


FORMULAS: Mapping[str, Callable[[Evidence, Measure], NDArray[np.float64]]] = {
    "P": precision,
    "R": recall,
    "F1": harmonic_mean,
    "AP": average_precision,
    "RR": reciprocal_rank,
    "nDCG": ndcg,
    "hit": success,
    "Success": success,
    "Rprec": r_precision,
    "bpref": bpref,
    "RBP": rank_biased_precision,
    "judged": judged_share,
    "SetP": precision,
    "SetR": recall,
    "SetF1": harmonic_mean,
}
"""The formula of every family of measures."""


def values_of(evidence: Evidence, measure: Measure | UserMeasure) -> NDArray[np.float64]:
    """The values of a measure, one a query of the qrels."""
    if isinstance(measure, UserMeasure):
        return user_values(evidence, measure)
    return FORMULAS[measure.family.name](evidence, measure)


def user_values(evidence: Evidence, measure: UserMeasure) -> NDArray[np.float64]:
    """A user's function of the ranks and grades of each query's judged documents; those not retrieved have rank inf."""
    if evidence.judged.sizes is not None and (evidence.judged.sizes > 1).any():
        raise InputError(f"{measure.name} has no expected value over ties, as a function of ranks; use ties='trec'")
    ranks, grades, starts = _all_judged(evidence)
    values = np.empty(evidence.count)
    for place, (first, last) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)):
        query = evidence.qrels.queries[place]
        values[place] = _user_value(measure, query, ranks[first:last], grades[first:last])
    return values


def _user_value(measure: UserMeasure, query: str, ranks: NDArray[np.float64], grades: NDArray[np.float64]) -> float:
    try:
        value = measure.function(ranks, grades)
    except Exception as error:
        error.add_note(f"in the measure {measure.name}, for query {query!r}")
        raise
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise InputError(f"{measure.name} gave {shortened(value)} for query {query!r}; a measure is a finite number")
    return number


def _all_judged(evidence: Evidence) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Ranks and grades of all judged documents by query and rank: the retrieved ones, then the others, best first."""
    qrels, judged = evidence.qrels, evidence.judged
    order = np.lexsort((-qrels.grades, qrels.codes))
    codes, grades = qrels.codes, qrels.grades[order]
    unseen = _without_retrieved(evidence, codes, grades)
    queries = np.concatenate([judged.queries, codes[unseen]])
    ranks = np.concatenate([judged.ranks, np.full(int(unseen.sum()), np.inf)])
    by_query = np.lexsort((ranks, queries))
    all_grades = np.concatenate([judged.grades, grades[unseen]])
    return ranks[by_query], all_grades[by_query], qrels.starts


def _without_retrieved(evidence: Evidence, codes: NDArray[np.int64], grades: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows, sorted by query and grade, remain when each retrieved document takes one of its grade away."""
    judged = evidence.judged
    order = np.lexsort((-judged.grades, judged.queries))
    found = judged.queries[order] + 1j * -judged.grades[order]
    rows = codes + 1j * -grades
    first = np.searchsorted(rows, found)
    nth = np.arange(len(found)) - np.searchsorted(found, found)
    unseen = np.ones(len(rows), dtype=np.bool_)
    unseen[first + nth] = False
    return unseen
