"""A document against a schema: each problem once, with its line and a remedy."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from calibrant.errors import suggestion
from calibrant.readers.plan import plan_schema
from calibrant.readers.schema import Finding, findings, line_of, prune

POINT = {
    "type": "object",
    "required": ["x"],
    "additionalProperties": False,
    "properties": {
        "x": {"type": "number", "minimum": 0, "maximum": 10, "description": "Along."},
        "y": {"type": "integer", "exclusiveMinimum": 0},
        "name": {"type": "string", "minLength": 3},
        "tags": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "version": {"const": 1},
        "either": {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "number"}}]},
        "on": {"type": "boolean"},
    },
}


def found(document):
    return [finding.problem for finding in findings(document, POINT)]


@pytest.mark.parametrize(
    "document",
    [
        {"x": 0},
        {"x": 10.0, "y": 1, "name": "abc", "tags": ["a"], "version": 1, "on": False},
        {"x": 1, "either": "text"},
        {"x": 1, "either": {"a": 1, "b": 2.5}},
        {"x": 1, "either": {}},
    ],
)
def test_what_fits_has_no_findings(document):
    assert found(document) == []


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({"x": -1}, "x is at least 0, not -1"),
        ({"x": 11}, "x is at most 10, not 11"),
        ({"x": "1"}, "x is a number, not '1'"),
        ({"x": True}, "x is a number, not True"),
        ({"x": None}, "x is a number, not empty"),
        ({"x": [1]}, "x is a number, not a list"),
        ({"x": {"a": 1}}, "x is a number, not a mapping"),
        ({"x": float("nan")}, "x is a number, not nan"),
        ({"x": 1, "y": 0}, "y is above 0, not 0"),
        ({"x": 1, "y": 1.5}, "y is a whole number, not 1.5"),
        ({"x": 1, "name": "ab"}, "name is a text of at least 3 characters, not 'ab'"),
        ({"x": 1, "tags": []}, "tags is empty; it lists at least one"),
        ({"x": 1, "tags": ["a", 2]}, "tags[2] is a text, not 2"),
        ({"x": 1, "version": 2}, "version is 1, not 2"),
        ({"x": 1, "version": True}, "version is 1, not True"),
        ({"x": 1, "either": 7}, "either is a text or a mapping, not 7"),
        ({"x": 1, "either": {"a": "b"}}, "either.a is a number, not 'b'"),
        ({"x": 1, "on": 1}, "on is true or false, not 1"),
        ({"x": 1, "nam": "abc"}, "unknown key 'nam' in the plan; did you mean 'name'?"),
        ({}, "the plan has no 'x': Along."),
        ([], "the plan is a mapping, not a list"),
        ("x: 1", "the plan is a mapping, not 'x: 1'"),
    ],
)
def test_what_does_not_fit_is_said_in_words(document, problem):
    assert found(document) == [problem]


def test_an_unknown_key_that_is_like_none_lists_all():
    [problem] = found({"x": 1, "zzz": 0})
    assert problem == ("unknown key 'zzz' in the plan; expected one of: x, y, name, tags, version, either, on")


def test_an_empty_text_where_one_is_needed():
    schema = {"type": "string", "minLength": 1}
    assert [one.problem for one in findings("  ", schema)] == ["the plan is not empty, not '  '"]


def test_findings_come_by_line():
    document = YAML(typ="rt").load("y: 0\nx: -1\ntags: [1]\n")
    assert findings(document, POINT) == [
        Finding(1, "y is above 0, not 0"),
        Finding(2, "x is at least 0, not -1"),
        Finding(3, "tags[1] is a text, not 1"),
    ]
    assert str(findings(document, POINT)[0]) == "line 1: y is above 0, not 0"


def test_lines_are_those_of_the_document():
    document = YAML(typ="rt").load("a: 1\n\nb:\n  - x\n  - y\n")
    assert (line_of(document, "a"), line_of(document, "b")) == (1, 3)
    assert (line_of(document["b"], 0), line_of(document["b"], 1)) == (4, 5)


@pytest.mark.parametrize(("parent", "key"), [({"a": 1}, "a"), ([1], 0), (None, "a"), ({"a": 1}, "b")])
def test_what_has_no_lines_is_on_the_first(parent, key):
    assert line_of(parent, key) == 1


def test_a_key_that_a_document_does_not_have_is_on_the_first_line():
    document = YAML(typ="rt").load("a: 1\nb: [1]\n")
    assert line_of(document, "zzz") == 1
    assert line_of(document["b"], 9) == 1


@pytest.mark.parametrize(
    ("name", "known", "remedy"),
    [
        ("treshold", ["threshold", "name"], "did you mean 'threshold'?"),
        ("q", ["threshold", "name"], "expected one of: threshold, name"),
        ("x", [], "expected one of: "),
    ],
)
def test_the_nearest_name_is_suggested(name, known, remedy):
    assert suggestion(name, known) == remedy


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=10,
    )
)
def test_any_document_gets_findings_and_never_an_exception(document):
    """Only a mapping with version, dataset and metrics can be a plan, and hypothesis does not hit on one."""
    found = findings(document, plan_schema())
    assert found
    assert all(finding.line == 1 for finding in found)


def test_the_shipped_schema_is_json_schema_of_the_kind_that_is_checked():
    """A word of JSON Schema that is not checked would be a promise that nobody keeps."""
    checked = {"type", "required", "additionalProperties", "properties", "items", "minItems", "minLength", "minimum"}
    checked |= {"maximum", "exclusiveMinimum", "const", "anyOf"}
    checked |= {"description", "title", "$schema", "default"}  # these say something and ask for nothing

    def words(schema):
        for word, value in schema.items():
            yield word
            inner = value.values() if word == "properties" else value if word == "anyOf" else [value]
            for one in inner:
                if isinstance(one, dict):
                    yield from words(one)

    used = set(words(json.loads(json.dumps(plan_schema()))))
    assert used <= checked


def test_what_a_schema_does_not_know_is_taken_out_however_deep_and_nothing_else():
    inner = {"type": "object", "additionalProperties": False, "properties": {"a": {"type": "integer"}}}
    lists = {"type": "array", "items": inner}
    either = {"anyOf": [{"type": "string"}, inner]}
    named = {"type": "object", "additionalProperties": inner}
    schema = {**inner, "properties": {"a": {"type": "integer"}, "list": lists, "either": either, "named": named}}
    document = {"a": "x", "b": 1, "list": [{"a": 1, "b": 2}, 3], "either": {"b": 1}, "named": {"m": {"a": 1, "z": 2}}}
    prune(document, schema)
    assert document == {"a": "x", "list": [{"a": 1}, 3], "either": {}, "named": {"m": {"a": 1}}}
