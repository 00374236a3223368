"""What must hold of a JSON schema before answers are checked by it: one that is misread would pass or fail them all."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from calibrant.errors import InputError, shortened
from calibrant.models.schemas import referenced

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CHECKED_KEYWORDS", "checked_schema"]

CHECKED_KEYWORDS = frozenset(
    {
        *("$ref", "$defs", "definitions", "type", "enum", "const", "properties", "required", "additionalProperties"),
        *("items", "minItems", "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum"),
        *("exclusiveMinimum", "exclusiveMaximum", "anyOf", "oneOf", "allOf"),
        *("title", "description", "default", "examples", "$schema", "$id", "$comment"),
    }
)
"""The keywords of a JSON schema that are checked, and those that say nothing about a value."""

_TYPES = frozenset({"null", "boolean", "object", "array", "number", "integer", "string"})


def checked_schema(schema: Any) -> Mapping[str, Any]:
    """`schema` itself, when every part of it can be checked; else an InputError that says which cannot.

    >>> checked_schema({"required": "name"})
    Traceback (most recent call last):
    calibrant.errors.InputError: schema is no JSON schema: required is a list of names, not 'name'
    """
    if not isinstance(schema, Mapping):
        raise InputError(f"schema is a mapping, as JSON schemas are written, not {shortened(schema)}")
    root = cast("Mapping[str, Any]", schema)
    for one in _schemas(root):
        for keyword, (fits, wanted) in _FORMS.items():
            if keyword in one and not fits(one[keyword]):
                raise InputError(f"schema is no JSON schema: {keyword} is {wanted}, not {shortened(one[keyword])}")
        if "$ref" in one and referenced(one["$ref"], root) is None:
            raise InputError(f"the schema refers to {one['$ref']!r}, which is not in it")
    if any(_is_endless(one, root, frozenset()) for one in _schemas(root)):
        raise InputError("the schema refers to itself without end; let it do so in a property or in items")
    types = sorted({name for one in _schemas(root) for name in _names(one.get("type", ()))} - _TYPES)
    if types:
        raise InputError(f"the schema has the type {types[0]!r}; the types are: {', '.join(sorted(_TYPES))}")
    unknown = sorted({keyword for one in _schemas(root) for keyword in one} - CHECKED_KEYWORDS)
    if unknown:
        raise InputError(f"the schema uses {', '.join(unknown)}, which cannot be checked here; leave it out")
    return root


def _schemas(schema: Any) -> Iterator[Mapping[str, Any]]:
    """`schema` and every schema within it; what has not the form of one is passed over."""
    if not isinstance(schema, Mapping):
        return
    one = cast("Mapping[str, Any]", schema)
    yield one
    inner: list[Any] = [one.get("items"), one.get("additionalProperties")]
    for key in ("properties", "$defs", "definitions"):
        inner += one[key].values() if isinstance(one.get(key), Mapping) else []
    for key in ("anyOf", "oneOf", "allOf"):
        inner += one[key] if isinstance(one.get(key), list | tuple) else []
    for each in inner:
        yield from _schemas(each)


def _is_endless(schema: Any, root: Mapping[str, Any], above: frozenset[int]) -> bool:
    """Whether checking a value by `schema` would come back to it with the same value."""
    if not isinstance(schema, Mapping):
        return False
    one = cast("Mapping[str, Any]", schema)
    if id(one) in above:
        return True
    same = [inner for key in ("anyOf", "oneOf", "allOf") for inner in one.get(key, ())]
    same += [referenced(one["$ref"], root)] if "$ref" in one else []
    return any(_is_endless(inner, root, above | {id(one)}) for inner in same)


def _names(types: Any) -> tuple[str, ...]:
    return (types,) if isinstance(types, str) else tuple(types)


def _is_schema(value: object) -> bool:
    return isinstance(value, Mapping | bool)


def _is_named(value: object) -> bool:
    return isinstance(value, Mapping) and all(map(_is_schema, cast("Mapping[str, object]", value).values()))


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in cast("list[object]", value))


def _is_choice(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_schema, cast("list[object]", value)))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_bound(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_pattern(value: object) -> bool:
    try:
        re.compile(cast("str", value))
    except (re.error, TypeError):
        return False
    return isinstance(value, str)


Form = tuple[Callable[[object], bool], str]
_NAMED: Form = (_is_named, "a mapping from names to schemas")
_CHOICE: Form = (_is_choice, "a list of schemas")
_COUNT: Form = (_is_count, "a whole number from 0 on")
_BOUND: Form = (_is_bound, "a number")
_FORMS: Mapping[str, Form] = {
    "$ref": (lambda value: isinstance(value, str), "a text"),
    "type": (lambda value: isinstance(value, str) or _is_texts(value), "the name of a type, or a list of them"),
    "enum": (lambda value: isinstance(value, list | tuple) and bool(value), "a list of values"),
    "required": (_is_texts, "a list of names"),
    "items": (_is_schema, "a schema for every item"),
    "additionalProperties": (_is_schema, "a schema, true or false"),
    "pattern": (_is_pattern, "a regular expression"),
    **dict.fromkeys(("properties", "$defs", "definitions"), _NAMED),
    **dict.fromkeys(("anyOf", "oneOf", "allOf"), _CHOICE),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), _COUNT),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _BOUND),
}
"""The form that the value of each keyword has, and how errors call it."""
