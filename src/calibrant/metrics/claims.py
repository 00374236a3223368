"""Metrics that judge a text statement by statement: a verdict and a quotation for each, and one score from them all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from calibrant.aggregation.verdicts import VERDICT_WEIGHTS, power_for_temperature, score_agg
from calibrant.bridge import run_sync
from calibrant.errors import (
    InputError,
    JudgeReplyError,
    NotApplicableError,
    RatingError,
    UnknownNameError,
    WrongTypeError,
    shortened,
)
from calibrant.items import EvalInput
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.claim_replies import CLAIM_SCHEMAS, read_statements, read_verdicts
from calibrant.metrics.fences import FENCE_RULES, fenced, sections_of
from calibrant.metrics.quotes import is_quoted, sentences
from calibrant.models.invoker import Request
from calibrant.ratings import MetricScore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["CallbackMetric", "ClaimMetric"]

_VERDICTS = """\
# Verdicts
Give each {unit} exactly one of these words, for how far {question}
- fully: entirely
- mostly: but for a detail that does not matter
- partial: in part
- minor: in a small part only
- none: not at all, or the opposite
With each verdict give `reason`, one sentence, and `quote`: the words of {evidence} that the verdict rests on, copied \
letter by letter. Where there are none, the quote is empty.
Give exactly one verdict for each {unit}, in the same order."""

_EVERY = "Leave none out, and do not join two into one. Where there is none, the list is empty."


class ClaimMetric(BaseMetric):
    """A metric over the statements of a text; its subclasses say of which text, and what is asked of each.

    `temperature` says how strictly verdicts are combined (`score_agg`: 0.1 leans to the worst statement, 0.5 is the
    mean, 1.0 leans to the best). `calls` is 2, to split and then to judge, or 1 for both at once. A quotation that is
    not in its source is counted in `details["quotes_not_found"]`; with `missing_quote="fail"` it fails the item.
    `details["without_quote"]` counts the verdicts that claim some support and quote none of it. The number of verdicts
    is the number of statements, or the item fails with `verdict_count`. A text without statements is not applicable.
    """

    calls: Literal[1, 2] = 2
    missing_quote: Literal["report", "fail"] = "report"
    _temperature: float = 0.5

    judged: ClassVar[str]
    """What the statements are taken from."""
    evidence: ClassVar[tuple[str, ...]]
    """The fields that quotations are from."""
    shown: ClassVar[tuple[str, ...]]
    """What the judge sees beside the statements."""
    split_shown: ClassVar[tuple[str, ...]]
    """What it sees to list the statements; the empty tuple when the texts are judged as they are."""
    unit: ClassVar[str] = "statement"
    splitting: ClassVar[str] = ""
    """What a statement is."""
    question: ClassVar[str]
    """What is asked of each: completes "for how far ..."."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if self.calls not in (1, 2):
            raise InputError(f"calls is 1 (split and judge at once) or 2 (split, then judge), not {self.calls!r}")
        if self.missing_quote not in ("report", "fail"):
            raise UnknownNameError.among("missing_quote", self.missing_quote, ["report", "fail"])

    @property
    def temperature(self) -> float:
        """How strictly verdicts are combined: 0.1 is strict, 0.5 the mean, 1.0 lenient."""
        return self._temperature

    @temperature.setter
    def temperature(self, value: float) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):  # pyright: ignore[reportUnnecessaryIsInstance] - settings come from plans
            raise InputError(f"temperature is a number (0.1 strict to 1.0 lenient), not {shortened(value)}")
        power_for_temperature(value)
        self._temperature = float(value)

    def instructions(self) -> dict[str, str]:
        """The system messages by call: `split` and `judge`, or `both`; `judge` alone where nothing is split."""
        sources = " or ".join(f"`{name}`" for name in self.evidence)
        verdicts = _VERDICTS.format(unit=self.unit, question=self.question, evidence=sources)
        data = f"# The data\n{FENCE_RULES}"
        split = f"List the {self.unit}s of `{self.judged}`. {self.splitting} {_EVERY}"
        judge = f"# Task\nJudge every {self.unit} that the data lists.\n\n{verdicts}\n\n{data}"
        if not self.split_shown:
            return {"judge": judge}
        if self.calls == 2:
            return {"split": f"# Task\n{split} Judge nothing.\n\n{data}", "judge": judge}
        return {"both": f"# Task\n{split} Then judge each.\n\n{verdicts}\n\n{data}"}

    def texts(self, data: EvalInput, names: Sequence[str]) -> dict[str, str]:
        """The texts of those names, as a judge is shown them."""
        return sections_of(data, names)

    def estimated_requests(self, item: EvalInput) -> list[Request]:
        """The requests of one vote; the statements of the second are guessed to be the text's sentences."""
        if self.calls == 1 and self.split_shown:
            return [self._both(item)]
        texts = self.texts(item, [self.judged]).values()
        if not self.split_shown:
            return [self._judging(item, list(texts))]
        guessed = [one for text in texts for one in sentences(text)]
        return [self._request("split", self.texts(item, self.split_shown)), self._judging(item, guessed)]

    def definition(self) -> dict[str, Any]:
        """The metric's settings, prompts, verdicts and how they are combined."""
        return {
            **super().definition(),
            "temperature": self.temperature,
            "calls": self.calls,
            "missing_quote": self.missing_quote,
            "prompts": self.instructions(),
            "weights": VERDICT_WEIGHTS,
        }

    async def _evaluate(self, data: EvalInput) -> MetricScore:
        if not any(text.strip() for text in self.texts(data, [self.judged]).values()):
            raise NotApplicableError(f"item {data.id!r} has nothing in {self.judged}, so there is nothing to judge")
        statements, verdicts = await self._asked(data)
        if not statements:
            raise NotApplicableError(f"item {data.id!r} has no {self.unit} in {self.judged} that can be judged")
        return self._score(data, statements, verdicts)

    async def _asked(self, data: EvalInput) -> tuple[list[str], list[dict[str, str]]]:
        judge = self.judge
        if self.calls == 1 and self.split_shown:
            both = await judge.invoke(self._both(data))
            statements = read_statements(both.data)
            return statements, read_verdicts(both.data, statements, self.unit)
        if self.split_shown:
            split = await judge.invoke(self._request("split", self.texts(data, self.split_shown)))
            statements = read_statements(split.data)
        else:
            statements = list(self.texts(data, [self.judged]).values())
        if not statements:
            return [], []
        judged = await judge.invoke(self._judging(data, statements))
        return statements, read_verdicts(judged.data, statements, self.unit)

    def _request(self, call: str, texts: Mapping[str, str]) -> Request:
        return Request.of(fenced(texts), system=self.instructions()[call], schema=CLAIM_SCHEMAS[call])

    def _both(self, data: EvalInput) -> Request:
        return self._request("both", self.texts(data, list(dict.fromkeys((*self.split_shown, *self.shown)))))

    def _judging(self, data: EvalInput, statements: Sequence[str]) -> Request:
        listed = {f"{self.unit} {place}": text for place, text in enumerate(statements, start=1)}
        return self._request("judge", {**self.texts(data, self.shown), **listed})

    def _score(self, data: EvalInput, statements: Sequence[str], verdicts: Sequence[Mapping[str, str]]) -> MetricScore:
        sources = list(self.texts(data, self.evidence).values())
        told: list[dict[str, Any]] = [
            {"statement": text, **one, "quote_found": is_quoted(one["quote"], sources) if one["quote"] else None}
            for text, one in zip(statements, verdicts, strict=True)
        ]
        lost = [one for one in told if one["quote_found"] is False]
        if lost and self.missing_quote == "fail":
            quoted = "; ".join(shortened(one["quote"]) for one in lost[:3])
            raise JudgeReplyError(f"{len(lost)} of {len(told)} quotations are not in their source: {quoted}")
        score = score_agg([VERDICT_WEIGHTS[one["verdict"]] for one in told], self.temperature)
        unquoted = sum(not one["quote"] and one["verdict"] != "none" for one in told)
        details = {
            "verdicts": told,
            "quotes_not_found": len(lost),
            "without_quote": unquoted,
            "temperature": self.temperature,
        }
        return MetricScore(score, _why(told, len(lost), self.unit), details=details)


