"""The core records printed, as JSON and compared: every type, every field, there and back."""

import copy
import dataclasses
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import Coverage, Estimate, Failure, MetricResult, MetricScore, Rating, Usage
from calibrant.errors import CODES, InputError, WrongTypeError
from calibrant.ratings import check_value

COUNTS = st.integers(0, 1000)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
MONEY = st.none() | st.floats(0, 100, allow_nan=False)
USAGES = st.builds(Usage, calls=COUNTS, cached=COUNTS, input_tokens=COUNTS, output_tokens=COUNTS, usd=MONEY)
FAILURES = st.builds(Failure, code=st.sampled_from(sorted(CODES)), message=st.text(), retryable=st.booleans())
VALUES = st.booleans() | NUMBERS | st.text() | st.frozensets(st.text(), max_size=3)
COVERAGES = st.builds(
    Coverage,
    rated=COUNTS,
    failed=COUNTS,
    skipped=COUNTS,
    not_applicable=COUNTS,
    codes=st.dictionaries(st.sampled_from(sorted(CODES)), COUNTS, max_size=3),
)


@st.composite
def ratings(draw):
    failure = draw(st.none() | FAILURES)
    return Rating(
        item=draw(st.text(min_size=1)),
        criterion=draw(st.text()),
        rater=draw(st.text()),
        slot=draw(COUNTS),
        role=draw(st.sampled_from(["vote", "result"])),
        status="rated" if failure is None else failure.status,
        value=draw(VALUES) if failure is None else None,
        failure=failure,
        explanation=draw(st.text()),
        call_keys=tuple(draw(st.lists(st.text(), max_size=2))),
        usage=draw(st.none() | USAGES),
    )


@st.composite
def estimates(draw):
    lower, value, upper = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    has_value = draw(st.booleans())
    return Estimate(
        value=value if has_value else None,
        lower=lower if has_value else None,
        upper=upper if has_value and draw(st.booleans()) else None,
        level=draw(st.floats(0.01, 0.99)),
        method=draw(st.text()),
        coverage=draw(COVERAGES),
        worst_case=(lower, upper) if draw(st.booleans()) else None,
        reason="" if has_value else "nothing to count",
    )


RECORDS = ratings() | estimates() | COVERAGES | FAILURES


def through_json(record):
    return type(record).from_json(json.loads(json.dumps(record.to_json(), allow_nan=False)))


@given(RECORDS)
def test_every_record_comes_back_equal(record):
    for again in (through_json(record), pickle.loads(pickle.dumps(record)), copy.deepcopy(record)):
        assert again == record
        assert hash(again) == hash(record)


@given(RECORDS)
def test_every_record_prints_in_words(record):
    assert "object at" not in f"{record} {record!r}"


@given(RECORDS)
def test_no_field_can_be_set(record):
    for field in dataclasses.fields(record):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field.name, None)


@given(estimates())
def test_an_estimate_prints_its_n_and_nothing_that_is_no_number(estimate):
    text = str(estimate)
    assert f"n={estimate.n}" in text
    assert "nan" not in text
    assert ("no estimate: nothing to count" in text) == (estimate.value is None)


@given(COVERAGES, COVERAGES, COVERAGES)
def test_coverages_add_up_in_any_order(a, b, c):
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert (a + b).total == a.total + b.total


@given(COVERAGES, st.floats(0, 1))
def test_the_worst_case_holds_the_value_and_widens_with_failures(coverage, value):
    low, high = coverage.worst_case(value)
    assert 0 <= low <= high <= 1
    if coverage.rated:
        assert low <= value + 1e-12
        assert value - 1e-12 <= high
        worse = dataclasses.replace(coverage, failed=coverage.failed + 1).worst_case(value)
        assert worse[0] <= low + 1e-12
        assert high <= worse[1] + 1e-12


@given(st.lists(USAGES, min_size=1, max_size=5))
def test_usage_adds_up_and_unknown_money_stays_unknown(usages):
    total = sum(usages[1:], usages[0])
    assert total.calls == sum(one.calls for one in usages)
    assert (total.usd is None) == any(one.usd is None for one in usages)


@pytest.mark.parametrize("name", ["rated", "failed", "skipped", "not_applicable"])
def test_no_count_is_below_zero(name):
    with pytest.raises(InputError, match=f"{name} counts items and cannot be -1"):
        Coverage(**{"rated": 0, name: -1})


