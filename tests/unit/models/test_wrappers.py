import asyncio
import json
import random

import pytest

from calibrant.errors import BudgetError, InputError, JudgeReplyError, ModelCallError, WrongTypeError
from calibrant.models import (
    BaseLMInvoker,
    Budget,
    Clock,
    Latencies,
    Limiter,
    Price,
    ReplayInvoker,
    Reply,
    Request,
    SchemaInvoker,
    ScriptedInvoker,
    budgeted,
    cached,
    connect,
    estimate_cost,
    limited,
    openai,
    reasked,
    replayed,
    retried,
    timed,
    wrapped,
    write_calls,
)
from calibrant.models.http_errors import RateLimit
from calibrant.ratings import Usage
from calibrant.store import Workspace

OPEN = Request.of("Open?", labels=("yes", "no"))


class Hands:
    """A clock whose hands move only when someone sleeps."""

    def __init__(self):
        self.time = 100.0
        self.slept = []
        self.clock = Clock(now=lambda: self.time, sleep=self._sleep, draw=lambda: 0.0)

    async def _sleep(self, seconds):
        self.slept.append(round(seconds, 3))
        self.time += seconds
        await asyncio.sleep(0)


class Costly(BaseLMInvoker):
    """A model with a price, whose replies take the tokens that they are told to."""

    def __init__(self, *, usage, price=None, delay=0.0):
        self.name = "test/costly"
        self.usage, self.price, self.delay = usage, price, delay
        self.calls = 0

    async def invoke(self, request):
        self.calls += 1
        await asyncio.sleep(self.delay)
        return Reply(text="yes", data="yes", usage=self.usage)

    def cost(self, input_tokens, output_tokens):
        return None if self.price is None else self.price.of(input_tokens, output_tokens)


def failure(code="provider_error", **more):
    return ModelCallError(f"it failed with {code}", code=code, **more)


def ask(model, *requests):
    async def all_of_them():
        return [await model.invoke(request) for request in requests or (OPEN,)]

    return asyncio.run(all_of_them())


def together(model, requests):
    async def at_once():
        return await asyncio.gather(*map(model.invoke, requests), return_exceptions=True)

    return asyncio.run(at_once())


# Cached


def test_a_call_that_the_workspace_holds_is_not_made_again_by_anyone(tmp_path):
    judge = ScriptedInvoker("yes")
    with Workspace(tmp_path) as workspace:
        first, second = ask(cached(judge, workspace), OPEN, OPEN)
        third = ask(cached(ScriptedInvoker([]), workspace))[0]
    assert len(judge.requests) == 1
    assert [reply.data for reply in (first, second, third)] == ["yes"] * 3
    assert (first.usage.calls, first.usage.cached) == (1, 0)
    assert second.usage == third.usage == Usage(cached=1)
    assert first.call_key == second.call_key == judge.call_key(OPEN)


def test_the_slots_of_a_jury_are_calls_of_their_own(tmp_path):
    judge = ScriptedInvoker("yes")
    requests = [Request.of("Open?", labels=("yes", "no"), slot=slot) for slot in range(3)]
    with Workspace(tmp_path) as workspace:
        together(cached(judge, workspace), requests * 2)
    assert len(judge.requests) == 3


def test_errors_are_never_kept_and_those_who_waited_share_them(tmp_path):
    judge = ScriptedInvoker([failure(), "yes"], delay=0.01)
    with Workspace(tmp_path) as workspace:
        model = cached(judge, workspace)
        ended = together(model, [OPEN, OPEN])
        assert [type(one) for one in ended] == [ModelCallError, ModelCallError]
        assert ask(model)[0].data == "yes"
    assert len(judge.requests) == 2


def test_a_schema_inside_is_part_of_the_key():
    judge = ScriptedInvoker("{}")
    plain = Request.of("How good?")
    shaped = SchemaInvoker(judge, {"type": "object"})
    assert cached(shaped).call_key(plain) == shaped.call_key(plain) != judge.call_key(plain)


def test_a_folder_is_no_workspace_and_the_error_says_how_to_open_one():
    with pytest.raises(WrongTypeError, match=r"expected a workspace, got 'folder'; Workspace\(FOLDER\) opens one"):
        cached(ScriptedInvoker("yes"), "folder")


# Re-asked


