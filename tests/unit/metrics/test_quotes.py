"""Quotations are found whatever their spelling, and not where they are not."""

import pytest

from calibrant.metrics.quotes import is_quoted, normalised_text, sentences

SOURCE = "The “Old House” opens at 10:00 — on weekdays.\nIt costs 112 euros."


@pytest.mark.parametrize(
    "quote",
    [
        'the "old house"',
        "'THE OLD HOUSE'".replace("OLD HOUSE", "“Old House”"),
        "opens  at\n10:00 - on weekdays",
        '"It costs 112 euros."',
        "opens at ... 112 euros",
        "opens at […] 112 euros",
        "10:00",
    ],
)
def test_a_quotation_is_found(quote):
    assert is_quoted(quote, [SOURCE])


@pytest.mark.parametrize(
    "quote", ["12 euros", "It costs 11", "112 euros ... opens at", "", "...", "old houses", "10:0"]
)
def test_a_quotation_is_not_found_where_it_is_not(quote):
    assert not is_quoted(quote, [SOURCE])


def test_the_parts_of_a_quotation_are_from_one_source():
    assert not is_quoted("first ... second", ["first", "second"])
    assert is_quoted("second", ["first", "second"])


def test_ligatures_and_wide_letters_are_plain_ones():
    assert normalised_text("\ufb01le \uff21") == "file a"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It costs 3.50 euros. Yes.", ["It costs 3.50 euros.", "Yes."]),
        ("Ask Dr. Kim. She knows.", ["Ask Dr. Kim.", "She knows."]),
        ("- first\n- second\n\n* third", ["first", "second", "third"]),
        ('He said "no." Then he left.', ['He said "no.', "Then he left."]),
        ("  \n ... ", []),
        ("no mark at all", ["no mark at all"]),
    ],
)
def test_sentences_end_at_marks_and_lines(text, expected):
    found = sentences(text)
    assert [one.strip('-* "') for one in found] == [one.strip('-* "') for one in expected]
