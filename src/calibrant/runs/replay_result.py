"""What a replay found: each changed metric before and after, and the items whose outcome is another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from calibrant.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.runs.records import Run
    from calibrant.runs.summaries import MetricSummary
    from calibrant.runs.tally import Outcomes

__all__ = ["MetricReplay", "Replay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricReplay:
    """One metric before and after: `to_pass` and `to_fail` are the items that turned, `moved` those whose score did."""

    before: MetricSummary
    after: MetricSummary
    to_pass: tuple[str, ...]
    to_fail: tuple[str, ...]
    moved: tuple[str, ...]

    @classmethod
    def of(cls, before: MetricSummary, after: MetricSummary, was: Outcomes, now: Outcomes) -> Self:
        """The change from `was` to `now`, which hold the same items in the same order."""
        moved = ~((was.scores == now.scores) | (np.isnan(was.scores) & np.isnan(now.scores)))

        def items(chosen: Any) -> tuple[str, ...]:
            return tuple(now.items[place] for place in np.flatnonzero(chosen).tolist())

        return cls(
            before=before,
            after=after,
            to_pass=items((now.passed == 1) & (was.passed != 1)),
            to_fail=items((now.passed != 1) & (was.passed == 1)),
            moved=items(moved),
        )

    def to_json(self) -> dict[str, Any]:
        """The change as JSON has it."""
        sides = {"before": self.before, "after": self.after}
        told = {
            name: {
                "instrument": one.spec.instrument,
                "threshold": one.spec.threshold,
                "pass_rate": one.pass_rate.to_json(),
                "score": one.score.to_json(),
            }
            for name, one in sides.items()
        }
        items = {"to_pass": list(self.to_pass), "to_fail": list(self.to_fail), "moved": list(self.moved)}
        return {"name": self.after.name, **told, "items": items}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A run before and after a replay. Print it for the table; `after` is a whole run, to be compared or exported.

    Gates against a baseline or people's labels are not answered anew.
    """

    before: Run
    after: Run
    settings: Mapping[str, Any]
    metrics: tuple[MetricReplay, ...]

    def metric(self, name: str) -> MetricReplay:
        """What became of the metric called `name`."""
        for one in self.metrics:
            if one.after.name == name:
                return one
        raise UnknownNameError.among("replayed metric", name, [one.after.name for one in self.metrics])

    def to_json(self) -> dict[str, Any]:
        """The replay as `--json` prints it."""
        was = {gate.gate: gate.answer for gate in self.before.gates}
        return {
            "schema": "calibrant.replay/1",
            "run": self.before.id,
            "name": self.before.name,
            "settings": dict(self.settings),
            "metrics": [one.to_json() for one in self.metrics],
            "gates": [{**gate.to_json(), "before": was[gate.gate]} for gate in self.after.gates],
        }

    def __str__(self) -> str:
        from calibrant.report.replay_tables import replay_text

        return replay_text(self.to_json())
