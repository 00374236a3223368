"""Results from outside as tables: every format, ids as texts, and what is wrong named by its row."""

import json
import re

import polars as pl
import pytest

from calibrant.alignment.result_tables import id_column_of, nested_answers, read_table, with_ids
from calibrant.errors import InputError, WrongTypeError

ROWS = [{"id": "007", "safe": "yes"}, {"id": "8", "safe": "no"}]


def written(folder, ending):
    frame, path = pl.DataFrame(ROWS), folder / f"results.{ending}"
    writers = {
        "csv": lambda: frame.write_csv(path),
        "tsv": lambda: frame.write_csv(path, separator="\t"),
        "json": lambda: path.write_text(json.dumps(ROWS), encoding="utf-8"),
        "jsonl": lambda: frame.write_ndjson(path),
        "ndjson": lambda: frame.write_ndjson(path),
        "parquet": lambda: frame.write_parquet(path),
    }
    writers[ending]()
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "ndjson", "parquet"])
def test_every_format_is_read_with_its_ids_as_they_stand(tmp_path, ending):
    assert read_table(written(tmp_path, ending)).to_dicts() == ROWS


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_csv_is_parted_as_its_header_says(tmp_path, separator):
    path = tmp_path / "judge.csv"
    path.write_text(f"\ufeffid{separator}note\n007{separator}yes\n8{separator}no; why\n".replace("; why", " why"))
    assert read_table(path).to_dicts() == [{"id": "007", "note": "yes"}, {"id": "8", "note": "no why"}]


def test_a_format_may_be_named_when_the_ending_says_nothing(tmp_path):
    path = written(tmp_path, "csv").rename(tmp_path / "results.txt")
    assert read_table(path, data_format="csv").to_dicts() == ROWS
    with pytest.raises(InputError, match="results.txt is of no known format; results come as csv, tsv, json"):
        read_table(path)


def test_cells_of_a_csv_stay_texts():
    assert read_table([{"id": 1, "n": 2}])["n"].dtype == pl.Int64


def test_numbers_in_a_csv_are_not_rounded(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("id,score\n1,0.10\n2,1e3\n", encoding="utf-8")
    assert read_table(path)["score"].to_list() == ["0.10", "1e3"]


def test_a_json_of_columns_and_one_of_items_are_read(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"1": "yes", "2": "no"}), encoding="utf-8")
    assert read_table(path).to_dicts() == [{"original_id": "1", "label": "yes"}, {"original_id": "2", "label": "no"}]


def test_a_mapping_of_items_to_several_answers_is_a_table():
    found = read_table({1: {"safe": "yes", "why": "w"}, 2: {"safe": "no", "why": None}})
    assert found.to_dicts()[0] == {"original_id": "1", "safe": "yes", "why": "w"}


def test_a_frame_is_taken_as_it_is():
    assert read_table(pl.DataFrame(ROWS)).to_dicts() == ROWS


def test_rows_of_unlike_types_are_taken_as_they_can_be():
    assert read_table([{"id": 1, "x": "a"}, {"id": "b", "x": "c"}])["id"].to_list() == ["1", "b"]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (7, "results come as a path, a frame, a list of dicts or a mapping, not 7"),
        ([1, 2], "rows are mappings of columns to values, not 1"),
    ],
)
def test_what_is_no_table_is_refused(source, words):
    with pytest.raises(WrongTypeError, match=words):
        read_table(source)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("r.json", "{", "r.json is no JSON"),
        ("r.jsonl", "{]\n", "r.jsonl has 1 problem:\n  line 1 is not JSON"),
        ("r.parquet", "PAR", "r.parquet cannot be read as parquet"),
    ],
)
def test_a_file_that_is_not_what_it_says_is_named(tmp_path, name, text, words):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_table(tmp_path / name)


def test_nested_answers_are_raters_with_items(tmp_path):
    pair = {"kim": {"1": "yes"}, "lee": {2: "no"}}
    assert nested_answers(pair) == {"kim": {"1": "yes"}, "lee": {2: "no"}}
    (tmp_path / "people.json").write_text(json.dumps(pair), encoding="utf-8")
    assert nested_answers(tmp_path / "people.json") == {"kim": {"1": "yes"}, "lee": {"2": "no"}}


@pytest.mark.parametrize("source", [{"1": "yes"}, {}, [{"id": 1}], "none.json", 7, pl.DataFrame({"id": [1]})])
def test_other_things_are_no_nested_answers(source):
    assert nested_answers(source) is None


@pytest.mark.parametrize("name", ["original_id", "id", "item", "item_id"])
def test_the_usual_names_of_ids_are_found(name):
    assert id_column_of(pl.DataFrame({"x": [1], name: [2]}), None, "it") == name


def test_a_named_id_column_is_taken_and_a_missing_one_lists_what_there_is():
    frame = pl.DataFrame({"ticket": [1], "id": [2]})
    assert id_column_of(frame, "ticket", "it") == "ticket"
    with pytest.raises(InputError, match="it has no column 'case' with the ids of items; it has: ticket, id"):
        id_column_of(frame, "case", "it")


def test_without_any_of_the_usual_names_all_of_them_and_the_columns_are_listed():
    expected = "it has no column 'original_id', 'id', 'item' or 'item_id' with the ids of items; it has: ticket, safe; "
    with pytest.raises(InputError, match=f"{expected}rename the one that holds them, or in Python pass id_column="):
        id_column_of(pl.DataFrame({"ticket": [1], "safe": [True]}), None, "it")


def test_ids_become_texts_in_front():
    found = with_ids(pl.DataFrame({"x": ["a", "b"], "id": [1.0, 2.0]}), "id", "it")
    assert found.to_dicts() == [{"original_id": "1", "x": "a"}, {"original_id": "2", "x": "b"}]


def test_every_wrong_id_is_named_by_its_row():
    frame = pl.DataFrame({"id": ["a", None, " ", "a", "b"]})
    with pytest.raises(InputError) as error:
        with_ids(frame, "id", "the data")
    assert [problem.split(":")[0] for problem in error.value.problems] == [
        "row 2", "row 3", "rows 1 and 4 share the id 'a'; keep one"
    ]  # fmt: skip


def test_an_empty_table_has_no_ids_and_no_problem():
    assert with_ids(pl.DataFrame({"id": []}, schema={"id": pl.Int64}), "id", "it").height == 0


def test_ids_of_a_mapping_are_texts_and_none_is_lost_to_another_of_the_same_name():
    assert read_table({1: "yes", 2.0: "no", "3": "no"})["original_id"].to_list() == ["1", "2", "3"]
    evaluated = nested_answers({"kim": {1: "yes", "1": "no"}})
    with pytest.raises(InputError, match="rows 1 and 2 share the id '1'"):
        with_ids(read_table(evaluated["kim"]), "original_id", "kim")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"labels.csv"', "holds 'labels.csv'; expected a list of rows, or an object of items and labels"),
        ("null", "holds None; expected"),
        ("{}", "the results hold no answer"),
        ('{"gpt": {"1": "yes"}, "other": 3}', "'other' has a label where others have answers by name"),
    ],
)
def test_json_that_is_no_table_is_named_and_never_taken_for_a_path(tmp_path, text, message):
    path = tmp_path / "labels.json"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)):
        read_table(path)
