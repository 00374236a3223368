import asyncio

import pydantic
import pytest

from calibrant.errors import WrongTypeError
from calibrant.metrics.judges import SlotJudge
from calibrant.models import (
    BaseLMInvoker,
    InvokerWrapper,
    Message,
    ReplayInvoker,
    Reply,
    Request,
    SchemaInvoker,
    ScriptedInvoker,
    cached,
    openai_compatible,
    wrapped,
)
from calibrant.models.invoker import json_schema_of

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}}


def test_a_request_puts_one_prompt_under_a_system_message():
    request = Request.of("How good?", system="You judge.", slot=2)
    assert request.messages == (Message("system", "You judge."), Message("user", "How good?"))
    assert request.slot == 2


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("user", "How bad?"),)},
        {"schema": SCHEMA},
        {"labels": ("yes", "no")},
        {"sampling": {"temperature": 0.0}},
        {"logprobs": True},
        {"slot": 1},
    ],
)
def test_everything_about_a_request_is_in_its_call_key(change):
    judge = ScriptedInvoker("fine")
    plain = {"messages": (Message("user", "How good?"),)}
    assert judge.call_key(Request(**plain)) != judge.call_key(Request(**{**plain, **change}))
    assert judge.call_key(Request(**plain)) == judge.call_key(Request(**plain))


def test_another_model_has_another_call_key():
    request = Request.of("How good?")
    assert ScriptedInvoker("fine", name="a/b").call_key(request) != ScriptedInvoker("fine", name="a/c").call_key(
        request
    )


def test_a_model_of_one_s_own_needs_one_method():
    class Echo(BaseLMInvoker):
        name = "own/echo"

        async def invoke(self, request):
            return Reply(text=request.messages[-1].content)

    assert asyncio.run(Echo().invoke(Request.of("Hi"))).text == "Hi"
    assert repr(Echo()) == "Echo('own/echo')"
    assert asyncio.run(Echo().aclose()) is None


def test_a_wrapper_is_the_model_inside_for_keys_and_names():
    judge = ScriptedInvoker("fine")

    class Plain(InvokerWrapper):
        async def invoke(self, request):
            return await self.inner.invoke(request)

    wrapped = Plain(judge)
    request = Request.of("How good?")
    assert (wrapped.name, wrapped.identity) == (judge.name, judge.identity)
    assert wrapped.call_key(request) == judge.call_key(request)
    assert repr(wrapped) == "Plain(ScriptedInvoker('scripted/judge'))"
    assert asyncio.run(wrapped.aclose()) is None


def test_only_models_can_be_wrapped():
    with pytest.raises(WrongTypeError, match="expected a model to wrap, got 'openai/x'"):
        SchemaInvoker("openai/x", SCHEMA)


def test_a_schema_invoker_asks_for_its_schema_unless_the_request_has_a_form():
    judge = ScriptedInvoker(lambda request: "yes" if request.labels else "{}")
    shaped = SchemaInvoker(judge, SCHEMA)

    async def ask():
        await shaped.invoke(Request.of("1"))
        await shaped.invoke(Request.of("2", schema={"type": "array"}))
        await shaped.invoke(Request.of("3", labels=("yes",)))

    asyncio.run(ask())
    assert [request.schema for request in judge.requests] == [SCHEMA, {"type": "array"}, None]
    assert shaped.call_key(Request.of("1")) == judge.call_key(Request.of("1", schema=SCHEMA))


def test_a_schema_is_a_mapping_or_a_pydantic_model():
    class Verdict(pydantic.BaseModel):
        score: int

    assert json_schema_of(SCHEMA) is SCHEMA
    assert json_schema_of(Verdict)["properties"]["score"]["type"] == "integer"
    with pytest.raises(WrongTypeError, match="a response schema is a JSON schema or a pydantic model class, not 'int'"):
        json_schema_of("int")


@pytest.mark.parametrize("prompt", [None, 7, {"role": "user", "content": "Open?"}])
def test_a_prompt_is_a_text(prompt):
    with pytest.raises(WrongTypeError, match="a prompt is a text, not "):
        Request.of(prompt)


@pytest.mark.parametrize("message", ["Open?", {"role": "user", "content": "Open?"}, Message("user", None)])
def test_messages_are_messages_with_texts(message):
    with pytest.raises(WrongTypeError, match=r"messages are several Message\(role, text\), not "):
        Request(messages=(message,))


@pytest.mark.parametrize(
    "model",
    [
        ScriptedInvoker("yes"),
        cached(ScriptedInvoker("yes")),
        wrapped(ScriptedInvoker("yes")),
        openai_compatible("judge", base_url="http://127.0.0.1:1/v1"),
        ReplayInvoker({}),
        SlotJudge(ScriptedInvoker("yes")),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_bare_prompt_is_no_request_and_the_error_says_what_makes_one(model):
    with pytest.raises(WrongTypeError, match=r"asked with a Request, not 'Open\?'; Request\.of\(prompt\) makes one"):
        asyncio.run(model.invoke("Open?"))