def test_a_bad_reply_is_asked_about_again_with_the_error_and_its_usage_is_counted():
    bad = JudgeReplyError("expected one of yes, no", reply="maybe", usage=Usage(calls=1, input_tokens=5))
    judge = ScriptedInvoker([bad, Reply(text="no", data="no", usage=Usage(calls=1, input_tokens=9))])
    reply = ask(reasked(judge))[0]
    assert reply.usage == Usage(calls=2, input_tokens=14)
    again = judge.requests[1].messages
    assert [message.role for message in again] == ["user", "assistant", "user"]
    assert again[1].content == "maybe"
    assert again[2].content.startswith("That reply could not be used: expected one of yes, no.")


def test_an_empty_reply_adds_no_empty_turn():
    judge = ScriptedInvoker([JudgeReplyError("nothing came"), "no"])
    ask(reasked(judge))
    (message,) = judge.requests[1].messages
    assert message.content.startswith("Open?\n\nThat reply could not be used: nothing came.")


def test_a_judge_is_asked_three_times_at_most():
    judge = ScriptedInvoker(lambda request: JudgeReplyError("bad", code="reply_truncated"))
    with pytest.raises(JudgeReplyError, match=r"bad \(asked 3 times\)") as caught:
        ask(reasked(judge))
    assert caught.value.code == "reply_truncated"
    assert len(judge.requests) == 3


def test_a_token_limit_that_cut_the_reply_is_doubled():
    cut = JudgeReplyError("cut off", code="reply_truncated")
    judge = ScriptedInvoker([cut, cut, "fine"])
    ask(reasked(judge), Request.of("Explain.", sampling={"max_tokens": 100, "temperature": 0}))
    assert [request.sampling["max_tokens"] for request in judge.requests] == [100, 200, 400]
    assert judge.requests[2].sampling["temperature"] == 0


def test_other_failures_are_not_asked_about_again():
    judge = ScriptedInvoker([failure()])
    with pytest.raises(ModelCallError):
        ask(reasked(judge))
    assert len(judge.requests) == 1


# Retried


def test_waits_double_and_the_providers_own_wait_goes_first():
    hands = Hands()
    judge = ScriptedInvoker([failure(), failure(), failure("judge_rate_limited", retry_after=7.0), failure(), "yes"])
    assert ask(retried(judge, clock=hands.clock))[0].data == "yes"
    assert hands.slept == [0.25, 0.5, 7.0, 2.0]


def test_jitter_stays_within_half_and_whole_of_the_wait():
    for draw in (0.0, 0.5, 0.999):
        hands = Hands()
        clock = Clock(now=hands.clock.now, sleep=hands.clock.sleep, draw=lambda draw=draw: draw)
        ask(retried(ScriptedInvoker([failure(), "yes"]), first_wait=2.0, clock=clock))
        assert 1.0 <= hands.slept[0] <= 2.0


@pytest.mark.parametrize(
    "error",
    [
        failure("request_invalid"),
        failure("unauthorized"),
        failure("judge_refused"),
        failure("judge_rate_limited", retryable=False),
        JudgeReplyError("not JSON"),
        BudgetError("used up"),
    ],
)
def test_what_does_not_pass_is_not_tried_again(error):
    hands = Hands()
    judge = ScriptedInvoker([error, "yes"])
    with pytest.raises(type(error)):
        ask(retried(judge, clock=hands.clock))
    assert (len(judge.requests), hands.slept) == (1, [])


def test_the_last_error_says_how_often_it_was_asked_and_keeps_its_code():
    hands = Hands()
    judge = ScriptedInvoker(lambda request: failure("judge_timeout"))
    with pytest.raises(ModelCallError, match=r"it failed with judge_timeout \(asked 3 times\)") as caught:
        ask(retried(judge, attempts=3, clock=hands.clock))
    assert caught.value.code == "judge_timeout"


def test_a_wait_that_is_too_long_is_not_waited_for():
    hands = Hands()
    judge = ScriptedInvoker([failure("judge_rate_limited", retry_after=3600.0)])
    with pytest.raises(ModelCallError, match=r"it asks to wait 3600 s"):
        ask(retried(judge, clock=hands.clock))
    assert hands.slept == []


def test_a_provider_that_is_down_gets_a_probe_now_and_then_and_is_back_after_a_good_reply():
    hands = Hands()
    down = True
    judge = ScriptedInvoker(lambda request: failure("judge_unreachable") if down else "yes")
    model = retried(judge, attempts=4, patience=5.0, clock=hands.clock)
    ended = together(model, [OPEN] * 8)
    assert {one.code for one in ended} == {"judge_unreachable"}
    asked = len(judge.requests)
    with pytest.raises(ModelCallError, match=r"not asked: the last .* calls over .* s all failed"):
        ask(model)
    assert len(judge.requests) == asked
    down, hands.time = False, hands.time + 6.0
    assert [reply.data for reply in ask(model, OPEN, OPEN)] == ["yes", "yes"]


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"first_wait": -1.0}, {"first_wait": 9.0, "longest_wait": 1.0}])
def test_retries_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError, match="retries need at least 1 attempt"):
        retried(ScriptedInvoker([]), **wrong)


