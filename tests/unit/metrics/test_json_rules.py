"""Rules about JSON: what follows a schema, what is equal, and what could not be checked."""

import asyncio
import json

import pytest

from calibrant import EvalInput
from calibrant.errors import InputError
from calibrant.metrics import JSONEqualityMetric, JSONSchemaMetric

TREE = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#"}}},
}


def result_of(metric, answer, reference=None):
    return asyncio.run(metric.evaluate(EvalInput(id="q1", answer=answer, ground_truth=reference)))


@pytest.mark.parametrize(
    ("schema", "answer", "score"),
    [
        ({}, "null", 1.0),
        ({"type": "object"}, "[]", 0.0),
        ({"type": ["string", "null"]}, "null", 1.0),
        ({"type": "integer"}, "1.5", 0.0),
        ({"type": "number"}, "true", 0.0),
        ({"enum": ["a", 1]}, '"a"', 1.0),
        ({"enum": ["a", 1]}, '"b"', 0.0),
        ({"const": 3}, "3", 1.0),
        ({"properties": {"a": {"type": "string"}}, "additionalProperties": False}, '{"b": 1}', 0.0),
        ({"properties": {"a": True}}, '{"a": 1}', 1.0),
        ({"required": ["a"]}, '{"b": 1}', 0.0),
        ({"items": {"type": "integer"}, "minItems": 1, "maxItems": 2}, "[1, 2]", 1.0),
        ({"items": {"type": "integer"}, "maxItems": 2}, "[1, 2, 3]", 0.0),
        ({"type": "string", "minLength": 2, "pattern": "^a"}, '"ab"', 1.0),
        ({"type": "string", "pattern": "^a"}, '"ba"', 0.0),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "null", 1.0),
        ({"oneOf": [{"type": "integer"}, {"minimum": 3}]}, "5", 0.0),
        ({"allOf": [{"type": "integer"}, {"exclusiveMaximum": 5}]}, "5", 0.0),
        ({"$defs": {"n": {"type": "integer"}}, "items": {"$ref": "#/$defs/n"}}, '["x"]', 0.0),
        ({"$defs": {"a/b": {"type": "integer"}}, "items": {"$ref": "#/$defs/a~1b"}}, '["x"]', 0.0),
        (TREE, '{"name": "a", "children": [{"name": "b"}]}', 1.0),
        (TREE, '{"name": "a", "children": [{"children": []}]}', 0.0),
    ],
)
def test_an_answer_follows_the_schema_or_not(schema, answer, score):
    found = result_of(JSONSchemaMetric(schema), answer)
    assert (found.error, found.score) == (None, score)
    assert bool(found.explanation) == (score == 0.0)


