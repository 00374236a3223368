"""Items and datasets at their edges: odd ids, unicode, order, and what equality and hashes rest on."""

import copy
import json
import pickle
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import Dataset, EvalInput
from calibrant.errors import InputError, WrongTypeError
from calibrant.items import ItemDigest, identifier

TEXTS = st.text(min_size=1).filter(str.strip)
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
JSON = st.recursive(PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))
ITEMS = st.builds(
    lambda given, extra: EvalInput(**given, **extra),
    st.fixed_dictionaries(
        {},
        optional={
            "id": TEXTS | st.integers(),
            "query": st.text(),
            "answer": JSON,
            "contexts": st.lists(st.text()),
            "ground_truth": JSON,
            "retrieved_chunks": st.lists(st.text()),
            "relevant_ids": st.lists(TEXTS | st.integers()),
            "metadata": st.dictionaries(st.text(), JSON, max_size=3),
        },
    ),
    st.dictionaries(st.sampled_from(["ticket", "customer", "größe", "x1"]), JSON),
)


@given(ITEMS)
def test_an_item_comes_back_equal_from_a_dict_a_pickle_and_a_copy(item):
    given = EvalInput.from_dict(item.to_json())
    assert given.to_json() == item.to_json()
    for again in (pickle.loads(pickle.dumps(item)), copy.copy(item), copy.deepcopy(item), item.replace()):
        assert again == item
        assert hash(again) == hash(item)
        assert again.id == item.id


@given(ITEMS)
def test_json_text_names_an_item_by_the_same_id(item):
    """Tuples become lists on the way, and an id made of inputs must not feel it."""
    row = json.loads(json.dumps(item.to_json()))
    row.pop("id")
    without_id = EvalInput(**{name: value for name, value in item.to_json().items() if name != "id"})
    assert EvalInput.from_dict(row).id == without_id.id


@given(ITEMS, st.text(min_size=1))
def test_what_the_system_produced_does_not_rename_an_item_that_has_inputs(item, answer):
    given = {name: value for name, value in item.inputs().items() if name != "id"}
    if given:
        asked = EvalInput(**given)
        assert EvalInput(**given, answer=answer, contexts=[answer], retrieved_chunks=[answer]).id == asked.id


@given(st.lists(ITEMS, unique_by=lambda item: item.id, max_size=6), st.randoms())
def test_the_hash_of_a_dataset_does_not_depend_on_its_order(items, random):
    shuffled = list(items)
    random.shuffle(shuffled)
    assert Dataset(items).hash == Dataset(shuffled).hash
    one, other = ItemDigest(), ItemDigest()
    for item in items:
        one.add(item)
    for item in shuffled:
        other.add(item)
    assert (one.n, one.inputs, one.contents) == (other.n, other.inputs, other.contents)


@given(st.lists(ITEMS, unique_by=lambda item: item.id, min_size=2, max_size=6))
def test_a_dataset_with_an_item_less_has_another_hash(items):
    assert Dataset(items).hash != Dataset(items[:-1]).hash


@given(st.integers())
def test_whole_numbers_are_their_digits_however_large(number):
    assert identifier(number) == str(number)


@given(st.integers(min_value=-(2**53), max_value=2**53))
def test_an_id_that_a_table_turned_into_a_float_is_the_id_that_it_was(number):
    assert identifier(float(number)) == identifier(number)


@pytest.mark.parametrize(
    "given", [float("inf"), float("-inf"), 1e-9, complex(1), object(), ("a",), {"a"}, bytearray(b"a")]
)
def test_no_id_is_made_of_what_is_no_name(given):
    with pytest.raises(InputError, match="id is a text or a whole number, not"):
        EvalInput(id=given)


def test_an_id_keeps_the_spaces_that_it_was_given():
    """A name is compared as it stands; trimming it here would part it from a file that was not trimmed."""
    assert identifier(" a ") == " a "


def test_an_empty_text_is_a_field_that_is_there():
    item = EvalInput(answer="", contexts=[], relevant_ids=[])
    assert (item.answer, item.contexts, item.relevant_ids) == ("", (), ())
    assert item.get("answer", "-") == ""
    assert list(item.to_json()) == ["id", "answer", "contexts", "relevant_ids"]


def test_an_item_of_nothing_has_an_id_all_the_same():
    assert EvalInput().id == EvalInput(metadata=None, note=None).id
    assert len(EvalInput().id) == 16


def test_an_extra_that_is_none_does_not_name_the_item():
    assert EvalInput(query="Hi?", note=None).id == EvalInput(query="Hi?").id