# Budgeted


def test_the_call_that_would_pass_the_budget_is_not_made():
    judge = ScriptedInvoker("yes")
    model = budgeted(judge, Budget(calls=2))
    ended = together(model, [OPEN] * 5)
    assert [type(one).__name__ for one in ended] == ["Reply", "Reply", *["BudgetError"] * 3]
    assert "the budget of 2 calls is used up; scripted/judge was not asked" in str(ended[4])
    assert len(judge.requests) == 2


def test_one_budget_is_shared_by_the_models_of_a_run():
    budget = Budget(calls=3)
    judges = [ScriptedInvoker("yes"), ScriptedInvoker("no", name="scripted/other")]
    for judge in judges:
        together(budgeted(judge, budget), [OPEN] * 2)
    assert [len(judge.requests) for judge in judges] == [2, 1]
    assert budget.spent.calls == 3


@pytest.mark.parametrize("cap", [{"tokens": 1000}, {"usd": 0.001}])
def test_tokens_and_money_are_never_passed_by_calls_in_flight(cap):
    usage = Usage(calls=1, input_tokens=40, output_tokens=60, usd=0.0001)
    judge = Costly(usage=usage, price=Price(1.0, 1.0), delay=0.001)
    budget = Budget(**cap)
    ended = together(budgeted(judge, budget), [Request.of("x" * 160, sampling={"max_tokens": 60})] * 50)
    refused = [one for one in ended if isinstance(one, BudgetError)]
    spent = budget.spent.input_tokens + budget.spent.output_tokens
    assert spent <= 1000
    # What calls in flight gave back was used: not much of the cap is left over.
    assert spent >= 800
    assert len(refused) == 50 - judge.calls
    assert "the next call would pass the budget" in str(refused[0])


def test_failed_attempts_are_part_of_what_was_spent():
    judge = ScriptedInvoker([failure(), JudgeReplyError("bad", usage=Usage(calls=1, input_tokens=7)), "yes"])
    budget = Budget(calls=3)
    hands = Hands()
    ask(reasked(retried(budgeted(judge, budget), clock=hands.clock)))
    assert budget.spent.calls == 3
    assert budget.spent.input_tokens >= 7


def test_a_budget_in_money_needs_a_price():
    judge = Costly(usage=Usage(calls=1, usd=None))
    with pytest.raises(BudgetError, match="because the price of test/costly is unknown: give it") as caught:
        ask(budgeted(judge, Budget(usd=5.0)))
    assert caught.value.code == "budget_exhausted"
    assert judge.calls == 0


def test_a_model_that_tells_its_price_afterwards_is_believed_to_cost_what_its_dearest_call_did():
    told = Reply(text="yes", data="yes", usage=Usage(calls=1, usd=0.4))
    judge = ScriptedInvoker(told)
    budget = Budget(usd=1.0)
    model = budgeted(judge, budget)
    ask(model, OPEN, OPEN)
    with pytest.raises(BudgetError, match=r"\$0\.8 of \$1 spent"):
        ask(model)
    assert len(judge.requests) == 2


def test_a_reply_without_a_price_ends_a_budget_in_money():
    judge = ScriptedInvoker(Reply(text="yes", data="yes", usage=Usage(calls=1, usd=None)))
    model = budgeted(judge, Budget(usd=1.0))
    ask(model)
    with pytest.raises(BudgetError, match="the price of scripted/judge is unknown"):
        ask(model)


@pytest.mark.parametrize("wrong", [{"usd": -1}, {"calls": "many"}, {"tokens": float("nan")}, {"calls": True}])
def test_a_budget_is_a_number(wrong):
    with pytest.raises(InputError, match=r"a budget's .* is a number, 0 or more"):
        Budget(**wrong)


def test_a_budget_shows_its_caps():
    assert repr(Budget(usd=5.0, calls=10)) == "Budget(usd=5.0, calls=10)"


# Limited


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


# Timed


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


# Replayed


