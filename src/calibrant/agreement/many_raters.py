"""Any number of raters at once: Fleiss' kappa, Krippendorff's alpha, Gwet's coefficients, and the mean of pairs."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant.agreement import counts as many
from calibrant.agreement.cube import RatingCube, coverage_of, distinct_columns
from calibrant.agreement.encoding import ABSENT, FAILED, NOT_APPLICABLE, places_in_order
from calibrant.agreement.measures import WEIGHTS, Measure
from calibrant.agreement.pairs import CATEGORIES, obstacle, pair_tally, prevalence_of
from calibrant.agreement.published import Coefficient, Resampling
from calibrant.agreement.tables import agreement_weights, kappa_of
from calibrant.agreement.uncertainty import Bounds, Tally, bounds_of
from calibrant.errors import UnknownNameError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from calibrant.estimates import Coverage
    from calibrant.ratings import Value

    Array = npt.NDArray[np.float64]

__all__ = ["fleiss_kappa", "krippendorff_alpha", "many_raters_ac1", "many_raters_ac2", "mean_pairwise_kappa"]

METRICS = ("nominal", "ordinal", "interval", "ratio")
DEFAULT = Resampling()


def fleiss_kappa(ratings: Any, *, resampling: Resampling = DEFAULT) -> Coefficient:
    """Fleiss' kappa (1971) of all raters; items may have unlike numbers of ratings (Gwet 2014).

    `ratings` is a RatingCube, or anything that `RatingCube.of` takes.

    >>> fleiss_kappa({"a": {1: "x", 2: "y"}, "b": {1: "x", 2: "y"}}).value
    1.0
    """
    return _by_shares(RatingCube.of(ratings), "fleiss_kappa", np.eye, many.fleiss_of, resampling)


def many_raters_ac1(ratings: Any, *, resampling: Resampling = DEFAULT) -> Coefficient:
    """Gwet's AC1 (2008) of all raters.

    >>> many_raters_ac1({"a": {1: "x", 2: "x"}, "b": {1: "x", 2: "x"}}).value
    1.0
    """
    cube = RatingCube.of(ratings)
    return _by_shares(cube, "ac1", np.eye, lambda sums: many.gwet_many_of(sums, np.eye(_size(sums))), resampling)


def many_raters_ac2(
    ratings: Any,
    *,
    weights: Literal["linear", "quadratic"] = "quadratic",
    order: Sequence[Value] | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """Gwet's AC2 (2014) of all raters, in which near answers count in part; labels need their `order`.

    >>> round(many_raters_ac2({"a": {1: 1, 2: 2, 3: 3}, "b": {1: 1, 2: 2, 3: 2}}).value, 3)
    0.786
    """
    if weights not in WEIGHTS:
        raise UnknownNameError.among("weights", weights, WEIGHTS)
    cube = _in_order(RatingCube.of(ratings), order)
    if order is None and cube.values and isinstance(cube.values[0], str):
        return _missing(cube, "ac2", "labels have no order of their own; say order=[...] from low to high for ac2")

    def scale(size: int) -> Array:
        return agreement_weights(size, weights)

    return _by_shares(cube, "ac2", scale, lambda sums: many.gwet_many_of(sums, scale(_size(sums))), resampling)


def krippendorff_alpha(
    ratings: Any,
    *,
    metric: Literal["nominal", "ordinal", "interval", "ratio"] = "nominal",
    order: Sequence[Value] | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """Krippendorff's alpha (2011): 1 - observed over expected disagreement, whatever is missing.

    "interval" and "ratio" need numbers, and "ratio" numbers of at least 0; "ordinal" of labels needs their `order`.

    >>> round(krippendorff_alpha({"a": {1: 1, 2: 2, 3: 3}, "b": {1: 1, 2: 2, 3: 2}}, metric="interval").value, 3)
    0.706
    """
    if metric not in METRICS:
        raise UnknownNameError.among("metric", metric, METRICS)
    cube = _in_order(RatingCube.of(ratings), order)
    reason = _alpha_obstacle(cube, metric, order)
    if reason:
        return _missing(cube, "alpha", reason)
    numeric = not isinstance(cube.values[0], str | frozenset)
    numbers = np.asarray(cube.values if numeric else range(len(cube.values)), float)

    def statistic(sums: Array) -> Array:
        return many.alpha_of(sums, metric, numbers)

    return _published(cube, "alpha", many.coincidences, statistic, resampling)


def mean_pairwise_kappa(
    ratings: Any,
    *,
    weights: Literal["linear", "quadratic"] | None = None,
    order: Sequence[Value] | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """The mean of Cohen's kappas of all pairs of raters, sorted by name (Light 1971); pairs without items are left out.

    >>> cube = RatingCube.of({"a": {1: "x", 2: "y"}, "b": {1: "x", 2: "y"}, "c": {1: "x", 2: "x"}})
    >>> round(mean_pairwise_kappa(cube).value, 4)
    0.3333
    """
    cube = _in_order(RatingCube.of(ratings), order)
    measure = Measure(name="kappa", weights=weights, order=order)
    cube = cube.select(sorted(cube.raters))
    pairs = [(a, b) for a, b in combinations(cube.codes, 2) if ((a >= 0) & (b >= 0)).any()]
    if not pairs:
        return _missing(cube, "kappa", "no item was rated by two raters")
    reason = obstacle(cube.values, measure)
    if reason:
        return _missing(cube, "kappa", reason)
    size, scale = len(cube.values), agreement_weights(len(cube.values), weights or "identity")
    tally = pair_tally(np.stack([a for a, _ in pairs]), np.stack([b for _, b in pairs]), size, cube.clusters)

    def statistic(sums: Array) -> Array:
        return kappa_of(sums.reshape(*sums.shape[:-1], len(pairs), size, size), scale).mean(-1)

    return _coefficient(cube, "kappa", bounds_of(tally, statistic, resampling), resampling)


def _by_shares(
    cube: RatingCube,
    name: str,
    weights: Callable[[int], Array],
    statistic: Callable[[Array], Array],
    resampling: Resampling,
) -> Coefficient:
    reason = _obstacle(cube, name)
    if reason:
        return _missing(cube, name, reason)
    scale = weights(len(cube.values))
    return _published(cube, name, lambda counts: many.shares(counts, scale), statistic, resampling)


def _published(
    cube: RatingCube,
    name: str,
    features: Callable[[Array], Array],
    statistic: Callable[[Array], Array],
    resampling: Resampling,
) -> Coefficient:
    return _coefficient(cube, name, bounds_of(_tally(cube, features), statistic, resampling), resampling)


def _coefficient(cube: RatingCube, name: str, bounds: Bounds, resampling: Resampling) -> Coefficient:
    return Coefficient(
        **bounds._asdict(),
        level=resampling.level,
        coverage=_coverage(cube),
        name=name,
        prevalence=prevalence_of(cube.codes, cube.values),
    )


def _tally(cube: RatingCube, features: Callable[[Array], Array]) -> Tally:
    """Items by how often each answer was given to them; by cluster, where there are clusters."""
    answers = np.stack([(cube.codes == code).sum(0) for code in range(len(cube.values))])
    rated = answers.sum(0) > 0
    answers = answers[:, rated]
    first, cells, weights = distinct_columns(answers, len(cube.raters) + 1)
    added = features(answers[:, first].T.astype(float))
    dissent = _dissent(answers, features)
    items = int(rated.sum())
    if cube.clusters is None:
        return Tally(features=added, counts=weights, items=items, dissent=dissent)
    _, codes = np.unique(cube.clusters[rated], return_inverse=True)
    sums = np.column_stack([np.bincount(codes, weights=column[cells]) for column in added.T]).astype(np.float64)
    return Tally(features=sums, counts=np.ones(len(sums), np.int64), items=items, unit="cluster", dissent=dissent)


def _dissent(answers: npt.NDArray[Any], features: Callable[[Array], Array]) -> Array | None:
    """What an item adds on which one of its raters answers otherwise, on average over the answers given."""
    given = answers.sum(1).astype(float)
    used = np.flatnonzero(given)
    raters = max(2, round(float(answers.sum(0).mean())))
    if len(used) < 2:
        return None
    split = [(a, b) for a in used for b in used if a != b]
    counts = np.zeros((len(split), len(given)))
    for row, (most, one) in enumerate(split):
        counts[row, most], counts[row, one] = raters - 1, 1
    odds = np.array([given[a] * given[b] for a, b in split])
    return odds @ features(counts) / odds.sum()


def _obstacle(cube: RatingCube, name: str) -> str:
    if not ((cube.codes >= 0).sum(0) >= 2).any():
        return "no item was rated by two raters"
    if isinstance(cube.values[0], frozenset) and name != "alpha":
        return f"{name} compares single answers, and these are sets of labels"
    if len(cube.values) > CATEGORIES:
        return f"{len(cube.values)} distinct values are more than {CATEGORIES}, and no categories"
    return ""


def _alpha_obstacle(cube: RatingCube, metric: str, order: Sequence[Value] | None) -> str:
    reason = _obstacle(cube, "alpha")
    if reason or metric == "nominal":
        return reason
    example = cube.values[0]
    if isinstance(example, frozenset):
        return f"sets of labels have no {metric} scale"
    if metric == "ordinal":
        unordered = isinstance(example, str) and order is None
        return "labels have no order of their own; say order=[...] from low to high for alpha" if unordered else ""
    if isinstance(example, str):
        return f"{metric} alpha needs numbers, and these are labels such as {shortened(example)}"
    if metric == "ratio" and float(example) < 0:
        return f"ratio alpha needs numbers of at least 0, and there is {example}"
    return ""


def _in_order(cube: RatingCube, order: Sequence[Value] | None) -> RatingCube:
    if order is None:
        return cube
    places = places_in_order(cube.values, order)
    return RatingCube(
        items=cube.items, raters=cube.raters, values=tuple(order), codes=places[cube.codes], clusters=cube.clusters
    )


def _coverage(cube: RatingCube) -> Coverage:
    """Items with two ratings are rated; of the others, one with a failure failed."""
    rated = (cube.codes >= 0).sum(0)
    state = np.where(rated >= 2, 0, ABSENT).astype(np.int32)
    for code in (NOT_APPLICABLE, FAILED):
        state[(rated < 2) & (cube.codes == code).any(0)] = code
    return coverage_of(state)


def _missing(cube: RatingCube, name: str, reason: str) -> Coefficient:
    return Coefficient(value=None, method=name, coverage=_coverage(cube), reason=reason, name=name)


def _size(sums: Array) -> int:
    return sums.shape[-1] - 3
