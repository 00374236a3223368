"""The sentences of the first seed (aggregation), each kept by a test that quotes it."""

import dataclasses
import inspect

import pytest

from calibrant import aggregation
from calibrant.aggregation import (
    AggregationMethod,
    AggregationResult,
    AverageAggregationStrategy,
    BaseJudgeAggregator,
    MajorityVoteAggregationStrategy,
    MedianAggregationStrategy,
    MetricsAggregator,
    RepeatedResults,
    WeightedMetricsAggregator,
    build_aggregation_strategy,
)
from calibrant.metrics import MetricResult

STRATEGIES = [AverageAggregationStrategy, MajorityVoteAggregationStrategy, MedianAggregationStrategy]


def scored(*scores):
    return [{"score": score, "judge": place} for place, score in enumerate(scores)]


def result(score, *, success=True, higher=True, rubric=None):
    return MetricResult(score=score, success=success, higher_is_better=higher, rubric_score=rubric)


def test_metric_aggregation_utilities_for_polarity_aware_pass_fail_scoring():
    """This module provides metric aggregation utilities for polarity-aware pass/fail scoring."""
    named = {"complete": result(1.0), "redundant": result(0.25, higher=False)}
    assert MetricsAggregator().aggregate(named) == AggregationResult(True, 0.875)


def test_extend_metrics_aggregator():
    """Extend MetricsAggregator and override compute_score or compute_success to customise behaviour per evaluator."""

    class Worst(MetricsAggregator):
        def compute_score(self, named_results):
            return min(one.score for one in named_results.values())

        def compute_success(self, named_results):
            return self.compute_score(named_results) > 0.3

    assert Worst().aggregate({"a": result(0.4, success=False), "b": result(0.9)}) == AggregationResult(True, 0.4)


def test_aggregation_result_is_a_dataclass_of_two():
    """AggregationResult(aggregate_success, aggregate_score) dataclass: Result of metric aggregation."""
    made = AggregationResult(True, 0.5)
    assert dataclasses.is_dataclass(made)
    assert (made.aggregate_success, made.aggregate_score) == (True, 0.5)


def test_aggregate_success_is_an_and_gate():
    """True if all metrics passed (AND-gate), False otherwise."""
    assert MetricsAggregator().compute_success({"a": result(0.9), "b": result(0.9)}) is True
    assert MetricsAggregator().compute_success({"a": result(0.9), "b": result(0.9, success=False)}) is False


def test_aggregate_score_inverts_polarity():
    """Mean quality score with polarity inversion applied."""
    assert MetricsAggregator().compute_score({"a": result(0.2, higher=False)}) == 0.8


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies_derive_from_the_base(strategy):
    """Bases: BaseJudgeAggregator."""
    assert issubclass(strategy, BaseJudgeAggregator)


@pytest.mark.parametrize(
    ("strategy", "method"),
    [
        (AverageAggregationStrategy, AggregationMethod.AVERAGE),
        (MajorityVoteAggregationStrategy, AggregationMethod.MAJORITY_VOTE),
        (MedianAggregationStrategy, AggregationMethod.MEDIAN),
    ],
)
def test_the_strategy_property(strategy, method):
    """strategy: property. Return the canonical aggregation strategy identifier."""
    assert isinstance(inspect.getattr_static(strategy, "strategy"), property)
    assert strategy().strategy is method


def test_average_computes_the_arithmetic_mean():
    """Aggregate judge results by computing the arithmetic mean score."""
    assert AverageAggregationStrategy().aggregate(scored(0.2, 0.4, 0.9), 3)["score"] == pytest.approx(0.5)


