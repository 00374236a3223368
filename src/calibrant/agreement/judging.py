"""A judge against people: against each of them, and against what most of them said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant.agreement.cube import coverage_of
from calibrant.agreement.encoding import ABSENT, places_in_order
from calibrant.agreement.measures import Measure, measure_of
from calibrant.agreement.pairs import Pair, prevalence_of, score, table_bounds
from calibrant.agreement.published import Coefficient, Resampling
from calibrant.agreement.uncertainty import Bounds
from calibrant.agreement.voting import majority

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt

    from calibrant.agreement.cube import RatingCube
    from calibrant.estimates import Coverage
    from calibrant.ratings import Value

__all__ = ["AgainstEach", "against_each", "against_majority"]

DEFAULT = Resampling()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstEach:
    """A judge against every person: the mean, each one, and who could not be compared and why."""

    judge: str
    average: Coefficient
    each: Mapping[str, Coefficient]
    left_out: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON has it."""
        return {
            "judge": self.judge,
            "average": self.average.to_json(),
            "each": {name: one.to_json() for name, one in self.each.items()},
            "left_out": dict(self.left_out),
        }


def against_each(
    cube: RatingCube,
    judge: str,
    measure: str | Measure = "accuracy",
    *,
    humans: Iterable[str] | None = None,
    resampling: Resampling = DEFAULT,
) -> AgainstEach:
    """The measure of `judge` against each of the `humans` (all other raters), and its unweighted mean over them.

    A person for whom the measure is not defined is left out of the mean, and named with the reason.

    >>> from calibrant.agreement import RatingCube
    >>> cube = RatingCube.of({"judge": {1: "x", 2: "y"}, "kim": {1: "x", 2: "y"}, "lee": {1: "x", 2: "x"}})
    >>> against_each(cube, "judge", "accuracy").average.value
    0.75
    """
    chosen, people = measure_of(measure), cube.others(judge, humans)
    rated = cube.of_rater(judge)
    pairs = {
        name: Pair(truth=cube.of_rater(name), rated=rated, values=cube.values, clusters=cube.clusters)
        for name in people
    }
    each = {name: score(pair, chosen, resampling) for name, pair in pairs.items()}
    left_out = {name: one.reason for name, one in each.items() if one.value is None}
    kept = {name: pair for name, pair in pairs.items() if name not in left_out}
    average = _average(cube, judge, kept, each, chosen, resampling)
    return AgainstEach(judge=judge, average=average, each=MappingProxyType(each), left_out=MappingProxyType(left_out))


def against_majority(
    cube: RatingCube,
    judge: str,
    measure: str | Measure = "accuracy",
    *,
    humans: Iterable[str] | None = None,
    ties: Literal["first", "abstain"] = "first",
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """The measure of `judge` against the majority of the `humans` (all other raters); ties are counted.

    >>> from calibrant.agreement import RatingCube
    >>> cube = RatingCube.of({"judge": {1: "y", 2: "y"}, "kim": {1: "y", 2: "x"}, "lee": {1: "y", 2: "y"}})
    >>> found = against_majority(cube, "judge")
    >>> found.value, found.ties
    (0.5, 1)
    """
    vote = majority(cube, cube.others(judge, humans), ties=ties)
    rated = _in_values(cube, cube.of_rater(judge), vote.values)
    pair = Pair(truth=vote.codes, rated=rated, values=vote.values, clusters=cube.clusters)
    found = score(pair, measure_of(measure), resampling)
    return replace(found, ties=vote.ties, abstained=vote.abstained)


def _average(
    cube: RatingCube,
    judge: str,
    kept: Mapping[str, Pair],
    each: Mapping[str, Coefficient],
    measure: Measure,
    resampling: Resampling,
) -> Coefficient:
    coverage = _coverage(cube, judge, tuple(each))
    if not kept:
        reason = next(iter(each.values())).reason
        return Coefficient(value=None, method=measure.name, coverage=coverage, reason=reason, name=measure.name)
    alone = _bounds(next(iter(each.values()))) if len(each) == 1 else None
    bounds = alone or _average_bounds(kept, measure, resampling)
    seen = [one.observed for one in each.values() if one.observed is not None]
    expected = [one.expected for one in each.values() if one.expected is not None]
    rows = np.stack([kept[name].truth for name in kept] + [cube.of_rater(judge)])
    return Coefficient(
        **bounds._asdict(),
        level=resampling.level,
        coverage=coverage,
        name=measure.name,
        prevalence=prevalence_of(rows, cube.values),
        observed=float(np.mean(seen)) if seen else None,
        expected=float(np.mean(expected)) if expected else None,
    )


def _average_bounds(kept: Mapping[str, Pair], measure: Measure, resampling: Resampling) -> Bounds:
    return table_bounds([pair.ordered(measure.order) for pair in kept.values()], measure, resampling)


def _bounds(found: Coefficient) -> Bounds:
    return Bounds(found.value, found.lower, found.upper, found.method, found.reason)


def _coverage(cube: RatingCube, judge: str, people: tuple[str, ...]) -> Coverage:
    """Items with the judge's rating and a person's are rated; where people rated and the judge failed, it failed."""
    answered = np.any([cube.of_rater(name) >= 0 for name in people], axis=0)
    rated = cube.of_rater(judge)
    return coverage_of(np.where(answered | (rated < 0), rated, ABSENT).astype(np.int32))


def _in_values(cube: RatingCube, codes: npt.NDArray[np.int32], values: tuple[Value, ...]) -> npt.NDArray[np.int32]:
    """The codes of the cube as codes of a vote's `values`, which may be more."""
    return codes if values == cube.values else places_in_order(cube.values, values)[codes]
