"""The Anthropic wire: the Messages API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from calibrant.models.reading import without_reasoning
from calibrant.models.wire import Heard, HttpInvoker, counts_of, roles_and_texts, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.models.invoker import Request

__all__ = ["AnthropicInvoker"]

VERSION = "2023-06-01"
TOKEN_LIMIT = 4096
TOOL = "reply"


class AnthropicInvoker(HttpInvoker):
    """A model that speaks Anthropic's Messages. It gives no log-probabilities, and its replies say so."""

    path: ClassVar[str] = "messages"
    rungs: ClassVar[tuple[str, ...]] = ("json_schema", "tool_call", "prompted_schema")
    payload_name: ClassVar[str] = "message"

    def _mode(self, request: Request) -> str:
        mode = super()._mode(request)
        return "label_no_logprobs" if mode == "label" and request.logprobs else mode

    def _body(self, request: Request, mode: str, sampling: Mapping[str, Any]) -> dict[str, Any]:
        turns = roles_and_texts(request, mode)
        # The API demands a limit of its own; every other parameter is sent only when it was set.
        body: dict[str, Any] = {"model": self.endpoint.model, "max_tokens": TOKEN_LIMIT}
        for name, value in sampling.items():
            body["max_tokens" if name == "max_completion_tokens" else name] = value
        system = "\n\n".join(turn["content"] for turn in turns if turn["role"] == "system")
        if system:
            body["system"] = system
        body["messages"] = [turn for turn in turns if turn["role"] != "system"]
        if mode == "json_schema":
            body["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
        elif mode == "tool_call":
            body["tools"] = [{"name": TOOL, "description": "Give the reply.", "input_schema": request.schema}]
            body["tool_choice"] = {"type": "tool", "name": TOOL}
        return body

    def _heard(self, payload: Mapping[str, Any]) -> Heard:
        blocks = payload["content"]
        thoughts = [str(block.get("thinking") or "") for block in blocks if block["type"] == "thinking"]
        tools = [block["input"] for block in blocks if block["type"] == "tool_use"]
        counts = counts_of(payload.get("usage"))
        reason = payload.get("stop_reason")
        text, reasoning, is_opened = without_reasoning(text_of(blocks))
        return Heard(
            text=text,
            thought_is_opened=is_opened,
            reasoning="\n".join(thoughts) or reasoning,
            data=tools[0] if len(tools) == 1 else None,
            model=str(payload.get("model") or ""),
            input_tokens=sum(count for name, count in counts.items() if name in _INPUT_COUNTS),
            output_tokens=counts.get("output_tokens", 0),
            counted="input_tokens" in counts,
            cut_off=reason == "max_tokens",
            refusal="it gave no reason" if reason == "refusal" else None,
        )


_INPUT_COUNTS = frozenset({"input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"})
