"""The system under test: called within the run, kept, counted, timed; what it raises is its own failure."""

import asyncio
import threading
import time
from contextvars import ContextVar
from functools import partial

import pytest

from calibrant import EvalInput
from calibrant.errors import WrongTypeError
from calibrant.runs import RunSettings, run
from calibrant.runs.system import System
from calibrant.runs.threads import called_in_thread

ITEMS = [{"id": f"i{n}", "query": f"Question {n}?"} for n in range(20)]
CALLER = ContextVar("CALLER", default="nobody")


def answered(item):
    return bool(item.answer)


def failures(result):
    return [(cause.code, cause.count, cause.message) for cause in result.metrics[0].failures]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no such ticket"), "ValueError: no such ticket"),
        (KeyError(), "KeyError"),
        (SystemExit(3), "SystemExit: 3"),
        (StopIteration("end"), "RuntimeError: coroutine raised StopIteration"),
        (TimeoutError("30 s"), "TimeoutError: 30 s"),
        (RecursionError("deep"), "RecursionError: deep"),
    ],
)
def test_whatever_a_system_raises_costs_one_item(error, message):
    def system(item):
        if item.id == "i3":
            raise error
        return "Yes."

    result = run(ITEMS, [answered], system=system)
    assert failures(result) == [("system_error", 1, message)]
    assert result.metrics[0].pass_rate.n == 19
    assert (result.status, result.system.failed, result.system.calls) == ("complete", 1, 20)


@pytest.mark.parametrize("error", [asyncio.CancelledError(), SystemExit(1), ConnectionError("down")])
def test_an_async_system_that_gives_up_costs_one_item_and_not_the_run(error):
    async def system(item):
        await asyncio.sleep(0)
        if item.id == "i0":
            raise error
        return "Yes."

    result = run(ITEMS, [answered], system=system, settings=RunSettings(concurrency=1))
    assert [failure[:2] for failure in failures(result)] == [("system_error", 1)]
    assert (result.status, result.metrics[0].pass_rate.n) == ("complete", 19)


def test_an_object_that_is_called_may_be_async():
    class Bot:
        async def __call__(self, item):
            await asyncio.sleep(0)
            return f"About {item.query}"

    result = run(ITEMS[:2], [answered], system=Bot())
    assert [item.answer for item in result.items()] == ["About Question 0?", "About Question 1?"]


def test_a_function_that_returns_an_awaitable_is_awaited():
    async def later(item):
        return "Later."

    class Asks:
        def __call__(self, item):
            return later(item)

    result = run(ITEMS[:1], [answered], system=Asks())
    assert next(result.items()).answer == "Later."


def test_a_function_with_arguments_filled_in_is_a_system_of_its_own():
    def system(prefix, item):
        return f"{prefix} {item.id}"

    first, second = (partial(system, prefix) for prefix in ("About", "On"))
    assert next(run(ITEMS[:1], [answered], system=first).items()).answer == "About i0"
    assert System(first, name="bot").identity != System(second, name="bot").identity


def test_a_system_may_return_an_item_and_keeps_its_id():
    def system(item):
        return EvalInput(id="another", answer="Yes.", contexts=["found"], trace="t-1")

    item = next(run(ITEMS[:1], [answered], system=system).items())
    assert (item.id, item.answer, item.contexts, item.trace) == ("i0", "Yes.", ("found",), "t-1")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "the system returned None; it returns the answer, or a dict of fields"),
        ({"answer": object()}, ""),
        ({"get": "x"}, "a field cannot be named get"),
    ],
)
def test_an_answer_that_cannot_be_kept_is_a_failure_of_the_system(answer, said):
    ((code, count, message),) = failures(run(ITEMS[:1], [answered], system=lambda item: answer))
    assert (code, count) == ("system_error", 1)
    assert said in message


def test_answers_that_are_no_texts_are_kept_as_they_are():
    seen = []

    def system(item):
        return {"answer": ["a", 1, None], "score": 0.5}

    def looks(item):
        seen.append((item.answer, item.score))
        return True

    run(ITEMS[:1], [looks], system=system)
    assert seen == [(["a", 1, None], 0.5)]


def test_a_system_that_is_no_function_is_refused():
    with pytest.raises(WrongTypeError, match="a system is a function of the item, not 'app:answer'"):
        run(ITEMS, [answered], system="app:answer")


