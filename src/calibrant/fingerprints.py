"""One hash for everything that is compared or kept: equal content, equal fingerprint, in any process and on any day."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from calibrant.errors import WrongTypeError, shortened

__all__ = ["canonical_json", "fingerprint"]


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


_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


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
    """Scalars and arrays of other libraries, records with `to_json`, dates and paths."""
    for method in ("to_json", "tolist", "isoformat", "__fspath__"):
        convert = getattr(value, method, None)
        if callable(convert) and not isinstance(value, type):
            return _plain(convert())
    raise WrongTypeError(f"cannot fingerprint a {type(value).__name__}: {shortened(value)}")
