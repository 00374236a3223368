"""What judges answer about statements: the forms that are asked for, and the check of what came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from calibrant.aggregation.verdicts import VERDICT_WEIGHTS
from calibrant.errors import JudgeReplyError, RatingError, shortened
from calibrant.models.schemas import choice_meant

__all__ = ["CLAIM_SCHEMAS", "read_statements", "read_verdicts"]

_VERDICT: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "quote": {"type": "string"},
        "verdict": {"type": "string", "enum": list(VERDICT_WEIGHTS)},
    },
    "required": ["reason", "quote", "verdict"],
    "additionalProperties": False,
}


def _object(**properties: Any) -> dict[str, Any]:
    required = list(properties)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_STATEMENTS = {"type": "array", "items": {"type": "string"}}
_VERDICTS = {"type": "array", "items": _VERDICT}

CLAIM_SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "split": _object(statements=_STATEMENTS),
    "judge": _object(verdicts=_VERDICTS),
    "both": _object(statements=_STATEMENTS, verdicts=_VERDICTS),
}
"""The JSON that each call is answered with; of a verdict the reason and the quotation come before the word."""


def read_statements(data: Any) -> list[str]:
    """The statements of a reply, without empty ones; anything that is no list of texts is a JudgeReplyError.

    >>> read_statements({"statements": ["It is open. ", ""]})
    ['It is open.']
    """
    given = _member(data, "statements")
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise JudgeReplyError(f"expected a list of statements, got {shortened(given)}")
    return [one.strip() for one in cast("list[str]", given) if one.strip()]


def read_verdicts(data: Any, statements: Sequence[str], unit: str = "statement") -> list[dict[str, str]]:
    """The verdicts of a reply; more or fewer than there are statements raise RatingError `verdict_count`."""
    given = _member(data, "verdicts")
    if not isinstance(given, list):
        raise JudgeReplyError(f"expected a list of verdicts, got {shortened(given)}")
    if len(given) != len(statements):
        expected = f"expected {len(statements)} verdicts, one for each {unit}"
        raise RatingError(f"{expected}, got {len(given)}", code="verdict_count")
    return [_verdict(place, one) for place, one in enumerate(cast("list[Any]", given), start=1)]


def _member(data: Any, name: str) -> Any:
    if not isinstance(data, Mapping) or name not in data:
        raise JudgeReplyError(f"expected an object with {name}, got {shortened(data)}")
    return cast("Mapping[str, Any]", data)[name]


def _verdict(place: int, given: Any) -> dict[str, str]:
    word = choice_meant(given.get("verdict"), VERDICT_WEIGHTS) if isinstance(given, Mapping) else None
    if word is None:
        raise JudgeReplyError(f"verdict {place} is one of {', '.join(VERDICT_WEIGHTS)}, not {shortened(given)}")
    told = cast("Mapping[str, Any]", given)
    return {"verdict": word, "quote": str(told.get("quote") or "").strip(), "reason": str(told.get("reason") or "")}
