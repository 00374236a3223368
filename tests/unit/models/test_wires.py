"""Both wires: what is sent, and how a reply is read."""

import asyncio
import json

import pytest
from provider_server import ProviderServer, Refuse, completion_payload, example_answer
from wire_calls import SCHEMA, SCORED, asked_of, failure_of, refusing

from calibrant.errors import InputError
from calibrant.models import Request, connect, openai


@pytest.mark.parametrize("name", ["openai/judge", "anthropic/judge"])
def test_a_schema_reply_is_parsed_and_says_how_it_was_asked_for(name):
    reply, _ = asked_of(SCORED, name=name)
    assert reply.data == {"score": 0.5, "why": "because it is so"}
    assert (reply.mode, reply.model, reply.usage.input_tokens, reply.usage.output_tokens) == (
        "json_schema",
        "judge-2026",
        40,
        10,
    )


def test_the_openai_wire_sends_the_schema_strictly_and_nothing_that_was_not_set():
    _, requests = asked_of(SCORED)
    body = requests[0].body
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
    }
    assert set(body) == {"model", "messages", "response_format"}
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_a_schema_with_optional_properties_is_not_sent_as_strict():
    loose = {"type": "object", "properties": {"score": {"type": "number"}}}
    _, requests = asked_of(Request.of("Score it.", schema=loose))
    assert requests[0].body["response_format"]["json_schema"]["strict"] is False


def test_the_anthropic_wire_keeps_the_system_message_apart_and_sends_the_limit_that_the_api_demands():
    _, requests = asked_of(SCORED, name="anthropic/judge", api_key="secret")
    asked = requests[0]
    assert asked.path == "/v1/messages"
    assert asked.body["system"] == "You judge."
    assert asked.body["max_tokens"] == 4096
    assert [message["role"] for message in asked.body["messages"]] == ["user"]
    assert asked.headers["x-api-key"] == "secret"
    assert asked.headers["anthropic-version"] == "2023-06-01"


def test_sampling_is_sent_when_set_under_the_name_that_the_provider_has_for_the_token_limit():
    request = Request.of("Hello.", sampling={"temperature": 0, "max_tokens": 7})
    _, requests = asked_of(request)
    assert requests[0].body["max_completion_tokens"] == 7
    assert requests[0].body["temperature"] == 0
    _, requests = asked_of(request, name="vllm/judge")
    assert requests[0].body["max_tokens"] == 7


def test_sampling_cannot_replace_what_the_request_says():
    with pytest.raises(InputError, match="sampling cannot set messages: the request itself says it"):
        asked_of(Request.of("Hello.", sampling={"messages": []}))


def test_a_bare_label_comes_with_probabilities_and_the_mass_off_the_labels_when_asked():
    reply, requests = asked_of(
        Request.of("Open?", labels=("yes", "no"), logprobs=True),
        answer=lambda body: completion_payload(body, "Yes", logprobs={" Yes": -0.5108256, "No": -1.6094379, "I": -2.3}),
    )
    assert requests[0].body["logprobs"] is True
    assert reply.data == "yes"
    assert reply.label_probs == pytest.approx({"yes": 0.75, "no": 0.25}, abs=1e-6)
    assert reply.off_label_mass == pytest.approx(0.2, abs=1e-6)
    assert reply.mode == "label"


def test_a_provider_without_log_probabilities_is_asked_without_and_the_reply_says_so():
    def answer(body):
        if "logprobs" in body:
            raise Refuse(400, {"error": {"message": "logprobs are not supported with this model"}})
        return "no"

    reply, requests = asked_of(Request.of("Open?", labels=("yes", "no"), logprobs=True), answer=answer)
    assert (reply.data, reply.label_probs, reply.mode) == ("no", None, "label_no_logprobs")
    assert len(requests) == 2


def test_log_probabilities_that_were_asked_for_and_did_not_come_show_in_the_mode():
    reply, _ = asked_of(
        Request.of("Open?", labels=("yes", "no"), logprobs=True), answer=lambda body: message_as_completion(body, "no")
    )
    assert (reply.data, reply.label_probs, reply.mode) == ("no", None, "label_no_logprobs")


def message_as_completion(body, text):
    payload = completion_payload({**body, "logprobs": False}, text)
    assert "logprobs" not in payload["choices"][0]
    return payload


def test_anthropic_gives_a_label_and_says_that_it_has_no_probabilities():
    request = Request.of("Open?", labels=("yes", "no"), logprobs=True)
    reply, requests = asked_of(request, name="anthropic/judge")
    assert (reply.data, reply.label_probs, reply.mode) == ("yes", None, "label_no_logprobs")
    assert "logprobs" not in requests[0].body


def test_a_judge_that_gives_probabilities_and_no_text_is_read_by_its_likeliest_label():
    reply, _ = asked_of(
        Request.of("Open?", labels=("yes", "no"), logprobs=True),
        answer=lambda body: completion_payload(body, "", logprobs={"no": -0.2, "yes": -1.8}),
    )
    assert (reply.text, reply.data, reply.mode) == ("", "no", "label_probs")
    assert sum(reply.label_probs.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("unsupported", "mode"), [(("json_schema",), "json_object"), (("json_schema", "json_object"), "prompted_schema")]
)
def test_the_ladder_goes_down_by_what_the_provider_rejects_and_stays_there(unsupported, mode):
    def answer(body):
        kind = body.get("response_format", {}).get("type")
        if kind in unsupported:
            raise Refuse(400, {"error": {"message": f"response_format.type {kind} is not supported"}})
        return json.dumps({"score": 1, "why": "x"})

    with ProviderServer(answer) as server:
        model = connect("openai/judge", base_url=server.openai_url)

        async def twice():
            return [await model.invoke(SCORED), await model.invoke(SCORED)]

        replies = asyncio.run(twice())
    assert [reply.mode for reply in replies] == [mode, mode]
    assert len(server.requests) == len(unsupported) + 2
    assert '"required": ["score", "why"]' in server.requests[-1].prompt


def test_anthropic_goes_down_to_a_tool_call():
    def answer(body):
        if "output_config" in body:
            raise Refuse(400, {"error": {"type": "x", "message": "output_config: Extra inputs are not permitted"}})
        return example_answer(body)

    reply, _ = asked_of(SCORED, answer=answer, name="anthropic/judge")
    assert (reply.mode, reply.data["score"]) == ("tool_call", 0.5)


def test_a_schema_that_the_provider_calls_invalid_is_the_users_error_and_no_reason_to_go_down():
    error, requests = failure_of(SCORED, answer=refusing(400, "Invalid schema for response_format 'reply'"))
    assert error.code == "request_invalid"
    assert len(requests) == 1


def test_the_first_rung_can_be_chosen_and_is_part_of_the_call_key():
    reply, _ = asked_of(SCORED, reply_mode="prompted_schema", answer=lambda _: '```json\n{"score": 1, "why": ""}\n```')
    assert (reply.mode, reply.data) == ("prompted_schema", {"score": 1, "why": ""})
    plain, lower = openai("m"), openai("m", reply_mode="json_object")
    assert plain.call_key(SCORED) != lower.call_key(SCORED)
    with pytest.raises(InputError, match="reply_mode is one of json_schema, json_object, prompted_schema, not 'xml'"):
        openai("m", reply_mode="xml")
