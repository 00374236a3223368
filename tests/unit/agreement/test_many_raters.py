import random

import pytest

from calibrant.agreement import (
    RatingCube,
    fleiss_kappa,
    krippendorff_alpha,
    many_raters_ac1,
    many_raters_ac2,
    mean_pairwise_kappa,
)
from calibrant.errors import InputError, UnknownNameError
from calibrant.ratings import Failure, Rating

NOMINAL = [fleiss_kappa, krippendorff_alpha, many_raters_ac1, mean_pairwise_kappa]


def noisy(items, raters=4, seed=0, labels="abc", missing=0.0):
    draw = random.Random(seed)
    truth = [draw.choice(labels) for _ in range(items)]
    return {
        f"r{rater}": {
            item: right if draw.random() < 0.8 else draw.choice(labels)
            for item, right in enumerate(truth)
            if draw.random() >= missing
        }
        for rater in range(raters)
    }


@pytest.mark.parametrize("statistic", NOMINAL)
def test_the_interval_surrounds_the_value(statistic):
    found = statistic(noisy(200, missing=0.2))
    assert found.lower < found.value < found.upper
    assert found.n <= 200
    assert sum(found.prevalence.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("statistic", NOMINAL)
def test_clusters_that_repeat_items_widen_the_interval(statistic):
    once = noisy(50)
    often = {
        rater: {4 * item + copy: value for item, value in of.items() for copy in range(4)} for rater, of in once.items()
    }
    plain = statistic(often)
    clustered = statistic(RatingCube.of(often, clusters={item: item // 4 for item in range(200)}))
    assert clustered.value == pytest.approx(plain.value)
    assert clustered.upper - clustered.lower > 1.6 * (plain.upper - plain.lower)
    assert clustered.method == "cluster jackknife"


@pytest.mark.parametrize("statistic", [*NOMINAL, many_raters_ac2])
def test_one_rater_is_a_reason(statistic):
    found = statistic({"a": {1: 1, 2: 2}})
    assert found.value is None
    assert found.reason == "no item was rated by two raters"


@pytest.mark.parametrize("statistic", [*NOMINAL, many_raters_ac2])
def test_raters_who_all_say_one_thing_agree_perfectly(statistic):
    found = statistic({"a": {1: 1, 2: 1}, "b": {1: 1, 2: 1}})
    assert found.value == 1.0
    assert found.lower is None
    assert found.reason


@pytest.mark.parametrize("statistic", NOMINAL)
def test_perfect_agreement_keeps_an_interval(statistic):
    answers = {item: "ab"[item % 2] for item in range(80)}
    found = statistic({"a": answers, "b": answers, "c": answers})
    assert found.value == found.upper == 1.0
    assert 0.85 < found.lower < 1.0


def test_too_many_values_are_no_categories():
    found = fleiss_kappa({"a": {item: item for item in range(60)}, "b": {item: item + 1 for item in range(60)}})
    assert found.reason == "61 distinct values are more than 50, and no categories"
    assert mean_pairwise_kappa({"a": {item: item for item in range(60)}, "b": {0: 1}}).reason.startswith("60 distinct")


def test_sets_of_labels_have_alpha_alone():
    ratings = {"a": {1: {"x"}, 2: {"y"}, 3: set()}, "b": {1: {"x"}, 2: {"y"}, 3: {"x"}}}
    assert 0 < krippendorff_alpha(ratings).value < 1
    assert fleiss_kappa(ratings).reason == "fleiss_kappa compares single answers, and these are sets of labels"
    assert krippendorff_alpha(ratings, metric="ordinal").reason == "sets of labels have no ordinal scale"


def test_scales_that_do_not_fit_the_values_are_reasons():
    labels = {"a": {1: "x", 2: "y"}, "b": {1: "x", 2: "x"}}
    assert (
        krippendorff_alpha(labels, metric="interval").reason
        == "interval alpha needs numbers, and these are labels such as 'x'"
    )
    assert krippendorff_alpha(labels, metric="ordinal").reason.startswith("labels have no order of their own")
    assert many_raters_ac2(labels).reason.startswith("labels have no order of their own")
    assert mean_pairwise_kappa(labels, weights="linear").reason.startswith("labels have no order of their own")
    negative = {"a": {1: -1, 2: 2}, "b": {1: -1, 2: 1}}
    assert (
        krippendorff_alpha(negative, metric="ratio").reason
        == "ratio alpha needs numbers of at least 0, and there is -1"
    )


def test_labels_with_an_order_are_ranked_by_it():
    labels = {"a": {1: "low", 2: "mid", 3: "top"}, "b": {1: "low", 2: "mid", 3: "mid"}}
    numbers = {"a": {1: 1, 2: 2, 3: 3}, "b": {1: 1, 2: 2, 3: 2}}
    order = ["low", "mid", "top"]
    assert (
        krippendorff_alpha(labels, metric="ordinal", order=order).value
        == krippendorff_alpha(numbers, metric="ordinal").value
    )
    assert many_raters_ac2(labels, order=order).value == many_raters_ac2(numbers).value
    assert (
        mean_pairwise_kappa(labels, weights="quadratic", order=order).value
        == mean_pairwise_kappa(numbers, weights="quadratic").value
    )
    with pytest.raises(InputError, match="'mid' is not in it"):
        many_raters_ac2(labels, order=["low", "top"])


def test_unknown_names_are_listed():
    with pytest.raises(
        UnknownNameError, match="unknown metric 'cubic'; expected one of: interval, nominal, ordinal, ratio"
    ):
        krippendorff_alpha({"a": {1: 1}}, metric="cubic")
    with pytest.raises(UnknownNameError, match="unknown weights 'cubic'"):
        many_raters_ac2({"a": {1: 1}}, weights="cubic")


def test_coverage_counts_the_items_that_two_rated():
    timeout = Failure(code="judge_timeout", message="60 s")
    ratings = [Rating(item=str(item), criterion="c", rater="a", value="x") for item in range(3)]
    ratings += [
        Rating(item="0", criterion="c", rater="b", value="x"),
        Rating(item="1", criterion="c", rater="b", status="failed", failure=timeout),
    ]
    assert str(fleiss_kappa(ratings).coverage) == "1 rated, 1 failed, 1 skipped"


def test_pairs_without_a_common_item_are_left_out_of_the_mean():
    found = mean_pairwise_kappa({"a": {1: "x", 2: "y"}, "b": {1: "x", 2: "y"}, "c": {3: "x"}})
    assert found.value == 1.0
