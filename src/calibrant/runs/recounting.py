"""A run as its ratings say it now: metrics, corrections, gates and warnings worked out anew, and nothing taken over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from calibrant.errors import EvalError
from calibrant.ratings import Usage
from calibrant.runs.finishing import warnings_of
from calibrant.runs.gate_text import parse_gate
from calibrant.runs.gating import judged
from calibrant.runs.people import corrected, labels_from_json
from calibrant.runs.references import baseline_run
from calibrant.runs.reopening import kept_run
from calibrant.runs.specification import MetricSpec
from calibrant.runs.tally import tallies_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from calibrant.runs.gate_text import Gate
    from calibrant.runs.keeping import Keeper
    from calibrant.runs.records import GateAnswer, Run
    from calibrant.runs.summaries import MetricSummary
    from calibrant.runs.tally import Tallies

__all__ = ["Recount", "recounted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recount:
    """A run worked out anew, the seal of its ratings, and which parts of its report could not be worked out."""

    run: Run
    seal: str
    open_gates: Mapping[str, str]
    open_corrections: frozenset[str] = frozenset()


def recounted(keeper: Keeper, run: str, *, baseline: Run | str | Path | None = None) -> Recount:
    """The run that a keeper holds, from its ratings, its labels and, where gates need one, its baseline."""
    manifest = keeper.manifest(run) or {}
    specs = [MetricSpec.from_json(spec) for spec in manifest["metrics"]]
    tallies = tallies_of(run, keeper, specs, manifest["dataset"]["n"])
    tallies.unreached = manifest.get("stopped") or "interrupted"
    summaries, told = _summaries(keeper, run, manifest, tallies)
    usage = sum((summary.usage for summary in summaries), Usage())
    warnings = (*warnings_of(summaries), *manifest.get("modes", ()), *told)
    found = replace(kept_run(keeper, run), metrics=summaries, warnings=warnings, usage=usage, gates=())
    gates = [parse_gate(gate["gate"]) for gate in manifest["report"]["gates"]]
    answers, unanswered = _answers(gates, found, _baseline(keeper, manifest, baseline), manifest["level"])
    reported = [one["name"] for one in manifest["report"]["metrics"] if one["corrected_pass_rate"] is not None]
    return Recount(
        run=replace(found, gates=answers),
        seal=str(tallies.seal),
        open_gates=unanswered,
        open_corrections=frozenset(reported if "labels" not in manifest else ()),
    )


def _summaries(
    keeper: Keeper, run: str, manifest: Mapping[str, Any], tallies: Tallies
) -> tuple[tuple[MetricSummary, ...], list[str]]:
    summaries = tallies.summaries(level=manifest["level"])
    labels = labels_from_json(manifest.get("labels") or {})
    if not labels:
        return summaries, []
    places = {record.item.id: record.position for record in keeper.items(run)}
    return corrected(summaries, tallies, labels, places, level=manifest["level"])


def _baseline(keeper: Keeper, manifest: Mapping[str, Any], given: Run | str | Path | None) -> Run | str | None:
    """The baseline, or why there is none; None where the run had none."""
    named = manifest.get("baseline")
    if named is None:
        return None
    if given is None and (keeper.workspace is None or named not in keeper.workspace.runs()):
        return f"its baseline {named} is not kept here; name it (--baseline)"
    try:
        found = baseline_run(given or named, keeper)
    except EvalError as error:
        return f"its baseline cannot be opened: {error}"
    if found is not None and found.id != named:
        return f"it was held against {named}, not against {found.id}"
    return found


def _answers(
    gates: Sequence[Gate], run: Run, baseline: Run | str | None, level: float
) -> tuple[tuple[GateAnswer, ...], dict[str, str]]:
    """The answers that can be given, and for each other gate why not.

    Gates with an interval fail after a correction over all of them, so that they are answered together or not at all.
    """
    if not isinstance(baseline, str) or not any(gate.is_paired for gate in gates):
        return judged(gates, run, baseline=None if isinstance(baseline, str) else baseline, level=level), {}
    plain = [gate for gate in gates if gate.is_exact and not gate.is_paired]
    return judged(plain, run, level=level), {gate.text: baseline for gate in gates if gate not in plain}
