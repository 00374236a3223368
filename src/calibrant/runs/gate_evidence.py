"""What a gate is decided by: a count, or an estimate that gives a bound at any level."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibrant.estimates import Estimate
from calibrant.runs.pairing import difference, pairs_of
from calibrant.runs.tally import STATUSES
from calibrant.stats import mean, proportion

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from calibrant.estimates import Coverage
    from calibrant.runs.gate_text import Gate
    from calibrant.runs.pairing import Quantity
    from calibrant.runs.records import Run
    from calibrant.runs.summaries import MetricSummary
    from calibrant.stats.arrays import Side

__all__ = ["Bounded", "Counted", "bounded", "counted"]

RATED = STATUSES.index("rated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """An exact number, and the lowest and highest that it could be if what is missing were known.

    `value` is None when there is nothing to count, and `reason` says why.
    """

    value: float | None
    lowest: float = 0.0
    highest: float = 0.0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounded:
    """An estimate at any level and side; `sd` is how far one item's value deviates, where that is known.

    A plain pass rate (`is_rate`) needs none: its rate says it.
    """

    estimate: Callable[[Side, float], Estimate]
    sd: float | None = None
    is_rate: bool = False


def counted(gate: Gate, run: Run, baseline: Run | None = None) -> Counted:
    """The number that an exact gate asks for; against a baseline, how much it is above the baseline's."""
    found = _count(gate, run)
    if not gate.is_paired or baseline is None or found.value is None:
        return found
    before = _count(gate, baseline)
    if before.value is None:
        return replace(before, reason=f"the baseline has no number: {before.reason}")
    return Counted(
        value=found.value - before.value,
        lowest=found.lowest - before.highest,
        highest=found.highest - before.lowest,
        reason=f"{found.reason} (the baseline: {before.reason})",
    )


def bounded(gate: Gate, run: Run, baseline: Run | None = None) -> Bounded:
    """The estimate that a gate with an interval asks for; against a baseline, that of the paired difference."""
    name = cast("str", gate.metric)
    if gate.is_paired and baseline is not None:
        return _paired(run, baseline, name, cast("Quantity", gate.quantity))
    if gate.quantity == "corrected_pass_rate":
        return _corrected(run.metric(name))
    return _score(run, name) if gate.quantity == "score" else _pass_rate(run, name)


def _count(gate: Gate, run: Run) -> Counted:
    if gate.metric is None:
        return _lowest_coverage(run)
    summary = run.metric(gate.metric)
    coverage = summary.pass_rate.coverage
    lost = coverage.failed + coverage.skipped
    if gate.quantity == "coverage":
        return _coverage(summary)
    if gate.quantity == "failures":
        return Counted(value=lost, lowest=lost, highest=lost, reason=f"{lost} of {coverage.total} could not be rated")
    if summary.pass_rate.value is None:
        return Counted(value=None, reason=summary.pass_rate.reason)
    failing = summary.failing_items
    hidden = f", and {lost} that could not be rated may be failing too" if lost else ""
    return Counted(
        value=failing, lowest=failing, highest=failing + lost, reason=f"{failing} of {coverage.rated} fail{hidden}"
    )


def _lowest_coverage(run: Run) -> Counted:
    """The coverage of the metric that has the least: a metric that fails does not hide among others that do not."""
    shares = [found for summary in run.metrics if (found := _coverage(summary)).value is not None]
    if not shares:
        return Counted(value=None, reason="there was nothing to rate")
    return min(shares, key=lambda found: cast("float", found.value))


def _coverage(summary: MetricSummary) -> Counted:
    coverage = summary.pass_rate.coverage
    share = coverage.share
    if share is None:
        return Counted(value=None, reason=f"{summary.name} applied to no item")
    asked = coverage.total - coverage.not_applicable
    reason = f"{summary.name}: {coverage.rated} of {asked} rated"
    return Counted(value=share, lowest=share, highest=share, reason=reason)


