import math

import numpy as np
import polars as pl
import pytest

from calibrant.agreement import RatingCube
from calibrant.errors import InputError, UnknownNameError, WrongTypeError
from calibrant.ratings import Failure, Rating

NESTED = {"judge": {1: "yes", 2: "no", 3: "yes"}, "kim": {"1": "yes", "2": "yes"}}
RECORDS = [(1, "judge", "yes"), (2, "judge", "no"), (3, "judge", "yes"), ("1", "kim", "yes"), ("2", "kim", "yes")]
CODES = [[1, 0, 1], [1, 1, -1]]


class PandasSeries:
    """What is used of a pandas Series: `factorize`."""

    def __init__(self, values):
        self.values = values

    def factorize(self):
        kept = list(dict.fromkeys(value for value in self.values if value is not None))
        return [kept.index(value) if value in kept else -1 for value in self.values], np.array(kept, object)


class PandasFrame(dict):
    @property
    def columns(self):
        return list(self)


def frame_columns():
    items, raters, values = zip(*[(str(item), rater, value) for item, rater, value in RECORDS], strict=True)
    return {"item": list(items), "rater": list(raters), "value": list(values)}


@pytest.mark.parametrize(
    "ratings",
    [
        NESTED,
        RECORDS,
        [{"item": item, "rater": rater, "value": value} for item, rater, value in RECORDS],
        [[item, rater, value] for item, rater, value in RECORDS],
        pl.DataFrame(frame_columns()),
        PandasFrame({name: PandasSeries(values) for name, values in frame_columns().items()}),
        [Rating(item=str(item), criterion="good", rater=rater, value=value) for item, rater, value in RECORDS],
    ],
    ids=["dict", "tuples", "mappings", "lists", "polars", "pandas", "Ratings"],
)
def test_every_form_of_ratings_gives_the_same_cube(ratings):
    cube = RatingCube.of(ratings)
    assert (cube.items, cube.raters, cube.values) == (("1", "2", "3"), ("judge", "kim"), ("no", "yes"))
    assert cube.codes.tolist() == CODES
    assert cube.codes.dtype == np.int32


def test_a_cube_is_its_own_cube():
    cube = RatingCube.of(NESTED)
    assert RatingCube.of(cube) is cube


def test_integer_string_and_whole_float_ids_join():
    cube = RatingCube.of({"a": {7: "x"}, "b": {"7": "x"}, "c": {7.0: "x"}})
    assert cube.items == ("7",)
    assert cube.codes.tolist() == [[0], [0], [0]]


def test_integer_ids_of_a_frame_join_those_of_a_dict():
    frame = pl.DataFrame({"item": [10, 9], "rater": ["a", "a"], "value": [0.5, None]})
    cube = RatingCube.of(frame)
    assert cube.items == ("10", "9")
    assert cube.codes.tolist() == [[0, -1]]


def test_columns_of_a_frame_may_have_other_names():
    frame = pl.DataFrame({"original_id": ["q"], "human_id": ["kim"], "label": ["x"]})
    cube = RatingCube.from_frame(frame, item="original_id", rater="human_id", value="label")
    assert (cube.items, cube.raters, cube.values) == (("q",), ("kim",), ("x",))


def test_none_and_nan_are_missing_and_no_label():
    cube = RatingCube.of({"a": {1: None, 2: math.nan, 3: 0.5}})
    assert cube.values == (0.5,)
    assert cube.codes.tolist() == [[-1, -1, 0]]


def test_an_empty_text_is_a_label():
    assert RatingCube.of({"a": {1: "", 2: "x"}}).values == ("", "x")


def test_values_are_in_order():
    assert RatingCube.of({"a": {1: 10, 2: 9, 3: 1.5}}).values == (1.5, 9, 10)
    assert RatingCube.of({"a": {1: True, 2: False}}).values == (False, True)


def test_numpy_scalars_become_plain_values():
    cube = RatingCube.of({"a": {1: np.float64(0.5), 2: np.int64(2)}})
    assert [type(value) for value in cube.values] == [float, int]


