"""A plan as a test, in a pytest of its own, as its users run it."""

import os
import re
from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]

PLAN = """\
version: 1
name: bot
dataset: items.jsonl
metrics:
  - {{name: brief, function: "checks:brief"}}
gates:
  - {gate}
"""
CHECKS = """\
from pathlib import Path

def brief(item):
    with Path(__file__).with_name("asked.txt").open("a") as file:
        file.write(item.id + "\\n")
    return len(item.answer.split()) <= 2
"""
TEST = """\
import pytest

@pytest.mark.calibrant("plan.yaml")
def test_the_bot(calibrant_run):
    assert calibrant_run.metric("brief").pass_rate.n == 40
"""
PASS, FAIL, OPEN = "brief.pass_rate >= 0.6", "brief.pass_rate >= 0.95", "brief.pass_rate >= 0.8"


@pytest.fixture
def project(pytester, monkeypatch):
    """Forty items of which 32 are brief, a plan with one gate, and a test."""
    # The plugins of this environment take longer to load than a plan to run.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    answers = ["Until six." if n % 5 else "I would not know that." for n in range(40)]
    rows = [f'{{"id": "i{n}", "query": "?", "answer": "{answer}"}}' for n, answer in enumerate(answers)]
    (pytester.path / "items.jsonl").write_text("\n".join(rows))
    (pytester.path / "checks.py").write_text(CHECKS)

    def made(gate=PASS, test=TEST, ini=""):
        (pytester.path / "plan.yaml").write_text(PLAN.format(gate=gate))
        (pytester.path / "test_bot.py").write_text(test)
        (pytester.path / "pytest.ini").write_text(f"[pytest]\naddopts = --strict-markers\n{ini}")
        return pytester

    return made


def ran(pytester, *arguments):
    return pytester.runpytest_subprocess("-p", "calibrant.pytest_plugin", "-p", "no:cacheprovider", *arguments)


def asked(pytester):
    return (pytester.path / "asked.txt").read_text().split()


def test_a_plan_whose_gates_pass_is_a_test_that_passes_and_its_estimates_are_printed(project):
    result = ran(project())
    result.assert_outcomes(passed=1)
    result.stdout.re_match_lines(
        [
            r"=+ calibrant =+",
            r"bot  r-\w+  40 items of items",
            r"metric .*pass rate .*",
            r"brief   0\.800 \[0\.\d{3}, 0\.\d{3}\] .* 40 .*",
            r"PASS  brief\.pass_rate >= 0\.6 \(0\.800, at least 0\.\d{3} with 95% confidence\)",
        ]
    )


def test_a_gate_that_fails_is_a_test_that_fails_and_says_why(project):
    result = ran(project(FAIL))
    result.assert_outcomes(failed=1)
    result.stdout.re_match_lines(
        [
            "calibrant: bot: a gate failed",
            r"FAIL  brief\.pass_rate >= 0\.95 \(0\.800, at most 0\.\d{3} with 95% confidence\)",
        ],
    )
    assert "Traceback" not in result.stdout.str()
    assert "checks.py" not in result.stdout.str()


def test_an_inconclusive_gate_fails_by_default_and_says_what_would_settle_it(project):
    result = ran(project(OPEN, ini=""))
    result.assert_outcomes(failed=1)
    told = result.stdout.str()
    assert "calibrant: bot: a gate is INCONCLUSIVE" in told
    assert "INCONCLUSIVE  brief.pass_rate >= 0.8 (0.800, between" in told
    assert "(calibrant_inconclusive = fail; skip, warn and pass go on)" in told


@pytest.mark.parametrize(
    ("setting", "outcome"),
    [
        ("skip", {"skipped": 1}),
        ("warn", {"passed": 1, "warnings": 1}),
        ("pass", {"passed": 1}),
    ],
)
def test_what_an_inconclusive_gate_means_is_the_users_to_say(project, setting, outcome):
    result = ran(project("brief.pass_rate >= 0.78", ini=f"calibrant_inconclusive = {setting}\n"))
    result.assert_outcomes(**outcome)
    assert "INCONCLUSIVE  brief.pass_rate >= 0.78" in result.stdout.str()
    assert re.search(r"about [\d,]+ more items would settle it", result.stdout.str())
    assert ("InconclusiveGateWarning: calibrant: bot: a gate is INCONCLUSIVE" in result.stdout.str()) == (
        setting == "warn"
    )


def test_the_command_line_wins_over_the_ini_file(project):
    ran(project(OPEN, ini="calibrant_inconclusive = fail\n"), "--calibrant-inconclusive=pass").assert_outcomes(passed=1)


