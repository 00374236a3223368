"""Paired tests: whether a difference between two systems on the same items is more than chance.

All are two-sided. A p-value is never 0 and never NaN: differences that are all zero, and no differences at all, give 1.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import bdtr, ndtr, stdtr

from calibrant.errors import InputError
from calibrant.stats.arrays import cluster_codes, count, finite_values
from calibrant.stats.intervals import mean_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["TestResult", "equivalence_t", "mcnemar", "paired_t", "wilcoxon"]

EXACT_RANKS = 200
"""Up to so many differences the distribution of the rank sum is counted out; it takes n³/2 additions."""

EXACT_COINS = 1000
"""Up to so many fair coins their chances are counted in whole numbers, in well under a millisecond."""

ROUNDING = 1e-12
"""Differences whose spread is below this share of their size are equal but for rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestResult:
    """What a test found: the p-value, the statistic (None where it is not defined), the method and the pairs used."""

    __test__: ClassVar[bool] = False  # pytest takes it for a test by its name

    p_value: float
    statistic: float | None
    method: str
    n: int

    def __post_init__(self) -> None:
        if not 0.0 <= self.p_value <= 1.0:
            raise InputError(f"a p-value lies between 0 and 1, not at {self.p_value}")
        object.__setattr__(self, "p_value", max(float(self.p_value), sys.float_info.min))

    def to_json(self) -> dict[str, Any]:
        """The result as JSON has it."""
        return {"p_value": self.p_value, "statistic": self.statistic, "method": self.method, "n": self.n}


def paired_t(differences: npt.ArrayLike, *, clusters: Sequence[Any] | None = None) -> TestResult:
    """The paired t-test of differences between two systems on the same items; cluster-robust with `clusters`.

    Equal differences other than 0 have no variance to divide by. Their p is that of the sign-flip test, 2 / 2^n: only
    two of the 2^n ways to choose signs are as extreme. So it is for two clusters, and 1 for one pair.

    >>> result = paired_t([0.1, 0.3, -0.1, 0.2, 0.1])
    >>> f"t = {result.statistic:.3f}, p = {result.p_value:.4f}"
    't = 1.809, p = 0.1447'
    >>> paired_t([0.5] * 6).p_value
    0.03125
    """
    values = finite_values(differences, "differences")
    codes = np.arange(len(values)) if clusters is None else cluster_codes(clusters, len(values))
    groups = int(codes.max()) + 1 if len(values) else 0
    method = "paired t" if clusters is None else "paired t, clustered"
    if not values.any():
        return TestResult(p_value=1.0, statistic=0.0, method=method, n=len(values))
    if groups < 2:
        return TestResult(p_value=1.0, statistic=None, method=method, n=len(values))
    mean, error, freedom = mean_error(values, clusters)
    if error <= ROUNDING * float(np.abs(values).max()):
        p = 1.0 if abs(mean) <= ROUNDING * float(np.abs(values).max()) else 2.0 ** (1 - groups)
        return TestResult(p_value=p, statistic=None, method=f"{method} (equal differences: 2 / 2^n)", n=len(values))
    statistic = mean / error
    p = 2 * float(stdtr(freedom, -abs(statistic)))
    return TestResult(p_value=p, statistic=statistic, method=method, n=len(values))


def equivalence_t(differences: npt.ArrayLike, margin: float, *, clusters: Sequence[Any] | None = None) -> TestResult:
    """Two one-sided t-tests (TOST, Schuirmann 1987): a small p says that the mean lies within `margin` of zero.

    Too few pairs to say (fewer than two) give 1.

    >>> round(equivalence_t([0.01, -0.02, 0.0, 0.01, -0.01], 0.02).p_value, 4)
    0.0183
    """
    if not margin > 0:
        raise InputError(f"margin is how far from zero still counts as equal, and must be above 0, not {margin}")
    values = finite_values(differences, "differences")
    method = "two one-sided t" if clusters is None else "two one-sided t, clustered"
    codes = np.arange(len(values)) if clusters is None else cluster_codes(clusters, len(values))
    groups = int(codes.max()) + 1 if len(values) else 0
    if groups < 2:
        return TestResult(p_value=1.0, statistic=None, method=method, n=len(values))
    mean, error, freedom = mean_error(values, clusters)
    room = margin - abs(mean)
    if error <= ROUNDING * max(float(np.abs(values).max()), margin):
        p = 0.5**groups if room > 0 else 1.0
        return TestResult(p_value=p, statistic=None, method=f"{method} (equal differences: 1 / 2^n)", n=len(values))
    return TestResult(
        p_value=float(stdtr(freedom, -room / error)), statistic=room / error, method=method, n=len(values)
    )


