import asyncio

import pytest

from calibrant.errors import JudgeReplyError, ModelCallError
from calibrant.models import Reply, Request, ScriptedInvoker


def ask(judge, *requests):
    async def all_of_them():
        return [await judge.invoke(request) for request in requests]

    return asyncio.run(all_of_them())


def test_lines_are_given_one_after_another_and_requests_kept():
    judge = ScriptedInvoker(["one", "two"])
    replies = ask(judge, Request.of("a"), Request.of("b"))
    assert [reply.text for reply in replies] == ["one", "two"]
    assert [request.messages[0].content for request in judge.requests] == ["a", "b"]
    assert replies[0].usage.calls == 1


def test_one_line_serves_every_request():
    assert [reply.text for reply in ask(ScriptedInvoker("same"), Request.of("a"), Request.of("b"))] == ["same"] * 2


def test_a_function_answers_each_request():
    judge = ScriptedInvoker(lambda request: request.messages[0].content.upper())
    assert ask(judge, Request.of("hi"))[0].text == "HI"


def test_a_mapping_is_a_json_reply():
    reply = ask(ScriptedInvoker({"score": 1}), Request.of("a", schema={}))[0]
    assert (reply.data, reply.mode, reply.text) == ({"score": 1}, "json_schema", '{"score": 1}')


def test_broken_json_is_a_reply_error_as_from_a_real_model():
    with pytest.raises(JudgeReplyError, match="expected JSON, got '{\"score\": '"):
        ask(ScriptedInvoker('{"score": '), Request.of("a", schema={}))


def test_a_label_must_be_one_of_those_asked_for():
    assert ask(ScriptedInvoker("yes"), Request.of("a", labels=("yes", "no")))[0].data == "yes"
    with pytest.raises(JudgeReplyError, match="expected one of yes, no, got 'maybe'"):
        ask(ScriptedInvoker("maybe"), Request.of("a", labels=("yes", "no")))


def test_whole_replies_and_exceptions_are_given_as_they_are():
    reply = Reply(text="x", label_probs={"x": 1.0})
    assert ask(ScriptedInvoker([reply]), Request.of("a"))[0] is reply
    with pytest.raises(ModelCallError, match="down"):
        ask(ScriptedInvoker(ModelCallError("down", code="judge_unreachable")), Request.of("a"))


def test_a_script_that_is_too_short_is_found_out():
    with pytest.raises(ModelCallError, match="the script of scripted/judge ended after 1 lines"):
        ask(ScriptedInvoker(["one"]), Request.of("a"), Request.of("b"))


def test_a_delay_lets_others_run():
    judge = ScriptedInvoker("x", delay=0.001)

    async def both():
        return await asyncio.gather(judge.invoke(Request.of("a")), judge.invoke(Request.of("b")))

    assert len(asyncio.run(both())) == 2
