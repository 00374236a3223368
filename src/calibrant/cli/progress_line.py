"""How far a run is, on the error stream: one live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from calibrant.runs.progress import ProgressState

__all__ = ["progress_line", "progress_text"]

PLAIN_EVERY = 10.0
"""Seconds between plain lines: a log of an hour's run has a few hundred."""


def progress_text(state: ProgressState) -> str:
    """The state in a line: done, failed, calls, cost so far and expected, and the time left.

    >>> from calibrant.runs.progress import ProgressState
    >>> progress_text(ProgressState(total=400, done=100, failed=2, expected_usd=None))[:29]
    '100 of 400 items, 2 failed, 0'
    """
    parts = [f"{state.done:,} of {state.total:,} items", f"{state.failed:,} failed", *_cost(state)]
    left = state.seconds_left
    if state.is_stopping and not state.is_over:
        parts.append("stopping after the calls under way; Ctrl-C again ends at once")
    elif left is not None and not state.is_over:
        parts.append(f"{_duration(left)} left")
    return ", ".join(parts)


def progress_line() -> Callable[[ProgressState], None]:
    """What shows the progress: a live line where the error stream is a terminal, plain lines where it is not."""
    return _live() if sys.stderr.isatty() else _plain()


def _cost(state: ProgressState) -> list[str]:
    """Calls and money, where anybody is asked at all."""
    usage = state.usage
    if not (usage.calls or state.expected_calls):
        return []
    expected = "" if state.expected_usd is None else f" of about ${state.expected_usd:.4g}"
    return [f"{usage.calls:,} calls", "cost unknown" if usage.usd is None else f"${usage.usd:.4g}{expected}"]


def _plain() -> Callable[[ProgressState], None]:
    last, was_stopping = 0.0, False

    def show(state: ProgressState) -> None:
        nonlocal last, was_stopping
        is_news = state.is_over or state.is_stopping > was_stopping
        if is_news or state.seconds - last >= PLAIN_EVERY:
            last, was_stopping = state.seconds, state.is_stopping
            click.echo(progress_text(state), err=True)

    return show


def _live() -> Callable[[ProgressState], None]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    live = Live(console=Console(stderr=True), auto_refresh=False, transient=True)

    def show(state: ProgressState) -> None:
        if not live.is_started:
            live.start()
        live.update(Text(progress_text(state), overflow="ellipsis", no_wrap=True), refresh=True)
        if state.is_over:
            live.stop()

    return show


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