@pytest.mark.parametrize("labels", [["x", "y"], {"x", "y"}, ("x", "y"), frozenset({"x", "y"})])
def test_lists_of_labels_become_sets(labels):
    cube = RatingCube.of({"a": {1: labels, 2: []}} if isinstance(labels, list) else {"a": {1: labels, 2: frozenset()}})
    assert cube.values == (frozenset(), frozenset({"x", "y"}))


def test_lists_of_labels_in_a_frame_become_sets():
    frame = pl.DataFrame({"item": ["a", "b"], "rater": ["r", "r"], "value": [["x", "y"], None]})
    assert RatingCube.of(frame).codes.tolist() == [[0, -1]]


@pytest.mark.parametrize(
    ("values", "seen"),
    [
        ([True, "yes"], "a bool such as True, a label such as 'yes'"),
        ([1, "1"], "a number such as 1, a label such as '1'"),
        (["x", frozenset("x")], "a label such as 'x', a set of labels such as frozenset({'x'})"),
    ],
)
def test_values_of_unlike_kinds_are_refused(values, seen):
    with pytest.raises(InputError, match="values must be of one kind") as caught:
        RatingCube.of({"a": dict(enumerate(values))})
    assert seen in str(caught.value)


def test_true_and_1_are_told_apart_although_they_are_equal():
    with pytest.raises(InputError, match="a bool such as True"):
        RatingCube.of({"a": {1: True}, "b": {1: 1}})


def test_infinite_numbers_are_refused():
    with pytest.raises(InputError, match="a rating is a finite number, not inf"):
        RatingCube.of({"a": {1: math.inf}})


def test_ratings_given_twice_are_all_named():
    with pytest.raises(InputError) as caught:
        RatingCube.of([(1, "a", "x"), ("1", "a", "y"), (2, "b", "x"), (2, "b", "x")])
    assert str(caught.value) == (
        "the table of ratings has 2 problems:\n"
        "  item '1' is rated 2 times by 'a'; keep one\n"
        "  item '2' is rated 2 times by 'b'; keep one"
    )


def test_empty_ids_and_missing_ids_are_named():
    with pytest.raises(InputError, match="item is empty"):
        RatingCube.of([(" ", "a", "x")])
    with pytest.raises(InputError, match="row 2 has no rater"):
        RatingCube.of([(1, "a", "x"), (1, None, "x")])
    with pytest.raises(InputError, match=r"item is a text or a whole number, not 1.5"):
        RatingCube.of([(1.5, "a", "x")])


@pytest.mark.parametrize(
    ("ratings", "said"),
    [
        ([(1, "a")], r"record 1 is not \(item, rater, value\): \(1, 'a'\)"),
        ([(1, "a", "x"), "abc"], "record 2 is not"),
        ([{"item": 1, "value": 2}], "record 1 has no rater; it has: item, value"),
    ],
)
def test_a_record_of_another_shape_is_named(ratings, said):
    with pytest.raises(InputError, match=said):
        RatingCube.of(ratings)


@pytest.mark.parametrize("ratings", ["abc", 3])
def test_what_is_no_table_of_ratings_is_refused(ratings):
    with pytest.raises(WrongTypeError, match="ratings are a dict, records, Ratings or a frame"):
        RatingCube.of(ratings)


def test_a_rater_without_a_mapping_is_named():
    with pytest.raises(WrongTypeError, match="rater 'a' has a mapping of items to values, not 3"):
        RatingCube.of({"a": 3})


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="the frame has no column 'value'; it has: item, rater"):
        RatingCube.of(pl.DataFrame({"item": ["a"], "rater": ["b"]}))


def test_a_column_of_another_library_is_refused():
    with pytest.raises(WrongTypeError, match="a polars or pandas frame, not PandasFrame"):
        RatingCube.of(PandasFrame({"item": ["a"], "rater": ["b"], "value": ["c"]}))


