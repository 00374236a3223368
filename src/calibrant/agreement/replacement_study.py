"""What the alternative annotator test rests on: the items and people that are kept, and what they count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from calibrant.agreement.cube import RatingCube, distinct_columns
from calibrant.agreement.pairs import CATEGORIES
from calibrant.agreement.published import value_text
from calibrant.agreement.replacement_scores import indicators, scoring_of
from calibrant.agreement.uncertainty import Tally
from calibrant.errors import counted
from calibrant.estimates import Coverage

if TYPE_CHECKING:
    import numpy.typing as npt

    from calibrant.agreement.replacement_result import AltTestSettings

    Array = npt.NDArray[np.float64]

__all__ = ["Study", "study_of"]


class Study(NamedTuple):
    """What is left to test after dropping: what each pattern of items counts, and why things were dropped."""

    tested: tuple[str, ...]
    tally: Tally
    items: int
    scoring: str
    dropped_items: dict[str, tuple[str, ...]]
    dropped_annotators: dict[str, str]
    coverage: Coverage
    warnings: tuple[str, ...]
    reason: str


def study_of(cube: RatingCube, judge: str, people: tuple[str, ...], settings: AltTestSettings) -> Study:
    """What `people` and `judge` rated, counted for the test, and what had to be dropped."""
    small = cube.select([judge, *people])
    scoring = scoring_of(settings.scoring, cube.values)
    patterns, number, weights = small.pattern_codes()
    judged, raters = patterns[0] >= 0, (patterns[1:] >= 0).sum(0)
    kept = judged & (raters >= settings.min_humans_per_item)
    found = indicators(patterns[0], patterns[1:], kept, scoring, cube.values)
    per_person = found.counted @ weights
    tested = np.flatnonzero(per_person >= settings.min_items_per_human)
    answering = int(((patterns[1:] >= 0) @ weights > 0).sum())
    counts = np.stack([found.counted, found.judge, found.person, found.judge & found.person], -1)[tested]
    return Study(
        tested=tuple(people[row] for row in tested),
        tally=_tally(counts.astype(float), weights, number, cube.clusters, kept),
        items=int(weights[kept].sum()),
        scoring=scoring,
        dropped_items=_dropped_items(cube, judged[number], raters[number], settings),
        dropped_annotators=_dropped_annotators(people, per_person, settings),
        coverage=_coverage(cube, judge, int(weights[kept].sum())),
        warnings=_warnings(cube, small, scoring, answering, len(tested), settings),
        reason=_too_little(answering, len(tested), settings),
    )


def _tally(
    counts: Array,
    weights: npt.NDArray[np.int64],
    number: npt.NDArray[np.intp],
    clusters: npt.NDArray[np.int32] | None,
    kept: Any,
) -> Tally:
    """What items count for each annotator, joined where they count the same; by cluster, where there are clusters."""
    rows = np.moveaxis(counts, 1, 0)[kept].reshape(int(kept.sum()), 4 * len(counts))
    places = np.cumsum(kept) - 1
    items = kept[number]
    n = int(items.sum())
    if clusters is not None:
        _, codes = np.unique(clusters[items], return_inverse=True)
        cells = places[number[items]]
        sums = (
            np.array([np.bincount(codes, weights=column[cells]) for column in rows.T])
            .reshape(rows.shape[1], -1)
            .T.astype(np.float64)
        )
        return Tally(features=sums, counts=np.ones(len(sums), np.int64), items=n, unit="cluster")
    first, groups, _ = distinct_columns(rows.T.astype(np.int64), 2)
    joined = np.bincount(groups, weights=weights[kept], minlength=len(first)).astype(np.int64)
    return Tally(features=rows[first], counts=joined, items=n)


def _too_little(people: int, tested: int, settings: AltTestSettings) -> str:
    if people < settings.min_humans:
        return f"{counted(people, 'person', 'people')} rated items, and the test needs {settings.min_humans}"
    if not tested:
        return (
            f"nobody rated {counted(settings.min_items_per_human, 'item')} that the judge "
            f"and at least {counted(settings.min_humans_per_item, 'person', 'people')} rated"
        )
    return ""


def _dropped_items(
    cube: RatingCube, judged: npt.NDArray[np.bool_], raters: npt.NDArray[np.int64], settings: AltTestSettings
) -> dict[str, tuple[str, ...]]:
    few = judged & (raters < settings.min_humans_per_item)
    reasons = {
        "the judge did not rate it": np.flatnonzero(~judged),
        f"fewer than {counted(settings.min_humans_per_item, 'person', 'people')} rated it": np.flatnonzero(few),
    }
    return {reason: tuple(cube.items[item] for item in items) for reason, items in reasons.items() if len(items)}


def _dropped_annotators(
    people: tuple[str, ...], items: npt.NDArray[np.int64], settings: AltTestSettings
) -> dict[str, str]:
    least = settings.min_items_per_human
    return {
        name: f"rated {int(n)} of the items that are kept, and {least} are needed; still one of the rest for others"
        for name, n in zip(people, items, strict=True)
        if n < least
    }


def _coverage(cube: RatingCube, judge: str, kept: int) -> Coverage:
    """Kept items are rated; of the others, those where the judge failed, and those without enough ratings, skipped."""
    of_judge = cube.coverage(judge)
    return Coverage(
        rated=kept,
        failed=of_judge.failed,
        not_applicable=of_judge.not_applicable,
        skipped=len(cube.items) - kept - of_judge.failed - of_judge.not_applicable,
    )


def _warnings(
    cube: RatingCube, small: RatingCube, scoring: str, people: int, tested: int, settings: AltTestSettings
) -> tuple[str, ...]:
    used = np.unique(small.codes[small.codes >= 0])
    values = [cube.values[code] for code in used]
    found: list[str] = []
    if people == settings.min_humans == 3 and len(values) == 2 and scoring == "accuracy":
        found.append(
            f"three annotators and two labels ({', '.join(map(value_text, values))}): the judge loses an item only "
            "where all three people agree against it, so it does equally well against each of them; the three tests "
            "are nearly one, and a winning rate of 0, 1/3, 2/3 or 1 says little"
        )
    if (
        scoring == "neg_rmse"
        and settings.scoring is None
        and len(values) > 2
        and all(isinstance(one, int) for one in values)
    ):
        found.append("whole numbers were taken as a scale; if they are names of categories, say scoring='accuracy'")
    found += _shared_clusters(cube)
    if scoring == "accuracy" and len(values) > CATEGORIES:
        found.append(
            f"{len(values)} distinct answers are compared exactly: free texts agree only when they are identical"
        )
    if 0 < tested < settings.min_humans:
        found.append(f"only {tested} of {people} annotators rated enough items to be tested")
    return tuple(found)


def _shared_clusters(cube: RatingCube) -> list[str]:
    groups = len(cube.items) if cube.clusters is None else len(np.unique(cube.clusters))
    if groups == len(cube.items):
        return []
    said = (
        f"{len(cube.items)} items share {counted(groups, 'cluster')}: the test takes items as independent, so its "
        "p-values may be too small; the advantage probability's interval and the stability count clusters"
    )
    return [said]
