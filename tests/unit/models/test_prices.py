"""What calls cost: as given, as listed, or unknown, and unknown is never nothing."""

import asyncio

import pytest
from provider_server import ProviderServer, completion_payload

from calibrant.errors import InputError
from calibrant.models import Price, Request, ScriptedInvoker, connect, estimate_cost, openai
from calibrant.models.costs import estimated_tokens
from calibrant.models.prices import listed_price
from calibrant.ratings import Usage
from calibrant.store import Workspace

ASKED = Request.of("Open?", labels=("yes", "no"))


@pytest.mark.parametrize(
    "price", [Price(2, 8), (2, 8), [2.0, 8.0], {"input": 2, "output": 8}, {"output": 8.0, "input": 2.0}]
)
def test_a_price_is_given_in_any_of_these_ways(price):
    assert openai("m", price=price).cost(500_000, 250_000) == 1.0 + 2.0


@pytest.mark.parametrize("price", ["2/8", 2, (2,), (2, 8, 1), {"in": 2, "out": 8}, {"input": 2}, {2, 8}])
def test_what_is_no_price_is_refused_with_the_unit(price):
    with pytest.raises(InputError, match=r"a price is Price\(input, output\) in US dollars per million tokens"):
        Price.from_any(price)


@pytest.mark.parametrize("number", [-1, float("nan"), float("inf"), "2", True, None])
def test_a_price_is_a_number_of_nothing_or_more(number):
    with pytest.raises(InputError, match="per million tokens, 0 or more, not"):
        Price(number, 1)


def test_a_free_model_costs_nothing_and_that_is_known():
    model = openai("m", price=(0, 0))
    assert model.cost(10**9, 10**9) == 0.0
    assert estimate_cost(model, [ASKED]).usd == 0.0


def test_an_unknown_price_is_none_all_the_way_and_sums_to_none():
    with ProviderServer() as server:
        reply = asyncio.run(connect("openai/judge", base_url=server.openai_url).invoke(ASKED))
    assert reply.usage.usd is None
    assert (reply.usage + Usage(calls=1, usd=0.5)).usd is None
    assert reply.usage.to_json()["usd"] is None


def test_list_prices_are_those_of_genai_prices_and_go_with_the_providers_own_address():
    genai_prices = pytest.importorskip("genai_prices")
    usage = genai_prices.Usage(input_tokens=1000, output_tokens=500)
    listed = genai_prices.calc_price(usage, model_ref="gpt-4o", provider_id="openai").total_price
    assert openai("gpt-4o").cost(1000, 500) == pytest.approx(float(listed))
    assert connect("openai/gpt-4o", base_url="http://localhost:1/v1").cost(1000, 500) is None
    assert openai("gpt-4o", price=(1, 1)).cost(1_000_000, 0) == 1.0


@pytest.mark.parametrize(("provider", "model"), [("openai", "no-such-model-7"), ("nobody", "gpt-4o"), ("", "")])
def test_what_is_not_listed_is_unknown(provider, model):
    assert listed_price(provider, model) is None


def test_tokens_of_a_cached_prompt_are_counted_as_read():
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 1000,
        "output_tokens": 5,
    }

    def answer(body):
        return {"model": "m", "content": [{"type": "text", "text": "yes"}], "usage": usage}

    with ProviderServer(answer) as server:
        model = connect("anthropic/judge", base_url=server.openai_url, price=(1, 1))
        reply = asyncio.run(model.invoke(ASKED))
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (1110, 5)
    assert reply.usage.usd == pytest.approx(1115e-6)


def test_an_estimate_is_near_what_the_server_counts_and_asks_nobody(tmp_path):
    requests = [Request.of(f"Is claim {number} in the text?") for number in range(10)]
    judge = ScriptedInvoker("yes")
    with Workspace(tmp_path) as workspace:
        estimate = estimate_cost(judge, requests, output_tokens=7, workspace=workspace)
    assert (estimate.calls, estimate.cached, estimate.output_tokens) == (10, 0, 70)
    assert estimate.input_tokens == sum(map(estimated_tokens, requests))
    assert judge.requests == []


def test_no_requests_cost_nothing_also_where_the_price_is_unknown():
    estimate = estimate_cost(openai("m", base_url="http://localhost:1/v1"), [])
    assert estimate.to_json() == {"calls": 0, "cached": 0, "input_tokens": 0, "output_tokens": 0, "usd": 0.0}


def test_tokens_are_estimated_by_bytes_so_that_other_scripts_count_for_more():
    latin, greek = Request.of("a" * 400), Request.of("\u03b1" * 400)
    assert estimated_tokens(latin) == 100 + 4 + 1
    assert estimated_tokens(greek) == 200 + 4 + 1
    assert estimated_tokens(Request.of("a" * 400, schema={"type": "object"})) > estimated_tokens(latin)
    assert estimated_tokens(Request.of("")) == 5


def test_a_model_that_counts_in_another_way_still_gives_a_reply():
    with ProviderServer(lambda body: {**completion_payload(body, "yes"), "usage": {"total": 5}}) as server:
        reply = asyncio.run(connect("openai/judge", base_url=server.openai_url, price=(1, 1)).invoke(ASKED))
    assert (reply.data, reply.usage.usd) == ("yes", None)
