"""Tables of rankings and qrels: what their columns may be called, hold, and lack."""

import gzip

import numpy as np
import polars as pl
import pytest

from calibrant.errors import InputError
from calibrant.readers.columns import (
    DOCUMENT_NAMES,
    GRADE_NAMES,
    GRADES,
    QUERY_NAMES,
    SCORE_NAMES,
    SCORES,
    as_frame,
    csv_rows,
    may_be_blank,
    parquet_rows,
    rows_of_frame,
)


def rows(frame, columns=SCORES):
    found, has_numbers = rows_of_frame(frame, columns, "table")
    return found.queries.to_list(), found.documents.to_list(), found.values.tolist(), has_numbers


def csv_of(path):
    found, has_numbers = csv_rows(path, SCORES)
    return found.queries.to_list(), found.documents.to_list(), found.values.tolist(), has_numbers


def refused(frame, columns=SCORES):
    with pytest.raises(InputError) as raised:
        rows_of_frame(frame, columns, "table")
    return str(raised.value)


@pytest.mark.parametrize("query", QUERY_NAMES)
@pytest.mark.parametrize("document", DOCUMENT_NAMES[:3])
def test_query_and_document_go_by_their_usual_names(query, document):
    assert rows(pl.DataFrame({document: ["a"], "score": [1.5], query: ["q"]})) == (["q"], ["a"], [1.5], True)


@pytest.mark.parametrize("number", SCORE_NAMES)
def test_a_score_goes_by_its_usual_names(number):
    assert rows(pl.DataFrame({"query": ["q"], "doc": ["a"], number: [2]}))[2:] == ([2.0], True)


@pytest.mark.parametrize("number", GRADE_NAMES)
def test_a_grade_goes_by_its_usual_names(number):
    assert rows(pl.DataFrame({"query": ["q"], "doc": ["a"], number: [2]}), GRADES)[2] == [2.0]


def test_upper_case_and_space_around_a_name_are_nothing():
    assert rows(pl.DataFrame({" Query ": ["q"], "DOCID": ["a"], "Score": [1.0]})) == (["q"], ["a"], [1.0], True)


def test_other_columns_are_nothing():
    frame = pl.DataFrame({"query": ["q"], "doc": ["a"], "score": [1.0], "note": [None], "when": ["now"]})
    assert rows(frame) == (["q"], ["a"], [1.0], True)


def test_ranks_are_an_order_and_lose_to_scores():
    frame = pl.DataFrame({"query": ["q", "q"], "doc": ["a", "b"], "rank": [2, 1]})
    assert rows(frame)[2:] == ([-2.0, -1.0], True)
    assert rows(frame.with_columns(score=pl.Series([9.0, 8.0])))[2] == [9.0, 8.0]


def test_without_any_number_a_ranking_has_the_order_of_its_rows():
    assert rows(pl.DataFrame({"query": ["q"], "doc": ["a"]})) == (["q"], ["a"], [0.0], False)


def test_qrels_need_grades():
    assert refused(pl.DataFrame({"query": ["q"], "doc": ["a"], "rank": [1]}), GRADES) == (
        "table has no column 'grade' (nor relevance, rel, label, judgment); it has 'query, doc, rank'"
    )


def test_a_missing_column_names_what_there_is():
    assert refused(pl.DataFrame({"question": ["q"], "doc": ["a"]})) == (
        "table has no column 'query' (nor query_id, qid, q_id, topic, topic_id); it has 'question, doc'"
    )
    assert "table has no column 'document' (nor document_id" in refused(pl.DataFrame({"query": ["q"], "text": ["a"]}))


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([7, 8], dtype=pl.Int64),
        pl.Series([7, 8], dtype=pl.UInt8),
        pl.Series([7.0, 8.0]),
        pl.Series(["7", "8"]),
        pl.Series(["7", "8"], dtype=pl.Categorical),
        pl.Series([7, "8"], dtype=pl.Object),
    ],
)
def test_ids_become_the_texts_that_they_were_written_as(values):
    found = rows(pl.DataFrame({"query": values, "doc": values, "score": [1.0, 2.0]}))
    assert found[:2] == (["7", "8"], ["7", "8"])


@pytest.mark.parametrize("blank", [None, "", " ", "\t", "\u00a0", "\u2003 "])
def test_a_blank_id_is_named_by_its_row(blank):
    message = refused(pl.DataFrame({"query": ["q", blank], "doc": ["a", "b"], "score": [1.0, 2.0]}))
    assert message == f"table has 1 problem:\n  row 2: expected a text or a whole number as the query, got {blank!r}"


@pytest.mark.parametrize("text", ["é", " a", "\u00a0a", "~", "\U0001f600", "a b"])
def test_an_id_with_odd_characters_is_an_id(text):
    assert rows(pl.DataFrame({"query": [text], "doc": [text], "score": [1.0]}))[:2] == ([text], [text])


@pytest.mark.parametrize(
    ("texts", "may_be"), [(["a", "Z-9"], False), (["a", ""], True), (["\u00a0"], True), ([" "], True), ([], False)]
)
def test_blank_texts_are_suspected_by_their_first_character(texts, may_be):
    assert may_be_blank(pl.Series(texts, dtype=pl.String)) is may_be


