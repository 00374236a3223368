"""Runs that were kept, opened again from their keeper."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, UnknownNameError, shortened
from calibrant.estimates import Estimate
from calibrant.metrics.canary_reports import CanaryReport
from calibrant.ratings import Usage
from calibrant.runs.finishing import warnings_of
from calibrant.runs.records import DatasetInfo, GateAnswer, Run, SystemSummary
from calibrant.runs.specification import MetricSpec
from calibrant.runs.spending import Spending
from calibrant.runs.tally import tallies_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.runs.keeping import Keeper
    from calibrant.runs.summaries import MetricSummary
    from calibrant.store.workspace import Workspace

__all__ = ["LATEST", "kept_run", "run_called", "run_named"]

LATEST = "latest"
"""What stands for the run that was begun last."""

SHOWN = 8
"""So many of the runs are named to somebody who asks for one that is not there."""


def run_named(runs: Sequence[str], reference: str) -> str:
    """The one of `runs`, oldest first, that `reference` means: its name, how its name begins, or "latest".

    >>> run_named(["r-0a1b", "r-0c2d"], "r-0c"), run_named(["r-0a1b", "r-0c2d"], "latest")
    ('r-0c2d', 'r-0c2d')
    """
    if reference in runs:
        return reference
    if reference == LATEST and runs:
        return runs[-1]
    alike = [run for run in runs if run.startswith(reference)] if reference else []
    if len(alike) > 1:
        raise InputError(f"{reference!r} begins the names of several runs: {', '.join(alike)}")
    if not alike:
        raise UnknownNameError.among("run", reference, runs)
    return alike[0]


def run_called(workspace: Workspace, reference: str) -> str:
    """The run of a workspace that `reference` means: as `run_named`, or by the name that it was given, the newest such.

    An id goes before a name.
    """
    runs = workspace.runs()
    if reference not in runs:
        names = {run: str((workspace.manifest(run) or {}).get("name")) for run in runs}
        named = [run for run in runs if names[run] == reference]
        if named:
            return named[-1]
        if not runs or (reference != LATEST and not any(run.startswith(reference) for run in runs)):
            raise UnknownNameError(f"unknown run {shortened(reference)}; {_known(names)}")
    return run_named(runs, reference)


def _known(names: dict[str, str]) -> str:
    """The runs that there are, by id and name, the newest first."""
    if not names:
        return "the workspace has no runs yet"
    told = [f"{run} ({name})" for run, name in reversed(names.items())]
    older = f", and {len(told) - SHOWN} older ones: calibrant list" if len(told) > SHOWN else ""
    return f"expected one of: {', '.join(told[:SHOWN])}{older}"


def kept_run(keeper: Keeper, reference: str) -> Run:
    """The run that a keeper holds, with its numbers counted anew from its ratings.

    What people's labels, gates, usage and warnings came to is as it was reported; of a run that has not ended, usage is
    what its ratings took, and the warnings are those of its numbers so far.
    """
    run = reference if keeper.workspace is None else run_called(keeper.workspace, reference)
    manifest = keeper.manifest(run)
    if manifest is None:
        raise UnknownNameError.among("run", run, [])
    report: Mapping[str, Any] = manifest.get("report") or {}
    dataset = DatasetInfo(**manifest["dataset"])
    specs = [MetricSpec.from_json(spec) for spec in manifest["metrics"]]
    tallies = tallies_of(run, keeper, specs, dataset.n)
    tallies.unreached = manifest.get("stopped") or "interrupted"
    summaries = tallies.summaries(level=manifest["level"])
    reported = {metric["name"]: metric for metric in report.get("metrics", ())}
    return Run(
        id=run,
        name=manifest["name"],
        status="complete" if manifest["status"] == "complete" else "incomplete",
        dataset=dataset,
        metrics=tuple(_with_correction(summary, reported.get(summary.name)) for summary in summaries),
        gates=tuple(GateAnswer(**gate) for gate in report.get("gates", ())),
        usage=Usage(**report.get("usage", {})) if report else sum((summary.usage for summary in summaries), Usage()),
        warnings=tuple(report.get("warnings", ()) if report else warnings_of(summaries)),
        spending=Spending.from_json(report.get("spending")),
        system=SystemSummary(**report["system"]) if "system" in report else None,
        seconds=max(0.0, manifest.get("ended", 0.0) - manifest.get("started", 0.0)),
        canaries=tuple(CanaryReport.from_json(one) for one in report.get("canaries", ())),
        keeper=keeper,
    )


def _with_correction(summary: MetricSummary, reported: Mapping[str, Any] | None) -> MetricSummary:
    """The summary with the corrected pass rate that was reported: it rests on labels, which are not in the ratings."""
    corrected = None if reported is None else reported.get("corrected_pass_rate")
    return summary if corrected is None else replace(summary, corrected_pass_rate=Estimate.from_json(corrected))
