"""What both wires share: the ladder of reply forms, and how a reply becomes what was asked for."""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, cast

from calibrant.errors import InputError, JudgeReplyError, ModelCallError
from calibrant.models.invoker import BaseLMInvoker, Reply, Request
from calibrant.models.reading import THINK_END, label_of, label_probabilities, parsed_schema
from calibrant.models.transport import Answer, Transport
from calibrant.ratings import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.models.endpoints import Endpoint

__all__ = ["Heard", "HttpInvoker", "prompted"]

_OURS = frozenset({"model", "messages", "system", "stream", "n", "response_format", "logprobs", "top_logprobs"})
_FORM_WORDS = ("response_format", "json_schema", "json_object", "output_config", "json mode", "structured output")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a wire found in the provider's answer, before it is held against the request."""

    text: str
    reasoning: str = ""
    thought_is_opened: bool = True
    data: Any = None
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    counted: bool = False
    cut_off: bool = False
    refusal: str | None = None
    first_logprobs: Mapping[str, float] = field(default_factory=dict[str, float])


class HttpInvoker(BaseLMInvoker):
    """A model behind HTTP. It asks in the best form that the provider takes, and says in the reply which that was."""

    path: ClassVar[str]
    rungs: ClassVar[tuple[str, ...]]
    payload_name: ClassVar[str]

    def __init__(self, endpoint: Endpoint, *, reply_mode: str | None = None) -> None:
        if reply_mode is not None and reply_mode not in self.rungs:
            raise InputError(f"reply_mode is one of {', '.join(self.rungs)}, not {reply_mode!r}")
        self.endpoint = endpoint
        self.name = endpoint.name
        self._transport = Transport(endpoint)
        self._rung = 0 if reply_mode is None else self.rungs.index(reply_mode)
        self._identity = endpoint.identity() if reply_mode is None else {**endpoint.identity(), "mode": reply_mode}
        self._gives_logprobs = True

    @property
    def identity(self) -> Mapping[str, Any]:
        """Name, address and sampling: no key, and nothing that changes from call to call."""
        return self._identity

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:
        """What so many tokens cost in US dollars; None when the price is unknown."""
        price = self.endpoint.known_price()
        return None if price is None else price.of(input_tokens, output_tokens)

    async def invoke(self, request: Request) -> Reply:
        """The reply, in the form that was asked for; a form that the provider rejects is replaced by the next."""
        Request.checked(request)
        while True:
            mode = self._mode(request)
            try:
                answer = await self._transport.post(self.path, self._checked_body(request, mode))
            except ModelCallError as error:
                if not self._steps_down(mode, error):
                    raise
            else:
                return self._reply(request, mode, answer)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._transport.aclose()

    @abstractmethod
    def _body(self, request: Request, mode: str, sampling: Mapping[str, Any]) -> dict[str, Any]:
        """The request as the provider takes it."""

    @abstractmethod
    def _heard(self, payload: Mapping[str, Any]) -> Heard:
        """What the provider's answer says; a payload of another form is a LookupError, TypeError or AttributeError."""

    def _mode(self, request: Request) -> str:
        if request.schema is not None:
            return self.rungs[self._rung]
        if not request.labels:
            return "text"
        return "label" if self._gives_logprobs or not request.logprobs else "label_no_logprobs"

    def _steps_down(self, mode: str, error: ModelCallError) -> bool:
        """Whether the provider rejected the form itself, so that the next one is worth asking in."""
        if error.code != "request_invalid":
            return False
        said = str(error).lower()
        if mode == "label" and self._gives_logprobs and "logprobs" in said:
            self._gives_logprobs = False
            return True
        if mode in self.rungs[:-1] and "invalid schema" not in said and any(word in said for word in _FORM_WORDS):
            # Several calls in flight may meet the same refusal: only the first moves the rung.
            self._rung = max(self._rung, self.rungs.index(mode) + 1)
            return True
        return False

    def _checked_body(self, request: Request, mode: str) -> dict[str, Any]:
        sampling = {**self.endpoint.sampling, **request.sampling} if self.endpoint.sampling else request.sampling
        taken = _OURS.intersection(sampling)
        if taken:
            raise InputError(f"sampling cannot set {', '.join(sorted(taken))}: the request itself says it")
        return self._body(request, mode, sampling)

    def _reply(self, request: Request, mode: str, answer: Answer) -> Reply:
        heard = self._checked_heard(answer.payload)
        usage = Usage(
            calls=1,
            input_tokens=heard.input_tokens,
            output_tokens=heard.output_tokens,
            usd=self.cost(heard.input_tokens, heard.output_tokens) if heard.counted else None,
        )
        if heard.refusal is not None:
            raise ModelCallError(f"{self.name} refused to answer: {str(heard.refusal)[:200]}", code="judge_refused")
        try:
            data, probabilities, off, mode = self._data(request, mode, heard)
        except JudgeReplyError as error:
            raise _with_usage(error, heard, usage) from None
        return Reply(
            text=heard.text,
            data=data,
            label_probs=probabilities,
            mode=mode,
            model=heard.model or self.endpoint.model,
            usage=usage,
            off_label_mass=off,
            reasoning=heard.reasoning,
            rate_limit=answer.rate_limit,
        )

    def _checked_heard(self, payload: Mapping[str, Any]) -> Heard:
        try:
            return self._heard(payload)
        except (LookupError, TypeError, AttributeError):
            shown = self._transport.shown(json.dumps(payload))
            raise ModelCallError(
                f"{self.name} answered with JSON that is no {self.payload_name}: {shown}", code="provider_error"
            ) from None

    def _data(
        self, request: Request, mode: str, heard: Heard
    ) -> tuple[Any, Mapping[str, float] | None, float | None, str]:
        if not heard.thought_is_opened:
            _check_thought(request, heard)
        if request.schema is not None:
            text = heard.text if heard.data is None else json.dumps(heard.data)
            return parsed_schema(text, request.schema), None, None, mode
        if not request.labels:
            if heard.cut_off:
                raise JudgeReplyError("the reply was cut off at the token limit", code="reply_truncated")
            return None, None, None, mode
        return _labelled(request, mode, heard)


