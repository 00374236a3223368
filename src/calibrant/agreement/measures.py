"""The statistics that compare one rater with another, as values: a name and what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from calibrant.agreement import tables
from calibrant.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

    from calibrant.ratings import Value

    Array = npt.NDArray[np.float64]

__all__ = ["AVERAGES", "MEASURES", "WEIGHTS", "Measure"]

MEASURES = (
    "accuracy",
    "precision",
    "recall",
    "f1",
    "balanced_accuracy",
    "matthews",
    "kappa",
    "ac1",
    "ac2",
    "spearman",
    "kendall",
)
"""The names of the statistics that compare two raters."""

AVERAGES = ("macro", "micro", "weighted")
WEIGHTS = ("linear", "quadratic")
CLASS_MEASURES = frozenset({"precision", "recall", "f1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A statistic that compares two raters.

    `weights` ("linear", "quadratic") make near answers count in part, for kappa and ac2. Precision, recall and f1 are
    of the answer `positive`, or the `average` over all answers ("macro", "micro", "weighted"), in which one that was
    never given, or never true, scores 0. `order` lists the answers from low to high, for all that ranks them.

    >>> Measure(name="kappa", weights="linear").needs_order
    True
    """

    name: str
    weights: Literal["linear", "quadratic"] | None = None
    average: str = "macro"
    positive: Value | None = None
    order: Sequence[Value] | None = None

    def __post_init__(self) -> None:
        if self.name not in MEASURES:
            raise UnknownNameError.among("measure", self.name, MEASURES)
        if self.weights is not None and self.weights not in WEIGHTS:
            raise UnknownNameError.among("weights", self.weights, WEIGHTS)
        if self.average not in AVERAGES:
            raise UnknownNameError.among("average", self.average, AVERAGES)
        if self.weights is not None and self.name not in {"kappa", "ac2"}:
            raise InputError(f"{self.name} has no weights; kappa and ac2 have")
        if self.name == "ac2" and self.weights is None:
            object.__setattr__(self, "weights", "quadratic")

    @property
    def needs_order(self) -> bool:
        """Whether the answers have to be in order for it."""
        return self.weights is not None or self.name in {"spearman", "kendall"}

    @property
    def lowest(self) -> float:
        """The least that it can be; the most is 1."""
        return 0.0 if self.name in {"accuracy", "balanced_accuracy", *CLASS_MEASURES} else -1.0

    @property
    def is_share(self) -> bool:
        """Whether it is a share of items, whose interval is a proportion's."""
        micro = self.average == "micro" and self.positive is None
        of_one = self.name in {"precision", "recall"} and self.positive is not None
        return self.name == "accuracy" or of_one or (self.name in CLASS_MEASURES and micro)

    def statistic(self, values: Sequence[Value]) -> Callable[[Array], Array]:
        """The function from contingency tables of `values` to the number; NaN where it is not defined."""
        weights = tables.agreement_weights(len(values), self.weights or "identity")
        average = self.average if self.positive is None else values.index(self.positive)
        functions: dict[str, Callable[[Array], Array]] = {
            "accuracy": tables.accuracy_of,
            "precision": lambda found: tables.precision_of(found, average),
            "recall": lambda found: tables.recall_of(found, average),
            "f1": lambda found: tables.f1_of(found, average),
            "balanced_accuracy": tables.balanced_accuracy_of,
            "matthews": tables.matthews_of,
            "kappa": lambda found: tables.kappa_of(found, weights),
            "ac1": lambda found: tables.gwet_of(found, weights),
            "ac2": lambda found: tables.gwet_of(found, weights),
            "spearman": tables.spearman_of,
            "kendall": tables.kendall_of,
        }
        return functions[self.name]


def measure_of(measure: str | Measure) -> Measure:
    """The measure of that name, or the measure itself."""
    return measure if isinstance(measure, Measure) else Measure(name=measure)
