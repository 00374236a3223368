"""One rule for all files: a dataset, labels, results of raters and qrels are parted alike."""

import pytest

from calibrant.alignment.result_tables import read_table
from calibrant.readers.columns import GRADES, csv_rows
from calibrant.readers.separators import separator_of
from calibrant.readers.sources import row_source


@pytest.mark.parametrize(
    ("header", "separator"),
    [
        ("query,doc,grade", ","),
        ("query;doc;grade", ";"),
        ("query\tdoc\tgrade\n", "\t"),
        ("query,seen; by; whom", ","),
        ('"query, in full";doc', ";"),
        ("query", ","),
        ("", ","),
        ("x" * 200_000, ","),
    ],
)
def test_a_comma_parts_a_header_unless_only_another_does(header, separator):
    assert separator_of(header) == separator


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_every_reader_takes_the_same_file(tmp_path, separator):
    path = tmp_path / "both.csv"
    header = separator.join(["query", '"doc"', "grade"])
    path.write_text(f"{header}\nq1{separator}d1{separator}2\n", encoding="utf-8-sig")
    rows, _ = csv_rows(path, GRADES)
    assert (rows.queries.to_list(), rows.documents.to_list(), rows.values.tolist()) == (["q1"], ["d1"], [2.0])
    expected = {"query": "q1", "doc": "d1", "grade": "2"}
    assert [row.cells for row in row_source(path)] == [expected]
    assert read_table(path).to_dicts() == [expected]
