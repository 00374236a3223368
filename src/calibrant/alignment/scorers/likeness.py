"""The arithmetic of likeness: rows of raters, columns of items, NaN where one of the two said nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.agreement.published import on_scale
from calibrant.estimates import Coverage, Estimate
from calibrant.stats import mean

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = ["bounds_of_likeness", "contributions"]

NARROW = 0.01
"""Below this distance between a constant text and people there is no way to measure a place on it."""


def contributions(likeness: Array) -> Array:
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


def bounds_of_likeness(
    judged: Array, among: Array, constant: Array, *, lowest: float = 0.0, clusters: npt.NDArray[np.int32] | None = None
) -> dict[str, Any]:
    """The ceiling (people with people), the floor (one text with all of theirs), and where the judge stands between.

    Bounds of the first two lie on the scale of likeness, which runs from `lowest` to 1. With `clusters`, which say what
    items share, all count these.

    All on the items where all three are known, whose errors are taken together: the place is a ratio of means, and its
    spread that of (j - f) - place * (c - f) over c - f.
    """
    known = np.all([_answered(rows) for rows in (judged, among, constant)], axis=0)
    coverage = Coverage(rated=int(known.sum()), skipped=int((~known).sum()))
    if known.sum() < 2:
        reason = "a ceiling needs two people who wrote about the same items"
        return dict.fromkeys(
            ("ceiling", "floor", "relative"), Estimate.missing(reason, method="t", coverage=coverage).to_json()
        )
    place, ceiling, floor = (contributions(rows[:, known]) for rows in (judged, among, constant))
    shared = None if clusters is None else clusters[known].tolist()
    both = (("ceiling", ceiling), ("floor", floor))
    estimates = {name: mean(values, coverage=coverage, clusters=shared) for name, values in both}
    made = {name: on_scale(one, lowest).to_json() for name, one in estimates.items()}
    return {**made, "relative": _relative(place, ceiling, floor, coverage, shared).to_json()}


def _relative(judged: Array, ceiling: Array, floor: Array, coverage: Coverage, clusters: list[int] | None) -> Estimate:
    room = float(np.mean(ceiling - floor))
    if room < NARROW:
        reason = "people's texts are no more alike than one constant text is to them"
        return Estimate.missing(reason, method="t", coverage=coverage)
    place = float(np.mean(judged - floor)) / room
    around = place + ((judged - floor) - place * (ceiling - floor)) / room
    return mean(around, coverage=coverage, clusters=clusters)


def _answered(rows: Array) -> npt.NDArray[np.bool_]:
    return np.asarray(~np.isnan(rows).all(0)) if len(rows) else np.zeros(rows.shape[-1], bool)
