import asyncio
import json

import pytest
from provider_server import ProviderServer, Refuse, completion_payload, example_answer, message_payload

from calibrant.errors import InputError, JudgeReplyError, ModelCallError, ModelNotNamedError, UnknownNameError
from calibrant.models import Price, Request, anthropic, connect, openai, openai_compatible

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}, "why": {"type": "string"}},
    "required": ["score", "why"],
    "additionalProperties": False,
}
LABELS = Request.of("Open?", labels=("yes", "no"))
SCORED = Request.of("Score it.", system="You judge.", schema=SCHEMA)


def ask(model, request):
    return asyncio.run(model.invoke(request))


def asked_of(request, *, answer=None, name="openai/judge", headers=None, **options):
    with ProviderServer(answer, headers=headers) as server:
        model = connect(name, base_url=server.openai_url, **options)
        return ask(model, request), server.requests


def failure_of(request, *, answer, name="openai/judge", **options):
    with ProviderServer(answer) as server:
        model = connect(name, base_url=server.openai_url, **options)
        with pytest.raises(ModelCallError) as caught:
            ask(model, request)
        return caught.value, server.requests


def refusing(status, message, *, headers=None, **more):
    def answer(body):
        raise Refuse(status, {"error": {"message": message, **more}}, headers)

    return answer


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


@pytest.mark.parametrize(
    ("said", "code", "text"),
    [
        ('{"score": 0.1, "why": ""} The score is 1.0.', "reply_unparsable", "one JSON value and nothing else"),
        ('{"score": 0.1, "why": ""}{"score": 1.0, "why": ""}', "reply_unparsable", "one JSON value and nothing else"),
        ('{"score": 0.1, "score": 1.0, "why": ""}', "reply_unparsable", "the key 'score' is given twice"),
        ('{"score": NaN, "why": ""}', "reply_unparsable", "NaN is no JSON number"),
        ('{"score": "1.0", "why": ""}', "reply_unparsable", "score is '1.0', but the schema says number"),
        ('{"score": 0.1, "why": "", "verdict": 1}', "reply_unparsable", "verdict is not in the schema"),
        ('{"score": 0.1, "wh', "reply_truncated", "breaks off"),
        ("", "reply_truncated", "breaks off"),
    ],
)
def test_a_reply_that_is_not_exactly_the_schema_is_not_believed(said, code, text):
    error, _ = failure_of(SCORED, answer=lambda _: said)
    assert isinstance(error, JudgeReplyError)
    assert error.code == code
    assert text in str(error)
    assert error.reply == said
    assert error.usage.input_tokens == 40


@pytest.mark.parametrize("said", ["yes and no", "The answer is yes", "maybe", "yes\nIgnore that: no"])
def test_a_label_with_words_around_it_is_not_believed(said):
    error, _ = failure_of(LABELS, answer=lambda _: said)
    assert error.code == "reply_unparsable"
    assert "expected one of yes, no and nothing else" in str(error)


def test_thoughts_are_kept_apart_from_the_reply():
    reply, _ = asked_of(LABELS, answer=lambda _: "<think>It says no,\nbut yes.</think>\n\nyes")
    assert (reply.text, reply.reasoning, reply.data) == ("yes", "It says no,\nbut yes.", "yes")
    reply, _ = asked_of(LABELS, answer=lambda body: completion_payload(body, "no", reasoning_content="Hm."))
    assert (reply.reasoning, reply.data) == ("Hm.", "no")


def test_anthropic_thinking_blocks_are_reasoning():
    def answer(body):
        payload = message_payload(body, "no")
        return {**payload, "content": [{"type": "thinking", "thinking": "Hm."}, *payload["content"]]}

    reply, _ = asked_of(LABELS, answer=answer, name="anthropic/judge")
    assert (reply.reasoning, reply.data) == ("Hm.", "no")


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (lambda body: completion_payload(body, None, refusal="I cannot judge this."), "openai/judge"),
        (lambda body: completion_payload(body, "", finish="content_filter"), "openai/judge"),
        (refusing(400, "The response was filtered", code="content_filter"), "azure/judge"),
        (lambda body: message_payload(body, "", stop="refusal"), "anthropic/judge"),
    ],
)
def test_a_refusal_has_a_code_of_its_own(answer, name):
    error, _ = failure_of(LABELS, answer=answer, name=name, api_key="k")
    assert error.code == "judge_refused"
    assert not error.retryable


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (lambda body: completion_payload(body, "It is", finish="length"), "openai/judge"),
        (lambda body: message_payload(body, "It is", stop="max_tokens"), "anthropic/judge"),
    ],
)
def test_text_that_met_the_token_limit_is_truncated_and_not_an_answer(answer, name):
    error, _ = failure_of(Request.of("Explain."), answer=answer, name=name)
    assert error.code == "reply_truncated"


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "request_invalid", False),
        (401, "unauthorized", False),
        (403, "unauthorized", False),
        (404, "request_invalid", False),
        (408, "judge_timeout", True),
        (429, "judge_rate_limited", True),
        (500, "provider_error", True),
        (503, "provider_error", True),
        (529, "provider_error", True),
    ],
)
def test_every_status_has_its_code(status, code, retryable):
    error, _ = failure_of(LABELS, answer=refusing(status, "no"))
    assert (error.code, error.retryable) == (code, retryable)


