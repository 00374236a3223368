import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.errors import JudgeReplyError, ModelCallError
from calibrant.models import Request
from calibrant.models.local_replies import (
    Generated,
    ScoredLabel,
    body_of,
    drawn_label,
    label_grammar,
    label_masses,
    schema_grammar,
)


def scored(label, tokens, probability):
    return ScoredLabel(label, tokens, math.log(probability))


def schema_in(grammar):
    return json.loads(grammar.partition("%json ")[2])


def answer(content, steps, finish="stop"):
    return {"choices": [{"message": {"content": content}, "logprobs": {"content": steps}, "finish_reason": finish}]}


def step(token, text, logprob):
    return {"id": token, "bytes": list(text.encode()), "logprob": logprob}


def test_single_tokens_are_renormalised_and_the_rest_is_off_the_labels():
    mass = label_masses([scored("yes", (1,), 0.3), scored("no", (2,), 0.1)])
    assert mass.probabilities == {"yes": 0.75, "no": 0.25}
    assert mass.off_label == pytest.approx(0.6)


def test_a_label_of_several_tokens_has_the_product_of_their_probabilities():
    steps = [step(7, "mostly", math.log(0.5)), step(8, " supported", math.log(0.2)), step(0, "", -20.0)]
    label = ScoredLabel.read("mostly supported", answer("mostly supported", steps))
    assert label.tokens == (7, 8)
    assert math.exp(label.logprob) == pytest.approx(0.1)


def test_the_mass_of_a_longer_label_is_taken_out_of_the_label_that_it_begins_with():
    # P("no ...") = 0.5, of which 0.2 goes on as "no answer", of which 0.05 goes on as "no answer given".
    labels = [scored("no", (1,), 0.5), scored("no answer", (1, 2), 0.2), scored("no answer given", (1, 2, 3), 0.05)]
    mass = label_masses(labels)
    assert mass.probabilities == pytest.approx(
        {"no": 0.3 / 0.5, "no answer": 0.15 / 0.5, "no answer given": 0.05 / 0.5}
    )
    assert mass.off_label == pytest.approx(0.5)


def test_a_label_that_begins_alike_in_letters_but_not_in_tokens_is_apart():
    mass = label_masses([scored("un", (1,), 0.2), scored("until", (9,), 0.2)])
    assert mass.probabilities == {"un": 0.5, "until": 0.5}


def test_labels_that_the_model_thinks_next_to_impossible_are_still_renormalised():
    mass = label_masses([ScoredLabel("a", (1,), -2000.0), ScoredLabel("b", (2,), -2000.0 + math.log(3))])
    assert mass.probabilities == pytest.approx({"a": 0.25, "b": 0.75})
    assert mass.off_label == 1.0


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=4), st.floats(-60, -0.01)),
        min_size=1,
        max_size=8,
        unique_by=lambda pair: tuple(pair[0]),
    )
)
def test_probabilities_over_any_labels_sum_to_one(pairs):
    # The probability of a path is at most that of any path that it begins with, as in a model.
    chances = {tuple(path): chance for path, chance in pairs}
    labels = []
    for path in chances:
        logprob = math.fsum(chances.get(path[:end], -1.2) for end in range(1, len(path) + 1))
        labels.append(ScoredLabel("-".join(map(str, path)), path, logprob))
    mass = label_masses(labels)
    assert math.fsum(mass.probabilities.values()) == pytest.approx(1.0, abs=1e-9)
    assert all(0.0 <= probability <= 1.0 for probability in mass.probabilities.values())
    assert 0.0 <= mass.off_label <= 1.0


def test_an_engine_that_does_not_keep_to_the_label_is_a_failure():
    with pytest.raises(ModelCallError, match=r"did not keep to the label 'yes', it wrote 'maybe'") as raised:
        ScoredLabel.read("yes", answer("maybe", []))
    assert raised.value.code == "unsupported"


def test_without_a_temperature_the_likeliest_label_is_given_and_of_equals_the_first():
    request = Request.of("?", labels=("b", "a"))
    assert drawn_label(request, {"b": 0.4, "a": 0.6}) == "a"
    assert drawn_label(request, {"b": 0.5, "a": 0.5}) == "b"


