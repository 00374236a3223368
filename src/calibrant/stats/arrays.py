"""Inputs as checked arrays: every wrong record is named before anything is computed."""

from __future__ import annotations

import operator
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from calibrant.errors import InputError, UnknownNameError, WrongTypeError, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


__all__ = ["cluster_codes", "cluster_sums", "count", "finite_values", "probability", "tail_level"]

Side = Literal["two", "lower", "upper"]
SIDES = ("lower", "two", "upper")


def finite_values(values: npt.ArrayLike, what: str = "values", *, columns: bool = False) -> npt.NDArray[np.float64]:
    """`values` as floats in one row, or with `columns` in a table; numbers that are not finite are named."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise WrongTypeError(f"{what} must be numbers, not {shortened(values)}") from None
    if array.ndim != (2 if columns else 1):
        form = "a table of items and columns" if columns else "one row of numbers"
        raise InputError(f"{what} must be {form}, not shape {array.shape}")
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=tuple(range(1, array.ndim))))
    if len(wrong):
        raise InputError.gathered(what, [f"position {row}: {array[row]} is not a finite number" for row in wrong])
    return array


def cluster_codes(clusters: Sequence[Any] | npt.NDArray[Any], n: int) -> npt.NDArray[np.intp]:
    """The cluster of each of `n` items, as numbers from 0 in the order of first appearance.

    >>> cluster_codes(["doc-7", "doc-2", "doc-7"], 3).tolist()
    [0, 1, 0]
    """
    labels: list[Any] = np.asarray(clusters).tolist() if isinstance(clusters, np.ndarray) else list(clusters)
    if len(labels) != n:
        raise InputError(f"clusters must name the cluster of each of the {n} items, but there are {len(labels)}")
    unnamed = [f"item {row} has none" for row, label in enumerate(labels) if label is None or label != label]  # noqa: PLR0124 - true of NaN alone
    if unnamed:
        raise InputError.gathered("clusters", unnamed)
    codes: dict[Any, int] = {}
    return np.fromiter((codes.setdefault(label, len(codes)) for label in labels), np.intp, count=n)


def cluster_sums(values: npt.NDArray[np.float64], codes: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """The sum of the values of each cluster."""
    return np.bincount(codes, weights=values).astype(np.float64, copy=False)  # the stubs say whole numbers


def count(number: int, what: str, *, least: int = 0) -> int:
    """`number` as an int that is at least `least`."""
    try:
        whole = operator.index(number)
    except TypeError:
        if not (isinstance(number, float) and number.is_integer()):
            raise WrongTypeError(f"{what} must be a whole number, not {shortened(number)}") from None
        whole = int(number)
    if whole < least:
        raise InputError(f"{what} must be at least {least}, not {whole}")
    return whole


def probability(number: float, what: str) -> float:
    """`number`, which lies strictly between 0 and 1."""
    if not isinstance(number, Real) or isinstance(number, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass texts
        raise WrongTypeError(f"{what} must be a number between 0 and 1, not {shortened(number)}")
    if not 0.0 < number < 1.0:
        raise InputError(f"{what} must lie between 0 and 1, not {number}")
    return float(number)


def tail_level(level: float, side: Side) -> float:
    """The probability below the upper bound of an interval: (1 + level) / 2 with two sides, `level` with one."""
    if side not in SIDES:
        raise UnknownNameError.among("side", side, SIDES)
    probability(level, "level")
    return (1 + level) / 2 if side == "two" else level
