"""After the last item: the numbers, the warnings, the gates' answers, and the manifest that keeps them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from calibrant.runs.gating import judged
from calibrant.runs.people import corrected, labels_json
from calibrant.runs.records import Run
from calibrant.runs.unrated import unrated_text
from calibrant.runs.withholding import report_without_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.runs.gate_text import Gate
    from calibrant.runs.session import Session
    from calibrant.runs.summaries import MetricSummary

__all__ = ["WARNED_SHARE", "finished", "warnings_of"]

WARNED_SHARE = 0.02
"""From this share of failures on, a warning says what they could hide."""

STOPPING = frozenset({"budget_exhausted", "interrupted"})


def finished(session: Session, *, gates: Sequence[Gate], baseline: Run | None) -> Run:
    """The run as it is handed out, with its gates' answers; its manifest is kept."""
    settings = session.asked.settings
    session.tallies.unreached = session.stopped_by or "interrupted"
    summaries = session.tallies.summaries(level=settings.level)
    told: list[str] = []
    if session.labels:
        summaries, told = corrected(summaries, session.tallies, session.labels, session.labelled, level=settings.level)
    modes = [*session.modes.warnings()]
    stopped = any(STOPPING & {*summary.pass_rate.coverage.codes} for summary in summaries)
    usage = replace(session.budget.judged, cached=session.cached)
    result = Run(
        id=session.run,
        name=settings.name or session.asked.table.name,
        status="incomplete" if stopped else "complete",
        dataset=session.asked.dataset,
        metrics=summaries,
        usage=usage,
        spending=session.before.joined(usage),
        warnings=(*warnings_of(summaries), *modes, *told),
        system=None if session.asked.system is None else session.asked.system.summary(),
        seconds=time.monotonic() - session.began,
        canaries=session.canaries.reports(unreached=session.stopped_by or "interrupted"),
        keeper=session.keeper,
    )
    result = replace(result, gates=judged(gates, result, baseline=baseline, level=settings.level))
    manifest = {
        **session.manifest(result.status),
        "ended": time.time(),
        "spending": result.spending.to_json(),
        "baseline": None if baseline is None else baseline.id,
        "labels": labels_json(session.labels),
        "modes": modes,
        "seal": str(session.tallies.seal),
        "report": result.to_json() if settings.store_text else report_without_text(result.to_json()),
    }
    session.keeper.put_manifest(session.run, manifest)
    return result


def warnings_of(summaries: Sequence[MetricSummary]) -> list[str]:
    """What a reader of the numbers should know first."""
    found: list[str] = []
    for summary in summaries:
        coverage, rate = summary.pass_rate.coverage, summary.pass_rate
        asked = coverage.rated + coverage.failed
        if coverage.rated and coverage.failed / asked >= WARNED_SHARE:
            bounds = rate.worst_case
            hidden = "" if bounds is None else f"; the pass rate lies between {bounds[0]:.3f} and {bounds[1]:.3f}"
            found.append(f"{summary.name}: {coverage.failed} of {asked} items could not be rated{hidden}")
        if unrated := unrated_text(summary.name, coverage):
            found.append(unrated)
        left = sum(count for code, count in coverage.codes.items() if code in STOPPING)
        if left and left < coverage.total:
            found.append(f"{summary.name}: {left} of {coverage.total} items were not reached; the numbers are partial")
    return found
