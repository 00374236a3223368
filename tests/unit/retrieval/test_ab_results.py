"""Results of A/B tests, worked out from the metrics of each query without any retriever."""

import json

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats as scipy_stats

from calibrant.errors import InputError, RatingError, UnknownNameError
from calibrant.retrieval import ABTestResult, QueryPair, RetrievalMetricsCalculator, RetrieverFailure
from calibrant.stats import holm

CALCULATOR = RetrievalMetricsCalculator(k=5)
RELEVANT = ["a", "b"]
LISTS = [
    (["x", "a"], ["a", "b"]),
    (["a"], ["a", "x"]),
    (["x", "y", "b"], ["b", "a", "x"]),
    (["b", "x", "a"], ["x", "b", "a"]),
    (["y"], ["a"]),
    (["x", "a", "b"], ["a", "x", "b"]),
]
FIELDS = {"precision": "precision_at_k", "recall": "recall_at_k", "f1": "f1_at_k", "mrr": "mrr", "ndcg": "ndcg"}


def pairs(lists=LISTS):
    return [
        QueryPair(query=f"q{row}", a=CALCULATOR.evaluate(a, RELEVANT), b=CALCULATOR.evaluate(b, RELEVANT))
        for row, (a, b) in enumerate(lists)
    ]


def failed(query, side):
    good = CALCULATOR.evaluate(["a"], RELEVANT)
    failure = RetrieverFailure(query=query, retriever=side, message="TimeoutError: too slow")
    return QueryPair(query=query, a=failure if side == "a" else good, b=failure if side == "b" else good)


def differences(metric, given=None):
    field = FIELDS[metric]
    return np.array([getattr(pair.b, field) - getattr(pair.a, field) for pair in given or pairs()])


@pytest.mark.parametrize("metric", FIELDS)
def test_the_p_value_is_scipys_paired_t_test_of_the_chosen_metric(metric):
    result = ABTestResult.of(pairs(), metric=metric)
    found = differences(metric)
    assert result.p_value == pytest.approx(scipy_stats.ttest_1samp(found, 0.0).pvalue)
    assert result.metric == metric
    assert result.is_significant is (result.p_value < 0.05)
    row = result.per_metric_comparison[metric]
    assert row["delta"] == pytest.approx(found.mean())
    interval = scipy_stats.ttest_1samp(found, 0.0).confidence_interval()
    assert (row["lower"], row["upper"]) == pytest.approx((interval.low, interval.high))


def test_every_metric_has_a_row_with_a_corrected_p_value():
    rows = ABTestResult.of(pairs()).per_metric_comparison
    assert list(rows) == list(FIELDS)
    assert [row["p_value_holm"] for row in rows.values()] == pytest.approx(
        holm([row["p_value"] for row in rows.values()]).tolist()
    )
    for metric, row in rows.items():
        found = differences(metric)
        assert row["mean_b"] - row["mean_a"] == pytest.approx(row["delta"])
        assert (row["wins"], row["losses"]) == ((found > 1e-12).sum(), (found < -1e-12).sum())
        assert 0 < row["randomisation_p_value"] <= 1
        assert row["reason"] == ""


def test_the_means_of_both_are_the_seeds_aggregates():
    result = ABTestResult.of(pairs())
    assert result.metrics_a.num_samples == result.metrics_b.num_samples == len(LISTS)
    assert result.metrics_a.mean_mrr == pytest.approx(np.mean([1 / 2, 1, 1 / 3, 1, 0, 1 / 2]))
    assert result.metrics_b.mean_mrr == pytest.approx(np.mean([1, 1, 1, 1 / 2, 1, 1]))


def test_the_queries_needed_are_those_of_the_chosen_metric():
    result = ABTestResult.of(pairs(), metric="mrr")
    assert result.queries_needed == result.per_metric_comparison["mrr"]["queries_needed"]
    assert isinstance(result.queries_needed, int)
    assert ABTestResult.of(pairs([(["a"], ["a"])] * 4)).queries_needed is None


def test_a_query_that_failed_is_counted_named_and_in_no_mean():
    given = [*pairs(), failed("lost", "b"), failed("gone", "a")]
    result, without = ABTestResult.of(given), ABTestResult.of(pairs())
    assert result.p_value == without.p_value
    assert result.metrics_a == without.metrics_a
    assert (result.coverage.rated, result.coverage.failed) == (len(LISTS), 2)
    assert result.coverage.codes == {"system_error": 2}
    assert [str(failure) for failure in result.failures] == [
        "retriever b on query 'lost': TimeoutError: too slow",
        "retriever a on query 'gone': TimeoutError: too slow",
    ]