def mcnemar(only_a: int, only_b: int, *, mid_p: bool = False) -> TestResult:
    """The exact test of two pass rates, from the items that only A and that only B passed (McNemar 1947).

    `mid_p` counts half of what was observed: less conservative, close to its level (Fagerland, Lydersen, Laake 2013).
    The statistic is the smaller count, n the number of discordant items.

    >>> mcnemar(1, 9).p_value
    0.021484375
    >>> mcnemar(1, 9, mid_p=True).p_value
    0.01171875
    """
    only_a, only_b = count(only_a, "only_a"), count(only_b, "only_b")
    few, n = min(only_a, only_b), only_a + only_b
    p = at_most_heads(few, n) + at_most_heads(few - 1 if mid_p else few, n) if n else 1.0
    return TestResult(p_value=min(1.0, p), statistic=float(few), method="mcnemar mid-p" if mid_p else "mcnemar", n=n)


def at_most_heads(few: int, n: int) -> float:
    """The chance of at most `few` heads among `n` fair coins: exact up to the last bit for up to 1000 of them.

    >>> at_most_heads(1, 9), at_most_heads(-1, 9)
    (0.01953125, 0.0)
    """
    if few < 0:
        return 0.0
    if n > EXACT_COINS:
        return float(bdtr(few, n, 0.5))
    ways = term = 1
    for heads in range(few):
        term = term * (n - heads) // (heads + 1)
        ways += term
    return ways / 2**n


def wilcoxon(differences: npt.ArrayLike) -> TestResult:
    """Wilcoxon's signed-rank test (1945); differences of zero are left out, ties share their mean rank.

    Exact, also with ties, for up to 200 differences; then by the normal distribution, corrected for ties and
    continuity. The statistic is the rank sum of the positive differences, n counts the differences that are not zero.

    >>> wilcoxon([1.1, 2.3, -0.4, 3.0, 2.2, 1.9]).p_value
    0.0625
    """
    values = finite_values(differences, "differences")
    values = values[values != 0]
    if not len(values):
        return TestResult(p_value=1.0, statistic=0.0, method="wilcoxon", n=0)
    doubled = _doubled_ranks(np.abs(values))
    positive = int(doubled[values > 0].sum())
    exact = len(values) <= EXACT_RANKS
    p = _rank_sum_exact(doubled, positive) if exact else _rank_sum_normal(doubled, positive)
    method = "wilcoxon, exact" if exact else "wilcoxon, normal"
    return TestResult(p_value=p, statistic=positive / 2, method=method, n=len(values))


def _doubled_ranks(sizes: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Twice the mean ranks, which are whole numbers."""
    _, codes, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (2 * last - counts + 1)[codes]


def _rank_sum_exact(doubled: npt.NDArray[np.int64], positive: int) -> float:
    """The chance, over all choices of signs, of a rank sum as far from its middle."""
    total = int(doubled.sum())
    chances = np.zeros(total + 1)
    chances[0] = 1.0
    for rank in doubled:
        halved = chances / 2
        chances = halved.copy()
        chances[rank:] += halved[:-rank]
    return min(1.0, 2 * float(chances[: min(positive, total - positive) + 1].sum()))


def _rank_sum_normal(doubled: npt.NDArray[np.int64], positive: int) -> float:
    ranks = doubled / 2
    distance = abs(positive / 2 - float(ranks.sum()) / 2)
    deviation = math.sqrt(float(np.dot(ranks, ranks)) / 4)
    return min(1.0, 2 * float(ndtr(-max(0.0, distance - 0.5) / deviation)))
