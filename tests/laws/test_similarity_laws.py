"""Similarities agree with the plain definitions that their fast forms stand for."""

from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.metrics.similarity import common_subsequence, edit_distance, matching_ratio

texts = st.text(alphabet="abcß é", max_size=40)


def plain_distance(first, second):
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(second, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def plain_subsequence(first, second):
    row = [0] * (len(second) + 1)
    for a in first:
        before = 0
        for j, b in enumerate(second, 1):
            before, row[j] = row[j], before + 1 if a == b else max(row[j], row[j - 1])
    return row[-1]


@given(texts, texts)
def test_the_edit_distance_is_that_of_the_table(first, second):
    assert edit_distance(first, second) == plain_distance(first, second)


@given(texts, texts)
def test_the_common_subsequence_is_that_of_the_table(first, second):
    assert common_subsequence(first, second) == plain_subsequence(first, second)


@given(texts, texts, texts)
def test_the_edit_distance_is_a_distance(first, second, third):
    assert edit_distance(first, second) == edit_distance(second, first)
    assert (edit_distance(first, second) == 0) == (first == second)
    assert edit_distance(first, third) <= edit_distance(first, second) + edit_distance(second, third)


@given(texts, texts)
def test_the_matching_ratio_is_that_of_the_standard_library(first, second):
    expected = SequenceMatcher(None, first, second, autojunk=False).ratio()
    assert matching_ratio(first, second) == pytest.approx(expected)
