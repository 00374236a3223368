import asyncio

import pytest

from calibrant import ScriptedInvoker
from calibrant.errors import ModelNotNamedError
from calibrant.metrics import copy_invoker_with_schema, resolve_primary_invoker
from calibrant.metrics.judges import SlotJudge, resolve_invokers
from calibrant.models import Request

SCHEMA = {"type": "object"}


def test_one_invoker_is_itself():
    judge = ScriptedInvoker("x")
    assert resolve_primary_invoker(judge) is judge


def test_a_list_gives_its_first():
    first, second = ScriptedInvoker("x"), ScriptedInvoker("y")
    assert resolve_primary_invoker([first, second]) is first


@pytest.mark.parametrize("models", [None, []])
def test_nobody_is_judged_by_a_model_that_nobody_chose(models):
    with pytest.raises(ModelNotNamedError, match="no judge model was named") as error:
        resolve_primary_invoker(models)
    assert error.value.code == "model_not_named"


def test_the_default_model_is_the_one_in_the_environment(monkeypatch):
    monkeypatch.setenv("CALIBRANT_MODEL", "ollama/qwen3")
    assert resolve_primary_invoker(None).name == "ollama/qwen3"
    assert resolve_primary_invoker([]).name == "ollama/qwen3"


def test_an_empty_default_is_none(monkeypatch):
    monkeypatch.setenv("CALIBRANT_MODEL", "")
    with pytest.raises(ModelNotNamedError):
        resolve_primary_invoker(None)


def test_a_name_that_stands_there_twice_is_one_invoker():
    first, second, other = resolve_invokers(["ollama/qwen3", "ollama/qwen3", "ollama/llama3"])
    assert first is second
    assert other.name == "ollama/llama3"


def test_without_a_schema_the_source_itself_is_the_copy():
    judge = ScriptedInvoker("x")
    assert copy_invoker_with_schema(judge, None) is judge


def test_the_copy_asks_for_the_schema_and_its_source_does_not():
    judge = ScriptedInvoker("{}")
    copy = copy_invoker_with_schema(judge, SCHEMA)
    asyncio.run(copy.invoke(Request.of("a")))
    asyncio.run(judge.invoke(Request.of("a")))
    assert copy is not judge
    assert [request.schema for request in judge.requests] == [SCHEMA, None]


def test_a_slot_judge_marks_requests_and_keeps_account():
    judge = ScriptedInvoker("x")
    slot = SlotJudge(judge, 2)
    asyncio.run(slot.invoke(Request.of("a")))
    assert judge.requests[0].slot == 2
    assert slot.call_keys == [judge.call_key(Request.of("a", slot=2))]
    assert slot.usage.calls == 1
