"""How the results of a run were really scored: a metric may fall back from the mode that it was asked for."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from calibrant.ratings import MetricResult

__all__ = ["ScoringModes"]

WARNED_OFF_LABELS = 0.05
"""From this mean probability on no label on, a warning says so."""


class ScoringModes:
    """Takes the results of all metrics as they come, and tells what a reader must know of how they were scored."""

    def __init__(self) -> None:
        self._used: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._fallen: Counter[str] = Counter()
        self._off: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])

    def note(self, metric: str, result: MetricResult) -> None:
        """Count the votes behind one result by the mode in which they were scored."""
        for vote in _scored(result.details):
            self._used[metric][vote["scoring"]] += 1
            self._fallen[metric] += "asked_scoring" in vote
            if "off_label_mass" in vote:
                total = self._off[metric]
                total[0] += vote["off_label_mass"]
                total[1] += 1

    def warnings(self) -> Iterator[str]:
        """What to tell: votes in another mode than was asked for, and probability that was on no label."""
        for metric, used in self._used.items():
            fallen = self._fallen[metric]
            if fallen:
                mixed = "all were" if fallen == used.total() else "so two modes are mixed in its numbers: some were"
                yield (
                    f"{metric}: {fallen} of {used.total()} votes could not be weighted, since their judge gave no "
                    f"log-probabilities; {mixed} sampled"
                )
            mass, votes = self._off[metric]
            if votes and mass / votes >= WARNED_OFF_LABELS:
                yield f"{metric}: on average {mass / votes:.3f} of the probability was on none of the labels"


def _scored(details: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    votes: list[Mapping[str, Any]] = [one for one in details.get("individual_results", ()) if "scoring" in one]
    return votes or ([details] if "scoring" in details else [])
