"""A retriever over a dataset: every shape of retriever, and queries it fails on."""

import asyncio
import sqlite3
import threading

import numpy as np
import pytest
from pydantic import ValidationError

from calibrant.errors import RatingError, WrongTypeError
from calibrant.retrieval import ContextItem, PipelineEvaluator, Retriever, ab_testing, batch
from calibrant.retrieval.batch import AggregatedMetrics, BatchEvaluator, EvaluationDataset, EvaluationSample
from calibrant.retrieval.retrievers import retrieve_all

INDEX = {"q1": ["a", "x"], "q2": ["x", "b"], "q3": ["x", "y"]}
DATASET = EvaluationDataset(
    samples=[
        EvaluationSample(query="q1", relevant_ids=["a"], metadata={"topic": "hours"}),
        EvaluationSample(query="q2", relevant_ids=["b"]),
        EvaluationSample(query="q3", relevant_ids=["c"]),
    ],
    name="three",
)


def search(query, top_k):
    return INDEX[query][:top_k]


class Plain:
    def retrieve(self, query, top_k=10):
        return [ContextItem(id=one, content="x") for one in search(query, top_k)]


class Awaited:
    async def retrieve(self, query, top_k):
        await asyncio.sleep(0)
        return search(query, top_k)


class Called:
    async def __call__(self, query, top_k):
        return search(query, top_k)


async def awaited(query, *, top_k):
    return search(query, top_k)


def by_keyword(query, *, top_k):
    return search(query, top_k)


def a_coroutine_by_a_plain_function(query, top_k):
    return awaited(query, top_k=top_k)


@pytest.mark.parametrize(
    "retriever", [search, Plain(), Awaited(), Called(), awaited, by_keyword, a_coroutine_by_a_plain_function]
)
def test_objects_and_functions_synchronous_or_not_are_retrievers(retriever):
    metrics = BatchEvaluator(PipelineEvaluator(), retriever).evaluate(DATASET)
    assert (metrics.count, metrics.mean_mrr, metrics.failures) == (3, 0.5, [])


@pytest.mark.parametrize("retriever", [search, Awaited(), awaited])
def test_they_are_retrievers_inside_a_running_loop_too(retriever):
    evaluator = BatchEvaluator(PipelineEvaluator(), retriever)

    async def caller():
        return evaluator.evaluate(DATASET), await evaluator.evaluate_async(DATASET)

    first, second = asyncio.run(caller())
    assert first == second
    assert first.mean_mrr == 0.5


def test_the_metrics_print_as_means_with_intervals_and_every_failure():
    def failing(query, top_k):
        if query == "q3":
            raise TimeoutError("no answer")
        return search(query, top_k)

    metrics = BatchEvaluator(PipelineEvaluator(), failing).evaluate(DATASET)
    *lines, failed = str(metrics).splitlines()
    assert {line.split()[0]: line.split()[1] for line in lines} == {
        name: f"{estimate.value:.3f}" for name, estimate in metrics.estimates().items()
    }
    assert all("] n=2, 1 failed" in line for line in lines)
    assert failed == "failed: on query 'q3': TimeoutError: no answer"


def test_the_protocol_is_retrieve_with_query_and_top_k():
    assert isinstance(Plain(), Retriever)
    assert not isinstance(object(), Retriever)


def test_all_fields_of_the_aggregate_are_those_of_the_queries():
    metrics = BatchEvaluator(PipelineEvaluator(), search).evaluate(DATASET, k=2)
    precision = [0.5, 0.5, 0.0]
    recall = [1.0, 1.0, 0.0]
    assert metrics.count == 3
    assert metrics.mean_precision == pytest.approx(1 / 3)
    assert metrics.mean_recall == pytest.approx(2 / 3)
    assert metrics.mean_f1 == pytest.approx((2 / 3 + 2 / 3) / 3)
    assert metrics.mean_mrr == pytest.approx(1.5 / 3)
    assert metrics.mean_ndcg == pytest.approx((1 + 1 / np.log2(3)) / 3)
    assert metrics.mean_hit_rate == pytest.approx(2 / 3)
    assert metrics.p95_precision == pytest.approx(np.percentile(precision, 95))
    assert metrics.p95_recall == pytest.approx(np.percentile(recall, 95))
    assert (metrics.min_precision, metrics.min_recall) == (0.0, 0.0)
    assert [one.metadata for one in metrics.per_sample_results] == [
        {"topic": "hours", "query": "q1"},
        {"query": "q2"},
        {"query": "q3"},
    ]
    assert [one.retrieval_metrics.mrr for one in metrics.per_sample_results] == [1.0, 0.5, 0.0]


def test_an_empty_dataset_has_the_count_zero():
    assert BatchEvaluator(PipelineEvaluator(), search).evaluate(EvaluationDataset()) == AggregatedMetrics()
    assert AggregatedMetrics().count == 0


def test_top_k_is_what_the_retriever_is_asked_for_and_k_is_the_cutoff():
    asked = []

    def recording(query, top_k):
        asked.append(top_k)
        return INDEX[query]

    metrics = BatchEvaluator(PipelineEvaluator(), recording, top_k=2).evaluate(DATASET, k=1)
    assert asked == [2, 2, 2]
    assert metrics.mean_mrr == pytest.approx(1 / 3)