def test_a_query_that_both_fail_on_has_failed_once_with_two_failures():
    one, other = failed("lost", "a"), failed("lost", "b")
    result = ABTestResult.of([*pairs(), QueryPair(query="lost", a=one.a, b=other.b)])
    assert (result.coverage.failed, len(result.failures)) == (1, 2)


def test_failures_widen_the_worst_case_of_the_estimates():
    sure, unsure = ABTestResult.of(pairs()), ABTestResult.of([*pairs(), failed("lost", "b")])
    before, after = sure.estimates()["ndcg"], unsure.estimates()["ndcg"]
    assert after.value == before.value
    assert before.worst_case == pytest.approx((before.value, before.value))
    total = differences("ndcg").sum()
    assert after.worst_case == pytest.approx(((total - 1) / 7, (total + 1) / 7))


def test_nothing_but_failures_is_an_error_that_names_who():
    with pytest.raises(RatingError, match="no query could be scored: retriever b failed on all 2") as raised:
        ABTestResult.of([failed("q1", "b"), failed("q2", "b")])
    assert "retriever b on query 'q1': TimeoutError: too slow" in str(raised.value)
    with pytest.raises(RatingError, match="one retriever or the other failed on all 2"):
        ABTestResult.of([failed("q1", "a"), failed("q2", "b")])


def test_no_queries_are_a_tie():
    result = ABTestResult.of([])
    assert (result.winner, result.p_value, result.is_significant) == ("tie", 1.0, False)
    assert result.metrics_a.num_samples == 0
    assert result.per_metric_comparison["ndcg"]["delta"] is None
    assert result.per_metric_comparison["ndcg"]["reason"] == "there were no values"
    assert str(result).startswith("tie by ndcg: b - a = ")


@pytest.mark.parametrize("repeats", [1, 20])
def test_the_winner_is_a_tie_until_the_difference_is_significant(repeats):
    result = ABTestResult.of(pairs(LISTS[:1] * repeats), significance_level=0.01)
    assert result.winner == ("tie" if repeats == 1 else "b")
    swapped = [QueryPair(query=pair.query, a=pair.b, b=pair.a) for pair in result.queries]
    assert ABTestResult.of(swapped).winner == ("tie" if repeats == 1 else "a")


def test_it_decides_again_by_another_metric_level_or_seed():
    result = ABTestResult.of(pairs(), seed=3, metadata={"dataset": "hours"})
    again = result.again(metric="recall", significance_level=0.2)
    assert (again.metric, again.significance_level) == ("recall", 0.2)
    assert again.p_value == ABTestResult.of(pairs(), metric="recall").p_value
    assert again.metadata["dataset"] == "hours"
    assert again.metadata["seed"] == 3
    assert result.again() == result
    assert result.again(seed=4).metadata["seed"] == 4


def test_json_holds_everything_and_comes_back():
    result = ABTestResult.of([*pairs(), failed("lost", "a")])
    data = json.loads(result.model_dump_json())
    assert data["coverage"]["failed"] == 1
    assert data["queries"][0]["a"]["mrr"] == 0.5
    assert data["queries"][-1]["a"]["code"] == "system_error"
    assert ABTestResult.model_validate(data) == result
    assert isinstance(ABTestResult.model_validate(data).queries[-1].a, RetrieverFailure)


def test_it_prints_the_verdict_with_interval_and_p():
    text = str(ABTestResult.of(pairs(LISTS[:1] * 20)))
    assert text.startswith("b is better by ndcg: b - a = ")
    assert " n=20" in text
    assert ", p = " in text


def test_what_was_decided_is_in_the_metadata():
    metadata = ABTestResult.of(pairs(), seed=9).metadata
    assert (metadata["seed"], metadata["correction"]) == (9, "holm")
    assert metadata["test"] == "paired t"


def test_wrong_settings_are_refused():
    with pytest.raises(UnknownNameError, match="unknown metric 'map'; expected one of: f1, mrr, ndcg, precision, rec"):
        ABTestResult.of(pairs(), metric="map")
    with pytest.raises(InputError, match="a significance level lies between 0 and 1"):
        ABTestResult.of(pairs(), significance_level=1.0)
    with pytest.raises(UnknownNameError, match="unknown metric 'hit_rate'"):
        ABTestResult.of(pairs()).again(metric="hit_rate")


def test_impossible_numbers_are_refused():
    good = ABTestResult.of(pairs()).model_dump()
    for change in ({"p_value": 1.5}, {"p_value": -0.1}, {"winner": "both"}, {"significance_level": 0.0}, {"more": 1}):
        with pytest.raises(ValidationError):
            ABTestResult.model_validate({**good, **change})
