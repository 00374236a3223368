"""The arithmetic of the alternative annotator test: from counts to p-values to winning rates, for any number of rows.

Counts have the shape (..., annotators, 4): items, items on which the judge did at least as well as the annotator, the
reverse, and both. They are sufficient for every epsilon, so nothing is computed from items twice.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = ["break_even", "p_values", "rejected", "winning_rates"]

PASS_MARK = 0.5
"""The judge passes when it wins against at least half of the annotators (Calderon, Reichart and Dror 2025)."""

SMALLEST = sys.float_info.min
"""A p-value is never 0: what the t distribution cannot tell from 0 is said to be this."""


def p_values(counts: Array, epsilon: float, *, multiplicative: bool = False) -> Array:
    """One-sided p-values of d = E - L against epsilon, or of E - L / (1 - epsilon) against 0.

    Without variance there is no t: the difference is then below the margin, or it is not.
    """
    n, judge, person, both = np.moveaxis(counts, -1, 0)
    factor, margin = (1.0 / (1.0 - epsilon), 0.0) if multiplicative else (1.0, epsilon)
    enough = np.maximum(n, 2.0)
    mean = (person - factor * judge) / enough
    square = (person - 2.0 * factor * both + factor**2 * judge) / enough
    variance = np.maximum(square - mean**2, 0.0) * enough / (enough - 1.0)
    varies = variance > 1e-12
    t = (mean - margin) / np.sqrt(np.where(varies, variance, 1.0) / enough)
    without = np.where(mean < margin - 1e-12, 0.0, 1.0)
    return np.where(n >= 2, np.maximum(np.where(varies, stdtr(enough - 1.0, t), without), SMALLEST), 1.0)


def rejected(p: Array, q: float) -> npt.NDArray[np.bool_]:
    """Which hypotheses fall at the rate `q`, in every row, whatever their dependence (Benjamini and Yekutieli 2001)."""
    size = p.shape[-1]
    ranks = np.arange(1, size + 1)
    limits = ranks / size * q / np.sum(1.0 / ranks)
    below = np.sort(p, -1) <= limits
    last = np.where(below.any(-1), size - np.argmax(below[..., ::-1], -1), 0)
    order = np.argsort(np.argsort(p, -1, kind="stable"), -1, kind="stable")
    return order < last[..., None]


def winning_rates(counts: Array, epsilon: float, q: float, *, multiplicative: bool = False) -> Array:
    """The share of annotators against whom the judge wins."""
    return rejected(p_values(counts, epsilon, multiplicative=multiplicative), q).mean(-1)


def break_even(counts: Array, q: float, *, multiplicative: bool = False) -> float | None:
    """The smallest epsilon at which the judge passes, rounded up to six digits; None if it never does."""
    low, high = 0.0, 1.0 - 1e-9

    def passes(epsilon: float) -> bool:
        return bool(winning_rates(counts, epsilon, q, multiplicative=multiplicative) >= PASS_MARK)

    if passes(low):
        return 0.0
    if not passes(high):
        return None
    while high - low > 5e-7:
        middle = (low + high) / 2.0
        low, high = (low, middle) if passes(middle) else (middle, high)
    return math.ceil(high * 1e6) / 1e6
