"""A seal over a run's ratings: one hash that is the same in whatever order they came, and another when one differs."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.ratings import Rating

__all__ = ["Seal"]

MODULUS = 1 << 256

_encode = json.JSONEncoder(separators=(",", ":")).encode


class Seal:
    """Sums the hashes of ratings and of clusters; explanations and messages are not in it, since runs may drop them.

    It shows a rating that was changed, added or taken away. It is no signature: who can rewrite the whole run, its
    report included, can rewrite the seal.
    """

    def __init__(self) -> None:
        self._sum = 0

    def add(self, position: int, rating: Rating) -> None:
        """Put a rating of the item at `position` under the seal."""
        value = sorted(rating.value) if isinstance(rating.value, frozenset) else rating.value
        code = None if rating.failure is None else rating.failure.code
        named = (rating.item, rating.criterion, rating.rater, rating.instrument, rating.slot, rating.role)
        self._put([position, *named, rating.status, value, code])

    def place(self, position: int, cluster: str) -> None:
        """Put the cluster of the item at `position` under the seal."""
        self._put([position, cluster])

    def __str__(self) -> str:
        return f"sum-sha256:{self._sum:064x}"

    def _put(self, row: list[object]) -> None:
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(_encode(row).encode()).digest(), "big")) % MODULUS