def test_a_run_is_replayed_without_a_key_from_the_workspace_and_from_a_file(tmp_path):
    judge = ScriptedInvoker("yes", name="openai/gpt-x")
    path = tmp_path / "calls.jsonl"
    with Workspace(tmp_path) as workspace:
        ask(cached(judge, workspace))
        assert write_calls(path, workspace.calls()) == 1
        assert ask(replayed(ScriptedInvoker([], name="openai/gpt-x"), workspace))[0].data == "yes"
        assert ask(ReplayInvoker(workspace, name="openai/gpt-x"))[0].data == "yes"
    offline = ReplayInvoker(path)
    assert offline.name == "openai/gpt-x"
    reply = ask(offline)[0]
    assert (reply.data, reply.usage) == ("yes", Usage(cached=1))


def test_a_call_that_was_not_recorded_is_an_error_and_nobody_is_asked():
    judge = ScriptedInvoker("yes")
    with pytest.raises(ModelCallError, match="the recording has no reply of scripted/judge to this request") as caught:
        ask(replayed(judge, {}))
    assert caught.value.code == "not_in_store"
    assert judge.requests == []


def test_replies_of_a_mapping_may_be_json():
    judge = openai("gpt-x")
    recording = {judge.call_key(OPEN): Reply(text="no", data="no").to_json()}
    assert ask(replayed(judge, recording))[0].data == "no"


def test_wrong_lines_of_a_recording_are_named_together(tmp_path):
    path = tmp_path / "calls.jsonl"
    good = json.dumps({"call_key": "k", "reply": Reply(text="x").to_json()})
    path.write_text(f"{good}\n{{\n\n{json.dumps({'call_key': 'k'})}\n")
    with pytest.raises(InputError, match=r"calls\.jsonl has 2 problems") as caught:
        ReplayInvoker(path)
    assert caught.value.problems[0].startswith("line 2: expected a recorded call, got '{'")
    assert caught.value.problems[1].startswith("line 4: expected a recorded call")


def test_a_recording_is_one_of_three_things(tmp_path):
    with pytest.raises(WrongTypeError, match="a recording is a workspace, a mapping from call key to reply"):
        ReplayInvoker(7)
    with pytest.raises(InputError, match="cannot be read"):
        ReplayInvoker(tmp_path / "none.jsonl")


# Costs


def test_costs_are_estimated_before_a_call_is_made(tmp_path):
    judge = Costly(usage=Usage(calls=1), price=Price(2.0, 10.0))
    requests = [Request.of(f"{number} " + "word " * 79) for number in range(10)]
    with Workspace(tmp_path) as workspace:
        ask(cached(judge, workspace), requests[0])
        found = estimate_cost(judge, [*requests, requests[1]], output_tokens=50, workspace=workspace)
    assert (found.calls, found.cached, found.output_tokens) == (9, 1, 450)
    assert found.input_tokens == pytest.approx(9 * 105, rel=0.1)
    assert found.usd == pytest.approx((2 * found.input_tokens + 10 * 450) / 1e6)
    assert judge.calls == 1


def test_an_unknown_price_makes_an_unknown_cost():
    found = estimate_cost(Costly(usage=Usage()), [OPEN])
    assert found.usd is None
    assert found.to_json()["usd"] is None
    assert str(found).endswith("price unknown")


def test_list_prices_come_from_genai_prices():
    # OpenAI's price of gpt-4o since 2024-10: 2.50 and 10.00 US dollars per million tokens (openai.com/api/pricing).
    pytest.importorskip("genai_prices")
    assert openai("gpt-4o").cost(1_000_000, 0) == pytest.approx(2.5)
    assert openai("gpt-4o").cost(0, 1_000_000) == pytest.approx(10.0)
    assert openai("no-such-model").cost(1, 1) is None


def test_everything_in_order_is_one_model_to_the_caller(tmp_path):
    hands = Hands()
    judge = ScriptedInvoker([failure(), JudgeReplyError("bad", reply="x"), "yes"])
    budget, latencies = Budget(calls=10), Latencies()
    with Workspace(tmp_path) as workspace:
        model = wrapped(judge, workspace=workspace, budget=budget, latencies=latencies, clock=hands.clock)
        first, second = ask(model, OPEN, OPEN)
    assert (first.data, second.usage.cached) == ("yes", 1)
    assert (budget.spent.calls, latencies.count, len(judge.requests)) == (3, 1, 3)
    assert repr(model) == (
        "CachedInvoker(ReaskedInvoker(RetriedInvoker(BudgetedInvoker("
        "LimitedInvoker(TimedInvoker(ScriptedInvoker('scripted/judge')))))))"
    )