@pytest.mark.parametrize(
    ("coverage", "text"),
    [
        (Coverage(rated=0), "0 rated"),
        (Coverage(rated=5, skipped=1), "5 rated, 1 skipped"),
        (
            Coverage(rated=5, failed=2, not_applicable=1, codes={"not_applicable": 1, "judge_timeout": 2}),
            "5 rated, 2 failed, 1 not applicable (2 judge_timeout, 1 not_applicable)",
        ),
    ],
)
def test_a_coverage_prints_what_there_is(coverage, text):
    assert str(coverage) == text


def test_nothing_to_which_the_question_applied_has_no_share():
    assert Coverage(rated=0, not_applicable=5).share is None
    assert Coverage(rated=0, failed=5).share == 0.0


def test_codes_cannot_be_changed_behind_a_coverage():
    codes = {"judge_timeout": 1}
    coverage = Coverage(rated=1, failed=1, codes=codes)
    codes["judge_timeout"] = 9
    assert coverage.codes["judge_timeout"] == 1
    with pytest.raises(TypeError):
        coverage.codes["judge_timeout"] = 9


def test_details_cannot_be_changed_behind_a_score_or_a_result():
    details = {"mode": "single"}
    score = MetricScore(1.0, details=details)
    result = MetricResult(score=1.0, success=True, details=details)
    details["mode"] = "other"
    for record in (score, result):
        assert record.details == {"mode": "single"}
        with pytest.raises(TypeError):
            record.details["mode"] = "other"


@given(
    st.builds(
        MetricScore,
        VALUES,
        st.text(),
        st.none() | NUMBERS,
        details=st.dictionaries(st.text(), st.integers(), max_size=2),
    )
)
def test_a_metric_score_survives_pickling_and_gives_its_output(score):
    again = pickle.loads(pickle.dumps(score))
    assert (again, hash(again)) == (score, hash(score))
    output = score.to_output()
    assert (output["score"], output["explanation"]) == (score.score, score.explanation)
    assert ("rubric_score" in output) == (score.rubric_score is not None or "rubric_score" in score.details)


@given(FAILURES)
def test_a_result_of_a_failure_has_its_status_and_no_score(failure):
    result = MetricResult(score=None, success=False, error=failure)
    assert (result.status, result.score) == (failure.status, None)
    assert str(result) == f"{failure.status.replace('_', ' ')}: {failure.code}: {failure.message}"
    assert json.loads(json.dumps(result.to_json()))["error"] == failure.to_json()


def test_a_result_in_json_has_every_field():
    result = MetricResult(
        score=0.5, success=True, rubric_score=3.0, explanation="why", threshold=0.4, strict_mode=False
    )
    data = result.to_json()
    assert set(data) == {field.name for field in dataclasses.fields(MetricResult)}
    assert (data["score"], data["rubric_score"], data["threshold"], data["judges"]) == (0.5, 3.0, 0.4, [])


def test_results_are_equal_by_content():
    one = MetricResult(score=0.5, success=True, details={"a": 1})
    assert one == MetricResult(score=0.5, success=True, details={"a": 1})
    assert one != MetricResult(score=0.5, success=True, details={"a": 2})
    assert one != MetricResult(score=0.5, success=False, details={"a": 1})


@pytest.mark.parametrize("record", [Usage, Failure, Rating, MetricResult, Coverage, Estimate])
def test_fields_are_given_by_name(record):
    with pytest.raises(TypeError, match="positional argument"):
        record("a", "b")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "it is a bool, a number, a label or a frozenset of labels, not NoneType None"),
        ([0.5], "it is a bool, a number, a label or a frozenset of labels, not list [0.5]"),
        ({"a"}, "it is a bool, a number, a label or a frozenset of labels, not set {'a'}"),
        (frozenset({7}), "it is a set of labels, which are texts, not 7"),
    ],
)
def test_what_is_no_value_is_said_in_words(value, message):
    with pytest.raises(WrongTypeError) as error:
        check_value(value, "it")
    assert str(error.value) == message


def test_numbers_of_json_that_are_whole_stay_numbers():
    rating = Rating(item="a", criterion="c", rater="r", value=1)
    assert through_json(rating) == rating
    assert through_json(rating).value is not True


def test_a_bool_stays_a_bool_through_json():
    assert through_json(Rating(item="a", criterion="c", rater="r", value=True)).value is True


def test_no_labels_at_all_is_a_value_too():
    assert through_json(Rating(item="a", criterion="c", rater="r", value=frozenset())).value == frozenset()


def test_an_estimate_formats_each_number_alike():
    one = Estimate(value=0.5, lower=0.25, method="t", coverage=Coverage(rated=4))
    assert f"{one:.0%}" == "50% [25%, inf] n=4"
    assert one.text("+.1f") == "+0.5 [+0.2, inf] n=4"
