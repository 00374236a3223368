"""Statistics of many raters, as functions of how often each answer was given to an item.

Each is a function of sums over items (`features`), so resampling items is one matrix product. See `tables` for shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = ["alpha_of", "coincidences", "distances", "fleiss_of", "gwet_many_of", "shares"]


def shares(counts: Array, weights: Array) -> Array:
    """An item's agreement, whether it has two ratings, whether it has one, and its answers' shares; summed later.

    Items with a single rating tell how common answers are, not whether raters agree (Gwet 2014, chapter 2).
    """
    raters = counts.sum(-1)
    paired = raters >= 2
    agreeing = (counts * (counts @ weights - 1.0)).sum(-1)
    agreement = np.where(paired, agreeing / np.where(paired, raters * (raters - 1.0), 1.0), 0.0)
    rates = counts / np.maximum(raters, 1.0)[:, None]
    return np.column_stack([agreement, paired, raters >= 1, rates])


def fleiss_of(sums: Array) -> Array:
    """Fleiss' kappa (1971), for any number of raters an item."""
    observed, rates = _observed_and_rates(sums)
    return _over_chance(observed, (rates**2).sum(-1))


def gwet_many_of(sums: Array, weights: Array) -> Array:
    """Gwet's AC1 (2008), or AC2 with weights, for any number of raters an item."""
    observed, rates = _observed_and_rates(sums)
    size = rates.shape[-1]
    if size < 2:
        return np.where(np.isnan(observed), np.nan, 1.0)
    chance = weights.sum() / (size * (size - 1)) * (rates * (1.0 - rates)).sum(-1)
    return _over_chance(observed, chance)


def coincidences(counts: Array) -> Array:
    """For each item, summed later: how often each pair of answers met (Krippendorff 2011, step B), flattened."""
    raters = counts.sum(-1)
    paired = counts * (raters >= 2)[:, None]
    pairs = paired[:, :, None] * paired[:, None, :] - np.eye(counts.shape[1]) * paired[:, :, None]
    return (pairs / np.maximum(raters - 1.0, 1.0)[:, None, None]).reshape(len(counts), -1)


def alpha_of(sums: Array, metric: str, numbers: Array) -> Array:
    """Krippendorff's alpha: 1 - observed over expected disagreement; `numbers` are the answers' values."""
    size = len(numbers)
    table = sums.reshape(*sums.shape[:-1], size, size)
    marginals = table.sum(-1)
    total = marginals.sum(-1)
    delta = distances(metric, numbers, marginals)
    observed = (table * delta).sum((-2, -1))
    expected = (marginals[..., :, None] * marginals[..., None, :] * delta).sum((-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = 1.0 - (total - 1.0) * observed / expected
    return np.where(expected > 0, value, np.where(total >= 2, 1.0, np.nan))


def distances(metric: str, numbers: Array, marginals: Array) -> Array:
    """The squared distance of two answers: nominal, ordinal (by the ratings between them), interval or ratio."""
    if metric == "nominal":
        return 1.0 - np.eye(len(numbers))
    if metric == "ordinal":
        middle = np.cumsum(marginals, -1) - marginals / 2.0
        return (middle[..., :, None] - middle[..., None, :]) ** 2
    difference = np.subtract.outer(numbers, numbers)
    if metric == "interval":
        return difference**2
    total = np.add.outer(numbers, numbers)
    return (difference / np.where(total == 0, 1.0, total)) ** 2


def _observed_and_rates(sums: Array) -> tuple[Array, Array]:
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan)
        rates = sums[..., 3:] / sums[..., 2:3]
    return observed, rates


def _over_chance(observed: Array, chance: Array) -> Array:
    """(observed - chance) / (1 - chance); raters who all always gave one answer agree perfectly."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (observed - chance) / (1.0 - chance)
    return np.where((chance >= 1.0 - 1e-12) & (observed >= 1.0 - 1e-12), 1.0, value)
