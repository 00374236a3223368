"""Effect sizes: how large a difference is, beside whether there is one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from calibrant.errors import InputError
from calibrant.stats.arrays import finite_values

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["cohens_d", "cohens_h"]


def cohens_d(differences: npt.ArrayLike) -> float | None:
    """The mean of paired differences over their standard deviation (Cohen's d_z, 1988); 0 when all are zero.

    None when it is not defined: of fewer than two differences, or of equal ones other than zero.

    >>> round(cohens_d([0.1, 0.3, -0.1, 0.2, 0.1]), 3)
    0.809
    """
    values = finite_values(differences, "differences")
    if len(values) < 2:
        return None
    deviation = float(np.std(values, ddof=1))
    if deviation <= 1e-12 * float(np.abs(values).max()):  # equal but for rounding
        return None if values.any() else 0.0
    return float(np.mean(values)) / deviation


def cohens_h(first: float, second: float) -> float:
    """The difference of two proportions on the arcsine scale (Cohen 1988), where 0.2 is small at any height.

    >>> round(cohens_h(0.9, 0.8), 3)
    0.284
    """
    for share in (first, second):
        if not 0 <= share <= 1:
            raise InputError(f"a proportion lies between 0 and 1, not at {share}")
    return 2 * math.asin(math.sqrt(first)) - 2 * math.asin(math.sqrt(second))
