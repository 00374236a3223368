"""Replies that are not believed, and refusals: each a failure with its code."""

import pytest
from provider_server import completion_payload, message_payload
from wire_calls import LABELS, SCORED, asked_of, failure_of, refusing

from calibrant.errors import JudgeReplyError
from calibrant.models import Request


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
