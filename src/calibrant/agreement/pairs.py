"""Two raters, or one against many: from codes to tables, and from tables to published coefficients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibrant.agreement import tables
from calibrant.agreement.cube import coverage_of, distinct_columns
from calibrant.agreement.encoding import ABSENT, FAILED, NOT_APPLICABLE, places_in_order
from calibrant.agreement.published import Coefficient
from calibrant.agreement.ranks import rank_bounds
from calibrant.agreement.uncertainty import Bounds, Tally, bounds_of, share_bounds_of
from calibrant.errors import shortened
from calibrant.stats import proportion

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from calibrant.agreement.measures import Measure
    from calibrant.agreement.published import Resampling
    from calibrant.estimates import Coverage
    from calibrant.ratings import Value

    Array = npt.NDArray[np.float64]
    Codes = npt.NDArray[np.int32]

__all__ = [
    "CATEGORIES",
    "Pair",
    "joint_tally",
    "mean_known",
    "obstacle",
    "pair_tally",
    "prevalence_of",
    "score",
    "table_bounds",
]

CATEGORIES = 50
"""More distinct values than these are not categories: a table of them would be empty almost everywhere."""

FEATURES = 20_000_000
"""The most numbers a tally may hold; beyond it, items are left out in groups."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two raters' codes item by item: `truth` is who is believed, `rated` who is measured."""

    truth: Codes
    rated: Codes
    values: tuple[Value, ...]
    clusters: npt.NDArray[np.int32] | None = None

    @property
    def both(self) -> npt.NDArray[np.bool_]:
        """Where both gave an answer."""
        return (self.truth >= 0) & (self.rated >= 0)

    def coverage(self) -> Coverage:
        """How many items both rated; a failure of either is a failure, and nothing to rate is nothing to compare."""
        joint = np.where(self.both, 0, ABSENT).astype(np.int32)
        for code in (NOT_APPLICABLE, FAILED):
            joint[(self.truth == code) | (self.rated == code)] = code
        return coverage_of(joint)

    def compared(self) -> Pair:
        """The pair on the items that both rated."""
        both = self.both
        clusters = None if self.clusters is None else self.clusters[both]
        return Pair(truth=self.truth[both], rated=self.rated[both], values=self.values, clusters=clusters)

    def ordered(self, order: Sequence[Value] | None) -> Pair:
        """The pair with its values in the user's order, from low to high."""
        if order is None:
            return self
        places = places_in_order(self.values, order)
        return replace(self, truth=places[self.truth], rated=places[self.rated], values=tuple(order))


def score(pair: Pair, measure: Measure, resampling: Resampling) -> Coefficient:
    """The coefficient of a pair, or the reason why there is none."""
    pair = pair.ordered(measure.order)
    coverage, compared = pair.coverage(), pair.compared()
    reason = obstacle(compared.values, measure) if coverage.rated else "no item was rated by both"
    if reason:
        return Coefficient(value=None, method=measure.name, coverage=coverage, reason=reason, name=measure.name)
    bounds = _bounds(compared, measure, resampling)
    observed, expected = _seen_and_expected(compared, measure)
    return Coefficient(
        **bounds._asdict(),
        level=resampling.level,
        coverage=coverage,
        name=measure.name,
        prevalence=prevalence_of(np.stack([compared.truth, compared.rated]), compared.values),
        observed=observed,
        expected=expected,
    )


def obstacle(values: tuple[Value, ...], measure: Measure) -> str:
    """Why `measure` cannot be had for these values; empty when it can."""
    if measure.name == "accuracy":
        return ""
    if isinstance(values[0], frozenset):
        return f"{measure.name} compares single answers, and these are sets of labels"
    if measure.positive is not None and measure.positive not in values:
        return f"nobody answered {shortened(measure.positive)}"
    if measure.needs_order and measure.order is None and isinstance(values[0], str):
        return f"labels have no order of their own; say order=[...] from low to high for {measure.name}"
    if len(values) > CATEGORIES and measure.name not in {"spearman", "kendall"}:
        return f"{len(values)} distinct values are more than {CATEGORIES}, and no categories"
    return ""


