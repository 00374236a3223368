"""Memory does not grow with the calls: what a call leaves behind is in the workspace and nowhere else."""

import asyncio
import gc
import tracemalloc
import weakref

from calibrant.models import BaseLMInvoker, Budget, Latencies, Limiter, Reply, Request, limited, wrapped
from calibrant.ratings import Usage
from calibrant.store import Workspace


class Instant(BaseLMInvoker):
    """A model that answers at once and remembers nothing."""

    name = "test/instant"

    def cost(self, input_tokens, output_tokens):
        return 0.0

    async def invoke(self, request):
        await asyncio.sleep(0)
        return Reply(text="yes " * 50, usage=Usage(calls=1, input_tokens=10, output_tokens=5))


async def asked(model, numbers, *, at_once=32):
    """Every number in turn, so many at a time, with nothing kept of the replies."""
    turns = iter(numbers)

    async def worker():
        for number in turns:
            await model.invoke(Request.of(f"item {number} " + "word " * 50))

    await asyncio.gather(*(worker() for _ in range(at_once)))


def test_the_memory_of_every_wrapper_and_the_store_stays_flat(tmp_path):
    def held():
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    with Workspace(tmp_path) as workspace:
        limiter = Limiter(requests_per_minute=10**9, tokens_per_minute=10**9, concurrency=32)
        model = wrapped(limited(Instant(), limiter), workspace=workspace, budget=Budget(usd=1.0), latencies=Latencies())

        async def main():
            await asked(model, range(300))
            tracemalloc.start()
            try:
                before = held()
                await asked(model, range(300, 3300))
                return held() - before
            finally:
                tracemalloc.stop()

        grown = asyncio.run(main())
        assert len(list(workspace.calls())) == 3300
    # The last batch is still held, whatever the number of calls; a key kept of each would take more than this.
    assert grown < 3000 * 60


def test_a_model_that_nobody_holds_is_let_go_with_its_wrappers(tmp_path):
    with Workspace(tmp_path) as workspace:
        model = wrapped(Instant(), workspace=workspace)
        asyncio.run(asked(model, range(20)))
        gone = weakref.ref(model)
        del model
        gc.collect()
        assert gone() is None


def test_a_workspace_that_nobody_holds_closes_itself():
    import tempfile
    import threading

    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        asyncio.run(asked(wrapped(Instant(), workspace=workspace), range(5)))
        del workspace
        gc.collect()
        assert [thread for thread in threading.enumerate() if thread.name == "calibrant-store"] == []
        with Workspace(folder) as again:
            assert len(list(again.calls())) == 5
