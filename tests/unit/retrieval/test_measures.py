import numpy as np
import pytest

from calibrant import EvalInput
from calibrant.errors import InputError, UnknownNameError
from calibrant.retrieval import UserMeasure, measure

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}, "q3": {"d": 0}}
RUN = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"c": 1.0}, "q9": {"z": 1.0}}


def test_all_queries_of_the_qrels_count_and_those_without_results_are_named():
    result = measure(QRELS, RUN, ["RR"])
    assert result.queries == ("q1", "q2", "q3")
    assert result.of("RR").tolist() == [0.5, 1.0, 0.0]
    assert result.queries_without_results == ("q3",)
    assert (result["RR"].value, result["RR"].n) == (0.5, 3)
    assert result.warnings == ("1 query of the ranking is ignored, not being in the qrels",)


def test_the_intersection_leaves_out_and_counts_as_skipped():
    result = measure(QRELS, RUN, "RR", queries="intersection")
    assert result.queries == ("q1", "q2")
    assert (result["RR"].value, result["RR"].coverage.skipped) == (0.75, 1)
    assert result.queries_without_results == ("q3",)
    assert result.conventions.name == "trec_eval, queries=intersection"


def test_scores_that_float32_cannot_tell_apart_are_ties_of_trec_eval_9():
    run = {"q1": {"a": 0.1 + 1e-12, "b": 0.1}}
    assert measure(QRELS, run, "RR", score_dtype="float64").of("RR")[0] == 1.0
    assert measure(QRELS, run, "RR", score_dtype="float32").of("RR")[0] == 0.5


def test_documents_that_come_twice_are_an_error_or_one_of_them_counts():
    run = [("q1", "a", 9.0), ("q1", "b", 5.0), ("q1", "a", 1.0)]
    with pytest.raises(InputError) as error:
        measure(QRELS, run, "RR")
    assert "query 'q1' has document 'a' 2 times; pass on_duplicate=\"first\" or \"last\" to keep one" in str(
        error.value
    )
    assert measure(QRELS, run, "RR", on_duplicate="first").of("RR")[0] == 1.0
    assert measure(QRELS, run, "RR", on_duplicate="last").of("RR")[0] == 0.5
    kept = measure(QRELS, run, "judged@3", on_duplicate="last")
    assert kept.of("judged@3")[0] == 1.0


def test_a_score_that_is_no_number_is_an_error_or_dropped_and_counted():
    run = {"q1": {"a": 1.0, "b": float("nan")}}
    with pytest.raises(InputError) as error:
        measure(QRELS, run, "RR")
    assert "the score of document 'b' of query 'q1' is not a number; pass on_nan=\"drop\"" in str(error.value)
    result = measure(QRELS, run, "RR", on_nan="drop")
    assert result.of("RR")[0] == 1.0
    assert result.warnings == ("1 row was dropped, with a score that is not a number",)


def test_infinite_scores_are_an_order_like_any_other():
    run = {"q1": {"a": float("inf"), "b": 5.0, "c": float("-inf")}}
    assert measure(QRELS, run, "RR").of("RR")[0] == 1.0


def test_ids_that_never_meet_are_warned_of():
    assert measure(QRELS, {"Q1": {"a": 1.0}}, "RR").warnings[-1] == (
        "no query of the qrels has results: do the ids of the queries agree?"
    )
    assert measure(QRELS, {"q1": {"A": 1.0}}, "RR").warnings == (
        "no document that was retrieved is judged: do the ids of the documents agree?",
    )


def test_an_empty_ranking_is_measured_as_nothing_found():
    result = measure(QRELS, {}, ["P@10", "nDCG", "judged@5", "RBP"])
    assert all(not values.any() for values in result.values.values())
    assert result.queries_without_results == ("q1", "q2", "q3")
    assert measure(QRELS, {}, "P@10", queries="intersection")["P@10"].value is None


def test_users_measures_get_ranks_and_grades_of_all_judged_documents():
    seen = []

    def found(ranks, grades):
        seen.append((ranks.tolist(), grades.tolist()))
        return float(np.isfinite(ranks).mean())

    result = measure({"q": {"a": 2, "b": 0, "c": 2, "d": 1}}, {"q": ["x", "b", "a"]}, ["RR", found])
    assert seen == [([2.0, 3.0, np.inf, np.inf], [0.0, 2.0, 2.0, 1.0])]
    assert result.per_query == {"q": {"RR": 1 / 3, "found": 0.5}}


