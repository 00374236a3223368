"""Equality with pytrec_eval (trec_eval 9 underneath) on rankings that hypothesis makes."""

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.retrieval import measure

PAIRS = {
    "AP": "map",
    "AP@5": "map_cut_5",
    "AP@10": "map_cut_10",
    "RR": "recip_rank",
    "P@5": "P_5",
    "P@10": "P_10",
    "R@5": "recall_5",
    "R@10": "recall_10",
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "Rprec": "Rprec",
    "Success@1": "success_1",
    "hit@5": "success_5",
    "SetP": "set_P",
    "SetR": "set_recall",
    "SetF1": "set_F",
    "bpref": "bpref",
}
BINARY = [text for text in PAIRS if not text.startswith("nDCG")]
ASKED = {name.rpartition("_")[0] if name[-1].isdigit() else name for name in PAIRS.values()}

QUERIES = st.sampled_from(["q1", "q2", "q3", "10", "é"])
DOCUMENTS = st.one_of(st.integers(0, 25).map(lambda number: f"d{number}"), st.sampled_from(["D", "dé", "d\U0001f600"]))
FEW_SCORES = st.sampled_from([0.0, 1.0, 1.5, 2.0, -1.0])
ANY_SCORES = st.floats(-1e6, 1e6, width=32)
GRADES = st.integers(0, 4)


def judgments(grades=GRADES):
    return st.dictionaries(QUERIES, st.dictionaries(DOCUMENTS, grades, min_size=1, max_size=20), min_size=1)


def results():
    return st.dictionaries(
        QUERIES, st.dictionaries(DOCUMENTS, st.one_of(FEW_SCORES, ANY_SCORES), min_size=1, max_size=25), min_size=1
    )


def assert_equal(ours, theirs, texts):
    assert set(ours.queries) == set(theirs)
    for query, values in ours.per_query.items():
        for text in texts:
            name = PAIRS[text.replace("(rel=2)", "")]
            assert values[text] == pytest.approx(theirs[query][name], abs=1e-12), (query, text)


@settings(max_examples=150, deadline=None)
@given(judgments(), results())
def test_every_measure_that_pytrec_eval_has_is_equal_to_it(qrels, run):
    theirs = pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(run)
    ours = measure(qrels, run, list(PAIRS), conventions="pytrec_eval")
    assert_equal(ours, theirs, PAIRS)
    assert set(ours.queries_without_results) == set(qrels) - set(run)


@settings(max_examples=60, deadline=None)
@given(judgments(), results())
def test_a_higher_lowest_relevant_grade_is_pytrec_evals_relevance_level(qrels, run):
    theirs = pytrec_eval.RelevanceEvaluator(qrels, ASKED, relevance_level=2).evaluate(run)
    texts = [text.replace("@", "(rel=2)@") if "@" in text else f"{text}(rel=2)" for text in BINARY]
    assert_equal(measure(qrels, run, texts, conventions="pytrec_eval"), theirs, texts)
