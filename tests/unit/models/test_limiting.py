"""As fast as the provider allows, and how long it took."""

import asyncio
import random

import pytest
from model_doubles import OPEN, Costly, Hands, ask, failure, together

from calibrant.errors import InputError, ModelCallError
from calibrant.models import (
    BaseLMInvoker,
    Latencies,
    Limiter,
    Reply,
    Request,
    ScriptedInvoker,
    connect,
    limited,
    timed,
    wrapped,
)
from calibrant.models.http_errors import RateLimit
from calibrant.ratings import Usage


def test_requests_are_spread_over_the_minute():
    hands = Hands()
    model = limited(ScriptedInvoker("yes"), requests_per_minute=60, clock=hands.clock)
    ask(model, *[OPEN] * 4)
    assert hands.time - 100.0 == pytest.approx(3.0)


def test_tokens_are_counted_by_what_calls_really_took():
    hands = Hands()
    judge = Costly(usage=Usage(calls=1, input_tokens=500, output_tokens=100))
    model = limited(judge, tokens_per_minute=6000, clock=hands.clock)
    ask(model, *[OPEN] * 3)
    # 600 tokens at 100 a second: the second and third call wait about 6 s each.
    assert hands.time - 100.0 == pytest.approx(11.0, abs=1.0)


@pytest.mark.parametrize(
    "limit", [RateLimit(0.0, 9.0, None, 0.0), RateLimit(5.0, 0.0, 0.0, 9.0)], ids=["requests", "tokens"]
)
def test_a_provider_that_says_that_nothing_is_left_is_left_in_peace(limit):
    hands = Hands()
    judge = ScriptedInvoker([Reply(text="yes", data="yes", rate_limit=limit), "yes"])
    ask(limited(judge, clock=hands.clock), OPEN, OPEN)
    assert hands.slept == [9.0]


def test_a_provider_that_counts_no_tokens_is_paced_by_an_estimate():
    hands = Hands()
    model = limited(Costly(usage=Usage(calls=1)), tokens_per_minute=600, clock=hands.clock)
    ask(model, *[Request.of("x" * 400)] * 3)
    # 400 bytes are about 100 tokens, 10 are earned in a second, and the bucket holds a second's worth: 10 s a call.
    assert sum(hands.slept) == pytest.approx(30, abs=2)


def test_a_refusal_makes_everyone_wait_but_never_for_more_than_a_minute():
    hands = Hands()
    judge = ScriptedInvoker([failure("judge_rate_limited", retry_after=500.0), "yes"])
    model = limited(judge, clock=hands.clock)
    with pytest.raises(ModelCallError):
        ask(model)
    ask(model)
    assert hands.slept == [60.0]


def test_no_more_calls_at_a_time_than_allowed_in_every_loop():
    most = now = 0

    class Counting(BaseLMInvoker):
        name = "test/counting"

        async def invoke(self, request):
            nonlocal most, now
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.001)
            now -= 1
            return Reply(text="")

    model = limited(Counting(), concurrency=3)
    together(model, [OPEN] * 10)
    together(model, [OPEN] * 10)
    assert most == 3


def test_a_turn_that_is_given_up_is_given_back():
    async def main():
        model = limited(ScriptedInvoker("yes"), requests_per_minute=60)
        await model.invoke(OPEN)
        waiting = [asyncio.create_task(model.invoke(OPEN)) for _ in range(5)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return model.limiter._requests.take(0.0)

    assert asyncio.run(main()) <= 1.0


def test_wrong_limits_are_named_together():
    with pytest.raises(InputError) as caught:
        Limiter(requests_per_minute=0, concurrency="many")
    assert len(caught.value.problems) == 2
    with pytest.raises(InputError, match="by a limiter or by numbers, not by both"):
        limited(ScriptedInvoker("yes"), Limiter(), concurrency=3)


def test_limits_can_come_with_the_model_and_are_kept_when_it_is_wrapped():
    model = connect("openai/judge", requests_per_minute=600, concurrency=4)
    inside = wrapped(model).inner.inner.inner.inner
    assert inside.limiter is model.limiter
    assert inside.inner.inner is model.inner


def test_a_reply_says_how_long_it_took():
    hands = Hands()

    class Slow(ScriptedInvoker):
        async def invoke(self, request):
            hands.time += 0.25
            return await super().invoke(request)

    model = timed(Slow("yes"), clock=hands.clock)
    assert ask(model)[0].seconds == pytest.approx(0.25)
    assert model.latencies.to_json() == {"count": 1, "p50": 0.25, "p95": 0.25, "p99": 0.25}


def test_quantiles_are_within_a_few_percent_and_take_no_room():
    draws = random.Random(7)
    seconds = sorted(draws.lognormvariate(-2, 1) for _ in range(20_000))
    latencies = Latencies()
    for one in seconds:
        latencies.add(one)
    for share in (0.05, 0.5, 0.95, 0.99):
        assert latencies.quantile(share) == pytest.approx(seconds[int(share * len(seconds))], rel=0.05)
    assert len(latencies._classes) < 300


def test_no_calls_have_no_quantiles():
    assert Latencies().quantile(0.5) is None
    with pytest.raises(InputError, match="a quantile is between 0 and 1, not 50"):
        Latencies().quantile(50)
