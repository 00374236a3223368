import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.aggregation import AggregationMethod, build_aggregation_strategy, majority_label

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=9)
METHODS = st.sampled_from(list(AggregationMethod))
FAILED = {"error": "timed out"}


def aggregate(method, scores, failures=0):
    given_results = [*({"score": score} for score in scores), *[FAILED] * failures]
    return build_aggregation_strategy(method).aggregate(given_results, len(given_results))


@given(METHODS, SCORES)
def test_the_score_lies_among_the_votes(method, scores):
    assert min(scores) <= aggregate(method, scores)["score"] <= max(scores)


@given(METHODS, SCORES, st.randoms())
def test_the_score_does_not_depend_on_the_order_of_the_judges(method, scores, random):
    shuffled = random.sample(scores, len(scores))
    assert aggregate(method, shuffled)["score"] == pytest.approx(aggregate(method, scores)["score"])


@given(METHODS, SCORES, st.integers(0, 5))
def test_failed_judges_never_change_the_score(method, scores, failures):
    assert aggregate(method, scores, failures)["score"] == aggregate(method, scores)["score"]


@given(METHODS, SCORES, st.integers(0, 5))
def test_valid_and_failed_add_up_to_the_jury(method, scores, failures):
    result = aggregate(method, scores, failures)
    assert result["valid_judges"] + result["failed_judges"] == result["num_judges"] == len(scores) + failures
    assert sum(result["score_distribution"].values()) == result["valid_judges"]


@given(st.sampled_from([AggregationMethod.MEDIAN, AggregationMethod.MAJORITY_VOTE]), SCORES)
def test_median_and_majority_are_always_some_judge_s_own_result(method, scores):
    result = aggregate(method, scores)
    assert scores[result["representative_judge"]] == result["score"]


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=9), st.randoms())
def test_a_label_majority_does_not_depend_on_order(labels, random):
    assert majority_label(random.sample(labels, len(labels))) == majority_label(labels)
