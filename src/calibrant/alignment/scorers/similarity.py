"""What the scorers of free text share: a likeness for each judge and person and item, and its mean with an interval."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.agreement.encoding import ABSENT, FAILED
from calibrant.agreement.published import on_scale
from calibrant.alignment.scorers.built_in import BuiltInScorer
from calibrant.alignment.scorers.likeness import bounds_of_likeness, contributions
from calibrant.errors import EvalError, InputError
from calibrant.estimates import Coverage, Estimate
from calibrant.stats import mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from calibrant.agreement import RatingCube
    from calibrant.alignment.scorers.comparisons import Comparison
    from calibrant.alignment.scoring_result import BaseScoringResult

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[Any]

__all__ = ["SimilarityScorer"]

SAMPLE = 200
"""The most items on which people's texts are compared with each other's and with a constant one."""


class SimilarityScorer(BuiltInScorer):
    """A scorer of texts. Against each person it is the mean over their items, and then over people.

    Against a majority each item counts as its most similar person. Several tasks in one are the mean over them.
    """

    lowest: float = 0.0

    def can_score_task(self, sample_label: Any) -> bool:
        """Whether the label is a text, or a list of texts."""
        if isinstance(sample_label, list | tuple | set | frozenset):
            return all(isinstance(one, str) for one in sample_label)
        return isinstance(sample_label, str)

    @abstractmethod
    async def similarities(self, pairs: Sequence[tuple[str, str]]) -> Array:
        """How alike the texts of each pair are; NaN where one of them says nothing."""

    async def score(self, comparison: Comparison) -> BaseScoringResult:
        """The mean similarity with its interval, and median and deviation over all comparisons."""
        values = comparison.cube.values
        if len(comparison.labels.positions) == 1 and isinstance(values[0], frozenset):
            raise InputError(f"{self.scorer_name} compares texts by position, and these lists have different lengths")
        try:
            cubes = comparison.labels.positions.values()
            by_position = [await self._by_person(cube, comparison) for cube in cubes]
        except EvalError as error:
            return self._failed(comparison, error)
        likeness = np.mean(by_position, axis=0)
        if comparison.by_majority:
            likeness = _best(likeness)
        compared = likeness[~np.isnan(likeness)]
        estimate = self._estimate(likeness, self._coverage(likeness, comparison), comparison.cube.clusters)
        metadata = {**self._metadata(estimate, compared), **await self._bounds(comparison)}
        result = self.result(comparison, estimate, metadata=metadata, details={})
        return result.model_copy(update={"num_comparisons": len(compared)})

    async def _bounds(self, comparison: Comparison) -> dict[str, Any]:
        """How alike people's texts are to each other's, and one constant text to theirs, on a sample of items."""
        cubes = comparison.labels.positions.values()
        sampled = _sampled(np.all([_usable(cube, comparison) for cube in cubes], axis=0))
        if not len(sampled):
            return {}
        try:
            each = [await self._likenesses(cube, comparison, sampled) for cube in cubes]
        except EvalError as error:
            return {"warnings": [f"no ceiling and no floor: {error}"]}
        judged, among, constant = (np.mean([one[part] for one in each], axis=0) for part in range(3))
        if comparison.by_majority:
            judged, constant = _best(judged), _best(constant)
            among = np.concatenate([_best(rows) for rows in _by_person_left_out(among)]) if len(among) else among
        clusters = comparison.cube.clusters
        shared = None if clusters is None else clusters[sampled]
        return bounds_of_likeness(judged, among, constant, lowest=self.lowest, clusters=shared)

    async def _likenesses(
        self, cube: RatingCube, comparison: Comparison, sampled: npt.NDArray[np.intp]
    ) -> tuple[Array, Array, Array]:
        """On the sampled items: judge with people, people with people, and people's most usual text with people."""
        people = np.stack([cube.of_rater(name)[sampled] for name in comparison.active_humans])
        judged = cube.of_rater(comparison.judge)[sampled]
        usual = np.full(len(sampled), _most_usual(people, cube))
        pairs = [(one, other) for place, one in enumerate(people) for other in np.delete(people, place, axis=0)]
        rows = [*((judged, row) for row in people), *pairs, *((usual, row) for row in people)]
        found = await self._compared(cube, np.stack([a for a, _ in rows]), np.stack([b for _, b in rows]))
        return found[: len(people)], found[len(people) : -len(people)], found[-len(people) :]

    async def _by_person(self, cube: RatingCube, comparison: Comparison) -> Array:
        """Likeness with each person (rows) on each item; NaN where one of the two said nothing."""
        people = np.stack([cube.of_rater(name) for name in comparison.active_humans])
        return await self._compared(cube, np.broadcast_to(cube.of_rater(comparison.judge), people.shape), people)

    async def _compared(self, cube: RatingCube, first: Codes, second: Codes) -> Array:
        """Likeness of the texts that two arrays of codes stand for, place by place; each pair of texts once."""
        first, second = first.astype(np.int64), second.astype(np.int64)
        both = (first >= 0) & (second >= 0)
        keys, places = np.unique((first * len(cube.values) + second)[both], return_inverse=True)
        texts = [divmod(int(key), len(cube.values)) for key in keys]
        found = await self.similarities([(str(cube.values[a]), str(cube.values[b])) for a, b in texts])
        likeness = np.full(first.shape, np.nan)
        likeness[both] = found[places]
        return likeness

    def _estimate(self, likeness: Array, coverage: Coverage, clusters: Codes | None) -> Estimate:
        if not coverage.rated:
            return Estimate.missing("no two texts could be compared", method="t", coverage=coverage)
        shared = None if clusters is None else clusters[~np.isnan(likeness).all(0)].tolist()
        return on_scale(mean(contributions(likeness), coverage=coverage, clusters=shared), self.lowest)

    def _coverage(self, likeness: Array, comparison: Comparison) -> Coverage:
        rated = ~np.isnan(likeness).all(0)
        failed = ~rated & (comparison.cube.of_rater(comparison.judge) == FAILED)
        total = likeness.shape[1]
        return Coverage(rated=int(rated.sum()), failed=int(failed.sum()), skipped=total - int((rated | failed).sum()))

    def _metadata(self, estimate: Estimate, compared: Array) -> dict[str, Any]:
        return {
            "mean_similarity": estimate.value,
            "median_similarity": float(np.median(compared)) if len(compared) else None,
            "std_similarity": float(np.std(compared)) if len(compared) else None,
            "total_comparisons": len(compared),
        }

    def _failed(self, comparison: Comparison, error: EvalError) -> BaseScoringResult:
        """No similarity at all: a failed model is a failure with its code, and never a zero."""
        compared, _ = comparison.pairs()
        judged = comparison.cube.of_rater(comparison.judge)
        asked, absent = int((judged >= 0).sum()), int((judged == ABSENT).sum())
        code = getattr(error, "code", "missing_extra")
        coverage = Coverage(rated=0, failed=asked, skipped=absent, codes={code: asked})
        estimate = Estimate.missing(str(error), method="t", coverage=coverage)
        result = self.result(comparison, estimate, metadata=self._metadata(estimate, np.empty(0)), details={})
        return result.model_copy(update={"num_comparisons": 0, "failed_comparisons": compared})


