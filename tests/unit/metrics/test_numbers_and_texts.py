"""The rules about texts at their edges: numbers as people write them, what is contained, lengths, patterns."""

import asyncio
import re

import pytest

from calibrant import EvalInput
from calibrant.errors import InputError
from calibrant.metrics import (
    ContainsMetric,
    ExactMatchMetric,
    GroundednessRule,
    LengthMetric,
    NumericMetric,
    RegexMetric,
    TopKAccuracy,
)
from calibrant.metrics.text import numbers_of


def result_of(metric, answer, reference=None):
    return asyncio.run(metric.evaluate(EvalInput(id="q1", answer=answer, ground_truth=reference)))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("5", [5.0]),
        ("It is 5.", [5.0]),
        ("5, 6 and 7", [5.0, 6.0, 7.0]),
        ("-5 and +6", [-5.0, 6.0]),
        ("\u22125 degrees", [-5.0]),
        (".5 and 0.5", [0.5, 0.5]),
        ("1,234,567.89", [1234567.89]),
        ("1e3 or 2.5E-2", [1000.0, 0.025]),
        ("12% of 50 %", [0.12, 0.5]),
        ("$5 and 7km", [5.0, 7.0]),
        ("version 1.2.3", []),
        ("v2 and x9", []),
        ("2024-05-17", [2024.0, 5.0, 17.0]),
        ("10:30", [10.0, 30.0]),
        ("1,23", [1.0, 23.0]),
        ("one or two", []),
        ("", []),
        ("NaN, inf", []),
    ],
)
def test_numbers_are_found_as_people_write_them(text, numbers):
    found = numbers_of(text)
    if text == "2024-05-17":  # a date's parts are numbers; whatever their sign, there are three of them
        assert [abs(one) for one in found] == numbers
    else:
        assert found == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("value", "numbers"),
    [(7, [7.0]), (7.5, [7.5]), (True, []), (None, []), ([1], []), (float("nan"), []), (float("inf"), [])],
)
def test_a_value_is_a_number_when_it_is_finite_and_no_bool(value, numbers):
    assert numbers_of(value) == numbers


@pytest.mark.parametrize(
    ("settings", "answer", "reference", "score"),
    [
        ({"absolute": 1}, "11", 10, 1.0),
        ({"absolute": 1}, "11.01", 10, 0.0),
        ({"relative": 0.1}, "90", 100, 1.0),
        ({"relative": 0.1}, "89", 100, 0.0),
        ({"absolute": 5, "relative": 0.01}, "104", 100, 1.0),
        ({"absolute": 0.5, "relative": 0.1}, "91", 100, 1.0),
        ({}, "0", 0, 1.0),
        ({}, "1e-300", 0, 0.0),
        ({"last": True}, "First 3, then 4", 4, 1.0),
        ({"last": True}, "none at all", 4, 0.0),
        ({}, "4 of 5", 4, 0.0),
    ],
)
def test_a_number_is_right_within_the_wider_tolerance(settings, answer, reference, score):
    assert result_of(NumericMetric(**settings), answer, reference).score == score


def test_what_was_expected_and_found_is_told():
    assert result_of(NumericMetric(), "4 of 5", 4).explanation == "expected one number, 4, found 2"
    assert result_of(NumericMetric(), "3", 4).explanation == "3 is not 4"
    assert result_of(NumericMetric(), "4.0", 4).explanation == "4 is 4"


@pytest.mark.parametrize("reference", ["4 or 5", float("nan"), "none", None, True])
def test_a_reference_that_is_no_one_number_is_an_error_of_the_dataset(reference):
    found = result_of(NumericMetric(), "4", reference)
    if reference is None:
        assert found.error.code == "missing_field"
    else:
        assert found.error.code == "metric_error"
        assert "the reference of item 'q1' is one number, not " in found.error.message


@pytest.mark.parametrize(
    ("metric", "answer", "reference", "score", "why"),
    [
        (ContainsMetric(), "It is 42.", 42, 1.0, ""),
        (ContainsMetric(), "It is 42.", [42, 43], 0.5, "'43' is missing"),
        (ContainsMetric(), "It is 42.", (4, 2), 1.0, ""),
        (ContainsMetric(), "Straße", "STRASSE", 1.0, ""),
        (ContainsMetric("a", excluded=["b", "c"]), "a b c", None, 0.0, "'b' is there; 'c' is there"),
        (ContainsMetric(["x", "y"]), "", None, 0.0, "'x' is missing; 'y' is missing"),
        (ContainsMetric("Ten", field="query"), None, None, None, "q1"),
    ],
)
def test_what_is_contained_is_counted_and_what_is_missing_told(metric, answer, reference, score, why):
    found = result_of(metric, answer, reference)
    assert found.score == score
    assert why in (found.explanation if score is not None else found.error.message)


