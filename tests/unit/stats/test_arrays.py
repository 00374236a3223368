"""What is checked before anything is computed."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from calibrant.errors import InputError, UnknownNameError, WrongTypeError
from calibrant.stats.arrays import cluster_codes, cluster_sums, count, finite_values, probability, tail_level


@pytest.mark.parametrize(
    "given", [[1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.int8), pl.Series([1, 2]), [True, 2], range(1, 3)]
)
def test_rows_of_any_kind_are_floats(given):
    found = finite_values(given)
    assert found.tolist() == [1.0, 2.0]
    assert found.dtype == np.float64


def test_no_values_are_a_row_of_none():
    assert finite_values([]).shape == (0,)


@pytest.mark.parametrize(("given", "shape"), [(1.0, "()"), ([[1.0]], "(1, 1)")])
def test_what_is_no_row_says_its_shape(given, shape):
    with pytest.raises(InputError) as error:
        finite_values(given, "scores")
    assert str(error.value) == f"scores must be one row of numbers, not shape {shape}"


def test_a_table_is_asked_for_by_its_columns():
    assert finite_values([[1, 2], [3, 4]], columns=True).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(InputError, match=r"differences must be a table of items and columns, not shape \(2,\)"):
        finite_values([1, 2], "differences", columns=True)


@pytest.mark.parametrize("given", ["abc", ["a"], [None, {}], [[1], [1, 2]]])
def test_what_is_no_number_is_shown(given):
    with pytest.raises(WrongTypeError, match="scores must be numbers, not"):
        finite_values(given, "scores")


def test_a_row_of_a_table_with_a_number_that_is_none_is_named():
    with pytest.raises(InputError) as error:
        finite_values([[1, 2], [3, np.nan], [np.inf, 0]], "differences", columns=True)
    assert [problem[:10] for problem in error.value.problems] == ["position 1", "position 2"]


def test_none_among_numbers_is_no_number():
    with pytest.raises(InputError, match="position 1: nan is not a finite number"):
        finite_values([1.0, None])


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        ([], []),
        (["b", "a", "b"], [0, 1, 0]),
        ([7, 7.0, "7"], [0, 0, 1]),
        ([(1, 2), (1, 2)], [0, 0]),
        (np.array([3, 1, 3]), [0, 1, 0]),
        (np.array(["x", "y"]), [0, 1]),
    ],
)
def test_clusters_are_numbered_as_they_appear(labels, codes):
    assert cluster_codes(labels, len(codes)).tolist() == codes


def test_sums_of_clusters_are_in_the_order_of_their_numbers():
    assert cluster_sums(np.array([1.0, 2.0, 4.0]), np.array([1, 0, 1])).tolist() == [2.0, 5.0]


@pytest.mark.parametrize("number", [3, 3.0, np.int64(3), np.uint8(3), np.float64(3), True + 2])
def test_whole_numbers_of_any_kind_are_counts(number):
    assert count(number, "n") == 3
    assert type(count(number, "n")) is int


@pytest.mark.parametrize("number", [2.5, "3", None, [3], float("nan"), float("inf")])
def test_what_is_no_whole_number_is_shown(number):
    with pytest.raises(WrongTypeError, match="n must be a whole number, not"):
        count(number, "n")


def test_a_count_has_its_least():
    assert count(2, "n", least=2) == 2
    with pytest.raises(InputError, match="n must be at least 2, not 1"):
        count(1, "n", least=2)


@pytest.mark.parametrize("number", [0, 1, -0.5, 2, float("nan")])
def test_a_probability_lies_strictly_between_nothing_and_certainty(number):
    assert probability(0.5, "alpha") == 0.5
    with pytest.raises(InputError, match="alpha must lie between 0 and 1, not"):
        probability(number, "alpha")


def test_one_side_puts_all_of_the_error_there():
    assert tail_level(0.95, "two") == pytest.approx(0.975)
    assert tail_level(0.95, "lower") == tail_level(0.95, "upper") == 0.95
    with pytest.raises(UnknownNameError, match="unknown side 'left'; expected one of: lower, two, upper"):
        tail_level(0.95, "left")


@pytest.mark.parametrize("wrong", ["0.95", None, True, [0.5]])
def test_a_level_that_is_no_number_is_named(wrong):
    with pytest.raises(WrongTypeError, match="level must be a number between 0 and 1, not "):
        probability(wrong, "level")


@pytest.mark.parametrize("right", [0.5, np.float32(0.5), np.float64(0.5), Fraction(1, 2)])
def test_any_real_number_is_a_probability(right):
    assert probability(right, "level") == 0.5
