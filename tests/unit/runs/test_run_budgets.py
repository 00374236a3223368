"""A run stops cleanly: by calls, money, tokens, minutes, or because somebody stopped it; what it kept is valid."""

import asyncio
import contextlib
import time

import pytest

from calibrant import ScriptedInvoker
from calibrant.errors import BudgetError, InputError, ModelCallError, RatingError, WrongTypeError
from calibrant.metrics import RubricMetric
from calibrant.models import Request
from calibrant.models.clocks import Clock
from calibrant.ratings import Usage
from calibrant.runs import RunSettings, run, run_async
from calibrant.runs.budgets import RunBudget
from calibrant.runs.judges import FreshCalls, Judges
from calibrant.store import CallRecord, Workspace

ITEMS = [{"id": f"i{n}", "answer": f"Answer {n}.", "contexts": [f"c{n}"]} for n in range(30)]


class Priced(ScriptedInvoker):
    """A dollar a call."""

    def cost(self, input_tokens, output_tokens):
        return 1.0

    async def invoke(self, request):
        from dataclasses import replace

        reply = await super().invoke(request)
        return replace(reply, usage=Usage(calls=1, input_tokens=100, output_tokens=10, usd=1.0))


def groundedness(model):
    return RubricMetric("groundedness", models=model)


def good():
    return ScriptedInvoker({"explanation": "", "score": 3})


def coverage(result):
    return result.metrics[0].pass_rate.coverage


def test_money_stops_a_run_before_it_is_overspent():
    model = Priced({"explanation": "", "score": 3})
    result = run(ITEMS, [groundedness(model)], settings=RunSettings(max_cost=7.5, concurrency=4))
    assert (len(model.requests), result.usage.usd, result.exit_code) == (7, 7.0, 4)
    assert dict(coverage(result).codes) == {"budget_exhausted": 23}
    assert "would pass the budget ($7 of $7.5 spent)" in result.metrics[0].failures[0].message


def test_tokens_stop_a_run():
    model = Priced({"explanation": "", "score": 3})
    result = run(ITEMS, [groundedness(model)], settings=RunSettings(max_tokens=20_000, concurrency=1))
    usage = result.usage
    assert 0 < usage.input_tokens + usage.output_tokens <= 20_000
    assert result.status == "incomplete" or len(model.requests) == 30


@pytest.mark.parametrize("calls", [0, 1, 29])
def test_no_call_more_than_the_budget_is_made_whatever_the_concurrency(calls):
    model = good()
    result = run(ITEMS, [groundedness(model)], settings=RunSettings(max_calls=calls, concurrency=16))
    assert (len(model.requests), coverage(result).rated, result.exit_code) == (calls, calls, 4)


def test_a_budget_that_is_just_enough_is_no_reason_to_stop():
    result = run(ITEMS, [groundedness(good())], settings=RunSettings(max_calls=30))
    assert (result.status, result.exit_code) == ("complete", 0)


def test_all_judges_of_a_run_share_its_budget():
    models = [good(), good()]
    metrics = [RubricMetric("groundedness", models=model, name=f"m{n}") for n, model in enumerate(models)]
    run(ITEMS, metrics, settings=RunSettings(max_calls=11))
    assert sum(len(model.requests) for model in models) == 11


def test_minutes_stop_a_run_that_is_under_way(monkeypatch):
    def slow(item):
        time.sleep(0.01)
        return "Answer."

    result = run(
        [{"id": str(n)} for n in range(400)],
        [lambda item: True],
        system=slow,
        settings=RunSettings(max_minutes=0.1 / 60, concurrency=2),
    )
    found = coverage(result)
    assert 0 < found.rated < 400
    assert found.codes == {"budget_exhausted": 400 - found.rated}
    assert any(text.endswith("items were not reached; the numbers are partial") for text in result.warnings)