def _best(likeness: Array) -> Array:
    """Each item's most similar person, as one row."""
    filled = np.where(np.isnan(likeness), -np.inf, likeness).max(0)
    return np.where(np.isfinite(filled), filled, np.nan)[None, :]


def _by_person_left_out(among: Array) -> list[Array]:
    """The rows of each person with the others, of rows that hold every ordered pair of people."""
    people = round((1 + (1 + 4 * len(among)) ** 0.5) / 2)
    return np.split(among, people)


def _most_usual(people: Codes, cube: RatingCube) -> int:
    """The code of the text that people gave most often, of those that say something if there are any."""
    counts = np.bincount(people[people >= 0], minlength=len(cube.values))
    blank = np.array([not str(value).strip() for value in cube.values])
    return int(np.where(blank, 0.5 * (counts > 0), counts).argmax())


def _usable(cube: RatingCube, comparison: Comparison) -> npt.NDArray[np.bool_]:
    people = np.stack([cube.of_rater(name) for name in comparison.active_humans])
    return (people >= 0).any(0) & (cube.of_rater(comparison.judge) >= 0)


def _sampled(usable: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """At most `SAMPLE` of the usable items, evenly spread: what people score needs no more to be known."""
    items = np.flatnonzero(usable)
    return items if len(items) <= SAMPLE else items[np.linspace(0, len(items) - 1, SAMPLE).astype(int)]
