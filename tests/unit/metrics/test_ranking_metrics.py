"""Rankings as metrics: several outputs an item, and each failure apart."""

import asyncio

import pytest

from calibrant import EvalInput
from calibrant.errors import InputError, UnknownNameError
from calibrant.metrics import PyTrecMetric, TopKAccuracy
from calibrant.retrieval import measure

FOUND = EvalInput(id="q1", retrieved_chunks=["x", "a", "y", "b"], relevant_ids=["a", "b"])
LOST = EvalInput(id="q2", retrieved_chunks=[], relevant_ids=["a"])


def evaluated(metric, data):
    return asyncio.run(metric.evaluate(data))


def test_the_outputs_are_those_of_the_kernel():
    found = evaluated(PyTrecMetric(), FOUND)
    assert set(found) == {"nDCG@10", "P@10", "R@10", "RR", "AP"}
    expected = measure({"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y", "b"]}, list(found)).per_query["q"]
    assert {name: one["score"] for name, one in found.items()} == pytest.approx(expected)
    # By hand: ranks 2 and 4 of two relevant.
    assert (found["AP"]["score"], found["RR"]["score"], found["P@10"]["score"]) == (0.5, 0.5, 0.2)


def test_items_of_a_list_keep_their_order_and_failures_stay_apart():
    items = [
        LOST,
        EvalInput(id="q3", retrieved_chunks=["a"], relevant_ids=[]),
        FOUND,
        EvalInput(id="q4", relevant_ids=["a"]),
        EvalInput(id="q5", retrieved_chunks=["a"]),
        FOUND,
    ]
    found = evaluated(PyTrecMetric("RR"), items)
    assert [one.get("error_code") or one["RR"]["score"] for one in found] == [
        0.0,
        "not_applicable",
        0.5,
        "missing_field",
        "missing_field",
        0.5,
    ]


def test_nothing_retrieved_at_all_scores_zero():
    assert evaluated(PyTrecMetric("RR"), LOST)["RR"]["score"] == 0.0


def test_grades_take_the_place_of_relevant_ids_and_a_repeated_id_counts_once():
    graded = EvalInput(retrieved_chunks=["b", "b", "a"], relevance={"a": 3, "b": 1})
    found = evaluated(PyTrecMetric(["nDCG@10", "P@2"]), graded)
    expected = measure({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}, ["nDCG@10"]).per_query["q"]["nDCG@10"]
    assert found["nDCG@10"]["score"] == pytest.approx(expected)
    assert found["P@2"]["score"] == 1.0
    assert (
        evaluated(PyTrecMetric("RR"), EvalInput(retrieved_chunks=["a"], relevance=[1]))["error_code"] == "metric_error"
    )


def test_top_k_accuracy_is_whether_a_relevant_one_is_among_the_first_k():
    found = evaluated(TopKAccuracy(), FOUND)
    assert {name: one["score"] for name, one in found.items()} == {
        "top_1": 0.0,
        "top_3": 1.0,
        "top_5": 1.0,
        "top_10": 1.0,
    }
    assert evaluated(TopKAccuracy(2), [FOUND])[0]["top_2"]["score"] == 1.0


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: PyTrecMetric([]), InputError),
        (lambda: PyTrecMetric("nDGC@10"), (InputError, UnknownNameError)),
        (lambda: TopKAccuracy(0), InputError),
        (lambda: TopKAccuracy([]), InputError),
    ],
)
def test_measures_that_mean_nothing_are_refused(make, error):
    with pytest.raises(error):
        make()


def test_the_instrument_knows_the_measures():
    assert PyTrecMetric("RR").instrument != PyTrecMetric("AP").instrument
    assert TopKAccuracy(1).instrument != TopKAccuracy(2).instrument


@pytest.mark.parametrize("grade", ["high", None, float("nan"), float("inf"), [1]])
def test_a_grade_that_is_no_number_fails_its_item_alone(grade):
    items = [
        EvalInput(id="good", retrieved_chunks=["a"], relevance={"a": 2}),
        EvalInput(id="bad", retrieved_chunks=["a"], relevance={"a": 2, "b": grade}),
    ]
    good, bad = asyncio.run(PyTrecMetric(["RR"]).evaluate(items))
    assert good["RR"]["score"] == 1.0
    assert bad["error_code"] == "metric_error"
    assert "relevance of item 'bad': the grade of 'b' is a number, not" in bad["error"]
