"""Power: how many items a question needs, and what a number of items can answer.

Each question comes three times: the sample size for a power, the power of a sample size, and the smallest difference
that a sample size detects with a power. Tests have two sides unless `side` says "one".
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import gammainccinv, ndtr, ndtri, stdtrit

from calibrant.errors import InputError, UnknownNameError
from calibrant.stats.arrays import count, probability

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "detectable_paired_mean",
    "detectable_paired_proportions",
    "detectable_proportion",
    "more_items",
    "power_paired_mean",
    "power_paired_proportions",
    "power_proportion",
    "sample_size_paired_mean",
    "sample_size_paired_proportions",
    "sample_size_proportion",
    "sample_size_width",
]

Sides = Literal["one", "two"]
MOST = 1 << 40
"""More items than anybody has."""


def sample_size_proportion(
    rate: float, reference: float, *, power: float = 0.8, alpha: float = 0.05, side: Sides = "two"
) -> int:
    """The items needed to tell a pass rate of `rate` from `reference`, by the score test.

    >>> sample_size_proportion(0.9, 0.85)
    363
    """
    _apart(rate, reference)
    probability(power, "power")
    return _smallest(lambda n: power_proportion(n, rate, reference, alpha=alpha, side=side) >= power)


def power_proportion(n: int, rate: float, reference: float, *, alpha: float = 0.05, side: Sides = "two") -> float:
    """The chance that `n` items tell a pass rate of `rate` from `reference`, by the score test.

    >>> round(power_proportion(400, 0.9, 0.85), 3)
    0.841
    """
    _apart(_rate(rate), probability(reference, "reference"))
    n = count(n, "n", least=1)
    z = _critical(alpha, side)
    room = abs(rate - reference) * math.sqrt(n) - z * math.sqrt(reference * (1 - reference))
    spread = math.sqrt(rate * (1 - rate))
    return float(ndtr(room / spread)) if spread > 0 else float(room >= 0)


def detectable_proportion(
    n: int, reference: float, *, power: float = 0.8, alpha: float = 0.05, side: Sides = "two"
) -> float | None:
    """The smallest distance below `reference` that `n` items detect with this power; None when none is large enough.

    >>> round(detectable_proportion(400, 0.85), 3)
    0.052
    """
    probability(reference, "reference")
    return _smallest_difference(
        lambda gap: power_proportion(n, reference - gap, reference, alpha=alpha, side=side) >= power, reference
    )


def sample_size_paired_proportions(
    only_a: float, only_b: float, *, power: float = 0.8, alpha: float = 0.05, side: Sides = "two"
) -> int:
    """The items needed to tell two pass rates on the same items apart, by McNemar's test (Connor 1987).

    `only_a` and `only_b` are the shares of items that only A and that only B passes.

    >>> sample_size_paired_proportions(0.10, 0.05)
    469
    """
    _discordant(only_a, only_b)
    probability(power, "power")
    return _smallest(lambda n: power_paired_proportions(n, only_a, only_b, alpha=alpha, side=side) >= power)


def power_paired_proportions(
    n: int, only_a: float, only_b: float, *, alpha: float = 0.05, side: Sides = "two"
) -> float:
    """The chance that `n` items tell two pass rates on the same items apart, by McNemar's test (Connor 1987).

    >>> round(power_paired_proportions(400, 0.10, 0.05), 3)
    0.735
    """
    _discordant(only_a, only_b)
    n = count(n, "n", least=1)
    discordant, gap = only_a + only_b, abs(only_a - only_b)
    spread = math.sqrt(max(discordant - gap * gap, 0.0))
    room = gap * math.sqrt(n) - _critical(alpha, side) * math.sqrt(discordant)
    return float(ndtr(room / spread)) if spread > 0 else float(room >= 0)


def detectable_paired_proportions(
    n: int, discordant: float, *, power: float = 0.8, alpha: float = 0.05, side: Sides = "two"
) -> float | None:
    """The smallest difference of two pass rates that `n` items detect when a share `discordant` of them tells A from B.

    None when even the largest, `discordant` itself, would not be detected.

    >>> round(detectable_paired_proportions(400, 0.15), 4)
    0.0541
    """
    probability(discordant, "discordant")

    def found(gap: float) -> bool:
        a, b = (discordant + gap) / 2, (discordant - gap) / 2
        return power_paired_proportions(n, a, max(b, 0.0), alpha=alpha, side=side) >= power

    return _smallest_difference(found, discordant)


def sample_size_paired_mean(
    sd: float, difference: float, *, power: float = 0.8, alpha: float = 0.05, side: Sides = "two"
) -> int:
    """The items needed to find a mean `difference`, when differences have the deviation `sd`, by the paired t-test.

    >>> sample_size_paired_mean(1, 0.5)
    34
    """
    _apart(difference, 0.0)
    probability(power, "power")
    ratio = (_critical(alpha, side) + float(ndtri(power))) * sd / abs(difference)
    return _smallest(
        lambda n: power_paired_mean(n, sd, difference, alpha=alpha, side=side) >= power, least=2, guess=ratio * ratio
    )


def power_paired_mean(n: int, sd: float, difference: float, *, alpha: float = 0.05, side: Sides = "two") -> float:
    """The chance that the paired t-test of `n` items finds a mean `difference` of deviation `sd`, by the noncentral t.

    >>> round(power_paired_mean(34, 1, 0.5), 4)
    0.8078
    """
    n = count(n, "n", least=2)
    if not sd > 0:
        raise InputError(f"sd is the standard deviation of the differences and must be above 0, not {sd}")
    shift = abs(difference) / sd * math.sqrt(n)
    critical = float(stdtrit(n - 1, 1 - _tail(alpha, side)))
    return _above(n - 1, (shift, -shift) if side == "two" else (shift,), critical)


def _above(freedom: int, shifts: tuple[float, ...], critical: float) -> float:
    """The chance that a noncentral t lies above `critical`: that of a normal, averaged over the deviation under it.

    Of several shifts it is the sum of their chances.

    By the trapezoid rule over the normal score of the deviation, which is exact to eleven digits. (`nctdtr` of
    scipy.special is NaN where shift and critical value nearly meet, at a power of one half.)
    """
    scores = np.linspace(-8.5, 8.5, 171)
    deviations = np.sqrt(gammainccinv(freedom / 2, ndtr(-scores)) * 2 / freedom)
    weights = np.exp(-scores * scores / 2)
    chances = [float(np.dot(weights, ndtr(shift - critical * deviations)) / weights.sum()) for shift in shifts]
    return sum(chances)


def detectable_paired_mean(n: int, sd: float, *, power: float = 0.8, alpha: float = 0.05, side: Sides = "two") -> float:
    """The smallest mean difference that the paired t-test of `n` items of deviation `sd` finds with this power.

    >>> round(detectable_paired_mean(34, 1), 3)
    0.495
    """
    count(n, "n", least=2)
    probability(power, "power")
    most = sd
    while power_paired_mean(n, sd, most, alpha=alpha, side=side) < power:
        most *= 2
    return (
        _smallest_difference(lambda gap: power_paired_mean(n, sd, gap, alpha=alpha, side=side) >= power, most) or most
    )


def sample_size_width(rate: float, half_width: float, *, level: float = 0.95) -> int:
    """The items needed for a Wilson interval of at most plus or minus `half_width` around a pass rate near `rate`.

    >>> sample_size_width(0.8, 0.03)
    682
    """
    probability(half_width, "half_width")
    _rate(rate)
    z = float(ndtri((1 + probability(level, "level")) / 2))

    def half(n: int) -> float:
        return z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n)) / (1 + z * z / n)

    return _smallest(lambda n: half(n) <= half_width)


def more_items(
    value: float, n: int, threshold: float, *, sd: float | None = None, level: float = 0.95, power: float = 0.5
) -> int | None:
    """About how many more items would settle a one-sided gate at `threshold`, if `value` of `n` items is the truth.

    For a pass rate by Wilson's bound; for a mean give the `sd` of its values. At power 0.5 the bound is expected to lie
    just on the threshold, so that the gate is settled half of the time: for planning ask for 0.8. Is 0 when `n` is
    enough, and None when `value` is the threshold: no number of items would settle that.

    >>> more_items(0.8111, 397, 0.80)
    3117
    >>> more_items(0.8111, 397, 0.80, power=0.8)
    7516
    """
    n = count(n, "n", least=1)
    gap = abs(value - threshold)
    if gap == 0 or not math.isfinite(gap):
        return None
    spread, spread_at_threshold = (sd, sd) if sd is not None else (_deviation(value), _deviation(threshold))
    reach = float(ndtri(probability(level, "level"))) * spread_at_threshold
    reach += float(ndtri(probability(power, "power"))) * spread
    return max(0, math.ceil((max(reach, 0.0) / gap) ** 2) - n)


def _deviation(rate: float) -> float:
    if not 0 <= rate <= 1:
        raise InputError(f"a pass rate lies between 0 and 1, not at {rate}; for a mean pass the sd of its values")
    return math.sqrt(rate * (1 - rate))


def _critical(alpha: float, side: Sides) -> float:
    return float(-ndtri(_tail(alpha, side)))


def _tail(alpha: float, side: Sides) -> float:
    if side not in {"one", "two"}:
        raise UnknownNameError.among("side", side, ("one", "two"))
    return probability(alpha, "alpha") / (2 if side == "two" else 1)


def _rate(rate: float) -> float:
    if not 0 <= rate <= 1:
        raise InputError(f"rate lies between 0 and 1, not at {rate}")
    return rate


def _apart(value: float, reference: float) -> None:
    if value == reference:
        raise InputError(f"no number of items tells {value:g} from {reference:g}")


def _discordant(only_a: float, only_b: float) -> None:
    if min(only_a, only_b) < 0 or only_a + only_b > 1:
        raise InputError(f"only_a and only_b are shares of the items, not {only_a} and {only_b}")
    _apart(only_a, only_b)


def _smallest(enough: Callable[[int], bool], *, least: int = 1, guess: float = 0.0) -> int:
    """The smallest n that is enough, by strides that double from the `guess` on, and halving."""
    low, high = _around(enough, int(min(max(guess, least), MOST)), least)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _around(enough: Callable[[int], bool], start: int, least: int) -> tuple[int, int]:
    """A number that is not enough (or one less than the least that there is), and one that is."""
    stride = 1
    if enough(start):
        high = start
        while (low := high - stride) >= least and enough(low):
            high, stride = low, 2 * stride
        return max(low, least - 1), high
    low = start
    while not enough(high := min(low + stride, MOST)):
        if high == MOST:
            raise InputError("no number of items that exists would do: the difference is too small")
        low, stride = high, 2 * stride
    return low, high


def _smallest_difference(found: Callable[[float], bool], most: float) -> float | None:
    if not found(most):
        return None
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if middle and found(middle) else (middle, high)
    return high
