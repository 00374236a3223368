"""Ceiling and floor: people against people and a constant, against each person and against a vote."""

import random

import pytest

from calibrant.agreement import (
    Measure,
    RatingCube,
    ceiling_and_floor,
    ceiling_and_floor_by_vote,
    majority,
)
from calibrant.errors import InputError, UnknownNameError

PEOPLE = ["ann", "bob", "cem"]


def study(n=120, seed=3, clusters=None, **right):
    draw = random.Random(seed)
    truth = [draw.choice("aab") for _ in range(n)]
    skill = {"judge": 0.85, **dict.fromkeys(PEOPLE, 0.8), **right}
    rows = {
        name: {item: one if draw.random() < share else draw.choice("ab") for item, one in enumerate(truth)}
        for name, share in skill.items()
    }
    return RatingCube.of(rows, clusters=clusters)


def agreed(cube, first, second):
    one, other = cube.answers(first), cube.answers(second)
    shared = set(one) & set(other)
    return sum(one[item] == other[item] for item in shared) / len(shared)


def test_the_ceiling_is_the_mean_of_each_person_against_each_other():
    cube = study()
    found = ceiling_and_floor(cube, "judge", humans=PEOPLE)
    pairs = [agreed(cube, one, other) for one in PEOPLE for other in PEOPLE if one != other]
    assert found.ceiling.value == pytest.approx(sum(pairs) / 6)
    assert found.judge.value == pytest.approx(sum(agreed(cube, "judge", name) for name in PEOPLE) / 3)


def test_the_floor_is_the_most_frequent_answer_given_to_everything():
    cube = study()
    found = ceiling_and_floor(cube, "judge", humans=PEOPLE)
    given = [value for name in PEOPLE for value in cube.answers(name).values()]
    assert found.constant == "a"
    assert found.floor.value == pytest.approx(given.count("a") / len(given))


def test_the_place_between_them_is_their_ratio():
    for found in (ceiling_and_floor(study(), "judge"), ceiling_and_floor_by_vote(study(), "judge")):
        expected = (found.judge.value - found.floor.value) / (found.ceiling.value - found.floor.value)
        assert found.relative.value == pytest.approx(expected)
        assert found.relative.lower < found.relative.value < found.relative.upper
        assert str(found).endswith(f"{expected:.2f} of the way from a constant to a person")


def test_by_vote_each_person_stands_against_the_vote_of_the_others():
    cube = study()
    found = ceiling_and_floor_by_vote(cube, "judge", humans=PEOPLE)
    shares = []
    for name in PEOPLE:
        vote = majority(cube, [other for other in PEOPLE if other != name])
        shares.append((vote.codes == cube.of_rater(name)).mean())
    assert found.ceiling.value == pytest.approx(sum(shares) / 3)
    assert found.judge.value == pytest.approx((majority(cube, PEOPLE).codes == cube.of_rater("judge")).mean())


def test_by_vote_the_floor_is_the_constant_against_the_vote():
    cube = study()
    found = ceiling_and_floor_by_vote(cube, "judge", humans=PEOPLE)
    codes = majority(cube, PEOPLE).codes
    assert found.floor.value == pytest.approx(max((codes == code).mean() for code in (0, 1)))


def test_votes_of_another_policy_can_be_given():
    cube = study(n=40)
    names = {"": PEOPLE, **{name: [other for other in PEOPLE if other != name] for name in PEOPLE}}
    votes = {name: majority(cube, who, ties="abstain") for name, who in names.items()}
    found = ceiling_and_floor_by_vote(cube, "judge", humans=PEOPLE, votes=votes)
    kept = [(votes[name].codes, cube.of_rater(name)) for name in PEOPLE]
    shares = [(vote[vote >= 0] == row[vote >= 0]).mean() for vote, row in kept]
    assert found.ceiling.value == pytest.approx(sum(shares) / 3)