def test_a_rejected_parameter_is_named():
    request = Request.of("Hello.", sampling={"temperature": 3, "top_p": 1})
    by_field = refusing(400, "Unsupported value", param="temperature")
    error, _ = failure_of(request, answer=by_field)
    assert str(error) == "openai/judge rejected the parameter 'temperature': Unsupported value"
    error, _ = failure_of(request, answer=refusing(400, "top_p: must not be set"), name="anthropic/judge")
    assert str(error) == "anthropic/judge rejected the parameter 'top_p': top_p: must not be set"


def test_a_used_up_account_is_not_worth_asking_again():
    error, _ = failure_of(LABELS, answer=refusing(429, "You exceeded your quota", code="insufficient_quota"))
    assert (error.code, error.retryable) == ("judge_rate_limited", False)


def test_an_error_inside_a_good_reply_is_an_error():
    error, _ = failure_of(LABELS, answer=lambda _: {"error": {"code": 429, "message": "upstream is busy"}})
    assert error.code == "judge_rate_limited"


@pytest.mark.parametrize("name", ["openai/judge", "anthropic/judge"])
def test_json_of_another_kind_is_the_providers_error(name):
    error, _ = failure_of(LABELS, answer=lambda _: {"hello": "world"}, name=name)
    assert error.code == "provider_error"


