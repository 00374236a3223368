r"""Verdicts: the levels given to the statements of an answer become one score, as strictly as the temperature says.

The score is the generalised power mean :math:`M_p(x) = (\frac{1}{n} \sum x_i^p)^{1/p}`, whose power p follows from the
temperature: a low one leans to the worst statement, 0.5 is the arithmetic mean, a high one leans to the best.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, UnknownNameError, WrongTypeError, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "TEMPERATURE_KNOTS",
    "VERDICT_WEIGHTS",
    "power_for_temperature",
    "power_mean",
    "score_agg",
    "score_agg_many",
    "verdict_weight",
]

VERDICT_WEIGHTS: Mapping[str, float] = {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}
"""What each verdict on a statement weighs."""

TEMPERATURE_KNOTS: tuple[tuple[float, float], ...] = ((0.1, -8.0), (0.3, -2.5), (0.5, 1.0), (0.7, 4.6), (1.0, 12.25))
"""Temperature and the power that it stands for; between two knots the power is linear."""

_NEAR_ZERO = 1e-3


def verdict_weight(verdict: str) -> float:
    """The weight of a verdict word; an unknown word is an error, not a zero.

    >>> verdict_weight("mostly")
    0.9
    """
    weight = VERDICT_WEIGHTS.get(verdict)
    if weight is None:
        raise UnknownNameError.among("verdict", verdict, VERDICT_WEIGHTS)
    return weight


def power_for_temperature(temperature: float) -> float:
    """The power p for a temperature: linear between the knots, constant outside them.

    >>> [round(power_for_temperature(t), 4) for t in (0.0, 0.1, 0.4, 0.5, 1.0, 2.0)]
    [-8.0, -8.0, -0.75, 1.0, 12.25, 12.25]
    """
    if isinstance(temperature, str) or not math.isfinite(temperature):
        raise InputError(f"temperature is a finite number (0.1 strict to 1.0 lenient), not {shortened(temperature)}")
    places = [knot for knot, _ in TEMPERATURE_KNOTS]
    right = bisect_left(places, temperature)
    if right == 0:
        return TEMPERATURE_KNOTS[0][1]
    if right == len(places):
        return TEMPERATURE_KNOTS[-1][1]
    (t0, p0), (t1, p1) = TEMPERATURE_KNOTS[right - 1], TEMPERATURE_KNOTS[right]
    return p1 if temperature == t1 else p0 + (p1 - p0) * (temperature - t0) / (t1 - t0)


def power_mean(values: Sequence[float], p: float) -> float:
    """The power mean of positive `values`: exact at p = 1, the geometric mean at p = 0, stable for any p.

    >>> power_mean([1.0, 4.0], 0.0), power_mean([1.0, 4.0], 1.0), power_mean([1.0, 4.0], -1.0)
    (2.0, 2.5, 1.6)
    """
    if not values:
        raise InputError("the power mean of no values does not exist")
    if min(values) <= 0.0 or not all(map(math.isfinite, values)) or math.isnan(p):
        raise InputError("the power mean is of positive finite values, at a power that is a number")
    low, high = min(values), max(values)
    if math.isinf(p):
        return high if p > 0 else low
    if p == 1.0:
        mean = math.fsum(values) / len(values)
    elif abs(p) < _NEAR_ZERO:
        mean = _mean_near_zero(values, p)
    else:
        # Divided by the value that dominates, every term lies in [0, 1]: no power can overflow.
        base = high if p > 0 else low
        mean = base * (math.fsum((value / base) ** p for value in values) / len(values)) ** (1.0 / p)
    return min(max(mean, low), high)


def score_agg(
    scores: list[float], temperature: float = 0.5, penalty: float = 0.1, eps_for_neg_p: float = 1e-9
) -> float:
    """The score of an answer whose statements have these verdict weights, between 0 and 1.

    Zeros count as `eps_for_neg_p`, and the result is multiplied by `1 - penalty * (share of zeros)`. Without zeros,
    temperature 0.5 is the exact mean. Raises ValueError for no scores at all: nothing to check is no bad score.

    >>> score_agg([1.0, 0.9, 0.7, 0.3], temperature=0.5)
    0.725
    >>> round(score_agg([1.0, 0.9, 0.7, 0.0], temperature=1.0), 4)
    0.8888
    """
    _check_settings(penalty, eps_for_neg_p)
    weights = _checked_scores(scores)
    mean = power_mean([max(weight, eps_for_neg_p) for weight in weights], power_for_temperature(temperature))
    return float(mean * (1.0 - penalty * weights.count(0.0) / len(weights)))


def score_agg_many(
    score_lists: Sequence[Sequence[float]],
    temperature: float = 0.5,
    penalty: float = 0.1,
    eps_for_neg_p: float = 1e-9,
) -> NDArray[np.float64]:
    """`score_agg` of many lists at once, as an array in their order.

    >>> score_agg_many([[1.0, 0.9, 0.7, 0.3], [1.0]]).round(6).tolist()
    [0.725, 1.0]
    """
    import numpy as np

    _check_settings(penalty, eps_for_neg_p)
    if not len(score_lists):  # an array of rows is a list of lists too
        return np.zeros(0)
    lengths = np.array([len(scores) for scores in score_lists])
    if not lengths.all():
        _checked_scores([], f"list {int(np.argmin(lengths))}")
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    flat = np.concatenate([_array_of(scores, place) for place, scores in enumerate(score_lists)])
    if not ((flat >= 0.0) & (flat <= 1.0)).all():
        bad = int(np.argmax(~((flat >= 0.0) & (flat <= 1.0))))
        which = int(np.searchsorted(starts, bad, side="right")) - 1
        _checked_scores([float(flat[bad])], f"list {which}")
    means = _segment_power_means(np.maximum(flat, eps_for_neg_p), starts, power_for_temperature(temperature))
    zeros = np.add.reduceat(flat == 0.0, starts, dtype=np.int64)
    return means * (1.0 - penalty * zeros / lengths)


def _array_of(scores: Sequence[float], place: int) -> NDArray[np.float64]:
    import numpy as np

    try:
        return np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        return np.asarray(_checked_scores(scores, f"list {place}"), dtype=np.float64)


def _mean_near_zero(values: Sequence[float], p: float) -> float:
    """Around the geometric mean, where the direct formula divides a rounding error by p."""
    logs = [math.log(value) for value in values]
    centre = math.fsum(logs) / len(logs)
    if p == 0.0:
        return math.exp(centre)
    excess = math.fsum(math.expm1(p * (log - centre)) for log in logs) / len(logs)
    return math.exp(centre + math.log1p(excess) / p)


def _segment_power_means(flat: NDArray[np.float64], starts: NDArray[np.int64], p: float) -> NDArray[np.float64]:
    import numpy as np

    lengths = np.diff(np.append(starts, flat.size))
    low, high = np.minimum.reduceat(flat, starts), np.maximum.reduceat(flat, starts)
    if p == 1.0:
        means = np.add.reduceat(flat, starts) / lengths
    elif abs(p) < _NEAR_ZERO:
        logs = np.log(flat)
        centre = np.add.reduceat(logs, starts) / lengths
        excess = np.add.reduceat(np.expm1(p * (logs - np.repeat(centre, lengths))), starts) / lengths
        means = np.exp(centre + (np.log1p(excess) / p if p else 0.0))
    else:
        base = high if p > 0 else low
        powers = (flat / np.repeat(base, lengths)) ** p
        means = base * (np.add.reduceat(powers, starts) / lengths) ** (1.0 / p)
    return np.clip(means, low, high)


def _checked_scores(scores: Iterable[float], what: str = "score_agg") -> list[float]:
    """The scores of any iterable as plain numbers; what is no verdict weight is named by its place."""
    if isinstance(scores, str) or not isinstance(scores, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
        raise WrongTypeError(f"{what} takes a list of verdict weights, not {shortened(scores)}")
    given = list(scores)
    wrong = [f"score {place} is {shortened(one)}" for place, one in enumerate(given) if not _is_weight(one)]
    if wrong:
        words = any(isinstance(one, str) for one in given)
        remedy = " (verdict_weight turns a verdict's word into one)" if words else ""
        raise InputError.gathered(f"{what}, whose scores are verdict weights from 0 to 1{remedy},", wrong)
    if not given:
        raise InputError(f"{what} has no scores: nothing was checked, which is not a score; treat it as not applicable")
    return [float(one) for one in given]


def _is_weight(one: Any) -> bool:
    try:
        return not isinstance(one, str) and bool(0.0 <= one <= 1.0)
    except (ArithmeticError, TypeError, ValueError):
        return False


def _check_settings(penalty: float, eps_for_neg_p: float) -> None:
    if not 0.0 <= penalty <= 1.0:
        raise InputError(f"penalty is a share from 0 to 1, not {penalty}")
    if not 0.0 < eps_for_neg_p < 1.0:
        raise InputError(f"eps_for_neg_p stands for zero and lies between 0 and 1, not at {eps_for_neg_p}")
