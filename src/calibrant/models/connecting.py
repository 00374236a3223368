"""Models by name: `provider/model`, a bare name for OpenAI, `local/...` for the offline judge."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack, cast

from calibrant.errors import (
    InputError,
    ModelNotNamedError,
    UnknownNameError,
    WrongTypeError,
    shortened,
)
from calibrant.models.endpoints import ANY_SERVER, PROVIDERS, Endpoint, Provider, address_of
from calibrant.models.invoker import BaseLMInvoker
from calibrant.models.prices import Price

__all__ = ["ConnectOptions", "anthropic", "connect", "openai", "openai_compatible"]

MODEL_VARIABLE = "CALIBRANT_MODEL"


class ConnectOptions(TypedDict, total=False):
    """What may be said about a model beside its name; every option may be left out.

    `api_key` (else the provider's variable, or the one that `api_key_env` names), `base_url`, `headers` to send along,
    `timeout` in seconds for one attempt (60), `price` in US dollars per million tokens (input, output), `sampling` to
    send with every request, `reply_mode` to begin lower on the ladder of reply forms, and the limits
    `requests_per_minute`, `tokens_per_minute` and `concurrency`.
    """

    api_key: str
    api_key_env: str
    base_url: str
    headers: Mapping[str, str]
    timeout: float
    price: Any
    sampling: Mapping[str, Any]
    reply_mode: str
    requests_per_minute: float
    tokens_per_minute: float
    concurrency: int


LIMITS = ("requests_per_minute", "tokens_per_minute", "concurrency")


def connect(name: str | BaseLMInvoker | None = None, **options: Any) -> BaseLMInvoker:
    """The model called `name`: `provider/model`, a bare name for OpenAI, or `local/...`.

    Without a name it is the one in `CALIBRANT_MODEL`, read now; unset, that is a ModelNotNamedError. Nothing is sent
    until the model is asked, so a key that is missing shows then. `options` are those of ConnectOptions.

    >>> connect("gpt-x"), connect("ollama/qwen3").identity["base_url"]
    (ChatCompletionsInvoker('openai/gpt-x'), 'http://localhost:11434/v1')
    """
    if isinstance(name, BaseLMInvoker):
        if options:
            raise InputError(f"{name!r} is connected already; options go with a name")
        return name
    provider, model = _split(_named(name), has_address="base_url" in options)
    if provider == "local":
        return _local(model, options)
    _check_options(options)
    return _http(provider, model, cast("ConnectOptions", options))


def openai(model: str, **options: Unpack[ConnectOptions]) -> BaseLMInvoker:
    """The OpenAI model of this name; the key is in `OPENAI_API_KEY`, or passed.

    >>> openai("gpt-x").name
    'openai/gpt-x'
    """
    return connect(f"openai/{_text(model)}", **options)


def anthropic(model: str, **options: Unpack[ConnectOptions]) -> BaseLMInvoker:
    """The Anthropic model of this name; the key is in `ANTHROPIC_API_KEY`, or passed.

    >>> anthropic("claude-x").name
    'anthropic/claude-x'
    """
    return connect(f"anthropic/{_text(model)}", **options)


def openai_compatible(model: str, *, base_url: str, **options: Any) -> BaseLMInvoker:
    """The model of this name at any address that speaks OpenAI's chat completions; a key is sent only if passed.

    >>> openai_compatible("qwen3", base_url="http://localhost:8000/v1").name
    'openai_compatible/qwen3'
    """
    _check_options(options)
    return _http("openai_compatible", _text(model), cast("ConnectOptions", {**options, "base_url": base_url}))


def _text(name: object) -> str:
    if not isinstance(name, str):
        raise WrongTypeError(f"a model is named by a text such as 'openai/NAME', not {shortened(name)}")
    return name


def _named(name: str | None) -> str:
    found = os.environ.get(MODEL_VARIABLE, "").strip() if name is None else _text(name).strip()
    if not found:
        raise ModelNotNamedError
    return found


def _split(name: str, *, has_address: bool) -> tuple[str, str]:
    provider, slash, model = name.partition("/")
    if not slash:
        return "openai", name
    if not provider or not model:
        raise InputError(f"a model is named provider/model, not {name!r}")
    if provider in {*PROVIDERS, "local"}:
        return provider, model
    if has_address:
        return "openai_compatible", name
    known = ", ".join([*sorted(PROVIDERS), "local"])
    raise UnknownNameError(
        f"unknown provider {provider!r} in {name!r}; expected one of: {known}; any other server is reached with "
        "base_url=..."
    )


def _check_options(options: Mapping[str, Any]) -> None:
    known = ConnectOptions.__annotations__
    problems = [
        f"unknown option {name!r}; expected one of: {', '.join(known)}" for name in options if name not in known
    ]
    timeout = options.get("timeout", 60.0)
    if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
        problems.append(f"timeout is a number of seconds above 0, not {shortened(timeout)}")
    kinds = {"headers": Mapping, "sampling": Mapping, "api_key": str, "api_key_env": str, "base_url": str}
    # What was passed may be a secret: only its type is shown.
    problems += [
        f"{name} is a {kind.__name__}, not a {type(options[name]).__name__}"
        for name, kind in kinds.items()
        if options.get(name) is not None and not isinstance(options[name], kind)
    ]
    problems += _header_problems(options.get("headers"))
    if problems:
        raise InputError.gathered("the model's options", problems)


def _header_problems(headers: object) -> list[str]:
    if not isinstance(headers, Mapping):
        return []
    pairs = cast("Mapping[object, object]", headers).items()
    return [
        f"the header {shortened(name)} is no text without control characters"
        for name, value in pairs
        if not all(isinstance(part, str) and part.isprintable() for part in (name, value))
    ]


def _http(provider_name: str, model: str, options: ConnectOptions) -> BaseLMInvoker:
    provider = PROVIDERS.get(provider_name, ANY_SERVER)
    endpoint = _endpoint(f"{provider_name}/{model}", model, provider, options)
    if provider.wire == "anthropic":
        from calibrant.models.anthropic_messages import AnthropicInvoker as Wire
    else:
        from calibrant.models.chat_completions import ChatCompletionsInvoker as Wire
    return _paced(Wire(endpoint, reply_mode=options.get("reply_mode")), options)


def _paced(model: BaseLMInvoker, options: Mapping[str, Any]) -> BaseLMInvoker:
    limits: dict[str, Any] = {name: options[name] for name in LIMITS if options.get(name) is not None}
    if not limits:
        return model
    from calibrant.models.limiting import LimitedInvoker, Limiter

    return LimitedInvoker(model, Limiter(**limits))


def _endpoint(name: str, model: str, provider: Provider, options: ConnectOptions) -> Endpoint:
    price = options.get("price")
    address = address_of(name, provider, options.get("base_url"))
    return Endpoint(
        name=name,
        model=model,
        provider=provider,
        base_url=address,
        timeout=options.get("timeout", 60.0),
        price=None if price is None else Price.from_any(price),
        sampling=dict(options.get("sampling", {})),
        api_key=options.get("api_key"),
        key_variable=options.get("api_key_env") or provider.key_variable,
        headers=_wire_headers(provider, options.get("headers", {})),
        own_address=address == provider.base_url or not (provider.base_url or options.get("base_url")),
    )


def _wire_headers(provider: Provider, headers: Mapping[str, str]) -> dict[str, str]:
    if provider.wire == "anthropic":
        from calibrant.models.anthropic_messages import VERSION

        return {"anthropic-version": VERSION, **headers}
    return dict(headers)


def _local(model: str, options: Mapping[str, Any]) -> BaseLMInvoker:
    from calibrant.models.local import local

    own = {name: value for name, value in options.items() if name not in LIMITS}
    return _paced(local(model, **own), options)