def prevalence_of(codes: Codes, values: tuple[Value, ...]) -> dict[Value, float]:
    """The share of each value among the ratings; empty where there are too many values to list."""
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    if len(values) > CATEGORIES or not counts.sum():
        return {}
    return dict(zip(values, (counts / counts.sum()).tolist(), strict=True))


def pair_tally(truths: Codes, rated: Codes, size: int, clusters: npt.NDArray[np.int32] | None = None) -> Tally:
    """The tables of many pairs at once, a row of `truths` and of `rated` for each, side by side in the sums."""
    cells = np.where((truths >= 0) & (rated >= 0), truths * size + rated, size * size)
    width = size * size
    items = cells.shape[1]
    if clusters is None:
        first, _, weights = distinct_columns(cells, width + 1)
        if len(first) * len(cells) * width <= FEATURES:
            features = _one_hot(cells[:, first], width)
            return Tally(
                features=features, counts=weights, items=items, dissent=_dissent(weights @ features, size, items)
            )
    groups, unit = _groups(clusters, items, FEATURES // (len(cells) * width))
    count = int(groups.max()) + 1
    sums = [np.bincount(groups * (width + 1) + row, minlength=count * (width + 1)) for row in cells]
    features = np.concatenate([row.reshape(count, width + 1)[:, :width] for row in sums], axis=1).astype(float)
    dissent = _dissent(features.sum(0), size, items)
    return Tally(features=features, counts=np.ones(count, np.int64), items=items, unit=unit, dissent=dissent)


def table_bounds(pairs: Sequence[Pair], measure: Measure, resampling: Resampling) -> Bounds:
    """The mean of `measure` over pairs on the same items and values, and its interval."""
    values = pairs[0].values
    if measure.name != "accuracy" and len(values) > CATEGORIES:
        first = np.stack([_numbers(pair.truth, values) for pair in pairs])
        second = np.stack([_numbers(pair.rated, values) for pair in pairs])
        return rank_bounds(first, second, measure.name, pairs[0].clusters, resampling)
    tally, per_pair = joint_tally(pairs, measure)
    made = share_bounds_of if measure.is_share else bounds_of
    return made(tally, lambda sums: mean_known(per_pair(sums)), resampling)


def joint_tally(pairs: Sequence[Pair], measure: Measure) -> tuple[Tally, Callable[[Array], Array]]:
    """The tally of pairs on the same items, and the function from its sums to the measure of every pair."""
    values, clusters = pairs[0].values, pairs[0].clusters
    truths, rated = np.stack([pair.truth for pair in pairs]), np.stack([pair.rated for pair in pairs])
    matching = measure.name == "accuracy"
    tally = _match_tally(truths, rated, clusters) if matching else pair_tally(truths, rated, len(values), clusters)
    values = (0, 1) if matching else values
    size, statistic = len(values), measure.statistic(values)
    return tally, lambda sums: statistic(sums.reshape(*sums.shape[:-1], len(pairs), size, size))


def mean_known(found: Array) -> Array:
    """The mean over the last axis of what is defined; NaN where nothing is."""
    known = ~np.isnan(found)
    count = known.sum(-1)
    return np.where(count > 0, np.where(known, found, 0.0).sum(-1) / np.maximum(count, 1), np.nan)


def _match_tally(truths: Codes, rated: Codes, clusters: npt.NDArray[np.int32] | None) -> Tally:
    """Equal or not is all that accuracy asks: 0 for who is believed, and 0 or 1 for who is measured."""
    both = (truths >= 0) & (rated >= 0)
    zeros, differs = np.where(both, 0, ABSENT), np.where(both, truths != rated, ABSENT)
    tally = pair_tally(zeros, differs, 2, clusters)
    dissent = np.column_stack([np.zeros(len(both)), both.mean(1), np.zeros((len(both), 2))])
    return replace(tally, dissent=dissent.reshape(-1))


def _bounds(pair: Pair, measure: Measure, resampling: Resampling) -> Bounds:
    if measure.is_share:
        return _share_bounds(pair, measure, resampling)
    bounds = table_bounds([pair], measure, resampling)
    return bounds if bounds.value is not None else bounds._replace(reason=_why_undefined(pair, measure))


def _share_bounds(pair: Pair, measure: Measure, resampling: Resampling) -> Bounds:
    hits = pair.truth == pair.rated
    among = np.ones(len(hits), bool)
    if measure.positive is not None:
        chosen = pair.values.index(measure.positive)
        among = (pair.rated if measure.name == "precision" else pair.truth) == chosen
    if not among.any():
        return Bounds(None, None, None, "wilson", _why_undefined(pair, measure))
    clusters = None if pair.clusters is None else cast("Any", pair.clusters[among])
    made = proportion(hits[among], level=resampling.level, clusters=clusters)
    return Bounds(made.value, made.lower, made.upper, made.method, made.reason)


def _why_undefined(pair: Pair, measure: Measure) -> str:
    if measure.name == "precision":
        return f"nothing was rated {shortened(measure.positive)}, so there is no share of it that is right"
    if measure.name == "recall":
        return f"nothing is {shortened(measure.positive)} in truth, so there is no share of it that was found"
    if measure.name == "f1":
        return f"neither rater answered {shortened(measure.positive)}"
    who = [
        name for name, row in (("the first rater", pair.truth), ("the second rater", pair.rated)) if np.ptp(row) == 0
    ]
    return f"{' and '.join(who)} always gave one answer, so {measure.name} is not defined"


def _seen_and_expected(pair: Pair, measure: Measure) -> tuple[float | None, float | None]:
    if measure.name not in {"kappa", "ac1", "ac2"}:
        return None, None
    size = len(pair.values)
    table = np.bincount(pair.truth * size + pair.rated, minlength=size * size).reshape(size, size) / len(pair.truth)
    weights = tables.agreement_weights(size, measure.weights or "identity")
    observed = float((table * weights).sum())
    if measure.name == "kappa":
        return observed, float(table.sum(1) @ weights @ table.sum(0))
    rates = (table.sum(0) + table.sum(1)) / 2.0
    chance = weights.sum() / max(size * (size - 1), 1) * float((rates * (1.0 - rates)).sum())
    return observed, float(chance)


def _numbers(codes: Codes, values: tuple[Value, ...]) -> Array:
    """The numbers that codes stand for, the places of labels; NaN where there is none."""
    labels = isinstance(values[0], str)
    numbers = np.asarray(range(len(values)) if labels else values, float)
    return np.where(codes >= 0, numbers[codes], np.nan)


def _one_hot(cells: npt.NDArray[Any], width: int) -> Array:
    """Cells of many pairs (pairs x patterns) as what a pattern adds to the tables, side by side."""
    pairs, patterns = cells.shape
    features = np.zeros((patterns, pairs, width + 1))
    features[np.arange(patterns)[:, None], np.arange(pairs)[None, :], cells.T] = 1.0
    return features[:, :, :width].reshape(patterns, pairs * width)


def _dissent(sums: Array, size: int, items: int) -> Array | None:
    """What an item adds on which the raters disagree, each by the own rates; None if nobody could disagree."""
    found = sums.reshape(-1, size, size)
    apart = found.sum(2)[:, :, None] * found.sum(1)[:, None, :] * (1.0 - np.eye(size))
    mass = apart.sum((1, 2))
    if not mass.all():
        return None
    share = found.sum((1, 2)) / items
    return (apart / mass[:, None, None] * share[:, None, None]).reshape(-1)


def _groups(clusters: npt.NDArray[np.int32] | None, items: int, most: int) -> tuple[npt.NDArray[np.intp], str]:
    """Items in clusters, or in as many groups as there is room for; more clusters are merged by chance."""
    most = max(most, 20)
    if clusters is None:
        order = np.arange(items) % min(items, most)
        return np.random.default_rng(0).permutation(order), "group of items"
    _, codes = np.unique(clusters, return_inverse=True)
    count = int(codes.max()) + 1
    if count > most:
        codes = np.random.default_rng(0).permutation(np.arange(count) % most)[codes]
    return codes, "cluster"