def test_average_takes_the_closest_judge_in_input_order():
    """The representative result is chosen as the valid judge output whose numeric score is closest to the computed
    average, using input order as the tie-breaker.
    """
    assert AverageAggregationStrategy().aggregate(scored(0.2, 0.4, 0.9), 3)["judge"] == 1
    assert AverageAggregationStrategy().aggregate(scored(0.8, 0.2), 2)["judge"] == 0


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_results_may_include_error_payloads(strategy):
    """Raw results produced by each judge, including successful outputs and optional error payloads."""
    assert strategy().aggregate([{"error": "timeout"}, {"score": 0.5}], 2)["score"] == 0.5


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_representative_is_annotated_with_metadata(strategy):
    """Representative result annotated with average-, majority-vote-, median-selection metadata."""
    annotated = strategy().aggregate(scored(0.5, 0.5), 2)
    assert annotated["aggregation_method"] == strategy().strategy.value
    assert annotated["num_judges"] == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_value_error_when_no_valid_judge_results_exist_or_a_score_is_non_numeric(strategy):
    """ValueError: If no valid judge results exist, or if any valid score is non-numeric."""
    for wrong in ([{"error": "x"}], [{"score": None}], [{"score": "high"}, {"score": 0.5}], [{"score": [1]}]):
        with pytest.raises(ValueError, match=r"judge"):
            strategy().aggregate(wrong, len(wrong))


def test_the_base_is_abstract():
    """Abstract strategy for repeated-judge result aggregation."""
    assert BaseJudgeAggregator.__abstractmethods__ == {"strategy", "aggregate"}


def test_repeated_results_are_extracted():
    """Tuple containing valid results, valid scores, valid original indices, and collected judge error messages."""
    found = MedianAggregationStrategy().aggregate_repeated_results([{"error": "x"}, *scored(0.5)], 2)
    assert isinstance(found, tuple)
    assert found == RepeatedResults([{"score": 0.5, "judge": 0}], [0.5], [1], ["judge 0: x"])


def test_value_error_when_no_judge_results_are_provided_or_every_one_is_invalid():
    """ValueError: If no judge results are provided, or if every result is invalid after filtering out missing scores
    and explicit errors.
    """
    for wrong in ([], [{"error": "x"}, {"score": None}, {}]):
        with pytest.raises(ValueError, match=r"no judge results|gave a valid result"):
            MedianAggregationStrategy().aggregate_repeated_results(wrong, 3)


def test_majority_selects_the_most_frequent_score():
    """Aggregate judge results by selecting the most frequent numeric score."""
    assert MajorityVoteAggregationStrategy().aggregate(scored(0.0, 1.0, 0.0), 3)["score"] == 0.0


def test_majority_ties_go_to_the_median_strategy():
    """Ties are resolved by delegating to the median strategy so the result still maps to a real judge output."""
    votes = scored(0.2, 0.6, 0.4)
    by_median = MedianAggregationStrategy().aggregate(votes, 3)
    assert MajorityVoteAggregationStrategy().aggregate(votes, 3)["score"] == by_median["score"] == 0.4


def test_median_is_observed():
    """Aggregate judge results by selecting the observed median score."""
    assert MedianAggregationStrategy().aggregate(scored(0.9, 0.1, 0.3), 3)["score"] == 0.3


def test_median_of_an_even_number_is_the_upper_one():
    """For even-sized inputs, this strategy chooses the upper median instead of the arithmetic mean so the
    representative output still corresponds to an actual judge result.
    """
    chosen = MedianAggregationStrategy().aggregate(scored(0.1, 0.9, 0.3, 0.5), 4)
    assert (chosen["score"], chosen["judge"]) == (0.5, 3)


def test_empty_dict():
    """Empty dict returns aggregate_success=False and aggregate_score=0.0."""
    assert MetricsAggregator().aggregate({}) == AggregationResult(False, 0.0)


def test_compute_score_is_zero_if_empty():
    """Mean of quality-adjusted scores, or 0.0 if empty."""
    assert MetricsAggregator().compute_score({}) == 0.0


def test_compute_success_of_nothing_is_false():
    """False if any metric failed or if named_results is empty (no metrics evaluated implies no confidence)."""
    assert MetricsAggregator().compute_success({}) is False


def test_weighted_is_a_metrics_aggregator_with_two_arguments():
    """WeightedMetricsAggregator(weights, score_mapping). Bases: MetricsAggregator."""
    made = WeightedMetricsAggregator({"a": 1.0}, {"a": {1: 0.0}})
    assert isinstance(made, MetricsAggregator)
    assert (made.weights, made.score_mapping) == ({"a": 1.0}, {"a": {1: 0.0}})


def test_weighted_uses_the_rubric_score():
    """IMPORTANT: Uses result.rubric_score (pre-threshold integer), not result.score (normalized float), because
    score_mapping keys are {1, 2, 3} rubric integers.
    """
    aggregator = WeightedMetricsAggregator({"a": 2.0}, {"a": {1: 0.0, 2: 0.5, 3: 1.0}})
    assert aggregator.compute_score({"a": result(0.1, rubric=3)}) == 1.0


