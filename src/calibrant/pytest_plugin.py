"""The pytest plugin: a plan is a test, its gates decide it, and its estimates stand in the terminal's summary.

    @pytest.mark.calibrant("plan.yaml")
    def test_the_support_bot(calibrant_run):
        assert calibrant_run.metric("brief").failing_items <= 2

It is loaded by every pytest of an environment that has Calibrant, so it imports nothing heavy until a marked test runs.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from calibrant.runs import Run

__all__ = ["InconclusiveGateWarning", "calibrant_run"]

SETTING = "calibrant_inconclusive"
CHOICES = ("fail", "skip", "warn", "pass")
MARKER = "calibrant(plan, **settings): carry out the plan before the test; its gates decide whether the test passes"
SHARED = "calibrant_shared"
WAIT_SECONDS = 86_400.0
"""So long one worker of pytest-xdist waits for another that carries out the same plan."""

RUNS = pytest.StashKey[dict[str, "Run"]]()
RUN = pytest.StashKey["Run"]()
FOLDER = pytest.StashKey[str]()


class InconclusiveGateWarning(pytest.PytestWarning):
    """A gate is INCONCLUSIVE, or a metric rated nothing, and `calibrant_inconclusive = warn` says to go on."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the setting, in the ini file and on the command line."""
    told = f"what becomes of a test whose gate is INCONCLUSIVE, or whose metric rated nothing: {', '.join(CHOICES)}"
    parser.addini(SETTING, f"{told} [fail]", default="fail")
    parser.getgroup("calibrant").addoption("--calibrant-inconclusive", choices=CHOICES, dest=SETTING, help=told)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, and refuse a setting that says nothing."""
    config.addinivalue_line("markers", MARKER)
    config.stash[RUNS] = {}
    if _setting(config) not in CHOICES:
        raise pytest.UsageError(f"{SETTING} is {', '.join(CHOICES[:-1])} or {CHOICES[-1]}, not {_setting(config)!r}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Let go of the runs' workspaces, and of the folder that workers shared."""
    for run in config.stash.get(RUNS, {}).values():
        run.close()
    if FOLDER in config.stash:
        shutil.rmtree(config.stash[FOLDER], ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist where workers leave word of the runs that they carried out."""
    config: pytest.Config = node.config
    if FOLDER not in config.stash:
        config.stash[FOLDER] = tempfile.mkdtemp(prefix="calibrant-pytest-")
    node.workerinput[SHARED] = config.stash[FOLDER]


def pytest_itemcollected(item: pytest.Item) -> None:
    """A marked test has its plan carried out, also when it does not ask for the run."""
    names = getattr(item, "fixturenames", None)
    if names is not None and item.get_closest_marker("calibrant") and "calibrant_run" not in names:
        names.insert(0, "calibrant_run")


@pytest.fixture
def calibrant_run(request: pytest.FixtureRequest) -> Run:
    """The Run of the plan that the test's `@pytest.mark.calibrant("plan.yaml")` names; tests of one plan share it."""
    from calibrant.errors import EvalError

    item: pytest.Item = request.node
    marker = item.get_closest_marker("calibrant")
    if marker is None or len(marker.args) != 1:
        pytest.fail('calibrant_run needs a plan: @pytest.mark.calibrant("plan.yaml")', pytrace=False)
    try:
        item.stash[RUN] = _run_of(item, _plan_path(item, Path(marker.args[0])), marker.kwargs)
    except EvalError as error:
        pytest.fail(f"calibrant: {error}", pytrace=False)
    return item.stash[RUN]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """When the test itself has passed, its plan's gates decide."""
    result = yield
    if RUN in item.stash:
        _decide(item.stash[RUN], _setting(item.config))
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Leave the run's table in the report, which also comes from the workers of pytest-xdist."""
    report = yield
    if report.when == "call" and RUN in item.stash:
        report.calibrant = str(item.stash[RUN])
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print each run once: its estimates, its failures, its gates."""
    reports = [one for by_outcome in terminalreporter.stats.values() for one in by_outcome]
    texts = dict.fromkeys(text for one in reports if (text := getattr(one, "calibrant", None)))
    if texts:
        terminalreporter.section("calibrant")
        terminalreporter.write_line("\n\n".join(texts))


def _setting(config: pytest.Config) -> str:
    return config.getoption(SETTING, default=None) or str(config.getini(SETTING)).strip()


def _plan_path(item: pytest.Item, plan: Path) -> Path:
    """The plan beside the test, else in pytest's root folder."""
    places = [item.path.parent / plan, item.config.rootpath / plan]
    return next((place for place in places if place.is_file()), places[0]).resolve()


def _run_of(item: pytest.Item, plan: Path, changes: Mapping[str, Any]) -> Run:
    from calibrant.runs import run_plan

    runs, key = item.config.stash[RUNS], f"{plan} {sorted(changes.items())!r}"
    if key not in runs:
        shared = getattr(item.config, "workerinput", {}).get(SHARED)
        runs[key] = run_plan(plan, **changes) if shared is None else _run_once(Path(shared), key, plan, changes)
    return runs[key]


def _run_once(folder: Path, key: str, plan: Path, changes: Mapping[str, Any]) -> Run:
    """The run of one worker for all: the first carries the plan out, the others wait and open what it kept."""
    import sqlite3

    from calibrant.runs import reopened, run_plan

    with contextlib.closing(sqlite3.connect(folder / "runs.db", timeout=WAIT_SECONDS, isolation_level=None)) as shared:
        # A transaction is a lock that ends with its process, on every platform.
        shared.execute("BEGIN IMMEDIATE")
        shared.execute("CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, run TEXT, workspace TEXT)")
        known = shared.execute("SELECT run, workspace FROM runs WHERE key = ?", [key]).fetchone()
        if known is not None:
            shared.execute("COMMIT")
            return reopened(known[0], workspace=known[1])
        run = run_plan(plan, **changes)
        workspace = None if run.keeper is None else run.keeper.workspace
        if workspace is not None:
            shared.execute("INSERT INTO runs VALUES (?, ?, ?)", [key, run.id, str(workspace.path.parent)])
        shared.execute("COMMIT")
        return run


def _decide(run: Run, setting: str) -> None:
    """Fail, skip or warn as the gates' answers say."""
    if run.status == "incomplete":
        told = "; ".join(run.warnings) or "not all items were reached"
        pytest.fail(f"calibrant: {run.name} is INCOMPLETE: {told}", pytrace=False)
    failed, still_open = (_told(run, answer) for answer in ("FAIL", "INCONCLUSIVE"))
    unrated = _unrated(run)
    if failed:
        pytest.fail("\n".join([f"calibrant: {run.name}: a gate failed", *failed, *still_open, *unrated]), pytrace=False)
    if not (still_open or unrated) or setting == "pass":
        return
    what = ": a gate is INCONCLUSIVE" if still_open else " is INCONCLUSIVE"
    text = "\n".join([f"calibrant: {run.name}{what}", *still_open, *unrated])
    if setting == "fail":
        pytest.fail(f"{text}\n({SETTING} = fail; skip, warn and pass go on)", pytrace=False)
    if setting == "skip":
        pytest.skip(text)
    warnings.warn(InconclusiveGateWarning(text), stacklevel=1)


def _unrated(run: Run) -> list[str]:
    """For each metric that rated nothing a line that says why."""
    from calibrant.runs.unrated import unrated_text

    return [text for one in run.metrics if (text := unrated_text(one.name, one.pass_rate.coverage))]


def _told(run: Run, answer: str) -> list[str]:
    """The gates with that answer, each in a line that says why."""
    from calibrant.report.tables import gate_lines

    return [*gate_lines([gate.to_json() for gate in run.gates if gate.answer == answer])]
