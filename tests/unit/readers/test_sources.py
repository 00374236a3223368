"""Rows at the edge: where each stands, what it holds, and how often it can be gone through."""

import csv
import json
from datetime import date

import numpy as np
import polars as pl
import pytest

from calibrant import EvalInput
from calibrant.errors import InputError, WrongTypeError
from calibrant.readers.sources import FORMATS, row_source


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def cells(source):
    return [row.cells for row in source]


def places(source):
    return [row.place for row in source]


@pytest.mark.parametrize("ending", ["csv", "CSV", "tsv", "jsonl", "ndjson", "json", "parquet"])
def test_every_format_is_read_and_named_by_its_file(tmp_path, ending):
    path = tmp_path / f"items.{ending}"
    texts = {
        "csv": "id,query\n1,Hi?\n",
        "tsv": "id\tquery\n1\tHi?\n",
        "jsonl": '{"id": "1", "query": "Hi?"}\n',
        "json": '[{"id": "1", "query": "Hi?"}]',
    }
    if ending == "parquet":
        pl.DataFrame({"id": ["1"], "query": ["Hi?"]}).write_parquet(path)
    else:
        written(path, texts["jsonl" if ending == "ndjson" else ending.lower()])
    source = row_source(path)
    assert source.name == "items"
    assert cells(source) == cells(source) == [{"id": "1", "query": "Hi?"}]
    assert f".{ending.lower()}" in FORMATS


def test_a_path_may_be_a_text_and_a_name_is_kept(tmp_path):
    path = written(tmp_path / "a.csv", "id\n1\n")
    assert row_source(str(path), name="chat").name == "chat"


def test_only_texts_are_marked_as_still_to_be_read(tmp_path):
    assert row_source(written(tmp_path / "a.csv", "id\n1\n")).is_text
    assert not row_source([{"id": 1}]).is_text
    assert not row_source(written(tmp_path / "a.jsonl", "{}\n")).is_text


def test_columns_are_known_where_there_is_a_header(tmp_path):
    assert row_source(written(tmp_path / "a.csv", " id , query\n")).columns == ("id", "query")
    assert row_source(pl.DataFrame({"id": [1]})).columns == ("id",)
    assert row_source([{"id": 1}]).columns is None
    assert row_source(written(tmp_path / "a.jsonl", "{}\n")).columns is None


def test_a_row_of_a_csv_is_named_by_the_line_it_begins_on(tmp_path):
    path = written(tmp_path / "a.csv", 'id,query\n1,"two\nlines"\n\n2,b\n')
    assert places(row_source(path)) == ["line 2", "line 5"]
    assert cells(row_source(path))[0]["query"] == "two\nlines"


def test_windows_line_ends_and_a_mark_of_utf_8_are_no_part_of_the_cells(tmp_path):
    path = written(tmp_path / "a.csv", b"\xef\xbb\xbfid,query\r\n1,Hi?\r\n")
    assert row_source(path).columns == ("id", "query")
    assert cells(row_source(path)) == [{"id": "1", "query": "Hi?"}]


def test_a_header_alone_holds_no_rows(tmp_path):
    assert cells(row_source(written(tmp_path / "a.csv", "id,query\n"))) == []
    assert cells(row_source(written(tmp_path / "a.jsonl", ""))) == []
    assert cells(row_source(written(tmp_path / "a.json", "[]"))) == []


def test_a_cell_may_be_longer_than_the_csv_module_allows_unless_told(tmp_path):
    before = csv.field_size_limit(131_072)
    try:
        path = written(tmp_path / "a.csv", f"id,contexts\n1,{'x' * 200_000}\n")
        assert len(cells(row_source(path))[0]["contexts"]) == 200_000
    finally:
        csv.field_size_limit(max(before, csv.field_size_limit()))


