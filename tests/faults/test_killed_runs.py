"""A run that is killed, again and again, ends as if nothing had happened, and pays for no answer twice."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zlib

import pytest
from provider_server import ProviderServer

from calibrant.store import Workspace

ITEMS, KILLS, CONCURRENCY = 500, 20, 8
COMMAND = [sys.executable, "-m", "calibrant", "run", "plan.yaml", "--json", "--quiet"]


def answer(body):
    question = next(message["content"] for message in body["messages"] if message["role"] == "user")
    return json.dumps({"explanation": "As it stands.", "score": 1 + zlib.crc32(question.encode()) % 3})


@pytest.fixture
def server():
    with ProviderServer(answer, latency=0.004) as running:
        yield running


def project(folder, server, *, secret=None):
    folder.mkdir()
    rows = [f"{n},Question {n}?,Answer {n}.,The context says {n}." for n in range(ITEMS)]
    (folder / "items.csv").write_text("\n".join(["id,query,answer,contexts", *rows]))
    (folder / "plan.yaml").write_text(
        "version: 1\ndataset: items.csv\nmetrics: [groundedness]\njudges: [main]\n"
        f"models: {{main: {{model: openai/judge, base_url: {server.openai_url!r}}}}}\nconcurrency: {CONCURRENCY}\n"
    )
    if secret is not None:
        # Markers depend on the workspace's secret: with the same one, the same calls have the same keys.
        (folder / ".calibrant").mkdir()
        shutil.copy(secret, folder / ".calibrant" / "secret")
    return folder


def finished(folder, environment):
    done = subprocess.run(COMMAND, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def killed(folder, environment, server, after):
    """Start the run, and kill it when the server has got `after` more requests; whether it had ended before."""
    wanted = len(server.requests) + after
    with subprocess.Popen(COMMAND, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and len(server.requests) < wanted:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
    return process.returncode == 0


def ratings(folder, run):
    with Workspace(folder / ".calibrant") as workspace:
        kept = list(workspace.ratings(run))
    return sorted((one.item, one.status, one.value, one.explanation, one.call_keys) for one in kept)


def repeated(server):
    return sum(times - 1 for times in server.answered.values())


def test_a_run_killed_twenty_times_ends_as_an_undisturbed_one_and_asks_nothing_twice(tmp_path, server):
    environment = {**os.environ, "OPENAI_API_KEY": "key"}
    undisturbed = project(tmp_path / "undisturbed", server)
    expected = finished(undisturbed, environment)
    assert sum(server.answered.values()) == len(server.answered) == ITEMS
    server.answered.clear()

    folder = project(tmp_path / "killed", server, secret=undisturbed / ".calibrant" / "secret")
    draw = random.Random(7)
    for kill in range(1, KILLS + 1):
        assert not killed(folder, environment, server, draw.randint(1, 2 * ITEMS // KILLS - 10))
        assert repeated(server) <= kill * CONCURRENCY
    result = finished(folder, environment)

    assert ratings(folder, result["run"]) == ratings(undisturbed, expected["run"])
    assert result["metrics"][0]["score"] == expected["metrics"][0]["score"]
    assert result["usage"]["calls"] + result["usage"]["cached"] == ITEMS
    assert len(server.answered) == ITEMS
    # Every kill can lose what was under way, and nothing else.
    assert repeated(server) <= KILLS * CONCURRENCY
    assert max(server.answered.values()) <= 1 + KILLS
    assert sum(server.answered.values()) - repeated(server) == ITEMS


def test_two_processes_on_one_workspace_end_alike_and_leave_it_sound(tmp_path, server):
    environment = {**os.environ, "OPENAI_API_KEY": "key"}
    folder = project(tmp_path / "shared", server)
    both = [
        subprocess.Popen(
            COMMAND, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    printed = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], printed
    first, second = (json.loads(out) for out, _ in printed)
    assert first["run"] == second["run"]
    assert first["metrics"][0]["score"] == second["metrics"][0]["score"]
    with Workspace(folder / ".calibrant") as workspace:
        assert workspace.check() == []
        assert len(list(workspace.ratings(first["run"]))) == ITEMS
