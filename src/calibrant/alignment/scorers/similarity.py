"""What the scorers of free text share: a likeness for each judge and person and item, and its mean with an interval."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.agreement.encoding import ABSENT, FAILED
from calibrant.alignment.scorers.built_in import BuiltInScorer
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

__all__ = ["SimilarityScorer"]


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
        estimate = self._estimate(likeness, self._coverage(likeness, comparison))
        result = self.result(comparison, estimate, metadata=self._metadata(estimate, compared), details={})
        return result.model_copy(update={"num_comparisons": len(compared)})

    async def _by_person(self, cube: RatingCube, comparison: Comparison) -> Array:
        """Likeness with each person (rows) on each item; NaN where one of the two said nothing."""
        judged = cube.of_rater(comparison.judge).astype(np.int64)
        people = np.stack([cube.of_rater(name) for name in comparison.active_humans]).astype(np.int64)
        both = (people >= 0) & (judged >= 0)
        keys, places = np.unique((judged * len(cube.values) + people)[both], return_inverse=True)
        texts = [divmod(int(key), len(cube.values)) for key in keys]
        found = await self.similarities([(str(cube.values[a]), str(cube.values[b])) for a, b in texts])
        likeness = np.full(people.shape, np.nan)
        likeness[both] = found[places]
        return likeness

    def _estimate(self, likeness: Array, coverage: Coverage) -> Estimate:
        if not coverage.rated:
            return Estimate.missing("no two texts could be compared", method="t", coverage=coverage)
        estimate = mean(_contributions(likeness), coverage=coverage, scale=None)
        bounds = {
            name: None if bound is None else min(max(bound, self.lowest), 1.0)
            for name, bound in (("lower", estimate.lower), ("upper", estimate.upper))
        }
        return replace(estimate, **bounds, value=min(estimate.value or 0.0, 1.0))

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


def _contributions(likeness: Array) -> Array:
    """What each item adds: values whose mean is the mean over people, and whose spread is that of its error.

    With nothing missing they are the items' own means; else they are linearised around each person's mean.
    """
    rated = ~np.isnan(likeness)
    people = rated.any(1)
    likeness, rated = likeness[people], rated[people]
    counts = rated.sum(1, keepdims=True)
    means = np.nansum(likeness, axis=1, keepdims=True) / counts
    deviations = np.where(rated, likeness - means, 0.0) / counts
    items = rated.any(0)
    added = deviations.mean(0)[items] * int(items.sum())
    return added + float(means.mean())