def test_limits_in_the_headers_reach_the_reply():
    headers = {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1m2.5s"}
    reply, _ = asked_of(LABELS, headers=headers)
    assert reply.rate_limit.requests_left == 3
    assert reply.rate_limit.requests_reset == 62.5


SENTINEL = "sk-sentinel-123456"


def test_a_key_is_sent_and_shows_nowhere(monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    with ProviderServer(refusing(401, f"Incorrect API key: {SENTINEL}")) as server:
        model = connect("openai/judge", base_url=server.openai_url, headers={"X-Gateway": "gate-secret"})
        with pytest.raises(ModelCallError) as caught:
            ask(model, LABELS)
    assert server.requests[0].headers["Authorization"] == f"Bearer {SENTINEL}"
    shown = f"{caught.value}{caught.value!r}{model!r}{model.endpoint!r}{model.identity}{caplog.text}"
    assert SENTINEL not in shown
    assert "gate-secret" not in shown
    assert "Incorrect API key: ***" in shown
    assert model.call_key(LABELS) == connect("openai/judge", base_url=server.openai_url).call_key(LABELS)


def test_a_missing_key_is_said_when_the_model_is_asked_and_nothing_is_sent():
    with pytest.raises(ModelCallError, match=r"openai/gpt-x needs a key: set OPENAI_API_KEY, or pass api_key=\.\.\."):
        ask(openai("gpt-x"), LABELS)
    with pytest.raises(ModelCallError, match="anthropic/claude-x needs a key: set ANTHROPIC_API_KEY"):
        ask(anthropic("claude-x"), LABELS)


def test_no_key_is_sent_where_none_is_needed():
    _, requests = asked_of(LABELS, name="vllm/judge")
    assert "Authorization" not in requests[0].headers


def test_the_variable_that_holds_the_key_can_be_named(monkeypatch):
    monkeypatch.setenv("GATEWAY_API_KEY", SENTINEL)
    with ProviderServer() as server:
        model = openai_compatible("judge", base_url=server.openai_url, api_key_env="GATEWAY_API_KEY")
        ask(model, LABELS)
    assert server.requests[0].headers["Authorization"] == f"Bearer {SENTINEL}"


def test_prices_make_money_and_an_unknown_price_stays_unknown():
    reply, _ = asked_of(LABELS, price=(2.5, 10))
    assert reply.usage.usd == pytest.approx((40 * 2.5 + 10 * 10) / 1e6)
    reply, _ = asked_of(LABELS)
    assert reply.usage.usd is None


def test_a_reply_without_counts_has_no_known_cost():
    def answer(body):
        return {**completion_payload(body, "yes"), "usage": None}

    reply, _ = asked_of(LABELS, answer=answer, price=Price(1, 1))
    assert reply.usage.usd is None


def test_a_redirect_is_not_followed_so_that_the_key_stays_where_it_belongs():
    error, requests = failure_of(LABELS, answer=refusing(307, "", headers={"Location": "http://127.0.0.1:1/"}))
    assert error.code == "request_invalid"
    assert "a redirect, which is not followed" in str(error)
    assert len(requests) == 1


def test_nobody_listening_is_unreachable():
    with pytest.raises(
        ModelCallError, match=r"openai/judge at http://127\.0\.0\.1:1/v1 could not be reached"
    ) as caught:
        ask(connect("openai/judge", base_url="http://127.0.0.1:1/v1"), LABELS)
    assert caught.value.code == "judge_unreachable"


def test_a_silent_server_is_a_timeout():
    with ProviderServer(faults={"hang": 1.0}) as server:
        model = connect("openai/judge", base_url=server.openai_url, timeout=0.1)
        with pytest.raises(ModelCallError, match=r"openai/judge did not answer within 0\.1 s") as caught:
            ask(model, LABELS)
    assert caught.value.code == "judge_timeout"


def test_a_proxy_of_the_environment_is_used(monkeypatch):
    with ProviderServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://user:word@127.0.0.1:{proxy.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        reply = ask(connect("openai/judge", base_url="http://models.example/v1"), LABELS)
    assert reply.data == "yes"
    assert proxy.requests[0].headers["Host"] == "models.example"
    assert proxy.requests[0].headers["Proxy-Authorization"].startswith("Basic ")


def test_one_invoker_works_under_two_loops_one_after_the_other():
    with ProviderServer() as server:
        model = connect("openai/judge", base_url=server.openai_url)
        assert [ask(model, LABELS).data, ask(model, LABELS).data] == ["yes", "yes"]


def test_a_closed_model_opens_again():
    with ProviderServer() as server:
        model = connect("openai/judge", base_url=server.openai_url)

        async def close_between():
            await model.invoke(LABELS)
            await model.aclose()
            return await model.invoke(LABELS)

        assert asyncio.run(close_between()).data == "yes"


def test_models_are_named_by_provider_and_model():
    assert connect("gpt-x").name == "openai/gpt-x"
    assert connect("openrouter/meta/llama").endpoint.model == "meta/llama"
    assert connect("meta/llama", base_url="http://localhost:9/v1").name == "openai_compatible/meta/llama"
    assert connect("azure/judge", base_url="https://me.openai.azure.com").identity["base_url"].endswith("/openai/v1")
    model = connect("ollama/qwen")
    assert connect(model) is model


def test_the_default_model_is_read_when_asked(monkeypatch):
    with pytest.raises(ModelNotNamedError, match="CALIBRANT_MODEL"):
        connect()
    monkeypatch.setenv("CALIBRANT_MODEL", "groq/judge")
    assert connect().name == "groq/judge"


@pytest.mark.parametrize(
    ("name", "options", "error", "text"),
    [
        ("nobody/x", {}, UnknownNameError, "unknown provider 'nobody' in 'nobody/x'; expected one of: anthropic"),
        ("openai/", {}, InputError, "a model is named provider/model, not 'openai/'"),
        ("azure/x", {}, InputError, "azure/x has no address: set AZURE_OPENAI_ENDPOINT, or pass base_url"),
        ("gpt-x", {"temprature": 0}, InputError, "unknown option 'temprature'; expected one of: api_key"),
        ("gpt-x", {"timeout": -1}, InputError, "timeout is a number of seconds above 0, not -1"),
        ("gpt-x", {"sampling": 3}, InputError, "sampling is a Mapping, not a int"),
        ("gpt-x", {"price": "cheap"}, InputError, "a price is Price"),
        ("gpt-x", {"price": (1, -2)}, InputError, "0 or more, not -2"),
        ("gpt-x", {"base_url": "localhost:80"}, InputError, "base_url of openai/gpt-x is http:// or https://"),
        ("gpt-x", {"base_url": "http://me:secret@host/v1"}, InputError, "carries a user, a password or a query"),
    ],
)
def test_a_wrong_name_or_option_says_what_to_do(name, options, error, text):
    with pytest.raises(error) as caught:
        connect(name, **options)
    assert text in str(caught.value)
    assert "secret@" not in str(caught.value)
