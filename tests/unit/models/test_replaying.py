"""Models that answer from what was recorded."""

import json

import pytest
from model_doubles import OPEN, ask

from calibrant.errors import InputError, ModelCallError, WrongTypeError
from calibrant.models import (
    ReplayInvoker,
    Reply,
    ScriptedInvoker,
    cached,
    openai,
    replayed,
    write_calls,
)
from calibrant.ratings import Usage
from calibrant.store import Workspace


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
