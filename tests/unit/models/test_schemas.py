import json

import pytest

from calibrant.errors import JudgeReplyError
from calibrant.models.http_errors import rate_limit_of, retry_after_of
from calibrant.models.reading import label_of, label_probabilities, parsed_json, parsed_schema, without_reasoning
from calibrant.models.schemas import faults_of, is_strict

VERDICTS = {
    "type": "object",
    "properties": {
        "verdicts": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {"$ref": "#/$defs/verdict"},
        },
        "note": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
    },
    "required": ["verdicts"],
    "additionalProperties": False,
    "$defs": {
        "verdict": {
            "type": "object",
            "properties": {
                "level": {"enum": ["fully", "none"]},
                "score": {"type": "number", "minimum": 0, "maximum": 1},
                "count": {"type": "integer", "exclusiveMinimum": 0},
                "code": {"type": "string", "pattern": "^[A-Z]+$"},
            },
        }
    },
}


@pytest.mark.parametrize(
    ("value", "faults"),
    [
        ({"verdicts": [{"level": "fully", "score": 1, "count": 2.0, "code": "AB"}], "note": None}, []),
        ([], ["the reply is [], but the schema says object"]),
        ({}, ["verdicts is missing"]),
        ({"verdicts": []}, ["verdicts has 0 items, but the schema says 1 to 3"]),
        ({"verdicts": [{}], "extra": 1}, ["extra is not in the schema"]),
        (
            {"verdicts": [{}, {"level": "partly"}]},
            ["verdicts[1].level is 'partly', but the schema allows only 'fully', 'none'"],
        ),
        ({"verdicts": [{"score": 1.5}]}, ["verdicts[0].score is 1.5, but the schema says at most 1"]),
        ({"verdicts": [{"score": True}]}, ["verdicts[0].score is True, but the schema says number"]),
        ({"verdicts": [{"count": 0}]}, ["verdicts[0].count is 0, but the schema says at least 0"]),
        ({"verdicts": [{"count": 1.5}]}, ["verdicts[0].count is 1.5, but the schema says integer"]),
        ({"verdicts": [{"code": "ab"}]}, ["verdicts[0].code is 'ab', but the schema says it matches '^[A-Z]+$'"]),
        ({"verdicts": [{}], "note": "too long"}, ["note has 8 characters, but the schema says at most 5"]),
        ({"verdicts": [{}], "note": 3}, ["note is 3, but the schema says string"]),
    ],
)
def test_every_fault_of_a_reply_is_named_with_its_place(value, faults):
    assert faults_of(value, VERDICTS) == faults


@pytest.mark.parametrize(
    ("value", "schema", "count"),
    [
        (1, {"const": 1}, 0),
        (True, {"const": 1}, 1),
        (3, {"oneOf": [{"type": "integer"}, {"minimum": 2}]}, 1),
        (1, {"oneOf": [{"type": "string"}, {"maximum": 2}]}, 0),
        (5, {"allOf": [{"minimum": 2}, {"maximum": 4}]}, 1),
        ({"a": "x"}, {"type": "object", "additionalProperties": {"type": "number"}}, 1),
        ("x", {"type": ["number", "string"]}, 0),
        ("x", False, 1),
        ("x", {"$ref": "#/$defs/missing"}, 0),
    ],
)
def test_the_other_keywords_hold(value, schema, count):
    assert len(faults_of(value, schema)) == count


def test_strict_means_closed_and_complete_all_the_way_down():
    closed = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}
    assert is_strict(closed)
    assert is_strict({"type": "string"})
    assert not is_strict({**closed, "required": []})
    assert not is_strict({"type": "array", "items": {"type": "object", "properties": {"a": {}}}})
    assert not is_strict({**closed, "$defs": {"open": {"type": "object"}}})
    assert not is_strict(VERDICTS)


@pytest.mark.parametrize(
    ("text", "answer", "reasoning"),
    [
        ("plain", "plain", ""),
        ("<think>a</think>b", "b", "a"),
        ("thought without an opening tag</think> b", "b", "thought without an opening tag"),
        ("<think>never closed", "", "never closed"),
        ('{"quote": "<think>x</think>"}', '{"quote": "<think>x</think>"}', ""),
    ],
)
def test_reasoning_is_told_from_the_answer(text, answer, reasoning):
    assert without_reasoning(text)[:2] == (answer, reasoning)


def test_a_fence_around_the_whole_reply_is_no_second_thing():
    assert parsed_json('\n```json\n{"a": 1}\n```\n') == {"a": 1}


def test_labels_that_differ_only_in_case_are_told_apart_or_not_at_all():
    assert label_of("NO", ["No", "NO"]) == "NO"
    with pytest.raises(JudgeReplyError, match="expected one of No, NO and nothing else, got 'no'"):
        label_of("no", ["No", "NO"])


