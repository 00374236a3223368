"""What a run took: this time, and in all the times that its command was given."""

import pytest

from calibrant import ScriptedInvoker
from calibrant.metrics import RubricMetric
from calibrant.ratings import Usage
from calibrant.report import html_report
from calibrant.runs import RunSettings, reopened, run, verify
from calibrant.runs.spending import Spending
from calibrant.store import Workspace

ITEMS = [{"id": str(n), "query": "Open?", "answer": f"Until {n}."} for n in range(6)]


def judged(folder, **settings):
    judge = ScriptedInvoker(lambda request: {"explanation": "Fine.", "score": 3})
    return run(ITEMS, [RubricMetric("fluency", models=judge)], settings=RunSettings(workspace=folder, **settings))


def test_sessions_add_up_but_for_answers_that_were_kept():
    first = Spending().joined(Usage(calls=4, input_tokens=40, output_tokens=4, usd=0.5))
    both = first.joined(Usage(calls=2, cached=4, input_tokens=20, output_tokens=2, usd=0.25))
    assert (both.usage, both.sessions, both.is_all) == (
        Usage(calls=6, cached=4, input_tokens=60, output_tokens=6, usd=0.75),
        2,
        True,
    )
    assert Spending.from_json(both.to_json()) == both
    assert Spending.from_json(None) == Spending()


def test_money_that_was_unknown_once_stays_unknown():
    assert Spending().joined(Usage(calls=1, usd=None)).joined(Usage(calls=1, usd=1.0)).usage.usd is None


def test_a_finished_run_given_again_keeps_what_it_took(tmp_path):
    judged(tmp_path).close()
    again = judged(tmp_path)
    assert (again.usage.calls, again.usage.cached, again.spending.usage.calls) == (0, 6, 6)
    assert verify(again).is_ok
    again.close()
    shown = reopened("latest", workspace=tmp_path)
    assert (shown.spending, shown.to_json()["spending"]) == (again.spending, again.spending.to_json())
    assert "in all: 6 calls" in str(shown)
    assert "Calls, all times" in html_report(shown.to_json())
    shown.close()


def test_a_budget_that_ends_a_run_twice_adds_up_to_all_calls(tmp_path):
    for calls in (2, 2, None):
        result = judged(tmp_path, max_calls=calls)
        result.close()
    assert (result.status, result.usage.calls, result.spending.usage.calls) == ("complete", 2, 6)
    assert (result.spending.sessions, result.spending.is_all) == (3, True)


def test_the_first_time_says_it_once(tmp_path):
    result = judged(tmp_path)
    assert "spending" not in result.to_json()
    assert "in all" not in str(result)
    result.close()


@pytest.mark.parametrize("calls", [0, 3])
def test_what_a_killed_session_took_is_said_to_be_unknown(tmp_path, calls):
    result = judged(tmp_path, max_calls=calls or None)
    result.close()
    with Workspace(tmp_path) as workspace:
        # As a kill leaves it: the manifest of a session that began and never ended.
        manifest = workspace.manifest(result.id)
        workspace.put_manifest(result.id, {**manifest, "status": "running"})
    again = judged(tmp_path)
    assert (again.spending.is_all, again.spending.sessions) == (False, 3)
    assert str(again).endswith(", and what was asked before a kill")
    assert "what was asked before a kill" in html_report(again.to_json())
    again.close()
