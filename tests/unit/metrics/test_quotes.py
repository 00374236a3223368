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


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("日本の首都", "東京は日本の首都です。"),
        ("ประเทศไทย", "กรุงเทพเป็นเมืองหลวงของประเทศไทยและใหญ่ที่สุด"),
        ("«Ouvert de dix à six»", "Il est écrit « ouvert de dix à six » sur la porte."),
        ("10-20 euros", "It costs 10\u201120 euros."),
        ("\u22125 degrees", "It was -5 degrees."),
        ("it\u00b4s a 5\u2033 pipe", "It's a 5\" pipe."),
        ("zero width", "ze\u200bro width\ufeff"),
        ("opens . . . weekdays", "It opens at ten on weekdays."),
        ("Open from ten", "**Open** from ten"),
        ("**Open** from ten", "Open from ten"),
    ],
)
def test_other_scripts_and_other_spellings_do_not_hide_a_quotation(quote, source):
    assert is_quoted(quote, [source])


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        ("It costs 3", "It costs 3.5 euros."),
        ("5 euros", "It costs 3.5 euros."),
        ("112 euros", "It costs 1,112 euros."),
        ("It costs 1", "It costs 1,112 euros."),
        ("कर", "काम करा"),
        ("1年", "21年"),
    ],
)
def test_a_part_of_a_number_or_word_is_no_quotation(quote, source):
    assert not is_quoted(quote, [source])


def test_a_number_at_the_end_of_a_sentence_or_of_a_list_is_whole():
    assert is_quoted("It costs 3.", ["It costs 3. 5 people came."])
    assert is_quoted("rooms 1, 2", ["See rooms 1, 2, 3."])


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
        ("1. Open the lid.\n2) Press start.\n  10. Wait.", ["Open the lid.", "Press start.", "Wait."]),
        ("東京は首都です。人口は多い。", ["東京は首都です。", "人口は多い。"]),
        ("यह एक वाक्य है। दूसरा वाक्य।", ["यह एक वाक्य है।", "दूसरा वाक्य।"]),
        ("كيف الحال؟ جيد.", ["كيف الحال؟", "جيد."]),
        ("no mark at all", ["no mark at all"]),
    ],
)
def test_sentences_end_at_marks_and_lines(text, expected):
    found = sentences(text)
    assert [one.strip('-* "') for one in found] == [one.strip('-* "') for one in expected]