def test_a_stopped_budget_lets_no_call_pass():
    budget = RunBudget(RunSettings())
    budget.is_stopped = True
    with pytest.raises(RatingError, match="the run was stopped before this call was made") as caught:
        budget.take_system_call("app:answer")
    assert caught.value.code == "interrupted"


def test_a_late_budget_says_how_long_it_was():
    budget = RunBudget(RunSettings(max_minutes=0))
    assert budget.is_late
    with pytest.raises(BudgetError, match="the 0 minutes of the run were over before this call was made"):
        budget.check()
    assert not RunBudget(RunSettings(max_minutes=5)).is_late
    assert not RunBudget(RunSettings()).is_late


def test_calls_of_the_system_are_counted_apart():
    budget = RunBudget(RunSettings(max_calls=2))
    budget.take_system_call("app:answer")
    budget.take_system_call("app:answer")
    with pytest.raises(BudgetError, match="the budget of 2 calls is used up; app:answer was not called"):
        budget.take_system_call("app:answer")
    assert (budget.spent.calls, budget.judged.calls, budget.system_calls) == (2, 0, 2)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"concurrency": 1.5}, WrongTypeError, "concurrency is a whole number, not 1.5"),
        ({"concurrency": True}, WrongTypeError, "concurrency is a whole number, not True"),
        ({"concurrency": -1}, InputError, "concurrency is at least 1, not -1"),
        ({"level": 0}, InputError, "level is a probability between 0 and 1, not 0"),
        ({"max_calls": -1}, InputError, "max_calls is a number, 0 or more, not -1"),
        ({"max_minutes": float("inf")}, InputError, "max_minutes is a number, 0 or more, not inf"),
        ({"max_tokens": True}, InputError, "max_tokens is a number, 0 or more, not True"),
        ({"max_cost": float("nan")}, InputError, "max_cost is a number, 0 or more, not nan"),
    ],
)
def test_settings_say_what_they_expect(wrong, error, message):
    with pytest.raises(error, match=message):
        RunSettings(**wrong)


def test_money_without_a_price_is_an_error_before_the_first_call():
    class Unpriced(ScriptedInvoker):
        tells_cost = False

        def cost(self, input_tokens, output_tokens):
            return None

    model = Unpriced({"explanation": "", "score": 3})
    with pytest.raises(InputError, match="a budget in usd cannot be kept, because the price of scripted/judge"):
        run(ITEMS, [groundedness(model)], settings=RunSettings(max_cost=1))
    assert model.requests == []


def test_calls_under_way_at_a_time_are_at_most_the_concurrency():
    active = most = 0

    class Counting(ScriptedInvoker):
        async def invoke(self, request):
            nonlocal active, most
            active += 1
            most = max(most, active)
            await asyncio.sleep(0.001)
            active -= 1
            return await super().invoke(request)

    jury = Counting({"explanation": "", "score": 3})
    run(ITEMS, [RubricMetric("groundedness", models=[jury] * 3)], settings=RunSettings(concurrency=5))
    assert most == 5


def test_a_model_is_wrapped_once_and_a_metric_is_left_as_it_was():
    model = good()
    judges = Judges(workspace=None, budget=RunBudget(RunSettings()), concurrency=2)
    assert judges.wrap(model) is judges.wrap(model)
    mine = groundedness(model)
    asked = judges.metric(mine)
    assert asked is not mine
    assert (mine.models[0], asked.models[0].name) == (model, model.name)


def test_fresh_calls_are_those_of_this_run_alone(tmp_path):
    with Workspace(tmp_path) as workspace:
        workspace.add_calls([CallRecord(key="old", model="m", reply={"text": "x"})])
        workspace.flush()
        fresh = FreshCalls(workspace)
        assert fresh.call("old") is None
        asyncio.run(fresh.put_call(CallRecord(key="old", model="m", reply={"text": "y"})))
        assert fresh.call("old").reply == {"text": "y"}


