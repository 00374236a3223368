"""Tables as items, gone through as streams: clusters, renamed columns, repeated ids."""

import json

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import Dataset, EvalInput
from calibrant.errors import InputError
from calibrant.readers import ItemTable, read_items
from calibrant.readers.tabular import MOST_PROBLEMS


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_is_given_back_as_it_is():
    table = read_items([{"id": 1}])
    assert read_items(table) is table


def test_a_dataset_brings_its_name_and_its_clusters():
    data = Dataset([{"id": "a"}, {"id": "b"}], name="chat", clusters=["x", "y"])
    table = read_items(data)
    assert (table.name, table.has_clusters) == ("chat", True)
    assert [table.cluster_of(item, place) for place, item in enumerate(table)] == ["x", "y"]
    assert table.survey().clusters == 2
    assert ItemTable.of(data).survey().hash == data.hash


def test_a_dataset_read_by_other_columns_is_read_as_a_list():
    data = Dataset([{"id": "a", "customer": 7}])
    table = read_items(data, cluster="customer")
    assert table.cluster_of(data["a"], 0) == "7"


def test_without_clusters_there_are_none():
    table = read_items([{"id": 1}])
    assert not table.has_clusters
    assert table.survey().clusters is None


def test_a_cluster_may_be_a_column_that_was_renamed(tmp_path):
    path = written(tmp_path / "a.csv", "who,question\nkim,Hi?\nlee,Bye?\nkim,Why?\n")
    for cluster in ("who", "customer"):
        table = read_items(path, columns={"customer": "who", "query": "question"}, cluster=cluster)
        assert [table.cluster_of(item, place) for place, item in enumerate(table)] == ["kim", "lee", "kim"]
        assert table.survey().clusters == 2


def test_a_row_without_its_cluster_is_named_by_its_line(tmp_path):
    path = written(tmp_path / "a.csv", "id,customer\n1,kim\n2,\n")
    with pytest.raises(InputError, match="line 3: has no 'customer', which says its cluster"):
        read_items(path, cluster="customer").survey()


def test_going_through_stops_at_the_first_bad_row():
    table = read_items([{"id": 1}, 7, {"id": 2}])
    rows = iter(table)
    assert next(rows).id == "1"
    with pytest.raises(InputError, match="items has 1 problem:\n  item 2: expected an EvalInput or a mapping"):
        next(rows)


def test_a_survey_stops_after_so_many_problems_that_the_file_is_another():
    with pytest.raises(InputError) as caught:
        read_items([7] * (MOST_PROBLEMS + 500)).survey()
    assert len(caught.value.problems) == MOST_PROBLEMS


def test_a_repeated_id_names_up_to_five_of_its_rows():
    with pytest.raises(InputError, match="item 1, item 2, item 3, item 4, item 5 ... share the id 'a'"):
        read_items([{"id": "a"}] * 8).survey()


def test_rows_with_equal_inputs_and_no_id_are_told_apart_by_giving_ids():
    with pytest.raises(InputError, match=r"item 1, item 2 share the id '[0-9a-f]{16}'; give each an id of its own"):
        read_items([{"query": "Hi?", "answer": "x"}, {"query": "Hi?", "answer": "y"}]).survey()


def test_of_no_rows_a_survey_says_none():
    survey = read_items([]).survey()
    assert (survey.n, survey.first) == (0, ())
    assert survey.hash == Dataset([]).hash


def test_a_survey_shows_as_many_first_items_as_asked():
    assert [item.id for item in read_items([{"id": n} for n in range(9)]).survey(first=2).first] == ["0", "1"]


@pytest.mark.parametrize(
    ("field", "cell", "value"),
    [
        ("contexts", '["a", "b"]', ("a", "b")),
        ("contexts", "a plain text", ("a plain text",)),
        ("contexts", '{"not": "a list"}', ('{"not": "a list"}',)),
        ("retrieved_chunks", '["d1"]', ("d1",)),
        ("relevant_ids", "[1, 2]", ("1", "2")),
        ("metadata", '{"lang": "en"}', {"lang": "en"}),
        ("note", "[1]", "[1]"),
        ("answer", "7", "7"),
    ],
)
def test_cells_of_a_csv_are_read_as_their_field_is(tmp_path, field, cell, value):
    quoted = cell.replace('"', '""')
    path = written(tmp_path / "a.csv", f'id,{field}\n1,"{quoted}"\n')
    [item] = read_items(path)
    assert item.get(field) == value


