import datetime as dt
import json
import pickle

import pytest

from calibrant import Failure, MetricResult, MetricScore, Rating, Usage
from calibrant.errors import InputError, JudgeReplyError, UnknownNameError, WrongTypeError

TIMEOUT = Failure(code="judge_timeout", message="no answer within 60 s", retryable=True)


def rating(**changes):
    return Rating(**{"item": "a", "criterion": "polite", "rater": "human:kim", "value": 1.0, **changes})


def test_usage_adds_up():
    total = Usage(calls=1, input_tokens=10, output_tokens=2, usd=0.5) + Usage(calls=2, cached=1, usd=0.25)
    assert total == Usage(calls=3, cached=1, input_tokens=10, output_tokens=2, usd=0.75)


def test_an_unknown_price_makes_the_sum_unknown_and_never_zero():
    assert (Usage(usd=1.0) + Usage(usd=None)).usd is None
    assert Usage(usd=None).to_json()["usd"] is None


def test_a_failure_has_a_known_code():
    with pytest.raises(UnknownNameError, match="unknown failure code 'sleepy'"):
        Failure(code="sleepy", message="zzz")


def test_a_failure_of_a_rating_error_keeps_its_code():
    assert Failure.of(JudgeReplyError("no JSON")) == Failure(code="reply_unparsable", message="no JSON", retryable=True)


def test_a_failure_of_any_other_error_is_the_metric_s_own():
    assert Failure.of(KeyError("score")) == Failure(code="metric_error", message="KeyError: 'score'")
    assert Failure.of(RuntimeError()).message == "RuntimeError"


@pytest.mark.parametrize(
    ("code", "status"),
    [("judge_timeout", "failed"), ("missing_field", "skipped"), ("not_applicable", "not_applicable")],
)
def test_a_failure_knows_how_it_is_counted(code, status):
    assert Failure(code=code, message="").status == status


def test_a_rated_rating_has_a_value_and_no_failure():
    with pytest.raises(InputError, match="rating of item 'a' by 'human:kim' is rated, so it has a value"):
        rating(value=None)
    with pytest.raises(InputError, match="is rated, so it has a value and no failure"):
        rating(failure=TIMEOUT)


def test_a_failed_rating_has_a_failure_and_no_value():
    failed = rating(status="failed", value=None, failure=TIMEOUT)
    assert failed.value is None
    with pytest.raises(InputError, match="is failed, so it has a failure and no value"):
        rating(status="failed", failure=TIMEOUT)
    with pytest.raises(InputError, match="is failed, so it has a failure and no value"):
        rating(status="failed", value=None)


def test_status_and_code_agree():
    with pytest.raises(InputError, match="is skipped, but judge_timeout counts as failed"):
        rating(status="skipped", value=None, failure=TIMEOUT)


@pytest.mark.parametrize("value", [True, 0.5, 3, "good", frozenset({"a", "b"}), frozenset()])
def test_a_value_is_a_bool_a_number_a_label_or_labels(value):
    assert rating(value=value).value == value


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_is_refused(value):
    with pytest.raises(InputError, match="a judge that failed is a Failure, not a number"):
        rating(value=value)


@pytest.mark.parametrize("value", [["a"], {"a": 1}, frozenset({1})])
def test_other_values_are_refused(value):
    with pytest.raises(WrongTypeError, match=r"bool, a number, a label or a frozenset|set of labels, which are texts"):
        rating(value=value)


@pytest.mark.parametrize(
    "one",
    [
        rating(),
        rating(value=frozenset({"b", "a"}), explanation="both", slot=2, role="vote"),
        rating(status="failed", value=None, failure=TIMEOUT, call_keys=("sha256:0",), usage=Usage(calls=1, usd=None)),
    ],
)
def test_json_and_pickle_bring_the_same_rating_back(one):
    assert Rating.from_json(json.loads(json.dumps(one.to_json()))) == one
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_set_of_labels_is_a_sorted_list_in_json():
    assert rating(value=frozenset({"b", "a"})).to_json()["value"] == ["a", "b"]


