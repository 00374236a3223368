"""Two systems on the same queries, measure by measure: how far apart, how sure, and how many queries it would take."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.errors import InputError, shortened
from calibrant.stats import cohens_d, mean, paired_t, sample_size_paired_mean, sign_flip_columns

if TYPE_CHECKING:
    import numpy.typing as npt

    from calibrant.estimates import Coverage, Estimate
    from calibrant.stats import TestResult

__all__ = ["PairedDifference", "checked_level", "paired_differences"]

ROUNDING = 1e-12
"""Values of a query that differ by less are equal but for the order of their sums."""

POWER = 0.8
"""The chance of finding the difference that `needed` is worked out for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedDifference:
    """How much better B is than A on one measure, over the queries that both answered.

    `difference` is the mean of B - A with its t interval, `t` the exact paired t-test, `randomisation` the sign-flip
    test, `effect_size` Cohen's d of the differences. `wins`, `losses` and `ties` count queries, a win being B's.
    `needed` is the number of queries that would find this difference, were it the truth, four times in five; None when
    there is no difference, or nothing is known of how differences vary.
    """

    difference: Estimate
    t: TestResult
    randomisation: TestResult
    effect_size: float | None
    needed: int | None
    wins: int
    losses: int
    ties: int

    def to_json(self) -> dict[str, Any]:
        """The comparison as JSON has it."""
        return {
            "difference": self.difference.to_json(),
            "t": self.t.to_json(),
            "randomisation": self.randomisation.to_json(),
            "effect_size": self.effect_size,
            "needed": self.needed,
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
        }


def paired_differences(
    table: npt.ArrayLike, *, coverage: Coverage, alpha: float = 0.05, seed: int = 0, resamples: int = 10_000
) -> list[PairedDifference]:
    """The comparison for each column of `table`, which has B - A of each query in its rows.

    Intervals are at the level 1 - `alpha`, and `needed` is for a test at `alpha`.
    """
    differences = np.atleast_2d(np.asarray(table, dtype=np.float64))
    differences = np.where(np.abs(differences) < ROUNDING, 0.0, differences)
    flips = sign_flip_columns(differences, seed=seed, resamples=resamples)
    return [
        _difference(column, flip, coverage, checked_level(alpha))
        for column, flip in zip(differences.T, flips, strict=True)
    ]


def checked_level(alpha: float) -> float:
    """`alpha` as a significance level, which lies between 0 and 1."""
    if not isinstance(alpha, Real) or not 0.0 < alpha < 1.0:
        raise InputError(f"a significance level lies between 0 and 1 (0.05 is usual), not at {shortened(alpha)}")
    return alpha


def _difference(
    column: npt.NDArray[np.float64], flip: TestResult, coverage: Coverage, alpha: float
) -> PairedDifference:
    wins, losses = int((column > 0).sum()), int((column < 0).sum())
    return PairedDifference(
        difference=mean(column, level=1 - alpha, coverage=coverage, scale=_scale(column)),
        t=paired_t(column),
        randomisation=flip,
        effect_size=cohens_d(column),
        needed=_needed(column, alpha),
        wins=wins,
        losses=losses,
        ties=len(column) - wins - losses,
    )


def _scale(column: npt.NDArray[np.float64]) -> tuple[float, float] | None:
    """Differences of measures in [0, 1] lie in [-1, 1]; those of other measures have no known scale."""
    return (-1.0, 1.0) if not len(column) or np.abs(column).max() <= 1 else None


def _needed(column: npt.NDArray[np.float64], alpha: float) -> int | None:
    if cohens_d(column) in {None, 0.0}:
        return None
    try:
        return sample_size_paired_mean(float(np.std(column, ddof=1)), float(column.mean()), power=POWER, alpha=alpha)
    except InputError:  # so small a difference that no number of queries that exists would find it
        return None
