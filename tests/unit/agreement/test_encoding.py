"""Columns as codes: ids that meet, kinds that are told apart, missing that stays missing."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.agreement.encoding import (
    ABSENT,
    FAILED,
    NOT_APPLICABLE,
    answer_column,
    check_kinds,
    encoded,
    encoded_ids,
    encoded_values,
    frame_column,
    hashable,
    places_in_order,
    value_order,
)
from calibrant.errors import InputError, WrongTypeError


def decoded(column):
    return [None if code < 0 else column.values[code] for code in column.codes]


plain = st.lists(st.one_of(st.none(), st.text(max_size=3), st.integers(-5, 5)), max_size=12)


@given(plain)
def test_what_is_encoded_decodes_to_itself(values):
    assert decoded(encoded(values)) == values


@given(plain)
def test_codes_are_numbered_by_first_appearance(values):
    column = encoded(values)
    assert list(column.values) == list(dict.fromkeys(value for value in values if value is not None))


@given(st.lists(st.one_of(st.none(), st.sampled_from(["b", "a", "c"])), max_size=12))
def test_ordered_values_decode_to_themselves_and_are_in_order(values):
    column = encoded_values(encoded(values))
    assert decoded(column) == values
    assert list(column.values) == sorted(column.values)


def test_nan_is_missing_and_numpy_scalars_are_plain():
    column = encoded_values(encoded([np.float64(2.0), math.nan, 1.0, None]))
    assert decoded(column) == [2.0, None, 1.0, None]
    assert all(type(value) is float for value in column.values)


def test_ids_of_every_writing_are_one():
    column = encoded_ids(encoded([7, "7", 7.0, "8"]), "item")
    assert column.values == ("7", "8")
    assert column.codes.tolist() == [0, 0, 0, 1]


def test_rows_without_an_id_are_all_named():
    with pytest.raises(InputError) as error:
        encoded_ids(encoded(["a", None, "b", None]), "rater")
    assert error.value.problems == ("row 2 has no rater", "row 4 has no rater")


@pytest.mark.parametrize("value", ["", "  ", 1.5, True])
def test_what_is_no_id_is_named(value):
    with pytest.raises(InputError, match="the table of ratings has 1 problem"):
        encoded_ids(encoded(["a", value]), "item")


def test_an_empty_column_has_nothing_to_name():
    assert encoded_ids(encoded([]), "item").values == ()
    assert encoded_values(encoded([])).values == ()


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([True, "yes"], "a bool such as True, a label such as 'yes'"),
        ([1, "1"], "a number such as 1, a label such as '1'"),
        ([frozenset({"a"}), "a"], "a set of labels such as .*, a label such as 'a'"),
        ([True, 2], "a bool such as True, a number such as 2"),
    ],
)
def test_values_of_unlike_kinds_are_refused_with_an_example_of_each(values, words):
    with pytest.raises(InputError, match=f"values must be of one kind, but there are {words}; write them alike"):
        check_kinds(values)


def test_whole_numbers_and_fractions_are_one_kind():
    check_kinds([1, 2.5, 3])
    assert encoded_values(encoded([2, 1.5])).values == (1.5, 2)


def test_true_and_one_in_one_column_are_refused_before_they_become_one_key():
    with pytest.raises(InputError, match="values must be of one kind"):
        answer_column([True, 1, False])


def test_lists_sets_and_tuples_of_labels_are_one_set():
    column = answer_column([["a", "b"], {"b", "a"}, ("b", "a"), ["a"], None])
    assert column.values == (frozenset({"a", "b"}), frozenset({"a"}))
    assert column.codes.tolist() == [0, 0, 0, 1, -1]
    assert hashable("a") == "a"


def test_sets_are_in_order_of_their_sorted_labels():
    column = encoded_values(answer_column([["b"], ["a", "c"], []]))
    assert column.values == (frozenset(), frozenset({"a", "c"}), frozenset({"b"}))
    assert value_order(frozenset({"b", "a"})) == ("a", "b")


@pytest.mark.parametrize("value", [math.inf, object(), b"x", frozenset({1})])
def test_what_is_no_value_is_refused(value):
    with pytest.raises((InputError, WrongTypeError)):
        encoded_values(encoded([value]))


def test_an_order_of_the_user_numbers_the_answers_and_keeps_what_is_missing():
    places = places_in_order(("high", "low", "mid"), ["low", "mid", "high"])
    codes = np.array([0, 1, 2, ABSENT, FAILED, NOT_APPLICABLE])
    assert places[codes].tolist() == [2, 0, 1, ABSENT, FAILED, NOT_APPLICABLE]


def test_an_order_may_name_answers_that_nobody_gave_and_must_name_all_that_were():
    assert places_in_order(("low",), ["low", "high"])[0] == 0
    with pytest.raises(InputError, match="order lists every answer from low to high, but 'mid' is not in it"):
        places_in_order(("low", "mid"), ["low", "high"])


@pytest.mark.parametrize(
    "series",
    [
        pl.Series("x", ["a", None, "b", "a"]),
        pl.Series("x", ["a", None, "b", "a"], dtype=pl.Categorical),
        pl.Series("x", ["a", None, "b", "a"], dtype=pl.Enum(["b", "a"])),
    ],
)
def test_columns_of_frames_of_every_text_type_are_encoded(series):
    assert decoded(frame_column(pl.DataFrame({"x": series}), "x")) == ["a", None, "b", "a"]


def test_nested_columns_of_frames_are_sets():
    frame = pl.DataFrame({"x": [["a", "b"], None, ["b", "a"]]})
    assert decoded(frame_column(frame, "x")) == [frozenset({"a", "b"}), None, frozenset({"a", "b"})]


def test_a_missing_column_lists_those_there_are():
    with pytest.raises(InputError, match="the frame has no column 'value'; it has: item, rater"):
        frame_column(pl.DataFrame({"item": [1], "rater": [1]}), "value")


def test_a_column_that_can_factorize_itself_is_asked_to():
    class Values(list):
        def tolist(self):
            return list(self)

    class Series:
        def factorize(self):
            return np.array([0, -1, 1, 0]), Values(["x", "y"])

    class Frame:
        columns = ("value",)

        def __getitem__(self, name):
            return Series()

    assert decoded(frame_column(Frame(), "value")) == ["x", None, "y", "x"]