def test_what_is_wrong_is_told_with_its_place_five_at_most():
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in "abcdefg"}}
    found = result_of(JSONSchemaMetric(schema), json.dumps(dict.fromkeys("abcdefg", "x")))
    assert found.explanation.count("but the schema says integer") == 5
    assert found.explanation.startswith("a is 'x'")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("", "the answer is no JSON: Expecting value"),
        ('Here it is: {"a": 1}', "the answer is no JSON"),
        ('```json\n{"a": 1}\n```', "the answer is no JSON"),
        ("Infinity", "the answer is no JSON: Infinity is no JSON number"),
        ("[" * 200_000, "the answer is no JSON: it is nested too deeply"),
    ],
)
def test_text_that_is_no_json_fails_both_rules_and_says_why(answer, problem):
    for metric in (JSONSchemaMetric({}), JSONEqualityMetric()):
        found = result_of(metric, answer, {"a": 1})
        assert found.score == 0.0
        assert problem in found.explanation


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ("object", "schema is a mapping, as JSON schemas are written, not 'object'"),
        (None, "schema is a mapping, as JSON schemas are written, not None"),
        ({"type": "strng"}, "the schema has the type 'strng'; the types are: array, boolean, integer, null, number"),
        ({"items": {"type": "int"}}, "the schema has the type 'int'"),
        ({"properties": ["a"]}, "schema is no JSON schema"),
        ({"anyOf": 5}, "schema is no JSON schema"),
        ({"type": 5}, "schema is no JSON schema"),
        ({"type": {"a": 1}}, "type is the name of a type, or a list of them, not {'a': 1}"),
        ({"required": "name"}, "required is a list of names, not 'name'"),
        ({"items": [{"type": "string"}]}, "items is a schema for every item, not [{'type': 'string'}]"),
        ({"properties": {"a": {"pattern": "("}}}, "pattern is a regular expression, not '('"),
        ({"minimum": "3"}, "minimum is a number, not '3'"),
        ({"maxLength": -1}, "maxLength is a whole number from 0 on, not -1"),
        ({"enum": "abc"}, "enum is a list of values, not 'abc'"),
        ({"anyOf": []}, "anyOf is a list of schemas, not []"),
        ({"properties": {"a": "string"}}, "properties is a mapping from names to schemas, not {'a': 'string'}"),
        ({"additionalProperties": "no"}, "additionalProperties is a schema, true or false, not 'no'"),
        ({"$ref": "#/$defs/absent"}, "the schema refers to '#/$defs/absent', which is not in it"),
        ({"items": {"$ref": "https://example.org/s.json"}}, "refers to 'https://example.org/s.json', which is not"),
        ({"format": "date"}, "the schema uses format, which cannot be checked here; leave it out"),
        ({"anyOf": [{"not": {}}]}, "the schema uses not, which"),
        ({"$defs": {"a": {"multipleOf": 2}}}, "the schema uses multipleOf, which"),
        (
            {"additionalProperties": {"uniqueItems": True, "contains": {}}},
            "the schema uses contains, uniqueItems, which",
        ),
    ],
)
def test_a_schema_that_could_not_be_checked_is_refused_when_the_metric_is_made(schema, problem):
    with pytest.raises(InputError) as told:
        JSONSchemaMetric(schema)
    assert problem in str(told.value)


def test_names_of_properties_are_no_keywords():
    metric = JSONSchemaMetric({"properties": {"format": {"type": "string"}, "not": {"type": "integer"}}})
    assert result_of(metric, '{"format": "x", "not": 1}').score == 1.0


@pytest.mark.parametrize(
    ("answer", "reference", "score"),
    [
        ("1", 1.0, 1.0),
        ("1", True, 0.0),
        ("true", True, 1.0),
        ('"1"', 1, 0.0),
        ("[]", {}, 0.0),
        ("{}", {}, 1.0),
        ('{"a": {"b": [1, {"c": null}]}}', {"a": {"b": [1.0, {"c": None}]}}, 1.0),
        ('{"a": 1, "b": 2}', {"a": 1}, 0.0),
        ("[1]", [1, 1], 0.0),
        ('"\\u00e9"', "\u00e9", None),
        ('"\\u00e9"', '"\u00e9"', 1.0),
        ('"e\\u0301"', '"\u00e9"', 0.0),
        ([1, 2], "[1, 2]", 1.0),
        ((1, 2), [1, 2], 1.0),
    ],
)
def test_json_is_equal_whatever_its_spaces_order_and_kind_of_number(answer, reference, score):
    found = result_of(JSONEqualityMetric(), answer, reference)
    assert found.score == score
    if score is None:
        assert "the reference of item 'q1' is no JSON" in found.error.message


def test_the_schema_is_part_of_the_instrument():
    schemas = [{"type": "object"}, {"type": "array"}, {"type": "object", "required": ["a"]}]
    assert len({JSONSchemaMetric(one).instrument for one in schemas}) == 3
    assert JSONSchemaMetric({"type": "object"}).instrument == JSONSchemaMetric({"type": "object"}).instrument


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"anyOf": [{"type": "string"}, {"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}},
        {"properties": {"next": {"$ref": "#/properties/next"}}},
    ],
)
def test_a_schema_that_refers_to_itself_without_end_is_refused(schema):
    with pytest.raises(InputError, match="the schema refers to itself without end"):
        JSONSchemaMetric(schema)


def test_a_schema_may_refer_to_itself_below():
    schema = {"type": "object", "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "n": {"const": 1}}}
    assert result_of(JSONSchemaMetric(schema), '{"next": {"next": null, "n": 1}}', None).score == 1.0
    assert result_of(JSONSchemaMetric(schema), '{"next": {"next": null, "n": 2}}', None).score == 0.0
