"""One run under way: an item goes through the system and every metric, and its ratings are kept and counted."""

from __future__ import annotations

import asyncio
import os
import time
from typing import TYPE_CHECKING, Any, cast

from calibrant.errors import CODES, RatingError
from calibrant.metrics.judges import DEFAULT_JUDGE, DEFAULT_MODEL_VARIABLE, resolve_primary_invoker
from calibrant.ratings import Failure, MetricResult, Rating
from calibrant.runs.at_work import this_process
from calibrant.runs.budgets import RunBudget
from calibrant.runs.canaries import CanaryRound
from calibrant.runs.judges import Judges
from calibrant.runs.keeping import KeptItem
from calibrant.runs.progress import ProgressState
from calibrant.runs.scoring_modes import ScoringModes
from calibrant.runs.specification import MetricSpec
from calibrant.runs.spending import Spending
from calibrant.runs.system import Answered
from calibrant.runs.tally import Tallies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from calibrant.items import EvalInput
    from calibrant.metrics.base import BaseMetric
    from calibrant.runs.keeping import Keeper
    from calibrant.runs.people import Labels
    from calibrant.runs.preparation import Measurement

__all__ = ["Place", "Session"]

Place = tuple[int, "EvalInput"]
"""An item with its place in the dataset."""

SETTLE_EVERY = 1000
"""So many items may wait to be written; then the run waits for the disk."""


class Session:
    """A run under way. `begun` makes one; `rate` takes items until they are done or the run is over."""

    def __init__(self, asked: Measurement, keeper: Keeper, labels: Labels) -> None:
        settings = asked.settings
        self.asked = asked
        self.keeper = keeper
        self.labels = labels
        self.labelled: dict[str, int] = {}
        self._wanted = {item for by_item in labels.values() for item in by_item}
        self.budget = RunBudget(settings)
        self.judges = Judges(
            workspace=keeper.workspace, budget=self.budget, concurrency=settings.concurrency, fresh=settings.fresh
        )
        self.metrics: tuple[BaseMetric, ...] = tuple(self.judges.metric(metric) for metric in asked.metrics)
        self.specs: tuple[MetricSpec, ...] = ()
        self.run = ""
        self.began = time.monotonic()
        self.started = time.time()
        self.cached = 0
        self.before = Spending()
        expected = asked.forecast
        self.state = ProgressState(
            total=asked.survey.n, expected_calls=expected.calls, expected_usd=expected.usd, usage=self.budget.judged
        )
        self.tallies = Tallies((), 0)
        self.modes = ScoringModes()
        self.canaries = CanaryRound(self.metrics, asked.canaries)
        self._seats = asyncio.Semaphore(settings.concurrency)

    @classmethod
    async def begun(cls, asked: Measurement, keeper: Keeper, *, labels: Labels | None = None) -> Session:
        """The session, with its metrics made ready and its run named; the manifest says that it is running."""
        session = cls(asked, keeper, labels or {})
        if os.environ.get(DEFAULT_MODEL_VARIABLE) and DEFAULT_JUDGE.get() is None:
            DEFAULT_JUDGE.set(session.judges.wrap(resolve_primary_invoker(None)))
        for metric in session.metrics:
            await _prepared(metric)
        session.specs = tuple(MetricSpec.of(metric) for metric in session.metrics)
        session.tallies = Tallies(session.specs, asked.survey.n)
        session.run = asked.run_id(session.specs, keeper)
        session.before = Spending.before(keeper.manifest(session.run))
        keeper.put_manifest(session.run, {**session.manifest("running"), "process": this_process()})
        return session

    def manifest(self, status: str) -> dict[str, Any]:
        """What is known of the run, whatever becomes of it."""
        asked = self.asked
        return {
            "schema": "calibrant.manifest/1",
            "run": self.run,
            "name": asked.settings.name or asked.table.name,
            "status": status,
            "started": self.started,
            "dataset": {**asked.dataset.to_json(), "contents": asked.dataset.contents},
            "metrics": [spec.to_json() for spec in self.specs],
            "definitions": {metric.name: metric.definition() for metric in self.metrics},
            "system": None if asked.system is None else {"name": asked.system.name, "identity": asked.system.identity},
            "seed": asked.settings.seed,
            "level": asked.settings.level,
            "stopped": self.stopped_by,
            "spending": self.before.to_json(),
        }

    @property
    def stopped_by(self) -> str | None:
        """The code of what ended the run before all items were reached, if anything did."""
        if self.budget.is_stopped:
            return "interrupted"
        return "budget_exhausted" if self.budget.is_late else None

    async def rate(self, places: Sequence[Place]) -> None:
        """Rate these items by every metric; keep and count what is said of them."""
        answered = await self._answered([item for _, item in places])
        able = [one.item for one in answered if one.failure is None]
        results = await self._results(able) if able else []
        told = iter(range(len(able)))
        for (position, _), one in zip(places, answered, strict=True):
            if one.failure is None:
                place = next(told)
                ratings = [rating for by_item in results for rating in by_item[place]]
            else:
                ratings = [_failed(spec, one.item, one.failure) for spec in self.specs]
            self._keep(position, one.item, ratings)
        if self.state.done % SETTLE_EVERY < len(places):
            await self.keeper.settle()

    async def end(self) -> None:
        """Write what is still on its way, and let go of connections."""
        await self.judges.aclose()
        await self.keeper.settle()

    async def _answered(self, items: Sequence[EvalInput]) -> list[Answered]:
        system = self.asked.system
        if system is None:
            return [Answered(item) for item in items]
        workspace = self.keeper.workspace
        return await asyncio.gather(
            *[
                system.answer(item, self.run, workspace=workspace, budget=self.budget, seats=self._seats)
                for item in items
            ]
        )

    async def _results(self, items: list[EvalInput]) -> list[list[list[Rating]]]:
        """For every metric and item, the ratings."""
        if len(self.metrics) == 1:
            return [await self._rated(self.metrics[0], items)]
        return await asyncio.gather(*[self._rated(metric, items) for metric in self.metrics])

    async def _rated(self, metric: BaseMetric, items: list[EvalInput]) -> list[list[Rating]]:
        """The ratings of each item by one metric: votes and results, or one for each of the metric's outputs."""
        alone = len(items) == 1 and not metric.batch
        results: list[Any] = [await metric.evaluate(items[0])] if alone else await metric.evaluate(items)
        return [self._ratings(metric, item, result) for item, result in zip(items, results, strict=True)]

    def _ratings(self, metric: BaseMetric, item: EvalInput, result: Any) -> list[Rating]:
        if not isinstance(result, MetricResult):
            return [*_parts(metric, item, result)]
        self.modes.note(metric.name, result)
        return [*metric.ratings(item, result)]

    def _keep(self, position: int, item: EvalInput, ratings: list[Rating]) -> None:
        table, state = self.asked.table, self.state
        cluster = table.cluster_of(item, position) if table.has_clusters else None
        self.keeper.add(self.run, [KeptItem(position, item, cluster)], ratings)
        self.tallies.place(position, cluster)
        if item.id in self._wanted:
            self.labelled[item.id] = position
        self.tallies.add(position, ratings)
        results = [rating for rating in ratings if rating.role == "result"]
        self.cached += sum(rating.usage.cached for rating in results if rating.usage is not None)
        state.failed += any(rating.status == "failed" for rating in results)
        state.done += 1
        state.usage = self.budget.judged


