"""Rules about JSON: an answer that follows a schema, or equals a reference. They ask no model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, shortened
from calibrant.metrics.text import TextRule
from calibrant.ratings import MetricScore

if TYPE_CHECKING:
    from calibrant.items import EvalInput

__all__ = ["CHECKED_KEYWORDS", "JSONEqualityMetric", "JSONSchemaMetric"]

CHECKED_KEYWORDS = frozenset(
    {
        *("$ref", "$defs", "definitions", "type", "enum", "const", "properties", "required", "additionalProperties"),
        *("items", "minItems", "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum"),
        *("exclusiveMinimum", "exclusiveMaximum", "anyOf", "oneOf", "allOf"),
        *("title", "description", "default", "examples", "$schema", "$id", "$comment"),
    }
)
"""The keywords of a JSON schema that are checked, and those that say nothing about a value."""


class JSONSchemaMetric(TextRule):
    """1.0 when the answer is JSON that follows `schema`. A keyword that could not be checked is refused at once."""

    name = "json_schema"
    schema: Mapping[str, Any] = {}
    own_settings = ("schema",)

    def __init__(self, schema: Mapping[str, Any], **settings: Any) -> None:
        unknown = sorted(_keywords(schema) - CHECKED_KEYWORDS)
        if unknown:
            raise InputError(f"the schema uses {', '.join(unknown)}, which cannot be checked here; leave it out")
        super().__init__(schema=schema, **settings)

    def rule(self, data: EvalInput) -> MetricScore:
        """1.0 when nothing is wrong with the answer under the schema; else what is."""
        from calibrant.models.schemas import faults_of

        value = data.get(self.field)
        if isinstance(value, str):
            try:
                value = loaded_json(value)
            except ValueError as error:
                return MetricScore(0.0, f"the {self.field} is no JSON: {error}")
        faults = faults_of(value, self.schema)
        return MetricScore(float(not faults), "; ".join(faults[:5]))


class JSONEqualityMetric(TextRule):
    """1.0 when answer and reference are equal as JSON: spaces and the order of keys do not count, 1 equals 1.0."""

    name = "json_equality"
    required_fields = frozenset({"answer", "ground_truth"})

    def rule(self, data: EvalInput) -> MetricScore:
        """1.0 when both are equal; an answer that is no JSON is not, a reference that is none is an error."""
        reference = data.ground_truth
        if isinstance(reference, str):
            try:
                reference = loaded_json(reference)
            except ValueError as error:
                raise InputError(f"the reference of item {data.id!r} is no JSON: {error}") from None
        answer = data.get(self.field)
        try:
            answer = loaded_json(answer) if isinstance(answer, str) else answer
        except ValueError as error:
            return MetricScore(0.0, f"the {self.field} is no JSON: {error}")
        equal = _same_json(answer, reference)
        return MetricScore(float(equal), "" if equal else f"expected {shortened(reference)}, got {shortened(answer)}")


def loaded_json(text: str) -> Any:
    """The JSON value of `text`; what is no JSON, NaN and infinities among it, is a ValueError."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON number")

    return json.loads(text, parse_constant=refuse)


def _same_json(first: Any, second: Any) -> bool:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_same_json(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same_json, first, second))
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    return first == second


def _keywords(schema: Any) -> set[str]:
    if not isinstance(schema, Mapping):
        return set()
    found = set(schema)
    for key in ("properties", "$defs", "definitions"):
        found |= set().union(*(_keywords(inner) for inner in schema.get(key, {}).values()))
    for key in ("anyOf", "oneOf", "allOf"):
        found |= set().union(*(_keywords(inner) for inner in schema.get(key, ())))
    return found | _keywords(schema.get("items")) | _keywords(schema.get("additionalProperties"))
