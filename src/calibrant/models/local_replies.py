"""What is asked of a model in this process, and what its answer amounts to: bodies, grammars, label probabilities."""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from calibrant.errors import JudgeReplyError, ModelCallError, shortened
from calibrant.fingerprints import fingerprint
from calibrant.ratings import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.models.invoker import Request

__all__ = ["Generated", "LabelMass", "ScoredLabel", "body_of", "drawn_label", "label_grammar", "label_masses"]

SAMPLING = frozenset(
    {
        "frequency_penalty",
        "max_completion_tokens",
        "max_tokens",
        "min_p",
        "presence_penalty",
        "repeat_penalty",
        "seed",
        "stop",
        "temperature",
        "top_k",
        "top_p",
    }
)
"""The sampling parameters that the engine knows. It would ignore any other in silence, so others are refused."""


@dataclass(slots=True)
class Generated:
    """What came out of one generation."""

    text: str = ""
    reasoning: str = ""
    finish: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, chunk: Mapping[str, Any]) -> None:
        """Take in one piece of the engine's stream."""
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            self.text += delta.get("content") or ""
            self.reasoning += delta.get("reasoning_content") or ""
            self.finish = choice.get("finish_reason") or self.finish
        usage = chunk.get("usage")
        if usage:
            self.input_tokens, self.output_tokens = usage["prompt_tokens"], usage["completion_tokens"]

    @property
    def usage(self) -> Usage:
        """What it took; the machine's own time has no price."""
        return Usage(calls=1, input_tokens=self.input_tokens, output_tokens=self.output_tokens, usd=0.0)

    def whole(self) -> str:
        """The text; cut off at the token limit, it is a failure."""
        if self.finish == "length":
            raise JudgeReplyError(
                f"the reply was cut off after {self.output_tokens} tokens, got {shortened(self.text)}; pass a larger"
                " max_tokens",
                code="reply_truncated",
                reply=self.text,
                usage=self.usage,
            )
        return self.text

    def parsed(self) -> Any:
        """The JSON value in the text; cut off or broken, it is a failure and never a guess."""
        text = self.whole()
        try:
            return json.loads(text)
        except ValueError as error:
            raise JudgeReplyError(
                f"expected JSON of the schema, got {shortened(text)}", reply=text, usage=self.usage
            ) from error


def body_of(request: Request, *, max_tokens: int) -> dict[str, Any]:
    """The engine's request for the messages of `request`: greedy unless a temperature is set, seeded by its slot."""
    unknown = sorted(set(request.sampling) - SAMPLING)
    if unknown:
        raise ModelCallError(
            f"local models do not know the sampling parameter {', '.join(unknown)}; they know: "
            f"{', '.join(sorted(SAMPLING))}",
            code="request_invalid",
        )
    sampling = dict(request.sampling)
    limit = sampling.pop("max_completion_tokens", None) or sampling.pop("max_tokens", None) or max_tokens
    return {
        "temperature": 0,
        **sampling,
        "max_tokens": limit,
        "seed": int(sampling.get("seed") or 0) + request.slot,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
    }


def schema_grammar(schema: Mapping[str, Any], *, longest_text: int) -> str:
    """The grammar of JSON of `schema`: without spaces between its parts, unnamed properties, or endless texts.

    Small models would go on with each of these for ever. The JSON is still of the schema, whose own bounds go first.
    """
    compact = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":"}
    return f"%llguidance {{}}\nstart: %json {json.dumps({'x-guidance': compact, **_bounded(schema, longest_text)})}"


def _bounded(schema: Any, longest_text: int) -> Any:
    """`schema` with what it leaves open closed; parts of an `allOf` hold for one value together, so they stay."""
    if isinstance(schema, list):
        return [_bounded(part, longest_text) for part in schema]
    if not isinstance(schema, dict):
        return schema
    bounded = {key: part if key in _LEFT_OPEN else _bounded(part, longest_text) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict) and not _OPENING & set(schema):
        bounded["additionalProperties"] = False
    if schema.get("type") == "string" and not _BOUNDING & set(schema):
        bounded["maxLength"] = max(longest_text, schema.get("minLength", 0))
    return bounded


