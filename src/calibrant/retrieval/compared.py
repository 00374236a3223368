"""What a comparison of rankings found: every pair of systems on every measure, and how it was decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from calibrant.errors import InputError, UnknownNameError
from calibrant.retrieval.comparison_table import comparison_text
from calibrant.retrieval.differences import PairedDifference, checked_level
from calibrant.stats import benjamini_hochberg, doubt_of, holm, is_settled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.retrieval.measured import MeasureResult
    from calibrant.stats import Interval

__all__ = ["CORRECTIONS", "Deciding", "RankingComparison", "SystemPair"]

CORRECTIONS = {"bh": benjamini_hochberg, "holm": holm}
"""How p-values are corrected for being many."""

TESTS = ("sign-flip", "t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """How a comparison decides: by which test, corrected how, at which level, with how many resamples from which seed.

    `correction` is over all pairs of systems on one measure: "holm" bounds the chance of any false difference, "bh"
    (Benjamini and Hochberg) the expected share of false ones among those found.
    """

    test: Literal["t", "sign-flip"] = "t"
    correction: Literal["holm", "bh"] = "holm"
    alpha: float = 0.05
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        checked_level(self.alpha)
        if self.correction not in CORRECTIONS:
            raise UnknownNameError.among("correction", self.correction, CORRECTIONS)
        if self.test not in TESTS:
            raise UnknownNameError.among("test", self.test, TESTS)
        if self.resamples < 1:
            raise InputError(f"resamples is a number of at least 1, not {self.resamples}")

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON has them."""
        return {
            "test": self.test,
            "correction": self.correction,
            "alpha": self.alpha,
            "resamples": self.resamples,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPair:
    """Systems `a` and `b` on one measure; differences are B - A, and a win is a query on which B is better.

    `p_corrected` is the p-value of the deciding test after correction over all pairs; `is_significant` says that it is
    below alpha. `better` is more: it names a system only where the interval leaves out 0 as well. `bootstrap` is the
    percentile interval of the difference. `unjudged` is the range that the difference could have, were all unjudged
    documents of the one relevant or all of the other, and shared by none; None for measures of which that is not known.
    """

    measure: str
    a: str
    b: str
    compared: PairedDifference
    bootstrap: Interval | None
    p_corrected: float
    is_significant: bool
    unjudged: tuple[float, float] | None

    @property
    def better(self) -> str | None:
        """The better system; None unless that is settled by the corrected test and by the t interval."""
        difference = self.compared.difference
        if not is_settled(difference, self.p_corrected):
            return None
        return self.b if (difference.value or 0.0) > 0 else self.a

    @property
    def doubt(self) -> str:
        """Why it is not settled although p is below alpha; empty where test and interval agree."""
        return doubt_of(self.compared.difference, self.p_corrected)

    @property
    def depends_on_unjudged(self) -> bool:
        """Whether unjudged documents could make the difference vanish or change its sign."""
        value = self.compared.difference.value
        return bool(value) and self.unjudged is not None and self.unjudged[0] <= 0 <= self.unjudged[1]

    def to_json(self) -> dict[str, Any]:
        """The pair as JSON has it."""
        return {
            "measure": self.measure,
            "a": self.a,
            "b": self.b,
            **self.compared.to_json(),
            "bootstrap": None if self.bootstrap is None else list(self.bootstrap),
            "p_corrected": self.p_corrected,
            "is_significant": self.is_significant,
            "better": self.better,
            "doubt": self.doubt,
            "unjudged": None if self.unjudged is None else list(self.unjudged),
            "depends_on_unjudged": self.depends_on_unjudged,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class RankingComparison:
    """All pairs of systems on every measure.

    `results` has what each system measured to, by its name, and `means` for each measure the mean of every system over
    the `queries` that all have. `letters` has for each measure the letters of every system: two that share one cannot
    be told apart. `warnings` say what the numbers do not.
    """

    results: Mapping[str, MeasureResult]
    queries: tuple[str, ...]
    pairs: tuple[SystemPair, ...]
    means: Mapping[str, Mapping[str, float | None]]
    letters: Mapping[str, Mapping[str, str]]
    deciding: Deciding
    warnings: tuple[str, ...]

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, in the order in which they were given."""
        return tuple(self.results)

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures."""
        return next(iter(self.results.values())).measures

    def pair(self, a: str, b: str, measure: str | None = None) -> SystemPair:
        """The comparison of `a` and `b` on `measure` (the first by default), in the order in which they were given."""
        if measure is None:
            measure = self.measures[0]
        if measure not in self.measures:
            raise UnknownNameError.among("measure of this comparison", measure, self.measures)
        for name in (a, b):
            if name not in self.results:
                raise UnknownNameError.among("system", name, self.results)
        if a == b:
            raise InputError(f"a pair is of two systems, not of {a!r} and itself")
        return next(one for one in self.pairs if one.measure == measure and {one.a, one.b} == {a, b})

    def __str__(self) -> str:
        return comparison_text(self)

    def to_json(self, *, per_query: bool = False) -> dict[str, Any]:
        """The comparison as `calibrant.retrieval/1` has it, under `comparison` beside the rankings."""
        first = next(iter(self.results.values()))
        return {
            "schema": "calibrant.retrieval/1",
            "qrels": first.qrels,
            "queries": len(self.queries),
            "conventions": first.conventions.to_json(),
            "rankings": [
                {**result.to_json(per_query=per_query), "name": name} for name, result in self.results.items()
            ],
            "comparison": {
                **self.deciding.to_json(),
                "means": {name: dict(means) for name, means in self.means.items()},
                "pairs": [pair.to_json() for pair in self.pairs],
                "letters": {name: dict(letters) for name, letters in self.letters.items()},
            },
            "warnings": list(self.warnings),
        }
