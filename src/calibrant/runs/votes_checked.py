"""Whether results follow from what they were made of: a jury's from its votes, a score from the judge's verdicts."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from calibrant.aggregation.verdicts import score_agg
from calibrant.errors import InputError
from calibrant.fingerprints import fingerprint
from calibrant.runs.rebuilding import RebuiltMetric
from calibrant.runs.specification import MetricSpec
from calibrant.runs.verdicts_kept import has_verdicts, verdicts_of
from calibrant.runs.verification import Difference, is_alike

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from calibrant.ratings import Rating
    from calibrant.runs.keeping import Keeper

__all__ = ["VotesCheck"]


class VotesCheck:
    """Goes through the ratings of a run once; `unchecked` says of which metrics nothing could be worked out."""

    def __init__(self, keeper: Keeper, run: str) -> None:
        self.keeper = keeper
        self.run = run
        manifest = keeper.manifest(run) or {}
        self.definitions: Mapping[str, Mapping[str, Any]] = manifest.get("definitions", {})
        self.unchecked: list[str] = []
        self.ratings = 0
        self._specs = {spec.name: spec for spec in map(MetricSpec.from_json, manifest["metrics"])}
        self._rebuilt: dict[str, RebuiltMetric | None] = {}
        self._without_verdicts: set[str] = set()

    def differences(self) -> Iterator[Difference]:
        """Every definition that is not its instrument's, and every rating that does not follow."""
        yield from self._definitions()
        for (item, criterion), group in groupby(
            self.keeper.ratings(self.run), key=lambda one: (one.item, one.criterion)
        ):
            ratings = [*group]
            self.ratings += len(ratings)
            where = f"{criterion}, item {item}"
            votes = [one for one in ratings if one.role == "vote"]
            if votes:
                yield from self._result(where, votes, ratings)
            for one in votes or ratings:
                yield from self._verdicts(where, one)

    def _definitions(self) -> Iterator[Difference]:
        for name, spec in self._specs.items():
            found = fingerprint(self.definitions[name]) if name in self.definitions else None
            if found != spec.instrument:
                yield Difference(where=f"{name}, instrument", reported=spec.instrument, found=found)

    def _result(self, where: str, votes: Sequence[Rating], ratings: Sequence[Rating]) -> Iterator[Difference]:
        metric = self._metric(votes[0].criterion)
        if metric is None:
            return
        found = metric.result(votes)
        for kept in ratings:
            if kept.role == "result" and not is_alike(_said(kept), _said(found)):
                yield Difference(where=f"{where}, by its {len(votes)} votes", reported=_said(kept), found=_said(found))

    def _verdicts(self, where: str, rating: Rating) -> Iterator[Difference]:
        definition = self.definitions.get(rating.criterion, {})
        if rating.value is None or not has_verdicts(definition) or rating.criterion in self._without_verdicts:
            return
        words = verdicts_of(self.keeper, rating)
        if words is None:
            self._without_verdicts.add(rating.criterion)
            self.unchecked.append(f"{rating.criterion}: its verdicts are in replies that are not kept here")
            return
        found = score_agg([definition["weights"][word] for word in words], definition["temperature"])
        if not is_alike(rating.value, found):
            told = f"{where}, by its {len(words)} verdicts"
            yield Difference(where=told, reported=rating.value, found=found)

    def _metric(self, name: str) -> RebuiltMetric | None:
        if name not in self._rebuilt:
            self._rebuilt[name] = None
            try:
                self._rebuilt[name] = RebuiltMetric(self._specs[name], self.definitions[name])
            except InputError as error:
                self.unchecked.append(str(error).partition(";")[0])
        return self._rebuilt[name]


def _said(rating: Rating) -> Any:
    """What a rating says: its value, or the code of its failure."""
    if rating.failure is not None:
        return rating.failure.code
    return sorted(rating.value) if isinstance(rating.value, frozenset) else rating.value