def test_a_query_that_the_retriever_fails_on_is_named_and_in_no_mean():
    def flaky(query, top_k):
        if query == "q2":
            raise TimeoutError("no answer in 5 s")
        return search(query, top_k)

    metrics = BatchEvaluator(PipelineEvaluator(), flaky).evaluate(DATASET)
    assert metrics.count == 2
    assert metrics.mean_mrr == 0.5
    assert [one.metadata["query"] for one in metrics.per_sample_results] == ["q1", "q3"]
    (failure,) = metrics.failures
    assert (failure.query, failure.code) == ("q2", "system_error")
    assert str(failure) == "on query 'q2': TimeoutError: no answer in 5 s"


def test_an_asynchronous_retriever_that_fails_is_named_too():
    async def flaky(query, top_k):
        if query == "q1":
            raise KeyError(query)
        return search(query, top_k)

    (failure,) = BatchEvaluator(PipelineEvaluator(), flaky).evaluate(DATASET).failures
    assert failure.message == "KeyError: 'q1'"


@pytest.mark.parametrize("wrong", [None, "abc", {"a": 1.0}, 5])
def test_a_retriever_that_returns_no_list_has_failed(wrong):
    def odd(query, top_k):
        return wrong if query == "q1" else search(query, top_k)

    (failure,) = BatchEvaluator(PipelineEvaluator(), odd).evaluate(DATASET).failures
    assert failure.query == "q1"
    assert "WrongTypeError" in failure.message


def test_an_empty_list_is_an_answer_and_no_failure():
    metrics = BatchEvaluator(PipelineEvaluator(), lambda _query, _top_k: []).evaluate(DATASET)
    assert (metrics.count, metrics.mean_recall, metrics.failures) == (3, 0.0, [])


def test_a_retriever_that_fails_on_every_query_is_an_error_and_not_a_zero():
    def down(_query, _top_k):
        raise ConnectionError("refused")

    with pytest.raises(RatingError, match="the retriever failed on all 3, so nothing was measured") as raised:
        BatchEvaluator(PipelineEvaluator(), down).evaluate(DATASET)
    assert "on query 'q1': ConnectionError: refused" in str(raised.value)
    assert raised.value.code == "system_error"


def test_what_cannot_be_called_as_a_retriever_is_refused_before_any_query():
    with pytest.raises(WrongTypeError, match=r"a retriever is a function \(query, top_k\), or an object"):
        retrieve_all(42, ["q1"], 10)
    with pytest.raises(WrongTypeError, match=r"a retriever is a function"):
        retrieve_all(Plain, ["q1"], 10)
    with pytest.raises(WrongTypeError, match=r"a retriever is called with \(query, top_k\), but this one takes \(q\)"):
        retrieve_all(lambda q: [q], ["q1"], 10)


def test_what_is_no_dataset_is_refused():
    with pytest.raises(WrongTypeError, match="expected an EvaluationDataset with samples, got"):
        BatchEvaluator(PipelineEvaluator(), search).evaluate(["q1"])


def test_a_synchronous_retriever_stays_in_the_callers_thread():
    # Connections of sqlite3 refuse any other.
    connection = sqlite3.connect(":memory:")
    connection.execute("create table hits (query, id)")
    connection.execute("insert into hits values ('q1', 'a')")

    def stored(query, top_k):
        rows = connection.execute("select id from hits where query = ? limit ?", (query, top_k))
        return [row[0] for row in rows]

    async def caller():
        return BatchEvaluator(PipelineEvaluator(), stored).evaluate(DATASET)

    assert asyncio.run(caller()).failures == []
    connection.close()


def test_an_asynchronous_retriever_is_asked_several_queries_at_a_time_but_not_all():
    running, most = 0, 0
    lock = threading.Lock()

    async def slow(_query, _top_k):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return []

    retrieve_all(slow, [str(one) for one in range(20)], 10, concurrency=4)
    assert most == 4
    with pytest.raises(ValueError, match="concurrency is how many queries are asked at a time"):
        retrieve_all(slow, ["q"], 10, concurrency=0)


def test_both_modules_have_datasets_of_their_own_and_the_batch_takes_either():
    assert batch.EvaluationDataset is not ab_testing.EvaluationDataset
    assert batch.EvaluationSample is not ab_testing.EvaluationSample
    other = ab_testing.EvaluationDataset(samples=[ab_testing.EvaluationSample(query="q1", relevant_ids=["a"])])
    assert BatchEvaluator(PipelineEvaluator(), search).evaluate(other).mean_mrr == 1.0


@pytest.mark.parametrize("module", [ab_testing, batch])
def test_datasets_have_the_seeds_defaults(module):
    sample = module.EvaluationSample(query="q")
    assert (sample.relevant_ids, sample.metadata) == ([], {})
    dataset = module.EvaluationDataset()
    assert (dataset.samples, dataset.name, dataset.metadata) == ([], "", {})
    assert module.EvaluationSample(query="q", relevant_ids=[7, "b"]).relevant_ids == ["7", "b"]
    with pytest.raises(ValidationError, match="relevant_ids is a list of ids"):
        module.EvaluationSample(query="q", relevant_ids="abc")
    with pytest.raises(ValidationError, match="relevant"):
        module.EvaluationSample(query="q", relevant=["a"])
