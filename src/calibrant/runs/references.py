"""Runs by what a user calls them: an exported file, or the name of a run of a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from calibrant.errors import InputError
from calibrant.runs.exporting import read_export
from calibrant.runs.keeping import WorkspaceKeeper
from calibrant.runs.records import Run
from calibrant.runs.reopening import kept_run, opened_workspace

if TYPE_CHECKING:
    from calibrant.runs.keeping import Keeper

__all__ = ["baseline_run", "reopened"]


def reopened(reference: str | Path, *, workspace: str | Path = ".calibrant") -> Run:
    """The run that `reference` names: an exported JSONL file, or a run of the workspace (its id, a part, or "latest").

    Its numbers are counted anew from its ratings.
    """
    path = Path(reference)
    if path.is_file():
        return read_export(path)
    if path.suffix or len(path.parts) > 1:
        expected = "expected an exported run, or the name of a run of the workspace"
        raise InputError(f"there is no file {reference}; {expected}")
    return kept_run(WorkspaceKeeper(opened_workspace(workspace)), str(reference))


def baseline_run(given: Run | str | Path | None, keeper: Keeper) -> Run | None:
    """The run to hold gates against: one already, an exported file, or a run of the keeper's own workspace."""
    if given is None or isinstance(given, Run):
        return given
    if not Path(given).is_file() and keeper.workspace is not None and keeper.workspace.runs():
        return kept_run(keeper, str(given))
    return reopened(given)
