"""What a metric says of its input: the fields of a typed class of any kind, with types, defaults and what is needed."""

import dataclasses
import typing

import pydantic
import pytest

from calibrant import BaseMetric
from calibrant.errors import WrongTypeError


class Typed(BaseMetric):
    async def _evaluate(self, data):
        return 1.0


def typed(kind):
    return type("OfThatKind", (Typed,), {"input_type": kind})


class Asked(typing.TypedDict):
    query: str
    limit: typing.NotRequired[int]


@dataclasses.dataclass
class Answered:
    answer: str
    contexts: list[str] = dataclasses.field(default_factory=list)
    top_k: int = 10


class Model(pydantic.BaseModel):
    query: str
    top_k: int = 10
    tags: list[str] = pydantic.Field(default_factory=list)


class Plain:
    query: str
    top_k: int = 10
    limit: typing.ClassVar[int] = 5
    _hidden: int = 0


class Deeper(Plain):
    answer: str | None = None


class Nothing:
    pass


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Asked, [("query", "str", True), ("limit", "int", False)]),
        (Answered, [("answer", "str", True), ("contexts", "list[str]", False), ("top_k", "int", False)]),
        (Model, [("query", "str", True), ("top_k", "int", False), ("tags", "list[str]", False)]),
        (Plain, [("query", "str", True), ("top_k", "int", False)]),
        (Nothing, []),
    ],
)
def test_the_fields_are_those_of_the_class_with_what_is_needed(kind, expected):
    metric = typed(kind)
    assert metric.get_input_fields() == [name for name, _, _ in expected]
    specs = [
        (one["name"], one["type"].replace("NotRequired[int]", "int"), one["required"])
        for one in metric.get_input_spec()
    ]
    assert specs == expected


def test_fields_of_a_base_class_are_fields_too():
    specs = {one["name"]: one["required"] for one in typed(Deeper).get_input_spec()}
    assert specs == {"query": True, "top_k": False, "answer": False}


def test_a_field_may_be_called_like_a_method_of_dict():
    class Counted(typing.TypedDict):
        items: int
        keys: str

    assert [one["required"] for one in typed(Counted).get_input_spec()] == [True, True]


@pytest.mark.parametrize("kind", [Answered, Model, Plain])
def test_plain_defaults_are_in_the_spec_and_factories_are_not(kind):
    specs = {one["name"]: one for one in typed(kind).get_input_spec()}
    assert specs["top_k"] == {"name": "top_k", "type": "int", "required": False, "default": 10}
    assert not any("default" in one for name, one in specs.items() if name in {"contexts", "tags", "query", "answer"})


def test_without_an_input_type_there_are_no_input_fields():
    assert (Typed.get_input_fields(), Typed.get_input_spec()) == (None, None)


@pytest.mark.parametrize("wrong", ["query", 5, {"query": str}])
def test_an_input_type_is_a_class(wrong):
    with pytest.raises(WrongTypeError, match="input_type is a class with typed fields, not "):
        typed(wrong).get_input_fields()