def _pass_rate(run: Run, name: str) -> Bounded:
    known = run.metric(name).pass_rate
    if known.value is None:
        return _always(known)
    if run.dataset.clusters is None:
        passed = known.n - run.metric(name).failing_items
        return Bounded(
            estimate=lambda side, level: proportion(passed, known.n, level=level, side=side, coverage=known.coverage),
            is_rate=True,
        )
    outcomes = run.outcomes(name)
    rated = outcomes.statuses == RATED
    return _share(outcomes.passed[rated].astype(np.float64), _chosen(outcomes.clusters, rated), known.coverage)


def _share(values: NDArray[np.float64], clusters: list[str] | None, coverage: Coverage) -> Bounded:
    """The evidence of zeros and ones."""
    made = partial(proportion, values, clusters=clusters, coverage=coverage)
    sd = None if clusters is None else _deviation(mean(values, clusters=clusters))
    return Bounded(estimate=lambda side, level: made(level=level, side=side), sd=sd, is_rate=clusters is None)


def _score(run: Run, name: str) -> Bounded:
    known = run.metric(name).score
    if known.value is None:
        return _always(known)
    outcomes = run.outcomes(name)
    rated = outcomes.statuses == RATED
    scores, clusters = outcomes.scores[rated], _chosen(outcomes.clusters, rated)
    if np.isin(scores, (0.0, 1.0)).all():
        # As in the table: the t interval of zeros and ones is too narrow near the ends of the scale.
        return _share(scores, clusters, known.coverage)
    made = partial(mean, scores, clusters=clusters, coverage=known.coverage, scale=(0.0, 1.0))
    return Bounded(estimate=lambda side, level: made(level=level, side=side), sd=_deviation(made()))


def _corrected(summary: MetricSummary) -> Bounded:
    known = summary.corrected_pass_rate
    if known is None:
        reason = "there are no labels to correct the judge by"
        return _always(Estimate.missing(reason, method="corrected", coverage=summary.pass_rate.coverage))
    return Bounded(estimate=partial(_rescaled, known), sd=_deviation(known))


def _paired(run: Run, baseline: Run, name: str, quantity: Quantity) -> Bounded:
    pairs = pairs_of(baseline.outcomes(name), run.outcomes(name), quantity)
    differences = pairs.differences
    sd = float(np.std(differences, ddof=1)) if len(differences) > 1 else None
    if pairs.clusters is not None and sd is not None:
        sd = _deviation(difference(pairs))
    return Bounded(estimate=lambda side, level: difference(pairs, level=level, side=side), sd=sd)


def _always(estimate: Estimate) -> Bounded:
    return Bounded(estimate=lambda _side, _level: estimate)


def _rescaled(known: Estimate, side: Side, level: float) -> Estimate:
    """The bound at another level, from a two-sided interval whose halves grow as those of a normal distribution do."""
    if known.value is None or known.lower is None or known.upper is None:
        return known
    normal = NormalDist()
    factor = normal.inv_cdf(level) / normal.inv_cdf((1 + known.level) / 2)
    lower = max(0.0, known.value - (known.value - known.lower) * factor)
    upper = min(1.0, known.value + (known.upper - known.value) * factor)
    return replace(known, lower=lower if side == "lower" else None, upper=upper if side == "upper" else None)


def _deviation(estimate: Estimate) -> float | None:
    """The deviation that one item contributes, from the width of an interval: clusters make it larger."""
    if estimate.lower is None or estimate.upper is None:
        return None
    z = NormalDist().inv_cdf((1 + estimate.level) / 2)
    return (estimate.upper - estimate.lower) / (2 * z) * math.sqrt(max(1, estimate.n))


def _chosen(clusters: Any, rated: NDArray[np.bool_]) -> list[str] | None:
    return None if clusters is None else [clusters[place] for place in np.flatnonzero(rated)]
