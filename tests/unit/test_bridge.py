"""The bridge from synchronous code into the asynchronous core."""

import asyncio
import contextvars
import signal
import threading

import pytest

from calibrant.bridge import run_sync
from calibrant.errors import WrongTypeError

NAME = contextvars.ContextVar("name", default="nobody")


async def doubled(number):
    await asyncio.sleep(0)
    return 2 * number


async def failing():
    await asyncio.sleep(0)
    raise LookupError("no such document")


def test_it_returns_what_the_coroutine_returns():
    assert run_sync(doubled(21)) == 42


def test_it_raises_what_the_coroutine_raises():
    with pytest.raises(LookupError, match="no such document"):
        run_sync(failing())


def test_it_works_inside_a_running_loop():
    async def caller():
        return run_sync(doubled(4)) + run_sync(doubled(5))

    assert asyncio.run(caller()) == 18


def test_inside_a_running_loop_it_raises_what_the_coroutine_raises():
    async def caller():
        run_sync(failing())

    with pytest.raises(LookupError, match="no such document"):
        asyncio.run(caller())


def test_it_may_be_nested():
    async def inner():
        return run_sync(doubled(3))

    async def outer():
        return run_sync(inner()) + 1

    assert asyncio.run(outer()) == 7


def test_the_coroutine_sees_the_callers_context():
    async def read():
        return NAME.get()

    async def caller():
        NAME.set("kim")
        return run_sync(read())

    assert asyncio.run(caller()) == "kim"


def test_its_loop_is_another_than_the_callers_and_its_thread_too():
    async def where():
        return asyncio.get_running_loop(), threading.current_thread()

    async def caller():
        return await where(), run_sync(where())

    (outer_loop, outer_thread), (inner_loop, inner_thread) = asyncio.run(caller())
    assert outer_loop is not inner_loop
    assert outer_thread is not inner_thread
    assert inner_loop.is_closed()
    assert not inner_thread.is_alive()


def test_an_interrupt_cancels_the_coroutine_instead_of_leaving_it_running():
    seen = []

    async def slow():
        threading.Thread(target=signal.pthread_kill, args=(threading.main_thread().ident, signal.SIGUSR1)).start()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    def interrupt(_number, _frame):
        raise KeyboardInterrupt

    async def caller():
        run_sync(slow())

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(caller())
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == ["cancelled"]


def test_an_interrupt_waits_for_what_the_coroutine_still_has_to_put_away():
    seen = []

    async def slow():
        threading.Thread(target=signal.pthread_kill, args=(threading.main_thread().ident, signal.SIGUSR1)).start()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            seen.append("put away")

    def interrupt(_number, _frame):
        raise KeyboardInterrupt

    async def caller():
        run_sync(slow())

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(caller())
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen == ["put away"]


def test_what_a_coroutine_raises_of_its_own_ends_the_thread_too():
    async def stopping():
        raise SystemExit(3)

    async def caller():
        run_sync(stopping())

    before = threading.active_count()
    with pytest.raises(SystemExit) as stopped:
        asyncio.run(caller())
    assert stopped.value.code == 3
    assert threading.active_count() <= before


def test_many_callers_at_once_get_each_its_own_answer():
    async def caller():
        return await asyncio.gather(*(asyncio.to_thread(run_sync, doubled(number)) for number in range(20)))

    assert asyncio.run(caller()) == [2 * number for number in range(20)]


@pytest.mark.parametrize("given", [doubled, 42, None])
def test_anything_but_a_coroutine_is_refused_with_what_to_do(given):
    with pytest.raises(WrongTypeError, match=r"expected a coroutine \(call the async function\), got"):
        run_sync(given)
