"""What holds of every reply, whatever a model or an attacker writes."""

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.errors import JudgeReplyError
from calibrant.models.reading import label_of, label_probabilities, parsed_json, without_reasoning
from calibrant.models.schemas import faults_of

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
objects = st.dictionaries(st.text(), values, max_size=4)
LABELS = ("fully", "mostly", "none")


@given(values)
def test_every_json_value_comes_back_as_it_was_written(value):
    assert parsed_json(json.dumps(value)) == value
    assert parsed_json(f"```json\n{json.dumps(value)}\n```") == value


@given(objects, st.text(min_size=1).filter(str.strip), st.booleans())
def test_an_object_with_anything_beside_it_is_not_believed(value, beside, first):
    text = json.dumps(value)
    with pytest.raises(JudgeReplyError):
        parsed_json(f"{beside} {text}" if first else f"{text} {beside}")


@given(objects, st.data())
def test_an_object_that_breaks_off_is_not_believed(value, data):
    text = json.dumps(value)
    with pytest.raises(JudgeReplyError):
        parsed_json(text[: data.draw(st.integers(0, len(text) - 1))])


@given(st.text())
def test_any_text_is_a_label_of_the_list_or_an_error(text):
    with suppress(JudgeReplyError):
        assert label_of(text, LABELS) in LABELS


@given(st.dictionaries(st.text(max_size=8) | st.sampled_from(LABELS), st.floats(-50, 0), max_size=20))
def test_label_probabilities_sum_to_one(logprobs):
    found = label_probabilities(logprobs, LABELS)
    if found is not None:
        probabilities, off = found
        assert set(probabilities) == set(LABELS)
        assert math.isclose(math.fsum(probabilities.values()), 1.0)
        assert 0.0 <= off <= 1.0


@given(st.text(), st.text().filter(lambda text: "think>" not in text))
def test_reasoning_never_reaches_the_answer(thought, answer):
    thought = thought.replace("think>", "")
    assert without_reasoning(f"<think>{thought}</think>{answer}") == (answer.lstrip(), thought.strip(), True)


@given(values)
def test_a_schema_that_says_nothing_finds_no_faults(value):
    assert faults_of(value, {}) == []
