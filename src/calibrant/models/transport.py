"""HTTP for the wires: one session for each running loop, closed with the loop, and errors with codes."""

from __future__ import annotations

import asyncio
import json
import weakref
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import aiohttp
from yarl import URL

from calibrant.errors import ModelCallError, shortened
from calibrant.models.http_errors import RateLimit, error_of_status, rate_limit_of, without_secrets

if TYPE_CHECKING:
    from calibrant.models.endpoints import Endpoint

__all__ = ["Answer", "Transport"]

CONNECT_SECONDS = 10.0


class Answer(NamedTuple):
    """A good reply's JSON, and what its headers said about rate limits."""

    payload: Mapping[str, Any]
    rate_limit: RateLimit | None


class Transport:
    """Posts JSON to one endpoint. Everything that can go wrong is a ModelCallError with a code."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._sessions = WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncGenerator[aiohttp.ClientSession, None]]()
        self._open = WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession]()
        self._urls: dict[str, URL] = {}
        weakref.finalize(self, close_behind_closed_loops, self._open)

    async def post(self, path: str, body: Mapping[str, Any]) -> Answer:
        """What the endpoint answers to `body` under `path`."""
        session = self._open.get(asyncio.get_running_loop()) or await self._opened()
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        headers = self.endpoint.all_headers()
        try:
            async with session.post(self._url(path), data=data, headers=headers, allow_redirects=False) as response:
                raw = await response.read()
                status, received = response.status, response.headers
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise self._unreached(error) from None
        if status != 200:
            raise self._refused(status, raw.decode("utf-8", "replace"), received, body)
        return Answer(self._payload(self._without_key(raw), received, body), rate_limit_of(received))

    async def aclose(self) -> None:
        """Close the session of the running loop; the next call opens one anew."""
        holder = self._sessions.get(asyncio.get_running_loop())
        if holder is not None:
            await holder.aclose()

    def shown(self, said: str, limit: int = 60) -> str:
        """What a server said, for an error: free of secrets first and then cut, so that no half of one is left."""
        return shortened(without_secrets(said, self.endpoint.secrets()), limit)

    def _without_key(self, raw: bytes) -> bytes:
        """A good reply as it came, unless it repeats the key: replies are kept, and shown in errors."""
        key = self.endpoint.key_to_hide().encode()
        return raw.replace(key, b"***") if key and key in raw else raw

    def _url(self, path: str) -> URL:
        url = self._urls.get(path)
        if url is None:
            url = self._urls[path] = URL(f"{self.endpoint.base_url}/{path}")
        return url

    async def _opened(self) -> aiohttp.ClientSession:
        loop = asyncio.get_running_loop()
        close_behind_closed_loops(self._open)
        for closed in closed_loops(self._sessions):
            self._sessions.pop(closed, None)
        holder = self._sessions[loop] = self._holder()
        # The loop closes the asynchronous generators that were begun in it before it closes itself.
        session = await anext(holder)
        self._open[loop] = session
        return session

    async def _holder(self) -> AsyncGenerator[aiohttp.ClientSession, None]:
        loop = asyncio.get_running_loop()
        session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self.endpoint.timeout, sock_connect=CONNECT_SECONDS),
            proxy=proxy_for(URL(self.endpoint.base_url)),
        )
        try:
            yield session
        finally:
            self._open.pop(loop, None)
            self._sessions.pop(loop, None)
            await session.close()

    def _payload(self, raw: bytes, headers: Mapping[str, str], body: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            payload = json.loads(raw)
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            shown = self.shown(raw.decode("utf-8", "replace"))
            raise ModelCallError(
                f"{self.endpoint.name} answered with a body that is no JSON object: {shown}", code="provider_error"
            )
        error = payload.get("error")
        if error:
            # Gateways report an upstream error inside a good reply; its code is the status that it stands for.
            code = error.get("code") if isinstance(error, dict) else None
            status = code if isinstance(code, int) and 400 <= code < 600 else 502
            raise self._refused(status, raw.decode("utf-8", "replace"), headers, body)
        return payload

    def _refused(self, status: int, said: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> ModelCallError:
        said = without_secrets(said, self.endpoint.secrets())
        return error_of_status(self.endpoint.name, status, said, headers, sent=body)

    def _unreached(self, error: Exception) -> ModelCallError:
        name, address = self.endpoint.name, self.endpoint.base_url
        if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ConnectionTimeoutError):
            return ModelCallError(f"{name} did not answer within {self.endpoint.timeout:g} s", code="judge_timeout")
        # aiohttp says `ssl:default` of plain http too, which sends its readers after the wrong cause.
        said = f"{type(error).__name__}: {error}".replace(" ssl:default", "")
        why = without_secrets(said, self.endpoint.secrets())[:200]
        return ModelCallError(f"{name} at {address} could not be reached ({why})", code="judge_unreachable")


def closed_loops(by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Any]) -> list[asyncio.AbstractEventLoop]:
    """The loops among the keys that are closed; other threads may add theirs meanwhile."""
    loops = [reference() for reference in by_loop.keyrefs()]
    return [loop for loop in loops if loop is not None and loop.is_closed()]


def close_behind_closed_loops(sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession]) -> None:
    """Close those of `sessions` whose loop was closed over them, by a `close()` of the user's own.

    `asyncio.run` closes them itself. Here nothing is left to be awaited, so that the first step is the last.
    """
    for loop in closed_loops(sessions):
        session = sessions.pop(loop, None)
        if session is not None:
            with suppress(StopIteration):
                session.close().send(None)


def proxy_for(url: URL) -> URL | None:
    """The proxy that the environment names for `url`, with any credentials in its address; None when there is none.

    aiohttp's own `trust_env` reads the environment and `.netrc` in two threads at every request, which costs more than
    the request, and a `.netrc` entry would clash with the key. This is asked once for each session.
    """
    from urllib.request import getproxies, proxy_bypass

    found = getproxies().get(url.scheme)
    return None if not found or (url.host is not None and proxy_bypass(url.host)) else URL(found)
