"""How far a run is: what the state says, and the lines that a terminal and a log get of it."""

import asyncio
import io

import pytest

from calibrant import ScriptedInvoker
from calibrant.cli.progress_line import PLAIN_EVERY, progress_line, progress_text
from calibrant.errors import JudgeReplyError
from calibrant.metrics import RubricMetric
from calibrant.ratings import Usage
from calibrant.runs import RunSettings, run
from calibrant.runs.progress import ProgressState, reported


def state(**fields):
    return ProgressState(**{"total": 400, "started": 0.0, **fields})


def test_before_the_first_item_nothing_is_said_of_the_time_left():
    assert state().seconds_left is None
    assert progress_text(state()) == "0 of 400 items, 0 failed"


def test_the_time_left_is_that_of_the_items_left_at_the_pace_so_far(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 30.0)
    assert state(done=100).seconds_left == pytest.approx(90.0)
    assert state(done=400).seconds_left == 0.0
    assert progress_text(state(done=100)) == "100 of 400 items, 0 failed, 1m30s left"


@pytest.mark.parametrize(("seconds", "told"), [(59, "59s"), (60, "1m00s"), (3599.4, "59m59s"), (7260, "2h01m")])
def test_durations_are_told_in_the_unit_that_fits(monkeypatch, seconds, told):
    monkeypatch.setattr("time.monotonic", lambda: seconds)
    assert progress_text(state(done=200)).endswith(f"{told} left")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"expected_calls": 400, "usage": Usage(calls=3, usd=0.5), "expected_usd": 2.0}, "3 calls, $0.5 of about $2"),
        ({"expected_calls": 400, "usage": Usage(calls=3, usd=0.5)}, "3 calls, $0.5"),
        ({"expected_calls": 400, "usage": Usage(calls=3, usd=None), "expected_usd": 2.0}, "3 calls, cost unknown"),
        ({"usage": Usage(calls=1200, usd=0.0)}, "1,200 calls, $0"),
        ({"done": 12_345, "total": 50_000, "failed": 1234}, "12,345 of 50,000 items, 1,234 failed"),
    ],
)
def test_calls_and_money_are_told_where_anybody_is_asked(fields, told):
    assert told in progress_text(state(**fields))


def test_a_run_that_stops_says_what_it_waits_for():
    text = progress_text(state(done=10, is_stopping=True))
    assert text.endswith("stopping after the calls under way; Ctrl-C again ends at once")
    assert "stopping" not in progress_text(state(done=10, is_stopping=True, is_over=True))


def test_a_run_that_is_over_has_no_time_left():
    assert "left" not in progress_text(state(done=400, is_over=True))


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    show = progress_line()
    for now in (1.0, PLAIN_EVERY - 0.1, PLAIN_EVERY, PLAIN_EVERY + 1, 2 * PLAIN_EVERY):
        show(state(done=int(now)))
    show(state(done=400, is_over=True))
    told = capsys.readouterr()
    assert told.out == ""
    assert [line.split(" of ")[0] for line in told.err.splitlines()] == ["10", "20", "400"]


def test_a_log_is_told_at_once_that_the_run_is_stopping_and_only_once(capsys, monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 1.0)
    show = progress_line()
    for _ in range(3):
        show(state(done=1, is_stopping=True))
    assert capsys.readouterr().err.count("Ctrl-C again ends at once") == 1


def test_a_terminal_gets_one_live_line(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    show = progress_line()
    show(state(done=1))
    show(state(done=2, is_over=True))
    written = screen.getvalue()
    assert "1 of 400 items" in written
    assert "2 of 400 items" in written
    assert "\x1b[" in written


def test_the_display_is_told_until_the_end_and_once_more():
    seen = []
    known = state()

    def show(told):
        seen.append(told.done)
        told.done += 1
        told.is_over = told.done == 2

    asyncio.run(reported(known, show))
    assert seen == [0, 1]
    asyncio.run(reported(known, None))


def test_a_run_reports_items_failures_and_calls_as_it_goes():
    def script(request):
        if "broken" in request.messages[-1].content:
            raise JudgeReplyError("expected a level")
        return {"explanation": "", "score": 3}

    seen = []
    items = [{"id": str(n), "answer": "broken" if n < 3 else "fine", "contexts": ["c"]} for n in range(10)]
    judges = [RubricMetric("groundedness", models=ScriptedInvoker(script), name=name) for name in ("one", "two")]
    run(items, judges, settings=RunSettings(progress=lambda told: seen.append((told.total, told.done, told.failed))))
    assert seen[-1] == (10, 10, 3)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
