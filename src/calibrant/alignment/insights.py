"""What stands behind the scores: where a judge and people part, who is better, and how good a judge could be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from calibrant.agreement import ceiling_and_floor, compare_judges, disagreements
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.scorers.comparisons import HUMAN, JUDGE
from calibrant.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.agreement import CeilingAndFloor, Disagreements, JudgeComparison, Measure, RatingCube
    from calibrant.alignment.rater_results import Ratings

__all__ = ["bounded", "compared_judges", "disagreements_of"]


def disagreements_of(ratings: Ratings, task: str, judge_id: str) -> Disagreements:
    """The items of a task on which people agree and the judge differs, and those on which people differ."""
    cube, judge, people = _of_judge(ratings, task, judge_id)
    return disagreements(cube, judge, humans=people)


def bounded(ratings: Ratings, task: str, judge_id: str, measure: str | Measure) -> CeilingAndFloor:
    """A judge's score on a task, between that of a constant answer and that of people."""
    cube, judge, people = _of_judge(ratings, task, judge_id)
    return ceiling_and_floor(cube, judge, measure, humans=people)


def compared_judges(
    ratings: Ratings, tasks: Sequence[str], mode: TaskAggregationMode, measure: str | Measure
) -> JudgeComparison:
    """All judges of a task, or of several as one set of labels, in pairs."""
    cube = _cube(ratings, tasks, mode, next(iter(ratings.judges)))
    judges = [name for name in cube.raters if name.startswith(JUDGE)]
    people = [name for name in cube.raters if name.startswith(HUMAN)]
    named = _plainly(cube)
    names = dict(zip(cube.raters, named.raters, strict=True))
    return compare_judges(named, [names[one] for one in judges], measure, humans=[names[one] for one in people])


def _of_judge(ratings: Ratings, task: str, judge_id: str) -> tuple[RatingCube, str, list[str]]:
    if judge_id not in ratings.judges:
        raise UnknownNameError.among("judge", judge_id, ratings.judges)
    cube = _cube(ratings, [task], TaskAggregationMode.SINGLE, judge_id)
    kept = cube.select([name for name in cube.raters if name.startswith(HUMAN) or name == JUDGE + judge_id])
    named = _plainly(kept)
    names = dict(zip(kept.raters, named.raters, strict=True))
    return named, names[JUDGE + judge_id], [names[name] for name in kept.raters if name.startswith(HUMAN)]


def _cube(ratings: Ratings, tasks: Sequence[str], mode: TaskAggregationMode, judge_id: str) -> RatingCube:
    unknown = [task for task in tasks if task not in ratings.tasks]
    if unknown:
        raise UnknownNameError.among("task", unknown[0], ratings.tasks)
    return ratings.labels(judge_id, tasks, mode).whole


def _plainly(cube: RatingCube) -> RatingCube:
    """The cube with raters as the user named them, unless a judge and a person share a name."""
    plain = tuple(name.removeprefix(JUDGE).removeprefix(HUMAN) for name in cube.raters)
    return replace(cube, raters=plain) if len(set(plain)) == len(plain) else cube
