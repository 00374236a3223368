"""What documents that nobody judged could make of the difference between two systems."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from calibrant.retrieval.notation import UserMeasure
from calibrant.retrieval.residuals import supposed_leads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from calibrant.retrieval.measured import MeasureResult

__all__ = ["unjudged_ranges"]


def unjudged_ranges(
    name: str, results: Mapping[str, MeasureResult], rows: Mapping[str, NDArray[np.intp]]
) -> dict[tuple[str, str], tuple[float, float]]:
    """For every two systems the least and the greatest mean difference B - A on a measure; none for a user's measure.

    Query by query, it is the least and the greatest of three: as judged, with the unjudged documents of A relevant,
    and with those of B. Which of them both have returned is not known, so that each is taken to be of one alone.
    """
    system, first = next(iter(results.items()))
    measure, kept = first.asked[name], first.kept[rows[system]]
    if isinstance(measure, UserMeasure) or not len(kept):
        return {}
    leads: dict[tuple[str, str], NDArray[np.float64]] = {}
    for one, result in results.items():
        others = [other for other in results if other != one]
        found = supposed_leads(result.evidence, [results[other].evidence for other in others], measure)
        leads.update({(one, other): lead[kept] for other, lead in zip(others, found, strict=True)})
    ranges: dict[tuple[str, str], tuple[float, float]] = {}
    for a, b in combinations(results, 2):
        judged = results[b].of(name)[rows[b]] - results[a].of(name)[rows[a]]
        least, greatest = np.minimum(judged, -leads[a, b]), np.maximum(judged, leads[b, a])
        ranges[a, b] = float(least.mean()), float(greatest.mean())
    return ranges
