"""Runs that were kept: found by name or by the beginning of it, listed, and counted anew from their ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, UnknownNameError
from calibrant.ratings import Usage
from calibrant.runs.finishing import warnings_of
from calibrant.runs.keeping import WorkspaceKeeper
from calibrant.runs.records import DatasetInfo, GateAnswer, Run, SystemSummary
from calibrant.runs.specification import MetricSpec
from calibrant.runs.tally import tallies_of
from calibrant.store.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["existing_workspace", "kept_run", "manifest_of", "run_name"]


def existing_workspace(folder: str | Path) -> Workspace:
    """The workspace in `folder`, or in the `.calibrant` beside it; one that is missing is an error, and not made."""
    for place in (Path(folder), Path(folder) / ".calibrant"):
        if (place / "calibrant.db").is_file():
            return Workspace(place)
    raise InputError(f"there is no workspace in {folder}; `calibrant run PLAN` makes one in .calibrant beside the plan")


def run_name(workspace: Workspace, name: str) -> str:
    """The run that `name` stands for: its whole name, the only one that begins so, or `last`."""
    known = workspace.runs()
    if name == "last" and known:
        return known[-1]
    found = [one for one in known if one == name] or [one for one in known if one.startswith((name, f"r-{name}"))]
    if len(found) > 1:
        raise InputError(f"{name!r} may be any of {', '.join(found)}; write more of its name")
    if not found:
        raise UnknownNameError.among("run", name, [*known, "last"] if known else ["none: the workspace has no runs"])
    return found[0]


def manifest_of(workspace: Workspace, name: str) -> dict[str, Any]:
    """What is known of a run: what was measured, when, and, when it ended, its report."""
    found = workspace.manifest(run_name(workspace, name))
    return found or {}


def kept_run(workspace: Workspace | str | Path, name: str = "last") -> Run:
    """A run that was kept, every number counted anew from its ratings; one that was killed is incomplete."""
    opened = workspace if isinstance(workspace, Workspace) else existing_workspace(workspace)
    manifest = manifest_of(opened, name)
    dataset = manifest["dataset"]
    keeper = WorkspaceKeeper(opened)
    specs = [MetricSpec.from_json(spec) for spec in manifest["metrics"]]
    tallies = tallies_of(manifest["run"], keeper, specs, dataset["n"])
    tallies.unreached = manifest["stopped"] or "interrupted"
    summaries = tallies.summaries(level=manifest["level"])
    report: Mapping[str, Any] = manifest.get("report", {})
    system = report.get("system")
    return Run(
        id=manifest["run"],
        name=manifest["name"],
        status="complete" if manifest["status"] == "complete" else "incomplete",
        dataset=DatasetInfo(**dataset),
        metrics=summaries,
        gates=tuple(GateAnswer(**gate) for gate in report.get("gates", ())),
        usage=Usage(**report.get("usage", {})),
        warnings=tuple(warnings_of(summaries)),
        system=None if system is None else SystemSummary(**system),
        keeper=keeper,
    )
