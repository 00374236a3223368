"""Metrics with several outputs, and rules without a judge, as a run keeps them; the groundedness rule at its edges."""

import asyncio

import pytest

from calibrant import EvalInput
from calibrant.metrics import GroundednessRule, PyTrecMetric, TopKAccuracy, named_metric
from calibrant.retrieval import measure
from calibrant.runs import RunSettings, run
from calibrant.runs.reopening import kept_run

RANKED = [
    {"id": "a", "query": "1", "retrieved_chunks": ["x", "r1", "y"], "relevant_ids": ["r1", "r2"]},
    {"id": "b", "query": "2", "retrieved_chunks": ["r1"], "relevant_ids": ["r1"]},
    {"id": "c", "query": "3", "retrieved_chunks": [], "relevant_ids": ["r1"]},
    {"id": "d", "query": "4", "retrieved_chunks": ["r1"], "relevant_ids": []},
]
QRELS = {"a": {"r1": 1, "r2": 1}, "b": {"r1": 1}, "c": {"r1": 1}}
FOUND = {"a": ["x", "r1", "y"], "b": ["r1"]}


def test_every_output_is_a_metric_of_its_own_in_a_run():
    result = run(RANKED, [PyTrecMetric(["RR", "R@3"]), TopKAccuracy([1, 2])])
    assert [summary.name for summary in result.metrics] == [
        "pytrec_metric/RR",
        "pytrec_metric/R@3",
        "top_k_accuracy/top_1",
        "top_k_accuracy/top_2",
    ]
    means = {summary.name: summary.score.value for summary in result.metrics}
    assert means == pytest.approx(
        {
            "pytrec_metric/RR": (0.5 + 1 + 0) / 3,
            "pytrec_metric/R@3": (0.5 + 1 + 0) / 3,
            "top_k_accuracy/top_1": 1 / 3,
            "top_k_accuracy/top_2": 2 / 3,
        }
    )
    assert all(summary.score.coverage.not_applicable == 1 for summary in result.metrics)


def test_the_numbers_are_those_of_the_kernel_over_the_same_queries():
    kernel = measure(QRELS, FOUND, ["nDCG@10", "AP"]).per_query
    result = run(RANKED, [PyTrecMetric(["nDCG@10", "AP"])])
    for name in ("nDCG@10", "AP"):
        kept = {
            rating.item: rating.value for rating in result.ratings(f"pytrec_metric/{name}") if rating.value is not None
        }
        expected = {query: kernel[query][name] if query in kernel else 0.0 for query in ("a", "b", "c")}
        assert kept == pytest.approx(expected)


def test_a_run_of_rankings_is_opened_again_with_all_its_outputs(tmp_path):
    result = run(RANKED, [PyTrecMetric("RR"), TopKAccuracy(1)], settings=RunSettings(workspace=tmp_path))
    again = kept_run(result.keeper, "latest")
    assert [(one.name, one.score) for one in again.metrics] == [(one.name, one.score) for one in result.metrics]


def test_a_ranking_that_holds_chunks_with_ids_is_read_by_their_ids():
    item = EvalInput(retrieved_chunks=[{"id": 7, "text": "x"}, {"id": "r1", "text": "y"}], relevant_ids=["r1", "7"])
    found = asyncio.run(PyTrecMetric(["P@2", "RR"]).evaluate(item))
    assert (found["P@2"]["score"], found["RR"]["score"]) == (1.0, 1.0)


def test_a_chunk_without_an_id_is_an_error_of_its_item_alone():
    items = [EvalInput(id="1", retrieved_chunks=[{"text": "x"}], relevant_ids=["r"]), EvalInput.from_dict(RANKED[1])]
    first, second = asyncio.run(PyTrecMetric("RR").evaluate(items))
    assert "retrieved_chunks of item '1'" in first["error"]
    assert second["RR"]["score"] == 1.0


@pytest.mark.parametrize("grades", [{"r1": 0}, {"r1": -1}, {}])
def test_grades_that_call_nothing_relevant_are_not_applicable(grades):
    item = EvalInput(id="q1", retrieved_chunks=["r1"], relevance=grades)
    found = asyncio.run(PyTrecMetric("RR").evaluate(item))
    assert (found["error_code"], "item 'q1' has no relevant document" in found["error"]) == ("not_applicable", True)


def rated(answer, *contexts):
    return asyncio.run(GroundednessRule().evaluate(EvalInput(id="q1", answer=answer, contexts=list(contexts))))


@pytest.mark.parametrize(
    ("answer", "context", "passes"),
    [
        ("It costs 1,250 euros.", "The price is 1250 euros; it costs more on Sundays.", True),
        ("It costs 12%.", "It costs 0.12 of the price.", True),
        ("There are twelve rooms.", "There are 12 rooms.", True),
        ("There are 12 rooms.", "There are twelve rooms.", True),
        ("Nobody is on time.", "One is on time, nobody else.", True),
        ("\u22125 degrees were measured.", "It measured 5 degrees.", True),
        ("Kim's bag is red.", "The red bag is Kim\u2019s.", True),
        ("The rooms closing early are opened late.", "Rooms close early and open late.", True),
        ("It opened in Paris.", "It opened in paris.", True),
        ("It opened in Rome.", "It opened in Paris.", False),
        ("It opened in 1999.", "It opened in 1998.", False),
        ("It opened in 1999.", "", False),
    ],
)
def test_numbers_names_and_stems_are_compared_whatever_their_spelling(answer, context, passes):
    result = rated(answer, context)
    assert result.success is passes, result.explanation


def test_a_first_word_is_no_name_and_each_sentence_has_one():
    assert rated("Rooms open early. Early rooms open.", "Early open rooms.").success
    assert not rated("Rooms open early in Ghent.", "Early open rooms.").success


def test_support_may_come_from_any_of_the_contexts():
    assert rated("It opens at ten in Delft.", "It opens at ten.", "The house stands in Delft.").success
    assert not rated("It opens at ten in Delft.").success


def test_several_answers_are_read_as_one_text_and_lines_as_sentences():
    result = rated("- It opens at ten\n- It closes at nine", "It opens at ten.")
    assert (result.score, result.details["statements"]) == (0.5, 2)
    assert result.explanation == "'It closes at nine': the number 9 is not in the contexts"


def test_a_long_answer_is_rated_in_linear_time():
    context = " ".join(f"Room {n} is open." for n in range(3000))
    result = rated(context, context)
    assert (result.score, result.details["statements"]) == (1.0, 3000)


def test_the_rule_asks_nobody_in_a_run_and_is_named_as_a_rule():
    items = [
        {"id": 1, "answer": "It is open.", "contexts": ["It is open."]},
        {"id": 2, "answer": "Hm.", "contexts": ["x"]},
    ]
    result = run(items, [named_metric("groundedness_rule")])
    assert result.usage.calls == 0
    assert {rating.rater for rating in result.ratings()} == {"rule:groundedness_rule"}
    assert result.metrics[0].pass_rate.coverage.rated == 2
