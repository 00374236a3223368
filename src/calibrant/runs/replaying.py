"""The same votes and verdicts under another aggregation, threshold or temperature: worked out anew, nobody asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from calibrant.aggregation.juries import build_aggregation_strategy
from calibrant.aggregation.verdicts import power_for_temperature, score_agg
from calibrant.errors import InputError, UnknownNameError
from calibrant.fingerprints import fingerprint
from calibrant.runs.finishing import warnings_of
from calibrant.runs.gate_text import parse_gate
from calibrant.runs.gating import judged
from calibrant.runs.keeping import MemoryKeeper
from calibrant.runs.rebuilding import RebuiltMetric
from calibrant.runs.records import Run
from calibrant.runs.references import reopened
from calibrant.runs.reopening import kept_run
from calibrant.runs.replay_result import MetricReplay, Replay
from calibrant.runs.specification import MetricSpec
from calibrant.runs.tally import tallies_of
from calibrant.runs.verdicts_kept import has_verdicts, verdicts_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from calibrant.ratings import Rating
    from calibrant.runs.keeping import Keeper
    from calibrant.runs.records import GateAnswer
    from calibrant.runs.seals import Seal

__all__ = ["ReplaySettings", "replay"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySettings:
    """What is to be otherwise; None leaves it as it was."""

    aggregation: str | None = None
    threshold: float | None = None
    temperature: float | None = None

    def __post_init__(self) -> None:
        if not self.to_json():
            raise InputError("a replay changes something: an aggregation, a threshold, a temperature, or several")
        if self.aggregation is not None:
            method = str(build_aggregation_strategy(self.aggregation).strategy)
            object.__setattr__(self, "aggregation", method)
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            raise InputError(f"threshold is a number in [0, 1], not {self.threshold}")
        if self.temperature is not None:
            power_for_temperature(self.temperature)

    def to_json(self) -> dict[str, Any]:
        """What is changed."""
        given = {"aggregation": self.aggregation, "threshold": self.threshold, "temperature": self.temperature}
        return {name: value for name, value in given.items() if value is not None}

    def changed(self, definition: Mapping[str, Any]) -> dict[str, Any]:
        """A metric's definition with those of the changes that concern it."""
        found = dict(definition)
        if self.aggregation is not None and _votes(definition) > 1:
            strategy = type(build_aggregation_strategy(self.aggregation)).__qualname__
            found["aggregation"] = [self.aggregation, strategy, {}]
        if self.threshold is not None:
            found["threshold"] = float(self.threshold)
        if self.temperature is not None and has_verdicts(definition):
            found["temperature"] = float(self.temperature)
        return found


def replay(
    run: Run | str | Path,
    *,
    aggregation: str | None = None,
    threshold: float | None = None,
    temperature: float | None = None,
    metrics: Iterable[str] = (),
    workspace: str | Path = ".calibrant",
) -> Replay:
    """The run, had its metrics (or those named) combined votes, passed, or combined verdicts otherwise.

    The votes are those that were given; no call is made. A temperature needs the verdicts, which are in the replies
    that the workspace keeps. Raises InputError when nothing of it concerns any metric.

    >>> from calibrant.runs import run
    >>> def short(item):
    ...     return 1 / len(item.answer.split())
    >>> kept = run([{"id": "a", "answer": "Yes"}, {"id": "b", "answer": "At six"}], [short])
    >>> found = replay(kept, threshold=0.6).metric("short")
    >>> found.before.pass_rate.value, found.after.pass_rate.value, found.to_fail
    (1.0, 0.5, ('b',))
    """
    settings = ReplaySettings(aggregation=aggregation, threshold=threshold, temperature=temperature)
    found = run if isinstance(run, Run) else reopened(run, workspace=workspace)
    if found.keeper is None or (manifest := found.keeper.manifest(found.id)) is None:
        raise InputError(f"the ratings of {found.id} are not there any more; open it again with reopened()")
    chosen = _chosen(manifest, metrics)
    definitions = {name: settings.changed(manifest["definitions"][name]) for name in chosen}
    changed = {name: one for name, one in definitions.items() if one != manifest["definitions"][name]}
    if not changed:
        raise InputError(_nothing_to_change(settings, manifest, chosen))
    keeper = _replayed(found.keeper, manifest, changed)
    after = _reported(keeper, found, manifest)
    return Replay(before=found, after=after, settings=settings.to_json(), metrics=_told(found, after))


def _chosen(manifest: Mapping[str, Any], metrics: Iterable[str]) -> list[str]:
    known = [spec["name"] for spec in manifest["metrics"]]
    named = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in named:
        if name not in known:
            raise UnknownNameError.among("metric", name, known)
    return named or known


def _nothing_to_change(settings: ReplaySettings, manifest: Mapping[str, Any], names: Sequence[str]) -> str:
    """Why nothing would be otherwise."""
    of = {name: manifest["definitions"][name] for name in names}
    told: list[str] = []
    if settings.aggregation is not None and all(_votes(one) < 2 for one in of.values()):
        told.append("an aggregation concerns juries and repeats, and each of these metrics has one vote an item")
    if settings.temperature is not None and not any(map(has_verdicts, of.values())):
        told.append("a temperature concerns metrics that give verdicts on statements, and none of these does")
    told = told or ["they were measured with these settings"]
    return f"a replay of {', '.join(names)} would change nothing: {'; '.join(told)}"


