"""The one thread that writes: it gathers rows for a few milliseconds, commits them together, and then says so."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from calibrant.errors import StoreError, shortened
from calibrant.store.schema import store_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

__all__ = ["Writer"]

GATHER_SECONDS: Final = 0.001
MOST_ROWS: Final = 64
"""Rows in one statement: each statement costs the thread a turn at the interpreter's lock."""

# What cannot be bound or encoded: a number beyond 64 bits, a text that is no Unicode, a value of no SQL type.
_ROWS_AT_FAULT: Final = (
    ValueError,
    OverflowError,
    TypeError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    sqlite3.DataError,
    sqlite3.IntegrityError,
)

Waiter = asyncio.Future[None] | Future[None] | None


class Job(NamedTuple):
    """Rows for one table (`sql` up to VALUES), and who waits for their commit."""

    sql: str
    rows: Sequence[tuple[Any, ...]]
    waiter: Waiter


class Writer:
    """Takes rows from any thread and commits them in the order in which they came."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._jobs = SimpleQueue[Job | None]()
        self._failure: StoreError | None = None
        self._untold: StoreError | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._work, name="calibrant-store", daemon=True)
        self._thread.start()

    async def committed(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Return when `rows` are committed. A caller that is cancelled leaves them to be written whole."""
        waiter = asyncio.get_running_loop().create_future()
        self._put(Job(sql, rows, waiter))
        await waiter

    def queue(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Have `rows` written soon; a failure shows at `flush` or `close`."""
        self._put(Job(sql, rows, None))

    def flush(self) -> None:
        """Return when everything that was queued is committed; raises when something of it could not be."""
        waiter = Future[None]()
        self._put(Job("", (), waiter))
        waiter.result()
        self._tell()

    def close(self) -> None:
        """Commit what is queued, and end the thread and the connection; closing twice is fine.

        Raises when something could not be written and nobody has been told.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._jobs.put(None)
        self._thread.join()
        self._tell()

    def _tell(self) -> None:
        error, self._untold = self._untold, None
        if error is not None:
            raise error

    def _put(self, job: Job) -> None:
        if self._failure is not None:
            raise StoreError(str(self._failure))
        with self._lock:
            if self._closed:
                raise StoreError(f"the workspace {self._path} is closed")
            self._jobs.put(job)

    def _work(self) -> None:
        going = True
        while going:
            batch, going = self._gathered()
            for jobs, error in self._outcomes(batch):
                if error is not None and any(job.rows and job.waiter is None for job in jobs):
                    self._untold = error
                _release(jobs, error)
        self._connection.close()

    def _gathered(self) -> tuple[list[Job], bool]:
        first = self._jobs.get()
        if first is None:
            return [], False
        batch = [first]
        time.sleep(GATHER_SECONDS)
        while True:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return batch, True
            if job is None:
                return batch, False
            batch.append(job)

    def _outcomes(self, batch: list[Job]) -> Iterator[tuple[list[Job], StoreError | None]]:
        """Write `batch` together; where a row of it cannot be kept, each job alone, so that only one is refused."""
        if self._failure is not None:
            yield batch, self._failure
            return
        try:
            self._commit(batch)
        except _ROWS_AT_FAULT as error:
            if len(batch) > 1:
                for job in batch:
                    yield from self._outcomes([job])
            else:
                yield batch, self._refused(batch[0], error)
        except sqlite3.Error as error:
            self._failure = store_error(self._path, error)
            yield batch, self._failure
        else:
            yield batch, None

    def _commit(self, batch: list[Job]) -> None:
        statements = [(sql, rows) for sql, rows in _merged(batch) if rows]
        if not statements:
            return
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for sql, rows in statements:
                self._insert(sql, rows)
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.rollback()

    def _refused(self, job: Job, error: Exception) -> StoreError:
        table = job.sql.split()[4]
        return StoreError(
            f"the workspace {self._path} cannot keep what was to be written to {table} ({len(job.rows)} rows that came "
            f"together, the first of {shortened(job.rows[0][0])}): {type(error).__name__}: {error}"
        )

    def _insert(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        for start in range(0, len(rows), MOST_ROWS):
            some = rows[start : start + MOST_ROWS]
            marks = f"({','.join('?' * len(some[0]))})"
            values = [value for row in some for value in row]
            self._connection.execute(f"{sql} VALUES {','.join([marks] * len(some))}", values)


def _merged(batch: Iterable[Job]) -> list[tuple[str, list[tuple[Any, ...]]]]:
    """The jobs with neighbours of one statement put together, in their order."""
    merged: list[tuple[str, list[tuple[Any, ...]]]] = []
    for job in batch:
        if not merged or merged[-1][0] != job.sql:
            merged.append((job.sql, []))
        merged[-1][1].extend(job.rows)
    return merged


def _release(batch: Iterable[Job], error: StoreError | None) -> None:
    """Tell everyone who waits; those in an event loop with one wake-up for each loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for job in batch:
        if isinstance(job.waiter, asyncio.Future):
            by_loop.setdefault(job.waiter.get_loop(), []).append(job.waiter)
        elif job.waiter is not None:
            _settle(job.waiter, error)
    for loop, waiters in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle_all, waiters, error)
        except RuntimeError:
            # The loop was closed while its rows were written: nobody is left to be told.
            continue


def _settle_all(waiters: Iterable[asyncio.Future[None]], error: StoreError | None) -> None:
    for waiter in waiters:
        if not waiter.done():
            _settle(waiter, error)


def _settle(waiter: asyncio.Future[None] | Future[None], error: StoreError | None) -> None:
    if error is None:
        waiter.set_result(None)
    else:
        waiter.set_exception(StoreError(str(error)))
