"""What went wrong with an HTTP call, as one error with a code: readable, naming the parameter, free of secrets."""

from __future__ import annotations

import json
import re
import time
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from calibrant.errors import ModelCallError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["RateLimit", "error_of_status", "rate_limit_of", "retry_after_of", "without_secrets"]

_SHOWN = 300
_KEY_LIKE = re.compile(r"\b(sk|gsk|xai|key)-[A-Za-z0-9_*\-]{6,}")
_CREDENTIALS = re.compile(r"[^\s/:@'\"]+:[^\s/@'\"]+@")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_CODES = {
    401: "unauthorized",
    403: "unauthorized",
    408: "judge_timeout",
    429: "judge_rate_limited",
    504: "judge_timeout",
}


class RateLimit(NamedTuple):
    """What the provider says is left until its limits are reset, and in how many seconds that is."""

    requests_left: float | None
    requests_reset: float
    tokens_left: float | None
    tokens_reset: float


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """`text` with every secret, and whatever looks like a provider's key, blotted out.

    >>> without_secrets("Incorrect API key provided: sk-abc123def.", [])
    'Incorrect API key provided: ***.'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", _CREDENTIALS.sub("***@", text))


def error_of_status(
    name: str, status: int, body: str, headers: Mapping[str, str], *, sent: Iterable[str]
) -> ModelCallError:
    """The error for a reply of HTTP `status`; `sent` are the parameters that the request had."""
    said = _said(body)
    code = _CODES.get(status) or ("provider_error" if status >= 500 else "request_invalid")
    retryable: bool | None = None
    parameter = _parameter(said, sent) if code == "request_invalid" else ""
    if said.code == "content_filter" or "content management policy" in said.message:
        code, parameter = "judge_refused", ""
    elif status == 403 and said.code == "invalid_request_error":
        # So OpenAI refuses log-probabilities of its reasoning models; a key without a right has another type.
        code = "request_invalid"
    elif said.code == "insufficient_quota":
        retryable = False
    what = f"rejected the parameter {parameter!r}" if parameter else f"answered with HTTP {status}"
    if 300 <= status < 400:
        what = f"answered with HTTP {status}, a redirect, which is not followed; is base_url right?"
    elif status == 404:
        what = "answered with HTTP 404; are model and base_url right? an address often ends with /v1"
    message = f"{name} {what}: {said.message[:_SHOWN]}" if said.message else f"{name} {what}"
    return ModelCallError(message, code=code, retryable=retryable, retry_after=_wait_of(status, headers))


def _wait_of(status: int, headers: Mapping[str, str]) -> float | None:
    """The seconds to wait: as asked for, or after HTTP 429 until the limit that is used up resets."""
    asked = retry_after_of(headers)
    limit = rate_limit_of(headers) if asked is None and status == 429 else None
    if limit is None:
        return asked
    left = ((limit.requests_left, limit.requests_reset), (limit.tokens_left, limit.tokens_reset))
    return max((reset for many, reset in left if many is not None and many < 1), default=None)


class _Said(NamedTuple):
    message: str
    code: str
    parameter: str


def _said(body: str) -> _Said:
    """The message, code and parameter in an error's body, whichever of the usual shapes it has."""
    try:
        data = json.loads(body)
    except ValueError:
        return _Said(" ".join(re.sub(r"<[^>]*>", " ", body).split()), "", "")
    error = data.get("error", data) if isinstance(data, dict) else data
    if not isinstance(error, dict):
        return _Said(str(error), "", "")
    fields = cast("dict[str, Any]", error)
    message = fields.get("message") or fields.get("detail") or ""
    return _Said(
        message if isinstance(message, str) else json.dumps(message),
        str(fields.get("code") or fields.get("type") or ""),
        str(fields.get("param") or ""),
    )


def _parameter(said: _Said, sent: Iterable[str]) -> str:
    """The parameter that the error is about: as the provider names it, or the one that its message names first."""
    if said.parameter:
        return said.parameter
    places = {name: match.start() for name in sent if (match := re.search(rf"\b{re.escape(name)}\b", said.message))}
    places.pop("model", None)
    return min(places, key=places.__getitem__) if places else ""


def retry_after_of(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """The seconds that the provider asks to wait, from `retry-after-ms` or `Retry-After` (seconds or a date)."""
    milliseconds = headers.get("retry-after-ms")
    if milliseconds is not None:
        return _number(milliseconds, 0.001)
    value = headers.get("Retry-After")
    if value is None:
        return None
    seconds = _number(value)
    if seconds is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now())
    except (TypeError, ValueError):
        return None


def rate_limit_of(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> RateLimit | None:
    """The limits in the headers of OpenAI (`x-ratelimit-...`) or Anthropic (`anthropic-ratelimit-...`), if any."""
    requests = headers.get("x-ratelimit-remaining-requests")
    tokens = headers.get("x-ratelimit-remaining-tokens")
    if requests is not None or tokens is not None:
        return RateLimit(
            None if requests is None else _number(requests),
            _span(headers.get("x-ratelimit-reset-requests", "")),
            None if tokens is None else _number(tokens),
            _span(headers.get("x-ratelimit-reset-tokens", "")),
        )
    requests = headers.get("anthropic-ratelimit-requests-remaining")
    tokens = headers.get("anthropic-ratelimit-tokens-remaining")
    if requests is None and tokens is None:
        return None
    return RateLimit(
        None if requests is None else _number(requests),
        _until(headers.get("anthropic-ratelimit-requests-reset", ""), now),
        None if tokens is None else _number(tokens),
        _until(headers.get("anthropic-ratelimit-tokens-reset", ""), now),
    )


def _number(text: str, unit: float = 1.0) -> float | None:
    try:
        return max(0.0, float(text) * unit)
    except ValueError:
        return None


def _span(text: str) -> float:
    """Seconds in `6m0s`, `20ms` or `1.5`."""
    found = _SPAN.findall(text)
    if found:
        return sum(float(number) * _UNITS[unit] for number, unit in found)
    return _number(text) or 0.0


def _until(text: str, now: Callable[[], float]) -> float:
    from datetime import datetime

    try:
        return max(0.0, datetime.fromisoformat(text).timestamp() - now())
    except ValueError:
        return 0.0
