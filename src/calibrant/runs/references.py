"""Runs by what a user calls them: an exported file, or the name of a run of a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from calibrant.errors import InputError
from calibrant.runs.archive import existing_workspace
from calibrant.runs.exporting import read_export, read_ratings
from calibrant.runs.keeping import WorkspaceKeeper
from calibrant.runs.records import Run
from calibrant.runs.reopening import kept_run, run_called

if TYPE_CHECKING:
    from calibrant.runs.keeping import Keeper

__all__ = ["baseline_run", "kept", "names_a_file", "reopened"]


def reopened(reference: str | Path, *, workspace: str | Path = ".calibrant") -> Run:
    """The run that `reference` names: an exported JSONL file, or a run of the workspace.

    That is called by its id, the beginning of it, its name (the newest of that name), or "latest". Its numbers are
    counted anew from its ratings.
    """
    if Path(reference).is_file():
        return read_export(reference)
    return kept_run(*kept(reference, workspace=workspace))


def kept(reference: str | Path, *, workspace: str | Path = ".calibrant") -> tuple[Keeper, str]:
    """Where the run that `reference` names is kept, and its name; nothing of it is read yet.

    `workspace` is the folder of the workspace, or the one that it lies in.
    """
    path = Path(reference)
    if path.is_file():
        return read_ratings(path)
    if names_a_file(path):
        expected = "expected an exported run, or the name of a run of the workspace"
        raise InputError(f"there is no file {reference}; {expected}")
    opened = existing_workspace(workspace)
    return WorkspaceKeeper(opened), run_called(opened, str(reference))


def baseline_run(given: Run | str | Path | None, keeper: Keeper) -> Run | None:
    """The run to hold gates against: one already, an exported file, or a run of the keeper's own workspace."""
    if given is None or isinstance(given, Run):
        return given
    if names_a_file(given) or keeper.workspace is None:
        return reopened(given)
    if not keeper.workspace.runs():
        raise InputError(f"there is no baseline {str(given)!r}: the workspace has no runs yet")
    return kept_run(keeper, str(given))


def names_a_file(reference: str | Path) -> bool:
    """Whether `reference` is, or is written like, a file rather than the name of a run.

    >>> names_a_file("baselines/main.jsonl"), names_a_file("r-0a1b2c3d")
    (True, False)
    """
    path = Path(reference)
    return path.is_file() or bool(path.suffix) or len(path.parts) > 1
