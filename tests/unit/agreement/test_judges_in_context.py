"""The ceiling and the floor, judges against each other, and where people and a judge part."""

import json
import random

import pytest

from calibrant.agreement import RatingCube, ceiling_and_floor, compare_judges, disagreements
from calibrant.errors import InputError, UnknownNameError


def study(items=200, humans=3, seed=1, labels="abc", judges=None):
    draw = random.Random(seed)
    truth = [draw.choice(labels) for _ in range(items)]
    rights = {**(judges or {"judge": 0.8}), **{f"h{number}": 0.8 for number in range(humans)}}
    return {
        rater: {item: one if draw.random() < right else draw.choice(labels) for item, one in enumerate(truth)}
        for rater, right in rights.items()
    }


@pytest.mark.parametrize("measure", ["accuracy", "kappa", "f1", "matthews"])
def test_a_judge_like_a_person_stands_near_the_ceiling(measure):
    found = ceiling_and_floor(RatingCube.of(study()), "judge", measure)
    assert found.floor.value < found.ceiling.value
    assert found.relative.lower < 1.0 < found.relative.upper
    assert str(found).endswith("of the way from a constant to a person")
    json.dumps(found.to_json(), allow_nan=False)


def test_a_constant_judge_stands_at_the_floor():
    ratings = study(labels="aab")
    ratings["judge"] = dict.fromkeys(ratings["h0"], "a")
    found = ceiling_and_floor(RatingCube.of(ratings), "judge")
    assert found.constant == "a"
    assert found.floor.value == pytest.approx(found.judge.value)
    assert found.relative.value == pytest.approx(0.0)
    assert ceiling_and_floor(RatingCube.of(ratings), "judge", "kappa").floor.value == 0.0