def test_a_mapping_is_a_dict_or_a_callable():
    """dict[int, float]: Maps rubric score integers to normalized floats. Callable[[float], float]: Function to
    transform rubric scores.
    """
    aggregator = WeightedMetricsAggregator({"a": 1.0, "b": 1.0}, {"a": {2: 0.5}, "b": lambda level: level / 4})
    assert aggregator.compute_score({"a": result(0.1, rubric=2), "b": result(0.1, rubric=3)}) == 0.625


def test_weighted_score_is_zero_without_results_or_weight():
    """Weighted aggregate score, or 0.0 if no results or zero total weight."""
    aggregator = WeightedMetricsAggregator({"a": 0.0}, {"a": {2: 0.5}})
    assert aggregator.compute_score({}) == 0.0
    assert aggregator.compute_score({"a": result(0.1, rubric=2)}) == 0.0


def test_a_strategy_is_built_from_enum_string_or_strategy():
    """Build an aggregation strategy from enum, string, or strategy input."""
    mine = AverageAggregationStrategy()
    assert isinstance(build_aggregation_strategy(AggregationMethod.AVERAGE), AverageAggregationStrategy)
    assert isinstance(build_aggregation_strategy("average"), AverageAggregationStrategy)
    assert build_aggregation_strategy(mine) is mine


def test_building_raises_value_error_and_type_error():
    """Raises: ValueError, TypeError."""
    with pytest.raises(ValueError, match="unknown aggregation method"):
        build_aggregation_strategy("best")
    with pytest.raises(TypeError, match="an aggregation method is"):
        build_aggregation_strategy(0.5)


def test_every_name_of_the_seed_is_public():
    """The names that the page documents."""
    documented = {
        "AggregationMethod",
        "AggregationResult",
        "AggregationSelector",
        "AverageAggregationStrategy",
        "BaseJudgeAggregator",
        "MajorityVoteAggregationStrategy",
        "MedianAggregationStrategy",
        "MetricsAggregator",
        "RepeatedResults",
        "WeightedMetricsAggregator",
        "build_aggregation_strategy",
        "score_agg",
    }
    assert documented <= set(aggregation.__all__)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("given", ["good", 0.5, None, ["score", 1]])
def test_type_error_when_the_input_type_is_rejected(strategy, given):
    """TypeError: If the implementation rejects the provided input type or strategy."""
    with pytest.raises(TypeError, match="judge 1's result is a mapping, not"):
        strategy().aggregate([{"score": 1.0}, given], 2)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_total_judges_counts_also_those_that_gave_no_result(strategy):
    """total_judges: Total number of judges configured for the evaluation run."""
    result = strategy().aggregate(scored(0.5), 3)
    assert (result["num_judges"], result["valid_judges"], result["failed_judges"]) == (3, 1, 2)
    with pytest.raises(ValueError, match="2 results came from a jury of 1; total_judges counts them all"):
        strategy().aggregate(scored(0.5, 0.5), 1)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_supporting_judge_context_is_kept(strategy):
    """Representative aggregated result containing the selected score, metadata, and supporting judge context."""
    result = strategy().aggregate([*scored(0.5, 0.5), {"error": "timed out"}], 3)
    assert result["judge_errors"] == ["judge 2: timed out"]
    assert result["individual_results"] == [*scored(0.5, 0.5), {"error": "timed out"}]
    assert (result["score_distribution"], result["agreement"]) == ({0.5: 2}, 1.0)


def test_weighted_errors_name_the_metric():
    """weights: Dictionary mapping metric names to their weights. score_mapping: to score transformations."""
    aggregator = WeightedMetricsAggregator({"a": 1.0, "b": 1.0}, {"a": {1: 0.0, 2: 1.0}})
    named = {"a": result(1.0, rubric=3), "b": result(1.0, rubric=1), "c": result(1.0, rubric=1)}
    with pytest.raises(ValueError, match="the weighted score has 3 problems") as error:
        aggregator.compute_score(named)
    assert error.value.problems == (
        "metric 'a' gave level 3, but its mapping knows [1, 2]",
        "metric 'b' has no score mapping",
        "metric 'c' has no weight",
    )
