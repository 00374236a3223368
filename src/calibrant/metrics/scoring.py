"""How a judge's answer on a rubric becomes a score: one level, the expected level, or the mean of several."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from calibrant.errors import InputError, JudgeReplyError, ModelCallError, RatingError, UnknownNameError, shortened
from calibrant.metrics.jury import commonest_failure, each
from calibrant.models.invoker import Request
from calibrant.ratings import Failure, MetricScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.metrics.rubric_record import Rubric
    from calibrant.models.invoker import BaseLMInvoker, Reply

__all__ = ["Scoring", "ScoringMode", "level_schema", "requests_for", "scored"]

ScoringMode = Literal["single", "weighted", "sampled"]
"""One level; the expected level under the probabilities of the labels; the mean level of several answers."""

_MODES = ("single", "weighted", "sampled")


@dataclass(frozen=True, slots=True)
class Scoring:
    """The mode, how many `samples` the sampled one takes, and the mode to use where weighted is not supported."""

    mode: ScoringMode = "single"
    samples: int = 5
    fallback: Literal["sampled"] | None = None

    def __post_init__(self) -> None:
        if self.mode not in _MODES:
            raise UnknownNameError.among("scoring", self.mode, _MODES)
        if self.fallback not in (None, "sampled"):
            raise UnknownNameError.among("fallback", self.fallback, ["sampled"])
        if isinstance(self.samples, bool) or not isinstance(self.samples, int) or self.samples < 1:  # pyright: ignore[reportUnnecessaryIsInstance] - settings come from plans
            raise InputError(f"samples is a whole number from 1 on, not {shortened(self.samples)}")

    def to_json(self) -> dict[str, Any]:
        """What of it makes scores differ."""
        sampled = self.mode == "sampled" or self.fallback is not None
        return {"mode": self.mode, "samples": self.samples if sampled else None, "fallback": self.fallback}


class _Level(NamedTuple):
    level: int
    explanation: str
    reply: Reply


def level_schema(rubric: Rubric) -> dict[str, Any]:
    """The JSON that a judge answers with: the explanation, and after it the level."""
    return {
        "type": "object",
        "properties": {
            "explanation": {"type": "string"},
            "score": {"type": "integer", "enum": list(rubric.levels)},
        },
        "required": ["explanation", "score"],
        "additionalProperties": False,
    }


def requests_for(rubric: Rubric, prompt: str, scoring: Scoring) -> list[Request]:
    """What a judge is asked for one vote, in the mode as it was asked for."""
    if scoring.mode == "weighted":
        system = rubric.instructions(labelled=True)
        return [Request.of(prompt, system=system, labels=rubric.labels, logprobs=True)]
    system, schema = rubric.instructions(), level_schema(rubric)
    places = range(scoring.samples if scoring.mode == "sampled" else 1)
    return [Request.of(prompt, system=system, schema=schema, slot=place) for place in places]


async def scored(judge: BaseLMInvoker, rubric: Rubric, prompt: str, scoring: Scoring) -> MetricScore:
    """The judge's score; its details say the mode that was used, and what the score was made of.

    Weighted scoring by a model without log-probabilities is the error `unsupported`, unless there is a fallback.
    """
    requests = requests_for(rubric, prompt, scoring)
    match scoring.mode:
        case "single":
            return await _single(judge, rubric, requests[0])
        case "sampled":
            return await _sampled(judge, rubric, requests)
        case "weighted":
            return await _weighted_or_fallback(judge, rubric, requests[0], scoring)


async def _single(judge: BaseLMInvoker, rubric: Rubric, request: Request) -> MetricScore:
    answer = await _asked(judge, rubric, request)
    details = {"scoring": "single", "reply_mode": answer.reply.mode}
    return MetricScore(rubric.normalised(answer.level), answer.explanation, answer.level, details=details)


async def _sampled(judge: BaseLMInvoker, rubric: Rubric, requests: Sequence[Request]) -> MetricScore:
    async def ask(request: Request) -> _Level | RatingError:
        try:
            return await _asked(judge, rubric, request)
        except RatingError as error:
            return error

    answers = await each(requests, ask, limit=len(requests))
    valid = [one for one in answers if isinstance(one, _Level)]
    failures = [one for one in answers if isinstance(one, RatingError)]
    if len(failures) * 2 >= len(answers):
        # As with a quorum: a minority of the samples does not speak for all of them.
        if len(answers) == 1:
            raise failures[0]
        found = commonest_failure([Failure.of(one) for one in failures], len(answers), "samples")
        raise RatingError(found.message, code=found.code, retryable=found.retryable)
    mean = math.fsum(one.level for one in valid) / len(valid)
    nearest = min(valid, key=lambda one: abs(one.level - mean))
    details = {
        "scoring": "sampled",
        "reply_mode": nearest.reply.mode,
        "sampled_levels": [one.level for one in valid],
        "sample_errors": [str(Failure.of(one)) for one in failures],
    }
    return MetricScore(rubric.normalised(mean), nearest.explanation, mean, details=details)


async def _weighted_or_fallback(
    judge: BaseLMInvoker, rubric: Rubric, request: Request, scoring: Scoring
) -> MetricScore:
    try:
        return await _weighted(judge, rubric, request)
    except ModelCallError as error:
        if error.code != "unsupported" or scoring.fallback is None:
            raise
        prompt = request.messages[-1].content
        sampled = Scoring("sampled", scoring.samples)
        score = await _sampled(judge, rubric, requests_for(rubric, prompt, sampled))
        details = {**score.details, "asked_scoring": "weighted", "fallback_reason": str(error)}
        why = f"{score.explanation} (sampled, since weighted scoring was not supported)"
        return MetricScore(score.score, why, score.rubric_score, details=details)


async def _weighted(judge: BaseLMInvoker, rubric: Rubric, request: Request) -> MetricScore:
    reply = await judge.invoke(request)
    masses = {label: (reply.label_probs or {}).get(label, 0.0) for label in rubric.labels}
    total = math.fsum(masses.values())
    if reply.label_probs is None or total <= 0.0:
        raise ModelCallError(
            f"scoring='weighted' needs the probabilities of the labels {', '.join(rubric.labels)}, and {judge.name} "
            f"gave none; use scoring='single' or 'sampled', or allow fallback='sampled'",
            code="unsupported",
        )
    probabilities = {rubric.level_of(label): mass / total for label, mass in masses.items()}
    expected = math.fsum(level * probability for level, probability in probabilities.items())
    # A sum of rounded products may lie a rounding error outside of the levels.
    expected = min(max(expected, min(rubric.levels)), max(rubric.levels))
    off = reply.off_label_mass if reply.off_label_mass is not None else max(0.0, 1.0 - total)
    details = {
        "scoring": "weighted",
        "reply_mode": reply.mode,
        "level": max(probabilities, key=lambda level: probabilities[level]),
        "level_probabilities": probabilities,
        "off_label_mass": off,
    }
    shown = ", ".join(f"{level}: {probability:.3f}" for level, probability in probabilities.items())
    why = f"expected level {expected:.3f} of the probabilities {shown}; {off:.3f} was on no label"
    return MetricScore(rubric.normalised(expected), why, expected, details=details)


async def _asked(judge: BaseLMInvoker, rubric: Rubric, request: Request) -> _Level:
    reply = await judge.invoke(request)
    data = cast("Mapping[str, Any]", reply.data) if isinstance(reply.data, Mapping) else {}
    level = data.get("score")
    if isinstance(level, bool) or not isinstance(level, int | float) or level not in rubric.levels:
        levels = ", ".join(map(str, rubric.levels))
        raise JudgeReplyError(f"expected a score that is one of {levels}, got {shortened(reply.data)}")
    return _Level(int(level), str(data.get("explanation") or ""), reply)
