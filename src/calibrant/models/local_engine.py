"""A GGUF model in this process: loaded once, asked by one thread, stopped when its caller goes away."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from calibrant.errors import ModelCallError
from calibrant.models.local_replies import Generated

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Engine", "EngineKey", "Session", "available_threads", "engine_for"]

Result = TypeVar("Result")


def available_threads() -> int:
    """One thread fewer than there are cores for this process, and at least one.

    The engine's threads spin while they wait for each other: with a thread on every core, any other work in the
    machine makes them wait for long (measured: 0.7 to 1.3 tokens a second in place of 54).
    """
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    return max(1, cores - 1)


class EngineKey(NamedTuple):
    """What two callers must agree in to share one loaded model."""

    path: str
    sha256: str
    context: int
    threads: int


class Session:
    """The loaded model as one task sees it, with the sign that the task's caller has gone away."""

    def __init__(self, server: Any, gone: threading.Event) -> None:
        self._server = server
        self.gone = gone

    def generate(self, body: Mapping[str, Any]) -> Generated:
        """What the model writes; stops at the next token when the caller has gone away."""
        written, refused = Generated(), dict[str, Any]()
        streamed = {**body, "stream": True, "stream_options": {"include_usage": True}}

        def take(chunk: Mapping[str, Any]) -> bool:
            refused.update(chunk.get("error") or {})  # raising here would be lost in the engine
            written.add(chunk)
            return self.gone.is_set()

        self._answered(streamed, take)
        _refuse_error({"error": refused})
        if not written.finish and not self.gone.is_set():
            raise ModelCallError("the local model stopped before its reply was done", code="provider_error")
        return written

    def answer(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """The model's whole answer at once."""
        if self.gone.is_set():
            raise asyncio.CancelledError
        return self._answered(body)

    def _answered(self, body: Mapping[str, Any], *take: Callable[[Mapping[str, Any]], bool]) -> Any:
        try:
            answer = self._server.handle_chat_completions(dict(body), *take)
        except (ValueError, RuntimeError) as error:  # what the engine raises for a request that it cannot serve
            raise ModelCallError(f"the local model refused the request: {error}", code="request_invalid") from error
        _refuse_error(answer)
        return answer


def _refuse_error(answer: Mapping[str, Any] | None) -> None:
    error = answer.get("error") if answer else None
    if not error:
        return
    if error.get("type") == "exceed_context_size_error":
        raise ModelCallError(
            f"the prompt has {error.get('n_prompt_tokens')} tokens, more than the {error.get('n_ctx')} that the local"
            " model was loaded for; shorten it, or pass a larger context",
            code="request_invalid",
        )
    code = "request_invalid" if error.get("code") == 400 else "provider_error"
    raise ModelCallError(f"the local model refused the request: {error.get('message')}", code=code)


class Engine:
    """One model file, loaded at the first task, and the one thread that asks it; further tasks wait their turn."""

    def __init__(self, key: EngineKey) -> None:
        self.key = key
        self._server: Any = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="calibrant-local")

    async def run(self, task: Callable[[Session], Result]) -> Result:
        """What `task` returns, run in the engine's thread. Cancelled, it is not begun, or stops at the next token."""
        gone = threading.Event()
        try:
            return await asyncio.wrap_future(self._worker.submit(self._work, task, gone))
        finally:
            gone.set()

    def _work(self, task: Callable[[Session], Result], gone: threading.Event) -> Result:
        if self._server is None:
            self._server = _load(self.key)
        return task(Session(self._server, gone))


_engines: WeakValueDictionary[EngineKey, Engine] = WeakValueDictionary()


def engine_for(key: EngineKey) -> Engine:
    """The engine of `key`: the one that is loaded already while anybody holds it, so a jury of one model loads one."""
    return _engines.setdefault(key, Engine(key))


def _load(key: EngineKey) -> Any:
    with Path(key.path).open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelCallError(f"expected a GGUF model file, but {key.path} is none", code="request_invalid")
    engine = import_module("xllamacpp")
    parameters = engine.CommonParams()
    parameters.model.path = key.path
    parameters.n_ctx = key.context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = key.threads
    parameters.cache_ram_mib = 0  # by default it keeps up to 8 GB of old prompts
    parameters.warmup = False
    parameters.verbosity = -1
    folder = _close_the_door(parameters)
    try:
        return engine.Server(parameters)
    except RuntimeError as error:
        raise ModelCallError(
            f"{key.path} could not be loaded: it is damaged, needs more memory than there is, or is of a kind that the"
            " installed xllamacpp does not know",
            code="unsupported",
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _close_the_door(parameters: Any) -> str:
    """Let nobody else in: the engine always opens an HTTP listener beside its calls in process.

    It is put on a socket file that is removed as soon as the model is loaded (where there are no socket files it
    stays on the loopback), and a key that nobody knows guards it.
    """
    folder = tempfile.mkdtemp(prefix="calibrant-")
    parameters.api_keys = [secrets.token_hex(32)]
    if os.name == "posix":
        parameters.hostnames = [str(Path(folder) / "closed.sock")]
    return folder
