import json

import polars as pl
import pytest

from calibrant import Dataset, EvalInput
from calibrant.errors import InputError, WrongTypeError
from calibrant.readers import read_items


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_csv_rows_are_items_and_an_empty_cell_is_missing(tmp_path):
    path = written(tmp_path / "a.csv", 'id,query,answer,mood\n1,"Why,\nthen?",,calm\n')
    [item] = read_items(path)
    assert (item.id, item.query, item.answer, item.mood) == ("1", "Why,\nthen?", None, "calm")


def test_columns_are_mapped_to_fields_and_the_hidden_one_gives_way(tmp_path):
    path = written(tmp_path / "a.tsv", "question\tquery\nOpen?\tother\n")
    assert next(iter(read_items(path, columns={"query": "question"}))).query == "Open?"


def test_lists_in_a_csv_are_json_and_a_plain_text_is_one_context(tmp_path):
    path = written(tmp_path / "a.csv", 'contexts,relevant_ids\n"[1] is a note","[""d1"", 2]"\n"[""a"", ""b""]",[]\n')
    first, second = read_items(path)
    assert (first.contexts, first.relevant_ids, second.contexts) == (("[1] is a note",), ("d1", "2"), ("a", "b"))
    wrong = written(tmp_path / "b.csv", "relevant_ids\nd1;d2\n")
    with pytest.raises(InputError, match=r"line 2: relevant_ids is written as JSON, such as \[\"d1\", \"d2\"\]"):
        read_items(wrong).survey()


def test_every_bad_row_is_named_at_once(tmp_path):
    path = written(tmp_path / "a.csv", "id,query\n1,a\n2\n3,b,c\n1,d\n")
    with pytest.raises(InputError) as caught:
        read_items(path).survey()
    assert caught.value.problems == (
        "line 3: has 1 cell, the header has 2",
        "line 4: has 3 cells, the header has 2",
        "line 2, line 5 share the id '1'; give each an id of its own",
    )


def test_bad_lines_of_jsonl_are_named(tmp_path):
    path = written(tmp_path / "a.jsonl", b'\xef\xbb\xbf{"query": "a"}\n\n{"query": \n[1]\n')
    with pytest.raises(InputError) as caught:
        read_items(path).survey()
    assert [problem[:16] for problem in caught.value.problems] == ["line 3: is not J", "line 4: expected"]


def test_json_parquet_and_frames_give_the_same_items(tmp_path):
    rows = [{"id": "a", "query": "Hi?", "contexts": ["x", "y"]}, {"id": "b", "query": "Bye?", "contexts": None}]
    frame = pl.DataFrame(rows)
    frame.write_parquet(tmp_path / "a.parquet")
    written(tmp_path / "a.json", json.dumps({"items": rows}))
    expected = [EvalInput.from_dict(row) for row in rows]
    for source in (rows, frame, frame.lazy(), tmp_path / "a.parquet", tmp_path / "a.json", iter(rows), Dataset(rows)):
        table = read_items(source)
        assert [*table] == [*table] == expected


def test_a_number_that_is_absent_in_a_frame_is_missing():
    frame = pl.DataFrame({"id": [1.0, 2.0], "score": [0.5, float("nan")]})
    assert [item.get("score") for item in read_items(frame)] == [0.5, None]


def test_a_survey_counts_hashes_and_clusters():
    rows = [{"id": str(number), "query": "q", "customer": number % 3} for number in range(30)]
    survey = read_items(rows, cluster="customer").survey()
    assert (survey.n, survey.clusters, len(survey.first)) == (30, 3, 20)
    assert survey.hash == Dataset(rows).hash == read_items(rows[::-1]).survey().hash


def test_the_hash_of_a_dataset_leaves_answers_out_and_the_contents_do_not():
    one, other = (read_items([{"id": "a", "query": "Hi?", "answer": text}]).survey() for text in ("x", "y"))
    assert one.hash == other.hash
    assert one.contents != other.contents


def test_ids_that_repeat_among_very_many_are_found():
    rows = [{"id": number % 10_500} for number in range(11_000)]
    with pytest.raises(InputError, match="the items|500 problems") as caught:
        read_items(rows).survey()
    assert len(caught.value.problems) == 500


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.xlsx", "", r"cannot tell the format of a.xlsx; a dataset's name ends in .csv, .tsv"),
        ("a.csv", "", "a.csv is empty; its first line names the columns"),
        ("a.csv", "id,id\n", "line 1: two columns are called 'id'"),
        ("a.csv", "id,\n", "line 1: column 2 has no name"),
        ("a.csv", "id,inputs\n", "column 'inputs' cannot be a field of that name"),
        ("a.csv", b"id\n\xe9\n", "a.csv is not UTF-8: line 2 has the byte 0xe9"),
        ("a.json", "{", "a.json is not JSON"),
        ("a.json", "7", "a.json holds a list of items"),
        ("a.parquet", "x", "a.parquet is not a Parquet file"),
    ],
)
def test_a_file_that_cannot_be_read_says_what_is_the_matter(tmp_path, name, text, message):
    with pytest.raises(InputError, match=message):
        read_items(written(tmp_path / name, text)).survey()


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_items(tmp_path / "a.csv")
    with pytest.raises(WrongTypeError, match="a dataset is a path, a frame or a list of items, not 7"):
        read_items(7)
    with pytest.raises(InputError, match="item 1: expected an EvalInput or a mapping of its fields, got 7"):
        read_items([7]).survey()
    path = written(tmp_path / "b.csv", "id\n1\n")
    with pytest.raises(InputError, match="query: there is no column 'question'; it has: id"):
        read_items(path, columns={"query": "question"})
    with pytest.raises(InputError, match="b.csv has no column 'customer' for clusters; it has: id"):
        read_items(path, cluster="customer")
    with pytest.raises(InputError, match="item 1: has no 'customer', which says its cluster"):
        read_items([{"id": 1}], cluster="customer").survey()
