"""Judge against judge: whose scores differ by more than the choice of items explains."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr, stdtrit

from calibrant.agreement.judging import against_each
from calibrant.agreement.measures import Measure, measure_of
from calibrant.agreement.pairs import CATEGORIES, Pair, joint_tally, mean_known, obstacle
from calibrant.agreement.published import Resampling
from calibrant.agreement.replacement_arithmetic import SMALLEST
from calibrant.agreement.uncertainty import error_of
from calibrant.errors import InputError
from calibrant.estimates import Coverage, Estimate
from calibrant.stats import holm, is_settled, mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from calibrant.agreement.cube import RatingCube

    Array = npt.NDArray[np.float64]

__all__ = ["JudgeComparison", "JudgeDifference", "compare_judges"]

DEFAULT = Resampling()
FLAT = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDifference:
    """How much better `first` scores than `second` on the same items, with the p-value and the one by Holm."""

    first: str
    second: str
    difference: Estimate
    p: float | None
    p_holm: float | None

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON has it."""
        return {
            "first": self.first,
            "second": self.second,
            "difference": self.difference.to_json(),
            "p": self.p,
            "p_holm": self.p_holm,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeComparison:
    """Judges by their score, best first, on the items that all of them and at least one person rated.

    `groups` are those that cannot be told apart at this level, by p-value and interval both; a judge may stand in two.
    One that is alone in its only group differs from every other.
    """

    measure: str
    scores: Mapping[str, Estimate]
    differences: tuple[JudgeDifference, ...]
    groups: tuple[tuple[str, ...], ...]
    items: int
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return f"no comparison: {self.reason}"
        lines = [f"{name}: {score}" for name, score in self.scores.items()]
        apart = [f"cannot be told apart: {', '.join(group)}" for group in self.groups if len(group) > 1]
        return "\n".join([*lines, *apart])

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON has it."""
        return {
            "measure": self.measure,
            "scores": {name: score.to_json() for name, score in self.scores.items()},
            "differences": [one.to_json() for one in self.differences],
            "groups": [list(group) for group in self.groups],
            "items": self.items,
            "reason": self.reason,
        }


def compare_judges(
    cube: RatingCube,
    judges: Iterable[str],
    measure: str | Measure = "accuracy",
    *,
    humans: Iterable[str] | None = None,
    resampling: Resampling = DEFAULT,
) -> JudgeComparison:
    """Every pair of `judges`, by the mean of the measure against the `humans` (all raters that are no judge).

    Paired: only items that all judges and one of the others rated count, and leaving out an item (or a cluster) leaves
    it out for both. p-values are of the t distribution, and corrected by Holm over all pairs.

    >>> from calibrant.agreement import RatingCube
    >>> truth = dict(enumerate("xy" * 20))
    >>> near, far = {**truth, 0: "y"}, {item: "x" for item in truth}
    >>> print(compare_judges(RatingCube.of({"kim": truth, "near": near, "far": far}), ["far", "near"]).groups)
    (('near',), ('far',))
    """
    chosen, names = measure_of(measure), tuple(dict.fromkeys(cube.raters[cube.index(name)] for name in judges))
    if len(names) < 2:
        raise InputError(f"a comparison needs at least two judges, not {len(names)}")
    people = [name for name in (cube.raters if humans is None else humans) if name not in names]
    shared = _where(cube, np.all([cube.of_rater(name) >= 0 for name in names], axis=0))
    usable = [name for name in people if (shared.of_rater(name) >= 0).any()]
    reason = _obstacle(shared, usable, chosen)
    if reason:
        return JudgeComparison(measure=chosen.name, scores={}, differences=(), groups=(), items=0, reason=reason)
    shared = _where(shared, np.any([shared.of_rater(name) >= 0 for name in usable], axis=0))
    scores = {name: against_each(shared, name, chosen, humans=usable, resampling=resampling).average for name in names}
    ranked = tuple(sorted(names, key=lambda name: _rank(scores[name]), reverse=True))
    differences = _differences(shared, ranked, usable, chosen, resampling)
    return JudgeComparison(
        measure=chosen.name,
        scores={name: scores[name] for name in ranked},
        differences=differences,
        groups=_groups(ranked, differences),
        items=len(shared.items),
    )


def _rank(score: Estimate) -> float:
    return -math.inf if score.value is None else score.value


def _where(cube: RatingCube, kept: npt.NDArray[np.bool_]) -> RatingCube:
    """The cube on the items that are `kept`."""
    return type(cube)(
        items=tuple(cube.items[item] for item in np.flatnonzero(kept)),
        raters=cube.raters,
        values=cube.values,
        codes=cube.codes[:, kept],
        clusters=None if cube.clusters is None else cube.clusters[kept],
    )


def _obstacle(cube: RatingCube, people: list[str], measure: Measure) -> str:
    if not cube.items:
        return "no item was rated by all judges"
    if not people:
        return "nobody else rated the items that all judges rated"
    if measure.name != "accuracy" and len(cube.values) > CATEGORIES:
        return f"{len(cube.values)} distinct values are more than {CATEGORIES}, and no categories"
    return obstacle(cube.values, measure)


def _differences(
    cube: RatingCube, judges: tuple[str, ...], people: list[str], measure: Measure, resampling: Resampling
) -> tuple[JudgeDifference, ...]:
    pairs = [
        Pair(truth=cube.of_rater(name), rated=cube.of_rater(judge), values=cube.values, clusters=cube.clusters).ordered(
            measure.order
        )
        for judge in judges
        for name in people
    ]
    tally, per_pair = joint_tally(pairs, measure)
    every = list(combinations(range(len(judges)), 2))

    def differences(sums: Array) -> Array:
        found = per_pair(sums)
        means = mean_known(found.reshape(*found.shape[:-1], len(judges), len(people)))
        return np.stack([means[..., first] - means[..., second] for first, second in every], axis=-1)

    values = differences(tally.sums())
    errors = error_of(tally, differences(tally.sums() - tally.features))
    spreads = errors * float(stdtrit(max(tally.units - 1, 1), (1.0 + resampling.level) / 2.0))
    p = [_p_value(value, error, tally.units) for value, error in zip(values.tolist(), errors.tolist(), strict=True)]
    known = [one for one in p if one is not None]
    adjusted = iter(holm(known).tolist() if known else [])
    method = "cluster jackknife" if tally.unit == "cluster" else "jackknife"
    blank = Estimate(value=0.0, method=method, level=resampling.level, coverage=Coverage(rated=len(cube.items)))
    return tuple(
        JudgeDifference(
            first=judges[first],
            second=judges[second],
            difference=_estimate(float(values[row]), float(spreads[row]), 1.0 - measure.lowest, tally.units, blank),
            p=p[row],
            p_holm=None if p[row] is None else next(adjusted),
        )
        for row, (first, second) in enumerate(every)
    )


def _p_value(difference: float, error: float, units: int) -> float | None:
    """The two-sided p-value by t; where no unit left out changes anything, that of as many equal coin tosses."""
    if np.isnan(difference) or np.isnan(error) or units < 2:
        return None
    if error < FLAT:
        return 1.0 if abs(difference) < 1e-12 else max(2.0 * 0.5**units, SMALLEST)
    return max(2.0 * float(stdtr(units - 1, -abs(difference) / error)), SMALLEST)


def _estimate(value: float, spread: float, largest: float, units: int, blank: Estimate) -> Estimate:
    """The difference with its bounds, which cannot lie beyond `largest`.

    Where no unit left out changes anything, they are those of the mean of so many equal values.
    """
    if np.isnan(value):
        reason = "one of the two scores is not defined"
        return Estimate.missing(reason, method=blank.method, coverage=blank.coverage)
    if np.isnan(spread) or units < 2:
        return replace(blank, value=value, reason="no interval: the items do not say how far it varies")
    if spread < FLAT:
        equal = mean(np.full(units, value), level=blank.level, scale=(-largest, largest))
        return replace(blank, value=value, lower=equal.lower, upper=equal.upper, method=equal.method)
    return replace(blank, value=value, lower=max(value - spread, -largest), upper=min(value + spread, largest))


def _groups(judges: tuple[str, ...], differences: tuple[JudgeDifference, ...]) -> tuple[tuple[str, ...], ...]:
    """The longest runs of judges, best first, of whom no two differ (Piepho 2004); none lies within another."""
    apart = {(one.first, one.second) for one in differences if is_settled(one.difference, one.p_holm)}
    runs: list[tuple[str, ...]] = []
    for start in range(len(judges)):
        end = start + 1
        while end < len(judges) and not any((name, judges[end]) in apart for name in judges[start:end]):
            end += 1
        run = judges[start:end]
        if not runs or not set(run) <= set(runs[-1]):
            runs.append(run)
    return tuple(runs)