class CallbackMetric(ClaimMetric):
    """A claim metric that can stand in for one of the functions that `LLMRAGEvaluator` takes."""

    parameters: ClassVar[tuple[str, ...]]
    """The fields that the function is called with, in their order."""

    def callback(self) -> Callable[..., float]:
        """The function that `LLMRAGEvaluator` takes: it returns the score, and raises RatingError where there is none.

        It is an ordinary function; it may also be called where a loop is running.
        """

        def ask(*values: Any) -> float:
            if len(values) != len(self.parameters):
                expected = ", ".join(self.parameters)
                raise WrongTypeError(f"{self.name} is called with {expected}; it was given {len(values)} values")
            item = EvalInput(**dict(zip(self.parameters, values, strict=True)))
            result = run_sync(self.evaluate(item))
            if result.error is not None:
                raise RatingError(result.error.message, code=result.error.code, retryable=result.error.retryable)
            return cast("float", result.score)

        ask.__name__ = self.name
        return ask


def _why(told: Sequence[Mapping[str, Any]], lost: int, unit: str) -> str:
    doubtful = [one for one in told if one["verdict"] != "fully"]
    parts = [f"{len(told) - len(doubtful)} of {len(told)} {unit}s: fully"]
    parts += [f"{one['verdict']}: {one['statement']} ({one['reason']})" for one in doubtful]
    if lost:
        parts.append(f"{lost} of the judge's quotations are not in their source")
    return "; ".join(parts)
