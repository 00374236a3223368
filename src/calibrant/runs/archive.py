"""What a workspace says about its runs, without counting anything anew."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError
from calibrant.runs.reopening import run_called
from calibrant.store.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["existing_workspace", "manifest_of"]


def existing_workspace(folder: str | Path) -> Workspace:
    """The workspace in `folder`, or in the `.calibrant` beside it; one that is missing is an error, and not made."""
    for place in (Path(folder), Path(folder) / ".calibrant"):
        if (place / "calibrant.db").is_file():
            return Workspace.to_read(place)
    raise InputError(f"there is no workspace in {folder}; `calibrant run PLAN` makes one in .calibrant beside the plan")


def manifest_of(workspace: Workspace, name: str) -> Mapping[str, Any]:
    """What is known of a run: what was measured, when, and, when it ended, its report."""
    return workspace.manifest(run_called(workspace, name)) or {}
