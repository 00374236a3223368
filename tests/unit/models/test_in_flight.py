"""Equal requests in flight are made once: whoever gives up, fails or comes late, nobody hangs and nobody pays twice."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.errors import ModelCallError, StoreError
from calibrant.models import BaseLMInvoker, Reply, Request, ScriptedInvoker, cached
from calibrant.ratings import Usage
from calibrant.store import Workspace

ASKED = Request.of("Open?")


class Slow(BaseLMInvoker):
    """A model that counts its calls, and tells each how it ends."""

    name = "test/slow"

    def __init__(self, *ends):
        self.ends = list(ends)
        self.calls = self.under_way = 0

    async def invoke(self, request):
        self.calls += 1
        end = self.ends.pop(0) if self.ends else "yes"
        self.under_way += 1
        try:
            await asyncio.sleep(0.002)
        finally:
            self.under_way -= 1
        if isinstance(end, Exception):
            raise end
        return Reply(text=end, usage=Usage(calls=1, input_tokens=3))


def test_those_who_wait_pay_nothing_and_get_the_same_reply():
    judge = Slow()

    async def main():
        model = cached(judge)
        return await asyncio.gather(*(model.invoke(ASKED) for _ in range(10)))

    replies = asyncio.run(main())
    assert judge.calls == 1
    assert [reply.usage for reply in replies] == [Usage(calls=1, input_tokens=3)] + [Usage(cached=1)] * 9
    assert len({reply.call_key for reply in replies}) == 1


def test_without_a_workspace_only_calls_in_flight_are_put_together():
    judge = Slow()

    async def main():
        model = cached(judge)
        await model.invoke(ASKED)
        return await model.invoke(ASKED)

    assert asyncio.run(main()).usage.calls == 1
    assert judge.calls == 2


def test_two_wrappers_around_one_model_meet_in_the_workspace_and_not_before(tmp_path):
    judge = Slow()

    async def main(workspace):
        models = [cached(judge, workspace), cached(judge, workspace)]
        await asyncio.gather(*(model.invoke(ASKED) for model in models))
        return await models[0].invoke(ASKED)

    with Workspace(tmp_path) as workspace:
        assert asyncio.run(main(workspace)).usage.cached == 1
        assert len(list(workspace.calls())) == 1


@pytest.mark.parametrize("error", [ModelCallError("down", code="provider_error"), ValueError("a bug of the model's")])
def test_after_a_failure_the_next_caller_asks_anew(error):
    judge = Slow(error)

    async def main():
        model = cached(judge)
        with pytest.raises(type(error)):
            await model.invoke(ASKED)
        return await model.invoke(ASKED)

    assert asyncio.run(main()).text == "yes"


def test_a_failure_that_is_known_is_shared_and_a_bug_is_asked_about_by_each():
    async def main(judge):
        model = cached(judge)
        return await asyncio.gather(*(model.invoke(ASKED) for _ in range(3)), return_exceptions=True)

    known = Slow(ModelCallError("down", code="provider_error"))
    assert [type(one) for one in asyncio.run(main(known))] == [ModelCallError] * 3
    assert known.calls == 1
    bug = Slow(ValueError("a bug"))
    assert sorted(type(one).__name__ for one in asyncio.run(main(bug))) == ["Reply", "Reply", "ValueError"]
    assert bug.calls == 2


def test_a_reply_that_cannot_be_kept_is_an_error_and_no_reply(tmp_path):
    with Workspace(tmp_path) as workspace:
        workspace.close()
        with pytest.raises(StoreError, match="is closed"):
            asyncio.run(cached(ScriptedInvoker("yes"), workspace).invoke(ASKED))


def test_one_wrapper_serves_one_loop_after_another_also_when_the_first_ended_in_the_middle():
    judge = Slow()
    model = cached(judge)

    async def left_behind():
        task = asyncio.create_task(model.invoke(ASKED))
        await asyncio.sleep(0)
        del task

    asyncio.run(left_behind())
    assert asyncio.run(model.invoke(ASKED)).text == "yes"
    assert judge.under_way == 0


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=12),
    st.lists(st.sampled_from(["yes", "fails"]), max_size=4),
)
def test_whoever_is_cancelled_all_others_end_and_nothing_is_left_under_way(callers, ends):
    judge = Slow(*(ModelCallError("down", code="provider_error") if end == "fails" else end for end in ends))

    async def main():
        model = cached(judge)
        tasks = []
        for slot, gives_up in callers:
            tasks.append(asyncio.create_task(model.invoke(Request.of("Open?", slot=slot))))
            await asyncio.sleep(0)
            if gives_up:
                tasks[-1].cancel()
        ended = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return ended

    ended = asyncio.run(main())
    assert judge.under_way == 0
    for (_, gives_up), end in zip(callers, ended, strict=True):
        assert isinstance(end, asyncio.CancelledError) == gives_up
    paid = sum(end.usage.calls for end in ended if isinstance(end, Reply))
    assert paid <= judge.calls
