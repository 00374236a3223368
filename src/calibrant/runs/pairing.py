"""The same items rated twice: which were rated in both runs, by how much they differ, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from calibrant.estimates import Coverage, Estimate
from calibrant.runs.tally import STATUSES
from calibrant.stats import mean, paired_difference_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from calibrant.runs.tally import Outcomes
    from calibrant.stats.arrays import Side

    Floats = NDArray[np.float64]

__all__ = ["Pairs", "Quantity", "difference", "pairs_of"]

Quantity = Literal["pass_rate", "score"]

ABSENT = STATUSES.index("not_applicable")
RATED = STATUSES.index("rated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The items of two runs on one metric: `a` and `b` hold the values of those rated in both, in order.

    `lost_a` and `lost_b` are the items that could not be rated in the one and in the other (failed, skipped, not
    reached, or not there); `worst_case` is the mean of B - A had each missing value been the one least, and most, in
    favour of B. Items to which the question did not apply are left out.
    """

    quantity: Quantity
    items: Sequence[str]
    a: Floats
    b: Floats
    clusters: Sequence[str] | None
    lost_a: tuple[str, ...]
    lost_b: tuple[str, ...]
    worst_case: tuple[float, float] | None

    @property
    def differences(self) -> Floats:
        """B - A of each item that was rated in both."""
        return self.b - self.a

    @property
    def lost(self) -> int:
        """How many items were not rated in one of the runs, or in both."""
        return len({*self.lost_a, *self.lost_b})

    @property
    def is_binary(self) -> bool:
        """Whether every value is 0 or 1, so that pass rate and score are the same."""
        return bool(np.isin(self.a, (0.0, 1.0)).all() and np.isin(self.b, (0.0, 1.0)).all())


def pairs_of(a: Outcomes, b: Outcomes, quantity: Quantity) -> Pairs:
    """The two runs' values of `quantity` on the items that they share."""
    places_b = {item: place for place, item in enumerate(b.items)}
    place_a = [place for place, item in enumerate(a.items) if item in places_b]
    shared = [a.items[place] for place in place_a]
    place_b = [places_b[item] for item in shared]
    status_a, status_b = a.statuses[place_a], b.statuses[place_b]
    applies = (status_a != ABSENT) & (status_b != ABSENT)
    values_a, values_b = _values(a, quantity)[place_a], _values(b, quantity)[place_b]
    has_a, has_b = np.isfinite(values_a) & applies, np.isfinite(values_b) & applies
    both: list[int] = np.flatnonzero(has_a & has_b).tolist()
    return Pairs(
        quantity=quantity,
        items=[shared[place] for place in both],
        a=values_a[both],
        b=values_b[both],
        clusters=None if a.clusters is None else [a.clusters[place_a[place]] for place in both],
        lost_a=tuple(shared[place] for place in np.flatnonzero(applies & ~has_a).tolist()),
        lost_b=tuple(shared[place] for place in np.flatnonzero(applies & ~has_b).tolist()),
        worst_case=_worst_case(np.where(has_a, values_a, np.nan)[applies], np.where(has_b, values_b, np.nan)[applies]),
    )


def difference(pairs: Pairs, *, level: float = 0.95, side: Side = "two") -> Estimate:
    """The estimate of B - A: of zeros and ones by the counts of items where only one has a 1, else by the paired mean.

    With clusters it is cluster-robust. Its coverage counts pairs; a pair with a missing value is a failed one.
    """
    coverage = Coverage(rated=len(pairs.items), failed=pairs.lost)
    if not len(pairs.items):
        return Estimate.missing("no item was rated in both runs", method="paired", coverage=coverage)
    if pairs.clusters is None and (pairs.quantity == "pass_rate" or pairs.is_binary):
        return _of_counts(pairs, coverage, level, side)
    made = mean(
        pairs.differences, level=level, coverage=coverage, clusters=pairs.clusters, scale=(-1.0, 1.0), side=side
    )
    return Estimate(
        value=made.value,
        lower=made.lower,
        upper=made.upper,
        level=level,
        method=f"paired {made.method}",
        coverage=coverage,
        worst_case=pairs.worst_case,
        reason=made.reason,
    )


def _of_counts(pairs: Pairs, coverage: Coverage, level: float, side: Side) -> Estimate:
    only_a, only_b = only_one(pairs)
    n = len(pairs.items)
    bounds = paired_difference_interval(only_b, only_a, n, level=level, side=side)
    return Estimate(
        value=(only_b - only_a) / n,
        lower=None if side == "upper" else bounds.lower,
        upper=None if side == "lower" else bounds.upper,
        level=level,
        method="bonett-price",
        coverage=coverage,
        worst_case=pairs.worst_case,
    )


def only_one(pairs: Pairs) -> tuple[int, int]:
    """How many items only A, and only B, has higher: for passes, those that only one of them passed."""
    differences = pairs.differences
    return int((differences < 0).sum()), int((differences > 0).sum())


def _values(outcomes: Outcomes, quantity: Quantity) -> Floats:
    """Each item's value, NaN where there is none."""
    values = outcomes.scores
    if quantity == "pass_rate":
        values = np.where(outcomes.passed < 0, np.nan, outcomes.passed.astype(np.float64))
    return np.where(outcomes.statuses == RATED, values, np.nan)


def _worst_case(a: Floats, b: Floats) -> tuple[float, float] | None:
    """The mean of B - A with missing values at the end of the scale that is worst, and best, for B."""
    if not len(a) or not np.isfinite(np.concatenate([a, b])).any():
        return None
    low = np.where(np.isnan(b), 0.0, b) - np.where(np.isnan(a), 1.0, a)
    high = np.where(np.isnan(b), 1.0, b) - np.where(np.isnan(a), 0.0, a)
    return float(low.mean()), float(high.mean())