def test_a_metric_score_may_be_written_by_position():
    score = MetricScore(0.8, "why", 3.0)
    assert (score.score, score.explanation, score.rubric_score) == (0.8, "why", 3.0)
    assert score.to_output() == {"score": 0.8, "explanation": "why", "rubric_score": 3.0}


def test_details_of_a_score_travel_with_its_output():
    score = MetricScore(0.8, details={"mode": "single"})
    assert score.to_output() == {"score": 0.8, "explanation": "", "mode": "single"}
    assert pickle.loads(pickle.dumps(score)) == score
    assert hash(score) == hash(MetricScore(0.8))


@pytest.mark.parametrize("value", [float("nan"), None, [0.5]])
def test_a_metric_score_is_a_value(value):
    with pytest.raises((InputError, WrongTypeError), match="a metric's score is"):
        MetricScore(value)


def test_a_result_with_an_error_has_no_score_and_is_no_success():
    failed = MetricResult(score=None, success=False, error=TIMEOUT)
    assert failed.status == "failed"
    assert str(failed) == "failed: judge_timeout: no answer within 60 s"
    with pytest.raises(InputError, match="a result with an error has no score and is no success"):
        MetricResult(score=0.0, success=False, error=TIMEOUT)
    with pytest.raises(InputError, match="a result with an error has no score and is no success"):
        MetricResult(score=None, success=True, error=TIMEOUT)


def test_a_result_without_an_error_has_a_score_or_a_label():
    assert MetricResult(score=None, success=False, label="angry").status == "rated"
    with pytest.raises(InputError, match="a result without an error has a score or a label"):
        MetricResult(score=None, success=False)


def test_a_result_prints_its_verdict():
    assert str(MetricResult(score=0.8, success=True)) == "pass 0.800 (>= 0.5)"
    assert str(MetricResult(score=0.8, success=False, higher_is_better=False)) == "fail 0.800 (<= 0.5)"
    assert str(MetricResult(score=None, success=False, label="angry")) == "fail angry"


@pytest.mark.parametrize(
    ("score", "threshold", "text"),
    [
        (0.49996, 0.5, "fail 0.49996 (>= 0.5)"),
        (0.4, 0.5, "fail 0.400 (>= 0.5)"),
        (0.5, 0.5, "pass 0.500 (>= 0.5)"),
        (0.50004, 0.5, "pass 0.50004 (>= 0.5)"),
        (0.66666, 2 / 3, "fail 0.66666 (>= 0.666667)"),
        (0.1 + 0.2, 0.3, "pass 0.30000000000000004 (>= 0.3)"),
    ],
)
def test_a_score_is_not_rounded_over_its_threshold(score, threshold, text):
    assert str(MetricResult(score=score, success=score >= threshold, threshold=threshold)) == text


def test_a_result_has_json_and_survives_pickling():
    result = MetricResult(score=0.8, success=True, judges=(rating(),), usage=Usage(calls=1), details={"mode": "single"})
    data = json.loads(json.dumps(result.to_json()))
    assert data["judges"][0]["rater"] == "human:kim"
    assert data["usage"]["calls"] == 1
    assert data["details"] == {"mode": "single"}
    assert data["error"] is None
    assert pickle.loads(pickle.dumps(result)) == result
    assert hash(result) == hash(pickle.loads(pickle.dumps(result)))


def test_records_are_immutable():
    with pytest.raises(AttributeError):
        rating().value = 0.0


def test_details_of_any_kind_have_json():
    details = {"labels": frozenset({"b", "a"}), "distribution": {0.5: 2}, "when": dt.date(2026, 3, 1)}
    shown = json.loads(json.dumps(MetricResult(score=0.5, success=True, details=details).to_json()))["details"]
    assert shown == {"labels": ["a", "b"], "distribution": {"0.5": 2}, "when": "2026-03-01"}


def test_a_score_has_no_error_among_its_details():
    with pytest.raises(InputError, match="a score has no error among its details; raise the error"):
        MetricScore(0.9, details={"error": "timed out"})
