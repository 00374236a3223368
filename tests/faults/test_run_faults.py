"""Runs when the disk is full, the folder cannot be written, Ctrl-C is pressed, or a judge fails on every third row."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import pytest
from provider_server import ProviderServer

from calibrant.errors import StoreError
from calibrant.metrics import RubricMetric
from calibrant.models import connect
from calibrant.runs import RunSettings, run
from calibrant.store import Workspace

COMMAND = [sys.executable, "-m", "calibrant", "run", "plan.yaml", "--quiet"]
SLOW = """
import time
from pathlib import Path

def answer(item):
    Path("asked").touch()
    time.sleep(60)
    return "Late."

def brief(item):
    return True
"""


def level(body):
    """A level of 1 to 3 that depends on the question alone."""
    question = next(message["content"] for message in body["messages"] if message["role"] == "user")
    return zlib.crc32(question.encode())


def answer(body):
    return json.dumps({"explanation": "As it stands.", "score": 1 + level(body) % 3})


def items(n, length=10):
    return [
        {"id": f"i{k}", "query": f"Q{k}?", "answer": "word " * length, "contexts": [f"The context {k}."]}
        for k in range(n)
    ]


def groundedness(server):
    return RubricMetric("groundedness", models=connect("openai/judge", base_url=server.openai_url, api_key="key"))


@pytest.fixture
def small_disk():
    """No file may grow past 400,000 bytes, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_one_error_and_with_more_room_only_what_is_missing_is_asked(tmp_path, small_disk):
    data, settings = items(60, length=1500), RunSettings(workspace=tmp_path, concurrency=4)
    with ProviderServer(answer) as server:
        with pytest.raises(StoreError, match="the disk did not take the write; what was committed before is safe"):
            run(data, [groundedness(server)], settings=settings)
        before = sum(server.answered.values())
        assert 0 < before < 60
        small_disk()
        whole = run(data, [groundedness(server)], settings=settings)
        assert (whole.status, whole.metrics[0].pass_rate.n) == ("complete", 60)
        # What was being asked when the disk was full is asked again: at most as many as were under way.
        assert sum(server.answered.values()) - 60 <= 4
        assert whole.usage.cached >= before - 4
        whole.close()
    with Workspace(tmp_path) as workspace:
        assert workspace.check() == []


