"""Rules about JSON: an answer that follows a schema, or equals a reference. They ask no model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, shortened
from calibrant.metrics.json_schemas import checked_schema
from calibrant.metrics.text import TextRule
from calibrant.ratings import MetricScore

if TYPE_CHECKING:
    from calibrant.items import EvalInput

__all__ = ["JSONEqualityMetric", "JSONSchemaMetric"]


class JSONSchemaMetric(TextRule):
    """1.0 when the answer is JSON that follows `schema`. A part of it that could not be checked is refused at once."""

    name = "json_schema"
    schema: Mapping[str, Any] = {}
    own_settings = ("schema",)

    def __init__(self, schema: Mapping[str, Any], **settings: Any) -> None:
        super().__init__(schema=checked_schema(schema), **settings)

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

    try:
        return json.loads(text, parse_constant=refuse)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _same_json(first: Any, second: Any) -> bool:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_same_json(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same_json, first, second))
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    return first == second