def test_a_token_that_begins_two_labels_counts_for_neither():
    probabilities, off = label_probabilities({"part": -0.6931472, "none": -1.3862944}, ["partial", "partly", "none"])
    assert probabilities == {"partial": 0.0, "partly": 0.0, "none": 1.0}
    assert off == pytest.approx(0.75)


def test_a_whole_label_goes_before_one_that_it_begins():
    probabilities, _ = label_probabilities({"1": -0.6931472, "10": -0.6931472}, ["1", "10"])
    assert probabilities == pytest.approx({"1": 0.5, "10": 0.5})


def test_tokens_that_speak_for_no_label_give_no_probabilities():
    assert label_probabilities({"Well": -0.1, "": -1.0}, ["yes", "no"]) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "2.5"}, 2.5),
        ({"retry-after-ms": "250"}, 0.25),
        # The example date of RFC 9110, section 5.6.7, is 784111777 in Unix time.
        ({"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}, 7.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_the_time_to_wait_is_read_in_every_spelling(headers, seconds):
    assert retry_after_of(headers, lambda: 784111770.0) == seconds


def test_anthropics_limits_are_read_from_their_dates():
    headers = {
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "1994-11-06T08:49:37Z",
        "anthropic-ratelimit-tokens-remaining": "7000",
    }
    assert rate_limit_of(headers, lambda: 784111770.0) == (0.0, 7.0, 7000.0, 0.0)
    assert rate_limit_of({}) is None


@pytest.mark.parametrize(("text", "seconds"), [("6m0s", 360.0), ("20ms", 0.02), ("1.5", 1.5), ("1h2m3.5s", 3723.5)])
def test_openais_spans_are_read(text, seconds):
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": text}
    assert rate_limit_of(headers).tokens_reset == pytest.approx(seconds)


CHOICE = {
    "type": "object",
    "properties": {
        "verdict": {"type": "string", "enum": ["fully", "none"]},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
        "note": {"type": "string"},
    },
    "required": ["verdict"],
    "additionalProperties": False,
    "$defs": {"tag": {"enum": ["Safe", "Rude", "n.a."]}},
}


@pytest.mark.parametrize("said", ["fully", "Fully", "FULLY", " fully ", "fully.", "Fully. ", "\nFully .\n"])
def test_a_choice_in_other_capitals_or_with_a_full_stop_is_the_one_of_the_schema(said):
    reply = json.dumps({"verdict": said, "tags": ["safe", "RUDE.", "N.A."], "note": " As Is. "})
    assert parsed_schema(reply, CHOICE) == {"verdict": "fully", "tags": ["Safe", "Rude", "n.a."], "note": " As Is. "}


@pytest.mark.parametrize(
    "reply",
    [
        '{"verdict": "Fully or none"}',
        '{"verdict": "fully, none"}',
        '{"verdict": "Fully!"}',
        '{"verdict": "\'fully\'"}',
        '{"verdict": "full"}',
        '{"verdict": ""}',
        '{"verdict": "fully.."}',
        '{"verdict": ["Fully"]}',
        '{"verdict": true}',
        '{"Verdict": "fully"}',
        '{"verdict": "Fully", "Verdict": "none"}',
        '{"verdict": "Fully", "verdict": "none"}',
        '{"verdict": "Fully"} {"verdict": "none"}',
        '{"verdict": "Fully", "more": 1}',
    ],
)
def test_nothing_else_about_a_choice_is_forgiven(reply):
    with pytest.raises(JudgeReplyError):
        parsed_schema(reply, CHOICE)


def test_a_choice_that_could_be_two_is_none():
    schema = {"enum": ["No", "NO", "yes"]}
    assert parsed_schema('"NO"', schema) == "NO"
    assert parsed_schema('"Yes"', schema) == "yes"
    with pytest.raises(JudgeReplyError, match="the reply is 'no', but the schema allows only 'No', 'NO', 'yes'"):
        parsed_schema('"no"', schema)


def test_a_constant_is_a_choice_of_one_and_numbers_are_what_they_are():
    assert parsed_schema('"Done."', {"const": "done"}) == "done"
    with pytest.raises(JudgeReplyError, match="the schema allows only 1, 2"):
        parsed_schema('"1"', {"enum": [1, 2]})


def test_what_is_wrong_beside_a_choice_in_other_capitals_is_named_alone():
    with pytest.raises(
        JudgeReplyError, match=r"^expected a reply of the schema, but note is 1, but the schema says str"
    ):
        parsed_schema('{"verdict": "Fully", "note": 1}', CHOICE)
