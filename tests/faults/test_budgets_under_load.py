"""Caps on calls, tokens and money hold while many calls are in flight and the provider misbehaves."""

import asyncio
import json
import random

import pytest
from provider_server import MISBEHAVIOUR, ProviderServer, completion_payload

from calibrant.errors import BudgetError, ModelCallError
from calibrant.models import Budget, Request, connect, wrapped
from calibrant.store import Workspace

QUICK = {"first_wait": 0.01, "patience": 0.2}
SCHEMA = {"type": "object", "properties": {"score": {"type": "number"}}, "required": ["score"]}
LIMIT = 50


def request_for(number):
    return Request.of(f"item {number} " + "of the many " * 20, schema=SCHEMA, sampling={"max_tokens": LIMIT})


def varied(body):
    """A reply whose counts differ from item to item; what it wrote is never more than the limit that was set."""
    draw = random.Random(body["messages"][0]["content"])
    payload = completion_payload(body, json.dumps({"score": 0.5}))
    payload["usage"] = {"prompt_tokens": draw.randint(20, 80), "completion_tokens": draw.randint(1, LIMIT)}
    return payload


def gathered(model, count, *, at_once=32):
    async def main():
        gate = asyncio.Semaphore(at_once)

        async def one(number):
            async with gate:
                try:
                    return await model.invoke(request_for(number))
                except (BudgetError, ModelCallError) as error:
                    return error

        return await asyncio.gather(*map(one, range(count)))

    return asyncio.run(main())


@pytest.mark.parametrize("cap", [0, 1, 37, 150])
def test_the_server_sees_no_more_calls_than_the_budget_has(cap):
    with ProviderServer(varied, faults={**MISBEHAVIOUR, "hang": 0.0}) as server:
        budget = Budget(calls=cap)
        ended = gathered(wrapped(connect("openai/judge", base_url=server.openai_url), budget=budget, **QUICK), 200)
    assert len(server.requests) == budget.spent.calls == cap
    refused = [one for one in ended if isinstance(one, BudgetError)]
    assert {one.code for one in refused} == {"budget_exhausted"}
    assert f"the budget of {cap:,} calls is used up; openai/judge was not asked" in str(refused[0])
    # Whoever was not refused has a reply, or met a fault and had no call left to ask again.
    assert len(refused) >= 200 - cap


@pytest.mark.parametrize("cap", [{"tokens": 5000}, {"usd": 0.005}])
def test_tokens_and_money_stay_under_the_cap_and_most_of_it_is_used(cap):
    with ProviderServer(varied, latency=0.002) as server:
        budget = Budget(**cap)
        model = wrapped(connect("openai/judge", base_url=server.openai_url, price=(1, 1)), budget=budget)
        ended = gathered(model, 200)
    replies = [one for one in ended if not isinstance(one, Exception)]
    tokens = sum(reply.usage.input_tokens + reply.usage.output_tokens for reply in replies)
    assert 4700 <= tokens <= 5000
    assert budget.spent.input_tokens + budget.spent.output_tokens == tokens
    assert budget.spent.usd == pytest.approx(tokens / 1e6)
    assert all(isinstance(one, BudgetError) for one in ended if isinstance(one, Exception))


def test_what_was_paid_for_is_kept_and_the_next_budget_pays_for_the_rest_alone(tmp_path):
    with ProviderServer(varied) as server, Workspace(tmp_path) as workspace:
        source = connect("openai/judge", base_url=server.openai_url)
        first = gathered(wrapped(source, budget=Budget(calls=60), workspace=workspace), 100)
        assert sum(isinstance(one, BudgetError) for one in first) == 40
        second = gathered(wrapped(source, budget=Budget(calls=40), workspace=workspace), 100)
    assert not [one for one in second if isinstance(one, Exception)]
    assert sum(reply.usage.cached for reply in second) == 60
    assert len(server.requests) == 100


def test_a_limit_that_came_with_the_model_is_what_a_reply_is_expected_to_take():
    with ProviderServer(varied) as server:
        model = connect("vllm/judge", base_url=server.openai_url, sampling={"max_tokens": 900})
        asked = Request.of("short", schema=SCHEMA)
        with pytest.raises(BudgetError, match=r"the next call would pass the budget \(0 of 800 tokens used\)"):
            asyncio.run(wrapped(model, budget=Budget(tokens=800)).invoke(asked))
        assert asyncio.run(wrapped(model, budget=Budget(tokens=1000)).invoke(asked)).data == {"score": 0.5}
    assert len(server.requests) == 1


def test_cancelled_calls_count_and_give_back_what_was_set_aside():
    with ProviderServer(varied, latency=1.0) as server:
        budget = Budget(calls=5, tokens=10_000)
        model = wrapped(connect("openai/judge", base_url=server.openai_url), budget=budget)

        async def given_up():
            calls = [asyncio.create_task(model.invoke(request_for(number))) for number in range(5)]
            while len(server.requests) < 5:  # noqa: ASYNC110 - the server runs in another thread
                await asyncio.sleep(0.01)
            for call in calls[:3]:
                call.cancel()
            return await asyncio.gather(*calls, return_exceptions=True)

        ended = asyncio.run(given_up())
        assert [type(one).__name__ for one in ended] == ["CancelledError"] * 3 + ["Reply"] * 2
        assert budget.spent.calls == 5
        with pytest.raises(BudgetError, match="the budget of 5 calls is used up"):
            asyncio.run(model.invoke(request_for(9)))
    assert len(server.requests) == 5


def test_a_price_that_is_unknown_stops_a_budget_in_money_before_the_first_call():
    with ProviderServer(varied) as server:
        model = wrapped(connect("openai/judge", base_url=server.openai_url), budget=Budget(usd=1.0))
        ended = gathered(model, 20)
    assert server.requests == []
    assert {str(one) for one in ended} == {str(ended[0])}
    assert "a budget in usd cannot be kept, because the price of openai/judge is unknown: give it" in str(ended[0])


def uncounted(body):
    payload = completion_payload(body, json.dumps({"score": 0.5}))
    del payload["usage"]
    return payload


@pytest.mark.parametrize("cap", [{"tokens": 3000}, {"usd": 0.003}])
def test_a_provider_that_counts_no_tokens_does_not_slip_through_a_cap(cap):
    with ProviderServer(uncounted) as server:
        model = connect("openai/judge", base_url=server.openai_url, price=(1, 1))
        budget = Budget(**cap)
        ended = gathered(wrapped(model, budget=budget), 200)
    asked = sum(len(one.body["messages"][0]["content"]) for one in server.requests) / 4
    assert 0 < len(server.requests) < 40
    assert asked < budget.spent.input_tokens + budget.spent.output_tokens <= 3000
    assert budget.spent.usd <= 0.003
    refused = [one for one in ended if isinstance(one, BudgetError)]
    assert len(refused) == 200 - len(server.requests)
    assert "the next call would pass the budget" in str(refused[0])
    # What the replies themselves say stays what the provider said: nothing, and so the price is unknown.
    kept = next(one for one in ended if not isinstance(one, BudgetError))
    assert (kept.usage.input_tokens, kept.usage.usd) == (0, None)
