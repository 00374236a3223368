"""Which of two answers is better, asked in both orders, so that a love of one position shows and does not count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from calibrant.errors import InputError, JudgeReplyError, shortened
from calibrant.estimates import Coverage, Estimate
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.fences import FENCE_RULES, fenced, sections_of
from calibrant.metrics.jury import each
from calibrant.metrics.settings import checked_criteria
from calibrant.models.invoker import Request
from calibrant.models.schemas import choice_meant
from calibrant.ratings import MetricScore

if TYPE_CHECKING:
    from calibrant.items import EvalInput
    from calibrant.ratings import MetricResult

__all__ = ["PairwiseMetric", "PairwiseSummary", "pairwise_summary"]

DEFAULT_CRITERIA = "The answer is correct, answers what was asked, and has nothing that is not needed."

_CHOICES = ("first", "second", "tie")
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"explanation": {"type": "string"}, "better": {"type": "string", "enum": list(_CHOICES)}},
    "required": ["explanation", "better"],
    "additionalProperties": False,
}
_INSTRUCTIONS = """\
You are a judge. You say which of two answers is better on one criterion, and nothing else.

# Criterion
{criteria}

# The data
{rules}

# Your reply
First `explanation`: in two or three sentences, what decides. Then `better`: first, second, or tie when neither is \
better on the criterion. Their order and their length do not count."""


class PairwiseMetric(BaseMetric):
    """1.0 when the item's `first` answer is better, 0.0 when its `second` is, 0.5 for a tie.

    The judge is asked twice, with the answers in either order. When what it says depends on the order, that is a tie,
    and `details["consistent"]` is False. `first` and `second` name the fields with the answers; query, contexts and
    reference are shown where an item has them. `pairwise_summary` makes of many results the win rate and the position
    bias.

    >>> from calibrant import EvalInput, ScriptedInvoker
    >>> import asyncio
    >>> always_first = ScriptedInvoker({"explanation": "The first is better.", "better": "first"})
    >>> item = EvalInput(query="Open?", answer_a="Until six.", answer_b="Yes.")
    >>> result = asyncio.run(PairwiseMetric(models=always_first).evaluate(item))
    >>> result.score, result.details["consistent"]
    (0.5, False)
    """

    name = "pairwise"
    first: str = "answer_a"
    second: str = "answer_b"
    criteria: str = DEFAULT_CRITERIA

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.criteria = checked_criteria(self.criteria)
        if self.first == self.second:
            raise InputError(f"first and second name two fields, not {self.first!r} twice")
        self.required_fields = frozenset({self.first, self.second})

    def instructions(self) -> str:
        """The system message."""
        return _INSTRUCTIONS.format(criteria=self.criteria, rules=FENCE_RULES)

    def estimated_requests(self, item: EvalInput) -> list[Request]:
        """The two requests of a vote: the answers as they stand, and exchanged."""
        shown = sections_of(item, ["query", "contexts", "ground_truth"])
        answers = ["\n".join(sections_of(item, [name]).values()) for name in (self.first, self.second)]
        return [
            Request.of(
                fenced({**shown, "first answer": one, "second answer": other}),
                system=self.instructions(),
                schema=_SCHEMA,
            )
            for one, other in (answers, reversed(answers))
        ]

    def definition(self) -> dict[str, Any]:
        """The metric's settings, its prompt and the form of the reply."""
        own = {"first": self.first, "second": self.second, "prompt": self.instructions(), "schema": _SCHEMA}
        return {**super().definition(), **own}

    async def _evaluate(self, data: EvalInput) -> MetricScore:
        judge = self.judge

        async def ask(request: Request) -> tuple[str, str]:
            return _read((await judge.invoke(request)).data)

        straight, exchanged = await each(self.estimated_requests(data), ask, limit=2)
        scores = [_for_the_first(straight[0]), 1.0 - _for_the_first(exchanged[0])]
        consistent = scores[0] == scores[1]
        details = {"consistent": consistent, "choices": [straight[0], exchanged[0]]}
        why = straight[1] if consistent else f"in this order: {straight[1]} In the other order: {exchanged[1]}"
        return MetricScore(scores[0] if consistent else 0.5, why, details=details)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseSummary:
    """What many pairs came to, from the first answer's side.

    `win_rate` counts ties as half. `inconsistent` is the share of pairs whose judgment depended on the order.
    `position_bias` lies between -1 and 1: how much more often the answer shown first was chosen than the one shown
    second.
    """

    win_rate: Estimate
    inconsistent: Estimate
    position_bias: Estimate
    wins: int
    ties: int
    losses: int

    def __str__(self) -> str:
        return (
            f"win rate       {self.win_rate} ({self.wins} won, {self.ties} tied, {self.losses} lost)\n"
            f"inconsistent   {self.inconsistent}\nposition bias  {self.position_bias}"
        )

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON has it."""
        return {
            "win_rate": self.win_rate.to_json(),
            "inconsistent": self.inconsistent.to_json(),
            "position_bias": self.position_bias.to_json(),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
        }


def pairwise_summary(results: Iterable[MetricResult], *, level: float = 0.95) -> PairwiseSummary:
    """The win rate, the share of inconsistent pairs and the position bias, with intervals.

    Failures are in the coverage. Of a jury, every judge's choices count for inconsistency and bias.
    """
    from calibrant.stats import mean

    given = list(results)
    coverage = Coverage.of((one.status, one.error.code if one.error else None) for one in given)
    rated = [one for one in given if one.error is None]
    scores = [cast("float", one.score) for one in rated]
    asked = [_votes(one) for one in rated]
    unlike = [_mean(float(not vote["consistent"]) for vote in votes) for votes in asked]
    biases = [_mean(_bias(choice) for vote in votes for choice in vote["choices"]) for votes in asked]
    return PairwiseSummary(
        win_rate=mean(scores, level=level, coverage=coverage, scale=(0.0, 1.0)),
        inconsistent=mean(unlike, level=level, coverage=coverage, scale=(0.0, 1.0)),
        position_bias=mean(biases, level=level, coverage=coverage, scale=(-1.0, 1.0)),
        wins=sum(score > 0.5 for score in scores),
        ties=sum(score == 0.5 for score in scores),
        losses=sum(score < 0.5 for score in scores),
    )


def _read(data: Any) -> tuple[str, str]:
    given = cast("Mapping[str, Any]", data) if isinstance(data, Mapping) else {}
    better = choice_meant(given.get("better"), _CHOICES)
    if better is None:
        raise JudgeReplyError(f"expected `better` to be one of {', '.join(_CHOICES)}, got {shortened(data)}")
    return better, str(given.get("explanation") or "")


def _for_the_first(choice: str) -> float:
    return {"first": 1.0, "tie": 0.5, "second": 0.0}[choice]


def _bias(choice: str) -> float:
    return 2 * _for_the_first(choice) - 1


def _votes(result: MetricResult) -> list[Mapping[str, Any]]:
    votes = [one for one in result.details.get("individual_results", [result.details]) if "choices" in one]
    if not votes:
        raise InputError("pairwise_summary takes the results of a PairwiseMetric, and these have no choices")
    return votes


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)
