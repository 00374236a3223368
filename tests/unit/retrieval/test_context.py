"""Documents as applications have them: ids, mappings and objects with an id."""

from collections import UserDict
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import ValidationError

from calibrant.errors import InputError, WrongTypeError
from calibrant.retrieval import ContextItem, RetrievalMetricsCalculator, SourceType
from calibrant.retrieval.context import document_id, document_ids


@dataclass
class Chunk:
    id: int | str | None
    text: str = ""


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ("a", "a"),
        (7, "7"),
        (7.0, "7"),
        (np.int64(7), "7"),
        ({"id": "a", "score": 0.5}, "a"),
        ({"id": 7}, "7"),
        (UserDict(id="a"), "a"),
        (Chunk("a"), "a"),
        (Chunk(7), "7"),
        (SimpleNamespace(id="a"), "a"),
        (ContextItem(id="a", content="x"), "a"),
        (" a ", " a "),
        ("é\U0001f600", "é\U0001f600"),
    ],
)
def test_a_document_is_known_by_its_id(document, name):
    assert document_id(document) == name
    assert document_ids([document], "retrieved") == [name]
    assert document_ids((document,), "retrieved") == [name]


@pytest.mark.parametrize("document", [None, {}, {"name": "a"}, {"id": None}, Chunk(None), object(), []])
def test_what_has_no_id_says_what_a_document_is(document):
    with pytest.raises(InputError, match="a document is an id, or something with an `id`; got "):
        document_id(document)


@pytest.mark.parametrize("document", ["", "  ", {"id": ""}, Chunk("\t")])
def test_an_empty_id_is_refused(document):
    with pytest.raises(InputError, match="document id is empty; every document id is a text or a whole number"):
        document_id(document)


@pytest.mark.parametrize("document", [True, 1.5, float("nan"), {"id": ["a"]}])
def test_what_is_no_text_and_no_whole_number_is_no_id(document):
    with pytest.raises(InputError, match="document id is a text or a whole number, not "):
        document_id(document)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("abc", "relevant is a list of ids or of items with an `id`, not one text: 'abc'"),
        (b"abc", "relevant is a list of ids or of items with an `id`, not one text: b'abc'"),
        ({"a": 2}, "graded judgments go to calibrant.retrieval.measure"),
        (7, "relevant is a list of ids or of items with an `id`, not 7"),
        (None, "relevant is a list of ids or of items with an `id`, not None"),
    ],
)
def test_what_is_no_list_is_named_by_its_argument(given, message):
    with pytest.raises(WrongTypeError) as raised:
        document_ids(given, "relevant")
    assert message in str(raised.value)


def test_an_error_inside_of_a_generator_is_its_own():
    def broken():
        yield "a"
        raise TypeError("no such index")

    with pytest.raises(TypeError, match="no such index"):
        document_ids(broken(), "retrieved")


def test_mixed_lists_are_measured_alike():
    mixed = [ContextItem(id="x"), "a", {"id": "b"}, Chunk(3)]
    metrics = RetrievalMetricsCalculator().evaluate(mixed, [Chunk("a"), 3])
    assert metrics == RetrievalMetricsCalculator().evaluate(["x", "a", "b", "3"], ["a", "3"])
    assert (metrics.mrr, metrics.recall_at_k) == (0.5, 1.0)


def test_an_item_has_the_seeds_fields_and_ones_own():
    item = ContextItem(id="a", content="x", source=SourceType.MEMORY, score=0.5, chunk=3)
    assert (item.id, item.content, item.source, item.score, item.chunk) == ("a", "x", "memory", 0.5, 3)
    assert ContextItem(id="a").source is SourceType.RETRIEVAL
    assert ContextItem.model_validate_json(item.model_dump_json()) == item


@pytest.mark.parametrize("change", [{"id": None}, {"id": ""}, {"source": "somewhere"}, {"score": "high"}])
def test_an_item_that_is_none_is_refused(change):
    with pytest.raises(ValidationError):
        ContextItem(**{"id": "a", **change})
