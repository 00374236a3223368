"""The conventions of each tool, on the cases where tools differ. What each does was measured on the tool itself."""

import pytest
import pytrec_eval

from calibrant.errors import InputError
from calibrant.retrieval import CONVENTIONS, Conventions, RetrievalMetricsCalculator, measure

TIED = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}
NEAR = {"q": {"a": 0.1 + 1e-12, "b": 0.1}}
TWICE = [("q", "a", 3.0), ("q", "b", 2.0), ("q", "a", 1.0)]
MISSING = {"q": {"a": 1}, "none": {"b": 1}}


@pytest.mark.parametrize(
    ("name", "value"),
    [("trec_eval", 1 / 3), ("pytrec_eval", 1 / 3), ("ranx", 1.0), ("seed", 1.0)],
)
def test_ties_go_by_document_descending_or_as_given(name, value):
    assert measure({"q": {"a": 1}}, TIED, "RR", conventions=name).of("RR")[0] == pytest.approx(value)


@pytest.mark.parametrize(("name", "value"), [("trec_eval", 1.0), ("pytrec_eval", 0.5), ("ranx", 1.0), ("seed", 1.0)])
def test_scores_that_differ_past_float32_are_ties_to_pytrec_eval(name, value):
    assert measure({"q": {"a": 1}}, NEAR, "RR", conventions=name).of("RR")[0] == value


def test_so_they_are_to_pytrec_eval_itself():
    theirs = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"}).evaluate(NEAR)
    assert theirs["q"]["recip_rank"] == 0.5


@pytest.mark.parametrize(("name", "queries"), [("trec_eval", 2), ("pytrec_eval", 1), ("ranx", 2), ("seed", 2)])
def test_queries_without_results_count_0_or_are_left_out(name, queries):
    result = measure(MISSING, {"q": ["a"]}, "RR", conventions=name)
    assert (len(result.queries), result["RR"].value) == (queries, 1 / queries)
    assert result.queries_without_results == ("none",)


@pytest.mark.parametrize(("name", "value"), [("ranx", 0.5), ("seed", 1.0)])
def test_a_document_twice_counts_once_last_or_first(name, value):
    assert measure({"q": {"a": 1}}, TWICE, "RR", conventions=name).of("RR")[0] == value


@pytest.mark.parametrize("name", ["trec_eval", "pytrec_eval"])
def test_a_document_twice_is_an_error_to_trec_eval(name):
    with pytest.raises(InputError, match="query 'q' has document 'a' 2 times"):
        measure({"q": {"a": 1}}, TWICE, "RR", conventions=name)


@pytest.mark.parametrize(
    ("name", "value"), [("trec_eval", 0.2), ("pytrec_eval", 0.2), ("ranx", 0.2), ("seed", pytest.approx(2 / 3))]
)
def test_precision_divides_by_k_or_by_what_was_retrieved(name, value):
    qrels, run = {"q": {"a": 1, "b": 1, "c": 0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert measure(qrels, run, "P@10", conventions=name).of("P@10")[0] == value


@pytest.mark.parametrize(("name", "gain"), [("trec_eval", 2), ("pytrec_eval", 2), ("ranx", 2), ("seed", 3)])
def test_the_gain_of_grade_2_is_2_or_3(name, gain):
    result = measure({"q": {"a": 2, "b": 1}}, {"q": ["b"]}, "nDCG@1", conventions=name)
    assert result.of("nDCG@1")[0] == pytest.approx(1 / gain)


def test_pytrec_evals_set_gives_pytrec_evals_values():
    qrels = {"q": {"a": 2, "b": 0, "c": 1}, "r": {"a": 1}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg", "map", "P.5"}).evaluate(TIED)
    ours = measure(qrels, TIED, ["ndcg", "map", "P_5"], conventions="pytrec_eval")
    assert list(ours.per_query) == list(theirs)
    assert list(ours.per_query["q"].values()) == pytest.approx([theirs["q"][name] for name in ("ndcg", "map", "P_5")])


def test_the_seeds_set_gives_the_calculators_values():
    metrics = RetrievalMetricsCalculator(k=5).evaluate(["x", "a", "a", "b"], ["a", "b", "z"])
    texts = ["P@5", "R@5", "F1@5", "RR@5", "nDCG@5", "hit@5"]
    ours = measure({"q": ["a", "b", "z"]}, {"q": ["x", "a", "a", "b"]}, texts, conventions="seed")
    assert list(ours.per_query["q"].values()) == pytest.approx(
        [metrics.precision_at_k, metrics.recall_at_k, metrics.f1_at_k, metrics.mrr, metrics.ndcg, metrics.hit_rate]
    )


@pytest.mark.parametrize("name", CONVENTIONS)
def test_the_result_says_which_conventions_were_used(name):
    result = measure({"q": {"a": 1}}, {"q": ["a"]}, "RR", conventions=name)
    assert result.conventions == CONVENTIONS[name]
    assert result.conventions.to_json()["name"] == name


def test_a_set_can_be_changed_by_one_policy_and_says_so():
    changed = measure(MISSING, {"q": ["a"]}, "RR", conventions="pytrec_eval", queries="qrels")
    assert changed.conventions.name == "pytrec_eval, queries=qrels"
    assert len(changed.queries) == 2


def test_a_name_says_what_differs_from_its_set_however_it_came_about():
    twice = Conventions.of(Conventions.of("trec_eval", ties="expected"), gain="exp")
    assert twice.name == "trec_eval, ties=expected, gain=exponential"
    assert Conventions.of(twice, ties="trec", gain="linear") == Conventions()
    assert Conventions.of(Conventions(name="ours", ties="given"), queries="all").name == "ours"
    assert Conventions.of(Conventions(name="ours"), ties="given").name == "ours, ties=given"


def test_a_list_of_items_with_a_rank_for_its_order_is_not_reordered_by_ids():
    assert measure({"q": {"a": 1}}, {"q": ["a", "b", "c"]}, "RR", ties="trec").of("RR")[0] == 1.0