def test_clusters_reach_the_bounds():
    cube = RatingCube.of(study(), clusters={item: item // 5 for item in range(200)})
    assert ceiling_and_floor(cube, "judge").relative.method == "cluster jackknife"


def test_labels_hardly_better_than_a_constant_are_warned_about():
    draw = random.Random(4)
    ratings = {
        name: {item: "y" if draw.random() < 0.95 else "n" for item in range(200)} for name in ("judge", "a", "b")
    }
    found = ceiling_and_floor(RatingCube.of(ratings), "judge")
    assert "such labels can hardly judge a judge" in found.warnings[0]
    assert found.relative.value is None
    assert found.relative.reason.startswith("people agree no more than a constant answer does")
    assert str(found).endswith(found.relative.reason)


@pytest.mark.parametrize(
    ("ratings", "measure", "reason"),
    [
        ({"judge": {1: "x"}, "a": {1: "x"}}, "accuracy", "a ceiling needs two people who rated the same items"),
        (
            {"judge": {1: "x", 2: "y"}, "a": {1: "x"}, "b": {2: "y"}},
            "accuracy",
            "no two people rated the same item, so there is no ceiling",
        ),
        ({"judge": {1: "x"}, "a": {2: "x"}}, "accuracy", "no item was rated by both"),
        (
            {name: {item: item + 0.5 for item in range(60)} for name in ("judge", "a", "b")},
            "spearman",
            "60 distinct values are more than 50, and no categories",
        ),
    ],
)
def test_bounds_that_cannot_be_had_have_reasons(ratings, measure, reason):
    found = ceiling_and_floor(RatingCube.of(ratings), "judge", measure)
    assert found.ceiling.reason == found.floor.reason == found.relative.reason == reason
    assert found.to_json()["constant"] is None


def test_two_items_are_too_few_for_more_than_a_value():
    same = {1: "x", 2: "y"}
    found = ceiling_and_floor(RatingCube.of({"judge": same, "a": same, "b": same}), "judge")
    assert found.ceiling.value == 1.0
    assert found.ceiling.reason == "no interval: the items do not say how far it varies"


def test_judges_that_differ_are_told_apart_and_others_are_not():
    cube = RatingCube.of(study(items=400, judges={"bad": 0.3, "good": 0.9, "fair": 0.88}))
    found = compare_judges(cube, ["bad", "good", "fair"], humans=["h0", "h1", "h2"])
    assert set(found.groups) == {tuple(found.scores)[:2], ("bad",)}
    assert [one.second for one in found.differences if one.p_holm < 0.05] == ["bad", "bad"]
    for one in found.differences:
        assert one.difference.lower <= one.difference.value <= one.difference.upper
        assert one.p <= one.p_holm
    assert "cannot be told apart: " in str(found)
    json.dumps(found.to_json(), allow_nan=False)


@pytest.mark.parametrize("measure", ["kappa", "f1"])
def test_judges_are_compared_by_any_measure(measure):
    cube = RatingCube.of(study(judges={"one": 0.9, "two": 0.4}), clusters={item: item // 4 for item in range(200)})
    found = compare_judges(cube, ["one", "two"], measure)
    assert found.differences[0].difference.value == pytest.approx(found.scores["one"].value - found.scores["two"].value)
    assert found.differences[0].difference.method == "cluster jackknife"
    assert found.groups == (("one",), ("two",))


def test_only_items_that_all_judges_rated_count():
    ratings = study(judges={"one": 0.9, "two": 0.9})
    ratings["two"] = {item: ratings["two"][item] for item in range(150)}
    assert compare_judges(RatingCube.of(ratings), ["one", "two"]).items == 150


def test_items_that_no_person_rated_add_nothing_to_a_comparison_of_judges():
    """Whatever the judges said of a thousand items without labels, n and p are those of the thirty with labels."""
    right = {item: "ab"[item % 2] for item in range(30)}
    wrong = {item: "ba"[item % 2] for item in range(30)}
    more = dict.fromkeys(range(30, 1030), "a")
    few = compare_judges(RatingCube.of({"right": right, "wrong": wrong, "kim": right}), ["right", "wrong"])
    many = RatingCube.of({"right": right | more, "wrong": wrong | more, "kim": right})
    found = compare_judges(many, ["right", "wrong"])
    assert found.items == found.differences[0].difference.n == 30
    assert found.differences == few.differences
    assert found.differences[0].p == pytest.approx(2 * 0.5**30)


def test_equal_judges_do_not_differ_and_opposite_ones_do():
    ratings = study(judges={"one": 0.9}, labels="ab")
    ratings["same"] = dict(ratings["one"])
    found = compare_judges(RatingCube.of(ratings), ["one", "same"])
    assert (found.differences[0].difference.value, found.differences[0].p) == (0.0, 1.0)
    assert found.groups == (("one", "same"),)
    right = {item: "ab"[item % 2] for item in range(30)}
    wrong = {item: "ba"[item % 2] for item in range(30)}
    apart = compare_judges(RatingCube.of({"right": right, "wrong": wrong, "kim": right}), ["wrong", "right"])
    assert apart.differences[0].p == pytest.approx(2 * 0.5**30)
    assert list(apart.scores) == ["right", "wrong"]


def test_judges_are_apart_only_where_p_value_and_interval_both_say_so():
    """Half an accuracy better on each of eight items: two labels of two people, of which `half` is always one."""
    items = range(8)
    kim, lee = dict.fromkeys(items, "x"), dict.fromkeys(items, "y")
    ratings = {"kim": kim, "lee": lee, "half": kim, "none": dict.fromkeys(items, "z")}
    few = compare_judges(RatingCube.of(ratings), ["half", "none"]).differences[0]
    share = 1 - 0.025 ** (1 / 8)
    assert few.difference.lower == pytest.approx(0.5 - share * 1.5)
    assert few.difference.lower < 0
    assert few.p_holm == 2 * 0.5**8
    assert compare_judges(RatingCube.of(ratings), ["half", "none"]).groups == (("half", "none"),)
    more = {name: dict.fromkeys(range(20), given[0]) for name, given in ratings.items()}
    assert compare_judges(RatingCube.of(more), ["half", "none"]).groups == (("half",), ("none",))


@pytest.mark.parametrize(
    ("ratings", "measure", "reason"),
    [
        ({"a": {1: "x"}, "b": {2: "x"}, "kim": {1: "x"}}, "accuracy", "no item was rated by all judges"),
        (
            {"a": {1: "x"}, "b": {1: "x"}, "kim": {2: "x"}},
            "accuracy",
            "nobody else rated the items that all judges rated",
        ),
        (
            {name: {item: item + 0.5 for item in range(60)} for name in ("a", "b", "kim")},
            "kappa",
            "60 distinct values are more than 50, and no categories",
        ),
        (
            {name: {1: {"x"}} for name in ("a", "b", "kim")},
            "kappa",
            "kappa compares single answers, and these are sets of labels",
        ),
    ],
)
def test_judges_that_cannot_be_compared_have_a_reason(ratings, measure, reason):
    found = compare_judges(RatingCube.of(ratings), ["a", "b"], measure)
    assert found.reason == reason
    assert str(found) == f"no comparison: {reason}"


def test_a_score_that_is_not_defined_leaves_no_difference():
    ratings = {"one": {1: "x", 2: "y", 3: "x"}, "flat": {1: "x", 2: "x", 3: "x"}, "kim": {1: "x", 2: "y", 3: "y"}}
    found = compare_judges(RatingCube.of(ratings), ["one", "flat"], "matthews")
    assert found.scores["flat"].value is None
    assert found.differences[0].difference.value is None
    assert (found.differences[0].p, found.differences[0].p_holm) == (None, None)


def test_one_item_gives_differences_without_p_values():
    found = compare_judges(RatingCube.of({"a": {1: "x"}, "b": {1: "y"}, "kim": {1: "x"}}), ["a", "b"])
    assert found.differences[0].difference.value == 1.0
    assert found.differences[0].p is None


def test_a_comparison_needs_two_judges_that_are_there():
    cube = RatingCube.of(study())
    with pytest.raises(InputError, match="a comparison needs at least two judges, not 1"):
        compare_judges(cube, ["judge", "judge"])
    with pytest.raises(UnknownNameError, match="unknown rater 'other'"):
        compare_judges(cube, ["judge", "other"])


RATINGS = {
    "judge": {1: "x", 2: "x", 3: "y", 4: "x", 5: "x"},
    "a": {1: "x", 2: "y", 3: "x", 4: "y", 5: "x"},
    "b": {1: "x", 2: "y", 3: "y", 4: "y"},
    "c": {2: "y", 3: "x", 4: "y", 6: "x"},
    "d": {4: "y"},
}


def test_disagreements_are_listed_apart_with_what_everyone_said():
    found = disagreements(RatingCube.of(RATINGS), "judge")
    assert [one.item for one in found.judge_differs] == ["4", "2"]
    assert [one.item for one in found.people_differ] == ["3"]
    assert (found.compared, found.agreed) == (4, 1)
    split = found.people_differ[0]
    assert (split.judge, split.answer, split.share) == ("y", "x", pytest.approx(2 / 3))
    assert dict(split.people) == {"a": "x", "b": "y", "c": "x"}
    assert str(found) == (
        "of 4 items, the judge and people agree on 1; people agree and the judge differs on 2, and people differ on 1"
    )


def test_how_far_people_must_agree_can_be_chosen():
    found = disagreements(RatingCube.of(RATINGS), "judge", agreement=0.6)
    assert [one.item for one in found.judge_differs] == ["4", "2", "3"]
    assert not found.people_differ
    with pytest.raises(InputError, match=r"agreement is a share above one half and up to 1, not 0\.5"):
        disagreements(RatingCube.of(RATINGS), "judge", agreement=0.5)


def test_rows_are_flat_for_a_table():
    rows = disagreements(RatingCube.of(RATINGS), "judge").to_rows()
    assert rows[1] == {
        "item": "2",
        "kind": "judge_differs",
        "judge": "x",
        "most_people": "y",
        "share": 1.0,
        "human:a": "y",
        "human:b": "y",
        "human:c": "y",
    }
    assert [row["kind"] for row in rows] == ["judge_differs", "judge_differs", "people_differ"]


def test_a_tie_among_people_is_a_difference_and_shows_the_first_answer():
    found = disagreements(RatingCube.of({"judge": {1: 2}, "a": {1: 2}, "b": {1: 1}}), "judge")
    assert (found.people_differ[0].answer, found.people_differ[0].share) == (1, 0.5)


@pytest.mark.parametrize(("measure", "lowest"), [("accuracy", 0.0), ("kappa", -1.0), ("f1", 0.0)])
def test_bounds_of_few_items_stay_on_the_scale_of_the_measure(measure, lowest):
    rows = {"judge": "xyxyxyxx", "ann": "xyxyxyxy", "bob": "xyxyxyyx", "cem": "xxxyxyxx"}
    found = ceiling_and_floor(
        RatingCube.of({name: dict(enumerate(row)) for name, row in rows.items()}), "judge", measure
    )
    for one in (found.ceiling, found.floor):
        assert one.lower is None or lowest <= one.lower <= one.value <= one.upper <= 1.0
    assert found.ceiling.upper == 1.0


def test_a_difference_of_judges_is_at_most_that_of_all_and_nothing():
    rows = {"kim": "xyxyx", "right": "xyxyx", "wrong": "yxxxy"}
    cube = RatingCube.of({name: dict(enumerate(row)) for name, row in rows.items()})
    difference = compare_judges(cube, ["right", "wrong"]).differences[0].difference
    assert (difference.value, difference.upper) == (0.8, 1.0)


def test_judges_that_differ_on_no_item_have_the_interval_of_equal_values():
    """At most a share 1 - 0.025^(1/5) of all items can be others: none of five was."""
    rows = {"kim": "xyxyx", "one": "xyxyy", "two": "xyxyy"}
    found = compare_judges(RatingCube.of({name: dict(enumerate(row)) for name, row in rows.items()}), ["one", "two"])
    difference = found.differences[0]
    share = 1 - 0.025 ** (1 / 5)
    assert (difference.difference.value, difference.p) == (0.0, 1.0)
    assert (difference.difference.lower, difference.difference.upper) == pytest.approx((-share, share))
    assert difference.difference.method == "equal values"
    assert found.groups == (("one", "two"),)
