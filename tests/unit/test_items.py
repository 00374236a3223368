import pickle

import numpy as np
import pytest

from calibrant import Dataset, EvalInput
from calibrant.errors import InputError, WrongTypeError
from calibrant.items import identifier


@pytest.mark.parametrize(
    ("given", "expected"),
    [("q1", "q1"), (7, "7"), (7.0, "7"), (np.int64(7), "7"), (np.float64(7.0), "7"), ("07", "07"), (-3, "-3")],
)
def test_ids_are_strings_after_one_check(given, expected):
    assert identifier(given) == expected


@pytest.mark.parametrize("given", [7.5, float("nan"), True, None, ["q1"], b"q1"])
def test_what_is_no_id_is_refused(given):
    with pytest.raises(InputError, match="id is a text or a whole number, not"):
        identifier(given)


@pytest.mark.parametrize("given", ["", "  "])
def test_an_empty_id_is_refused(given):
    with pytest.raises(InputError, match="cluster is empty; every cluster is a text or a whole number"):
        identifier(given, "cluster")


def test_every_field_is_optional_and_missing_is_none():
    item = EvalInput()
    assert [getattr(item, name) for name in EvalInput.FIELDS] == [None] * 7


def test_fields_are_kept():
    item = EvalInput(
        id="a",
        query="Is it open?",
        answer="Yes.",
        contexts=["Open 9 to 6."],
        ground_truth="Yes",
        retrieved_chunks=["d1"],
        relevant_ids=[1, "d2"],
        metadata={"lang": "en"},
    )
    assert item.query == "Is it open?"
    assert item.answer == "Yes."
    assert item.contexts == ("Open 9 to 6.",)
    assert item.ground_truth == "Yes"
    assert item.retrieved_chunks == ("d1",)
    assert item.relevant_ids == ("1", "d2")
    assert item.metadata == {"lang": "en"}


def test_extra_fields_are_attributes():
    item = EvalInput(id="a", ticket="T-1", customer=None)
    assert item.ticket == "T-1"
    assert item.customer is None
    assert item.extra == {"ticket": "T-1", "customer": None}
    assert item.get("ticket") == "T-1"


def test_a_field_that_is_not_there_says_which_are():
    with pytest.raises(AttributeError, match="item has no field 'tikcet'; it has: id, query, .*, ticket"):
        _ = EvalInput(ticket="T-1").tikcet


@pytest.mark.parametrize("name", ["get", "replace", "_id", "to_json"])
def test_an_extra_field_cannot_take_a_method_s_name(name):
    with pytest.raises(InputError, match=f"a field cannot be named {name}"):
        EvalInput(**{name: 1})


def test_items_are_immutable():
    item = EvalInput(id="a", query="Hi?")
    with pytest.raises(AttributeError, match=r"items are immutable; item.replace\(query=...\) makes a changed copy"):
        item.query = "Bye?"
    with pytest.raises(AttributeError, match="items are immutable"):
        del item.query


def test_one_text_is_a_list_of_one_context():
    assert EvalInput(contexts="Open 9 to 6.").contexts == ("Open 9 to 6.",)


@pytest.mark.parametrize("chunks", ["d1", {"d1": 1}, 7])
def test_what_is_no_list_of_chunks_is_refused(chunks):
    with pytest.raises(WrongTypeError, match="retrieved_chunks is a list, not"):
        EvalInput(retrieved_chunks=chunks)


def test_an_id_defaults_to_the_hash_of_the_inputs():
    one, same = EvalInput(query="Hi?"), EvalInput(query="Hi?")
    assert one.id == same.id
    assert len(one.id) == 16
    assert EvalInput(query="Bye?").id != one.id
    assert EvalInput(query="Hi?", ticket="T-1").id != one.id


def test_the_same_question_has_the_same_id_whatever_the_system_produced():
    asked = EvalInput(query="Hi?", ground_truth="Hello")
    answered = EvalInput(
        query="Hi?", ground_truth="Hello", answer="Hey", contexts=["c"], retrieved_chunks=["d"], metadata={"v": 2}
    )
    assert asked.id == answered.id


def test_items_with_an_answer_alone_are_told_apart_by_it():
    assert EvalInput(answer="Yes.").id != EvalInput(answer="No.").id


def test_an_id_can_be_a_number():
    assert EvalInput(id=7).id == "7"
    assert EvalInput(id=7).get("id") == "7"


