"""Asking a retriever, whatever its shape: an object or a function, synchronous or not, failing or not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from calibrant.bridge import run_sync
from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.ratings import Failure
from calibrant.retrieval.context import document_ids

__all__ = ["Retrieved", "Retriever", "RetrieverLike", "retrieve_all", "retrieve_all_async"]


@runtime_checkable
class Retriever(Protocol):
    """Anything with `retrieve(query, top_k)`, which returns documents best first, at once or awaited."""

    def retrieve(self, query: str, top_k: int) -> Any:
        """The `top_k` best documents for `query`: items with an `id`, or ids."""
        ...


RetrieverLike = Retriever | Callable[..., Any]
"""A retriever, or a plain function `(query, top_k)`, synchronous or asynchronous."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """What a retriever gave for one query: the documents' ids, or the failure that came instead."""

    ids: tuple[str, ...] = ()
    failure: Failure | None = None


def retrieve_all(
    retriever: RetrieverLike, queries: Sequence[str], top_k: int, *, concurrency: int = 8
) -> list[Retrieved]:
    """What `retriever` gives for each of `queries`, in their order; a query that it fails on has a failure.

    A synchronous retriever is called here, in the caller's thread, one query after another; an asynchronous one
    through the bridge, `concurrency` queries at a time.
    """
    ask = _call_of(retriever)
    if inspect.iscoroutinefunction(ask.function):
        return run_sync(_gathered(ask, queries, top_k, concurrency))
    return [_attempted(ask, query, top_k) for query in queries]


async def retrieve_all_async(
    retriever: RetrieverLike, queries: Sequence[str], top_k: int, *, concurrency: int = 8
) -> list[Retrieved]:
    """What `retriever` gives for each of `queries`, as `retrieve_all`, in the running loop."""
    return await _gathered(_call_of(retriever), queries, top_k, concurrency)


@dataclass(frozen=True, slots=True)
class _Call:
    """How a retriever's function takes its arguments: `top_k` may be by keyword alone."""

    function: Callable[..., Any]
    by_keyword: bool

    def __call__(self, query: str, top_k: int) -> Any:
        return self.function(query, top_k=top_k) if self.by_keyword else self.function(query, top_k)


def _call_of(retriever: Any) -> _Call:
    function = getattr(retriever, "retrieve", retriever)
    if isinstance(retriever, type) or not callable(function):
        raise WrongTypeError(
            f"a retriever is a function (query, top_k), or an object with retrieve(query, top_k), "
            f"not {shortened(retriever)}"
        )
    if not inspect.isroutine(function) and inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004 - an object whose calls are asynchronous
        function = function.__call__
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return _Call(function, by_keyword=False)
    for by_keyword in (False, True):
        if _binds(signature, by_keyword=by_keyword):
            return _Call(function, by_keyword=by_keyword)
    raise WrongTypeError(f"a retriever is called with (query, top_k), but this one takes {signature}")


def _binds(signature: inspect.Signature, *, by_keyword: bool) -> bool:
    try:
        signature.bind("query", top_k=1) if by_keyword else signature.bind("query", 1)
    except TypeError:
        return False
    return True


def _attempted(ask: _Call, query: str, top_k: int) -> Retrieved:
    try:
        found = ask(query, top_k)
        return _retrieved(run_sync(_awaited(found)) if inspect.isawaitable(found) else found)
    except Exception as error:  # noqa: BLE001 - whatever a retriever raises is its failure on this query
        return _failed(error)


async def _attempted_async(ask: _Call, query: str, top_k: int) -> Retrieved:
    try:
        found = ask(query, top_k)
        return _retrieved(await found if inspect.isawaitable(found) else found)
    except Exception as error:  # noqa: BLE001 - whatever a retriever raises is its failure on this query
        return _failed(error)


async def _gathered(ask: _Call, queries: Sequence[str], top_k: int, concurrency: int) -> list[Retrieved]:
    if concurrency < 1:
        raise InputError(f"concurrency is how many queries are asked at a time, so at least 1; got {concurrency}")
    places = asyncio.Semaphore(concurrency)

    async def one(query: str) -> Retrieved:
        async with places:
            return await _attempted_async(ask, query, top_k)

    return list(await asyncio.gather(*(one(query) for query in queries)))


async def _awaited(found: Awaitable[Any]) -> Any:
    return await found


def _retrieved(found: Any) -> Retrieved:
    if found is None or isinstance(found, str | bytes | Mapping):
        raise WrongTypeError(f"a retriever returns a list of documents, best first, but it returned {shortened(found)}")
    return Retrieved(ids=tuple(document_ids(found, "what the retriever returned")))


def _failed(error: Exception) -> Retrieved:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Retrieved(failure=Failure(code="system_error", message=text))
