"""When it may be said that one of two is better: the one rule for runs, rankings, retrievers and judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calibrant.estimates import Estimate

__all__ = ["doubt_of", "is_settled"]


def is_settled(difference: Estimate, p_value: float | None) -> bool:
    """Whether a difference is settled: its p-value is below 1 - level, and its interval leaves out 0.

    Test and interval come by different ways and may part for few items or equal differences; then nothing is settled.
    Nor is it without a p-value or without an interval.

    >>> from calibrant.stats import mean, paired_t
    >>> is_settled(mean([0.5] * 12, scale=(-1, 1)), paired_t([0.5] * 12).p_value)
    True
    >>> is_settled(mean([0.2] * 9, scale=(-1, 1)), paired_t([0.2] * 9).p_value)
    False
    """
    return _rejects(difference, p_value) and _leaves_out_zero(difference)


def doubt_of(difference: Estimate, p_value: float | None) -> str:
    """What keeps a difference from being settled although its p-value is small; empty where test and interval agree.

    >>> from calibrant.stats import mean, paired_t
    >>> doubt_of(mean([0.2] * 9, scale=(-1, 1)), paired_t([0.2] * 9).p_value)
    'p is below 0.05, but the interval holds 0'
    """
    if not _rejects(difference, p_value) or _leaves_out_zero(difference):
        return ""
    why = "there is no interval" if difference.lower is None or difference.upper is None else "the interval holds 0"
    return f"p is below {_alpha(difference):g}, but {why}"


def _rejects(difference: Estimate, p_value: float | None) -> bool:
    return p_value is not None and p_value < _alpha(difference)


def _alpha(difference: Estimate) -> float:
    return round(1.0 - difference.level, 12)  # 1 - 0.95 is 0.05 but for rounding


def _leaves_out_zero(difference: Estimate) -> bool:
    if difference.value is None or difference.lower is None or difference.upper is None:
        return False
    return not difference.lower <= 0.0 <= difference.upper
