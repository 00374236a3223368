"""The alternative annotator test: whether a judge may stand in for a person (Calderon, Reichart and Dror 2025)."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.agreement.cube import RatingCube
from calibrant.agreement.published import Resampling
from calibrant.agreement.replacement_arithmetic import PASS_MARK, break_even, p_values, winning_rates
from calibrant.agreement.replacement_result import (
    AltTestResult,
    AltTestSettings,
    AnnotatorTest,
    Stability,
    epsilon_key,
)
from calibrant.agreement.replacement_study import Study, study_of
from calibrant.agreement.uncertainty import Tally, replicates, share_bounds_of
from calibrant.estimates import Estimate
from calibrant.stats import benjamini_hochberg, benjamini_yekutieli, holm

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

__all__ = ["alt_test"]

EPSILONS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
"""The margins at which the winning rate is always given."""

STABILITY_RESAMPLES = 2_000
DRAWS = 5_000_000


def alt_test(
    ratings: Any,
    judge: str,
    *,
    humans: Iterable[str] | None = None,
    settings: AltTestSettings | None = None,
) -> AltTestResult:
    """Whether `judge` agrees with the people as well as one of them does, for each of `humans` (all other raters).

    Leaves out one person at a time, and asks on how many items the judge agrees with the rest at least as well as that
    person: a one-sided t-test per person, with the Benjamini-Yekutieli procedure over people. `ratings` is a
    RatingCube, or anything that `RatingCube.of` takes. Too little data gives a result that says so, and no exception.

    >>> right = {str(item): "yes" if item % 3 else "no" for item in range(60)}
    >>> wrong = {item: "no" for item in right}
    >>> people = {"ann": right, "bob": right, "cem": {**right, **dict.fromkeys(["1", "2", "4"], "no")}}
    >>> print(
    ...     alt_test({**people, "judge": right}, "judge").outcome, alt_test({**people, "judge": wrong}, "judge").outcome
    ... )
    passed failed
    """
    cube = RatingCube.of(ratings)
    settings = settings or AltTestSettings()
    people = cube.others(judge, humans)
    study = study_of(cube, judge, people, settings)
    if study.reason:
        return _not_tested(judge, settings, study)
    return _tested(judge, settings, study)


def _tested(judge: str, settings: AltTestSettings, study: Study) -> AltTestResult:
    counts = _by_annotator(study.tally.sums())
    rates = _winning_rates(counts, settings)
    passed = (rates[epsilon_key(settings.epsilon)] or 0.0) >= PASS_MARK
    return AltTestResult(
        judge=judge,
        outcome="passed" if passed else "failed",
        reason="",
        settings=settings,
        scoring=study.scoring,
        items=study.items,
        winning_rate=MappingProxyType(rates),
        advantage_probability=_advantage(study, counts, settings),
        annotators=_annotators(study.tested, counts, settings),
        dropped_items=MappingProxyType(study.dropped_items),
        dropped_annotators=MappingProxyType(study.dropped_annotators),
        break_even_epsilon=break_even(counts, settings.q, multiplicative=settings.multiplicative),
        stability=_stability(study.tally, settings, passed),
        warnings=study.warnings,
    )


def _not_tested(judge: str, settings: AltTestSettings, study: Study) -> AltTestResult:
    return AltTestResult(
        judge=judge,
        outcome="not_tested",
        reason=study.reason,
        settings=settings,
        scoring=study.scoring,
        items=study.items,
        winning_rate=MappingProxyType({epsilon_key(epsilon): None for epsilon in _grid(settings)}),
        advantage_probability=Estimate.missing(study.reason, method="alt-test", coverage=study.coverage),
        annotators=(),
        dropped_items=MappingProxyType(study.dropped_items),
        dropped_annotators=MappingProxyType(study.dropped_annotators),
        break_even_epsilon=None,
        stability=None,
        warnings=study.warnings,
    )


def _grid(settings: AltTestSettings) -> list[float]:
    known = {epsilon_key(epsilon) for epsilon in EPSILONS}
    return sorted(EPSILONS if epsilon_key(settings.epsilon) in known else [*EPSILONS, settings.epsilon])


def _winning_rates(counts: Array, settings: AltTestSettings) -> dict[str, float | None]:
    return {
        epsilon_key(epsilon): float(winning_rates(counts, epsilon, settings.q, multiplicative=settings.multiplicative))
        for epsilon in _grid(settings)
    }


def _annotators(names: tuple[str, ...], counts: Array, settings: AltTestSettings) -> tuple[AnnotatorTest, ...]:
    p = p_values(counts, settings.epsilon, multiplicative=settings.multiplicative)
    adjusted = benjamini_yekutieli(p)
    hochberg, bonferroni = benjamini_hochberg(p), holm(p)
    return tuple(
        AnnotatorTest(
            annotator=name,
            n=int(counts[row, 0]),
            judge_advantage=float(counts[row, 1] / counts[row, 0]),
            human_advantage=float(counts[row, 2] / counts[row, 0]),
            p=float(p[row]),
            p_by=float(adjusted[row]),
            p_bh=float(hochberg[row]),
            p_holm=float(bonferroni[row]),
            judge_wins=bool(adjusted[row] <= settings.q),
        )
        for row, name in enumerate(names)
    )


def _advantage(study: Study, counts: Array, settings: AltTestSettings) -> Estimate:
    """The mean over annotators of the share of items on which the judge did at least as well."""
    bare = counts.copy()
    bare[:, 1:] = 0.0
    dissent = (bare / study.items).reshape(-1)

    def advantage(sums: Array) -> Array:
        found = _by_annotator(sums)
        return (found[..., 1] / np.maximum(found[..., 0], 1.0)).mean(-1)

    tally = Tally(
        features=study.tally.features,
        counts=study.tally.counts,
        items=study.items,
        unit=study.tally.unit,
        dissent=dissent,
    )
    bounds = share_bounds_of(tally, advantage, settings.resampling)
    return Estimate(**bounds._asdict(), level=settings.resampling.level, coverage=study.coverage)


def _stability(tally: Tally, settings: AltTestSettings, passed: bool) -> Stability:  # noqa: FBT001 - the outcome itself
    resamples = max(200, min(STABILITY_RESAMPLES, settings.resampling.resamples, DRAWS // len(tally.counts)))
    drawn = Resampling(resamples=resamples, seed=settings.resampling.seed)

    def outcome(sums: Array) -> Array:
        rates = winning_rates(_by_annotator(sums), settings.epsilon, settings.q, multiplicative=settings.multiplicative)
        return (rates >= PASS_MARK).astype(float)

    return Stability(float((replicates(tally, outcome, drawn) == passed).mean()), resamples)


def _by_annotator(sums: Array) -> Array:
    return sums.reshape(*sums.shape[:-1], -1, 4)
