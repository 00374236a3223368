"""The ladder of reply forms: each reply says which form it was asked in, wherever it is kept or read again."""

import asyncio
import json

import pytest
from provider_server import ProviderServer, Refuse, completion_payload, example_answer

from calibrant.errors import InputError, ModelCallError
from calibrant.models import Request, cached, connect, replayed, wrapped, write_calls
from calibrant.store import Workspace

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}},
    "required": ["score"],
    "additionalProperties": False,
}
SCORED = Request.of("Score it.", system="You judge.", schema=SCHEMA)
LABELLED = Request.of("Open?", labels=("yes", "no"), logprobs=True)


def without(*kinds, status=400, said="response_format {} is not supported", answer='{"score": 0.5}'):
    """A provider that knows none of these forms: a `response_format` type, `output_config`, or `tools`."""

    def respond(body):
        form = body.get("response_format", {}).get("type")
        used = {form, *(name for name in ("output_config", "tools") if name in body)} & set(kinds)
        if used:
            raise Refuse(status, {"error": {"message": said.format(*used)}})
        return example_answer(body) if "tools" in body else answer

    return respond


def gathered(model, requests):
    async def main():
        return await asyncio.gather(*map(model.invoke, requests))

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("said", "status"),
    [
        # Words of Groq, DeepSeek, vLLM, Mistral and FastAPI-made servers.
        ("This model does not support response format `{}`. See supported models", 400),
        ("This response_format type is unavailable now: {}", 400),
        ("Extra inputs are not permitted: response_format ({})", 422),
        ("{} requires structured output, which this model lacks", 400),
    ],
)
def test_every_providers_way_of_refusing_the_form_leads_to_the_next(said, status):
    with ProviderServer(without("json_schema", said=said, status=status)) as server:
        reply = asyncio.run(connect("openai/judge", base_url=server.openai_url).invoke(SCORED))
    assert (reply.mode, reply.data) == ("json_object", {"score": 0.5})


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("temperature must be at most 2", 400),
        ("Invalid schema for response_format 'reply': 'score' is missing", 400),
        ("response_format is fine, the key is not", 401),
        ("response_format: upstream fell over", 500),
    ],
)
def test_any_other_refusal_is_an_error_and_the_form_stays(said, status):
    with ProviderServer(without("json_schema", said=said, status=status)) as server:
        model = connect("openai/judge", base_url=server.openai_url)
        with pytest.raises(ModelCallError):
            asyncio.run(model.invoke(SCORED))
        with pytest.raises(ModelCallError):
            asyncio.run(model.invoke(SCORED))
    assert [one.body["response_format"]["type"] for one in server.requests] == ["json_schema"] * 2


def test_many_calls_that_meet_the_refusal_together_go_down_one_step_and_not_many():
    with ProviderServer(without("json_schema"), latency=0.02) as server:
        model = connect("openai/judge", base_url=server.openai_url)
        replies = gathered(model, [Request.of(f"Score {n}.", schema=SCHEMA) for n in range(20)])
    assert {reply.mode for reply in replies} == {"json_object"}
    kinds = [one.body.get("response_format", {}).get("type") for one in server.requests]
    assert (kinds.count("json_schema"), kinds.count("json_object"), kinds.count(None)) == (20, 20, 0)


@pytest.mark.parametrize(
    ("unknown", "mode"),
    [((), "json_schema"), (("output_config",), "tool_call"), (("output_config", "tools"), "prompted_schema")],
)
def test_the_ladder_of_anthropics_wire(unknown, mode):
    said = "output_config: structured output is not available ({})"
    with ProviderServer(without(*unknown, said=said)) as server:
        reply = asyncio.run(connect("anthropic/judge", base_url=server.openai_url).invoke(SCORED))
    assert (reply.mode, reply.data) == (mode, {"score": 0.5})
    last = server.requests[-1].body
    assert ("tools" in last, "output_config" in last) == (mode == "tool_call", mode == "json_schema")
    assert ('"additionalProperties": false' in last["messages"][-1]["content"]) == (mode == "prompted_schema")


