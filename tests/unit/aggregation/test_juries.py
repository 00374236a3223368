from decimal import Decimal

import numpy as np
import pytest

from calibrant.aggregation import (
    AggregationMethod,
    AverageAggregationStrategy,
    BaseJudgeAggregator,
    MajorityVoteAggregationStrategy,
    MedianAggregationStrategy,
    RepeatedResults,
    build_aggregation_strategy,
)
from calibrant.errors import InputError, WrongTypeError

STRATEGIES = [MajorityVoteAggregationStrategy, MedianAggregationStrategy, AverageAggregationStrategy]


def outputs(*scores):
    return [{"score": score, "explanation": f"judge {place}"} for place, score in enumerate(scores)]


def aggregate(strategy, *scores, total=None):
    return strategy().aggregate(outputs(*scores), total or len(scores))


@pytest.mark.parametrize(
    ("scores", "score", "who"),
    [
        ([1.0, 0.0, 1.0], 1.0, "judge 0"),
        ([0.0, 1.0, 1.0], 1.0, "judge 1"),
        ([0.0, 0.5, 1.0], 0.5, "judge 1"),
        ([0.0, 1.0], 1.0, "judge 1"),
        ([0.2, 0.2, 0.8, 0.8], 0.8, "judge 2"),
        ([0.3], 0.3, "judge 0"),
        ([True, False, True], True, "judge 0"),
    ],
)
def test_majority_takes_the_most_frequent_score_and_the_median_on_ties(scores, score, who):
    result = aggregate(MajorityVoteAggregationStrategy, *scores)
    assert (result["score"], result["explanation"]) == (score, who)


def test_the_median_of_a_tie_is_over_all_votes_and_may_be_a_lone_one():
    result = aggregate(MajorityVoteAggregationStrategy, 0.0, 0.0, 0.5, 1.0, 1.0)
    assert result["score"] == 0.5
    assert result["tied"]


def test_majority_says_when_there_was_no_tie():
    assert not aggregate(MajorityVoteAggregationStrategy, 1.0, 1.0, 0.0)["tied"]


@pytest.mark.parametrize(
    ("scores", "score"),
    [([0.1, 0.9, 0.5], 0.5), ([0.1, 0.9, 0.5, 0.7], 0.7), ([0.4, 0.6], 0.6), ([1], 1)],
)
def test_median_is_a_real_score_and_the_upper_one_of_an_even_number(scores, score):
    assert aggregate(MedianAggregationStrategy, *scores)["score"] == score


def test_median_takes_the_first_judge_with_that_score():
    assert aggregate(MedianAggregationStrategy, 0.5, 0.0, 0.5, 1.0)["explanation"] == "judge 0"


def test_average_is_the_mean_with_the_fields_of_the_nearest_judge():
    result = AverageAggregationStrategy().aggregate(
        [{"score": 0.0, "rubric_score": 1}, {"score": 0.5, "rubric_score": 2}, {"score": 0.7, "rubric_score": 3}], 3
    )
    assert result["score"] == pytest.approx(0.4)
    assert result["rubric_score"] == 2
    assert result["representative_score"] == 0.5
    assert result["representative_judge"] == 1


@pytest.mark.parametrize("scores", [[0.0, 1.0], [0.1, 0.2], [0.2, 0.1], [0.1, 0.3], [0.7, 0.1]])
def test_judges_equally_near_to_the_mean_are_ranked_by_input_order(scores):
    assert aggregate(AverageAggregationStrategy, *scores)["explanation"] == "judge 0"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_failed_judges_are_left_out_counted_and_named(strategy):
    given = [{"score": 1.0}, {"error": "timed out"}, {"explanation": "?"}, {"score": float("nan")}, {"score": 1.0}]
    result = strategy().aggregate(given, 6)
    assert result["score"] == 1.0
    assert (result["num_judges"], result["valid_judges"], result["failed_judges"]) == (6, 2, 4)
    assert result["judge_errors"] == [
        "judge 1: timed out",
        "judge 2: it gave no score",
        "judge 3: its score is nan",
        "1 of 6 judges gave no result at all",
    ]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_result_says_how_the_jury_voted(strategy):
    given = outputs(1.0, 0.0, 1.0, 1.0)
    result = strategy().aggregate(given, 4)
    assert result["aggregation_method"] == strategy().strategy
    assert result["score_distribution"] == {0.0: 1, 1.0: 3}
    assert result["agreement"] == 0.75
    assert result["individual_results"] == given
    assert result["judge_errors"] == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_judges_own_results_are_not_changed(strategy):
    given = outputs(1.0, 0.0)
    strategy().aggregate(given, 2)
    assert given == outputs(1.0, 0.0)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_results_and_no_valid_result_raise_value_error(strategy):
    with pytest.raises(ValueError, match="there are no judge results to aggregate"):
        strategy().aggregate([], 3)
    with pytest.raises(ValueError, match="none of the 2 judges gave a valid result: judge 0: down; judge 1: it gave"):
        strategy().aggregate([{"error": "down"}, {"score": None}], 2)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_valid_score_that_is_no_number_raises_value_error_and_names_the_judge(strategy):
    with pytest.raises(ValueError, match="judge 1: 'good'"):
        strategy().aggregate([{"score": 1.0}, {"score": "good"}, {"error": "down"}], 3)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_result_that_is_no_mapping_raises_type_error(strategy):
    with pytest.raises(TypeError, match=r"judge 1's result is a mapping, not 0\.5"):
        strategy().aggregate([{"score": 1.0}, 0.5], 2)