def test_every_wrong_cell_is_named_up_to_a_limit():
    message = refused(pl.DataFrame({"query": ["q"] * 300, "doc": ["a"] * 300, "score": ["x"] * 300}))
    assert message.startswith("table has 100 problems:\n  row 1: expected a number as the score, got 'x'\n  row 2:")


def test_numbers_in_text_columns_are_numbers():
    frame = pl.DataFrame({"query": ["q"] * 3, "doc": ["a", "b", "c"], "score": ["1e-3", " 2", "0.12345678901234567"]})
    wrong = "row 2: expected a number as the score, got ' 2'"
    assert wrong in refused(frame)
    assert rows(frame[[0, 2]])[2] == [0.001, 0.12345678901234567]


@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.parametrize("is_packed", [False, True])
def test_a_table_in_text_has_the_separator_of_its_header(tmp_path, separator, is_packed):
    path = tmp_path / "run.csv"
    text = f"query{separator}doc{separator}score\nq1{separator}a{separator}0.5\n".encode()
    path.write_bytes(gzip.compress(text) if is_packed else text)
    assert csv_of(path) == (["q1"], ["a"], [0.5], True)


def test_csv_of_windows_with_a_mark_and_quotes_is_read(tmp_path):
    path = tmp_path / "run.csv"
    path.write_bytes('\ufeffquery,doc,score\r\n"what, where?",a,1\r\n"é ""x""",b,2\r\n'.encode())
    assert csv_of(path)[:3] == (["what, where?", 'é "x"'], ["a", "b"], [1.0, 2.0])


def test_ids_in_csv_keep_their_zeros(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query,doc,score\n007,0012,1\n")
    assert csv_of(path)[:2] == (["007"], ["0012"])


@pytest.mark.parametrize("is_packed", [False, True])
def test_what_is_wrong_in_csv_is_named_by_its_line_in_the_file(tmp_path, is_packed):
    path = tmp_path / "run.csv"
    text = b'query,doc,score\n"two\nlines",a,1\n\nq,,2\nq,b,high\n,c,3\n'
    path.write_bytes(gzip.compress(text) if is_packed else text)
    with pytest.raises(InputError) as raised:
        csv_rows(path, SCORES)
    assert str(raised.value).splitlines() == [
        f"{path} has 3 problems:",
        "  line 5: expected a text or a whole number as the doc, got ''",
        "  line 6: expected a number as the score, got 'high'",
        "  line 7: expected a text or a whole number as the query, got ''",
    ]


def test_a_line_of_csv_with_too_few_or_too_many_fields_is_named(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("query,doc,score\nq,a,1\nq,b\nq,c,2,3\n")
    with pytest.raises(InputError) as raised:
        csv_rows(path, SCORES)
    assert str(raised.value).splitlines()[1:] == [
        "  line 3: expected 3 fields, got 2",
        "  line 4: expected 3 fields, got 4",
    ]


def test_a_csv_that_is_packed_and_cut_short_is_wrong_input(tmp_path):
    path = tmp_path / "run.csv.gz"
    path.write_bytes(gzip.compress(b"query,doc,score\n" + b"q,a,1\n" * 999)[:-12])
    with pytest.raises(
        InputError, match=r"run\.csv\.gz is a gzip file that cannot be read to its end \(.*copied whole"
    ):
        csv_rows(path, SCORES)


def test_parquet_is_read_slice_by_slice_with_the_columns_it_needs(tmp_path):
    path = tmp_path / "run.parquet"
    frame = pl.DataFrame({" Qid": list("qqqrrrr"), "docno": list("abcdefg"), "score": range(7), "text": ["long"] * 7})
    frame.write_parquet(path)
    parts = list(parquet_rows(path, SCORES, slice_rows=3))
    assert [len(part) for part, _ in parts] == [3, 3, 1]
    assert [document for part, _ in parts for document in part.documents] == list("abcdefg")


def test_an_empty_parquet_table_has_no_rows(tmp_path):
    path = tmp_path / "run.parquet"
    texts = dict.fromkeys(["query", "doc", "score"], pl.String)
    pl.DataFrame(schema=texts).write_parquet(path)
    assert [len(part) for part, _ in parquet_rows(path, SCORES)] == [0]


@pytest.mark.parametrize("content", [b"", b"q1 Q0 a 1 0.5 t\n", b"PAR1 and no more"])
def test_what_is_called_parquet_and_is_not_is_wrong_input(tmp_path, content):
    path = tmp_path / "run.parquet"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"run\.parquet cannot be read as a Parquet file: "):
        list(parquet_rows(path, SCORES))


def test_a_frame_is_taken_as_it_is_and_a_lazy_one_collected():
    frame = pl.DataFrame({"query": ["q"]})
    assert as_frame(frame) is frame
    assert as_frame(frame.lazy()).equals(frame)
    assert as_frame({"query": ["q"]}) is None
    assert as_frame(np.zeros(3)) is None
