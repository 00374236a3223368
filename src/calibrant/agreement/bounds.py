"""What a judge's score can be at all: as good as one person is to another, or as a rater who always says the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from calibrant.agreement.judging import AgainstEach, against_each
from calibrant.agreement.measures import Measure, measure_of
from calibrant.agreement.pairs import CATEGORIES, Pair, joint_tally, mean_known
from calibrant.agreement.published import Resampling, value_text
from calibrant.agreement.uncertainty import error_of
from calibrant.estimates import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from calibrant.agreement.cube import RatingCube
    from calibrant.agreement.uncertainty import Tally
    from calibrant.ratings import Value

    Array = npt.NDArray[np.float64]

__all__ = ["CeilingAndFloor", "ceiling_and_floor"]

DEFAULT = Resampling()
NARROW = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CeilingAndFloor:
    """A judge's score between its bounds, all by the same measure.

    `ceiling` is the mean over people of each one's score against the others, `floor` that of the best constant answer,
    and `relative` where the judge stands between: 0 is as good as the constant, 1 as good as a person.
    """

    judge: Estimate
    ceiling: Estimate
    floor: Estimate
    relative: Estimate
    constant: Value | None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.relative.value is None:
            return f"{self.judge}; {self.relative.reason}"
        return f"{self.judge}; {self.relative.value:.2f} of the way from a constant to a person"

    def to_json(self) -> dict[str, Any]:
        """The score and its bounds as JSON has them."""
        return {
            "judge": self.judge.to_json(),
            "ceiling": self.ceiling.to_json(),
            "floor": self.floor.to_json(),
            "relative": self.relative.to_json(),
            "constant": None if self.constant is None else value_text(self.constant),
            "warnings": list(self.warnings),
        }


def ceiling_and_floor(
    cube: RatingCube,
    judge: str,
    measure: str | Measure = "accuracy",
    *,
    humans: Iterable[str] | None = None,
    resampling: Resampling = DEFAULT,
) -> CeilingAndFloor:
    """The score of `judge` against people, with the score of people against people and of the best constant answer.

    >>> from calibrant.agreement import RatingCube
    >>> people = {"a": dict(enumerate("xyxyxxyy")), "b": dict(enumerate("xyxyxyyx"))}
    >>> found = ceiling_and_floor(RatingCube.of({**people, "judge": dict(enumerate("xyxyxxyx"))}), "judge")
    >>> found.judge.value, found.ceiling.value, found.floor.value, found.relative.value
    (0.875, 0.75, 0.5, 1.5)
    """
    chosen = measure_of(measure)
    found = against_each(cube, judge, chosen, humans=humans, resampling=resampling)
    people = [name for name in found.each if name not in found.left_out]
    reason = _obstacle(cube, found, people, chosen)
    if reason:
        return _without(found, reason)
    return _bounded(cube, found, people, chosen, resampling)


def _bounded(
    cube: RatingCube, found: AgainstEach, people: list[str], measure: Measure, resampling: Resampling
) -> CeilingAndFloor:
    constant = _best_constant(cube, people, measure)
    same = np.full(len(cube.items), constant, np.int32)
    pairs = [_pair(cube, cube.of_rater(name), cube.of_rater(found.judge), measure) for name in people]
    among = [_pair(cube, cube.of_rater(one), cube.of_rater(other), measure) for one, other in permutations(people, 2)]
    fixed = [_pair(cube, cube.of_rater(name), same, measure) for name in people]
    tally, per_pair = joint_tally([*pairs, *among, *fixed], measure)
    parts = _parts(per_pair, len(pairs), len(among))
    made = _estimates(tally, parts, found.average, resampling)
    ceiling, floor = made[1].value or 0.0, made[2].value or 0.0
    narrow = f"people are only {ceiling - floor:.2f} above a constant answer; such labels can hardly judge a judge"
    return CeilingAndFloor(
        judge=found.average,
        ceiling=made[1],
        floor=made[2],
        relative=made[3],
        constant=cube.values[constant],
        warnings=(narrow,) if ceiling - floor < NARROW else (),
    )


def _parts(per_pair: Callable[[Array], Array], judged: int, among: int) -> Callable[[Array], Array]:
    """The judge's score, the ceiling, the floor and the place between them, along the last axis."""

    def parts(sums: Array) -> Array:
        found = per_pair(sums)
        judge, ceiling = mean_known(found[..., :judged]), mean_known(found[..., judged : judged + among])
        floor = mean_known(np.nan_to_num(found[..., judged + among :]))  # a constant that defines nothing tells nothing
        room = ceiling - floor
        relative = np.where(room > 1e-9, (judge - floor) / np.where(room > 1e-9, room, 1.0), np.nan)
        return np.stack([judge, ceiling, floor, relative], axis=-1)

    return parts