def test_replacing_keeps_the_id():
    item = EvalInput(query="Hi?", ticket="T-1")
    changed = item.replace(answer="Hello", query="Hi there?")
    assert (changed.id, changed.answer, changed.query, changed.ticket) == (item.id, "Hello", "Hi there?", "T-1")
    assert item.answer is None


def test_get_has_a_default_for_missing_and_none():
    assert EvalInput(query=None).get("query", "-") == "-"
    assert EvalInput().get("ticket", "-") == "-"


def test_items_are_equal_by_content_and_hash_by_id():
    assert EvalInput(id="a", contexts=["c"]) == EvalInput(id="a", contexts=("c",))
    assert EvalInput(id="a", answer="x") != EvalInput(id="a", answer="y")
    assert EvalInput(id="a") != "a"
    assert len({EvalInput(id="a"), EvalInput(id="a")}) == 1


def test_items_survive_pickling_and_json():
    item = EvalInput(query="Hi?", contexts=["c"], relevant_ids=["d"], ticket="T-1")
    assert pickle.loads(pickle.dumps(item)) == item
    assert EvalInput.from_dict(item.to_json()) == item


def test_an_item_prints_what_it_has():
    assert repr(EvalInput(id="a", query="Hi?")) == "EvalInput(id='a', query='Hi?')"


def test_a_dataset_keeps_order_and_finds_by_id_and_place():
    data = Dataset([EvalInput(id="b"), {"id": "a", "query": "Hi?"}], name="chat")
    assert [item.id for item in data] == ["b", "a"]
    assert data["a"].query == "Hi?"
    assert data[0].id == "b"
    assert "a" in data
    assert "c" not in data
    assert len(data) == 2
    assert repr(data) == "Dataset('chat', 2 items)"


def test_items_that_share_an_id_are_all_named():
    with pytest.raises(InputError) as error:
        Dataset([{"id": "a"}, {"id": 1}, {"id": "a"}, {"id": "1"}], name="items.csv")
    assert str(error.value) == (
        "items.csv has 2 problems:\n"
        "  items 1, 3 share the id 'a'; give each an id of its own\n"
        "  items 2, 4 share the id '1'; give each an id of its own"
    )


def test_problems_of_items_are_gathered():
    with pytest.raises(InputError) as error:
        Dataset([{"id": "a"}, 7, {"id": ""}, {"retrieved_chunks": "d"}])
    assert str(error.value) == (
        "the dataset has 3 problems:\n"
        "  item 2: expected an EvalInput or a mapping of its fields, got 7\n"
        "  item 3: id is empty; every id is a text or a whole number\n"
        "  item 4: retrieved_chunks is a list, not 'd'"
    )


def test_the_dataset_hash_is_of_ids_and_inputs_alone():
    asked = Dataset([{"id": "a", "query": "Hi?"}, {"id": "b", "query": "Bye?"}])
    answered = Dataset([{"id": "b", "query": "Bye?", "answer": "x"}, {"id": "a", "query": "Hi?", "answer": "y"}])
    assert asked.hash == answered.hash
    assert asked.hash != Dataset([{"id": "a", "query": "Hi!"}, {"id": "b", "query": "Bye?"}]).hash
    assert asked.hash != Dataset([{"id": "A", "query": "Hi?"}, {"id": "b", "query": "Bye?"}]).hash


def test_clusters_are_named_for_each_item():
    items = [{"id": "a", "doc": 1}, {"id": "b", "doc": "1"}]
    assert Dataset(items, clusters=["x", "y"]).clusters == ("x", "y")
    assert Dataset(items, clusters="doc").clusters == ("1", "1")
    assert Dataset(items).clusters is None


def test_an_item_without_its_cluster_is_named():
    with pytest.raises(InputError, match="cluster field 'doc' has 1 problem:\n  item b has none"):
        Dataset([{"id": "a", "doc": 1}, {"id": "b"}], clusters="doc")


def test_clusters_must_be_as_many_as_items():
    with pytest.raises(InputError, match="clusters names one cluster an item: expected 1, got 2"):
        Dataset([{"id": "a"}], clusters=["x", "y"])


def test_datasets_are_equal_by_content():
    assert Dataset([{"id": "a"}]) == Dataset([{"id": "a"}])
    assert Dataset([{"id": "a"}]) != Dataset([{"id": "a"}], name="other")
    assert Dataset([]) != []
