"""Asking a retriever of any shape: what it is called with, what it may return, and how it fails."""

import asyncio
import functools
import threading

import pytest

from calibrant.errors import InputError, WrongTypeError
from calibrant.retrieval import ContextItem, Retriever
from calibrant.retrieval.retrievers import retrieve_all, retrieve_all_async

QUERIES = ["first", "second", "third"]


class Searcher:
    def retrieve(self, query, top_k):
        return [f"{query}-{number}" for number in range(top_k)]


class AsyncSearcher:
    async def retrieve(self, query, *, top_k):
        await asyncio.sleep(0)
        return (ContextItem(id=f"{query}-{number}") for number in range(top_k))


class Callable:
    def __call__(self, query, top_k):
        return [{"id": f"{query}-{number}"} for number in range(top_k)]


class AsyncCallable:
    async def __call__(self, query, top_k):
        await asyncio.sleep(0)
        return [f"{query}-{number}" for number in range(top_k)]


def function(query, top_k):
    return [f"{query}-{number}" for number in range(top_k)]


def by_keyword(query, *, top_k):
    return function(query, top_k)


def with_more(query, top_k, *, filters=None, **others):
    assert (filters, others) == (None, {})
    return tuple(function(query, top_k))


def awaitable(query, top_k):
    async def later():
        await asyncio.sleep(0)
        return function(query, top_k)

    return later()


SHAPES = [
    Searcher(),
    AsyncSearcher(),
    Callable(),
    AsyncCallable(),
    function,
    by_keyword,
    with_more,
    awaitable,
    lambda *given: function(given[0], given[1]),
    functools.partial(lambda store, query, top_k: function(query, top_k), "store"),
]


@pytest.mark.parametrize("retriever", SHAPES)
def test_every_shape_is_asked_every_query_in_order(retriever):
    found = retrieve_all(retriever, QUERIES, 2)
    assert [one.ids for one in found] == [(f"{query}-0", f"{query}-1") for query in QUERIES]
    assert [one.failure for one in found] == [None] * 3


@pytest.mark.parametrize("retriever", SHAPES)
def test_every_shape_is_asked_in_a_running_loop(retriever):
    found = asyncio.run(retrieve_all_async(retriever, QUERIES, 1, concurrency=2))
    assert [one.ids for one in found] == [(f"{query}-0",) for query in QUERIES]


def test_no_queries_ask_nobody():
    assert retrieve_all(lambda query, top_k: pytest.fail("asked"), [], 3) == []


def test_a_class_and_what_cannot_be_called_are_refused():
    for wrong in (Searcher, None, "bm25", ["a"], 3):
        with pytest.raises(WrongTypeError, match="a retriever is a function"):
            retrieve_all(wrong, QUERIES, 1)


@pytest.mark.parametrize("wrong", [lambda: ["a"], lambda query: [], lambda query, top_k, index: []])
def test_a_function_that_takes_something_else_is_refused_with_what_it_takes(wrong):
    with pytest.raises(WrongTypeError, match=r"a retriever is called with \(query, top_k\), but this one takes \("):
        retrieve_all(wrong, QUERIES, 1)


def test_what_it_raises_is_its_failure_on_that_query_alone():
    def second_fails(query, top_k):
        if query == "second":
            raise ConnectionError("refused")
        return [query]

    found = retrieve_all(second_fails, QUERIES, 1)
    assert [one.ids for one in found] == [("first",), (), ("third",)]
    assert (found[1].failure.code, found[1].failure.message) == ("system_error", "ConnectionError: refused")


def test_an_error_without_words_is_named_by_its_kind():
    def silent(query, top_k):
        raise TimeoutError

    assert retrieve_all(silent, ["q"], 1)[0].failure.message == "TimeoutError"


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_no_failure_of_the_retriever(interrupt):
    def interrupted(query, top_k):
        raise interrupt

    with pytest.raises(interrupt):
        retrieve_all(interrupted, QUERIES, 1)


@pytest.mark.parametrize("given", [None, "abc", b"abc", {"id": "a"}, 7, [None], [object()], [{"name": "a"}], [1.5]])
def test_what_is_no_list_of_documents_is_a_failure_that_says_so(given):
    failure = retrieve_all(lambda query, top_k: given, ["q"], 1)[0].failure
    assert failure.code == "system_error"
    assert "list" in failure.message or "document" in failure.message


@pytest.mark.parametrize(
    ("given", "ids"),
    [([], ()), ((), ()), (iter(["a", "b"]), ("a", "b")), ([7, "7"], ("7", "7")), ({"b": 1}.keys(), ("b",))],
)
def test_lists_of_any_kind_are_lists(given, ids):
    assert retrieve_all(lambda query, top_k: given, ["q"], 1)[0].ids == ids


def test_more_than_was_asked_for_is_kept_for_the_cutoff_to_decide():
    assert len(retrieve_all(lambda query, top_k: list("abcdef"), ["q"], 2)[0].ids) == 6


def test_a_synchronous_retriever_is_called_where_the_caller_is():
    threads = []
    retrieve_all(lambda query, top_k: threads.append(threading.get_ident()) or [query], QUERIES, 1)
    assert set(threads) == {threading.get_ident()}


@pytest.mark.parametrize("concurrency", [1, 2, 5])
def test_an_asynchronous_one_is_asked_so_many_queries_at_a_time(concurrency):
    running, most = 0, 0

    async def slow(query, top_k):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.002)
        running -= 1
        return [query]

    found = retrieve_all(slow, [f"q{number}" for number in range(8)], 1, concurrency=concurrency)
    assert [one.ids for one in found] == [(f"q{number}",) for number in range(8)]
    assert most == concurrency


def test_nothing_at_a_time_is_refused():
    async def never(query, top_k):
        raise AssertionError

    with pytest.raises(InputError, match="concurrency is how many queries are asked at a time, so at least 1; got 0"):
        retrieve_all(never, QUERIES, 1, concurrency=0)


def test_a_cancelled_loop_stops_asking():
    asked = []

    async def slow(query, top_k):
        asked.append(query)
        await asyncio.sleep(30)

    async def cancelled():
        work = asyncio.create_task(retrieve_all_async(slow, QUERIES, 1, concurrency=1))
        await asyncio.sleep(0.01)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancelled())
    assert asked == ["first"]


def test_the_protocol_is_known_by_its_method():
    assert isinstance(Searcher(), Retriever)
    assert isinstance(AsyncSearcher(), Retriever)
    assert not isinstance(function, Retriever)