def test_no_more_calls_are_under_way_than_the_concurrency_allows_also_where_metrics_take_lists():
    from calibrant import BaseMetric

    class Listed(BaseMetric):
        name = "listed"
        batch = True

        async def _evaluate(self, data):
            return [1.0 for _ in data]

    active, most = 0, 0

    async def system(item):
        nonlocal active, most
        active += 1
        most = max(most, active)
        await asyncio.sleep(0.001)
        active -= 1
        return "Yes."

    run([{"id": f"{n}"} for n in range(80)], [Listed()], system=system, settings=RunSettings(concurrency=3))
    assert most == 3


def test_a_blocking_system_is_called_side_by_side():
    meeting = threading.Barrier(4, timeout=10)

    def system(item):
        meeting.wait()
        return "Yes."

    result = run(ITEMS[:4], [answered], system=system, settings=RunSettings(concurrency=4))
    assert result.metrics[0].pass_rate.value == 1.0


def test_latency_is_that_of_the_system_and_quantiles_are_in_order():
    def system(item):
        time.sleep(0.02 if item.id == "i0" else 0.001)
        return "Yes."

    latency = run(ITEMS, [answered], system=system).to_json()["system"]["latency"]
    assert set(latency) == {"p50", "p95", "p99"}
    assert 0.001 <= latency["p50"] <= latency["p95"] <= latency["p99"]
    assert latency["p99"] >= 0.02


def test_a_system_that_never_answered_has_no_latency():
    def system(item):
        raise OSError

    summary = run(ITEMS, [answered], system=system).system
    assert (dict(summary.latency), summary.failed) == ({}, 20)


def test_context_variables_of_the_caller_reach_the_system():
    seen = []

    def system(item):
        seen.append((CALLER.get(), threading.current_thread().daemon))
        return "Yes."

    token = CALLER.set("the test")
    run(ITEMS[:1], [answered], system=system)
    CALLER.reset(token)
    assert seen == [("the test", True)]


def test_another_code_of_the_system_is_another_run(tmp_path):
    def first(item):
        return "Yes."

    def second(item):
        return "No."

    settings = RunSettings(workspace=tmp_path)
    ids = [run(ITEMS, [answered], system=system, settings=settings).id for system in (first, second)]
    assert len(set(ids)) == 2


def test_failures_of_a_system_are_asked_again_and_answers_are_not(tmp_path):
    asked = []
    is_down = True

    def system(item):
        asked.append(item.id)
        if is_down and item.id in {"i1", "i2"}:
            raise ConnectionError("down")
        return "Yes."

    settings = RunSettings(workspace=tmp_path, max_calls=10)
    partial = run(ITEMS, [answered], system=system, settings=settings)
    assert (partial.status, partial.system.failed) == ("incomplete", 2)
    is_down = False
    whole = run(ITEMS, [answered], system=system, settings=RunSettings(workspace=tmp_path))
    assert (whole.id, whole.status, whole.metrics[0].pass_rate.n) == (partial.id, "complete", 20)
    assert sorted(asked) == sorted([*[f"i{n}" for n in range(20)], "i1", "i2"])


def test_the_name_is_where_the_function_lives():
    assert System(answered).name.endswith(":answered")
    assert System(answered, name="app:answer").name == "app:answer"
    assert System(partial(answered, None)).name.endswith(":answered")


def test_an_object_goes_by_its_class_in_every_process():
    class Bot:
        def __call__(self, item):
            return "Yes."

    assert System(Bot()).name.endswith(".Bot")
    assert System(Bot()).identity == System(Bot()).identity
    assert System(answered).identity != System(answered, name="app:answer").identity


def test_a_thread_that_outlives_its_loop_harms_nobody():
    release = threading.Event()
    ended = threading.Event()

    def slow():
        release.wait(10)
        ended.set()

    async def leave():
        task = asyncio.create_task(called_in_thread(slow))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(leave())
    release.set()
    assert ended.wait(10)


def test_what_a_thread_raises_is_raised_with_its_traceback():
    def fails():
        raise LookupError("here")

    with pytest.raises(LookupError, match="here") as caught:
        asyncio.run(called_in_thread(fails))
    frames = []
    trace = caught.value.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    assert "fails" in frames
