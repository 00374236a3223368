"""What measuring a ranking gives: a value a query, an estimate a measure, and by which conventions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from calibrant.errors import UnknownNameError
from calibrant.estimates import Coverage, Estimate
from calibrant.retrieval.notation import Measure
from calibrant.retrieval.residuals import residual_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from calibrant.retrieval.conventions import Conventions
    from calibrant.retrieval.evidence import Evidence
    from calibrant.retrieval.notation import UserMeasure

__all__ = ["MeasureResult"]


@dataclass(frozen=True, eq=False, kw_only=True)
class MeasureResult:
    """A ranking's measures: `values` has an array a measure, in the order of `queries`.

    `queries_without_results` are those of the qrels that the ranking does not have; by the conventions they count 0
    or are left out. `result["nDCG@10"]` is the estimate of the mean.
    """

    name: str
    path: str | None
    qrels: str
    queries: tuple[str, ...]
    values: Mapping[str, NDArray[np.float64]]
    queries_without_results: tuple[str, ...]
    conventions: Conventions
    warnings: tuple[str, ...] = ()
    kept: NDArray[np.int64] = field(repr=False)
    evidence: Evidence = field(repr=False)
    asked: Mapping[str, Measure | UserMeasure] = field(repr=False)

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, in the order they were asked for."""
        return tuple(self.values)

    @cached_property
    def estimates(self) -> Mapping[str, Estimate]:
        """The mean of each measure over the queries, with its interval."""
        from calibrant.stats import mean

        skipped = len(self.queries_without_results) if self.conventions.queries == "intersection" else 0
        coverage = Coverage(rated=len(self.queries), skipped=skipped)
        return {
            name: mean(values, coverage=coverage, scale=_scale(self.asked[name], values))
            for name, values in self.values.items()
        }

    def __getitem__(self, measure: str) -> Estimate:
        return self.estimates[self._known(measure)]

    def of(self, measure: str) -> NDArray[np.float64]:
        """The values of a measure, in the order of `queries`."""
        return self.values[self._known(measure)]

    def residual(self, measure: str) -> NDArray[np.float64]:
        """How much higher each query's value could be, had every unjudged document that was retrieved been relevant.

        For RBP this is its residual (Moffat and Zobel 2008), which also counts the ranks below the last document.
        """
        name = self._known(measure)
        return residual_values(self.evidence, self.asked[name])[self.kept]

    @cached_property
    def residuals(self) -> Mapping[str, float | None]:
        """The mean residual of each RBP that was asked for; None when there are no queries."""
        asked = [name for name, one in self.asked.items() if isinstance(one, Measure) and one.family.name == "RBP"]
        return {name: float(self.residual(name).mean()) if self.queries else None for name in asked}

    @property
    def per_query(self) -> dict[str, dict[str, float]]:
        """The values by query and measure."""
        columns = [values.tolist() for values in self.values.values()]
        return {
            query: dict(zip(self.values, row, strict=True))
            for query, row in zip(self.queries, zip(*columns, strict=True), strict=True)
        }

    def to_json(self, *, per_query: bool = False) -> dict[str, Any]:
        """The result as an entry of `rankings` in `calibrant.retrieval/1`."""
        entry: dict[str, Any] = {
            "name": self.name,
            "path": self.path,
            "queries_without_results": list(self.queries_without_results),
            "measures": {name: estimate.to_json() for name, estimate in self.estimates.items()},
        }
        if self.residuals:
            entry["residuals"] = dict(self.residuals)
        if per_query:
            entry["per_query"] = self.per_query
        return entry

    def _known(self, measure: str) -> str:
        if measure in self.values:
            return measure
        try:
            text = str(Measure.parse(measure))
        except ValueError:
            text = measure
        if text not in self.values:
            raise UnknownNameError.among("measure of this result", measure, self.values)
        return text


def _scale(measure: Measure | UserMeasure, values: NDArray[np.float64]) -> tuple[float, float] | None:
    """0 to 1 for the measures of this package; unknown for a user's own, and where rounding went a digit beyond."""
    is_within = bool(len(values)) and values.min() >= 0.0 and values.max() <= 1.0
    return (0.0, 1.0) if isinstance(measure, Measure) and is_within else None