def test_failures_keep_their_kind():
    timeout = Failure(code="judge_timeout", message="60 s")
    nothing = Failure(code="not_applicable", message="no claims")
    budget = Failure(code="budget_exhausted", message="0 left")
    ratings = [
        Rating(item="1", criterion="good", rater="j", value="x"),
        Rating(item="2", criterion="good", rater="j", status="failed", failure=timeout),
        Rating(item="3", criterion="good", rater="j", status="not_applicable", failure=nothing),
        Rating(item="4", criterion="good", rater="j", status="skipped", failure=budget),
        Rating(item="1", criterion="good", rater="j", role="vote", slot=1, value="y"),
    ]
    cube = RatingCube.of(ratings)
    assert cube.codes.tolist() == [[0, -2, -3, -1]]
    assert str(cube.coverage("j")) == "1 rated, 1 failed, 1 skipped, 1 not applicable"


def test_a_cube_holds_one_criterion():
    ratings = [Rating(item="1", criterion=name, rater="j", value=name) for name in ("good", "kind")]
    with pytest.raises(InputError, match="a cube holds one criterion; name one of: good, kind"):
        RatingCube.of(ratings)
    assert RatingCube.from_ratings(ratings, criterion="kind").values == ("kind",)
    with pytest.raises(UnknownNameError, match="unknown criterion 'polite'; expected one of: good, kind"):
        RatingCube.from_ratings(ratings, criterion="polite")


def test_clusters_are_numbered_by_item():
    cube = RatingCube.of({"a": {1: "x", 2: "y", 3: "x"}}, clusters={"1": "doc", 2: "letter", 3: "doc"})
    assert cube.clusters.tolist() == [0, 1, 0]


def test_an_item_without_a_cluster_is_named():
    with pytest.raises(InputError, match="item '2' has no cluster"):
        RatingCube.of({"a": {1: "x", 2: "y"}}, clusters={1: "doc"})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"codes": np.zeros((1, 2), np.int32)}, r"codes have a row a rater and a column an item, \(2, 3\)"),
        ({"codes": np.full((2, 3), 5, np.int32)}, "codes lie between -3 and 1"),
        ({"codes": np.full((2, 3), -4, np.int32)}, "codes lie between -3 and 1"),
        ({"clusters": np.zeros(2, np.int32)}, "clusters name one for each of the 3 items"),
    ],
)
def test_arrays_of_the_wrong_shape_are_refused(changes, said):
    cube = RatingCube.of(NESTED)
    fields = {name: getattr(cube, name) for name in ("items", "raters", "values", "codes", "clusters")}
    with pytest.raises(InputError, match=said):
        RatingCube(**{**fields, **changes})


def test_patterns_are_the_distinct_columns_with_their_counts():
    cube = RatingCube.of({"a": dict(enumerate("xxyyy")), "b": dict(enumerate("xxyyx"))})
    patterns, weights = cube.patterns()
    assert sorted(zip(patterns.T.tolist(), weights.tolist(), strict=True)) == [([0, 0], 2), ([1, 0], 1), ([1, 1], 2)]


def test_patterns_of_many_raters_do_not_overflow():
    raters = 70
    cube = RatingCube.of({f"r{number}": {1: "x", 2: "y", 3: "x"} for number in range(raters)})
    patterns, weights = cube.patterns()
    assert patterns.shape == (raters, 2)
    assert sorted(weights.tolist()) == [1, 2]


def test_an_empty_cube_is_a_cube():
    for nothing in ({}, [], pl.DataFrame({"item": [], "rater": [], "value": []})):
        assert RatingCube.of(nothing).codes.shape == (0, 0)


def test_raters_are_found_selected_and_listed():
    cube = RatingCube.of({"judge": {1: "x"}, "kim": {1: "x"}, "7": {1: "y"}})
    assert cube.select([7, "kim"]).raters == ("7", "kim")
    assert cube.others("judge") == ("kim", "7")
    assert cube.others("judge", [7]) == ("7",)
    with pytest.raises(UnknownNameError, match="unknown rater 'lee'; expected one of: 7, judge, kim"):
        cube.of_rater("lee")
    with pytest.raises(InputError, match="there is nobody to compare 'judge' with"):
        cube.others("judge", ["judge"])