def _votes(definition: Mapping[str, Any]) -> int:
    return max(1, len(definition["judges"])) * definition["repeats"]


def _replayed(keeper: Keeper, manifest: Mapping[str, Any], changed: Mapping[str, Mapping[str, Any]]) -> MemoryKeeper:
    """The run with its changed metrics worked out anew, kept in memory."""
    run = manifest["run"]
    specs = [_spec(spec, changed.get(spec["name"])) for spec in manifest["metrics"]]
    works = {
        spec.name: _Work(keeper, spec, manifest["definitions"][spec.name], changed[spec.name])
        for spec in specs
        if spec.name in changed
    }
    made = MemoryKeeper()
    made.add(run, keeper.items(run), ())
    for (_, criterion), group in groupby(keeper.ratings(run), key=lambda rating: (rating.item, rating.criterion)):
        work, ratings = works.get(criterion) or works.get(criterion.partition("/")[0]), [*group]
        made.add(run, (), ratings if work is None else work.done(ratings))
    definitions = {**manifest["definitions"], **changed}
    report = {name: value for name, value in (manifest.get("report") or {}).items() if name in ("usage", "system")}
    kept = [spec.to_json() for spec in specs]
    # What people's labels and a baseline came to is not worked out anew, so that they are no part of the replayed run.
    given = {**manifest, "labels": {}, "baseline": None, "seal": str(_seal(made, manifest, specs))}
    made.put_manifest(run, {**given, "metrics": kept, "definitions": definitions, "report": report})
    return made


def _seal(keeper: Keeper, manifest: Mapping[str, Any], specs: Sequence[MetricSpec]) -> Seal:
    return tallies_of(manifest["run"], keeper, specs, manifest["dataset"]["n"]).seal


def _reported(keeper: Keeper, before: Run, manifest: Mapping[str, Any]) -> Run:
    """The replayed run with its own gates and warnings, and the report of it kept beside its ratings."""
    run = kept_run(keeper, before.id)
    told = (*warnings_of(run.metrics), *manifest.get("modes", ()))
    run = replace(run, gates=_gates(before, run, manifest["level"]), warnings=told)
    keeper.put_manifest(run.id, {**(keeper.manifest(run.id) or {}), "report": run.to_json()})
    return run


def _spec(kept: Mapping[str, Any], definition: Mapping[str, Any] | None) -> MetricSpec:
    spec = MetricSpec.from_json(kept)
    if definition is None:
        return spec
    return replace(spec, threshold=definition["threshold"], instrument=fingerprint(definition))


class _Work:
    """One metric worked out anew: its votes where the temperature changes them, then what they come to."""

    def __init__(self, keeper: Keeper, spec: MetricSpec, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        self.keeper = keeper
        self.spec = spec
        self.definition = new
        self.is_cooler = old.get("temperature") != new.get("temperature")
        is_recounted = self.is_cooler or old["aggregation"] != new["aggregation"]
        self.metric = RebuiltMetric(spec, new) if is_recounted and _votes(new) > 1 else None

    def done(self, ratings: Sequence[Rating]) -> Iterator[Rating]:
        """The ratings of one item as they would have been, all by the changed instrument."""
        votes = [self._vote(one) for one in ratings if one.role == "vote"]
        yield from votes
        for one in ratings:
            if one.role == "result":
                yield self._result(one, votes)

    def _result(self, kept: Rating, votes: Sequence[Rating]) -> Rating:
        if not votes:
            return self._vote(kept)
        if self.metric is None:
            return replace(kept, instrument=self.spec.instrument)
        return replace(self.metric.result(votes), rater=kept.rater, usage=kept.usage)

    def _vote(self, rating: Rating) -> Rating:
        """The vote of one judge; where the temperature is another, its score from its verdicts."""
        if not self.is_cooler or rating.value is None:
            return replace(rating, instrument=self.spec.instrument)
        words = verdicts_of(self.keeper, rating)
        if words is None:
            raise InputError(
                f"the verdicts of {rating.criterion} on item {rating.item!r} are not kept: they are in the judge's "
                "replies, which exported files and workspaces with store_text=False leave out; replay the run in the "
                "workspace that made it"
            )
        value = score_agg([self.definition["weights"][word] for word in words], self.definition["temperature"])
        return replace(rating, value=value, instrument=self.spec.instrument)


def _told(before: Run, after: Run) -> tuple[MetricReplay, ...]:
    """What became of each metric whose instrument is another one now."""
    changed = [one for one in after.metrics if before.metric(one.name).spec.instrument != one.spec.instrument]
    return tuple(
        MetricReplay.of(before.metric(one.name), one, before.outcomes(one.name), after.outcomes(one.name))
        for one in changed
    )


def _gates(before: Run, after: Run, level: float) -> tuple[GateAnswer, ...]:
    """The answers to the run's gates now; those against a baseline or people's labels are left out."""
    gates = [parse_gate(one.gate) for one in before.gates]
    plain = [gate for gate in gates if not gate.is_paired and gate.quantity != "corrected_pass_rate"]
    return judged(plain, after, level=level)
