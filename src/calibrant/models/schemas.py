"""JSON schemas: whether a reply follows one, and whether a provider may be asked to hold to it strictly."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from calibrant.errors import shortened

__all__ = ["choice_meant", "faults_of", "is_strict", "referenced", "respelled"]

Schema = Mapping[str, Any]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "number": (int, float),
    "integer": (int,),
}


def faults_of(value: Any, schema: Schema) -> list[str]:
    """What is wrong with the JSON `value` under `schema`, each with its place; empty when nothing is.

    The keywords that constrain a judge's reply are known (types, enums, required and extra properties, items, bounds,
    lengths, patterns, alternatives, local references); any other is not checked.

    >>> faults_of({"score": "high"}, {"type": "object", "properties": {"score": {"type": "number"}}})
    ["score is 'high', but the schema says number"]
    """
    return list(_faults(value, schema, "", schema))


def choice_meant(said: Any, choices: Iterable[Any]) -> Any:
    """The one of `choices` that `said` is but for case, white space around it and a final full stop; None if unclear.

    >>> choice_meant(" Fully.", ["fully", "none"]), choice_meant("no", ["No", "NO"]), choice_meant("yes, no", ["yes"])
    ('fully', None, None)
    """
    given = list(choices)
    if said in given:
        return said
    if not isinstance(said, str):
        return None
    fitting = [one for one in given if isinstance(one, str) and _folded(one) == _folded(said)]
    return fitting[0] if len(fitting) == 1 else None


def respelled(value: Any, schema: Any) -> Any:
    """`value` with each text that an enumeration of `schema` does not have as the choice that it can only mean.

    >>> respelled({"verdict": "Fully."}, {"properties": {"verdict": {"enum": ["fully", "none"]}}})
    {'verdict': 'fully'}
    """
    return _respelled(value, schema, schema)


def is_strict(schema: Schema) -> bool:
    """Whether every object of `schema` names all its properties as required and allows no others.

    That is what OpenAI's strict mode demands of a schema.
    """
    if schema.get("type") == "object" or "properties" in schema:
        named = cast("Mapping[str, Any]", schema.get("properties", {}))
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(named):
            return False
    return all(is_strict(inner) for inner in _inner_schemas(schema))


def referenced(reference: str, root: Schema) -> Any:
    """The schema that a local `$ref` stands for, of the whole schema `root`; None when it is not there.

    >>> referenced("#/$defs/n", {"$defs": {"n": {"type": "integer"}}}), referenced("#/$defs/m", {})
    ({'type': 'integer'}, None)
    """
    if not reference.startswith("#"):
        return None
    found: Any = root
    for raw in reference[1:].strip("/").split("/") if reference.strip("#/") else ():
        part = raw.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, Mapping) or part not in found:
            return None
        found = cast("Mapping[str, Any]", found)[part]
    return found


def _inner_schemas(schema: Schema) -> Iterator[Schema]:
    for key in ("properties", "$defs", "definitions"):
        yield from cast("Mapping[str, Schema]", schema.get(key, {})).values()
    for key in ("anyOf", "oneOf", "allOf"):
        yield from schema.get(key, ())
    if isinstance(schema.get("items"), Mapping):
        yield schema["items"]


def _faults(value: Any, schema: Any, place: str, root: Schema) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        if schema is False:
            yield f"{place or 'the reply'} is not allowed by the schema"
        return
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield from _faults(value, referenced(reference, root), place, root)
    expected = schema.get("type")
    if expected is not None and not _is_of(value, expected):
        names = expected if isinstance(expected, str) else " or ".join(expected)
        yield f"{place or 'the reply'} is {shortened(value)}, but the schema says {names}"
        return
    yield from _choice_faults(value, schema, place)
    yield from _alternative_faults(value, schema, place, root)
    match value:
        case dict():
            yield from _object_faults(cast("dict[str, Any]", value), schema, place, root)
        case list():
            yield from _array_faults(cast("list[Any]", value), schema, place, root)
        case str():
            yield from _text_faults(value, schema, place)
        case int() | float() if not isinstance(value, bool):
            yield from _number_faults(value, schema, place)
        case _:
            pass


def _respelled(value: Any, schema: Any, root: Any) -> Any:
    if not isinstance(schema, Mapping):
        return value
    known = cast("Mapping[str, Any]", schema)
    if isinstance(known.get("$ref"), str):
        value = _respelled(value, referenced(known["$ref"], root), root)
    if isinstance(value, dict):
        named, fields = known.get("properties", {}), cast("dict[str, Any]", value)
        return {name: _respelled(inner, named.get(name), root) for name, inner in fields.items()}
    if isinstance(value, list):
        return [_respelled(inner, known.get("items"), root) for inner in cast("list[Any]", value)]
    if not isinstance(value, str):
        return value
    meant = choice_meant(value, _choices(known) or ())
    return value if meant is None else meant


def _folded(text: str) -> str:
    return text.strip().removesuffix(".").rstrip().casefold()


def _choices(schema: Schema) -> list[Any] | None:
    return schema.get("enum", [schema["const"]] if "const" in schema else None)


def _is_of(value: Any, expected: str | list[str]) -> bool:
    names = [expected] if isinstance(expected, str) else expected
    for name in names:
        if name == "integer" and isinstance(value, float) and value.is_integer():
            return True
        if isinstance(value, bool) and name != "boolean":
            continue
        if isinstance(value, _TYPES.get(name, (object,))):
            return True
    return False


def _choice_faults(value: Any, schema: Schema, place: str) -> Iterator[str]:
    choices = _choices(schema)
    if choices is not None and not any(
        value == one and isinstance(value, bool) == isinstance(one, bool) for one in choices
    ):
        listed = ", ".join(map(repr, choices))
        yield f"{place or 'the reply'} is {shortened(value)}, but the schema allows only {listed}"


def _alternative_faults(value: Any, schema: Schema, place: str, root: Schema) -> Iterator[str]:
    for part in schema.get("allOf", ()):
        yield from _faults(value, part, place, root)
    for key in ("anyOf", "oneOf"):
        alternatives = schema.get(key)
        if not alternatives:
            continue
        found = [list(_faults(value, one, place, root)) for one in alternatives]
        fitting = sum(not faults for faults in found)
        if not fitting:
            yield min(found, key=len)[0]
        elif key == "oneOf" and fitting > 1:
            yield f"{place or 'the reply'} fits {fitting} of the schema's alternatives, but may fit only one"


def _object_faults(value: dict[str, Any], schema: Schema, place: str, root: Schema) -> Iterator[str]:
    named = cast("Mapping[str, Any]", schema.get("properties", {}))
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{_below(place, name)} is missing"
    extra = schema.get("additionalProperties", True)
    for name, inner in value.items():
        if name in named:
            yield from _faults(inner, named[name], _below(place, name), root)
        elif extra is False:
            yield f"{_below(place, name)} is not in the schema"
        elif isinstance(extra, Mapping):
            yield from _faults(inner, extra, _below(place, name), root)


def _array_faults(value: list[Any], schema: Schema, place: str, root: Schema) -> Iterator[str]:
    low, high = schema.get("minItems", 0), schema.get("maxItems", math.inf)
    if not low <= len(value) <= high:
        yield f"{place or 'the reply'} has {len(value)} items, but the schema says {_range_text(low, high)}"
    for index, inner in enumerate(value):
        yield from _faults(inner, schema.get("items", {}), f"{place}[{index}]", root)


def _text_faults(value: str, schema: Schema, place: str) -> Iterator[str]:
    low, high = schema.get("minLength", 0), schema.get("maxLength", math.inf)
    if not low <= len(value) <= high:
        yield f"{place or 'the reply'} has {len(value)} characters, but the schema says {_range_text(low, high)}"
    pattern = schema.get("pattern")
    if pattern is not None and not re.search(pattern, value):
        yield f"{place or 'the reply'} is {shortened(value)}, but the schema says it matches {pattern!r}"


def _number_faults(value: float, schema: Schema, place: str) -> Iterator[str]:
    low, high = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    above, below = schema.get("exclusiveMinimum", -math.inf), schema.get("exclusiveMaximum", math.inf)
    if not low <= value <= high or not above < value < below:
        shown = _range_text(max(low, above), min(high, below))
        yield f"{place or 'the reply'} is {value}, but the schema says {shown}"


def _range_text(low: float, high: float) -> str:
    if high == math.inf:
        return f"at least {low:g}"
    return f"at most {high:g}" if low in {0, -math.inf} and high else f"{low:g} to {high:g}"


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
