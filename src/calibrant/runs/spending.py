"""What a run took in all: this time, and each time that the same command was given before."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from calibrant.ratings import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Spending"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What the sessions of a run took, and whether that is all: of one that was killed nobody knows what it took."""

    usage: Usage = field(default_factory=Usage)
    sessions: int = 0
    is_all: bool = True

    @classmethod
    def before(cls, manifest: Mapping[str, Any] | None) -> Self:
        """What a run took before, as the manifest says that it left; nothing where there is none.

        >>> Spending.before({"status": "running"})
        Spending(usage=Usage(calls=0, cached=0, input_tokens=0, output_tokens=0, usd=0.0), sessions=1, is_all=False)
        """
        if manifest is None:
            return cls()
        known = cls.from_json(manifest.get("spending"))
        if manifest["status"] != "running":
            return known
        return replace(known, sessions=known.sessions + 1, is_all=False)

    @classmethod
    def from_json(cls, told: Mapping[str, Any] | None) -> Self:
        """What `to_json` wrote; nothing where a manifest or a report has none."""
        if told is None:
            return cls()
        return cls(usage=Usage(**told["usage"]), sessions=told["sessions"], is_all=told["is_all"])

    def joined(self, usage: Usage) -> Self:
        """This, and one more session. Answers that were kept were paid for once, so that only this session's count."""
        total = replace(self.usage + usage, cached=usage.cached)
        return replace(self, usage=total, sessions=self.sessions + 1)

    def to_json(self) -> dict[str, Any]:
        """The spending as JSON has it."""
        return {"usage": self.usage.to_json(), "sessions": self.sessions, "is_all": self.is_all}
