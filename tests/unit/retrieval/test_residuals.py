"""What unjudged documents could make of each measure, worked out by hand."""

import numpy as np
import pytest

from calibrant.retrieval import measure

# ranked: unjudged, relevant, unjudged, irrelevant; one more relevant document was not retrieved
QRELS = {"q": {"a": 1, "n": 0, "far": 1}}
RUN = {"q": ["u1", "a", "u2", "n"]}
LOG3 = np.log2(3)


def residual(text, qrels=None, run=None, **policies):
    result = measure(qrels or QRELS, run or RUN, text, **policies)
    return result.residual(text)[0]


@pytest.mark.parametrize(
    ("text", "now", "best"),
    [
        ("P@1", 0, 1),
        ("P@2", 1 / 2, 1),
        ("P@4", 1 / 4, 3 / 4),
        ("SetP", 1 / 4, 3 / 4),
        ("RR", 1 / 2, 1),
        ("RR@1", 0, 1),
        ("hit@1", 0, 1),
        ("Success@2", 1, 1),
        ("R@4", 1 / 2, 3 / 4),  # of then 4 relevant ones, 3 are found
        ("R@1", 0, 1 / 3),  # of then 3 relevant ones, 1 is found
        ("SetR", 1 / 2, 3 / 4),
        ("F1@4", 2 * 1 / (4 + 2), 2 * 3 / (4 + 4)),
        ("SetF1", 2 * 1 / (4 + 2), 2 * 3 / (4 + 4)),
        ("AP", (1 / 2) / 2, (1 + 1 + 1) / 4),
        ("AP@2", (1 / 2) / 2, (1 + 1) / 3),
        ("Rprec", 1 / 2, 3 / 4),
        ("bpref", 1 / 2, 3 / 4),  # nothing irrelevant above the one found, and above the three that would be
        ("nDCG@2", (1 / LOG3) / (1 + 1 / LOG3), 1),
        ("RBP(p=0.5)@4", 0.25, 0.25 + 0.5 + 0.125 + 0.0625),  # and below rank 4, which RBP's own residual counts
    ],
)
def test_the_residual_is_what_is_missing_to_the_best_that_could_be(text, now, best):
    result = measure(QRELS, RUN, text)
    assert result.of(text)[0] == pytest.approx(now)
    assert result.residual(text)[0] == pytest.approx(best - now)


def test_a_measure_that_counts_no_relevance_has_none():
    assert residual("judged@4") == 0.0


def test_rank_biased_precision_leaves_the_weight_of_unjudged_ranks_and_of_all_below():
    assert residual("RBP(p=0.5)") == pytest.approx(1 - 0.25 - 0.0625)
    assert residual("RBP(p=0.5)", run={"q": ["a", "n"]}) == pytest.approx(0.25)
    assert residual("RBP", run={"q": []}) == pytest.approx(1.0)


def test_unjudged_documents_get_the_highest_grade_in_ndcg_and_the_lowest_relevant_one_elsewhere():
    qrels, run = {"q": {"a": 3}}, {"q": ["u", "a"]}
    result = measure(qrels, run, ["nDCG@2", "P(rel=2)@2"])
    assert result.of("nDCG@2")[0] + result.residual("nDCG@2")[0] == pytest.approx(1.0)
    assert result.residual("P(rel=2)@2")[0] == pytest.approx(0.5)


def test_a_residual_is_never_below_nothing():
    qrels = {"q": {"a": 1}}
    assert residual("R@1", qrels, {"q": ["a", "u"]}) == 0.0
    assert residual("R", qrels, {"q": ["a", "u"]}) == 0.0
    assert residual("AP", qrels, {"q": ["a", "u"]}) == 0.0


def test_residuals_go_by_query_and_leave_out_what_the_result_leaves_out():
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    run = {"q1": ["a"], "q3": ["u", "c"]}
    assert measure(qrels, run, "P@1").residual("P@1").tolist() == [0.0, 0.0, 1.0]
    assert measure(qrels, run, "P@1", queries="intersection").residual("P@1").tolist() == [0.0, 1.0]


def test_a_residual_is_asked_by_any_spelling():
    result = measure(QRELS, RUN, "P@2")
    assert result.residual("precision@2").tolist() == result.residual("P@2").tolist()


def test_the_mean_residuals_are_those_of_rbp_alone():
    result = measure(QRELS, RUN, ["P@2", "RBP(p=0.5)", "RBP(p=0.9)@2"])
    assert list(result.residuals) == ["RBP(p=0.5)", "RBP(p=0.9)@2"]
    assert result.residuals["RBP(p=0.5)"] == pytest.approx(0.6875)
    assert measure(QRELS, {}, "RBP", queries="intersection").residuals == {"RBP": None}


def test_ties_with_unjudged_documents_are_filled_too():
    tied = {"q": {"u1": 1.0, "a": 1.0}}
    result = measure({"q": {"a": 1}}, tied, "P@1", ties="expected")
    assert result.of("P@1")[0] == pytest.approx(0.5)
    assert 0 <= result.residual("P@1")[0] <= 0.5 + 1e-12


@pytest.mark.parametrize("text", ["P@1", "P@2", "AP", "nDCG", "RR", "bpref"])
def test_judged_documents_that_share_a_score_leave_nothing_open(text):
    # Both stand on ranks 1 and 2; taking rank 2 for unjudged would promise 1.0 where half of it is known to be lost.
    assert residual(text, {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, ties="expected") == 0.0


def test_of_a_tie_that_goes_on_behind_k_each_document_may_stand_before_it():
    tied = {"q": {"first": 2.0, "a": 1.0, "u1": 1.0, "u2": 1.0}}
    result = measure({"q": {"first": 0, "a": 1}}, tied, ["P@2", "R@2"], ties="expected")
    assert result.of("P@2")[0] == pytest.approx(1 / 3 / 2)
    assert result.of("P@2")[0] + result.residual("P@2")[0] == pytest.approx(1 / 2)  # rank 2 is one of three relevant
    assert result.of("R@2")[0] + result.residual("R@2")[0] == pytest.approx(1 / 3)
