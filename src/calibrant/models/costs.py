"""What a run will take, before a single call is made: calls, tokens, and money where the price is known."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from calibrant.models.invoker import BaseLMInvoker, Request
    from calibrant.store.workspace import Workspace

__all__ = ["CostEstimate", "estimate_cost", "estimated_tokens", "tokens_of"]

BYTES_PER_TOKEN = 4
"""English text has about four bytes a token in today's vocabularies (OpenAI's help page on tokens says four)."""
TOKENS_PER_MESSAGE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """What requests would take; `usd` is None when the price is unknown, and `cached` calls cost nothing.

    >>> print(CostEstimate(calls=400, cached=100, input_tokens=91000, output_tokens=4100, usd=None))
    400 calls (100 more are in the workspace), about 91,000 tokens read and 4,100 written, price unknown
    """

    calls: int
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None

    def __str__(self) -> str:
        kept = f" ({self.cached} more are in the workspace)" if self.cached else ""
        money = "price unknown" if self.usd is None else f"about ${self.usd:.4g}"
        tokens = f"about {self.input_tokens:,} tokens read and {self.output_tokens:,} written"
        return f"{self.calls} calls{kept}, {tokens}, {money}"

    def to_json(self) -> dict[str, Any]:
        """The estimate as JSON has it; unknown money is null."""
        return {
            "calls": self.calls,
            "cached": self.cached,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "usd": self.usd,
        }


def estimated_tokens(request: Request) -> int:
    """About how many tokens the model reads for `request`: a token for every four bytes, and a few for each message."""
    texts = [message.content for message in request.messages]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    return sum(map(_bytes_of, texts)) // BYTES_PER_TOKEN + TOKENS_PER_MESSAGE * len(request.messages) + 1


def tokens_of(text: str) -> int:
    """About how many tokens `text` has, and at least one.

    >>> tokens_of("Yes, until six.")
    4
    """
    return _bytes_of(text) // BYTES_PER_TOKEN + 1


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def estimate_cost(
    invoker: BaseLMInvoker,
    requests: Iterable[Request],
    *,
    output_tokens: int = 200,
    workspace: Workspace | None = None,
) -> CostEstimate:
    """What asking `requests` would take, if each reply has about `output_tokens` tokens; nothing is sent.

    Equal requests are counted once, and those that the workspace holds are counted as cached.
    """
    seen: set[str] = set()
    calls = kept = tokens = 0
    for request in requests:
        key = invoker.call_key(request)
        if key in seen:
            continue
        seen.add(key)
        if workspace is not None and workspace.call(key) is not None:
            kept += 1
        else:
            calls += 1
            tokens += estimated_tokens(request)
    written = calls * output_tokens
    return CostEstimate(
        calls=calls,
        cached=kept,
        input_tokens=tokens,
        output_tokens=written,
        usd=invoker.cost(tokens, written) if calls else 0.0,
    )
