"""Where a judge and people part: two lists, each beginning with what is worth most to look at."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.agreement import RatingCube, disagreements
from calibrant.errors import InputError, UnknownNameError


def cube(**rows):
    return RatingCube.of({name: dict(enumerate(row)) for name, row in rows.items()})


def items(listed):
    return [one.item for one in listed]


def test_both_lists_and_what_went_together_make_up_what_was_compared():
    found = disagreements(cube(judge="xxyy", a="xyyx", b="xyxx"), "judge")
    assert (items(found.judge_differs), items(found.people_differ)) == (["1", "3"], ["2"])
    assert (found.compared, found.agreed) == (4, 1)
    assert str(found) == (
        "of 4 items, the judge and people agree on 1; people agree and the judge differs on 2, and people differ on 1"
    )


def test_items_without_the_judge_or_with_one_person_are_not_compared():
    found = disagreements(cube(judge=["x", None, "x"], a=["y", "y", "y"], b=[None, "y", "y"]), "judge")
    assert (found.compared, items(found.judge_differs)) == (1, ["2"])


def test_the_first_list_begins_with_what_most_people_agree_on():
    found = disagreements(cube(judge="xxx", a="yyy", b="yyy", c=["y", None, "y"], d=[None, None, "y"]), "judge")
    assert items(found.judge_differs) == ["2", "0", "1"]


def test_the_second_list_begins_with_what_people_agree_on_least():
    found = disagreements(cube(judge="xxx", a="xxx", b="xxy", c="yxz", d="yyw"), "judge")
    assert items(found.people_differ) == ["2", "0", "1"]
    assert [one.share for one in found.people_differ] == [0.25, 0.5, 0.75]


def test_how_many_must_agree_can_be_lowered():
    rows = cube(judge="xy", a="yy", b="yy", c="xy")
    assert items(disagreements(rows, "judge").people_differ) == ["0"]
    lowered = disagreements(rows, "judge", agreement=0.6)
    assert (items(lowered.judge_differs), items(lowered.people_differ)) == (["0"], [])


@pytest.mark.parametrize("agreement", [0.5, 0.0, 1.01, -1])
def test_a_share_that_is_no_majority_is_refused(agreement):
    with pytest.raises(InputError, match=f"agreement is a share above one half and up to 1, not {agreement}"):
        disagreements(cube(judge="x", a="x"), "judge", agreement=agreement)


def test_the_people_may_be_named():
    rows = cube(judge="x", a="y", b="y", c="x")
    assert items(disagreements(rows, "judge", humans=["a", "b"]).judge_differs) == ["0"]
    with pytest.raises(UnknownNameError, match="unknown rater 'd'"):
        disagreements(rows, "judge", humans=["d"])


def test_a_record_holds_what_everybody_said():
    [one] = disagreements(cube(judge="x", a="y", b="y", c=[None]), "judge").judge_differs
    assert (one.kind, one.judge, one.answer, one.share) == ("judge_differs", "x", "y", 1.0)
    assert dict(one.people) == {"a": "y", "b": "y"}
    assert one.to_row() == {
        "item": "0", "kind": "judge_differs", "judge": "x", "most_people": "y", "share": 1.0, "human:a": "y",
        "human:b": "y",
    }  # fmt: skip


def test_sets_and_truth_values_are_written_as_texts():
    [one] = disagreements(cube(judge=[["a"]], a=[["b", "a"]], b=[["a", "b"]]), "judge").judge_differs
    assert (one.to_row()["judge"], one.to_row()["most_people"]) == ("{a}", "{a, b}")
    [two] = disagreements(cube(judge=[True], a=[False], b=[False]), "judge").judge_differs
    assert (two.to_row()["judge"], two.to_row()["human:a"]) == ("true", "false")


def test_rows_are_the_first_list_and_then_the_second():
    found = disagreements(cube(judge="xxyy", a="xyyx", b="xyxx"), "judge")
    assert [(row["kind"], row["item"]) for row in found.to_rows()] == [
        ("judge_differs", "1"), ("judge_differs", "3"), ("people_differ", "2")
    ]  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["x", "y", None]), min_size=5, max_size=5), min_size=3, max_size=5))
def test_every_compared_item_is_in_one_place(rows):
    found = disagreements(cube(judge=rows[0], **{f"p{n}": row for n, row in enumerate(rows[1:])}), "judge")
    listed = items(found.judge_differs) + items(found.people_differ)
    assert len(set(listed)) == len(listed)
    assert len(listed) + found.agreed == found.compared
    for one in found.judge_differs:
        assert set(one.people.values()) == {one.answer} != {one.judge}
    for one in found.people_differ:
        assert len(set(one.people.values())) > 1