def test_scripts_of_all_kinds_survive(tmp_path):
    query = "¿Qué? 你好 🙂 שלום"
    path = written(tmp_path / "a.csv", f"query\n{query}\n")
    assert cells(row_source(path)) == [{"query": query}]
    path = written(tmp_path / "a.jsonl", json.dumps({"query": query}, ensure_ascii=False))
    assert cells(row_source(path)) == [{"query": query}]


def test_a_row_with_another_number_of_cells_has_a_problem_and_no_cells(tmp_path):
    rows = [*row_source(written(tmp_path / "a.csv", "id,query\n1\n2,b\n3,c,d\n"))]
    assert [(row.place, row.problem) for row in rows if row.problem] == [
        ("line 2", "has 1 cell, the header has 2"),
        ("line 4", "has 3 cells, the header has 2"),
    ]
    assert [row.cells for row in rows] == [None, {"id": "2", "query": "b"}, None]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("[1]", "expected a JSON object, got [1]"),
        ("7", "expected a JSON object, got 7"),
        ("null", "expected a JSON object, got None"),
        ("{", "is not JSON (Expecting property name enclosed in double quotes: line 2 column 1 (char 2))"),
    ],
)
def test_a_line_of_jsonl_that_is_no_object_says_what_it_is(tmp_path, line, problem):
    [row] = row_source(written(tmp_path / "a.jsonl", line + "\n"))
    assert (row.place, row.cells, row.problem) == ("line 1", None, problem)


def test_jsonl_that_is_not_utf_8_is_a_problem_of_its_line(tmp_path):
    first, second = row_source(written(tmp_path / "a.jsonl", b'{"id": 1}\n{"id": "\xe9"}\n'))
    assert first.problem == ""
    assert second.problem.startswith("is not JSON")


def test_the_first_line_that_is_not_utf_8_is_named(tmp_path):
    path = written(tmp_path / "a.csv", b"id,query\n1,a\n2,\xff\n")
    with pytest.raises(InputError, match="a.csv is not UTF-8: line 3 has the byte 0xff"):
        list(row_source(path))
    with pytest.raises(InputError, match="a.csv is not UTF-8: line 1 has the byte 0xfe"):
        row_source(written(tmp_path / "a.csv", b"\xfeid\n"))


def test_an_object_holds_its_items_under_that_name(tmp_path):
    path = written(tmp_path / "a.json", '{"items": [{"id": 1}]}')
    assert cells(row_source(path)) == [{"id": 1}]
    with pytest.raises(InputError, match=r"or an object with one as `items`, not \{'rows': \[\]\}"):
        row_source(written(tmp_path / "a.json", '{"rows": []}'))


def test_rows_of_frames_count_from_one_over_all_parts():
    frame = pl.DataFrame({"id": range(9000)})
    found = places(row_source(frame))
    assert (found[0], found[4096], found[-1], len(found)) == ("row 1", "row 4097", "row 9000", 9000)
    assert row_source(frame).name == "frame"


def test_cells_of_frames_keep_their_types_and_nulls_are_left_out():
    frame = pl.DataFrame({"id": [1, 2], "day": [date(2026, 1, 2), None], "docs": [["a"], []], "ok": [True, None]})
    assert cells(row_source(frame)) == [
        {"id": 1, "day": date(2026, 1, 2), "docs": ["a"], "ok": True},
        {"id": 2, "docs": []},
    ]


def test_a_lazy_frame_is_computed_when_it_is_gone_through():
    lazy = pl.DataFrame({"id": [1, 2, 3]}).lazy().filter(pl.col("id") > 1)
    assert cells(row_source(lazy)) == [{"id": 2}, {"id": 3}]


class FrameLikePandas:
    """What is asked of a pandas frame: columns, length, slices by position, records."""

    class Slices:
        def __init__(self, rows):
            self.rows = rows

        def __getitem__(self, part):
            return FrameLikePandas(self.rows[part])

    def __init__(self, rows):
        self.rows, self.columns = rows, list(rows[0]) if rows else []
        self.iloc = self.Slices(rows)

    def __len__(self):
        return len(self.rows)

    def to_dict(self, form):
        assert form == "records"
        return self.rows


