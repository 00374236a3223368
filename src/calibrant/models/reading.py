"""From a model's words to what was asked for: strictly, so that nothing that a reply smuggles in is believed."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from calibrant.errors import JudgeReplyError, shortened
from calibrant.models.schemas import faults_of, respelled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "PARSER_VERSION",
    "THINK_END",
    "Thought",
    "label_of",
    "label_probabilities",
    "parsed_json",
    "parsed_schema",
    "without_reasoning",
]

PARSER_VERSION = 1
"""Part of every instrument with judges: raise it when some reply would be read otherwise than before."""

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL | re.IGNORECASE)
_THINK, THINK_END = "<think>", "</think>"
_JSON_BEGINS = ("{", "[", "```")
_LABEL_TRIM = " \t\r\n\"'`*.:"


class Thought(NamedTuple):
    """A reply's text, and the reasoning that stood before it; `is_opened` unless only its closing tag was there."""

    text: str
    reasoning: str
    is_opened: bool = True


def without_reasoning(text: str) -> Thought:
    """`text` with its leading `<think>` blocks kept apart; one that was never closed was cut off, and is all reasoning.

    A closing tag inside of JSON is a part of the JSON.

    >>> without_reasoning("<think>It cites both.</think>yes")
    Thought(text='yes', reasoning='It cites both.', is_opened=True)
    """
    rest, thoughts = text.lstrip(), list[str]()
    is_opened = rest.startswith(_THINK)
    if not is_opened and rest.startswith(_JSON_BEGINS):
        return Thought(text, "")
    while (end := rest.find(THINK_END)) >= 0:
        thought = rest[:end].removeprefix(_THINK)
        # Some servers put the opening tag into the prompt, so that only the closing one is in the reply.
        if _THINK in thought:
            break
        thoughts.append(thought.strip())
        rest = rest[end + len(THINK_END) :].lstrip()
        if not rest.startswith(_THINK):
            break
    else:
        if rest.startswith(_THINK):
            return Thought("", "\n".join([*thoughts, rest.removeprefix(_THINK).strip()]))
    return Thought(rest if thoughts else text, "\n".join(thoughts), is_opened=is_opened or not thoughts)


def parsed_json(text: str) -> Any:
    """The one JSON value that `text` is, alone or in one code fence; anything beside it makes the reply unbelievable.

    A second object, a sentence around it, a key given twice or a number that is none raise JudgeReplyError.

    >>> parsed_json('{"score": 0.5}')
    {'score': 0.5}
    >>> parsed_json('{"score": 0.5} The score is 1.0.')
    Traceback (most recent call last):
    calibrant.errors.JudgeReplyError: expected one JSON value and nothing else, got '{"score": 0.5} The score is 1.0.'
    """
    body = text.strip()
    fenced = _FENCED.fullmatch(body)
    try:
        return _decode(fenced[1] if fenced else body)
    except json.JSONDecodeError as error:
        if error.pos >= len(body.rstrip("`")) or error.msg.startswith("Unterminated"):
            raise JudgeReplyError(
                f"expected one JSON value, but the reply breaks off: {_tail(text)}", code="reply_truncated", reply=text
            ) from None
        raise JudgeReplyError(f"expected one JSON value and nothing else, got {shortened(text)}", reply=text) from None
    except (ValueError, RecursionError) as error:
        raise JudgeReplyError(f"expected plain JSON, but {error}: {shortened(text)}", reply=text) from None


def parsed_schema(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON value that `text` is, when it follows `schema`; else JudgeReplyError says what is wrong with it.

    A choice that is written otherwise in case, outer white space or a final full stop alone is the one of the schema.
    """
    value = parsed_json(text)
    faults = faults_of(value, schema)
    if faults:
        value = respelled(value, schema)
        faults = faults_of(value, schema)
    if faults:
        raise JudgeReplyError(f"expected a reply of the schema, but {'; '.join(faults[:5])}", reply=text)
    return value


def label_of(text: str, labels: Sequence[str]) -> str:
    """The one of `labels` that `text` is, whatever its case, quotes and full stop; words around it are not believed.

    >>> label_of('"Yes".', ["yes", "no"])
    'yes'
    """
    body = text.strip()
    if body in labels:
        return body
    said = body.strip(_LABEL_TRIM).casefold()
    fitting = [label for label in labels if label.casefold() == said]
    if len(fitting) == 1:
        return fitting[0]
    raise JudgeReplyError(f"expected one of {', '.join(labels)} and nothing else, got {shortened(text)}", reply=text)


def label_probabilities(logprobs: Mapping[str, float], labels: Sequence[str]) -> tuple[dict[str, float], float] | None:
    """Probabilities over `labels` from the log-probabilities of the first token, and the mass that was on none.

    A token counts for the label that it spells, or else for the only label that it begins; the mass is renormalised
    over the labels. None when no token speaks for any label.

    >>> probabilities, off = label_probabilities({"yes": -0.1, "no": -3.0, "Well": -4.0}, ["yes", "no"])
    >>> round(probabilities["yes"], 3), round(off, 3)
    (0.948, 0.045)
    """
    mass = dict.fromkeys(labels, 0.0)
    for token, logprob in logprobs.items():
        label = _spelled_by(token, labels)
        if label is not None and not math.isnan(logprob):
            mass[label] += math.exp(min(logprob, 0.0))
    total = math.fsum(mass.values())
    if total <= 0.0:
        return None
    return {label: weight / total for label, weight in mass.items()}, max(0.0, 1.0 - total)


def _spelled_by(token: str, labels: Sequence[str]) -> str | None:
    said = token.strip(_LABEL_TRIM).casefold()
    if not said:
        return None
    exact = [label for label in labels if label.casefold() == said]
    begun = exact or [label for label in labels if label.casefold().startswith(said)]
    return begun[0] if len(begun) == 1 else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"{digits} is beyond every number")
    return number


_decode = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite).decode


def _tail(text: str) -> str:
    return shortened(text) if len(text) <= 60 else f"...{text[-40:]!r}"