async def _prepared(metric: BaseMetric) -> None:
    """Make the metric ready. A run cannot begin without: the metric's instrument is not settled before."""
    try:
        await metric.prepare()
    except RatingError as error:
        problem = f"metric {metric.name!r} could not be made ready: {error}"
        raise RatingError(problem, code=error.code, retryable=error.retryable) from error


def _parts(metric: BaseMetric, item: EvalInput, result: Mapping[str, Any]) -> Iterator[Rating]:
    """The outputs of a metric that has several, each as a rating of its own criterion."""
    if "error" in result:
        yield _rating(metric, item, metric.name, result)
        return
    for name, output in result.items():
        yield _rating(metric, item, f"{metric.name}/{name}", cast("Mapping[str, Any]", output))


def _rating(metric: BaseMetric, item: EvalInput, criterion: str, output: Mapping[str, Any]) -> Rating:
    given: dict[str, Any] = {
        "item": item.id,
        "criterion": criterion,
        "rater": metric.rater,
        "instrument": metric.instrument,
    }
    if "error" not in output:
        return Rating(**given, value=output["score"], explanation=str(output.get("explanation", "")))
    code = str(output.get("error_code", "metric_error"))
    message = str(output["error"]).removeprefix(f"{code}: ")
    failure = Failure(code=code, message=message, retryable=CODES[code].retryable)
    return Rating(**given, status=failure.status, failure=failure)


def _failed(spec: MetricSpec, item: EvalInput, failure: Failure) -> Rating:
    """The rating of an item for which there was no answer to rate."""
    return Rating(
        item=item.id,
        criterion=spec.name,
        rater=spec.rater,
        instrument=spec.instrument,
        status=failure.status,
        failure=failure,
    )