def test_generators_and_arrays_are_lists_of_chunks():
    import numpy as np

    assert EvalInput(retrieved_chunks=(name for name in "ab")).retrieved_chunks == ("a", "b")
    assert EvalInput(relevant_ids=np.array([1, 2])).relevant_ids == ("1", "2")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("relevant_ids", "d1", "relevant_ids is a list, not 'd1'"),
        ("relevant_ids", 7, "relevant_ids is a list, not 7"),
        ("contexts", 7, "contexts is a list, not 7"),
        ("contexts", {"a": 1}, "contexts is a list, not {'a': 1}"),
        ("retrieved_chunks", b"d1", "retrieved_chunks is a list, not b'd1'"),
    ],
)
def test_what_is_no_list_is_refused_by_name(field, value, message):
    with pytest.raises(WrongTypeError) as error:
        EvalInput(**{field: value})
    assert str(error.value) == message


def test_a_relevant_id_that_is_none_is_named():
    with pytest.raises(InputError, match="relevant id is a text or a whole number, not None"):
        EvalInput(relevant_ids=["d1", None])


def test_several_names_that_are_taken_are_named_together():
    with pytest.raises(InputError, match="a field cannot be named get, replace: EvalInput has that name itself"):
        EvalInput(replace=1, get=2)


def test_replacing_can_take_away_and_add_and_rename():
    item = EvalInput(id="a", query="Hi?", ticket="T-1")
    assert item.replace(query=None, ticket=None).to_json() == {"id": "a"}
    assert item.replace(note=7).note == 7
    assert item.replace(id="b").id == "b"


def test_what_is_handed_out_cannot_be_used_to_change_the_item():
    metadata = {"lang": "en"}
    item = EvalInput(id="a", metadata=metadata, ticket="T-1")
    metadata["lang"] = "de"
    item.extra["ticket"] = "T-2"
    item.to_json()["query"] = "other"
    item.metadata["lang"] = "fr"
    item.get("metadata")["lang"] = "fr"
    item.to_json()["metadata"]["lang"] = "fr"
    assert (item.metadata, item.ticket, item.query) == ({"lang": "en"}, "T-1", None)
    assert json.dumps(item.metadata) == '{"lang": "en"}'
    assert EvalInput(id="a").metadata is EvalInput(id="a").get("metadata") is None


@pytest.mark.parametrize("given", [None, 5, "items.csv", b"x", {"id": "a"}, EvalInput(id="a")])
def test_what_is_no_list_of_items_is_refused_as_a_whole(given):
    with pytest.raises(WrongTypeError, match="^chat is made of a list of items, not .*; put a single one in a list"):
        Dataset(given, name="chat")


def test_private_names_are_not_looked_for_among_the_extras():
    """Copying and pickling ask for them before there is anything to look in."""
    bare = EvalInput.__new__(EvalInput)
    with pytest.raises(AttributeError):
        _ = bare._missing


def test_a_long_answer_is_shortened_in_what_is_printed():
    assert repr(EvalInput(id="a", answer="x" * 500)).endswith("xxx...)")


@dataclass
class Answer:
    text: str

    def to_json(self):
        return {"text": self.text}


def test_an_answer_of_a_class_of_one_s_own_is_hashed_by_its_json():
    one, other = (Dataset([EvalInput(answer=Answer(text))]) for text in ("a", "b"))
    assert one.hash != other.hash


def test_what_cannot_be_hashed_says_what_it_is():
    with pytest.raises(WrongTypeError, match="cannot fingerprint a object: <object object at"):
        EvalInput(ticket=object())


def test_an_item_that_cannot_be_hashed_is_named_and_not_counted():
    digest = ItemDigest()
    with pytest.raises(WrongTypeError, match="item 'q7': cannot fingerprint a object: .* make it a text, a number"):
        digest.add(EvalInput(id="q7", ticket=object()))
    assert digest.n == 0


@pytest.mark.parametrize("key", ["c", 5, -3])
def test_an_item_that_is_not_there_is_a_lookup_error(key):
    with pytest.raises((KeyError, IndexError)):
        _ = Dataset([{"id": "a"}, {"id": "b"}])[key]


def test_a_dataset_reads_from_the_end_too():
    assert Dataset([{"id": "a"}, {"id": "b"}])[-1].id == "b"


def test_a_dataset_is_a_container_and_no_key():
    with pytest.raises(TypeError, match="unhashable type: 'Dataset'"):
        hash(Dataset([]))


def test_an_empty_dataset_is_one_too():
    data = Dataset([])
    assert (len(data), list(data), "a" in data) == (0, [], False)
    assert data.hash.startswith("sha256:")


def test_a_mapping_of_other_keys_than_texts_is_read_by_their_texts():
    assert EvalInput.from_dict({"id": "a", 7: "seven"}).extra == {"7": "seven"}


def test_clusters_by_field_may_be_a_field_of_the_item_itself():
    data = Dataset([{"id": "a", "query": "x"}, {"id": "b", "query": "x"}], clusters="query")
    assert data.clusters == ("x", "x")


def test_a_cluster_without_a_name_is_refused():
    with pytest.raises(InputError, match="cluster is a text or a whole number, not 1.5"):
        Dataset([{"id": "a"}], clusters=[1.5])
    with pytest.raises(InputError, match="cluster is empty"):
        Dataset([{"id": "a"}], clusters=[""])