def test_a_full_disk_ends_the_command_with_one_line_and_the_code_of_wrong_use(tmp_path):
    rows = [json.dumps({**item, "contexts": ["c"]}) for item in items(300, length=2000)]
    (tmp_path / "items.jsonl").write_text("\n".join(rows))
    (tmp_path / "checks.py").write_text("def brief(item):\n    return True\n")
    (tmp_path / "plan.yaml").write_text(
        "version: 1\ndataset: items.jsonl\nmetrics: [{name: brief, function: 'checks:brief'}]\n"
    )
    limited = ["/bin/sh", "-c", 'ulimit -f 400; exec "$@"', "sh", *COMMAND]
    done = subprocess.run(limited, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: the workspace .calibrant/calibrant.db failed: the disk did not take the write")
    again = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0
    assert "brief   1.000 [0.987, 1.000]" in again.stdout


@pytest.fixture
def read_only():
    """A folder that this process may not write to, also when root runs the tests."""
    folder = Path(tempfile.mkdtemp(prefix="calibrant-read-only-"))
    run(items(1), [lambda item: True], settings=RunSettings(workspace=folder / "first")).close()
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    yield folder
    os.seteuid(user)
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_a_folder_that_cannot_be_written_is_one_error_before_anybody_is_asked(read_only):
    with (
        ProviderServer(answer) as server,
        pytest.raises(StoreError, match="it cannot be written here; check the folder's permissions, or choose another"),
    ):
        run(items(3), [groundedness(server)], settings=RunSettings(workspace=read_only / ".calibrant"))
    assert server.requests == []


def test_a_workspace_where_a_file_stands_is_one_error_before_anybody_is_asked(tmp_path):
    (tmp_path / "taken").write_text("not a folder")
    with ProviderServer(answer) as server, pytest.raises(StoreError, match="the workspace .* failed"):
        run(items(3), [groundedness(server)], settings=RunSettings(workspace=tmp_path / "taken" / "below"))
    assert server.requests == []


def broken_on(share):
    """Answers as `answer`, but rubbish where the question says so: for a `share` of all questions."""

    def script(body):
        return "maybe" if level(body) % 100 < 100 * share else answer(body)

    return script


def test_a_judge_that_fails_on_three_rows_in_ten_never_looks_better_and_the_gate_on_coverage_catches_it():
    data, gates = items(120), ["groundedness.pass_rate >= 0.3", "coverage >= 0.98"]
    with ProviderServer(answer) as server:
        sound = run(data, [groundedness(server)], gates=gates)
    with ProviderServer(broken_on(0.3)) as server:
        broken = run(data, [groundedness(server)], gates=gates)
    assert sound.exit_code == 0
    true, shown = sound.metrics[0].pass_rate, broken.metrics[0].pass_rate
    assert shown.coverage.failed == shown.coverage.codes["reply_unparsable"] >= 20
    assert shown.coverage.rated + shown.coverage.failed == 120
    # The truth lies within the worst case that stands beside the headline.
    assert shown.worst_case[0] <= true.value <= shown.worst_case[1]
    assert shown.worst_case[0] * 120 == pytest.approx(shown.value * shown.n)
    assert [gate.answer for gate in broken.gates][1] == "FAIL"
    assert (broken.exit_code, f"{shown.coverage.failed} of 120 items could not be rated" in str(broken)) == (1, True)


def test_a_judge_that_fails_where_answers_are_bad_passes_no_gate_that_it_would_fail():
    """The rows that fail are those that would not pass: over the survivors alone the pass rate would be 1."""

    def only_good(body):
        return "maybe" if level(body) % 3 == 0 else json.dumps({"explanation": "", "score": 3})

    with ProviderServer(only_good) as server:
        result = run(items(90), [groundedness(server)], gates=["groundedness.pass_rate >= 0.9"])
    rate = result.metrics[0].pass_rate
    assert rate.value == 1.0
    assert rate.worst_case[0] < 0.8
    assert result.gates[0].answer == "INCONCLUSIVE"
    assert "that failed were not for it" in result.gates[0].reason
    assert result.exit_code == 3


def slow_project(folder):
    (folder / "items.jsonl").write_text("\n".join(json.dumps({"id": str(n), "query": "?"}) for n in range(6)))
    (folder / "bot.py").write_text(SLOW)
    (folder / "plan.yaml").write_text(
        "version: 1\ndataset: items.jsonl\nsystem: bot:answer\nmetrics: [{name: brief, function: 'bot:brief'}]\n"
        "concurrency: 2\n"
    )
    return [sys.executable, "-m", "calibrant", "run", "plan.yaml"]


def lines_until(process, text):
    for line in process.stderr:
        if text in line:
            return line
    raise AssertionError(f"the command never said {text!r}")


def test_the_second_interrupt_ends_at_once_even_while_the_system_blocks(tmp_path):
    command = slow_project(tmp_path)
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        lines_until(process, "6 items, 6 calls to the system")
        while not (tmp_path / "asked").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert "stopping after the calls under way; Ctrl-C again ends at once" in lines_until(process, "stopping")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=30)
        assert time.monotonic() - began < 15
        assert process.returncode == 4
        assert "Traceback" not in told
    with Workspace(tmp_path / ".calibrant") as workspace:
        assert workspace.check() == []
        (name,) = workspace.runs()
        assert workspace.manifest(name)["status"] == "running"


def test_the_first_interrupt_ends_with_a_valid_partial_result_and_the_same_command_goes_on(tmp_path):
    rows = [json.dumps({"id": str(n), "answer": f"A{n}.", "contexts": [f"C{n}."]}) for n in range(60)]
    (tmp_path / "items.jsonl").write_text("\n".join(rows))
    environment = {**os.environ, "OPENAI_API_KEY": "key"}
    with ProviderServer(answer, latency=0.05) as server:
        (tmp_path / "plan.yaml").write_text(
            "version: 1\ndataset: items.jsonl\nmetrics: [groundedness]\njudges: [main]\nconcurrency: 2\n"
            f"models: {{main: {{model: openai/judge, base_url: {server.openai_url!r}}}}}\n"
        )
        command = [*COMMAND, "--json"]
        process = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
        while len(server.requests) < 8:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        partial = json.loads(out)
        assert (process.returncode, partial["status"], partial["exit_code"]) == (4, "incomplete", 4)
        coverage = partial["metrics"][0]["pass_rate"]["coverage"]
        assert coverage["rated"] + coverage["skipped"] == 60
        assert coverage["codes"] == {"interrupted": coverage["skipped"]}
        assert "items were not reached; the numbers are partial" in partial["warnings"][0]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        whole = json.loads(done.stdout)
        assert (done.returncode, whole["run"], whole["status"]) == (0, partial["run"], "complete")
        assert whole["usage"]["cached"] >= coverage["rated"]
        assert max(server.answered.values()) == 1
