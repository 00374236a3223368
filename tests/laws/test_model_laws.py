"""What holds of every call, whatever its content and whatever the clock: pace, budgets, waits."""

import asyncio

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from calibrant.errors import BudgetError, JudgeReplyError, ModelCallError
from calibrant.models import (
    BaseLMInvoker,
    Budget,
    Clock,
    Latencies,
    Limiter,
    Message,
    Price,
    Reply,
    Request,
    ScriptedInvoker,
    budgeted,
    cached,
    limited,
    reasked,
    retried,
)
from calibrant.models.http_errors import rate_limit_of, retry_after_of, without_secrets
from calibrant.ratings import Usage

texts = st.text(max_size=30)
sampling = st.dictionaries(
    st.sampled_from(["temperature", "seed", "top_p"]), st.one_of(st.integers(0, 9), st.floats(0, 2)), max_size=3
)
requests = st.builds(
    Request,
    messages=st.lists(
        st.builds(Message, st.sampled_from(["system", "user", "assistant"]), texts), min_size=1, max_size=3
    ).map(tuple),
    labels=st.lists(texts.filter(str.strip), unique=True, max_size=3).map(tuple),
    sampling=sampling,
    logprobs=st.booleans(),
    slot=st.integers(0, 3),
)
few = settings(max_examples=50, deadline=None)


class Hands:
    """A clock that goes on only when all who wait for it wait; the longest jitter is drawn."""

    def __init__(self, draw=0.0):
        self.time = 0.0
        self.slept = []
        self.clock = Clock(now=lambda: self.time, sleep=self._sleep, draw=lambda: draw)
        self._alarms = []

    async def _sleep(self, seconds):
        self.slept.append(seconds)
        alarm = asyncio.get_running_loop().create_future()
        self._alarms.append((self.time + seconds, len(self.slept), alarm))
        await alarm

    async def run(self, coroutines):
        gathered = asyncio.gather(*coroutines, return_exceptions=True)
        while not gathered.done():
            for _ in range(20):
                await asyncio.sleep(0)
            if self._alarms and not gathered.done():
                self._alarms.sort()
                self.time, _, alarm = self._alarms.pop(0)
                alarm.set_result(None)
        return await gathered


class Stamped(BaseLMInvoker):
    """Notes when it was asked; each reply takes the tokens that it is told."""

    name = "test/stamped"

    def __init__(self, hands, *, tokens=0):
        self.hands, self.tokens = hands, tokens
        self.times = []

    async def invoke(self, request):
        self.times.append(self.hands.time)
        return Reply(text="yes", data="yes", usage=Usage(calls=1, input_tokens=self.tokens))


# Pace


@few
@given(st.floats(30, 6000), st.integers(1, 40))
def test_no_window_of_time_holds_more_calls_than_the_rate_allows_and_one_burst(per_minute, count):
    hands = Hands()
    model = Stamped(hands)
    paced = limited(model, requests_per_minute=per_minute, clock=hands.clock)
    asyncio.run(hands.run([paced.invoke(Request.of("?")) for _ in range(count)]))
    rate, burst = per_minute / 60, max(1.0, per_minute / 60)
    times = sorted(model.times)
    assert len(times) == count
    for first, begin in enumerate(times):
        for last in range(first, count):
            assert last - first + 1 <= burst + rate * (times[last] - begin) + 1e-6


@few
@given(st.integers(60, 60_000), st.lists(st.integers(0, 2000), min_size=2, max_size=20))
def test_tokens_are_paced_by_what_was_really_taken(per_minute, sizes):
    hands = Hands()
    model = Stamped(hands)
    paced = limited(model, tokens_per_minute=per_minute, clock=hands.clock)

    async def one_after_another():
        for size in sizes:
            model.tokens = size
            await paced.invoke(Request.of("?"))

    asyncio.run(hands.run([one_after_another()]))
    rate, burst = per_minute / 60, max(1.0, per_minute / 60)
    # Everything but the last reply was paid for, in time, before the last call was made.
    assert sum(sizes[:-1]) <= burst + rate * model.times[-1] + 1e-6