_LEFT_OPEN = frozenset({"allOf", "const", "default", "enum", "examples"})
_OPENING = frozenset({"$ref", "additionalProperties", "allOf", "anyOf", "oneOf", "patternProperties"})
_BOUNDING = frozenset({"const", "enum", "format", "maxLength", "pattern"})


def label_grammar(label: str) -> str:
    """The grammar of exactly `label`; the engine then takes the label's usual tokens."""
    return f"%llguidance {{}}\nstart: {json.dumps(label, ensure_ascii=False)}"


class ScoredLabel(NamedTuple):
    """A label, the tokens that it is made of, and the log-probability of them all, one after the other."""

    label: str
    tokens: tuple[int, ...]
    logprob: float

    @classmethod
    def read(cls, label: str, answer: Mapping[str, Any]) -> ScoredLabel:
        """The label with what the engine's `answer` says of its tokens; the end of the reply is not one of them."""
        choice = answer["choices"][0]
        if choice["message"]["content"] != label:
            raise ModelCallError(
                f"the engine did not keep to the label {label!r}, it wrote {shortened(choice['message']['content'])}",
                code="unsupported",
            )
        steps = [step for step in choice["logprobs"]["content"] if step["bytes"]]
        return cls(label, tuple(step["id"] for step in steps), math.fsum(step["logprob"] for step in steps))


class LabelMass(NamedTuple):
    """Probabilities over labels that sum to 1, and the mass that the model had on none of them."""

    probabilities: dict[str, float]
    off_label: float


def label_masses(scored: Sequence[ScoredLabel]) -> LabelMass:
    """How the model's own, unconstrained distribution falls on the labels.

    A label's mass is the probability that the reply begins with its tokens, and with no longer label's: where "no"
    and "no answer" are both labels, the mass of "no answer" is taken out of that of "no". The masses are disjoint, so
    they add up to at most 1; what is left is off the labels.

    >>> label_masses([ScoredLabel("yes", (1,), math.log(0.3)), ScoredLabel("no", (2,), math.log(0.1))])
    LabelMass(probabilities={'yes': 0.75, 'no': 0.25}, off_label=0.6)
    """
    highest = max(label.logprob for label in scored)
    weights = {label.label: math.exp(label.logprob - highest) for label in scored}
    own = {
        label.label: max(0.0, weights[label.label] - math.fsum(weights[other] for other in _next_longer(label, scored)))
        for label in scored
    }
    total = math.fsum(own.values())
    covered = min(1.0, math.exp(highest) * total)
    return LabelMass({label: round(mass / total, 12) for label, mass in own.items()}, round(1.0 - covered, 12))


def _next_longer(label: ScoredLabel, scored: Sequence[ScoredLabel]) -> list[str]:
    """The labels that go on where `label` ends, without those that go on where one of these ends."""
    longer = [other for other in scored if _extends(other, label)]
    return [other.label for other in longer if not any(_extends(other, middle) for middle in longer)]


def _extends(longer: ScoredLabel, shorter: ScoredLabel) -> bool:
    size = len(shorter.tokens)
    return len(longer.tokens) > size and longer.tokens[:size] == shorter.tokens


def drawn_label(request: Request, probabilities: Mapping[str, float]) -> str:
    """The label that is given as the answer: the likeliest, the first of equals; or a draw, at a temperature above 0.

    The draw is by the request's seed, its slot and its messages, so the same request gets the same label.
    """
    temperature = float(request.sampling.get("temperature") or 0.0)
    if temperature <= 0:
        return max(probabilities, key=lambda label: probabilities[label])
    highest = max(probabilities.values())
    weights = [(probability / highest) ** (1 / temperature) for probability in probabilities.values()]
    source = random.Random(fingerprint(request.to_json()))
    return source.choices(list(probabilities), weights=weights)[0]