class NAType:
    """Absent, as pandas says it; a truth value of it is an error."""

    def __bool__(self):
        raise TypeError("boolean value of NA is ambiguous")


def test_a_pandas_frame_is_read_in_parts_and_what_is_absent_is_left_out():
    rows = [{"id": number, 7: "x", "score": float("nan"), "note": NAType()} for number in range(5000)]
    source = row_source(FrameLikePandas(rows))
    assert source.columns == ("id", "7", "score", "note")
    found = list(source)
    assert (found[4999].place, found[4999].cells) == ("row 5000", {"id": 4999, "7": "x"})


def test_absent_cells_of_a_list_are_left_out_and_infinity_is_not():
    given = [{"id": 1, "a": None, "b": float("nan"), "c": np.float64("nan"), "d": float("inf"), "e": 0, "f": ""}]
    assert cells(row_source(given)) == [{"id": 1, "d": float("inf"), "e": 0, "f": ""}]


def test_an_iterator_can_be_gone_through_again():
    source = row_source({"id": number} for number in range(3))
    assert cells(source) == cells(source) == [{"id": 0}, {"id": 1}, {"id": 2}]


def test_a_list_is_read_as_it_is_at_the_time():
    given = [{"id": 1}]
    source = row_source(given)
    given.append({"id": 2})
    assert len(cells(source)) == 2


def test_items_stay_items():
    item = EvalInput(id="a", query="Hi?")
    assert cells(row_source([item, 7])) == [item, 7]


@pytest.mark.parametrize("given", [7, None, {"id": 1}, b"id", object])
def test_what_has_no_rows_is_refused(given):
    with pytest.raises(WrongTypeError, match="a dataset is a path, a frame or a list of items, not"):
        row_source(given)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("items", "cannot tell the format of items; a dataset's name ends in .csv, .tsv, .jsonl"),
        ("items.xlsx", "cannot tell the format of items.xlsx"),
        ("items.csv", "there is no file .*items.csv; a dataset's path is relative to the plan"),
    ],
)
def test_a_path_that_leads_to_no_table_says_so(tmp_path, name, message):
    with pytest.raises(InputError, match=message):
        row_source(tmp_path / name)


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(InputError, match="there is no file"):
        row_source(tmp_path / "a.csv")


def test_every_problem_of_a_header_is_named(tmp_path):
    with pytest.raises(InputError) as caught:
        row_source(written(tmp_path / "a.csv", "id,,query,id,\n"))
    assert caught.value.problems == (
        "line 1: column 2 has no name",
        "line 1: column 5 has no name",
        "line 1: two columns are called 'id'",
    )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_is_parted_as_its_header_is(tmp_path, separator):
    path = tmp_path / "items.csv"
    lines = [["Ticket Nr.", "Frage (Kunde)"], ["1", '"Wo, bitte; und\twann?"'], ["2", "„Straße“"]]
    path.write_text("\n".join(separator.join(line) for line in lines), encoding="utf-8-sig")
    rows = row_source(path)
    assert rows.columns == ("Ticket Nr.", "Frage (Kunde)")
    assert [row.cells["Frage (Kunde)"] for row in rows] == ["Wo, bitte; und\twann?", "„Straße“"]


def test_a_comma_goes_before_other_separators_and_one_column_is_enough(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("query,seen; by\nWhy?,kim\n")
    assert row_source(path).columns == ("query", "seen; by")
    path.write_text('"query; in full"\nWhy; then?\n')
    assert [row.cells for row in row_source(path)] == [{"query; in full": "Why; then?"}]


def test_semicolons_within_one_of_several_columns_are_text(tmp_path):
    (tmp_path / "items.csv").write_text("query,yes;no\nWhen?,yes;no\n", encoding="utf-8")
    assert [row.cells for row in row_source(tmp_path / "items.csv")] == [{"query": "When?", "yes;no": "yes;no"}]
