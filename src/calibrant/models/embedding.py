"""Texts to vectors: each different text once, in batches, remembered, and never a zero vector for a failure."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.errors import InputError, ModelCallError, WrongTypeError, shortened
from calibrant.fingerprints import fingerprint
from calibrant.models.embedding_models import embedding_model
from calibrant.models.invoker import BaseLMInvoker, Message, Request
from calibrant.models.retrying import RetriedInvoker

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

__all__ = ["EmbeddingCache", "default_embedding_model", "embed"]

BATCH_TEXTS = 256
BATCH_CHARACTERS = 200_000  # about 50,000 tokens; providers take 8,192 a text and 300,000 a request
BATCHES_AT_ONCE = 4


class EmbeddingCache:
    """Vectors by model and text, the least used forgotten first once they take more than `max_bytes`."""

    def __init__(self, max_bytes: int = 64_000_000) -> None:
        self.max_bytes = max_bytes
        self._vectors: OrderedDict[tuple[str, str], Vectors] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    def get(self, model: str, text: str) -> Vectors | None:
        """The vector of `text` by `model` (its fingerprint); None when it is not remembered."""
        with self._lock:
            found = self._vectors.get((model, text))
            if found is not None:
                self._vectors.move_to_end((model, text))
            return found

    def put(self, model: str, text: str, vector: Vectors) -> None:
        """Remember the vector of `text` by `model`."""
        with self._lock:
            if (model, text) not in self._vectors:
                self._bytes += _weight(text, vector)
            self._vectors[model, text] = vector
            while self._bytes > self.max_bytes and self._vectors:
                (_, forgotten), old = self._vectors.popitem(last=False)
                self._bytes -= _weight(forgotten, old)


def _weight(text: str, vector: Vectors) -> int:
    return vector.nbytes + 2 * len(text) + 200  # about what Python adds for the key and the entry


_remembered = EmbeddingCache()


def default_embedding_model() -> str:
    """The name that `embed` takes when it is given none.

    It is `openai/text-embedding-3-large` when OPENAI_API_KEY is set, and the offline `local/wordllama` when it is not.
    """
    has_key = bool(os.environ.get("OPENAI_API_KEY", "").strip())
    return "openai/text-embedding-3-large" if has_key else "local/wordllama"


async def embed(
    texts: Sequence[str],
    *,
    model: str | BaseLMInvoker | None = None,
    cache: EmbeddingCache | None = None,
    **options: Any,
) -> Vectors:
    """One row of length 1 for each of `texts`, so that the product of two rows is the cosine of their angle.

    `model` is a name, or what `embedding_model` made of one, wrapped as you like; `options` go with a name. Each
    different text is asked for once, in batches, and remembered for the process, or in your own `cache`; a model that
    is given by name is asked again after failures that pass. An empty or blank text has no meaning to embed: it is an
    InputError that names its place. Any other text gets a vector, or the whole call is a ModelCallError; there are no
    zero vectors. No texts give no rows.
    """
    wanted = _checked_texts(texts)
    asked = embedding_model(default_embedding_model() if model is None else model, **options)
    if asked is not model:
        asked = RetriedInvoker(asked)
    known = _remembered if cache is None else cache
    try:
        rows = await _rows(asked, wanted, known)
    finally:
        if asked is not model:
            await asked.aclose()
    if not rows:
        return np.empty((0, 0), dtype=np.float32)
    return np.stack([rows[text] for text in wanted])


def _checked_texts(texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str) or not isinstance(texts, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass columns
        raise WrongTypeError(f"expected a list of texts, got {shortened(texts)}; put one text in a list")
    wanted = list(texts)
    problems: list[str] = []
    for place, text in enumerate(wanted):
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - columns hold anything
            problems.append(f"text {place} is {shortened(text)}, not a text")
        elif not text.strip():
            problems.append(f"text {place} is empty, so there is nothing to embed; leave it out")
    if problems:
        raise InputError.gathered("texts to embed", problems)
    return wanted


async def _rows(model: BaseLMInvoker, texts: list[str], cache: EmbeddingCache) -> dict[str, Vectors]:
    key = fingerprint(dict(model.identity))
    rows: dict[str, Vectors] = {}
    missing: list[str] = []
    for text in dict.fromkeys(texts):
        found = cache.get(key, text)
        if found is None:
            missing.append(text)
        else:
            rows[text] = found
    gate = asyncio.Semaphore(BATCHES_AT_ONCE)
    for batch, vectors in await _all_or_none([_embedded(model, batch, gate) for batch in _batches(missing)]):
        for text, vector in zip(batch, vectors, strict=True):
            rows[text] = vector
            cache.put(key, text, vector)
    if len({len(row) for row in rows.values()}) > 1:
        raise ModelCallError(f"{model.name} gave vectors of different lengths", code="provider_error")
    return rows


def _batches(texts: list[str]) -> Iterator[list[str]]:
    """Texts of like length together: the shorter ones of a batch are filled up to its longest."""
    batch: list[str] = []
    for text in sorted(texts, key=len):
        if batch and (len(batch) == BATCH_TEXTS or (len(batch) + 1) * len(text) > BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(text)
    if batch:
        yield batch


async def _all_or_none(calls: list[Any]) -> list[Any]:
    """What all `calls` return; when one fails, the others are cancelled before its error goes on."""
    tasks = [asyncio.ensure_future(call) for call in calls]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _embedded(model: BaseLMInvoker, batch: list[str], gate: asyncio.Semaphore) -> tuple[list[str], Vectors]:
    async with gate:
        reply = await model.invoke(Request(messages=tuple(Message("user", text) for text in batch)))
    return batch, _unit_rows(reply.data, batch, model.name)


def _unit_rows(data: Any, batch: list[str], name: str) -> Vectors:
    try:
        rows = np.asarray(data, dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim != 2 or rows.shape[0] != len(batch):
        raise ModelCallError(
            f"{name} was asked for {len(batch)} vectors and gave {shortened(data)}", code="provider_error"
        )
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(rows, axis=1)
    wrong = np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))
    if wrong.size:
        raise ModelCallError(
            f"{name} gave no usable vector for {wrong.size} of {len(batch)} texts, the first of them"
            f" {shortened(batch[int(wrong[0])])}: a zero, or no finite numbers",
            code="provider_error",
        )
    return (rows / lengths[:, None]).astype(np.float32)