def test_a_users_measure_is_a_finite_number():
    with pytest.raises(InputError, match="broken gave nan for query 'q1'; a measure is a finite number"):
        measure(QRELS, RUN, UserMeasure("broken", lambda ranks, grades: float("nan")))


def test_a_users_measure_has_no_expected_value_over_ties():
    with pytest.raises(InputError, match="ranks has no expected value over ties"):
        measure(QRELS, {"q1": {"a": 1, "b": 1}}, UserMeasure("ranks", lambda ranks, grades: 1.0), ties="expected")


def test_a_result_is_asked_by_any_spelling_of_a_measure_it_has():
    result = measure(QRELS, RUN, ["nDCG@10"])
    assert result["ndcg@10"] == result["nDCG@10"]
    with pytest.raises(UnknownNameError, match="unknown measure of this result 'AP'; expected one of: nDCG@10"):
        result["AP"]


def test_json_has_the_estimates_and_the_queries_when_asked():
    result = measure(QRELS, RUN, ["RR", "RBP(p=0.5)"], name="bm25")
    entry = result.to_json(per_query=True)
    assert list(entry) == ["name", "path", "queries_without_results", "measures", "residuals", "per_query"]
    assert entry["measures"]["RR"] == result["RR"].to_json()
    assert entry["per_query"]["q1"] == {"RR": 0.5, "RBP(p=0.5)": 0.25}
    assert "per_query" not in result.to_json()


def test_residuals_say_what_unjudged_documents_could_make():
    qrels, run = {"q": {"a": 1}}, {"q": ["x", "a", "y"]}
    result = measure(qrels, run, ["P@2", "RR", "R", "nDCG@2", "RBP(p=0.5)", "bpref", "judged@3", "hit@1", "F1@3"])
    residuals = {name: result.residual(name)[0] for name in result.measures}
    assert residuals["P@2"] == 0.5
    assert residuals["RR"] == 0.5
    assert residuals["R"] == 0.0
    assert residuals["nDCG@2"] == pytest.approx(1.0 - result.of("nDCG@2")[0])
    assert residuals["RBP(p=0.5)"] == 0.75
    assert (residuals["bpref"], residuals["judged@3"], residuals["hit@1"]) == (0.0, 0.0, 1.0)


def test_fully_judged_rankings_have_no_residual():
    result = measure({"q": {"a": 1, "b": 0}}, {"q": ["b", "a"]}, ["P@2", "AP", "nDCG", "Rprec", "SetF1"])
    assert [result.residual(name)[0] for name in result.measures] == [0.0] * 5


def test_a_users_measure_has_no_residual():
    result = measure(QRELS, RUN, UserMeasure("one", lambda ranks, grades: 1.0))
    with pytest.raises(InputError, match="one is your own measure"):
        result.residual("one")


@pytest.mark.parametrize(
    "qrels",
    [
        {"q1": ["a"], "q2": []},
        {"q2": {}, "q1": {"a": 1}},
        [EvalInput(id="q1", relevant_ids=["a"]), EvalInput(id="q2", relevant_ids=[])],
        iter([{"id": "q1", "relevant_ids": ["a"]}, {"id": "q2", "relevant_ids": []}]),
    ],
)
def test_a_query_without_judgments_stays_counts_0_and_is_warned_of(qrels):
    result = measure(qrels, {"q1": ["a"], "q2": ["b"]}, ["RR", "nDCG", "AP", lambda ranks, grades: float(len(grades))])
    assert result.queries == ("q1", "q2")
    assert list(result.per_query["q2"].values()) == [0.0, 0.0, 0.0, 0.0]
    assert result["RR"].value == 0.5
    assert result.warnings == ("1 query of the qrels has no judged document, so every measure is 0 there",)


@pytest.mark.parametrize("found", [["a", "b"], ["b"]])
def test_a_grade_whose_gain_is_beyond_all_numbers_is_refused_by_name(found):
    qrels = {"q0": {"c": 1}, "q1": {"a": 2000, "b": 1}}
    with pytest.raises(InputError) as caught:
        measure(qrels, {"q1": found}, "nDCG(gain=exponential)")
    assert str(caught.value).splitlines() == [
        "qrels has 1 problem:",
        "  query 'q1' has the grade 2000, too large for exponential gain; map the grades to smaller ones",
    ]
    assert measure(qrels, {"q1": ["a", "b"]}, "nDCG").per_query["q1"]["nDCG"] == 1.0
