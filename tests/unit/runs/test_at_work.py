"""A run whose process was killed is told from one that is under way."""

import json
import os
import subprocess
import sys

import pytest

from calibrant.cli.group import main
from calibrant.runs.at_work import status_of, this_process
from calibrant.store import Workspace


@pytest.fixture
def ended():
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def running(**changes):
    return {"status": "running", "process": {**this_process(), **changes}}


def test_a_process_that_is_there_is_running():
    assert status_of(running()) == "running"
    assert status_of(running(pid=os.getppid())) == "running"


def test_a_process_that_is_no_more_was_interrupted(ended):
    assert status_of(running(pid=ended)) == "interrupted"
    assert status_of({**running(pid=ended), "status": "incomplete"}) == "incomplete"


def test_of_another_machine_nothing_is_claimed(ended):
    assert status_of(running(pid=ended, place="sha256:elsewhere")) == "running"


def test_where_asking_would_end_the_process_nothing_is_asked(ended, monkeypatch):
    monkeypatch.setattr("calibrant.runs.at_work.MAY_ASK", False)
    assert status_of(running(pid=ended)) == "running"


def test_a_process_of_somebody_else_is_there(monkeypatch):
    def refused(pid, signal):
        raise PermissionError

    monkeypatch.setattr("os.kill", refused)
    assert status_of(running()) == "running"


KILLED = """
import os
from calibrant.runs import RunSettings, run
run([{"id": "1", "answer": "Yes."}], [lambda item: os._exit(9)], settings=RunSettings(workspace=".calibrant"))
"""


def test_the_list_says_interrupted_of_a_run_that_was_killed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "killed.py").write_text(KILLED)
    assert subprocess.run([sys.executable, "killed.py"], check=False).returncode == 9
    with Workspace(".calibrant") as workspace:
        (name,) = workspace.runs()
        assert workspace.manifest(name)["status"] == "running"
    for arguments in (["list"], ["list", "--json"]):
        with pytest.raises(SystemExit):
            main(arguments)
        told = capsys.readouterr().out
        assert "interrupted" in told
        assert "running" not in told
    assert json.loads(told)["runs"][0]["status"] == "interrupted"
