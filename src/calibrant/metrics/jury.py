"""A jury at work: every slot casts its votes, failures stay votes that failed, and the votes become one result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from calibrant.aggregation.juries import AggregationMethod, BaseJudgeAggregator, build_aggregation_strategy
from calibrant.aggregation.labels import LabelMajorityAggregationStrategy
from calibrant.errors import CODES, InputError, QuorumError, RatingError, StoreError, WrongTypeError, shortened
from calibrant.metrics.judges import CURRENT_SLOT, Slot
from calibrant.ratings import Failure, MetricOutput, MetricResult, MetricScore, Rating, Usage

if TYPE_CHECKING:
    from calibrant.items import EvalInput
    from calibrant.metrics.base import BaseMetric

__all__ = [
    "CONCURRENT_ITEMS",
    "Vote",
    "answers_in_slot",
    "ballot",
    "commonest_failure",
    "each",
    "error_output",
    "failed_result",
    "judged_result",
    "result_of",
    "score_of",
    "strategy_for",
]

CONCURRENT_ITEMS = 64
"""How many items of a list are evaluated at a time; a model's own limits come on top."""

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Vote:
    """What one slot said of one item: a score, or why there is none."""

    slot: Slot
    score: MetricScore | None
    failure: Failure | None

    @property
    def output(self) -> MetricOutput:
        """The vote as aggregation takes it."""
        if self.score is not None:
            return self.score.to_output()
        return error_output(cast("Failure", self.failure))

    @property
    def usage(self) -> Usage | None:
        """What the slot's calls took; None when it asked nobody."""
        return None if self.slot.asked is None else self.slot.asked.usage

    def rating(self, metric: BaseMetric, item: EvalInput, *, lone: bool) -> Rating:
        """The vote as it is kept; the vote of a lone judge is the result."""
        return Rating(
            item=item.id,
            criterion=metric.name,
            rater=self.slot.rater(metric.name),
            instrument=metric.instrument,
            slot=self.slot.number,
            role="result" if lone else "vote",
            status="rated" if self.failure is None else self.failure.status,
            value=None if self.score is None else self.score.score,
            failure=self.failure,
            explanation="" if self.score is None else self.score.explanation,
            call_keys=() if self.slot.asked is None else tuple(self.slot.asked.call_keys),
            usage=self.usage,
        )


async def each(inputs: Sequence[In], work: Callable[[In], Awaitable[Out]], *, limit: int) -> list[Out]:
    """The results of `work` on every input, in order, with at most `limit` under way."""
    import asyncio

    results: dict[int, Out] = {}
    places = iter(range(len(inputs)))

    async def worker() -> None:
        for place in places:
            results[place] = await work(inputs[place])

    if len(inputs) == 1:
        return [await work(inputs[0])]
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(limit, len(inputs))):
                group.create_task(worker())
    except* Exception as errors:  # noqa: BLE001 - raised again at once, without its group
        raise _first(errors) from None
    return [results[place] for place in range(len(inputs))]


async def ballot(metric: BaseMetric, items: Sequence[EvalInput]) -> list[list[Vote]]:
    """The votes of every slot on every item: a list of votes for each slot."""
    models = (metric.models or [None]) * metric.repeats
    slots = [Slot(number, model, slots=len(models)) for number, model in enumerate(models)]

    async def cast_votes(slot: Slot) -> list[Vote]:
        return [_vote(slot, answer) for answer in await answers_in_slot(metric, slot, items)]

    return await each(slots, cast_votes, limit=metric.max_concurrent_judges or len(slots))


async def answers_in_slot(metric: BaseMetric, slot: Slot, items: Sequence[EvalInput]) -> list[Any]:
    """What `_evaluate` says of each item when `slot` is asked; an exception becomes a Failure here and nowhere else.

    A store that cannot be written is no failure of a judge: it ends the evaluation.
    """
    token = CURRENT_SLOT.set(slot)
    try:
        answer = await metric._evaluate(list(items) if metric.batch else items[0])  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the method that a metric writes
        return _answer_list(answer, len(items)) if metric.batch else [answer]
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever a metric raises is a failure of its rating
        return [Failure.of(error)] * len(items)
    finally:
        CURRENT_SLOT.reset(token)


def score_of(answer: Any) -> MetricScore:
    """The MetricScore that `_evaluate` meant: one already, a bool, a number, a label, labels, or a mapping of these.

    A number outside [0, 1] raises `score_invalid`; a mapping with an error raises that, whatever score is beside it.
    """
    try:
        score = _metric_score(answer)
    except (InputError, WrongTypeError) as error:
        raise RatingError(str(error), code="score_invalid") from error
    if isinstance(score.score, int | float) and not 0.0 <= score.score <= 1.0:
        remedy = "normalise it, and give the level itself as rubric_score"
        raise RatingError(f"the score is {score.score}, which is outside [0, 1]; {remedy}", code="score_invalid")
    return score


def error_output(failure: Failure) -> dict[str, Any]:
    """A failure as a MetricOutput."""
    return {"error": str(failure), "error_code": failure.code}


def result_of(metric: BaseMetric, item: EvalInput, votes: Sequence[Vote]) -> MetricResult:
    """What the votes on one item come to."""
    ratings = tuple(vote.rating(metric, item, lone=len(votes) == 1) for vote in votes)
    usages = [vote.usage for vote in votes if vote.usage is not None]
    usage = sum(usages[1:], usages[0]) if usages else None
    failure = _collective_failure(metric, votes)
    if failure is not None:
        return failed_result(metric, failure, ratings=ratings, usage=usage)
    try:
        output = _verdict_of_the_jury(metric, votes)
        return judged_result(metric, output, ratings, usage)
    except Exception as error:  # noqa: BLE001 - an aggregator may be the user's own
        code = "score_invalid" if isinstance(error, InputError | WrongTypeError) else "metric_error"
        failure = Failure.of(error) if isinstance(error, RatingError) else Failure(code=code, message=str(error))
        return failed_result(metric, failure, ratings=ratings, usage=usage)