def test_at_a_temperature_labels_are_drawn_by_their_probabilities():
    drawn = [
        drawn_label(Request.of("?", sampling={"temperature": 1.0}, slot=slot), {"a": 0.8, "b": 0.2})
        for slot in range(400)
    ]
    # Four standard errors of a share of 0.8 in 400 draws.
    assert drawn.count("a") / 400 == pytest.approx(0.8, abs=4 * math.sqrt(0.16 / 400))


def test_the_same_request_draws_the_same_label():
    request = Request.of("?", sampling={"temperature": 1.0, "seed": 3}, slot=2)
    assert len({drawn_label(request, {"a": 0.5, "b": 0.5}) for _ in range(20)}) == 1


def test_a_low_temperature_sharpens_the_draw():
    drawn = {
        drawn_label(Request.of("?", sampling={"temperature": 0.01}, slot=slot), {"a": 0.6, "b": 0.4})
        for slot in range(50)
    }
    assert drawn == {"a"}


def test_a_request_is_greedy_and_bounded_unless_it_says_otherwise():
    body = body_of(Request.of("Hi", system="Be brief", slot=2), max_tokens=64)
    assert body["temperature"] == 0
    assert body["max_tokens"] == 64
    assert body["seed"] == 2
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_a_request_may_set_its_own_sampling():
    body = body_of(
        Request.of("Hi", sampling={"temperature": 0.7, "max_completion_tokens": 9, "seed": 5}, slot=1), max_tokens=64
    )
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.7, 9, 6)
    assert "max_completion_tokens" not in body


def test_a_sampling_parameter_that_the_engine_would_ignore_is_refused():
    with pytest.raises(
        ModelCallError, match=r"do not know the sampling parameter reasoning_effort; they know: freq"
    ) as e:
        body_of(Request.of("Hi", sampling={"reasoning_effort": "low"}), max_tokens=64)
    assert e.value.code == "request_invalid"


def test_objects_are_closed_and_texts_are_bounded_where_the_schema_says_nothing():
    schema = {
        "type": "object",
        "properties": {"why": {"type": "string"}, "parts": {"type": "array", "items": {"properties": {"a": {}}}}},
    }
    asked = schema_in(schema_grammar(schema, longest_text=50))
    assert asked["additionalProperties"] is False
    assert asked["properties"]["why"] == {"type": "string", "maxLength": 50}
    assert asked["properties"]["parts"]["items"]["additionalProperties"] is False
    assert "additionalProperties" not in schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "maxLength": 3},
        {"type": "string", "enum": ["a"]},
        {"type": "string", "pattern": "a+"},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"b": {"type": "integer"}}}]},
        {"enum": [{"type": "string"}]},
    ],
)
def test_what_the_schema_says_itself_stands(schema):
    asked = schema_in(schema_grammar(schema, longest_text=50))
    asked.pop("x-guidance")
    assert asked == schema


def test_a_text_that_must_be_longer_than_the_bound_may_be():
    asked = schema_in(schema_grammar({"type": "string", "minLength": 80}, longest_text=50))
    assert asked["maxLength"] == 80


def test_a_label_with_quotes_is_one_text_in_its_grammar():
    assert label_grammar('say "no"\\') == '%llguidance {}\nstart: "say \\"no\\"\\\\"'


def test_a_streamed_reply_is_put_together():
    written = Generated()
    for chunk in (
        {"choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]},
        {"choices": [{"delta": {"reasoning_content": "hm"}, "finish_reason": None}]},
        {"choices": [{"delta": {"content": '{"a":'}, "finish_reason": None}]},
        {"choices": [{"delta": {"content": "1}"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
    ):
        written.add(chunk)
    assert (written.parsed(), written.reasoning, written.finish) == ({"a": 1}, "hm", "stop")
    assert (written.input_tokens, written.output_tokens) == (9, 4)


def test_json_that_was_cut_off_is_a_failure_that_says_what_to_do():
    with pytest.raises(
        JudgeReplyError, match=r"cut off after 5 tokens, got '\{\"a\":'; pass a larger max_tokens"
    ) as raised:
        Generated(text='{"a":', finish="length", output_tokens=5).parsed()
    assert raised.value.code == "reply_truncated"


def test_what_is_no_json_is_a_failure():
    with pytest.raises(JudgeReplyError, match=r"expected JSON of the schema, got 'The score is 1\.0'") as raised:
        Generated(text="The score is 1.0", finish="stop").parsed()
    assert raised.value.code == "reply_unparsable"
