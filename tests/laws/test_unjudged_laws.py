"""What unjudged documents could make of a measure, held to judging them by hand and measuring again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.retrieval import compare_rankings, measure

MEASURES = ["P@3", "R@3", "F1@3", "AP", "AP@3", "RR", "nDCG", "nDCG@3", "hit@2", "Rprec", "bpref", "SetP", "SetR"]
DEEP = ["SetP", "R", "F1", "AP", "RR", "nDCG", "Rprec", "bpref"]  # without a cutoff, so that a tie is never cut
DOCUMENTS = [f"d{number}" for number in range(8)]

qrels = st.dictionaries(st.sampled_from(DOCUMENTS[:6]), st.integers(-1, 2), min_size=1).map(lambda found: {"q": found})
scores = st.sampled_from([1.0, 2.0, 3.0])
ranking = st.dictionaries(st.sampled_from(DOCUMENTS), scores, min_size=1)


def judged_relevant(judgments, documents, text):
    """The judgments with these documents relevant: of the highest grade for nDCG, of grade 1 elsewhere."""
    grade = max(1, *judgments["q"].values()) if text.startswith("nDCG") else 1
    return {"q": judgments["q"] | dict.fromkeys(documents, grade)}


def cutoff(text):
    return int(text.partition("@")[2] or 100)


@given(qrels, st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1), st.sampled_from(MEASURES))
def test_a_residual_is_what_judging_the_first_documents_relevant_adds(judgments, documents, text):
    result = measure(judgments, {"q": documents}, text)
    unjudged = [one for one in documents[: cutoff(text)] if one not in judgments["q"]]
    best = measure(judged_relevant(judgments, unjudged, text), {"q": documents}, text).of(text)[0]
    assert result.residual(text)[0] == pytest.approx(max(best - result.of(text)[0], 0.0), abs=1e-12)


@given(qrels, ranking, st.sampled_from(DEEP), st.sampled_from(["trec", "expected"]))
def test_so_it_is_among_documents_that_share_their_score(judgments, found, text, ties):
    result = measure(judgments, {"q": found}, text, ties=ties)
    unjudged = [one for one in found if one not in judgments["q"]]
    best = measure(judged_relevant(judgments, unjudged, text), {"q": found}, text, ties=ties).of(text)[0]
    assert result.residual(text)[0] == pytest.approx(max(best - result.of(text)[0], 0.0), abs=1e-12)


@given(qrels, ranking, st.sampled_from(MEASURES))
def test_where_all_is_judged_ties_leave_nothing_open(judgments, found, text):
    whole = {"q": dict.fromkeys(found, 0) | judgments["q"]}
    assert measure(whole, {"q": found}, text, ties="expected").residual(text)[0] == 0.0


@given(qrels, *(st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1) for _ in "ab"), st.sampled_from(MEASURES))
def test_the_range_of_a_difference_is_that_of_judging_what_one_of_both_returned(judgments, ours, theirs, text):
    # Unjudged documents of both get names of their own: the range takes none to be shared.
    named = {
        side: [one if one in judgments["q"] else f"{one} of {side}" for one in documents]
        for side, documents in (("a", ours), ("b", theirs))
    }
    differences = []
    for side in ("none", "a", "b"):
        unjudged = [one for one in named.get(side, [])[: cutoff(text)] if one not in judgments["q"]]
        filled = judged_relevant(judgments, unjudged, text)
        differences.append(np.subtract(*(measure(filled, {"q": named[one]}, text).of(text)[0] for one in ("b", "a"))))
    pair = compare_rankings(judgments, {one: {"q": found} for one, found in named.items()}, text).pairs[0]
    assert pair.unjudged == pytest.approx((min(differences), max(differences)), abs=1e-12)
