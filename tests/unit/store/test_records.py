"""What is left of a record where texts may not be kept: keys, labels, scores and codes, and no words of anyone."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.errors import CODES
from calibrant.ratings import Failure, Rating
from calibrant.store import CallRecord, LabelRecord
from calibrant.store.records import rating_without_text

REQUEST = {"messages": [["user", "private"]]}


@pytest.mark.parametrize("mode", ["label", "label_no_logprobs", "label_probs"])
def test_a_bare_label_stays_with_its_probabilities_and_can_be_given_again(mode):
    reply = {"text": " Yes. private", "data": "yes", "mode": mode, "reasoning": "private", "label_probs": {"yes": 1.0}}
    kept = CallRecord(key="k", model="m", request=REQUEST, reply=reply).without_text()
    assert kept.request is None
    assert kept.reply == {"text": "yes", "data": "yes", "mode": mode, "reasoning": "", "label_probs": {"yes": 1.0}}


@pytest.mark.parametrize(
    "mode", ["text", "json_schema", "json_object", "prompted_schema", "tool_call", "embedding", ""]
)
def test_of_any_other_reply_only_the_key_stays(mode):
    reply = {"text": "private", "data": {"why": "private"}, "mode": mode}
    kept = CallRecord(key="k", model="m", request=REQUEST, reply=reply).without_text()
    assert kept == CallRecord(key="k", model="m")


def test_a_record_without_a_reply_has_nothing_to_lose():
    assert CallRecord(key="k", model="m").without_text() == CallRecord(key="k", model="m")


@pytest.mark.parametrize("code", sorted(code for code, about in CODES.items() if about.status == "failed"))
def test_the_message_of_a_failure_becomes_the_meaning_of_its_code(code):
    failure = Failure(code=code, message="private words of the model", retryable=True)
    rating = Rating(item="i", criterion="c", rater="r", status="failed", failure=failure, explanation="private")
    kept = rating_without_text(rating)
    assert kept.failure == Failure(code=code, message=CODES[code].meaning, retryable=True)
    assert kept.explanation == ""
    assert dataclasses.replace(kept, failure=failure, explanation="private") == rating


values = st.one_of(st.booleans(), st.floats(allow_nan=False), st.text(), st.frozensets(st.text(), max_size=4))


@given(values, st.text())
def test_a_label_of_any_kind_comes_back_from_its_row(value, note):
    label = LabelRecord(item="i", criterion="c", annotator="kim", value=value, note=note)
    assert LabelRecord.of_row("i", "c", "kim", value=label.value_json(), note=note) == label


def test_a_set_of_labels_is_written_sorted_so_that_equal_sets_are_equal_rows():
    one, other = (LabelRecord(item="i", criterion="c", annotator="a", value=frozenset(v)) for v in ("abc", "cab"))
    assert one.value_json() == other.value_json() == ["a", "b", "c"]
