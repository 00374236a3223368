"""Payloads that are JSON and yet no good reply: what is good in them is taken, or it is one error with a code."""

import asyncio

import pytest
from provider_server import ProviderServer, Refuse

from calibrant.errors import JudgeReplyError, ModelCallError
from calibrant.models import Request, connect

LABEL = Request.of("Is it?", labels=("yes", "no"), logprobs=True)


def completion(content="yes", *, usage=None, logprobs=None, **message):
    choice = {"finish_reason": "stop", "message": {"content": content, **message}, "logprobs": logprobs}
    return {"model": "m", "choices": [choice], "usage": usage}


def asked(payload, *, name="openai/judge", request=LABEL, **options):
    with ProviderServer(lambda body: payload) as server:
        return asyncio.run(connect(name, base_url=server.openai_url, **options).invoke(request))


@pytest.mark.parametrize("usage", [None, [1], 5, "many", {"prompt_tokens": "40"}, {"prompt_tokens": -3}])
def test_counts_that_are_none_do_not_lose_the_reply_and_make_its_cost_unknown(usage):
    reply = asked(completion(usage=usage), price=(1, 1))
    assert reply.data == "yes"
    assert (reply.usage.calls, reply.usage.input_tokens, reply.usage.usd) == (1, 0, None)


@pytest.mark.parametrize(
    "content",
    [
        [{"token": "yes", "logprob": None}],
        [{"token": "yes", "logprob": "x"}],
        [{"token": "yes", "top_logprobs": [{"token": "yes", "logprob": True}]}],
        [{"token": "yes", "top_logprobs": [{"token": None}]}],
        [],
    ],
)
def test_log_probabilities_that_are_no_numbers_are_taken_for_none_and_the_mode_says_so(content):
    reply = asked(completion(logprobs={"content": content}))
    assert (reply.data, reply.label_probs, reply.mode) == ("yes", None, "label_no_logprobs")


def test_content_in_parts_is_the_text_of_its_text_parts():
    parts = [{"type": "thinking", "thinking": "It is open."}, {"type": "text", "text": "y"}]
    assert asked(completion([*parts, {"type": "text", "text": "es"}])).data == "yes"


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [None]},
        {"choices": [{"message": "yes"}]},
        completion(5),
        completion([{"type": "text", "text": 5}]),
        completion(["yes"]),
        completion(logprobs=[1]),
        completion(logprobs={"content": [None]}),
    ],
)
def test_json_that_is_no_completion_is_an_error_that_shows_it(payload):
    with pytest.raises(
        ModelCallError, match="openai/judge answered with JSON that is no chat completion: '{"
    ) as caught:
        asked(payload)
    assert caught.value.code == "provider_error"
    assert caught.value.retryable


@pytest.mark.parametrize(
    "payload", [{}, {"content": "yes"}, {"content": [5]}, {"content": [{"type": "text", "text": None}]}]
)
def test_json_that_is_no_message_is_an_error_that_shows_it(payload):
    with pytest.raises(ModelCallError, match="anthropic/judge answered with JSON that is no message: '{"):
        asked(payload, name="anthropic/judge", api_key="k")


def test_a_thought_without_words_and_counts_of_no_kind_are_left_out_of_a_message():
    content = [{"type": "thinking", "thinking": None}, {"type": "text", "text": "yes"}]
    reply = asked({"content": content, "usage": {"input_tokens": "x"}}, name="anthropic/judge", api_key="k")
    assert (reply.data, reply.usage.input_tokens, reply.reasoning) == ("yes", 0, "")


def test_a_refusal_of_any_form_is_a_refusal():
    with pytest.raises(ModelCallError, match="refused to answer: {'why': 'policy'}") as caught:
        asked(completion(refusal={"why": "policy"}))
    assert caught.value.code == "judge_refused"


def test_a_body_nested_beyond_reading_is_an_error_and_no_crash():
    request = Request.of("Grade", schema={"type": "array"})
    with pytest.raises(JudgeReplyError, match="expected plain JSON, but maximum recursion depth"):
        asked("[" * 100_000, request=request)


def test_a_second_tool_call_is_not_believed():
    def two_tools(body):
        if "output_config" in body:
            raise Refuse(400, {"error": {"message": "output_config: unknown field"}})
        tools = [{"type": "tool_use", "name": "reply", "input": {"score": score}} for score in (0.0, 1.0)]
        return {"content": tools, "usage": {"input_tokens": 1, "output_tokens": 1}}

    request = Request.of("Grade", schema={"type": "object", "properties": {"score": {"type": "number"}}})
    with ProviderServer(two_tools) as server, pytest.raises(JudgeReplyError):
        asyncio.run(connect("anthropic/m", base_url=server.openai_url, api_key="k").invoke(request))


def test_a_403_about_the_request_is_no_wrong_key_and_the_labels_are_asked_for_without_log_probabilities():
    def no_logprobs(body):
        if "logprobs" in body:
            error = {"message": "You are not allowed to request logprobs", "type": "invalid_request_error"}
            raise Refuse(403, {"error": error})
        return "yes"

    with ProviderServer(no_logprobs) as server:
        reply = asyncio.run(connect("openai/judge", base_url=server.openai_url).invoke(LABEL))
    assert (reply.data, reply.mode) == ("yes", "label_no_logprobs")


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2s"}, 62.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "250ms"}, 0.25),
        ({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "1m2s"}, None),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m", "Retry-After": "3"}, 3.0),
        ({}, None),
    ],
)
def test_a_429_waits_as_asked_or_else_until_the_limit_that_is_used_up_resets(headers, wait):
    def refused(body):
        raise Refuse(429, {"error": {"message": "slow down"}}, headers)

    with ProviderServer(refused) as server, pytest.raises(ModelCallError) as caught:
        asyncio.run(connect("openai/judge", base_url=server.openai_url).invoke(LABEL))
    assert (caught.value.code, caught.value.retry_after) == ("judge_rate_limited", wait)


def test_several_thoughts_before_a_reply_are_all_kept_apart():
    reply = asked(completion("<think>One.</think>\n<think>Two.</think> yes"))
    assert (reply.data, reply.reasoning) == ("yes", "One.\nTwo.")


def test_a_thought_that_never_ends_is_no_reply():
    with pytest.raises(JudgeReplyError, match="expected one of yes, no and nothing else, got ''"):
        asked(completion("<think>One.</think><think>yes"))


@pytest.mark.parametrize("text", ["yes", "", None])
def test_a_reply_that_the_gateway_says_broke_off_is_no_reply_whatever_text_it_has(text):
    payload = completion(text)
    payload["choices"][0]["error"] = {"code": 502, "message": "upstream went away"}
    with pytest.raises(ModelCallError, match="openai/judge broke off its reply: .*upstream went away") as caught:
        asked(payload)
    assert (caught.value.code, caught.value.retryable) == ("provider_error", True)


def test_an_error_of_a_choice_that_is_none_is_no_error():
    payload = completion("yes")
    payload["choices"][0]["error"] = None
    assert asked(payload).data == "yes"
