"""Models that answer from what was recorded: offline, and without a key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from calibrant.errors import InputError, ModelCallError, WrongTypeError, shortened
from calibrant.models.caching import reply_of
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Reply, Request
from calibrant.store.records import CallRecord
from calibrant.store.workspace import Workspace

__all__ = ["ReplayInvoker", "ReplayedInvoker", "replayed", "write_calls"]

Recording = Workspace | Mapping[str, Reply | Mapping[str, Any]] | str | Path
"""Where recorded calls are: a workspace, a mapping from call key to reply, or a JSONL file by `write_calls`."""

Lookup = Callable[[str], Reply | None]


class ReplayInvoker(BaseLMInvoker):
    """A model that gives the recorded replies, and never asks anyone. A call that was not recorded is an error.

    `identity` is that of the model that was recorded, because call keys depend on it; a JSONL file of one model
    brings it along.

    >>> import asyncio
    >>> request = Request.of("Open?", labels=("yes", "no"))
    >>> recorded = {ReplayInvoker({}).call_key(request): Reply(text="yes", data="yes")}
    >>> asyncio.run(ReplayInvoker(recorded).invoke(request)).data
    'yes'
    """

    def __init__(
        self, recording: Recording, *, name: str | None = None, identity: Mapping[str, Any] | None = None
    ) -> None:
        records = _read(Path(recording)) if isinstance(recording, str | Path) else None
        self._lookup = _lookup_of(recording if records is None else records)
        found = identity or ({} if records is None else _identity_of(records.values()))
        self.name = name or str(found.get("model", "replay/judge"))
        self._identity = found or {"model": self.name}

    @property
    def identity(self) -> Mapping[str, Any]:
        """The identity of the model that was recorded."""
        return self._identity

    async def invoke(self, request: Request) -> Reply:
        """The recorded reply; raises ModelCallError (`not_in_store`) when there is none."""
        Request.checked(request)
        return _found(self._lookup, self.call_key(request), self.name)

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002 - they cost nothing
        """Nothing: nobody is asked."""
        return 0.0


class ReplayedInvoker(InvokerWrapper):
    """The model inside as it answered before: it lends its call keys, and is never asked."""

    def __init__(self, inner: BaseLMInvoker, recording: Recording) -> None:
        super().__init__(inner)
        read = _read(Path(recording)) if isinstance(recording, str | Path) else recording
        self._lookup = _lookup_of(read)

    async def invoke(self, request: Request) -> Reply:
        """The recorded reply; raises ModelCallError (`not_in_store`) when there is none."""
        return _found(self._lookup, self.inner.call_key(request), self.name)


def replayed(invoker: BaseLMInvoker, recording: Recording) -> ReplayedInvoker:
    """`invoker`, answering only from a recording: nothing is sent, and no key is needed."""
    return ReplayedInvoker(invoker, recording)


def write_calls(path: str | Path, calls: Iterable[CallRecord]) -> int:
    """Write `calls`, such as those of a workspace, as JSONL for a replay; the number that was written.

    Calls whose texts were not kept are left out: they cannot be replayed.
    """
    count = 0
    with Path(path).open("w", encoding="utf-8") as lines:
        for call in calls:
            if call.reply is not None:
                row = {"call_key": call.key, "model": call.model, "request": call.request, "reply": call.reply}
                lines.write(json.dumps(row) + "\n")
                count += 1
    return count


def _found(lookup: Lookup, key: str, name: str) -> Reply:
    reply = lookup(key)
    if reply is None:
        raise ModelCallError(
            f"the recording has no reply of {name} to this request ({key[:19]}...); record it with the model itself",
            code="not_in_store",
        )
    return reply


def _lookup_of(recording: Any) -> Lookup:
    if isinstance(recording, Workspace):
        return lambda key: _reply_of_call(recording.call(key))
    if isinstance(recording, Mapping):
        return lambda key: _reply_of_any(key, recording.get(key))
    raise WrongTypeError(
        f"a recording is a workspace, a mapping from call key to reply, or a JSONL file, not {shortened(recording)}"
    )


def _reply_of_call(call: CallRecord | None) -> Reply | None:
    return None if call is None else reply_of(call)


def _reply_of_any(key: str, found: Any) -> Reply | None:
    if found is None or isinstance(found, Reply):
        return found
    if isinstance(found, CallRecord):
        return reply_of(found)
    return Reply.from_json(found, call_key=key)


def _read(path: Path) -> dict[str, CallRecord]:
    """The calls in a JSONL file; every wrong line is named."""
    calls: dict[str, CallRecord] = {}
    problems: list[str] = []
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the recording {path} cannot be read: {error}") from None
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                call = _call_of(line)
                calls[call.key] = call
            except (ValueError, TypeError, KeyError) as error:
                problems.append(f"line {number}: expected a recorded call, got {shortened(line)} ({error!r})")
    if problems:
        raise InputError.gathered(str(path), problems)
    return calls


def _call_of(line: str) -> CallRecord:
    row = json.loads(line)
    reply = row["reply"]
    Reply.from_json(reply)
    return CallRecord(key=row["call_key"], model=row.get("model", ""), request=row.get("request"), reply=reply)


def _identity_of(calls: Iterable[CallRecord]) -> Mapping[str, Any]:
    """The identity that all of `calls` share; empty when there is none, or more than one."""
    found = {json.dumps((call.request or {}).get("identity"), sort_keys=True) for call in calls}
    identity = json.loads(found.pop()) if len(found) == 1 else None
    return identity or {}
