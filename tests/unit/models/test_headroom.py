"""No more calls are under way than the provider said are left: its own headers pace us before its refusals do."""

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_doubles import Hands

from calibrant.errors import ModelCallError
from calibrant.models import BaseLMInvoker, Clock, Limiter, Reply, Request, limited
from calibrant.models.headroom import Headroom, calls_left
from calibrant.models.http_errors import RateLimit
from calibrant.ratings import Usage

ASKED = Request.of("Open?")
ONE_CALL = Usage(calls=1, input_tokens=70, output_tokens=30)


class Provider(BaseLMInvoker):
    """So many calls in each window of time; it says in every reply what is left of it, as OpenAI and Anthropic do."""

    name = "test/provider"

    def __init__(self, per_window, *, window=0.05, latency=0.005, says=True):
        self.per_window, self.window, self.latency, self.says = per_window, window, latency, says
        self.answered = self.refused = 0
        self.under_way = self.most_under_way = 0
        self._began, self._used = -math.inf, 0

    async def invoke(self, request):
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await asyncio.sleep(self.latency)
            return self._answer()
        finally:
            self.under_way -= 1

    def _answer(self):
        now = asyncio.get_running_loop().time()
        if now - self._began >= self.window:
            self._began, self._used = now, 0
        seconds = self.window - (now - self._began)
        if self._used >= self.per_window:
            self.refused += 1
            raise ModelCallError("too many", code="judge_rate_limited", retry_after=seconds)
        self._used += 1
        self.answered += 1
        limit = RateLimit(self.per_window - self._used, seconds, None, 0.0) if self.says else None
        return Reply(text="yes", usage=ONE_CALL, rate_limit=limit)


def told(left, seconds, **more):
    return RateLimit(left, seconds, None, 0.0)._replace(**more)


async def ask(model, count):
    """Every call is made until it is answered, as behind `retried`."""

    async def one():
        while True:
            try:
                return await model.invoke(ASKED)
            except ModelCallError:
                continue

    return await asyncio.gather(*(one() for _ in range(count)))


def test_a_provider_that_says_what_is_left_has_next_to_nothing_to_refuse():
    spoken, silent = Provider(10), Provider(10, says=False)
    asyncio.run(ask(limited(spoken, concurrency=16), 60))
    asyncio.run(ask(limited(silent, concurrency=16), 60))
    # The first calls go before anything was said.
    assert spoken.refused <= 16 - 10
    assert spoken.answered == silent.answered == 60
    assert silent.refused > spoken.refused


def test_without_headers_nobody_is_held_up():
    provider = Provider(1000, says=False)
    asyncio.run(ask(limited(provider), 50))
    assert provider.most_under_way == 50


def test_calls_under_way_are_taken_off_what_is_left():
    async def main():
        headroom = Headroom(Clock(now=lambda: 100.0, draw=lambda: 0.0), longest_wait=60.0)
        for _ in range(3):
            await headroom.enter()
        headroom.told(told(4, 30.0), ONE_CALL)
        await headroom.enter()
        fifth = asyncio.create_task(headroom.enter())
        await asyncio.sleep(0)
        assert not fifth.done()
        headroom.leave()
        await asyncio.wait_for(fifth, 1)

    asyncio.run(main())


def test_when_nothing_is_left_the_reset_is_waited_for_and_then_as_much_is_left_as_before():
    async def main():
        hands = Hands()
        headroom = Headroom(hands.clock, longest_wait=60.0)
        headroom.told(told(2, 9.0), ONE_CALL)
        headroom.told(told(0, 7.0), ONE_CALL)
        await headroom.enter()
        assert hands.slept == [7.0]
        await headroom.enter()
        await headroom.enter()
        assert hands.slept == [7.0]

    asyncio.run(main())


def test_no_reset_is_waited_for_longer_than_a_minute():
    async def main():
        hands = Hands()
        limiter = Limiter(clock=hands.clock)
        limiter.answered(Reply(text="", rate_limit=told(0, 3600.0)), 0)
        await limiter.turn(ASKED)
        assert hands.slept == [60.0]

    asyncio.run(main())


def test_after_the_reset_those_who_wait_do_so_for_a_call_to_end_and_do_not_spin():
    async def main():
        hands = Hands()
        headroom = Headroom(hands.clock, longest_wait=60.0)
        headroom.told(told(0, 1.0), ONE_CALL)
        await headroom.enter()
        second = asyncio.create_task(headroom.enter())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not second.done()
        assert len(hands.slept) <= 2
        headroom.leave()
        await asyncio.wait_for(second, 1)

    asyncio.run(main())


def test_a_caller_that_gives_up_leaves_no_trace():
    async def main():
        hands = Hands()
        headroom = Headroom(hands.clock, longest_wait=60.0)
        await headroom.enter()
        headroom.told(told(0, 0.0), ONE_CALL)
        waiting = [asyncio.create_task(headroom.enter()) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        headroom.leave()
        await asyncio.wait_for(headroom.enter(), 1)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_a_call_that_fails_or_is_cancelled_gives_its_place_back():
    class Moody(BaseLMInvoker):
        name = "test/moody"

        def __init__(self):
            self.script = [
                Reply(text="", usage=ONE_CALL, rate_limit=told(1, 3600.0)),
                ModelCallError("it fell over", code="provider_error"),
                None,
                Reply(text="in the end", usage=ONE_CALL),
            ]

        async def invoke(self, request):
            line = self.script.pop(0)
            if line is None:
                await asyncio.sleep(3600)
            if isinstance(line, Exception):
                raise line
            return line

    async def main():
        model = limited(Moody())
        await model.invoke(ASKED)
        with pytest.raises(ModelCallError, match="it fell over"):
            await model.invoke(ASKED)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.invoke(ASKED), 0.01)
        return await asyncio.wait_for(model.invoke(ASKED), 1)

    assert asyncio.run(main()).text == "in the end"


@pytest.mark.parametrize(
    ("limit", "left"),
    [
        (told(7, 3.0), (7, 3.0)),
        (told(None, 3.0), None),
        (told(None, 0.0, tokens_left=1000.0, tokens_reset=5.0), (10, 5.0)),
        (told(7, 3.0, tokens_left=650.0, tokens_reset=5.0), (6, 5.0)),
        (told(7, 3.0, tokens_left=99.0, tokens_reset=5.0), (0, 5.0)),
        (told(0.5, 3.0, tokens_left=1e6, tokens_reset=5.0), (0, 3.0)),
    ],
)
def test_tokens_that_are_left_are_counted_in_calls_like_the_last(limit, left):
    assert calls_left(limit, ONE_CALL) == left


def test_a_reply_whose_tokens_are_unknown_says_nothing_about_calls_by_tokens():
    assert calls_left(told(None, 0.0, tokens_left=1000.0), Usage(calls=1)) is None


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(1, 12), st.integers(1, 30))
def test_every_call_is_answered_whatever_the_window_and_the_load(per_window, at_once, count):
    provider = Provider(per_window, window=0.004, latency=0.0005)
    asyncio.run(asyncio.wait_for(ask(limited(provider, concurrency=at_once), count), 20))
    assert provider.answered == count
    assert provider.most_under_way <= at_once


def test_one_limiter_serves_one_loop_after_another():
    provider = Provider(5, window=0.01, latency=0.001)
    model = limited(provider, concurrency=8)
    for _ in range(3):
        asyncio.run(ask(model, 12))
    assert provider.answered == 36