def test_more_results_than_judges_is_an_error():
    with pytest.raises(InputError, match="3 results came from a jury of 2; total_judges counts them all"):
        MedianAggregationStrategy().aggregate(outputs(1.0, 1.0, 1.0), 2)


def test_an_empty_error_is_no_error():
    result = MedianAggregationStrategy().aggregate([{"score": 0.5, "error": None}, {"score": 0.5, "error": ""}], 2)
    assert result["valid_judges"] == 2


def test_repeated_results_are_results_scores_indices_and_errors():
    given = [{"error": "down"}, {"score": 0.5}, {"score": 1.0}]
    found = MedianAggregationStrategy().aggregate_repeated_results(given, 3)
    assert isinstance(found, RepeatedResults)
    results, scores, indices, errors = found
    assert results == given[1:]
    assert scores == [0.5, 1.0]
    assert indices == [1, 2]
    assert errors == ["judge 0: down"]


@pytest.mark.parametrize(
    ("selector", "strategy"),
    [
        (AggregationMethod.MEDIAN, MedianAggregationStrategy),
        ("median", MedianAggregationStrategy),
        ("Majority_Vote", MajorityVoteAggregationStrategy),
        ("average", AverageAggregationStrategy),
    ],
)
def test_a_strategy_is_built_from_its_enum_value_or_name(selector, strategy):
    assert type(build_aggregation_strategy(selector)) is strategy


def test_an_instance_is_returned_as_it_is():
    strategy = MedianAggregationStrategy()
    assert build_aggregation_strategy(strategy) is strategy


def test_an_unknown_name_raises_value_error():
    with pytest.raises(ValueError, match="unknown aggregation method 'mode'; expected one of: average, majority_vote"):
        build_aggregation_strategy("mode")


@pytest.mark.parametrize("selector", [None, 3, MedianAggregationStrategy])
def test_what_selects_nothing_raises_type_error(selector):
    with pytest.raises(TypeError, match="an aggregation method is an AggregationMethod, its name, or"):
        build_aggregation_strategy(selector)


def test_a_strategy_of_one_s_own_needs_two_members():
    class Strictest(BaseJudgeAggregator):
        @property
        def strategy(self):
            return AggregationMethod.MEDIAN

        def aggregate(self, all_results, total_judges):
            valid = self.aggregate_repeated_results(all_results, total_judges)
            return self.annotated(valid.scores.index(min(valid.scores)), valid, all_results, total_judges)

    assert Strictest().aggregate(outputs(0.5, 0.2, 0.9), 3)["score"] == 0.2


@pytest.mark.parametrize("wrong", [np.float32("nan"), Decimal("NaN"), float("inf"), 10**400], ids=str)
@pytest.mark.parametrize("method", list(AggregationMethod))
def test_a_number_of_any_kind_that_is_not_finite_is_no_vote(method, wrong):
    result = build_aggregation_strategy(method).aggregate([{"score": wrong}, {"score": 0.5}, {"score": 0.5}], 3)
    assert (result["score"], result["valid_judges"], result["agreement"]) == (0.5, 2, 1.0)
    assert "judge 0: its score is " in result["judge_errors"][0]


@pytest.mark.parametrize("total", [None, "3", True, 2.5])
def test_a_number_of_judges_that_is_none_raises_type_error(total):
    with pytest.raises(WrongTypeError, match="total_judges is how many judges were asked, not "):
        MedianAggregationStrategy().aggregate([{"score": 1.0}], total)