@pytest.mark.parametrize(
    ("metric", "answer", "score", "why"),
    [
        (LengthMetric(least=1), "", 0.0, "0 words"),
        (LengthMetric(most=0), "", 1.0, "0 words"),
        (LengthMetric(most=2), " two\twords \n", 1.0, "2 words"),
        (LengthMetric(most=1, unit="characters"), "é", 1.0, "1 characters"),
        (LengthMetric(most=2, unit="characters"), "e\u0301", 1.0, "2 characters"),
        (LengthMetric(least=3, unit="lines"), "a\n\nb", 1.0, "3 lines"),
        (LengthMetric(most=1, unit="words"), "日本語の文", 1.0, "1 words"),
        (LengthMetric(), "x" * 100_000, 1.0, "1 words"),
    ],
)
def test_lengths_are_counted_in_the_unit(metric, answer, score, why):
    found = result_of(metric, answer)
    assert (found.score, found.explanation) == (score, why)


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: LengthMetric(least="3"), "least is a whole number, not '3'"),
        (lambda: LengthMetric(least=2.5), "least is a whole number, not 2.5"),
        (lambda: LengthMetric(most=True), "most is a whole number, not True"),
        (lambda: LengthMetric(least=None), "least is a whole number, not None"),
        (lambda: LengthMetric(least=-1), "length is between least and most, not between -1 and None"),
        (lambda: NumericMetric(absolute="1"), "absolute is a tolerance, finite and not negative, not '1'"),
        (lambda: NumericMetric(relative=float("inf")), "relative is a tolerance, finite and not negative, not inf"),
        (lambda: NumericMetric(relative=float("nan")), "relative is a tolerance, finite and not negative, not nan"),
        (lambda: RegexMetric(7), "pattern 7 is no regular expression"),
        (lambda: RegexMetric("[a-"), "pattern '[a-' is no regular expression"),
        (lambda: GroundednessRule(word_share="most"), "word_share is a share from 0 to 1, not 'most'"),
        (lambda: GroundednessRule(word_share=True), "word_share is a share from 0 to 1, not True"),
        (lambda: TopKAccuracy("3"), "k is a whole number from 1 on, or a list of them, not '3'"),
        (lambda: TopKAccuracy([1, 1.5]), "k is a whole number from 1 on, or a list of them, not [1, 1.5]"),
        (lambda: TopKAccuracy(True), "k is a whole number from 1 on, or a list of them, not True"),
    ],
)
def test_settings_as_plans_may_give_them_are_checked(make, problem):
    with pytest.raises(InputError, match=re.escape(problem)):
        make()


@pytest.mark.parametrize(
    ("metric", "answer", "reference", "score"),
    [
        (ExactMatchMetric(), "", "", 1.0),
        (ExactMatchMetric(), ["a", "b"], ["a", "b"], 1.0),
        (ExactMatchMetric(), {"a": 1}, {"a": 1}, 1.0),
        (ExactMatchMetric(), 1, 1.0, 0.0),
        (ExactMatchMetric(), "a", [], None),
        (ExactMatchMetric(normalise=True), "\u201cOld\u201d  House", '"old" house', 1.0),
        (ExactMatchMetric(normalise=True), 1, "1", 0.0),
        (ExactMatchMetric(field="query"), "never looked at", "x", None),
    ],
)
def test_an_exact_match_is_of_the_same_kind(metric, answer, reference, score):
    assert result_of(metric, answer, reference).score == score


def test_what_was_expected_instead_is_told_and_shortened():
    found = result_of(ExactMatchMetric(), "a", "b" * 500)
    assert found.explanation.startswith("expected 'bbb")
    assert len(found.explanation) < 120


@pytest.mark.parametrize(
    ("pattern", "settings", "answer", "score"),
    [
        ("^b", {}, "a\nb", 0.0),
        ("^b", {"flags": re.MULTILINE}, "a\nb", 1.0),
        ("a.b", {"flags": re.DOTALL}, "a\nb", 1.0),
        ("", {}, "", 1.0),
        ("", {"full": True}, "x", 0.0),
        (r"\bhé\b", {}, "un hé là", 1.0),
    ],
)
def test_a_pattern_is_looked_for_as_re_looks_for_it(pattern, settings, answer, score):
    found = result_of(RegexMetric(pattern, **settings), answer)
    assert found.score == score
    assert found.explanation == ("" if score else f"{pattern!r} was not found")
