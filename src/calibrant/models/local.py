"""The offline judge: any GGUF model, run in this process by xllamacpp, with no key and no network."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.errors import (
    InputError,
    MissingExtraError,
    ModelCallError,
    UnknownNameError,
    WrongTypeError,
    shortened,
)
from calibrant.models.gguf_files import CARRIED_MODELS, file_sha256, model_file
from calibrant.models.invoker import BaseLMInvoker, Reply, Request
from calibrant.models.local_engine import EngineKey, available_threads, engine_for
from calibrant.models.local_replies import (
    ScoredLabel,
    body_of,
    drawn_label,
    label_grammar,
    label_masses,
    schema_grammar,
)
from calibrant.ratings import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.models.local_engine import Engine, Session

__all__ = ["LocalInvoker", "local"]

OPTIONS = ("context", "longest_text", "max_tokens", "reuse_prefix", "threads")
PROBE = "\u00a7\u00b6"  # no model begins a reply like this by itself


def local(model: str, **options: Any) -> BaseLMInvoker:
    """The model that runs in this process: `local/smollm2`, or `local/PATH.gguf` for a file of yours.

    Options: `context` (tokens of prompt and reply, 4096), `threads` (one fewer than there are cores), `max_tokens` of
    a reply where the request names none (512), `longest_text` (characters of a text in JSON whose schema gives it no
    bound, 400), `reuse_prefix` (False: see `LocalInvoker`).
    """
    if not isinstance(model, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass paths
        raise WrongTypeError(f"expected a model's name such as 'local/smollm2', got {shortened(model)}")
    for name in options:
        if name not in OPTIONS:
            raise UnknownNameError.among("option of a local model", name, OPTIONS)
    if find_spec("xllamacpp") is None:
        raise MissingExtraError("local", f"the offline model {model!r}")
    return LocalInvoker(model, **options)


class LocalInvoker(BaseLMInvoker):
    """A GGUF model in this process. It is loaded at the first call; callers queue for its one thread.

    The same request gets the same reply, whatever was asked before. With `reuse_prefix` the engine keeps the part of
    the last prompt that the next one shares, which is faster for long common instructions, but then log-probabilities
    depend a little (about 1e-5) on the order of the calls.
    """

    def __init__(
        self,
        model: str,
        *,
        context: int = 4096,
        threads: int | None = None,
        max_tokens: int = 512,
        longest_text: int = 400,
        reuse_prefix: bool = False,
    ) -> None:
        self.name = f"local/{model.removeprefix('local/')}"
        self.context = _positive("context", context)
        self.threads = available_threads() if threads is None else _positive("threads", threads)
        self.max_tokens = _positive("max_tokens", max_tokens)
        self.longest_text = _positive("longest_text", longest_text)
        self.reuse_prefix = reuse_prefix
        self._engine: Engine | None = None
        self._kept_schemas: set[str] = set()
        if self.name not in CARRIED_MODELS and not self.name.lower().endswith(".gguf"):
            raise UnknownNameError.among("local model", self.name, [*CARRIED_MODELS, "local/PATH.gguf"])

    @property
    def path(self) -> Path:
        """Where the model's file lies, or would lie once it has been fetched."""
        if self.name in CARRIED_MODELS:
            return model_file(self.name)
        return Path(self.name.removeprefix("local/")).expanduser()

    @property
    def identity(self) -> Mapping[str, Any]:
        """The file's name and hash; where it lies does not matter, nor on how many threads it runs."""
        carried = CARRIED_MODELS.get(self.name)
        sha256 = carried.sha256 if carried else _hash_of(self._existing_file())
        limits = {"max_tokens": self.max_tokens, "longest_text": self.longest_text}
        return {"model": f"local/{self.path.name}", "sha256": sha256, **limits}

    async def invoke(self, request: Request) -> Reply:
        """The model's reply: a label with probabilities, JSON of the schema, or text."""
        Request.checked(request)
        if self._engine is None:
            self._engine = engine_for(await asyncio.to_thread(self._checked_key))  # a big file's hash takes long
        if request.labels:
            return await self._engine.run(lambda session: self._labelled(session, request))
        return await self._engine.run(lambda session: self._written(session, request))

    def cost(self, input_tokens: int, output_tokens: int) -> float | None:  # noqa: ARG002 - they cost nothing
        """Nothing: the machine's own time has no price."""
        return 0.0

    async def aclose(self) -> None:
        """Let go of the model; its memory is freed when nobody else holds it. Asking again loads it anew."""
        self._engine = None

    def _existing_file(self) -> Path:
        path = self.path
        if path.is_file():
            return path
        if self.name in CARRIED_MODELS:
            raise ModelCallError(
                f"the model file of {self.name} is not at {path}; fetch it once with: calibrant models fetch"
                f" {self.name}",
                code="missing_extra",
            )
        raise ModelCallError(f"there is no model file at {path}, named by {self.name!r}", code="request_invalid")

    def _checked_key(self) -> EngineKey:
        path = self._existing_file()
        sha256, carried = _hash_of(path), CARRIED_MODELS.get(self.name)
        if carried and sha256 != carried.sha256:
            raise ModelCallError(
                f"{path} is damaged: expected SHA-256 {carried.sha256}, got {sha256}; fetch it again with: calibrant"
                f" models fetch {self.name}",
                code="missing_extra",
            )
        return EngineKey(str(path), sha256, self.context, self.threads)

    def _written(self, session: Session, request: Request) -> Reply:
        body = {**body_of(request, max_tokens=self.max_tokens), "cache_prompt": self.reuse_prefix}
        if request.schema is not None:
            grammar = schema_grammar(request.schema, longest_text=self.longest_text)
            self._check_grammar(session, grammar, request.schema)
            body |= {"grammar": grammar, **_WITHOUT_THINKING}
        written = session.generate(body)
        return Reply(
            text=written.whole(),
            data=None if request.schema is None else written.parsed(),
            mode="text" if request.schema is None else "json_schema",
            model=self.path.name,
            usage=written.usage,
            reasoning=written.reasoning,
            call_key=self.call_key(request),
        )

    def _check_grammar(self, session: Session, grammar: str, schema: Mapping[str, Any]) -> None:
        """Refuse a schema that the engine cannot follow.

        For such a grammar the engine writes freely and says nothing. So a mark is put before the JSON, once for each
        schema: a model that does not write the mark is not held by the grammar.
        """
        if grammar in self._kept_schemas:
            return
        marked = grammar.replace("start: ", f'start: "{PROBE}" json\njson: ', 1)
        body = {"messages": [{"role": "user", "content": "."}], "grammar": marked, "max_tokens": 4, "temperature": 0}
        written = session.generate({**body, **_WITHOUT_THINKING}).text
        if not written or not (written.startswith(PROBE) or PROBE.startswith(written)):
            raise ModelCallError(
                "local models cannot be held to this JSON schema (a $ref to nothing, or a keyword such as 'not' or"
                f" 'uniqueItems'): {shortened(schema, 200)}",
                code="unsupported",
            )
        self._kept_schemas.add(grammar)

    def _labelled(self, session: Session, request: Request) -> Reply:
        body = {**body_of(request, max_tokens=self.max_tokens), **_WITHOUT_THINKING, **_GREEDY_WITH_LOGPROBS}
        scored: list[ScoredLabel] = []
        input_tokens = output_tokens = 0
        for label in _checked_labels(request.labels):
            # From the second label on, the prompt is in the engine's memory: only the label itself is computed.
            own = {"cache_prompt": bool(scored) or self.reuse_prefix, "max_tokens": len(label.encode()) + 2}
            answer = session.answer({**body, **own, "grammar": label_grammar(label)})
            scored.append(ScoredLabel.read(label, answer))
            input_tokens = answer["usage"]["prompt_tokens"]
            output_tokens += answer["usage"]["completion_tokens"]
        mass = label_masses(scored)
        chosen = drawn_label(request, mass.probabilities)
        return Reply(
            text=chosen,
            data=chosen,
            label_probs=mass.probabilities,
            off_label_mass=mass.off_label,
            mode="label",
            model=self.path.name,
            usage=Usage(calls=1, input_tokens=input_tokens, output_tokens=output_tokens, usd=0.0),
            call_key=self.call_key(request),
        )


_GREEDY_WITH_LOGPROBS = {"temperature": 0, "logprobs": True, "top_logprobs": 1}
# A grammar holds from the first token, so a reasoning model has no room to think before it answers.
_WITHOUT_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}


def _hash_of(path: Path) -> str:
    try:
        return file_sha256(path)
    except OSError as error:
        raise ModelCallError(f"the model file {path} cannot be read: {error}", code="request_invalid") from error


def _checked_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    wrong = [label for label in labels if not label.strip() or not label.isprintable()]
    if wrong or len(set(labels)) < len(labels):
        raise ModelCallError(
            f"labels must be different printable texts, got {shortened(labels)}", code="request_invalid"
        )
    return labels


def _positive(what: str, number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - plans pass anything
        raise InputError(f"{what} must be a whole number of at least 1, got {shortened(number)}")
    return number
