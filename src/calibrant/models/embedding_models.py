"""Models that turn texts into vectors: an OpenAI-compatible endpoint, or wordllama in this process."""

from __future__ import annotations

import asyncio
import json
import logging
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, MissingExtraError, ModelCallError, UnknownNameError, WrongTypeError, shortened
from calibrant.models.invoker import BaseLMInvoker, InvokerWrapper, Reply
from calibrant.ratings import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.models.endpoints import Endpoint
    from calibrant.models.invoker import Request

__all__ = ["EmbeddingEndpoint", "WordllamaEmbedder", "embedding_model"]

LOCAL_NAME = "local/wordllama"
OPTIONS = ("api_key", "api_key_env", "base_url", "dimensions", "headers", "price", "timeout")


def embedding_model(name: str | BaseLMInvoker, **options: Any) -> BaseLMInvoker:
    """The embedding model called `name`: `local/wordllama`, or `provider/model` at an OpenAI-compatible endpoint.

    It is asked like any model, so it can be wrapped like any: each message of a Request is one text, and `data` of
    the Reply holds one vector for each. Options: `base_url`, `api_key`, `api_key_env`, `headers`, `timeout`, `price`,
    and `dimensions` where the model can shorten its vectors.

    >>> embedding_model("openai/text-embedding-3-large").name
    'openai/text-embedding-3-large'
    """
    if isinstance(name, BaseLMInvoker):
        if options:
            raise InputError(f"{name!r} is made already; options go with a name")
        return name
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass their own objects
        raise WrongTypeError(f"expected an embedding model's name such as '{LOCAL_NAME}', got {shortened(name)}")
    if options and name.startswith("local/"):
        raise UnknownNameError(f"{name} takes no options, got {', '.join(options)}")
    for option in options:
        if option not in OPTIONS:
            raise UnknownNameError.among(f"option of {name}", option, OPTIONS)
    if name == LOCAL_NAME:
        return WordllamaEmbedder()
    if name.startswith("local/"):
        raise UnknownNameError.among("local embedding model", name, [LOCAL_NAME])
    return EmbeddingEndpoint(_endpoint(name, options), dimensions=options.get("dimensions"))


def _endpoint(name: str, options: Mapping[str, Any]) -> Endpoint:
    from calibrant.models.connecting import connect
    from calibrant.models.wire import HttpInvoker

    model = connect(name, **{option: value for option, value in options.items() if option != "dimensions"})
    while isinstance(model, InvokerWrapper):
        model = model.inner
    if not isinstance(model, HttpInvoker) or model.endpoint.provider.wire != "openai":
        raise ModelCallError(
            f"{name} gives no embeddings over the OpenAI wire; name another model, or {LOCAL_NAME}", code="unsupported"
        )
    return model.endpoint


class EmbeddingEndpoint(BaseLMInvoker):
    """An embedding model behind the OpenAI wire's `/embeddings`."""

    def __init__(self, endpoint: Endpoint, *, dimensions: int | None = None) -> None:
        from calibrant.models.transport import Transport

        self.name = endpoint.name
        self.endpoint = endpoint
        self.dimensions = dimensions
        self._transport = Transport(endpoint)

    @property
    def identity(self) -> Mapping[str, Any]:
        """Name, address and dimensions: no key."""
        return {**self.endpoint.identity(), "embedding": True, "dimensions": self.dimensions}

    async def invoke(self, request: Request) -> Reply:
        """One vector for each message, as lists of numbers in `data`."""
        from calibrant.models.wire import counts_of

        texts = [message.content for message in request.messages]
        body: dict[str, Any] = {"model": self.endpoint.model, "input": texts}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        answer = await self._transport.post("embeddings", body)
        payload = answer.payload
        tokens = counts_of(payload.get("usage")).get("prompt_tokens")
        price = self.endpoint.known_price()
        usd = None if tokens is None or price is None else price.of(tokens, 0)
        return Reply(
            text="",
            data=self._vectors(payload, len(texts)),
            mode="embedding",
            model=payload.get("model") or self.endpoint.model,
            usage=Usage(calls=1, input_tokens=tokens or 0, usd=usd),
            rate_limit=answer.rate_limit,
        )

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await self._transport.aclose()

    def _vectors(self, payload: Mapping[str, Any], count: int) -> list[Any]:
        try:
            placed = {entry["index"]: entry["embedding"] for entry in payload["data"]}
            return [placed[index] for index in range(count)]
        except (LookupError, TypeError):
            shown = self._transport.shown(json.dumps(payload))
            raise ModelCallError(
                f"{self.name} was asked for {count} embeddings and answered with something else: {shown}",
                code="provider_error",
            ) from None


class WordllamaEmbedder(BaseLMInvoker):
    """The offline embedder: averages of static word vectors (256 numbers), in this process, with no network.

    It knows which words are in a text and little of what they say together. Similar is not faithful.
    """

    def __init__(self) -> None:
        if find_spec("wordllama") is None:
            raise MissingExtraError("local", f"the offline embedder {LOCAL_NAME!r}")
        self.name = LOCAL_NAME

    @property
    def identity(self) -> Mapping[str, Any]:
        """The package's version stands for the vectors that it carries."""
        return {"model": self.name, "version": version("wordllama"), "embedding": True}

    async def invoke(self, request: Request) -> Reply:
        """One vector for each message, as lists of numbers in `data`."""
        texts = [message.content for message in request.messages]
        vectors = await asyncio.to_thread(lambda: _wordllama().embed(texts, batch_size=len(texts)).tolist())
        return Reply(text="", data=vectors, mode="embedding", model=self.name, usage=Usage(calls=1, usd=0.0))


@lru_cache(maxsize=1)
def _wordllama() -> Any:
    """The vectors and tokenizer inside the wordllama package.

    Its own `load()` looks for the tokenizer in a folder called `tokenizer`, while the package ships `tokenizers`, and
    would download it. Naming the package's own folder as the cache, where `tokenizers` is right, finds both.
    """
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    package = import_module("wordllama")
    # Its import sets up logging for the whole process; that is not a library's to do.
    root.handlers[:] = handlers
    root.setLevel(level)
    folder = Path(str(package.__file__)).parent
    try:
        return package.WordLlama.load(cache_dir=folder, disable_download=True)
    except FileNotFoundError as error:
        raise ModelCallError(
            f"the installed wordllama does not carry its own files ({error}); install it anew with: pip install"
            " --force-reinstall wordllama",
            code="missing_extra",
        ) from error
