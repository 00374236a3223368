"""A plan carried out: what `calibrant run` and the pytest plugin do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.bridge import run_sync
from calibrant.runs.assembly import assembled_file
from calibrant.runs.engine import measured

if TYPE_CHECKING:
    from pathlib import Path

    from calibrant.runs.assembly import Assembly
    from calibrant.runs.records import Run

__all__ = ["carried_out", "run_plan"]


def run_plan(path: str | Path, *, without_baseline: bool = False, **changes: Any) -> Run:
    """Carry out the plan in the file `path`, and return the Run; all that is wrong with the plan is one InputError.

    `changes` are fields of RunSettings that replace what the plan says, such as `max_cost=1.0`. The same
    plan again goes on where it stopped. `without_baseline` is for a first run: gates that are held against the
    baseline stay open.
    """
    return carried_out(assembled_file(path, without_baseline=without_baseline, **changes))


def carried_out(ready: Assembly) -> Run:
    """The run of a plan that was made ready; it also works where a loop is running already."""
    return run_sync(measured(ready.measurement, **ready.asked))
