"""One hash for everything that is compared or kept: equal content, equal fingerprint, in any process and on any day."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from calibrant.errors import WrongTypeError, shortened

__all__ = ["canonical_json", "fingerprint", "plain_json"]


def canonical_json(value: Any) -> str:
    """`value` as JSON with one spelling: keys sorted, no spaces, sets in order; what JSON cannot hold is refused.

    >>> canonical_json({"b": {2, 1}, "a": (1.0, None)})
    '{"a":[1.0,null],"b":[1,2]}'
    """
    try:
        return _encode(value)
    except (TypeError, ValueError):
        return _encode(_plain(value))


def fingerprint(value: Any) -> str:
    """The SHA-256 of `value`'s canonical JSON, as `sha256:` and 64 hexadecimal digits.

    >>> fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    True
    """
    return "sha256:" + hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()


def plain_json(value: Any) -> Any:
    """`value` made only of what JSON holds, so that it can be written and read again with the same fingerprint.

    Dates, decimals, sets, bytes and numbers of other libraries come back as texts, lists and plain numbers.

    >>> import datetime
    >>> plain_json({"opened": datetime.date(2026, 3, 1), "tags": {"b", "a"}})
    {'opened': '2026-03-01', 'tags': ['a', 'b']}
    """
    return _plain(value)


_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


_READ_AS_TEXT = frozenset({"datetime", "decimal", "fractions", "uuid"})


def _plain(value: Any) -> Any:
    match value:
        case None | str() | bool() | int():
            plain = value
        case float():
            plain = value if math.isfinite(value) else {"float": repr(value)}
        case bytes():
            plain = {"bytes": value.hex()}
        case Mapping():
            plain = {str(key): _plain(inner) for key, inner in value.items()}
        case AbstractSet():
            plain = sorted((_plain(inner) for inner in value), key=_encode)
        case Sequence():
            plain = [_plain(inner) for inner in value]
        case _:
            plain = _foreign(value)
    return plain


def _foreign(value: Any) -> Any:
    """Scalars and arrays of other libraries, records with `to_json`, dates and paths; decimals, spans and UUIDs."""
    for method in ("to_json", "tolist", "isoformat", "__fspath__"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return _plain(convert())
    if type(value).__module__ in _READ_AS_TEXT:
        return str(value)
    raise WrongTypeError(f"cannot fingerprint a {type(value).__name__}: {shortened(value)}")
