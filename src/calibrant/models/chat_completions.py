"""The OpenAI wire: chat completions, as spoken by OpenAI, Azure, vLLM, llama.cpp, Ollama and many more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from calibrant.errors import ModelCallError
from calibrant.models.reading import without_reasoning
from calibrant.models.schemas import is_strict
from calibrant.models.wire import Heard, HttpInvoker, counts_of, first_words, roles_and_texts, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.models.invoker import Request

__all__ = ["ChatCompletionsInvoker"]

TOP_LOGPROBS = 20
LIMIT_NAMES = ("max_tokens", "max_completion_tokens")


class ChatCompletionsInvoker(HttpInvoker):
    """A model that speaks OpenAI's chat completions."""

    path: ClassVar[str] = "chat/completions"
    rungs: ClassVar[tuple[str, ...]] = ("json_schema", "json_object", "prompted_schema")
    payload_name: ClassVar[str] = "chat completion"

    def _body(self, request: Request, mode: str, sampling: Mapping[str, Any]) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self.endpoint.model, "messages": roles_and_texts(request, mode)}
        for name, value in sampling.items():
            body[self.endpoint.provider.limit_name if name in LIMIT_NAMES else name] = value
        if mode == "json_schema" and request.schema is not None:
            schema = {"name": "reply", "schema": request.schema, "strict": is_strict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif mode == "json_object":
            body["response_format"] = {"type": "json_object"}
        elif mode == "label" and request.logprobs:
            body["logprobs"] = True
            body["top_logprobs"] = TOP_LOGPROBS
        return body

    def _heard(self, payload: Mapping[str, Any]) -> Heard:
        choice = payload["choices"][0]
        if choice.get("error"):
            # So gateways report that the model behind them failed while it wrote; what came of the text is a part.
            shown = self._transport.shown(json.dumps(choice["error"]), 200)
            raise ModelCallError(f"{self.name} broke off its reply: {shown}", code="provider_error")
        message = choice["message"]
        text, reasoning, is_opened = without_reasoning(text_of(message.get("content")))
        tokens = (choice.get("logprobs") or {}).get("content") or ()
        counts = counts_of(payload.get("usage"))
        reason = choice.get("finish_reason")
        refusal = message.get("refusal")
        if reason == "content_filter" and not refusal:
            refusal = "its content filter cut the reply"
        return Heard(
            text=text,
            thought_is_opened=is_opened,
            reasoning=str(message.get("reasoning_content") or message.get("reasoning") or reasoning),
            model=str(payload.get("model") or ""),
            input_tokens=counts.get("prompt_tokens", 0),
            output_tokens=counts.get("completion_tokens", 0),
            counted="prompt_tokens" in counts,
            cut_off=reason == "length",
            refusal=refusal,
            first_logprobs=first_words(tokens),
        )
