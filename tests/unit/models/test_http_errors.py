"""Whatever body and status a provider refuses with: one error with a code, the parameter named, the wait read."""

import json

import pytest

from calibrant.models.http_errors import error_of_status, rate_limit_of, retry_after_of, without_secrets

SENT = {"model": "judge", "messages": [], "temperature": 3, "response_format": {}, "max_tokens": 5}


def refused(status, body, headers=None, *, sent=SENT):
    text = body if isinstance(body, str) else json.dumps(body)
    return error_of_status("openai/judge", status, text, headers or {}, sent=sent)


# The shapes of OpenAI, Anthropic, Google's and FastAPI's errors, and of servers that answer in their own way.
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "no such model", "type": "invalid_request_error"}}, "no such model"),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "no such model"}}, "no such model"),
        ({"error": "no such model"}, "no such model"),
        ({"detail": "no such model"}, "no such model"),
        ({"message": "no such model"}, "no such model"),
        ({"detail": [{"loc": ["body", "x"], "msg": "bad"}]}, '[{"loc": ["body", "x"], "msg": "bad"}]'),
        (["no such model"], "['no such model']"),
        ("no such model", "no such model"),
        ("<html><body><h1>Bad  Request</h1>\n<p>nginx</p></body></html>", "Bad Request nginx"),
    ],
)
def test_the_message_is_found_in_every_usual_body(body, said):
    assert str(refused(400, body)) == f"openai/judge answered with HTTP 400: {said}"


def test_an_address_that_is_not_there_says_what_to_look_at():
    said = "openai/judge answered with HTTP 404; are model and base_url right? an address often ends with /v1"
    assert str(refused(404, "")) == said
    assert str(refused(404, {"detail": "Not Found"})) == f"{said}: Not Found"


@pytest.mark.parametrize("body", ["", "{}", '{"error": {}}', '{"error": {"message": ""}}'])
def test_a_refusal_without_words_says_its_status(body):
    assert str(refused(500, body)).startswith("openai/judge answered with HTTP 500")


def test_a_long_page_is_cut():
    assert len(str(refused(502, "<p>word</p>" * 1000))) < 400


@pytest.mark.parametrize(
    ("error", "parameter"),
    [
        ({"message": "Unsupported value", "param": "temperature"}, "temperature"),
        ({"message": "temperature: Input should be less than or equal to 1"}, "temperature"),
        ({"message": "'max_tokens' is not supported, and neither is temperature"}, "max_tokens"),
        ({"message": "Unknown field: top_k", "param": None}, ""),
        ({"message": "the model is not there"}, ""),
        ({"message": "temperatures of sorts"}, ""),
    ],
)
def test_the_parameter_that_a_400_is_about_is_named(error, parameter):
    said = str(refused(400, {"error": error}))
    expected = f"rejected the parameter {parameter!r}" if parameter else "answered with HTTP 400"
    assert said == f"openai/judge {expected}: {error['message']}"


@pytest.mark.parametrize("status", [401, 403, 429, 500])
def test_no_parameter_is_blamed_for_what_is_not_the_requests_fault(status):
    assert "rejected the parameter" not in str(refused(status, {"error": {"message": "temperature is high in here"}}))


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_asks_about_the_address(status):
    assert "a redirect, which is not followed; is base_url right?" in str(refused(status, ""))
    assert refused(status, "").code == "request_invalid"


@pytest.mark.parametrize(
    ("status", "error", "code", "retryable"),
    [
        (400, {"code": "content_filter", "message": "filtered"}, "judge_refused", False),
        (400, {"message": "triggering Azure OpenAI's content management policy"}, "judge_refused", False),
        (403, {"type": "invalid_request_error", "message": "logprobs"}, "request_invalid", False),
        (403, {"type": "permission_error", "message": "no right"}, "unauthorized", False),
        (429, {"code": "insufficient_quota", "message": "pay"}, "judge_rate_limited", False),
        (429, {"code": "rate_limit_exceeded", "message": "slow"}, "judge_rate_limited", True),
        (504, {"message": "gateway"}, "judge_timeout", True),
        (529, {"type": "overloaded_error", "message": "busy"}, "provider_error", True),
        (418, {"message": "teapot"}, "request_invalid", False),
    ],
)
def test_a_word_of_the_provider_goes_before_the_status(status, error, code, retryable):
    found = refused(status, {"error": error})
    assert (found.code, found.retryable) == (code, retryable)


def test_the_wait_is_the_one_that_was_asked_for_or_that_of_the_limit_that_is_used_up():
    used_up = {
        "x-ratelimit-remaining-requests": "0",
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-remaining-tokens": "50000",
        "x-ratelimit-reset-tokens": "6m",
    }
    assert refused(429, "").retry_after is None
    assert refused(429, "", used_up).retry_after == 2.0
    assert refused(429, "", {**used_up, "Retry-After": "9"}).retry_after == 9.0
    assert refused(500, "", used_up).retry_after is None
    assert refused(503, "", {"Retry-After": "4"}).retry_after == 4.0


@pytest.mark.parametrize(
    ("value", "seconds"), [("0", 0.0), ("-5", 0.0), ("nan", 0.0), ("1e3", 1000.0), ("", None), ("tomorrow", None)]
)
def test_a_wait_that_is_no_time_is_none_and_never_negative(value, seconds):
    assert retry_after_of({"Retry-After": value}) == seconds


def test_a_date_that_is_past_is_no_wait():
    assert retry_after_of({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}) == 0.0


def test_limits_of_which_only_one_is_told_leave_the_other_open():
    told = rate_limit_of({"x-ratelimit-remaining-tokens": "12", "x-ratelimit-reset-tokens": "30ms"})
    assert told == (None, 0.0, 12.0, 0.03)
    told = rate_limit_of({"anthropic-ratelimit-requests-remaining": "4", "anthropic-ratelimit-requests-reset": "soon"})
    assert told == (4.0, 0.0, None, 0.0)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Incorrect API key provided: sk-proj-abc123DEF456.", "Incorrect API key provided: ***."),
        ("key sk-ant-api03-abcdef is revoked", "key *** is revoked"),
        ("gsk-abcdef123 and xai-abcdef123", "*** and ***"),
        ("http://me:word@host/v1", "http://***@host/v1"),
        ("the task-abcdefg of a desk-lamp", "the task-abcdefg of a desk-lamp"),
        ("at 12:30 me@host", "at 12:30 me@host"),
    ],
)
def test_what_looks_like_a_key_is_blotted_out_and_other_words_are_not(text, clean):
    assert without_secrets(text, []) == clean


def test_the_longest_secret_goes_first_so_that_no_part_of_it_stays():
    assert without_secrets("Bearer abcdefgh", ["Bearer abcdefgh", "abcdefgh"]) == "***"
