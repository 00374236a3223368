"""Refused for too many requests while others are answered: no attempt has failed, and in the end nothing is lost."""

import asyncio

import pytest

from calibrant.errors import ModelCallError
from calibrant.models import BaseLMInvoker, Clock, Reply, Request, ScriptedInvoker, retried


class Window(BaseLMInvoker):
    """A model that answers `room` calls each time that the hands move, and refuses the rest."""

    name = "test/window"

    def __init__(self, room, *, retry_after=1.0):
        self.room, self.retry_after = room, retry_after
        self.time, self.used, self.asked = 0.0, 0, 0
        self.clock = Clock(now=lambda: self.time, sleep=self._sleep, draw=lambda: 0.0)
        self._sleeping = []

    async def _sleep(self, seconds):
        until = self.time + seconds
        while self.time < until:
            await asyncio.sleep(0)
            # Whoever is still asleep after a turn of the loop moves the hands to the next second.
            if not self._sleeping:
                self._sleeping.append(None)
                asyncio.get_running_loop().call_later(0.0005, self._tick)

    def _tick(self):
        self._sleeping.clear()
        self.time += 1.0
        self.used = 0

    async def invoke(self, request):
        self.asked += 1
        await asyncio.sleep(0)
        if self.used >= self.room:
            raise ModelCallError("too many", code="judge_rate_limited", retry_after=self.retry_after)
        self.used += 1
        return Reply(text=request.messages[0].content)


def together(model, count):
    async def main():
        asked = [model.invoke(Request.of(f"item {number}")) for number in range(count)]
        return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(main())


@pytest.mark.parametrize("attempts", [2, 8])
def test_a_crowd_loses_nobody_however_few_are_let_in_at_a_time(attempts):
    window = Window(room=2)
    ended = together(retried(window, attempts=attempts, clock=window.clock), 40)
    assert [one.text for one in ended] == [f"item {number}" for number in range(40)]
    # Some were refused more often than there are attempts.
    assert window.asked > 40 * 2


def test_a_provider_that_lets_nobody_in_is_given_up_after_the_attempts():
    window = Window(room=0)
    ended = together(retried(window, attempts=3, clock=window.clock), 5)
    assert [str(one) for one in ended] == ["too many (asked 3 times)"] * 5
    assert {one.code for one in ended} == {"judge_rate_limited"}
    assert window.asked == 15


def test_other_failures_count_also_while_others_are_answered():
    async def main():
        model = retried(judge, attempts=3, first_wait=0.001)
        broken = asyncio.create_task(model.invoke(Request.of("broken")))
        while not broken.done():
            await model.invoke(Request.of("fine"))
        return await broken

    def line(request):
        if request.messages[0].content == "fine":
            return "yes"
        return ModelCallError("it fell over", code="provider_error")

    judge = ScriptedInvoker(line, delay=0.0002)
    with pytest.raises(ModelCallError, match=r"it fell over \(asked 3 times\)"):
        asyncio.run(main())
    assert sum(request.messages[0].content == "broken" for request in judge.requests) == 3


def test_a_wait_that_is_too_long_is_not_waited_for_in_a_crowd_either():
    window = Window(room=1, retry_after=3600.0)
    ended = together(retried(window, clock=window.clock), 2)
    assert ended[0].text == "item 0"
    assert str(ended[1]) == "too many (it asks to wait 3600 s)"


def test_a_used_up_account_is_no_crowd():
    refusal = ModelCallError("quota", code="judge_rate_limited", retryable=False)
    judge = ScriptedInvoker(["yes", refusal])
    model = retried(judge)
    asyncio.run(model.invoke(Request.of("?")))
    with pytest.raises(ModelCallError, match="^quota$"):
        asyncio.run(model.invoke(Request.of("?")))
    assert len(judge.requests) == 2
