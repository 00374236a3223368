"""The run itself: items stream through the system and the metrics, and what is said of them is kept as it comes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from itertools import islice
from typing import TYPE_CHECKING, Any

from calibrant.bridge import run_sync
from calibrant.errors import EvalError
from calibrant.metrics.multi import MultiOutputBaseMetric
from calibrant.runs.canaries import CanaryTurn, mixed
from calibrant.runs.finishing import finished
from calibrant.runs.gate_text import checked_gates
from calibrant.runs.keeping import opened
from calibrant.runs.needed_fields import check_fields
from calibrant.runs.people import check_labels, read_labels
from calibrant.runs.preparation import Measurement, measurement
from calibrant.runs.progress import reported
from calibrant.runs.references import baseline_run
from calibrant.runs.session import Place, Session
from calibrant.runs.settings import RunSettings

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from calibrant.metrics.base import BaseMetric
    from calibrant.metrics.canaries import Canaries
    from calibrant.runs.gate_text import Gate
    from calibrant.runs.people import Labels
    from calibrant.runs.records import Run

__all__ = ["gate_conditions", "measured", "run", "run_async"]

BATCH = 32
"""So many items at a time are given to a metric that takes lists."""


def run(  # noqa: PLR0913 - the interface names these
    dataset: Any,
    metrics: Any,
    *,
    system: Any = None,
    gates: Sequence[str] = (),
    baseline: Any = None,
    labels: Any = None,
    canaries: Canaries = False,
    settings: RunSettings | None = None,
) -> Run:
    """Rate every item of `dataset` by `metrics`, and return the Run: estimates, failures, usage.

    `dataset` is a path, a frame, or a list of dicts or EvalInputs; `metrics` are names, metrics or functions. `system`
    is your application, a function from an item to its answer. With `canaries` (True, a file, or a list of them)
    items whose verdict is known are asked about among the others, and reported apart: `Run.canaries`. What fails for
    one item is in the numbers as a failure; only wrong input and a store that cannot be written raise.

    >>> def brief(item):
    ...     return len(item.answer.split()) <= 3
    >>> result = run([{"answer": "Until six."}, {"answer": "I would not know that."}], [brief])
    >>> result.metric("brief").pass_rate.value
    0.5
    """
    given: dict[str, Any] = {"system": system, "gates": gates, "baseline": baseline, "labels": labels}
    return run_sync(run_async(dataset, metrics, **given, canaries=canaries, settings=settings))


async def run_async(  # noqa: PLR0913 - as `run`
    dataset: Any,
    metrics: Any,
    *,
    system: Any = None,
    gates: Sequence[str] = (),
    baseline: Any = None,
    labels: Any = None,
    canaries: Canaries = False,
    settings: RunSettings | None = None,
) -> Run:
    """`run`, within a running event loop."""
    settings = settings or RunSettings()
    asked = measurement(dataset, metrics, system, settings, canaries=canaries)
    check_fields(asked)
    conditions = gate_conditions(gates, asked.metrics, has_baseline=baseline is not None)
    known = {} if labels is None else read_labels(labels)
    check_labels(known, asked.metrics)
    return await measured(asked, gates=conditions, baseline=baseline, labels=known)


def gate_conditions(
    gates: Iterable[str | Gate], metrics: Iterable[BaseMetric], *, has_baseline: bool
) -> tuple[Gate, ...]:
    """The gates, read and held against the metrics; what is wrong with them is an InputError before any call."""
    names = {metric.name: isinstance(metric, MultiOutputBaseMetric) for metric in metrics}
    return checked_gates(gates, names, has_baseline=has_baseline)


async def measured(
    asked: Measurement, *, gates: Sequence[Gate] = (), baseline: Any = None, labels: Labels | None = None
) -> Run:
    """Carry out a measurement that was prepared, with gates and labels that were checked."""
    keeper = opened(asked.settings)
    try:
        with keeper.secret():
            before = baseline_run(baseline, keeper)
            session = await Session.begun(asked, keeper, labels=labels)
            try:
                await _work(session)
            finally:
                await session.end()
        return finished(session, gates=gates, baseline=before)
    except BaseException:
        keeper.close()
        raise


async def _work(session: Session) -> None:
    settings = session.asked.settings
    size = BATCH if any(metric.batch for metric in session.metrics) else 1
    count, canaries = -(-session.asked.survey.n // size), session.canaries.turns
    turns = mixed(_chunks(session, size), canaries, count)
    display = asyncio.create_task(reported(session.state, settings.progress))
    workers = min(settings.concurrency, count + len(canaries))
    try:
        with _interruptible(session):
            async with asyncio.TaskGroup() as group:
                for _ in range(workers):
                    group.create_task(_worker(session, turns))
    except* EvalError as errors:
        raise _first(errors) from None
    finally:
        session.state.is_over = True
        await display


async def _worker(session: Session, turns: Iterator[list[Place] | CanaryTurn]) -> None:
    for turn in turns:
        await (session.canaries.take(turn) if isinstance(turn, CanaryTurn) else session.rate(turn))


def _chunks(session: Session, size: int) -> Iterator[list[Place]]:
    """The items, some at a time, until the run is stopped or its time is over."""
    places = iter(enumerate(session.asked.table))
    while chunk := list(islice(places, size)):
        if session.budget.is_stopped or session.budget.is_late:
            return
        yield chunk


@contextlib.contextmanager
def _interruptible(session: Session) -> Generator[None]:
    """Let the first Ctrl-C stop the run in order, where that was asked for; the second ends it at once."""
    loop = asyncio.get_running_loop()
    # Of `asyncio.run`, which cancels in order; the default would raise in the middle of whichever task is at work.
    before = signal.getsignal(signal.SIGINT)

    def stop() -> None:
        session.budget.is_stopped = session.state.is_stopping = True
        restore()

    def restore() -> None:
        if loop.remove_signal_handler(signal.SIGINT):
            # None: it was set by something that is not Python, and cannot be set from here.
            signal.signal(signal.SIGINT, signal.default_int_handler if before is None else before)

    # Only a loop in the main thread may take signals, and not on every platform.
    unable = contextlib.suppress(NotImplementedError, RuntimeError, ValueError)
    if not session.asked.settings.catch_interrupt:
        yield
        return
    with unable:
        loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield
    finally:
        with unable:
            restore()


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