@few
@given(st.integers(1, 6), st.integers(1, 25))
def test_no_more_calls_than_the_concurrency_are_under_way(at_once, count):
    now = most = 0

    class Busy(BaseLMInvoker):
        name = "test/busy"

        async def invoke(self, request):
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1
            return Reply(text="")

    async def main():
        paced = limited(Busy(), concurrency=at_once)
        await asyncio.gather(*[paced.invoke(Request.of("?")) for _ in range(count)])

    asyncio.run(main())
    assert most == min(at_once, count)


@few
@given(st.floats(0, 1e6), st.floats(0, 0.999))
def test_after_a_refusal_everyone_waits_as_long_as_asked_and_a_minute_at_most(asked, draw):
    hands = Hands(draw)
    limiter = Limiter(clock=hands.clock)
    limiter.refused(ModelCallError("slow down", code="judge_rate_limited", retry_after=asked))
    model = Stamped(hands)
    asyncio.run(hands.run([limited(model, limiter).invoke(Request.of("?"))]))
    assert min(asked, 60.0) <= model.times[0] <= min(asked, 60.0) * 1.1 + 1e-6


# Budgets


@few
@given(
    st.integers(0, 12),
    st.lists(st.sampled_from(["yes", "error", "again"]), min_size=1, max_size=20),
)
def test_no_more_calls_are_made_than_the_budget_has_however_they_end(cap, ends):
    made = 0

    class Moody(BaseLMInvoker):
        name = "test/moody"

        async def invoke(self, request):
            nonlocal made
            made += 1
            await asyncio.sleep(0)
            end = ends[(made - 1) % len(ends)]
            if end == "error":
                raise ModelCallError("down", code="provider_error")
            if end == "again":
                raise JudgeReplyError("no", reply="?", usage=Usage(calls=1))
            return Reply(text="yes")

    async def main():
        budget = Budget(calls=cap)
        hands = Hands()
        model = reasked(retried(budgeted(Moody(), budget), attempts=3, clock=hands.clock))
        ended = await hands.run([model.invoke(Request.of(f"{n}")) for n in range(len(ends))])
        return budget, ended

    budget, ended = asyncio.run(main())
    assert made == budget.spent.calls <= cap
    refused = [one for one in ended if isinstance(one, BudgetError)]
    assert not refused or made == cap


@few
@given(
    st.integers(0, 20_000),
    st.integers(1, 300),
    st.lists(st.integers(1, 300), min_size=1, max_size=20),
    st.integers(1, 8),
)
def test_tokens_stay_under_the_cap_when_no_reply_is_longer_than_its_limit(cap, limit, lengths, at_once):
    budget = Budget(tokens=cap)

    class Writing(BaseLMInvoker):
        name = "test/writing"

        async def invoke(self, request):
            await asyncio.sleep(0)
            written = min(limit, lengths[int(request.messages[0].content) % len(lengths)])
            return Reply(text="", usage=Usage(calls=1, input_tokens=1, output_tokens=written))

    async def main():
        gate = asyncio.Semaphore(at_once)
        model = budgeted(Writing(), budget)

        async def one(number):
            async with gate:
                return await model.invoke(Request.of(f"{number}", sampling={"max_tokens": limit}))

        return await asyncio.gather(*map(one, range(30)), return_exceptions=True)

    ended = asyncio.run(main())
    assert all(isinstance(one, Reply | BudgetError) for one in ended)
    assert budget.spent.input_tokens + budget.spent.output_tokens <= cap