def test_a_setting_that_says_nothing_is_wrong_use(project):
    result = ran(project(ini="calibrant_inconclusive = perhaps\n"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: calibrant_inconclusive is fail, skip, warn or pass, not 'perhaps'"])


def test_a_marked_test_that_does_not_ask_for_the_run_answers_for_the_gates_too(project):
    test = 'import pytest\n\n@pytest.mark.calibrant("plan.yaml")\ndef test_gates_alone():\n    pass\n'
    ran(project(FAIL, test)).assert_outcomes(failed=1)


def test_the_tests_own_failure_is_told_and_not_the_gates(project):
    test = TEST.replace("== 40", "== 41")
    result = ran(project(FAIL, test))
    result.assert_outcomes(failed=1)
    assert "assert 40 == 41" in result.stdout.str()
    assert "a gate failed" not in result.stdout.str()
    assert "FAIL  brief.pass_rate >= 0.95" in result.stdout.str()


def test_tests_of_one_plan_share_its_run(project):
    twice = TEST + TEST.replace("test_the_bot", "test_the_bot_again").replace("import pytest", "")
    pytester = project(PASS, twice)
    result = ran(pytester)
    result.assert_outcomes(passed=2)
    assert sorted(asked(pytester)) == sorted(f"i{n}" for n in range(40))
    assert result.stdout.str().count("40 items of items") == 1


def test_settings_of_the_run_stand_in_the_marker_and_a_partial_run_is_no_pass(project):
    test = TEST.replace('"plan.yaml"', '"plan.yaml", max_minutes=0').replace("== 40", "== 0")
    result = ran(project(PASS, test))
    result.assert_outcomes(failed=1)
    told = "calibrant: bot is INCOMPLETE: brief: no item was rated (40 budget_exhausted); raise the budget"
    assert told in result.stdout.str()


def test_a_plan_that_is_wrong_is_an_error_with_its_lines_and_no_traceback(project):
    result = ran(project("nothing.pass_rate >= 0.5"))
    result.assert_outcomes(errors=1)
    told = result.stdout.str()
    assert "calibrant: plan.yaml has 1 problem" in told
    assert "line 7: gate 'nothing.pass_rate >= 0.5' is about 'nothing'; the metrics of this run are: brief" in told
    assert "calibrant/runs" not in told


def test_the_fixture_without_a_plan_says_how_to_name_one(project):
    result = ran(project(PASS, "def test_it(calibrant_run):\n    pass\n"))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['calibrant_run needs a plan: @pytest.mark.calibrant("plan.yaml")'])


def test_a_plan_lies_beside_the_test_or_in_the_root_folder(project):
    pytester = project()
    folder = pytester.path / "tests" / "deep"
    folder.mkdir(parents=True)
    (pytester.path / "test_bot.py").rename(folder / "test_bot.py")
    ran(pytester).assert_outcomes(passed=1)


def test_two_plans_with_a_module_of_one_name_each_get_their_own(project):
    pytester = project(PASS, TEST.replace("== 40", "== 40\n    assert calibrant_run.metrics[0].pass_rate.value == 0.8"))
    other = pytester.path / "other"
    other.mkdir()
    for name in ("items.jsonl", "plan.yaml", "test_bot.py"):
        text = (pytester.path / name).read_text().replace("value == 0.8", "value == 1.0")
        (other / name.replace("test_bot", "test_other")).write_text(text)
    (other / "checks.py").write_text("def brief(item):\n    return True\n")
    ran(pytester).assert_outcomes(passed=2)


def test_tests_without_the_marker_are_left_alone(project):
    pytester = project(PASS, "def test_nothing():\n    pass\n")
    result = ran(pytester)
    result.assert_outcomes(passed=1)
    assert "= calibrant =" not in result.stdout.str()
    assert not (pytester.path / ".calibrant").exists()


def test_workers_share_one_run_and_the_summary_is_printed_once(project):
    tests = TEST + "".join(
        TEST.replace("test_the_bot", f"test_the_bot_{n}").replace("import pytest", "") for n in range(5)
    )
    pytester = project(PASS, tests)
    result = ran(pytester, "-p", "xdist", "-n", "2")
    result.assert_outcomes(passed=6)
    assert len(asked(pytester)) == 40
    assert result.stdout.str().count("40 items of items") == 1


def test_a_failed_gate_fails_in_a_worker_as_it_does_without(project):
    result = ran(project(FAIL), "-p", "xdist", "-n", "2")
    result.assert_outcomes(failed=1)
    assert "FAIL  brief.pass_rate >= 0.95 (0.800, at most" in result.stdout.str()


def test_the_plugin_is_found_by_every_pytest_of_the_environment():
    if "calibrant" not in {entry.name for entry in entry_points(group="pytest11")} and "CI" not in os.environ:
        pytest.skip("installed before the plugin was declared: make .venv/.dev installs it again")
    (entry,) = [entry for entry in entry_points(group="pytest11") if entry.name == "calibrant"]
    assert entry.value == "calibrant.pytest_plugin"


def test_the_marker_and_the_setting_explain_themselves(project):
    pytester = project()
    assert "@pytest.mark.calibrant(plan, **settings): carry out the plan" in ran(pytester, "--markers").stdout.str()
    assert "calibrant_inconclusive (string):" in ran(pytester, "--help").stdout.str()


def test_a_setting_that_no_run_has_is_named(project):
    result = ran(project(test=TEST.replace('"plan.yaml"', '"plan.yaml", max_call=3')))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["calibrant: unknown setting 'max_call'; expected one of: *max_calls*"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(("setting", "outcome"), [("fail", {"failed": 1}), ("pass", {"passed": 1})])
def test_a_metric_that_rated_nothing_is_inconclusive_without_any_gate_about_it(project, setting, outcome):
    test = TEST.replace('.metric("brief").pass_rate.n == 40', '.unrated == ("brief",)')
    pytester = project("coverage <= 1", test=test, ini=f"calibrant_inconclusive = {setting}\n")
    (pytester.path / "checks.py").write_text("def brief(item):\n    raise RuntimeError('no')\n")
    result = ran(pytester)
    result.assert_outcomes(**outcome)
    told = "calibrant: bot is INCONCLUSIVE\nbrief: no item was rated (40 metric_error); mend what the metric's own code"
    assert (told in result.stdout.str()) == (setting == "fail")
