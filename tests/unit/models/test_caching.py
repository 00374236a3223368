"""Kept replies, and bad ones that are asked about again."""

import pytest
from model_doubles import OPEN, ask, failure, together

from calibrant.errors import JudgeReplyError, ModelCallError, WrongTypeError
from calibrant.models import (
    Reply,
    Request,
    SchemaInvoker,
    ScriptedInvoker,
    cached,
    reasked,
)
from calibrant.ratings import Usage
from calibrant.store import Workspace


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
