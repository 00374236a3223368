"""Models asked to judge: every item once or several times, from the project's workspace where they answered before."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from calibrant.alignment.answers import answers_of_table
from calibrant.errors import CODES, EvalError
from calibrant.estimates import Coverage, Estimate
from calibrant.models import wrapped
from calibrant.stats import proportion

if TYPE_CHECKING:
    from calibrant.alignment.judges import JudgeConfig
    from calibrant.alignment.rater_results import RaterResults
    from calibrant.alignment.tasks import EvalTask
    from calibrant.models import Budget
    from calibrant.models.invoker import BaseLMInvoker
    from calibrant.store import Workspace

__all__ = ["JudgeRun"]

Item = Mapping[str, Any]

SHOWN_ERRORS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRun:
    """How judges are asked: of what, how often, with what budget, and where replies are kept."""

    items: Sequence[Item]
    task: EvalTask
    workspace: Workspace
    budget: Budget
    repeats: int = 1
    concurrency: int = 16

    async def results(self, judge: JudgeConfig) -> RaterResults:
        """The judge's answers: of several repeats the most frequent, with all votes and their agreement beside it."""
        model = judge.connected()
        asked = wrapped(model, workspace=self.workspace, budget=self.budget)
        seats = asyncio.Semaphore(self.concurrency)
        skip = self.task.skip_function
        items = [item for item in self.items if skip is None or not skip(item)]
        try:
            votes = await asyncio.gather(*(self._votes(judge, asked, item, seats) for item in items))
        finally:
            await model.aclose()
        return self._gathered(judge, items, votes)

    async def _votes(
        self, judge: JudgeConfig, model: BaseLMInvoker, item: Item, seats: asyncio.Semaphore
    ) -> list[Mapping[str, Any] | EvalError]:
        async def vote(slot: int) -> Mapping[str, Any] | EvalError:
            async with seats:
                try:
                    reply = await model.invoke(judge.request(item, self.task, slot))
                except EvalError as error:
                    return error
            return reply.data if isinstance(reply.data, Mapping) else {}

        return await asyncio.gather(*(vote(slot) for slot in range(self.repeats)))

    def _gathered(
        self, judge: JudgeConfig, items: Sequence[Item], votes: Sequence[Sequence[Mapping[str, Any] | EvalError]]
    ) -> RaterResults:
        errors = [one for given in votes for one in given if isinstance(one, EvalError)]
        rows = [
            {"original_id": item["original_id"], **self._answers(given), "status": _status(given)}
            for item, given in zip(items, votes, strict=True)
        ]
        table = pl.DataFrame(
            {
                "original_id": pl.Series([row["original_id"] for row in rows], dtype=pl.String),
                **{name: _series(name, [row[name] for row in rows]) for name in self.task.task_schemas},
                "status": pl.Series([row["status"] for row in rows], dtype=pl.String),
            }
        )
        results = answers_of_table(table, judge.id, task=self.task)
        silent = _unanswered(results.frame.filter(table["status"] == "success"), self.task)
        codes = Counter(_code(error) for error in errors)
        about: dict[str, Any] = {"model": judge.to_json()["model"], "repeats": self.repeats, "failures": dict(codes)}
        if self.repeats > 1:
            about |= self._consistency(items, votes)
        said = dict.fromkeys(f"{judge.id}: {str(error)[:200]}" for error in errors)
        return replace(
            results,
            about=about,
            failed=results.failed | silent,
            notes=(*results.notes, *list(said)[:SHOWN_ERRORS], *self._repeat_notes(judge, about)),
        )

    def _repeat_notes(self, judge: JudgeConfig, about: Mapping[str, Any]) -> list[str]:
        """How often all repeats said the same, for the report."""
        shares: Mapping[str, Any] = about.get("self_consistency") or {}
        return [
            f"{judge.id}, {task}: asked {self.repeats} times, the same answer each time: {Estimate.from_json(share)}"
            for task, share in shares.items()
        ]

    def _answers(self, given: Sequence[Mapping[str, Any] | EvalError]) -> dict[str, Any]:
        replies = [one for one in given if not isinstance(one, EvalError)]
        return {task: _most([reply.get(task) for reply in replies]) for task in self.task.task_schemas}

    def _consistency(
        self, items: Sequence[Item], votes: Sequence[Sequence[Mapping[str, Any] | EvalError]]
    ) -> dict[str, Any]:
        """All votes, and the share of items on which every repeat said the same."""
        kept = {
            task: {
                str(item["original_id"]): [None if isinstance(one, EvalError) else one.get(task) for one in given]
                for item, given in zip(items, votes, strict=True)
            }
            for task in self.task.task_schemas
        }
        return {
            "self_consistency": {task: _consistency(by_item).to_json() for task, by_item in kept.items()},
            "votes": kept,
        }


def _consistency(votes: Mapping[str, Sequence[Any]]) -> Estimate:
    """The share of items on which every repeat said the same; one with a repeat that failed is not counted."""
    whole = [given for given in votes.values() if None not in given]
    same = [len(set(map(repr, given))) == 1 for given in whole]
    return proportion(sum(same), len(same), coverage=Coverage(rated=len(same), failed=len(votes) - len(same)))


def _unanswered(frame: pl.DataFrame, task: EvalTask) -> frozenset[str]:
    """The items without an answer to a task that must be answered."""
    required = [name for name in task.required_tasks or () if name in frame.columns]
    if not required:
        return frozenset()
    missing = frame.filter(pl.any_horizontal(pl.col(name).is_null() for name in required))
    return frozenset(missing["original_id"].to_list())


def _most(votes: Sequence[Any]) -> Any:
    """The most frequent vote; of tied ones the first in the alphabet. A failure is no vote."""
    given = [vote for vote in votes if vote is not None]
    if not given:
        return None
    counts = Counter(map(repr, given))
    best = min(counts, key=lambda text: (-counts[text], text))
    return next(vote for vote in given if repr(vote) == best)


def _status(given: Sequence[Mapping[str, Any] | EvalError]) -> str:
    """Answered at least once, or asked in vain, or (for want of budget, say) never asked."""
    errors = [one for one in given if isinstance(one, EvalError)]
    if len(errors) < len(given):
        return "success"
    unasked = [one for one in errors if (meaning := CODES.get(_code(one))) is not None and meaning.status == "skipped"]
    return "error" if len(unasked) < len(errors) else "skipped"


def _code(error: EvalError) -> str:
    return getattr(error, "code", "metric_error")


def _series(name: str, answers: Sequence[Any]) -> pl.Series:
    """The answers as a column: lists of labels where there are any, else texts."""
    if any(isinstance(one, list) for one in answers):
        lists = [one if one is None or isinstance(one, list) else [one] for one in answers]
        return pl.Series(name, [one and [str(label) for label in one] for one in lists], dtype=pl.List(pl.String))
    return pl.Series(name, [None if one is None else str(one) for one in answers], dtype=pl.String)
