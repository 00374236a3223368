"""The one thread that writes: in order, together, and whoever waits is told once what became of their rows."""

import asyncio
import sqlite3
import threading

import pytest

from calibrant.errors import StoreError
from calibrant.store import CallRecord, Workspace
from calibrant.store.schema import prepared
from calibrant.store.writer import MOST_ROWS, Writer

CALLS = "INSERT OR REPLACE INTO calls (key, model, request, reply, crc, written)"
MANIFESTS = "INSERT OR REPLACE INTO manifests (run, data, written)"


def row(key, text="x"):
    return (key, "m", None, text, 0, 0.0)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "calibrant.db"


@pytest.fixture
def writer(path):
    opened = Writer(prepared(path), path)
    yield opened
    opened.close()


def rows_of(path, sql="SELECT key, reply FROM calls ORDER BY rowid"):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def test_what_was_queued_is_there_after_a_flush_in_the_order_in_which_it_came(writer, path):
    for number in range(200):
        writer.queue(CALLS, [row(f"k{number}")])
    writer.flush()
    assert [key for key, _ in rows_of(path)] == [f"k{number}" for number in range(200)]


def test_the_last_word_on_a_key_stays_whichever_way_it_came(writer, path):
    writer.queue(CALLS, [row("k", "first"), row("k", "second")])
    asyncio.run(writer.committed(CALLS, [row("k", "third")]))
    assert rows_of(path) == [("k", "third")]


@pytest.mark.parametrize("count", [0, 1, MOST_ROWS - 1, MOST_ROWS, MOST_ROWS + 1, 5 * MOST_ROWS + 3])
def test_any_number_of_rows_is_written_whole(writer, path, count):
    writer.queue(CALLS, [row(f"k{number:04}") for number in range(count)])
    writer.flush()
    assert len(rows_of(path)) == count


def test_those_who_wait_at_the_same_time_share_a_commit(writer, path):
    async def puts():
        await asyncio.gather(*(writer.committed(CALLS, [row(f"k{number}")]) for number in range(300)))

    commits = []
    writer._connection.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    asyncio.run(puts())
    assert len(rows_of(path)) == 300
    assert 1 <= len(commits) < 60


def test_threads_may_queue_and_flush_at_once(writer, path):
    def work(name):
        for number in range(50):
            writer.queue(CALLS, [row(f"{name}{number}")])
        writer.flush()

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(rows_of(path)) == 200


def test_a_row_that_cannot_be_kept_is_refused_alone_and_told_to_the_one_who_put_it(writer, path):
    async def puts():
        good = [writer.committed(CALLS, [row(f"k{number}")]) for number in range(3)]
        bad = writer.committed(CALLS, [row("bad", object())])
        return await asyncio.gather(good[0], bad, *good[1:], return_exceptions=True)

    ended = asyncio.run(puts())
    assert [type(one).__name__ for one in ended] == ["NoneType", "StoreError", "NoneType", "NoneType"]
    assert "cannot keep what was to be written to calls (1 rows that came together, the first of 'bad')" in str(
        ended[1]
    )
    assert len(rows_of(path)) == 3
    writer.flush()


def test_rows_that_came_together_stand_or_fall_together(writer, path):
    with pytest.raises(StoreError, match=r"written to calls \(3 rows that came together, the first of 'k1'\)"):
        asyncio.run(writer.committed(CALLS, [row("k1"), row("k2", object()), row("k3")]))
    assert rows_of(path) == []


def test_rows_of_several_tables_are_written_in_one_order(writer, path):
    writer.queue(CALLS, [row("k1")])
    writer.queue(MANIFESTS, [("r", "{}", 0.0)])
    writer.queue(CALLS, [row("k2")])
    writer.flush()
    assert [key for key, _ in rows_of(path)] == ["k1", "k2"]
    assert rows_of(path, "SELECT run FROM manifests") == [("r",)]


def test_closing_writes_what_is_queued_ends_the_thread_and_is_said_to_those_who_come_later(path):
    before = threading.active_count()
    writer = Writer(prepared(path), path)
    assert threading.active_count() == before + 1
    writer.queue(CALLS, [row(f"k{number}") for number in range(500)])
    writer.close()
    writer.close()
    assert threading.active_count() == before
    assert len(rows_of(path)) == 500
    with pytest.raises(StoreError, match=r"the workspace .* is closed"):
        writer.queue(CALLS, [row("late")])
    with pytest.raises(StoreError, match="is closed"):
        asyncio.run(writer.committed(CALLS, [row("late")]))


def test_when_the_database_is_gone_every_caller_is_told_and_nobody_waits_for_ever(path):
    writer = Writer(prepared(path), path)
    connection = sqlite3.connect(path)
    connection.execute("DROP TABLE calls")
    connection.close()

    async def puts():
        waiting = [asyncio.wait_for(writer.committed(CALLS, [row(f"k{number}")]), 10) for number in range(5)]
        return await asyncio.gather(*waiting, return_exceptions=True)

    ended = asyncio.run(puts())
    assert {type(one) for one in ended} == {StoreError}
    assert "no such table: calls" in str(ended[0])
    with pytest.raises(StoreError, match="no such table"):
        writer.queue(CALLS, [row("later")])
    writer.close()


def test_each_waiter_gets_an_error_of_its_own_so_that_tracebacks_do_not_pile_up(path):
    with Workspace(path.parent) as workspace:
        connection = sqlite3.connect(path)
        connection.execute("DROP TABLE calls")
        connection.close()

        async def puts():
            records = [CallRecord(key=f"k{number}", model="m", reply={"text": ""}) for number in range(3)]
            return await asyncio.gather(*map(workspace.put_call, records), return_exceptions=True)

        ended = asyncio.run(puts())
    assert len({id(error) for error in ended}) == 3
    assert len({str(error) for error in ended}) == 1
