import random

import pytest

from calibrant.agreement import Measure, RatingCube, against_each, against_majority, cohens_kappa, majority
from calibrant.errors import UnknownNameError

NAMES = ["accuracy", "precision", "recall", "f1", "balanced_accuracy", "matthews", "kappa", "ac1"]


def study(items=120, humans=3, seed=1, labels="abc", missing=0.0):
    draw = random.Random(seed)
    truth = [draw.choice(labels) for _ in range(items)]
    raters = ["judge", *(f"h{number}" for number in range(humans))]
    return {
        rater: {
            item: right if draw.random() < 0.8 else draw.choice(labels)
            for item, right in enumerate(truth)
            if rater == "judge" or draw.random() >= missing
        }
        for rater in raters
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_average_is_the_plain_mean_over_people(name):
    found = against_each(RatingCube.of(study(missing=0.3)), "judge", name)
    assert found.average.value == pytest.approx(sum(one.value for one in found.each.values()) / 3)
    assert found.average.lower < found.average.value < found.average.upper
    assert list(found.each) == ["h0", "h1", "h2"]


def test_each_person_is_compared_as_two_sequences_would_be():
    ratings = study()
    found = against_each(RatingCube.of(ratings), "judge", "kappa").each["h1"]
    alone = cohens_kappa(list(ratings["h1"].values()), list(ratings["judge"].values()))
    assert (found.value, found.lower, found.upper) == (alone.value, alone.lower, alone.upper)
    assert (found.observed, found.expected) == (alone.observed, alone.expected)


def test_one_person_is_the_average():
    found = against_each(RatingCube.of(study(humans=1)), "judge", "kappa")
    assert found.average.to_json()["value"] == found.each["h0"].value
    assert (found.average.lower, found.average.upper) == (found.each["h0"].lower, found.each["h0"].upper)


def test_the_same_person_named_by_choice():
    found = against_each(RatingCube.of(study()), "judge", "accuracy", humans=["h2"])
    assert list(found.each) == ["h2"]


def test_who_cannot_be_compared_is_left_out_with_the_reason():
    ratings = {"judge": {1: "x", 2: "y"}, "kim": {1: "x", 2: "y"}, "lee": {3: "x"}}
    found = against_each(RatingCube.of(ratings), "judge", "kappa")
    assert found.average.value == 1.0
    assert dict(found.left_out) == {"lee": "no item was rated by both"}


def test_nobody_to_compare_with_is_a_reason():
    found = against_each(RatingCube.of({"judge": {1: "x"}, "kim": {2: "x"}}), "judge", "accuracy")
    assert found.average.value is None
    assert found.average.reason == "no item was rated by both"
    assert found.to_json()["left_out"] == {"kim": "no item was rated by both"}


def test_clusters_reach_the_average():
    cube = RatingCube.of(study(), clusters={item: item // 6 for item in range(120)})
    for name in ("accuracy", "f1"):
        found = against_each(cube, "judge", name).average
        assert found.method == "cluster jackknife"
        assert found.lower < found.value < found.upper


def test_many_unlike_patterns_take_the_jackknife():
    cube = RatingCube.of(study(items=3000, humans=7))
    found = against_each(cube, "judge", "kappa").average
    assert found.method == "jackknife"
    assert found.lower < found.value < found.upper


def test_many_values_are_ranked_or_matched():
    draw = random.Random(5)
    truth = [draw.random() for _ in range(90)]
    ratings = {
        name: {item: value + draw.gauss(0, 0.1) for item, value in enumerate(truth)} for name in ("judge", "a", "b")
    }
    cube = RatingCube.of(ratings)
    found = against_each(cube, "judge", "spearman").average
    assert found.method == "grouped jackknife"
    assert 0.5 < found.lower < found.value < found.upper < 1.0
    assert against_each(cube, "judge", "accuracy").average.value == 0.0
    assert against_each(cube, "judge", "kappa").average.value is None


def test_a_judge_who_agrees_with_all_keeps_an_interval():
    answers = {item: f"text {item}" for item in range(60)}
    found = against_each(RatingCube.of({"judge": answers, "a": answers, "b": answers}), "judge", "accuracy").average
    assert found.value == 1.0
    assert 0.9 < found.lower < 1.0


def test_weights_and_order_belong_to_the_measure():
    ratings = {
        "judge": {1: "low", 2: "top", 3: "mid"},
        "a": {1: "low", 2: "mid", 3: "mid"},
        "b": {1: "mid", 2: "top", 3: "low"},
    }
    measure = Measure(name="kappa", weights="linear", order=["low", "mid", "top"])
    found = against_each(RatingCube.of(ratings), "judge", measure)
    assert found.average.value == pytest.approx(sum(one.value for one in found.each.values()) / 2)


def test_a_tied_majority_takes_the_first_by_the_alphabet_and_counts_it():
    cube = RatingCube.of({"judge": {1: "b", 2: "a"}, "kim": {1: "b", 2: "b"}, "lee": {1: "a", 2: "b"}})
    found = against_majority(cube, "judge")
    assert (found.value, found.ties, found.abstained, found.n) == (0.0, 1, 0, 2)
    abstaining = against_majority(cube, "judge", ties="abstain")
    assert (abstaining.value, abstaining.ties, abstaining.abstained, abstaining.n) == (0.0, 1, 1, 1)


def test_nobodys_vote_is_no_vote():
    vote = majority(RatingCube.of({"a": {1: "x", 2: None}, "b": {1: "x", 2: None, 3: "y"}}))
    assert vote.codes.tolist() == [0, -1, 1]
    assert majority(RatingCube.of({})).codes.tolist() == []


def test_sets_are_voted_on_label_by_label():
    people = {"a": {1: {"x", "y"}, 2: {"x"}, 3: set()}, "b": {1: {"x"}, 2: {"y"}}, "c": {1: {"y"}, 2: {"x", "y"}}}
    vote = majority(RatingCube.of(people))
    assert [vote.values[code] for code in vote.codes] == [frozenset("xy"), frozenset("xy"), frozenset()]
    two = RatingCube.of({"judge": {1: {"x"}, 2: {"y"}}, "a": {1: {"x", "y"}, 2: {"y"}}, "b": {1: {"x"}, 2: {"y"}}})
    found = against_majority(two, "judge")
    assert (found.value, found.ties) == (1.0, 1)
    assert against_majority(two, "judge", ties="abstain").n == 1


def test_a_majority_that_nobody_gave_is_a_value_of_its_own():
    people = {"a": {1: {"x", "y"}}, "b": {1: {"y", "z"}}, "c": {1: {"x", "z"}}, "judge": {1: {"x"}}}
    found = against_majority(RatingCube.of(people), "judge")
    assert found.value == 0.0
    assert frozenset("xyz") in found.prevalence


def test_an_unknown_policy_is_refused():
    with pytest.raises(UnknownNameError, match="unknown policy for ties 'last'; expected one of: abstain, first"):
        majority(RatingCube.of({"a": {1: "x"}}), ties="last")
