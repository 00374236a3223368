"""What the statistics of agreement publish: an estimate with what is needed to read it beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from calibrant.estimates import Estimate
from calibrant.stats.arrays import count, probability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.ratings import Value

__all__ = ["Coefficient", "Resampling"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How intervals are made: their level, and the number and the seed of the resamples where there are any."""

    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        probability(self.level, "level")
        count(self.resamples, "resamples", least=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient(Estimate):
    """An estimate of agreement, with the share of every answer beside it: a kappa cannot be read without it.

    `name` is the statistic, `prevalence` the share of each value among the ratings it rests on. `observed` and
    `expected` are the agreement that was seen and the agreement by chance, where the statistic compares them.
    `ties` counts the items whose majority was tied, where there was a vote, and `abstained` those left out for it.
    """

    name: str = ""
    prevalence: Mapping[Value, float] = field(default_factory=dict["Value", float])
    observed: float | None = None
    expected: float | None = None
    ties: int = 0
    abstained: int = 0

    def __post_init__(self) -> None:
        Estimate.__post_init__(self)  # a class with slots is made anew, so super() would look in the old one
        object.__setattr__(self, "prevalence", MappingProxyType(dict(self.prevalence)))

    def __hash__(self) -> int:
        return hash((self.name, self.value, self.lower, self.upper, self.coverage))

    def __reduce__(self) -> tuple[Any, ...]:
        given = {name: getattr(self, name) for name in _FIELDS}
        return _coefficient, ({**given, "prevalence": dict(self.prevalence)},)

    @property
    def interpretation(self) -> str | None:
        """The words of Landis and Koch (1977) for the value: poor below 0, then slight, fair, ... almost perfect.

        >>> from calibrant.estimates import Coverage
        >>> Coefficient(value=0.72, method="jackknife", coverage=Coverage(rated=9), name="kappa").interpretation
        'substantial'
        """
        return None if self.value is None else interpreted(self.value)

    def to_json(self) -> dict[str, Any]:
        """The estimate as JSON has it, and what stands beside it; the values of its prevalence become texts."""
        return {
            **Estimate.to_json(self),
            "name": self.name,
            "prevalence": {value_text(value): share for value, share in self.prevalence.items()},
            "observed": self.observed,
            "expected": self.expected,
            "ties": self.ties,
            "abstained": self.abstained,
        }


_FIELDS = tuple(Coefficient.__dataclass_fields__)


def interpreted(value: float) -> str:
    """Landis and Koch's word for a chance-corrected agreement; limits belong to the lower class.

    >>> interpreted(0.4), interpreted(-0.1)
    ('fair', 'poor')
    """
    limits = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))
    if value < 0:
        return "poor"
    return next((word for limit, word in limits if value <= limit), "almost perfect")


def on_scale(estimate: Estimate, lowest: float) -> Estimate:
    """The estimate with value and bounds between `lowest` and 1, which a symmetric interval of few items leaves.

    >>> from calibrant.estimates import Coverage
    >>> print(on_scale(Estimate(value=0.9, lower=0.6, upper=1.2, method="t", coverage=Coverage(rated=3)), 0.0))
    0.900 [0.600, 1.000] n=3
    """
    placed = {
        name: None if one is None else min(max(one, lowest), 1.0)
        for name, one in (("value", estimate.value), ("lower", estimate.lower), ("upper", estimate.upper))
    }
    return replace(estimate, **placed)


def value_text(value: Value) -> str:
    """A value as a text, as tables and JSON keys have it; a set of labels in braces, a number with all its digits.

    >>> value_text(frozenset({"b", "a"})), value_text(True), value_text("yes"), value_text(12345678.0)
    ('{a, b}', 'true', 'yes', '12345678')
    """
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(value)) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(float(value))


def _coefficient(given: Mapping[str, Any]) -> Coefficient:
    return Coefficient(**given)
