"""The arithmetic of corrected rates: what a judge says of everything, put right by people's labels on some of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from calibrant.agreement.uncertainty import Bounds
from calibrant.stats.intervals import wilson_of_share

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = ["Judged", "by_rogan_gladen", "by_tuned_prediction"]


class Judged(NamedTuple):
    """The judge's answers (0 or 1), people's (NaN where there is none) and the cluster of each item."""

    judge: Array
    human: Array
    clusters: npt.NDArray[np.int32] | None

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """Where there is a label."""
        return ~np.isnan(self.human)


class Tuned(NamedTuple):
    """PPI++ with its t interval, the same with a score interval for few labels, and what the labels are worth."""

    large: Bounds
    small: Bounds
    worth: float


def by_tuned_prediction(data: Judged, level: float) -> Tuned:
    """PPI++ (Angelopoulos, Duchi and Zrnic 2023): theta = lambda mean(u) + mean(y - lambda f).

    u is the judge on items without a label, f on those with one, y the labels; lambda = cov(y, f) / ((1 + n/N) var).
    The interval for few labels is Wilson's at the number of labels without a judge that would tell as much, whose
    variances are taken with half a label more in each of the four cells, so that a judge who made no mistake yet is not
    taken to make none.
    """
    y, f, u = data.human[data.labelled], data.judge[data.labelled], data.judge[~data.labelled]
    power = _power(y, f, u, 0.0)
    value = power * _mean(u) + float(np.mean(y - power * f))
    error, groups = _error(data, power)
    spread = float(stdtrit(groups - 1, (1.0 + level) / 2.0))
    large = Bounds(value, max(value - spread * error, 0.0), min(value + spread * error, 1.0), "ppi++")
    gain = 1.0 if not len(u) else _variance_ratio(y, f, u)
    plain = _plain_error(y, f, u, power)
    inflation = 1.0 if data.clusters is None or plain == 0 else max((error / plain) ** 2, 1.0)
    worth = len(y) / gain / inflation
    share = min(max(value, 0.0), 1.0)
    lower, upper = wilson_of_share(share, worth, spread)
    return Tuned(_inside(large), Bounds(value, lower, upper, "ppi++, score interval"), worth)


def by_rogan_gladen(data: Judged, level: float) -> Bounds:
    """Rogan and Gladen (1978): theta = (p + spec - 1) / (sens + spec - 1), with the interval of Lee and others (2025).

    p is the judge's rate on items without a label; sensitivity and specificity are the judge's on the labelled ones,
    which may come from elsewhere. With clusters each count is its effective number.
    """
    y, f = data.human[data.labelled], data.judge[data.labelled]
    reason = _obstacle(y, f, data)
    if reason:
        return Bounds(None, None, None, "rogan-gladen", reason)
    rate, n = _share(data, ~data.labelled, 1.0)
    sensitivity, positives = _share(data, data.labelled & (data.human == 1), 1.0)
    specificity, negatives = _share(data, data.labelled & (data.human == 0), 0.0)
    value = (rate + specificity - 1.0) / (sensitivity + specificity - 1.0)
    lower, upper = _lee(level, (rate, n), (sensitivity, positives), (specificity, negatives))
    return _inside(Bounds(min(max(value, 0.0), 1.0), lower, upper, "rogan-gladen"))


def _lee(
    level: float, rate: tuple[float, float], sensitivity: tuple[float, float], specificity: tuple[float, float]
) -> tuple[float, float]:
    """Lee and others, arXiv 2511.21140: adjusted shares as Agresti and Coull's, and a shift for their skew."""
    z = float(ndtri((1.0 + level) / 2.0))
    n, positives, negatives = rate[1] + z * z, sensitivity[1] + 2.0, specificity[1] + 2.0
    p = (rate[0] * rate[1] + z * z / 2.0) / n
    sens = (sensitivity[0] * sensitivity[1] + 1.0) / positives
    spec = (specificity[0] * specificity[1] + 1.0) / negatives
    gap = sens + spec - 1.0
    theta = (p + spec - 1.0) / gap
    of_sens, of_spec = sens * (1.0 - sens) / positives, spec * (1.0 - spec) / negatives
    shift = 2.0 * z * z * (theta * of_sens - (1.0 - theta) * of_spec)
    error = math.sqrt(p * (1.0 - p) / n + (1.0 - theta) ** 2 * of_spec + theta**2 * of_sens) / gap
    return theta + shift - z * error, theta + shift + z * error