def test_a_model_that_is_closed_with_the_run_is_asked_through_it():
    model = good()
    judges = Judges(workspace=None, budget=RunBudget(RunSettings(max_calls=1)), concurrency=2)

    async def twice():
        asked = judges.wrap(model)
        await asked.invoke(Request.of("Is it?"))
        with pytest.raises(BudgetError, match="the budget of 1 calls is used up"):
            await asked.invoke(Request.of("Is it really?"))
        await judges.aclose()

    asyncio.run(twice())
    assert len(model.requests) == 1


class Slow(ScriptedInvoker):
    """Takes a second by the hands of its own clock, and lets others go first."""

    def __init__(self, *replies):
        super().__init__(*replies)
        self.now = 0.0

    async def invoke(self, request):
        await asyncio.sleep(0)
        self.now += 1.0
        return await super().invoke(request)


def test_waiting_for_a_seat_is_no_part_of_a_calls_seconds(monkeypatch):
    model = Slow({"explanation": "", "score": 3})
    monkeypatch.setattr("calibrant.runs.judges.Clock", lambda **_others: Clock(now=lambda: model.now))
    asked = Judges(workspace=None, budget=RunBudget(RunSettings()), concurrency=1).wrap(model)

    async def together():
        return await asyncio.gather(*[asked.invoke(Request.of(f"Is it {n}?")) for n in range(4)])

    assert [reply.seconds for reply in asyncio.run(together())] == [1.0] * 4


def test_a_seat_is_held_until_the_reply_is_kept_so_that_a_kill_loses_no_more_calls_than_seats():
    model = good()

    class Waiting:
        def __init__(self):
            self.asked, self.may_end = asyncio.Event(), asyncio.Event()

        def call(self, key):
            return None

        async def put_call(self, record):
            self.asked.set()
            await self.may_end.wait()

    async def two():
        workspace = Waiting()
        asked = Judges(workspace=workspace, budget=RunBudget(RunSettings()), concurrency=1).wrap(model)
        calls = asyncio.gather(*[asked.invoke(Request.of(f"Is it {n}?")) for n in range(2)])
        await workspace.asked.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        under_way = len(model.requests)
        workspace.may_end.set()
        await calls
        return under_way, len(model.requests)

    assert asyncio.run(two()) == (1, 2)


@pytest.mark.parametrize("end", ["stopped", "late"])
def test_nobody_waits_to_ask_again_in_a_run_that_is_over(end):
    budget = RunBudget(RunSettings(max_minutes=0 if end == "late" else None))

    async def waited():
        waiting = asyncio.create_task(budget.wait(3600))
        await asyncio.sleep(0)
        budget.is_stopped = end == "stopped"
        await asyncio.wait_for(waiting, 60)

    asyncio.run(waited())


def test_a_wait_in_a_run_that_goes_on_is_as_long_as_it_was_asked_to_be(monkeypatch):
    slept = []

    async def sleep(seconds):
        slept.append(seconds)

    budget = RunBudget(RunSettings())
    monkeypatch.setattr("calibrant.runs.budgets.asyncio.sleep", sleep)
    monkeypatch.setattr("calibrant.runs.budgets.time.monotonic", lambda: sum(slept))
    with contextlib.suppress(StopIteration):
        budget.wait(0.5).send(None)
    assert slept == pytest.approx([0.2, 0.2, 0.1])


def test_a_run_whose_provider_asks_for_patience_ends_with_its_minutes():
    def busy(_request):
        raise ModelCallError("too many", code="judge_rate_limited", retryable=True, retry_after=50.0)

    metric = RubricMetric("fluency", models=ScriptedInvoker(busy))
    asked = run_async([{"id": "a", "answer": "Yes."}], [metric], settings=RunSettings(max_minutes=0.01))
    result = asyncio.run(asyncio.wait_for(asked, 40))  # the provider asked for 50 seconds, each time
    assert (result.status, result.metrics[0].pass_rate.coverage.codes) == ("incomplete", {"budget_exhausted": 1})
