"""Statistics of two raters, as functions of their contingency table.

Tables have the shape (..., K, K): the first rater's answers in rows, the second one's in columns. All leading axes are
kept, so ten thousand resampled tables are one call. What a table does not define is NaN here, and becomes a reason
before anyone sees it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = [
    "accuracy_of",
    "agreement_weights",
    "balanced_accuracy_of",
    "class_scores",
    "f1_of",
    "gwet_of",
    "kappa_of",
    "kendall_of",
    "matthews_of",
    "precision_of",
    "recall_of",
    "spearman_of",
]


def agreement_weights(size: int, weights: str) -> Array:
    """How much two answers agree, from 0 to 1, by their places on the scale: "identity", "linear" or "quadratic"."""
    if weights == "identity" or size < 2:
        return np.eye(size)
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / (size - 1)
    return 1.0 - (distance if weights == "linear" else distance**2)


def accuracy_of(tables: Array) -> Array:
    """The share of items on which both gave the same answer."""
    return _ratio(_diagonal(tables).sum(-1), tables.sum((-2, -1)))


def class_scores(tables: Array, beta: tuple[float, float]) -> Array:
    """True positives over (true positives + a * false positives + b * false negatives), class by class."""
    hits = _diagonal(tables)
    false_positives, false_negatives = tables.sum(-2) - hits, tables.sum(-1) - hits
    return _ratio(hits, hits + beta[0] * false_positives + beta[1] * false_negatives)


def precision_of(tables: Array, average: str | int) -> Array:
    """Of the second rater's answers, the share that is right; rows hold the truth."""
    return _averaged(tables, class_scores(tables, (1.0, 0.0)), average)


def recall_of(tables: Array, average: str | int) -> Array:
    """Of the true answers, the share that the second rater found."""
    return _averaged(tables, class_scores(tables, (0.0, 1.0)), average)


def f1_of(tables: Array, average: str | int) -> Array:
    """The harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
    return _averaged(tables, class_scores(tables, (0.5, 0.5)), average)


def balanced_accuracy_of(tables: Array) -> Array:
    """The mean recall of the classes that occur in truth (Brodersen and others 2010)."""
    recalls = class_scores(tables, (0.0, 1.0))
    present = tables.sum(-1) > 0
    return _ratio(np.where(present, recalls, 0.0).sum(-1), present.sum(-1).astype(float))


def matthews_of(tables: Array) -> Array:
    """The correlation of two classifications (Matthews 1975; for many classes Gorodkin 2004)."""
    total = tables.sum((-2, -1))
    rows, columns = tables.sum(-1), tables.sum(-2)
    covariance = _diagonal(tables).sum(-1) * total - (rows * columns).sum(-1)
    spread = (total**2 - (rows**2).sum(-1)) * (total**2 - (columns**2).sum(-1))
    return _ratio(covariance, np.sqrt(np.maximum(spread, 0.0)))


def kappa_of(tables: Array, weights: Array) -> Array:
    """Agreement beyond what the raters' own rates would give by chance (Cohen 1960; weighted, 1968).

    Two constant raters who agree, agree perfectly: 1.0.
    """
    total = tables.sum((-2, -1))
    chance = tables.sum(-1)[..., :, None] * tables.sum(-2)[..., None, :]
    observed = _ratio((tables * (1.0 - weights)).sum((-2, -1)), total)
    expected = _ratio((chance * (1.0 - weights)).sum((-2, -1)), total**2)
    return _beyond_chance(observed, expected)


def gwet_of(tables: Array, weights: Array) -> Array:
    """Gwet's AC1 (2008), or AC2 with weights: chance is by the mean rate of each answer, so rare answers do no harm."""
    total = tables.sum((-2, -1))
    size = tables.shape[-1]
    rates = _ratio(tables.sum(-1) + tables.sum(-2), 2.0 * total[..., None])
    disagreed = _ratio((tables * (1.0 - weights)).sum((-2, -1)), total)
    if size < 2:
        return np.where(np.isnan(disagreed), np.nan, 1.0)
    chance = weights.sum() / (size * (size - 1)) * (rates * (1.0 - rates)).sum(-1)
    return _beyond_chance(disagreed, 1.0 - chance)


def spearman_of(tables: Array) -> Array:
    """The correlation of mid-ranks (Spearman 1904)."""
    rows, columns = tables.sum(-1), tables.sum(-2)
    first = np.cumsum(rows, -1) - rows / 2.0
    second = np.cumsum(columns, -1) - columns / 2.0
    total = tables.sum((-2, -1))
    mean = total / 2.0
    first, second = first - mean[..., None], second - mean[..., None]
    covariance = np.einsum("...ij,...i,...j->...", tables, first, second)
    spread = (rows * first**2).sum(-1) * (columns * second**2).sum(-1)
    return _ratio(covariance, np.sqrt(spread))


def kendall_of(tables: Array) -> Array:
    """Kendall's tau-b (1945): concordant less discordant pairs, over the pairs that are not tied."""
    total = tables.sum((-2, -1))
    both = _strictly_after(_strictly_after(tables, -1), -2)
    crossed = np.flip(_strictly_after(_strictly_after(np.flip(tables, -1), -1), -2), -1)
    difference = (tables * (both - crossed)).sum((-2, -1))
    pairs = total**2
    rows, columns = (tables.sum(-1) ** 2).sum(-1), (tables.sum(-2) ** 2).sum(-1)
    return _ratio(2.0 * difference, np.sqrt(np.maximum((pairs - rows) * (pairs - columns), 0.0)))


def _strictly_after(tables: Array, axis: int) -> Array:
    """At each place, the sum of all that stands after it."""
    return np.flip(np.cumsum(np.flip(tables, axis), axis), axis) - tables


def _averaged(tables: Array, scores: Array, average: str | int) -> Array:
    """One class, or the mean of all that occur; there, a class that was never answered, or never true, scores 0."""
    if isinstance(average, int):
        return scores[..., average]
    if average == "micro":
        return accuracy_of(tables)
    truth, answers = tables.sum(-1), tables.sum(-2)
    weights = truth if average == "weighted" else ((truth + answers) > 0).astype(float)
    return _ratio((np.nan_to_num(scores) * weights).sum(-1), weights.sum(-1))


def _beyond_chance(disagreed: Array, by_chance: Array) -> Array:
    """1 - observed / expected disagreement; where neither disagreement was seen nor could be, agreement is perfect."""
    perfect = (disagreed == 0) & (by_chance == 0)
    return np.where(perfect, 1.0, 1.0 - _ratio(disagreed, by_chance))


def _diagonal(tables: Array) -> Array:
    return np.diagonal(tables, axis1=-2, axis2=-1)


def _ratio(above: Array, below: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)