def _obstacle(y: Array, f: Array, data: Judged) -> str:
    if data.labelled.all():
        return "every item has a label, so there is no other traffic to correct"
    if not len(y) or np.ptp(y) == 0:
        return "the labels hold only one answer, and the judge's errors on both are needed"
    gap = float(f[y == 1].mean() - f[y == 0].mean())
    smoothed = ((f[y == 1].sum() + 1) / ((y == 1).sum() + 2)) - ((f[y == 0].sum() + 1) / ((y == 0).sum() + 2))
    if min(gap, float(smoothed)) <= 0.05:
        return "on the labelled items the judge does no better than chance, so its rate says nothing"
    return ""


def _share(data: Judged, chosen: npt.NDArray[np.bool_], answer: float) -> tuple[float, float]:
    """The share of the chosen items with that answer of the judge, and the number of items it is worth."""
    hits = (data.judge[chosen] == answer).astype(float)
    share, n = float(hits.mean()), float(len(hits))
    if data.clusters is None or share in {0.0, 1.0}:
        return share, n
    sums, groups = _cluster_sums(hits - share, data.clusters[chosen])
    error = groups / max(groups - 1, 1) * float(np.dot(sums, sums)) / (n * n)
    return share, min(n, share * (1.0 - share) / error) if error > 0 else n


def _power(y: Array, f: Array, u: Array, more: float) -> float:
    """PPI++'s lambda, between 0 and 1, with `more` labels added to each cell of the table."""
    if not len(u):
        return 0.0
    _, _, covariance = _moments(y, f, more)
    n, pooled = len(y), float(np.concatenate([f, u]).mean())
    spread = (1.0 + n / len(u)) * pooled * (1.0 - pooled)
    return min(max(covariance / spread, 0.0), 1.0) if spread > 0 else 0.0


def _moments(y: Array, f: Array, more: float) -> tuple[float, float, float]:
    """The means of labels and of the judge on them, and their covariance, from smoothed counts of the four cells."""
    n = len(y) + 4.0 * more
    mean_y, mean_f = (float(y.sum()) + 2.0 * more) / n, (float(f.sum()) + 2.0 * more) / n
    return mean_y, mean_f, (float((y * f).sum()) + more) / n - mean_y * mean_f


def _variance_ratio(y: Array, f: Array, u: Array) -> float:
    """The variance of PPI++ over that of the labels alone: at most 1, since lambda could be 0."""
    power = _power(y, f, u, 0.5)
    mean_y, mean_f, covariance = _moments(y, f, 0.5)
    of_y, of_f, pooled = mean_y * (1.0 - mean_y), mean_f * (1.0 - mean_f), float(np.concatenate([f, u]).mean())
    rest = power**2 * pooled * (1.0 - pooled) * len(y) / len(u)
    return min((of_y + power**2 * of_f - 2.0 * power * covariance + rest) / of_y, 1.0)


def _plain_error(y: Array, f: Array, u: Array, power: float) -> float:
    of_labels = float(np.var(y - power * f, ddof=1)) / len(y) if len(y) > 1 else 0.0
    of_rest = power**2 * float(np.var(u, ddof=1)) / len(u) if len(u) > 1 else 0.0
    return math.sqrt(of_labels + of_rest)


def _error(data: Judged, power: float) -> tuple[float, int]:
    """The standard error of PPI++ and the number of independent labels or clusters behind it."""
    y, f, u = data.human[data.labelled], data.judge[data.labelled], data.judge[~data.labelled]
    if data.clusters is None:
        return _plain_error(y, f, u, power), max(len(y), 2)
    influence = np.zeros(len(data.judge))
    influence[data.labelled] = (y - power * f - np.mean(y - power * f)) / len(y)
    if len(u):
        influence[~data.labelled] = power * (u - u.mean()) / len(u)
    sums, groups = _cluster_sums(influence, data.clusters)
    labelled = len(np.unique(data.clusters[data.labelled]))
    return math.sqrt(groups / max(groups - 1, 1) * float(np.dot(sums, sums))), max(labelled, 2)


def _cluster_sums(values: Array, clusters: npt.NDArray[np.int32]) -> tuple[Array, int]:
    _, codes = np.unique(clusters, return_inverse=True)
    sums = np.bincount(codes, weights=values).astype(np.float64)
    return sums, len(sums)


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else 0.0


def _inside(bounds: Bounds) -> Bounds:
    """The bounds within 0 and 1, and around the value."""
    value, lower, upper = bounds.value or 0.0, bounds.lower or 0.0, bounds.upper or 0.0
    return bounds._replace(lower=max(min(lower, value), 0.0), upper=min(max(upper, value), 1.0))