@pytest.mark.parametrize("function", [ceiling_and_floor, ceiling_and_floor_by_vote])
@pytest.mark.parametrize("name", ["accuracy", "kappa", "matthews", "f1", "balanced_accuracy", "ac1"])
def test_every_measure_has_bounds(function, name):
    found = function(study(), "judge", name, humans=PEOPLE)
    assert found.floor.value <= found.ceiling.value
    assert found.ceiling.lower < found.ceiling.value < found.ceiling.upper
    assert found.to_json()["relative"]["method"] == "jackknife"


def test_the_floor_of_kappa_is_zero():
    assert ceiling_and_floor(study(), "judge", "kappa").floor.value == pytest.approx(0.0)


@pytest.mark.parametrize("function", [ceiling_and_floor, ceiling_and_floor_by_vote])
def test_one_person_has_no_ceiling(function):
    found = function(study(), "judge", humans=["ann"])
    assert found.judge.value is not None
    assert found.ceiling.reason == "a ceiling needs two people who rated the same items"
    assert (found.constant, found.relative.value) == (None, None)
    assert str(found).endswith("a ceiling needs two people who rated the same items")


@pytest.mark.parametrize("function", [ceiling_and_floor, ceiling_and_floor_by_vote])
def test_people_who_never_rated_the_same_item_have_no_ceiling(function):
    halves = {"judge": {1: "x", 2: "y"}, "ann": {1: "x"}, "bob": {2: "y"}}
    found = function(RatingCube.of(halves), "judge")
    assert found.judge.value == 1.0
    assert found.ceiling.reason == "no two people rated the same item, so there is no ceiling"


@pytest.mark.parametrize("function", [ceiling_and_floor, ceiling_and_floor_by_vote])
def test_a_judge_without_an_answer_has_no_bounds(function):
    found = function(RatingCube.of({"judge": {1: None}, "ann": {1: "x"}, "bob": {1: "x"}}), "judge")
    assert found.judge.value is None
    assert found.ceiling.value is None
    assert found.ceiling.reason


def test_people_who_agree_no_more_than_a_constant_leave_no_way_to_measure():
    rows = {"judge": "xyxyxy", "ann": "xxxxxy", "bob": "xxxxyx", "cem": "yxxxxx"}
    found = ceiling_and_floor(RatingCube.of({name: dict(enumerate(row)) for name, row in rows.items()}), "judge")
    assert found.ceiling.value < found.floor.value
    assert found.relative.value is None
    assert "people agree no more than a constant answer does" in found.relative.reason
    assert found.warnings[0].startswith("people score no higher than a constant answer (0.67 and 0.83)")


def test_equal_people_have_a_ceiling_of_one_without_an_interval():
    found = ceiling_and_floor(RatingCube.of({name: dict(enumerate("xyxyxx")) for name in ("judge", "a", "b")}), "judge")
    assert found.ceiling.value == 1.0
    assert found.ceiling.lower is None
    assert found.ceiling.reason == "no interval: the items do not say how far it varies"


def test_clusters_widen_the_bounds():
    items = range(120)
    alone, shared = study(), study(clusters={item: item // 12 for item in items})
    for cube, method in ((alone, "jackknife"), (shared, "cluster jackknife")):
        for function in (ceiling_and_floor, ceiling_and_floor_by_vote):
            assert function(cube, "judge").ceiling.method == method


def test_a_constant_is_the_best_for_the_measure_and_not_the_most_frequent():
    # F1 of "b" counts answers "b" alone: always "b" scores, always "a" scores 0.
    found = ceiling_and_floor(study(), "judge", Measure(name="f1", positive="b"))
    assert found.constant == "b"
    assert found.floor.value > 0.4


def test_unknown_names_are_refused():
    with pytest.raises(UnknownNameError, match="unknown rater 'jugde'"):
        ceiling_and_floor_by_vote(study(), "jugde")
    with pytest.raises(UnknownNameError, match="unknown measure 'acuracy'"):
        ceiling_and_floor_by_vote(study(), "judge", "acuracy")
    with pytest.raises(InputError, match="there is nobody to compare 'judge' with"):
        ceiling_and_floor_by_vote(RatingCube.of({"judge": {1: "x"}}), "judge")