@few
@given(st.floats(0, 100), st.floats(0, 100), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_price_is_linear_in_tokens_and_never_negative(read, written, some, more):
    price = Price(read, written)
    assert price.of(some, more) == pytest.approx(price.of(some, 0) + price.of(0, more))
    assert price.of(some, more) >= 0


# Waits


@few
@given(
    st.integers(1, 9),
    st.floats(0, 5),
    st.floats(5, 100),
    st.lists(st.one_of(st.none(), st.floats(0, 120)), min_size=9, max_size=9),
    st.floats(0, 0.999),
)
def test_waits_grow_stay_within_their_bounds_and_are_never_shorter_than_asked(attempts, first, longest, asked, draw):
    hands = Hands(draw)
    script = [ModelCallError("busy", code="judge_rate_limited", retry_after=after) for after in asked]
    model = retried(
        ScriptedInvoker(script), attempts=attempts, first_wait=first, longest_wait=longest, clock=hands.clock
    )
    ended = asyncio.run(hands.run([model.invoke(Request.of("?"))]))
    assert isinstance(ended[0], ModelCallError)
    assert len(hands.slept) <= attempts - 1
    for place, slept in enumerate(hands.slept):
        if asked[place]:
            assert asked[place] <= slept <= asked[place] * 1.1
        else:
            step = min(longest, first * 2**place)
            assert step / 2 <= slept <= step
    if len(hands.slept) < attempts - 1:
        assert asked[len(hands.slept)] > longest


@few
@given(st.text(max_size=12), st.floats(0, 2e9))
def test_no_header_of_a_provider_is_a_negative_or_endless_surprise(value, now):
    headers = {"Retry-After": value, "x-ratelimit-remaining-requests": value, "x-ratelimit-reset-requests": value}
    for found in (retry_after_of(headers, lambda: now), rate_limit_of(headers, lambda: now).requests_reset):
        assert found is None or found >= 0


@few
@given(texts, texts, st.text("abcXYZ0123456789-_", min_size=8, max_size=30))
def test_a_secret_is_in_no_text_that_was_cleaned_of_it(before, after, secret):
    assert secret not in without_secrets(f"{before} {secret} {after}", [secret])


@few
@given(st.lists(st.floats(1e-6, 1e4), min_size=1, max_size=50), st.floats(0, 1))
def test_a_quantile_of_latencies_is_within_a_class_of_one_of_them(seconds, share):
    latencies = Latencies()
    for one in seconds:
        latencies.add(one)
    found = latencies.quantile(share)
    assert min(seconds) * 0.97 <= found <= max(seconds) * 1.03
    ranked = sorted(seconds)
    place = max(1, min(len(ranked), -(-int(share * len(ranked) * 10**9) // 10**9)))
    assert found == pytest.approx(ranked[place - 1], rel=0.03) or share * len(ranked) != int(share * len(ranked))


@few
@given(st.lists(st.integers(0, 3), min_size=1, max_size=25))
def test_equal_requests_of_one_slot_in_flight_are_made_once_and_all_get_the_reply(slots):
    judge = ScriptedInvoker(lambda request: f"slot {request.slot}", delay=0.001)

    async def main():
        model = cached(judge)
        return await asyncio.gather(*[model.invoke(Request.of("?", slot=slot)) for slot in slots])

    replies = asyncio.run(main())
    assert sorted(request.slot for request in judge.requests) == sorted(set(slots))
    assert [reply.text for reply in replies] == [f"slot {slot}" for slot in slots]
    assert sum(reply.usage.calls for reply in replies) == len(set(slots))


@few
@given(st.text(max_size=10))
def test_a_truncated_limit_is_doubled_wherever_it_came_from(said):
    assume(said.strip())

    class Cut(BaseLMInvoker):
        name = "test/cut"
        identity = {"model": "test/cut", "sampling": {"max_tokens": 5, "temperature": 0}}

        def __init__(self):
            self.limits = []

        async def invoke(self, request):
            self.limits.append(dict(request.sampling))
            raise JudgeReplyError("cut off", code="reply_truncated", reply=said)

    cut = Cut()
    with pytest.raises(JudgeReplyError, match=r"cut off \(asked 3 times\)"):
        asyncio.run(reasked(cut).invoke(Request.of("?")))
    assert cut.limits == [{}, {"max_tokens": 10}, {"max_tokens": 20}]