@pytest.mark.parametrize(
    ("field", "cell", "message"),
    [
        ("metadata", "[1]", 'line 2: metadata is written as JSON, such as {"source": "web"}, not \'[1]\''),
        ("retrieved_chunks", "d1", 'line 2: retrieved_chunks is written as JSON, such as ["d1", "d2"], not \'d1\''),
        ("relevant_ids", "[1.5]", "line 2: relevant id is a text or a whole number, not 1.5"),
    ],
)
def test_a_cell_that_is_not_as_its_field_is_names_its_line(tmp_path, field, cell, message):
    with pytest.raises(InputError) as caught:
        read_items(written(tmp_path / "a.csv", f'id,{field}\n1,"{cell}"\n')).survey()
    assert caught.value.problems == (message,)


def test_several_columns_that_are_not_there_are_named_together(tmp_path):
    path = written(tmp_path / "a.csv", "id,text\n1,x\n")
    with pytest.raises(InputError) as caught:
        read_items(path, columns={"query": "question", "answer": "reply"})
    assert caught.value.problems == (
        "query: there is no column 'question'; it has: id, text",
        "answer: there is no column 'reply'; it has: id, text",
    )


@pytest.mark.parametrize("name", ["to_json", "_private", "inputs"])
def test_a_column_with_a_name_of_the_item_s_own_is_to_be_renamed(tmp_path, name):
    path = written(tmp_path / "a.csv", f"id,{name}\n1,x\n")
    with pytest.raises(InputError, match=f"column '{name}' cannot be a field of that name; rename it by columns"):
        read_items(path)
    [item] = read_items(path, columns={"mine": name})
    assert item.mine == "x"


FIELDS = st.fixed_dictionaries(
    {"query": st.text(min_size=1).filter(str.strip)},
    optional={
        "answer": st.text(min_size=1),
        "contexts": st.lists(st.text(min_size=1), min_size=1),
        "note": st.integers(),
    },
)


@given(st.lists(FIELDS, max_size=8))
def test_every_way_in_gives_the_same_items(tmp_path_factory, rows):
    rows = [{"id": str(place), **row} for place, row in enumerate(rows)]
    expected = [EvalInput.from_dict(row) for row in rows]
    folder = tmp_path_factory.mktemp("rows")
    (folder / "a.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sources = [rows, folder / "a.json", folder / "a.jsonl", Dataset(rows)]
    if rows:
        sources.append(pl.DataFrame(rows, infer_schema_length=None))
    for source in sources:
        table = read_items(source)
        assert [*table] == expected
        assert table.survey().contents == read_items(expected).survey().contents


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("faq.csv", "id,query\n1\n", "faq.csv has 1 problem:\n  line 2: has 1 cell, the header has 2"),
        ("faq.jsonl", "[]\n", "faq.jsonl has 1 problem:\n  line 1: expected a JSON object, got []"),
        ("faq.json", '[{"id": "a"}, {"id": "a"}]', "faq.json has 1 problem:\n  item 1, item 2 share the id 'a'"),
        ("faq.csv", "id,hash\n1,x\n", "faq.csv has 1 problem:\n  column 'inputs' cannot be a field"),
    ],
)
def test_a_files_problems_are_told_under_its_whole_name_and_its_items_under_the_short_one(tmp_path, file, text, told):
    (tmp_path / file).write_text(text.replace("hash", "inputs"))
    with pytest.raises(InputError) as raised:
        read_items(tmp_path / file).survey()
    assert str(raised.value).startswith(told)
    (tmp_path / "right.csv").write_text("id\n1\n")
    assert read_items(tmp_path / "right.csv").name == "right"


def test_what_is_asked_of_a_file_and_is_not_in_it_is_told_under_its_name(tmp_path):
    (tmp_path / "faq.csv").write_text("id,query\n1,Open?\n")
    with pytest.raises(InputError, match=r"^faq\.csv has 1 problem:\n  answer: there is no column 'reply'"):
        read_items(tmp_path / "faq.csv", columns={"answer": "reply"})
    with pytest.raises(InputError, match=r"^faq\.csv has no column 'customer' for clusters; it has: id, query"):
        read_items(tmp_path / "faq.csv", cluster="customer")