def _estimates(tally: Tally, parts: Callable[[Array], Array], like: Estimate, resampling: Resampling) -> list[Estimate]:
    values = parts(tally.sums())
    left = parts(tally.sums() - tally.features)
    errors = error_of(tally, left) * float(stdtrit(max(tally.units - 1, 1), (1.0 + resampling.level) / 2.0))
    method = "cluster jackknife" if tally.unit == "cluster" else "jackknife"
    blank = Estimate(value=0.0, method=method, level=resampling.level, coverage=like.coverage)
    made: list[Estimate] = []
    for value, spread in zip(values.tolist(), errors.tolist(), strict=True):
        if np.isnan(value):
            reason = "people agree no more than a constant answer does, so there is no way between them to measure"
            made.append(Estimate.missing(reason, method=method, coverage=like.coverage))
        elif np.isnan(spread) or tally.units < 2 or spread <= 0:
            made.append(replace(blank, value=value, reason="no interval: the items do not say how far it varies"))
        else:
            made.append(replace(blank, value=value, lower=value - spread, upper=value + spread))
    return made


def _best_constant(cube: RatingCube, people: list[str], measure: Measure) -> int:
    """The code of the answer that does best when it is given to everything; the most frequent one if they tie."""
    given = np.stack([cube.of_rater(name) for name in people])
    counts = np.bincount(given[given >= 0], minlength=len(cube.values))
    if measure.name == "accuracy" or len(cube.values) > CATEGORIES:
        return int(counts.argmax())
    statistic = measure.statistic(cube.values)
    size = len(cube.values)
    tables = np.zeros((size, len(people), size, size))
    for person, row in enumerate(given):
        tables[np.arange(size), person, :, np.arange(size)] = np.bincount(row[row >= 0], minlength=size)
    scores = np.nan_to_num(statistic(tables)).mean(-1)
    best = np.flatnonzero(scores >= scores.max() - 1e-12)
    return int(best[counts[best].argmax()])


def _pair(cube: RatingCube, truth: npt.NDArray[np.int32], rated: npt.NDArray[np.int32], measure: Measure) -> Pair:
    return Pair(truth=truth, rated=rated, values=cube.values, clusters=cube.clusters).ordered(measure.order)


def _obstacle(cube: RatingCube, found: AgainstEach, people: list[str], measure: Measure) -> str:
    if found.average.value is None:
        return found.average.reason
    if len(people) < 2:
        return "a ceiling needs two people who rated the same items"
    codes = np.stack([cube.of_rater(name) for name in people]) >= 0
    if not (codes.sum(0) >= 2).any():
        return "no two people rated the same item, so there is no ceiling"
    if measure.name != "accuracy" and len(cube.values) > CATEGORIES:
        return f"{len(cube.values)} distinct values are more than {CATEGORIES}, and no categories"
    return ""


def _without(found: AgainstEach, reason: str) -> CeilingAndFloor:
    missing = Estimate.missing(reason, method="jackknife", coverage=found.average.coverage)
    return CeilingAndFloor(judge=found.average, ceiling=missing, floor=missing, relative=missing, constant=None)
