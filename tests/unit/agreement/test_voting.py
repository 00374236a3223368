"""What most people said, and votes as raters of their own."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.agreement import RatingCube, majority
from calibrant.agreement.voting import with_votes
from calibrant.errors import UnknownNameError


def cube(**raters):
    return RatingCube.of({name: dict(enumerate(row)) for name, row in raters.items()})


def said(vote):
    return [vote.values[code] if code >= 0 else None for code in vote.codes]


def test_the_most_frequent_answer_is_the_vote():
    assert said(majority(cube(a="xxy", b="xyy", c="xyx"))) == ["x", "y", "y"]


def test_of_tied_answers_the_first_of_the_alphabet_or_none():
    tied = cube(a=["x", "b"], b=["y", "a"])
    assert said(majority(tied)) == ["x", "a"]
    vote = majority(tied, ties="abstain")
    assert said(vote) == [None, None]
    assert (vote.ties, vote.abstained) == (2, 2)


def test_ties_of_numbers_go_to_the_smallest():
    assert said(majority(cube(a=[10, 9], b=[9, 10]))) == [9, 9]


def test_an_item_that_nobody_rated_has_no_vote_and_is_no_tie():
    vote = majority(cube(a=["x", None], b=["x", None]))
    assert said(vote) == ["x", None]
    assert (vote.ties, vote.abstained) == (0, 0)


def test_one_vote_alone_decides():
    assert said(majority(cube(a=["x", None, "y"], b=[None, "y", None]))) == ["x", "y", "y"]


def test_voters_may_be_named_in_any_order():
    three = cube(a="xx", b="yy", c="yx")
    assert said(majority(three, ["b", "a"])) == said(majority(three, ["a", "b"])) == ["x", "x"]
    assert said(majority(three, ["c"])) == ["y", "x"]


def test_sets_are_voted_on_label_by_label_and_half_is_a_tie():
    sets = cube(a=[["x", "y"], ["x"]], b=[["x"], []], c=[["y"], ["x"]])
    assert said(majority(sets)) == [frozenset({"x", "y"}), frozenset({"x"})]
    half = majority(cube(a=[["x"]], b=[[]]))
    assert (said(half), half.ties) == ([frozenset()], 1)
    assert said(majority(cube(a=[["x"]], b=[[]]), ties="abstain")) == [None]


def test_a_set_that_nobody_gave_can_be_the_vote():
    vote = majority(cube(a=[["x", "y"]], b=[["y", "z"]], c=[["x", "z"]]))
    assert said(vote) == [frozenset({"x", "y", "z"})]


def test_nothing_at_all_is_no_vote():
    assert said(majority(cube(a=[None, None], b=[None, None]))) == [None, None]


def test_an_unknown_policy_lists_those_there_are():
    with pytest.raises(UnknownNameError, match="unknown policy for ties 'last'; expected one of: abstain, first"):
        majority(cube(a="x"), ties="last")


def test_votes_stand_beside_the_raters_and_leave_them_as_they_were():
    three = cube(a=["x", "y", None], b=["x", "x", "y"], c=["y", "y", "y"])
    voted = with_votes(three, {"most": majority(three), "without c": majority(three, ["a", "b"])})
    assert voted.raters == ("a", "b", "c", "most", "without c")
    assert voted.answers("a") == three.answers("a")
    assert voted.answers("most") == {"0": "x", "1": "y", "2": "y"}
    assert voted.answers("without c") == {"0": "x", "1": "x", "2": "y"}


def test_values_that_only_a_vote_gave_are_added_in_order():
    sets = cube(a=[["x", "y"], ["z"]], b=[["y", "z"], []], c=[["x", "z"], []])
    voted = with_votes(sets, {"most": majority(sets)})
    assert set(sets.values) < set(voted.values)
    assert voted.answers("most") == {"0": frozenset({"x", "y", "z"}), "1": frozenset()}
    assert [voted.answers(name) for name in "abc"] == [sets.answers(name) for name in "abc"]


def test_clusters_and_failures_stay():
    given_cube = RatingCube.of({"a": {1: "x", 2: "y"}}, clusters={1: "d", 2: "d"})
    failed = RatingCube(items=("1", "2"), raters=("a",), values=("x", "y"), codes=given_cube.codes * 0 - 2,
                        clusters=given_cube.clusters)  # fmt: skip
    voted = with_votes(failed, {"most": majority(given_cube)})
    assert voted.of_rater("a").tolist() == [-2, -2]
    assert voted.clusters is failed.clusters


rows = st.lists(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=4, max_size=4), min_size=1, max_size=6)


@settings(max_examples=80, deadline=None)
@given(rows)
def test_the_vote_is_the_first_of_the_most_counted(people):
    vote = majority(cube(**{f"r{number}": row for number, row in enumerate(people)}))
    for place, answer in enumerate(said(vote)):
        counts = Counter(row[place] for row in people if row[place] is not None)
        most = max(counts.values(), default=0)
        assert answer == min((one for one, count in counts.items() if count == most), default=None)


@settings(max_examples=60, deadline=None)
@given(rows)
def test_abstaining_differs_from_the_first_only_where_there_is_a_tie(people):
    given_cube = cube(**{f"r{number}": row for number, row in enumerate(people)})
    first, abstained = majority(given_cube), majority(given_cube, ties="abstain")
    pairs = list(zip(said(first), said(abstained), strict=True))
    assert sum(one != other for one, other in pairs) == first.ties == abstained.abstained
    assert all(other in {one, None} for one, other in pairs)
