"""A document against the part of JSON Schema that our schemas use, with the line of every problem."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from calibrant.errors import shortened, suggestion

__all__ = ["Finding", "findings", "line_of", "prune"]

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "object": (Mapping,),
    "array": (list,),
}
WORDS = {
    "string": "a text",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a mapping",
    "array": "a list",
}


class Finding(NamedTuple):
    """What is wrong, and the line on which it stands."""

    line: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}"


def findings(document: Any, schema: Mapping[str, Any]) -> list[Finding]:
    """Every way in which `document`, as ruamel.yaml reads it, does not follow `schema`, in the order of its lines."""
    return sorted(_check(document, schema, "the plan", 1))


def prune(value: Any, schema: Mapping[str, Any]) -> None:
    """Take out of `value`, however deep, the keys that `schema` does not know, so that the rest can be looked at."""
    if "anyOf" in schema:
        schema = next((one for one in schema["anyOf"] if _has_type(value, one["type"])), {})
    if isinstance(value, Mapping):
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        for key in [*cast("Mapping[Any, Any]", value)]:
            if key not in known and others is False:
                # A key that came by a merge (<<) belongs to another mapping, and stays.
                with contextlib.suppress(KeyError):
                    del cast("dict[Any, Any]", value)[key]
            elif key in known or isinstance(others, Mapping):
                prune(value[key], known.get(key, others))
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            prune(inner, schema.get("items", {}))


def line_of(parent: Any, key: Any) -> int:
    """The line on which `key` of a mapping, or the item at that place of a list, stands."""
    marks = getattr(parent, "lc", None)
    try:
        found = marks.key(key) if isinstance(parent, Mapping) else marks.item(key)  # pyright: ignore[reportOptionalMemberAccess] - what has no marks raises, and is line 1
    except (AttributeError, KeyError, TypeError, IndexError):
        return 1
    return int(found[0]) + 1


def _check(value: Any, schema: Mapping[str, Any], where: str, line: int) -> Iterator[Finding]:
    if "anyOf" in schema:
        fitting = [one for one in schema["anyOf"] if _has_type(value, one["type"])]
        if not fitting:
            words = " or ".join(WORDS[one["type"]] for one in schema["anyOf"])
            yield Finding(line, f"{where} is {words}, not {_shown(value)}")
        else:
            yield from _check(value, fitting[0], where, line)
    elif "const" in schema:
        if value != schema["const"] or isinstance(value, bool):
            yield Finding(line, f"{where} is {schema['const']}, not {_shown(value)}")
    elif not _has_type(value, schema["type"]):
        yield Finding(line, f"{where} is {WORDS[schema['type']]}, not {_shown(value)}")
    elif isinstance(value, Mapping):
        yield from _check_mapping(cast("Mapping[Any, Any]", value), schema, where, line)
    elif isinstance(value, list):
        yield from _check_list(cast("list[Any]", value), schema, where, line)
    else:
        yield from (Finding(line, f"{where} is {problem}, not {_shown(value)}") for problem in _limits(value, schema))


def _check_mapping(value: Mapping[Any, Any], schema: Mapping[str, Any], where: str, line: int) -> Iterator[Finding]:
    known: Mapping[str, Any] = schema.get("properties", {})
    others = schema.get("additionalProperties", True)
    for key, inner in value.items():
        at = line_of(value, key)
        if key in known:
            yield from _check(inner, known[key], str(key), at)
        elif others is False:
            yield Finding(at, f"unknown key {key!r} in {where}; {suggestion(str(key), [*known])}")
        elif isinstance(others, Mapping):
            yield from _check(inner, cast("Mapping[str, Any]", others), f"{where}.{key}", at)
    for name in schema.get("required", ()):
        if name not in value:
            yield Finding(line, f"{where} has no {name!r}: {known[name].get('description', 'it is required')}")


def _check_list(value: list[Any], schema: Mapping[str, Any], where: str, line: int) -> Iterator[Finding]:
    if len(value) < schema.get("minItems", 0):
        yield Finding(line, f"{where} is empty; it lists at least one")
    for place, inner in enumerate(value):
        yield from _check(inner, schema["items"], f"{where}[{place + 1}]", line_of(value, place))


def _limits(value: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    if "minLength" in schema and len(value.strip()) < schema["minLength"]:
        yield f"a text of at least {schema['minLength']} characters" if schema["minLength"] > 1 else "not empty"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"at least {schema['minimum']}"
    if "maximum" in schema and value > schema["maximum"]:
        yield f"at most {schema['maximum']}"
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        yield f"above {schema['exclusiveMinimum']}"
    if value != value:  # noqa: PLR0124 - NaN alone differs from itself
        yield "a number"


def _has_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def _shown(value: Any) -> str:
    if value is None:
        return "empty"
    return "a mapping" if isinstance(value, Mapping) else "a list" if isinstance(value, list) else shortened(value)
