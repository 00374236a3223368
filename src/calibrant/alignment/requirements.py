"""Conditions on a score report, such as "kappa.lower >= 0.6": what a build asks before it trusts a judge."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from calibrant.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from calibrant.alignment.score_report import ScoreReport
    from calibrant.alignment.scoring_result import BaseScoringResult

__all__ = ["Answer", "Requirement", "answered"]

Verdict = Literal["PASS", "FAIL", "INCONCLUSIVE"]
PATTERN = re.compile(
    r"\s*(?:(?P<quote>['\"])(?P<quoted>.+?)(?P=quote)|(?P<name>[^\s.<>=]+))(?:\.(?P<field>\w+))?\s*(?P<sign>>=|<=|>|<)\s*(?P<limit>-?(?:\d+\.?\d*|\.\d+))\s*"
)
SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
FIELDS = ("value", "lower", "upper", "n", "coverage")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A condition on a score, its bound, its n or its coverage, which every judge has to meet.

    The name is that of a score ("kappa"), of a scorer ("cohens_kappa"), or of one metric alone ("accuracy_safe"); by
    the first two it holds in every metric that has such a score. A name of several words, or with a dot, is quoted:
    "'tone, v1.2'.lower >= 0.6".

    >>> Requirement.parsed("kappa.lower >= 0.6")
    Requirement(text='kappa.lower >= 0.6', name='kappa', field='lower', sign='>=', limit=0.6)
    """

    text: str
    name: str
    field: str
    sign: str
    limit: float

    @classmethod
    def parsed(cls, text: str) -> Requirement:
        """The requirement that `text` says: a score, a dot and a field if it is not the value, a sign, a number."""
        match = PATTERN.fullmatch(text)
        if match is None:
            raise InputError(
                f"a requirement is written like 'kappa.lower >= 0.6', not {text!r}; a name of several words, or with a "
                "dot, stands in quotes of its own: \"'tone, v1.2'.lower >= 0.6\""
            )
        name, field = match["quoted"] or match["name"], match["field"] or "value"
        if field not in FIELDS:
            raise UnknownNameError.among(f"field of {name}", field, FIELDS)
        return cls(text=text, name=name, field=field, sign=match["sign"], limit=float(match["limit"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one judge's result in one metric says to a requirement; without a number it is INCONCLUSIVE."""

    requirement: str
    judge: str
    metric: str
    answer: Verdict
    actual: float | None
    reason: str = ""

    def __str__(self) -> str:
        found = self.reason if self.actual is None else f"{self.actual:.3f}"
        return f"{self.answer}: {self.requirement} ({self.judge}, {self.metric}: {found})"

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON has it."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}


def answered(report: ScoreReport, requirements: Iterable[str]) -> list[Answer]:
    """The answers to every requirement, of every judge in every metric that has the score."""
    return [answer for text in requirements for answer in _answers(report, Requirement.parsed(text))]


def _answers(report: ScoreReport, wanted: Requirement) -> list[Answer]:
    found = [
        _answer(wanted, result, metric.name)
        for metric in report.metrics
        for result in metric.results
        if wanted.name in {*result.scores, result.scorer_name, metric.name}
    ]
    if not found:
        known = {name for metric in report.metrics for result in metric.results for name in result.scores}
        known |= {metric.name for metric in report.metrics}
        raise UnknownNameError.among("score", wanted.name, known)
    return found


def _answer(wanted: Requirement, result: BaseScoringResult, metric: str) -> Answer:
    name = wanted.name if wanted.name in result.scores else next(iter(result.scores))
    actual = _actual(result, name, wanted.field)
    verdict: Verdict = "INCONCLUSIVE"
    if actual is not None:
        verdict = "PASS" if SIGNS[wanted.sign](actual, wanted.limit) else "FAIL"
    return Answer(
        requirement=wanted.text,
        judge=result.judge_id,
        metric=metric,
        answer=verdict,
        actual=actual,
        reason=result.reason or (f"{name} has no {wanted.field}" if actual is None else ""),
    )


def _actual(result: BaseScoringResult, name: str, field: str) -> float | None:
    if field == "value":
        value = result.scores[name]
        return result.metadata.get(f"{name}_at_epsilon") if isinstance(value, dict) else value
    estimate = result.estimate(name)
    if estimate is None:
        return None
    return estimate.coverage.share if field == "coverage" else getattr(estimate, field)
