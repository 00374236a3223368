"""Embeddings go through the same layer as every call: kept, limited, counted, budgeted, and none is paid for twice."""

import asyncio

import numpy as np
import pytest
from provider_server import ProviderServer, Refuse

from calibrant.errors import BudgetError, InputError, ModelCallError
from calibrant.models import Budget, EmbeddingCache, connect, embed, embedding_model, limited, wrapped
from calibrant.store import Workspace

TEXTS = ["one", "two", "three", "two"]


def vectors(body):
    """Each text's vector is made of its letters, so that another text's is found out."""
    rows = [[float(ord(letter)) for letter in text.ljust(6)[:6]] for text in body["input"]]
    data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    return {"data": data, "model": "te-2026", "usage": {"prompt_tokens": 3 * len(rows)}}


def embedded(model, texts=TEXTS, **options):
    return asyncio.run(embed(texts, model=model, cache=EmbeddingCache(), **options))


def expected(texts):
    rows = np.array([[float(ord(letter)) for letter in text.ljust(6)[:6]] for text in texts])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_rows_are_those_of_their_texts_whoever_made_them():
    with ProviderServer(vectors) as server:
        rows = embedded("openai/te", base_url=server.openai_url)
    assert np.array_equal(rows, expected(TEXTS))
    assert [asked.body["input"] for asked in server.requests] == [["one", "two", "three"]]


def test_a_workspace_keeps_the_vectors_for_the_next_process(tmp_path):
    with ProviderServer(vectors) as server:
        for _ in range(2):
            with Workspace(tmp_path) as workspace:
                model = wrapped(embedding_model("openai/te", base_url=server.openai_url), workspace=workspace)
                assert np.array_equal(embedded(model), expected(TEXTS))
    assert len(server.requests) == 1


def test_a_budget_counts_what_embeddings_take():
    with ProviderServer(vectors) as server:
        plain = embedding_model("openai/te", base_url=server.openai_url, price=(2, 0))
        budget = Budget(calls=1, usd=1.0)
        model = wrapped(plain, budget=budget)
        embedded(model)
        with pytest.raises(BudgetError, match="the budget of 1 calls is used up; openai/te was not asked"):
            embedded(model, ["another"])
    assert budget.spent.usd == pytest.approx(9 * 2 / 1e6)
    assert (budget.spent.calls, budget.spent.input_tokens) == (1, 9)


def test_batches_keep_to_the_limit_of_calls_at_a_time():
    texts = [f"text {number}" for number in range(1100)]
    with ProviderServer(vectors, latency=0.01) as server:
        model = limited(embedding_model("openai/te", base_url=server.openai_url), concurrency=2)
        rows = embedded(model, texts)
    assert np.array_equal(rows, expected(texts))
    assert len(server.requests) == 5
    assert server.most_concurrent <= 2


def test_failures_that_pass_lose_no_text():
    refusals = iter([429, 500, 503])

    def moody(body):
        status = next(refusals, None)
        if status is not None:
            raise Refuse(status, {"error": {"message": "later"}}, {"Retry-After": "0.01"})
        return vectors(body)

    with ProviderServer(moody) as server:
        assert np.array_equal(embedded("openai/te", base_url=server.openai_url), expected(TEXTS))
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "payload",
    [
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 7, "embedding": [1.0]}]},
        {"data": "none"},
        {"hello": "world"},
    ],
)
def test_an_answer_that_is_no_list_of_vectors_is_an_error_that_shows_it(payload):
    with ProviderServer(lambda body: payload) as server:
        model = embedding_model("openai/te", base_url=server.openai_url)
        with pytest.raises(ModelCallError, match="openai/te was asked for 1 embeddings and answered with") as caught:
            embedded(model, ["one"])
    assert caught.value.code == "provider_error"


@pytest.mark.parametrize("row", [[0.0, 0.0], ["a", "b"], [], [[1.0]], [1e400, 1.0]])
def test_a_vector_that_is_none_is_a_failure_and_never_zeros(row):
    payload = {"data": [{"index": 0, "embedding": row}]}
    with ProviderServer(lambda body: payload) as server:
        model = embedding_model("openai/te", base_url=server.openai_url)
        with pytest.raises(ModelCallError) as caught:
            embedded(model, ["one"])
    assert caught.value.code == "provider_error"


def test_the_same_name_at_two_addresses_is_remembered_apart():
    cache = EmbeddingCache()

    async def both(first, second):
        rows = [await embed(["one"], model="openai/te", base_url=url, cache=cache) for url in (first, second)]
        return rows, len(cache)

    with ProviderServer(vectors) as one, ProviderServer(vectors) as other:
        rows, remembered = asyncio.run(both(one.openai_url, other.openai_url))
    assert np.array_equal(rows[0], rows[1])
    assert (len(one.requests), len(other.requests), remembered) == (1, 1, 2)


def test_a_chat_model_s_options_that_embeddings_lack_are_refused():
    with pytest.raises(InputError, match="is made already; options go with a name"):
        asyncio.run(embed(["one"], model=connect("openai/te"), dimensions=3))
