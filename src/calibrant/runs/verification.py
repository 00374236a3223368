"""What a verification found: how much of a report was worked out anew, what differs, and what could not be checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["TOLERANCE", "Difference", "Verification", "is_alike"]

TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One place of a report where what was reported is not what the ratings come to."""

    where: str
    reported: Any
    found: Any

    def __str__(self) -> str:
        return f"{self.where}: reported {_shown(self.reported)}, but the store says {_shown(self.found)}"

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON has it."""
        return {"where": self.where, "reported": self.reported, "found": self.found}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The verification of one run. `checked` counts the places of the report that were worked out anew.

    `damaged` names rows of the store that do not match their checksum or are missing, `unchecked` what rests on
    something that is not kept with the run.
    """

    run: str
    checked: int
    ratings: int
    differences: tuple[Difference, ...] = ()
    damaged: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()

    @property
    def is_ok(self) -> bool:
        """Whether nothing differs and nothing is damaged."""
        return not self.differences and not self.damaged

    def to_json(self) -> dict[str, Any]:
        """The verification as `--json` prints it."""
        return {
            "schema": "calibrant.verification/1",
            "run": self.run,
            "ok": self.is_ok,
            "checked": self.checked,
            "ratings": self.ratings,
            "differences": [one.to_json() for one in self.differences],
            "damaged": list(self.damaged),
            "unchecked": list(self.unchecked),
        }

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        rest = f"{self.checked:,} entries of the report worked out anew from {self.ratings:,} ratings"
        if self.is_ok:
            yield f"OK  {self.run}: {rest}, and none differs"
        elif self.damaged:
            yield f"DAMAGED  {self.run}: {len(self.damaged)} of its rows do not match their checksum, or are missing"
        else:
            yield f"DIFFERS  {self.run}: {rest}; what differs:"
        yield from (f"  damaged: {text}" for text in self.damaged)
        yield from (f"  {one}" for one in self.differences)
        yield from (f"  not checked: {text}" for text in self.unchecked)


def is_alike(a: Any, b: Any) -> bool:
    """Whether two values are the same; numbers may differ by a rounding error, as sums in another order do.

    >>> is_alike(0.1 + 0.2, 0.3), is_alike(0.3, 0.31), is_alike(True, 1.0)
    (True, False, True)
    """
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return a == b


def _shown(value: Any) -> str:
    return "nothing" if value is None else repr(value)
