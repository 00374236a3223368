"""The workspace when the disk is full, when processes meet, and when one is killed."""

import asyncio
import resource
import signal
import subprocess
import sys
import time

import pytest

from calibrant.errors import StoreError
from calibrant.store import CallRecord, Workspace

WRITES = """
import sys
from calibrant.store import CallRecord, Workspace
with Workspace(sys.argv[1]) as workspace:
    for number in range(300):
        workspace.add_calls([CallRecord(key=f"{sys.argv[2]}{number}", model="m", reply={"text": "x"})])
"""
PUTS_FOR_EVER = """
import asyncio, sys
from calibrant.store import CallRecord, Workspace
async def main():
    workspace = Workspace(sys.argv[1])
    number = 0
    while True:
        await workspace.put_call(CallRecord(key=f"k{number}", model="m", reply={"text": "x"}))
        print(number, flush=True)
        number += 1
asyncio.run(main())
"""


@pytest.fixture
def small_disk():
    """No file may grow past a megabyte, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_disk")
def test_a_full_disk_is_one_clear_error_and_what_was_committed_stays(tmp_path):
    workspace = Workspace(tmp_path)
    committed = []

    async def fill():
        for number in range(100):
            await workspace.put_call(CallRecord(key=f"k{number}", model="m", reply={"text": "x" * 50_000}))
            committed.append(f"k{number}")

    with pytest.raises(StoreError, match="the disk did not take the write; what was committed before is safe"):
        asyncio.run(fill())
    with pytest.raises(StoreError, match="the disk did not take the write"):
        workspace.add_calls([CallRecord(key="later", model="m")])
    assert committed
    assert all(workspace.call(key) is not None for key in committed)
    workspace.close()


def test_two_processes_write_at_once_and_lose_nothing(tmp_path):
    processes = [subprocess.Popen([sys.executable, "-c", WRITES, str(tmp_path), name]) for name in "ab"]
    assert [process.wait(60) for process in processes] == [0, 0]
    with Workspace(tmp_path) as workspace:
        assert len(list(workspace.calls())) == 600
        assert workspace.check() == []


def test_what_was_put_survives_a_kill(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", PUTS_FOR_EVER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    said = [process.stdout.readline() for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    said += process.stdout.readlines()
    process.wait()
    process.stdout.close()
    with Workspace(tmp_path) as workspace:
        assert all(workspace.call(f"k{number.strip()}") for number in said if number.endswith("\n"))
        assert workspace.check() == []


def test_a_cancelled_put_leaves_a_whole_row_or_none(tmp_path):
    with Workspace(tmp_path) as workspace:

        async def cancel_while_it_is_written():
            tasks = [
                asyncio.create_task(workspace.put_call(CallRecord(key=f"k{number}", model="m", reply={"text": "x"})))
                for number in range(50)
            ]
            await asyncio.sleep(0)
            for task in tasks[::2]:
                task.cancel()
            return await asyncio.gather(*tasks, return_exceptions=True)

        ended = asyncio.run(cancel_while_it_is_written())
        workspace.flush()
        assert sum(isinstance(one, asyncio.CancelledError) for one in ended) == 25
        assert workspace.check() == []
        assert all(workspace.call(f"k{number}") is not None for number in range(1, 50, 2))


def test_a_loop_that_ends_before_its_rows_are_written_harms_nobody(tmp_path):
    with Workspace(tmp_path) as workspace:

        async def leave():
            task = asyncio.create_task(workspace.put_call(CallRecord(key="k", model="m", reply={"text": "x"})))
            await asyncio.sleep(0)
            del task

        asyncio.run(leave())
        time.sleep(0.01)
        workspace.flush()
        assert workspace.call("k") is not None


def test_a_process_that_forgets_to_close_loses_nothing(tmp_path):
    forgets = (
        WRITES.replace("with Workspace(sys.argv[1]) as workspace:", "workspace = Workspace(sys.argv[1])")
        .replace("\n    ", "\n")
        .replace("range(300):\nworkspace", "range(300):\n    workspace")
    )
    subprocess.run([sys.executable, "-c", forgets, str(tmp_path), "a"], check=True)
    with Workspace(tmp_path) as workspace:
        assert len(list(workspace.calls())) == 300
