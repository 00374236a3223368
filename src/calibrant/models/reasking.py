"""A reply that is not what was asked for is asked for again, with what was wrong with it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, JudgeReplyError, shortened
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Message, Reply, Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.ratings import Usage

__all__ = ["ReaskedInvoker", "reasked"]

SHOWN = 4000
LIMITS = ("max_tokens", "max_completion_tokens")


class ReaskedInvoker(InvokerWrapper):
    """The model inside, asked up to `times` more when its reply breaks off or does not parse.

    The error is shown to the model; a token limit that cut the reply is doubled. The usage of all replies is summed.
    """

    def __init__(self, inner: BaseLMInvoker, *, times: int = 2) -> None:
        super().__init__(inner)
        if isinstance(times, bool) or not isinstance(times, int) or times < 0:  # pyright: ignore[reportUnnecessaryIsInstance] - plans pass anything
            raise InputError(f"times is how often more to ask, a whole number of 0 or more, not {shortened(times)}")
        self.times = times

    async def invoke(self, request: Request) -> Reply:
        """The first reply that is what was asked for; raises JudgeReplyError when none is."""
        asked, spent, left = request, None, self.times
        while True:
            try:
                reply = await self.inner.invoke(asked)
            except JudgeReplyError as error:
                spent = _sum(spent, error.usage)
                if not left:
                    raise self._given_up(error, spent) from None
                asked = _again(request, self._sampling(asked, error), error)
                left -= 1
            else:
                return reply if spent is None else replace(reply, usage=spent + reply.usage)

    def _sampling(self, asked: Request, error: JudgeReplyError) -> dict[str, Any]:
        """What is sent along next; a token limit that cut the reply is doubled, also one that came with the model."""
        sampling = dict(asked.sampling)
        if error.code != "reply_truncated":
            return sampling
        own = self.inner.identity.get("sampling") or {}
        limits = {name: value for name, value in {**own, **sampling}.items() if name in LIMITS}
        return sampling | {name: 2 * value for name, value in limits.items()}

    def _given_up(self, error: JudgeReplyError, spent: Usage | None) -> JudgeReplyError:
        asked = f" (asked {self.times + 1} times)" if self.times else ""
        return JudgeReplyError(f"{error}{asked}", code=error.code, reply=error.reply, usage=spent)


def _sum(spent: Usage | None, more: Usage | None) -> Usage | None:
    return more if spent is None or more is None else spent + more


def _again(request: Request, sampling: Mapping[str, Any], error: JudgeReplyError) -> Request:
    complaint = f"That reply could not be used: {error}. Answer the request again, in the form that it asks for."
    if error.reply.strip():
        turns = (*request.messages, Message("assistant", error.reply[:SHOWN]), Message("user", complaint))
    else:
        # An empty turn is refused by some providers, and so are two of one speaker.
        last = request.messages[-1]
        turns = (*request.messages[:-1], replace(last, content=f"{last.content}\n\n{complaint}"))
    return replace(request, messages=turns, sampling=sampling)


def reasked(invoker: BaseLMInvoker, *, times: int = 2) -> ReaskedInvoker:
    """`invoker`, asked again at most `times` when a reply is not what was asked for."""
    return ReaskedInvoker(invoker, times=times)
