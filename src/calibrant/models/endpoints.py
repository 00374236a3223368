"""Where a model answers: providers, their addresses and their keys, which are read when they are asked for."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from calibrant.errors import InputError, ModelCallError, shortened
from calibrant.models.http_errors import without_secrets
from calibrant.models.prices import Price, listed_price

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PROVIDERS", "Endpoint", "Provider"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A kind of server: its address, the variables that hold its address and key, and how it wants both."""

    base_url: str = ""
    url_variable: str = ""
    key_variable: str = ""
    needs_key: bool = True
    wire: str = "openai"
    key_header: str = "Authorization"
    limit_name: str = "max_tokens"


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider(
        base_url="https://api.anthropic.com/v1",
        url_variable="ANTHROPIC_BASE_URL",
        key_variable="ANTHROPIC_API_KEY",
        wire="anthropic",
        key_header="x-api-key",
    ),
    "azure": Provider(
        url_variable="AZURE_OPENAI_ENDPOINT",
        key_variable="AZURE_OPENAI_API_KEY",
        key_header="api-key",
        limit_name="max_completion_tokens",
    ),
    "groq": Provider(base_url="https://api.groq.com/openai/v1", key_variable="GROQ_API_KEY"),
    "llama.cpp": Provider(base_url="http://localhost:8080/v1", key_variable="LLAMA_API_KEY", needs_key=False),
    "ollama": Provider(base_url="http://localhost:11434/v1", key_variable="OLLAMA_API_KEY", needs_key=False),
    "openai": Provider(
        base_url="https://api.openai.com/v1",
        url_variable="OPENAI_BASE_URL",
        key_variable="OPENAI_API_KEY",
        limit_name="max_completion_tokens",
    ),
    "openrouter": Provider(base_url="https://openrouter.ai/api/v1", key_variable="OPENROUTER_API_KEY"),
    "together": Provider(base_url="https://api.together.xyz/v1", key_variable="TOGETHER_API_KEY"),
    "vllm": Provider(base_url="http://localhost:8000/v1", key_variable="VLLM_API_KEY", needs_key=False),
}
"""The providers that can be named in `provider/model`; any other is reached by its base URL."""

HIDDEN_FROM = 16
"""From so many characters on a key is blotted out of good replies too; no provider's keys are shorter."""

ANY_SERVER = Provider(needs_key=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One model at one address. The key and extra headers are in no text, hash or comparison of it."""

    name: str
    model: str
    provider: Provider
    base_url: str
    timeout: float = 60.0
    price: Price | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict[str, Any])
    api_key: str | None = field(default=None, repr=False, compare=False)
    key_variable: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)
    own_address: bool = True

    def key(self) -> str:
        """The key to send: as passed, or from the environment now; empty where none is needed.

        Raises ModelCallError (`unauthorized`) when the provider needs one and there is none.
        """
        found = self._known_key()
        if not found.isprintable():
            raise ModelCallError(f"the key of {self.name} holds a control character", code="unauthorized")
        if not found and self.provider.needs_key and self.own_address:
            raise ModelCallError(
                f"{self.name} needs a key: set {self.key_variable}, or pass api_key=...", code="unauthorized"
            )
        return found

    def all_headers(self) -> dict[str, str]:
        """What is sent with every request, the key among it."""
        headers = {"Content-Type": "application/json", **self.headers}
        key = self.key()
        if key:
            name = self.provider.key_header
            headers[name] = f"Bearer {key}" if name == "Authorization" else key
        return headers

    def secrets(self) -> tuple[str, ...]:
        """What may never be seen in a message: the key, and the values of extra headers."""
        words = (word for value in self.headers.values() for word in (value, *value.split()))
        # The longest first: one may be a part of another.
        return tuple(sorted((one for one in {self._known_key(), *words} if len(one) > 3), key=len, reverse=True))

    def key_to_hide(self) -> str:
        """The key, where it is so long that no reply holds it by chance; empty for the likes of `none` and `EMPTY`."""
        key = self._known_key()
        return key if len(key) >= HIDDEN_FROM else ""

    def _known_key(self) -> str:
        return (self.api_key or os.environ.get(self.key_variable, "")).strip()

    def identity(self) -> dict[str, Any]:
        """What tells this endpoint from others in call keys: name, address and sampling, never the key."""
        identity: dict[str, Any] = {"model": self.name, "base_url": self.base_url}
        if self.sampling:
            identity["sampling"] = dict(self.sampling)
        return identity

    def known_price(self) -> Price | None:
        """The price that was given, or the list price at the provider's own address; None when unknown."""
        if self.price is not None or not self.own_address:
            return self.price
        return listed_price(self.name.partition("/")[0], self.model)


def address_of(name: str, provider: Provider, base_url: str | None) -> str:
    """The address of `provider`: as given, from its variable, or its own. Secrets may not stand in it."""
    found = base_url or os.environ.get(provider.url_variable, "").strip() or provider.base_url
    if not found:
        remedy = f"set {provider.url_variable}, or " if provider.url_variable else ""
        raise InputError(f"{name} has no address: {remedy}pass base_url=...")
    parts = urlsplit(found)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InputError(
            f"base_url of {name} is http:// or https:// and a host, not {shortened(without_secrets(found, ()))}"
        )
    if parts.username or parts.password or parts.query:
        raise InputError(f"base_url of {name} carries a user, a password or a query; pass api_key=... or headers=...")
    address = found.rstrip("/")
    if provider is PROVIDERS["azure"] and not parts.path.strip("/"):
        return f"{address}/openai/v1"
    if provider is PROVIDERS["anthropic"] and not parts.path.strip("/"):
        return f"{address}/v1"
    return address