def _check_thought(request: Request, heard: Heard) -> None:
    """Refuse an answer behind a closing tag that the reply may have quoted from what it was given to read."""
    if any(THINK_END in message.content for message in request.messages):
        raise JudgeReplyError(
            f"expected the answer alone, but the reply has a {THINK_END} that it did not open, as has the text that is"
            " judged, so that what is behind it may be quoted",
            reply=heard.reasoning + THINK_END + heard.text,
        )


def _labelled(request: Request, mode: str, heard: Heard) -> tuple[Any, Mapping[str, float] | None, float | None, str]:
    found = label_probabilities(heard.first_logprobs, request.labels) if request.logprobs else None
    if found is None:
        mode = "label_no_logprobs" if request.logprobs else mode
        return _whole_label(request, heard), None, None, mode
    probabilities, off = found
    if not heard.text.strip():
        # A judge that gives probabilities and no words: its label is the likeliest.
        return max(probabilities, key=probabilities.__getitem__), probabilities, off, "label_probs"
    return _whole_label(request, heard), probabilities, off, mode


def _whole_label(request: Request, heard: Heard) -> str:
    """The label that was said; cut off at the token limit, "no" is no answer where "no answer" is a label too."""
    label = label_of(heard.text, request.labels)
    longer = [other for other in request.labels if other != label and other.casefold().startswith(label.casefold())]
    if heard.cut_off and longer:
        raise JudgeReplyError(f"the reply breaks off at {label!r}, which may be the beginning of {longer[0]!r}")
    return label


def _with_usage(error: JudgeReplyError, heard: Heard, usage: Usage) -> JudgeReplyError:
    code = "reply_truncated" if heard.cut_off else error.code
    message = f"{error} (cut off at the token limit)" if heard.cut_off and error.code != code else str(error)
    return JudgeReplyError(message, code=code, reply=heard.text, usage=usage)


def prompted(request: Request, mode: str) -> str:
    """What is added to the last message to name the form: the labels, or the schema where the provider ignores it."""
    if request.labels:
        return f"\n\nAnswer with exactly one of these labels and nothing else: {', '.join(request.labels)}"
    if request.schema is None or mode in {"json_schema", "tool_call"}:
        return ""
    schema = json.dumps(request.schema, ensure_ascii=False)
    return f"\n\nAnswer with one JSON value that follows this JSON schema, and nothing else:\n{schema}"


def roles_and_texts(request: Request, mode: str) -> list[dict[str, str]]:
    """The messages as both wires write them, the form that is wanted at the end of the last."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    addition = prompted(request, mode)
    if addition and messages:
        messages[-1]["content"] += addition
    return messages


def first_words(tokens: Sequence[Mapping[str, Any]]) -> Mapping[str, float]:
    """The log-probabilities of the first token that says something, after any reasoning."""
    start = next((place + 1 for place, one in enumerate(tokens) if "</think>" in str(one.get("token"))), 0)
    for one in tokens[start:]:
        if str(one.get("token", "")).strip() or not one.get("token"):
            ranked = one.get("top_logprobs") or [one]
            return {
                str(top.get("token", "")): float(top["logprob"]) for top in ranked if _is_number(top.get("logprob"))
            }
    return {}


def text_of(content: Any) -> str:
    """The text in a message's content: a text, nothing, or parts of which those of type `text` count."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part["type"] == "text")


def counts_of(usage: Any) -> Mapping[str, int]:
    """The token counts that a provider gave; whatever is no count is left out, for a good reply is worth more."""
    if not isinstance(usage, Mapping):
        return {}
    named = cast("Mapping[str, Any]", usage)
    return {name: int(count) for name, count in named.items() if _is_number(count) and count >= 0}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
