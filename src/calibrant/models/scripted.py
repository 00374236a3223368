"""A model that answers from a script: for tests, examples and dry runs, behind the public interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from calibrant.errors import JudgeReplyError, ModelCallError, shortened
from calibrant.models.invoker import BaseLMInvoker, Reply, Request
from calibrant.ratings import Usage

__all__ = ["Script", "ScriptedInvoker"]

Line = str | Mapping[str, Any] | Reply | Exception
Script = Sequence[Line] | Callable[[Request], Line] | Line
"""Lines to be given one after another, a function from the request to its line, or one line for every request."""


class ScriptedInvoker(BaseLMInvoker):
    """A model whose replies are written down beforehand; `requests` keeps what it was asked, in order.

    A line is a text, a mapping (a JSON reply), a whole Reply, or an exception, which is raised. When a list of lines
    is used up, asking again is a `judge_unreachable` failure: a script that is too short is found out.

    >>> import asyncio
    >>> judge = ScriptedInvoker(['{"score": 1}'])
    >>> asyncio.run(judge.invoke(Request.of("How good?", schema={"type": "object"}))).data
    {'score': 1}
    """

    def __init__(self, replies: Script, *, name: str = "scripted/judge", delay: float = 0.0) -> None:
        self.name = name
        self.requests: list[Request] = []
        self._replies = replies
        self._delay = delay

    async def invoke(self, request: Request) -> Reply:
        """The next line of the script, in the form that the request asks for."""
        Request.checked(request)
        place = len(self.requests)
        self.requests.append(request)
        if self._delay:
            import asyncio

            await asyncio.sleep(self._delay)
        line = self._line(place, request)
        if isinstance(line, Exception):
            raise line
        return line if isinstance(line, Reply) else _reply(line, request, self.name)

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002 - they cost nothing
        """Nothing: nobody is asked."""
        return 0.0

    def _line(self, place: int, request: Request) -> Line:
        replies = self._replies
        if callable(replies):
            return replies(request)
        if isinstance(replies, str | Mapping | Reply | Exception):
            return replies
        if place >= len(replies):
            raise ModelCallError(
                f"the script of {self.name} ended after {len(replies)} lines", code="judge_unreachable"
            )
        return replies[place]


def _reply(line: str | Mapping[str, Any], request: Request, name: str) -> Reply:
    text = line if isinstance(line, str) else json.dumps(line)
    usage = Usage(calls=1, input_tokens=sum(len(m.content.split()) for m in request.messages), output_tokens=1)
    if request.labels:
        if text not in request.labels:
            raise JudgeReplyError(f"expected one of {', '.join(request.labels)}, got {shortened(text)}")
        return Reply(text=text, data=text, mode="label", model=name, usage=usage)
    if request.schema is None:
        return Reply(text=text, mode="text", model=name, usage=usage)
    try:
        return Reply(text=text, data=json.loads(text), mode="json_schema", model=name, usage=usage)
    except json.JSONDecodeError as error:
        raise JudgeReplyError(f"expected JSON, got {shortened(text)} ({error})") from None
