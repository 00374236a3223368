"""TREC files: the exact way is the definition, and the quick way gives the same rows."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.errors import InputError
from calibrant.readers.rows import Rows
from calibrant.readers.trec import QRELS, RANKING, read_trec


def rows_of(path, layout=RANKING, **settings):
    rows = Rows.joined([*read_trec(path, layout, **settings)])
    return list(zip(rows.queries.to_list(), rows.documents.to_list(), rows.values.tolist(), strict=True))


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_ranking_is_query_document_and_score(tmp_path):
    path = written(tmp_path / "a.run", "q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1e-3 tag\n")
    assert rows_of(path) == [("q1", "d1", 2.5), ("q1", "d2", 0.001)]


def test_qrels_are_query_document_and_grade(tmp_path):
    path = written(tmp_path / "a.qrels", "q1 0 d1 2\nq1 0 d2 -1\n")
    assert rows_of(path, QRELS) == [("q1", "d1", 2.0), ("q1", "d2", -1.0)]


@pytest.mark.parametrize(
    "text",
    [
        "q1 Q0 d1 1 2.5 tag",
        "q1\tQ0\td1\t1\t2.5\ttag\n",
        "  q1   Q0 d1  1 2.5 tag  \n",
        "\n\nq1 Q0 d1 1 2.5 tag\n\n\n",
        "q1 Q0 d1 1 2.5 tag\r\n",
        "q1 Q0 d1 1 +2.50 tag\n",
        "q1 Q0 d1 1 25e-1 tag\n",
        "\ufeffq1 Q0 d1 1 2.5 tag\n",
        "q1 Q0 d1 1 2.5 tag\x0b\x0c\n",
    ],
)
def test_spacing_is_of_no_account(tmp_path, text):
    assert rows_of(written(tmp_path / "a.run", text)) == [("q1", "d1", 2.5)]


@pytest.mark.parametrize("quoted", ['"d1', "d'1", "d,1", "d;1", "#d1", "日本", "a\u00a0b", "NULL", "nan"])
def test_ids_are_taken_as_they_stand(tmp_path, quoted):
    path = written(tmp_path / "a.run", f"q1 Q0 {quoted} 1 2 tag\nq1 Q0 d2 2 1 tag\n")
    assert [document for _, document, _ in rows_of(path)] == [quoted, "d2"]


def test_numbers_that_look_like_ids_stay_texts(tmp_path):
    assert rows_of(written(tmp_path / "a.run", "007 Q0 1.0 1 2 tag\n")) == [("007", "1.0", 2.0)]


@pytest.mark.parametrize(
    ("score", "value"), [("inf", float("inf")), ("-Infinity", float("-inf")), (".5", 0.5), ("5.", 5.0)]
)
def test_numbers_are_those_of_c(tmp_path, score, value):
    assert rows_of(written(tmp_path / "a.run", f"q1 Q0 d1 1 {score} tag\n")) == [("q1", "d1", value)]


@pytest.mark.parametrize("score", ["1_000", "0x1p3", "1,5", "--1", "1e", "infin", "\u0661"])
def test_what_c_would_not_read_is_no_number(tmp_path, score):
    with pytest.raises(InputError, match="line 1: expected a number as the score, got"):
        rows_of(written(tmp_path / "a.run", f"q1 Q0 d1 1 {score} tag\n"))


def test_gzip_is_known_by_its_first_bytes_and_not_by_its_name(tmp_path):
    path = written(tmp_path / "a.run", gzip.compress(b"q1 Q0 d1 1 2.5 tag\n"))
    assert rows_of(path) == [("q1", "d1", 2.5)]


def test_every_wrong_line_is_named_with_what_was_expected(tmp_path):
    path = written(tmp_path / "a.run", "q1 Q0 d1 1 2 t\nq1 Q0 d1 1 2\nq1 Q0 d2 2 x t\nq1 Q0 d3 3 1 t extra\n")
    with pytest.raises(InputError) as caught:
        rows_of(path)
    assert caught.value.problems == (
        "line 2: expected 6 fields (query Q0 document rank score tag), got 5: 'q1 Q0 d1 1 2'",
        "line 3: expected a number as the score, got 'x'",
        "line 4: expected 6 fields (query Q0 document rank score tag), got 7: 'q1 Q0 d3 3 1 t extra'",
    )


def test_lines_are_counted_over_blocks(tmp_path):
    text = "".join(f"q{n} Q0 d{n} 1 {n} tag\n" for n in range(50)) + "broken\n"
    path = written(tmp_path / "a.run", text)
    with pytest.raises(InputError, match="line 51: expected 6 fields"):
        rows_of(path, block_bytes=64)


def test_a_line_longer_than_a_block_is_one_line(tmp_path):
    name = "d" * 500
    path = written(tmp_path / "a.run", f"q1 Q0 {name} 1 2 tag\nq1 Q0 d2 2 1 tag")
    assert rows_of(path, block_bytes=16) == [("q1", name, 2.0), ("q1", "d2", 1.0)]


def test_bytes_that_are_no_text_are_named(tmp_path):
    with pytest.raises(InputError, match="line 1: expected UTF-8 text, got"):
        rows_of(written(tmp_path / "a.run", b"q1 Q0 d\xff 1 2 tag\n"))


def test_reading_stops_after_a_hundred_problems(tmp_path):
    path = written(tmp_path / "a.run", "broken\n" * 5000)
    with pytest.raises(InputError, match=r"\(where reading stopped, after 100\) has 100 problems") as caught:
        rows_of(path)
    assert len(caught.value.problems) == 100


def test_no_lines_give_no_rows(tmp_path):
    assert rows_of(written(tmp_path / "a.run", "")) == rows_of(written(tmp_path / "b.run", " \n\n")) == []


def test_a_file_that_is_not_there_is_named_by_what_it_was_to_hold(tmp_path):
    with pytest.raises(InputError, match=r"there is no qrels file at .*no.qrels; give the path of a file that exists"):
        rows_of(tmp_path / "no.qrels", QRELS)


WHITE = " \t\r\n\v\f\x1c\x1d\x1e\x1f"
NAMES = st.text(st.characters(codec="ascii", min_codepoint=33, exclude_characters=WHITE), min_size=1, max_size=5)
SCORES = st.floats(allow_nan=False, allow_infinity=False)


@given(
    lines=st.lists(st.tuples(NAMES, NAMES, SCORES), max_size=20),
    gap=st.sampled_from([" ", "\t", "  ", " \t "]),
    end=st.sampled_from(["\n", "\r\n", "\n\n", " \n"]),
    size=st.integers(1, 200),
)
def test_whatever_the_spacing_and_the_blocks_the_rows_are_the_same(tmp_path_factory, lines, gap, end, size):
    text = "".join(gap.join([q, "Q0", d, "1", repr(s), "tag"]) + end for q, d, s in lines)
    path = written(tmp_path_factory.mktemp("trec") / "a.run", text)
    assert rows_of(path, block_bytes=size) == lines