def failed_result(
    metric: BaseMetric, failure: Failure, *, ratings: tuple[Rating, ...] = (), usage: Usage | None = None
) -> MetricResult:
    """The result of an item that has none: an error, and never a score."""
    return MetricResult(score=None, success=False, error=failure, judges=ratings, usage=usage, **_settings(metric))


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first


def _answer_list(answer: Any, expected: int) -> list[Any]:
    if isinstance(answer, str | Mapping) or not isinstance(answer, Sequence) or len(answer) != expected:
        got = f"{len(answer)}" if isinstance(answer, Sequence) else shortened(answer)
        raise RatingError(f"a batch of {expected} items needs a list of {expected} scores, got {got}")
    return [*answer]


def _vote(slot: Slot, answer: Any) -> Vote:
    if isinstance(answer, Failure):
        return Vote(slot, None, answer)
    try:
        return Vote(slot, score_of(answer), None)
    except RatingError as error:
        return Vote(slot, None, Failure.of(error))


def _metric_score(answer: Any) -> MetricScore:
    if isinstance(answer, MetricScore):
        return answer
    if not isinstance(answer, Mapping):
        return MetricScore(answer if isinstance(answer, str | frozenset) else _number(answer))
    named = dict(cast("Mapping[str, Any]", answer))
    error, code = named.pop("error", None), named.pop("error_code", "")
    if error:
        raise RatingError(str(error).removeprefix(f"{code}: "), code=code if code in CODES else "metric_error")
    if "score" not in named:
        raise InputError(f"expected a score, got {shortened(named)}")
    return MetricScore(named.pop("score"), named.pop("explanation", ""), named.pop("rubric_score", None), details=named)


def _number(answer: Any) -> Any:
    """Numbers of other libraries as Python's own; anything else is left for the check of values."""
    convert = getattr(answer, "item", None)
    return convert() if callable(convert) else answer


def _collective_failure(metric: BaseMetric, votes: Sequence[Vote]) -> Failure | None:
    failures = [vote.failure for vote in votes if vote.failure is not None]
    valid, needed = len(votes) - len(failures), metric.quorum or len(votes) // 2 + 1
    if valid >= needed:
        return None
    if len(votes) == 1:
        return failures[0]
    for status in ("not_applicable", "skipped"):
        alike = [failure for failure in failures if failure.status == status]
        if len(alike) > len(votes) // 2:
            return alike[0]
    codes = _codes_text(failures)
    first = f"; the first: {failures[0]}"
    return Failure.of(QuorumError(f"{valid} of {len(votes)} judges answered, {needed} are needed ({codes}{first})"))


def commonest_failure(failures: Sequence[Failure], asked: int, what: str) -> Failure:
    """What most of several `failures` came to, with how many of all `asked` there were; the commonest code names it."""
    [(commonest, _)] = Counter(failure.code for failure in failures).most_common(1)
    first = next(one for one in failures if one.code == commonest)
    codes = "" if all(one.code == commonest for one in failures) else f" ({_codes_text(failures)})"
    return replace(first, message=f"{len(failures)} of {asked} {what} gave no result{codes}; {first.message}")


def _codes_text(failures: Sequence[Failure]) -> str:
    return ", ".join(f"{count} {code}" for code, count in Counter(failure.code for failure in failures).items())


def _verdict_of_the_jury(metric: BaseMetric, votes: Sequence[Vote]) -> MetricOutput:
    if len(votes) == 1:
        return votes[0].output
    outputs: list[MetricOutput] = [vote.output for vote in votes]
    return strategy_for(metric, votes).aggregate(outputs, total_judges=len(votes))


def strategy_for(metric: BaseMetric, votes: Sequence[Vote]) -> BaseJudgeAggregator:
    """The metric's strategy; a majority over labels counts labels."""
    chosen = metric.aggregation_method
    labels = any(isinstance(vote.score.score, str | frozenset) for vote in votes if vote.score is not None)
    if labels and not isinstance(chosen, BaseJudgeAggregator) and chosen == AggregationMethod.MAJORITY_VOTE:
        return LabelMajorityAggregationStrategy()
    return build_aggregation_strategy(chosen)


def judged_result(
    metric: BaseMetric, output: MetricOutput, ratings: tuple[Rating, ...], usage: Usage | None
) -> MetricResult:
    """The result that `output` is under the metric's threshold and strictness."""
    rest = {name: value for name, value in output.items() if name not in ("score", "explanation", "rubric_score")}
    score, label = _score_and_label(output["score"])
    if score is not None:
        score = metric.binarised(score) if metric.strict_mode else score
    return MetricResult(
        score=score,
        label=label,
        success=metric.is_success(score) if score is not None else label in metric.passing_labels,
        rubric_score=output.get("rubric_score"),
        explanation=output.get("explanation", ""),
        judges=ratings,
        usage=usage,
        details=rest,
        **_settings(metric),
    )


def _score_and_label(value: Any) -> tuple[float | None, str | None]:
    if isinstance(value, frozenset):
        return None, ", ".join(sorted(cast("frozenset[str]", value)))
    return (None, value) if isinstance(value, str) else (float(value), None)


def _settings(metric: BaseMetric) -> dict[str, Any]:
    return {
        "threshold": metric.threshold,
        "strict_mode": metric.strict_mode,
        "higher_is_better": metric.higher_is_better,
    }
