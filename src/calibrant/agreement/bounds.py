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
from calibrant.agreement.published import Resampling, on_scale, value_text
from calibrant.agreement.uncertainty import error_of
from calibrant.agreement.voting import majority, with_votes
from calibrant.estimates import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from calibrant.agreement.cube import RatingCube
    from calibrant.agreement.uncertainty import Tally
    from calibrant.agreement.voting import Majority
    from calibrant.ratings import Value

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int32]

__all__ = ["CeilingAndFloor", "ceiling_and_floor", "ceiling_and_floor_by_vote"]

DEFAULT = Resampling()
NARROW = 0.1
FLAT = 1e-12
VOTE = "vote:"
"""Before the name of the person whose own answer is not in it; of all people it stands alone."""


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
    rows = {name: cube.of_rater(name) for name in people}
    return _between(cube, found, list(rows.values()), list(permutations(rows.values(), 2)), chosen, resampling)


def ceiling_and_floor_by_vote(
    cube: RatingCube,
    judge: str,
    measure: str | Measure = "accuracy",
    *,
    humans: Iterable[str] | None = None,
    votes: Mapping[str, Majority] | None = None,
    resampling: Resampling = DEFAULT,
) -> CeilingAndFloor:
    """The same against what most people said: the ceiling is the mean over people of each one against the others' vote.

    `votes` holds the vote of all under the name "" and that of the others under each person's, where they were taken
    otherwise than `majority` takes them.

    >>> from calibrant.agreement import RatingCube
    >>> people = {name: dict(enumerate("xyxyxxyy")) for name in "abc"}
    >>> found = ceiling_and_floor_by_vote(RatingCube.of({**people, "judge": dict(enumerate("xyxyxxyx"))}), "judge")
    >>> found.judge.value, found.ceiling.value, found.floor.value, found.relative.value
    (0.875, 1.0, 0.5, 0.75)
    """
    chosen, people = measure_of(measure), cube.others(judge, humans)
    voters = {name: [other for other in people if other != name] for name in ("", *people)}
    taken = votes or {name: majority(cube, who) for name, who in voters.items() if who}
    voted = with_votes(cube, {VOTE + name: vote for name, vote in taken.items()})
    found = against_each(voted, judge, chosen, humans=[VOTE], resampling=resampling)
    if found.average.value is None or len(people) < 2:
        return _without(found, found.average.reason or "a ceiling needs two people who rated the same items")
    truth = voted.of_rater(VOTE)
    among = [(voted.of_rater(VOTE + name), voted.of_rater(name)) for name in people]
    among = [pair for pair in among if ((pair[0] >= 0) & (pair[1] >= 0)).any()]
    if not among:
        return _without(found, "no two people rated the same item, so there is no ceiling")
    return _between(voted, found, [truth], among, chosen, resampling)


def _between(
    cube: RatingCube,
    found: AgainstEach,
    truths: Sequence[Codes],
    among: Sequence[tuple[Codes, Codes]],
    measure: Measure,
    resampling: Resampling,
) -> CeilingAndFloor:
    """The judge's score against `truths` between that of people (pairs of truth and person) and of a constant."""
    constant = _best_constant(truths, cube.values, measure)
    same = np.full(len(cube.items), constant, np.int32)
    judged = cube.of_rater(found.judge)
    rows = [*((truth, judged) for truth in truths), *among, *((truth, same) for truth in truths)]
    tally, per_pair = joint_tally([_pair(cube, truth, rated, measure) for truth, rated in rows], measure)
    parts = _parts(per_pair, len(truths), len(among))
    made = _estimates(tally, parts, found.average, resampling)
    made[:3] = [on_scale(one, measure.lowest) for one in made[:3]]
    ceiling, floor = made[1].value or 0.0, made[2].value or 0.0
    return CeilingAndFloor(
        judge=found.average,
        ceiling=made[1],
        floor=made[2],
        relative=made[3],
        constant=cube.values[constant],
        warnings=(_narrow(ceiling, floor),) if ceiling - floor < NARROW else (),
    )


def _narrow(ceiling: float, floor: float) -> str:
    room = ceiling - floor
    above = f"are only {room:.2f} above" if room >= 0.005 else "score no higher than"
    return f"people {above} a constant answer ({ceiling:.2f} and {floor:.2f}); such labels can hardly judge a judge"


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
        elif np.isnan(spread) or tally.units < 2 or spread < FLAT:
            made.append(replace(blank, value=value, reason="no interval: the items do not say how far it varies"))
        else:
            made.append(replace(blank, value=value, lower=value - spread, upper=value + spread))
    return made


def _best_constant(truths: Sequence[Codes], values: Sequence[Value], measure: Measure) -> int:
    """The code of the answer that does best when it is given to everything; the most frequent one if they tie."""
    given = np.stack(truths)
    counts = np.bincount(given[given >= 0], minlength=len(values))
    if measure.name == "accuracy" or len(values) > CATEGORIES:
        return int(counts.argmax())
    statistic = measure.statistic(values)
    size = len(values)
    tables = np.zeros((size, len(given), size, size))
    for truth, row in enumerate(given):
        tables[np.arange(size), truth, :, np.arange(size)] = np.bincount(row[row >= 0], minlength=size)
    scores = np.nan_to_num(statistic(tables)).mean(-1)
    best = np.flatnonzero(scores >= scores.max() - 1e-12)
    return int(best[counts[best].argmax()])


def _pair(cube: RatingCube, truth: Codes, rated: Codes, measure: Measure) -> Pair:
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