def test_where_even_the_last_form_is_refused_the_error_is_the_providers():
    def never(body):
        raise Refuse(400, {"error": {"message": "response_format or not, structured output is not for us"}})

    with ProviderServer(never) as server, pytest.raises(ModelCallError, match="output is not for us") as caught:
        asyncio.run(connect("openai/judge", base_url=server.openai_url).invoke(SCORED))
    assert caught.value.code == "request_invalid"
    assert len(server.requests) == 3


@pytest.mark.parametrize("mode", ["json_schema", "json_object", "prompted_schema"])
def test_the_form_stays_in_the_reply_through_the_wrappers_the_workspace_and_a_recording(tmp_path, mode):
    with ProviderServer(without()) as server, Workspace(tmp_path) as workspace:
        plain = connect("openai/judge", base_url=server.openai_url, reply_mode=mode)
        new = asyncio.run(wrapped(plain, workspace=workspace).invoke(SCORED))
        again = asyncio.run(cached(plain, workspace).invoke(SCORED))
        from_store = asyncio.run(replayed(plain, workspace).invoke(SCORED))
        write_calls(tmp_path / "calls.jsonl", workspace.calls())
        from_file = asyncio.run(replayed(plain, tmp_path / "calls.jsonl").invoke(SCORED))
        (kept,) = workspace.calls()
    assert {reply.mode for reply in (new, again, from_store, from_file)} == {mode}
    assert kept.reply["mode"] == mode
    assert len(server.requests) == 1


@pytest.mark.parametrize("said", ['{"score": "high"}', '{"score": 1} {"score": 0}', "The score is 1.0", '{"scor'])
@pytest.mark.parametrize("mode", ["json_schema", "json_object", "prompted_schema"])
def test_a_reply_is_held_to_the_schema_in_every_form(mode, said):
    with ProviderServer(without(answer=said)) as server:
        model = connect("openai/judge", base_url=server.openai_url, reply_mode=mode)
        with pytest.raises(ModelCallError) as caught:
            asyncio.run(model.invoke(SCORED))
    assert caught.value.code in {"reply_unparsable", "reply_truncated"}


def test_the_schema_stands_in_the_prompt_only_where_the_provider_does_not_hold_to_it():
    with ProviderServer(without()) as server:
        for mode in ("json_schema", "json_object", "prompted_schema"):
            asyncio.run(connect("openai/judge", base_url=server.openai_url, reply_mode=mode).invoke(SCORED))
    prompts = [asked.prompt for asked in server.requests]
    assert prompts[0] == "Score it."
    assert prompts[1] == prompts[2]
    assert json.loads(prompts[1].splitlines()[-1]) == SCHEMA


def test_a_rung_that_the_wire_does_not_have_is_refused():
    with pytest.raises(InputError, match="reply_mode is one of json_schema, tool_call, prompted_schema, not 'json_obj"):
        connect("anthropic/judge", reply_mode="json_object")


def test_labels_are_asked_for_without_log_probabilities_from_the_first_refusal_on():
    def answer(body):
        if "logprobs" in body:
            raise Refuse(400, {"error": {"message": "`logprobs` is not supported", "param": "logprobs"}})
        return completion_payload(body, "no")

    with ProviderServer(answer) as server:
        model = connect("openai/judge", base_url=server.openai_url)
        replies = [asyncio.run(model.invoke(LABELLED)) for _ in range(2)]
    assert [(reply.data, reply.mode, reply.label_probs) for reply in replies] == [("no", "label_no_logprobs", None)] * 2
    assert ["logprobs" in asked.body for asked in server.requests] == [True, False, False]


def test_labels_without_log_probabilities_are_plain_labels():
    with ProviderServer() as server:
        model = connect("openai/judge", base_url=server.openai_url)
        reply = asyncio.run(model.invoke(Request.of("Open?", labels=("yes", "no"))))
    assert (reply.mode, reply.label_probs, reply.off_label_mass) == ("label", None, None)
    assert "exactly one of these labels and nothing else: yes, no" in server.requests[0].prompt
