"""A real process, a real Ctrl-C: nothing half-written, no traceback of tasks or sockets, and the next start resumes."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from provider_server import ProviderServer

from calibrant.store import Workspace

PROGRAM = textwrap.dedent("""
    import asyncio, sys
    from calibrant.models import Request, connect, wrapped
    from calibrant.store import Workspace

    async def main(address, folder):
        with Workspace(folder) as workspace:
            model = wrapped(connect("openai/judge", base_url=address, concurrency=16), workspace=workspace)
            asked = [Request.of(f"item {number}", labels=("yes", "no")) for number in range(400)]
            replies = await asyncio.gather(*map(model.invoke, asked))
        print("cached", sum(reply.usage.cached for reply in replies), "called", sum(r.usage.calls for r in replies))

    try:
        asyncio.run(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        print("interrupted")
        sys.exit(4)
""")


def started(server, folder):
    return subprocess.Popen(
        [sys.executable, "-W", "always", "-c", PROGRAM, server.openai_url, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(what):
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_process_that_is_stopped_leaves_whole_rows_and_the_next_one_goes_on_from_there(tmp_path, how):
    with ProviderServer(latency=0.05) as server:
        process = started(server, tmp_path)
        wait_for(lambda: len(server.requests) > 80)
        os.kill(process.pid, how)
        said, complained = process.communicate(timeout=60)
        assert process.returncode == (4 if how == signal.SIGINT else -signal.SIGKILL), complained
        if how == signal.SIGINT:
            assert (said.strip(), complained.strip()) == ("interrupted", "")
        wait_for(lambda: server.concurrent == 0)
        with Workspace(tmp_path) as workspace:
            assert workspace.check() == []
            kept = len(list(workspace.calls()))
        assert 0 < kept < 400
        said, complained = started(server, tmp_path).communicate(timeout=120)
    assert said.strip() == f"cached {kept} called {400 - kept}"
    assert complained == ""


def test_two_processes_and_a_reader_share_a_workspace_and_each_call_is_kept_once(tmp_path):
    with ProviderServer(latency=0.005) as server, Workspace(tmp_path) as workspace:
        processes = [started(server, tmp_path) for _ in range(2)]
        counts = []
        while any(process.poll() is None for process in processes):
            counts.append(sum(1 for _ in workspace.calls()))
            time.sleep(0.05)
        ended = [process.communicate() for process in processes]
        assert [complained for _, complained in ended] == ["", ""]
        assert counts == sorted(counts)
        assert len(list(workspace.calls())) == 400
        assert workspace.check() == []


def test_one_invoker_under_two_loops_one_after_the_other_leaves_no_socket(recwarn):
    from calibrant.models import Request, connect, wrapped

    asked = Request.of("Is it?", labels=("yes", "no"))
    with ProviderServer() as server:
        model = wrapped(connect("openai/judge", base_url=server.openai_url))
        for _ in range(2):
            with asyncio.Runner() as runner:
                assert runner.run(model.invoke(asked)).data == "yes"
                assert runner.run(model.invoke(asked)).data == "yes"
        wait_for(lambda: server.concurrent == 0)
    assert [str(warning.message) for warning in recwarn] == []


LOOPS_OF_ONES_OWN = textwrap.dedent("""
    import asyncio, gc, sys, threading, weakref
    from calibrant.models import Request, connect, wrapped

    asked = Request.of("Is it?", labels=("yes", "no"))
    model = wrapped(connect("openai/judge", base_url=sys.argv[1]))
    left = []
    for _ in range(3):
        loop = asyncio.new_event_loop()
        left.append(weakref.ref(loop))
        print(loop.run_until_complete(model.invoke(asked)).data)
        loop.close()
        del loop
    threads = [threading.Thread(target=lambda: asyncio.run(model.invoke(asked))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    print("left", sum(reference() is not None for reference in left))
""")


def test_loops_that_a_program_closes_by_itself_warn_of_nothing_and_are_let_go():
    with ProviderServer() as server:
        done = subprocess.run(
            [sys.executable, "-c", LOOPS_OF_ONES_OWN, server.openai_url], capture_output=True, text=True, check=True
        )
        assert (done.stdout, done.stderr) == ("yes\nyes\nyes\nleft 0\n", "")
        wait_for(lambda: server.concurrent == 0)
