"""Many tests at once: adjusted p-values, in the order of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from calibrant.errors import InputError
from calibrant.stats.arrays import finite_values

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["benjamini_hochberg", "benjamini_yekutieli", "holm"]


def holm(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The p-values adjusted so that the chance of any false rejection stays below the level (Holm 1979).

    >>> holm([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _p_values(p)
    order = np.argsort(p, kind="stable")
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _in_input_order(raised, order)


def benjamini_hochberg(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The p-values adjusted for the share of false rejections, for tests that are independent or positively dependent.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.04, 0.04]
    """
    return _step_up(_p_values(p), 1.0)


def benjamini_yekutieli(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The p-values adjusted for the share of false rejections, whatever the dependence (Benjamini, Yekutieli 2001).

    >>> benjamini_yekutieli([0.01, 0.04, 0.03]).round(4).tolist()
    [0.055, 0.0733, 0.0733]
    """
    p = _p_values(p)
    return _step_up(p, float(np.sum(1 / np.arange(1, len(p) + 1))))


def _step_up(p: npt.NDArray[np.float64], factor: float) -> npt.NDArray[np.float64]:
    order = np.argsort(p, kind="stable")[::-1]
    raised = p[order] * (factor * len(p) / np.arange(len(p), 0, -1))
    return _in_input_order(np.minimum.accumulate(raised), order)


def _in_input_order(raised: npt.NDArray[np.float64], order: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    adjusted = np.empty_like(raised)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def _p_values(p: npt.ArrayLike) -> npt.NDArray[np.float64]:
    array = finite_values(p, "p-values")
    wrong = np.flatnonzero((array < 0) | (array > 1))
    if len(wrong):
        raise InputError.gathered("p-values", [f"position {row}: {array[row]:g} is no probability" for row in wrong])
    return array
