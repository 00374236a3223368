import pytest

from calibrant import AggregationResult, Failure, MetricResult, MetricsAggregator, WeightedMetricsAggregator
from calibrant.errors import InputError

DOWN = Failure(code="judge_unreachable", message="connection refused")
ERRORED = MetricResult(score=None, success=False, error=DOWN)


def result(score, *, success=True, rubric=None, higher=True):
    return MetricResult(score=score, success=success, rubric_score=rubric, higher_is_better=higher)


def test_all_must_pass():
    assert MetricsAggregator().aggregate({"a": result(0.9), "b": result(0.8)}).aggregate_success
    assert not MetricsAggregator().aggregate({"a": result(0.9), "b": result(0.8, success=False)}).aggregate_success


def test_the_score_is_a_mean_that_respects_polarity():
    named = {"complete": result(0.8), "redundant": result(0.2, higher=False), "toxic": result(1.0, higher=False)}
    assert MetricsAggregator().aggregate(named).aggregate_score == pytest.approx((0.8 + 0.8 + 0.0) / 3)


def test_nothing_evaluated_is_no_confidence():
    assert MetricsAggregator().aggregate({}) == AggregationResult(aggregate_success=False, aggregate_score=0.0)


def test_an_errored_metric_fails_the_gate_leaves_the_score_and_is_named():
    combined = MetricsAggregator().aggregate({"a": result(0.9), "b": ERRORED})
    assert not combined.aggregate_success
    assert combined.aggregate_score == 0.9
    assert combined.errors == {"b": DOWN}


def test_when_every_metric_errored_there_is_no_score():
    combined = MetricsAggregator().aggregate({"a": ERRORED, "b": ERRORED})
    assert combined.aggregate_score is None
    assert not combined.aggregate_success
    assert set(combined.errors) == {"a", "b"}


def test_label_results_have_no_number_to_average():
    named = {"tone": MetricResult(score=None, label="calm", success=True), "a": result(0.5)}
    assert MetricsAggregator().aggregate(named).aggregate_score == 0.5
    alone = MetricsAggregator().aggregate({"tone": named["tone"]})
    assert (alone.aggregate_success, alone.aggregate_score) == (True, None)


def test_compute_success_and_compute_score_may_be_overridden():
    class Lenient(MetricsAggregator):
        def compute_success(self, named_results):
            return any(one.success for one in named_results.values())

        def compute_score(self, named_results):
            return max(one.score for one in named_results.values())

    combined = Lenient().aggregate({"a": result(0.2), "b": result(0.9, success=False), "c": ERRORED})
    assert (combined.aggregate_success, combined.aggregate_score) == (True, 0.9)


def weighted(**changes):
    given = {
        "weights": {"complete": 3.0, "redundant": 1.0},
        "score_mapping": {"complete": {1: 0.0, 2: 0.5, 3: 1.0}, "redundant": lambda level: (3 - level) / 2},
    }
    return WeightedMetricsAggregator(**{**given, **changes})


def test_weights_are_of_mapped_rubric_levels():
    named = {"complete": result(0.9, rubric=2), "redundant": result(0.1, rubric=1, higher=False)}
    assert weighted().aggregate(named).aggregate_score == pytest.approx((3 * 0.5 + 1 * 1.0) / 4)


def test_a_level_read_as_a_float_finds_its_integer_key():
    assert weighted().compute_score({"complete": result(1.0, rubric=3.0)}) == 1.0


def test_the_weights_of_the_metrics_present_count():
    named = {"complete": result(0.5, rubric=2), "redundant": ERRORED}
    combined = weighted().aggregate(named)
    assert combined.aggregate_score == 0.5
    assert combined.errors == {"redundant": DOWN}
    assert weighted().compute_score(named) == 0.5


def test_no_results_or_zero_weight_is_zero():
    assert weighted().compute_score({}) == 0.0
    assert weighted(weights={"complete": 0.0}).compute_score({"complete": result(0.5, rubric=2)}) == 0.0


def test_what_cannot_be_weighted_is_named_all_at_once():
    aggregator = weighted(score_mapping={"complete": {1: 0.0}, "redundant": {1: 1.0}})
    named = {
        "complete": result(0.5, rubric=2),
        "redundant": result(0.5),
        "polite": result(0.5, rubric=1),
    }
    with pytest.raises(InputError) as error:
        aggregator.compute_score(named)
    assert str(error.value) == (
        "the weighted score has 3 problems:\n"
        "  metric 'complete' gave level 2, but its mapping knows [1]\n"
        "  metric 'redundant' gave no rubric level; weighted scores are made of rubric levels\n"
        "  metric 'polite' has no weight"
    )


def test_a_metric_without_a_mapping_is_named():
    with pytest.raises(InputError, match="metric 'complete' has no score mapping"):
        weighted(score_mapping={}).compute_score({"complete": result(0.5, rubric=2)})


def test_a_mapping_that_gives_no_number_is_named():
    aggregator = weighted(score_mapping={"complete": lambda level: float("nan")})
    with pytest.raises(InputError, match="the mapping of metric 'complete' turned level 2 into nan"):
        aggregator.compute_score({"complete": result(0.5, rubric=2)})


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_weights_are_finite_and_not_negative(weight):
    with pytest.raises(InputError, match="weights, which are finite and not negative, has 1 problem:\n  complete: "):
        weighted(weights={"complete": weight})
