"""The connections that read: one for each thread, closed when the thread is over or the workspace is closed."""

from __future__ import annotations

import sqlite3
import threading
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from calibrant.errors import StoreError
from calibrant.store.schema import connected, store_error

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["PAGE", "Readers"]

PAGE: Final = 1000


class Reader:
    """One thread's connection; it is closed when the thread is over and nobody holds it any more."""

    def __init__(self, path: Path, address: str) -> None:
        self.connection = connected(path, address=address)
        self.connection.execute("PRAGMA query_only = ON")
        # A damaged text comes back changed, so that its checksum tells, instead of failing the whole page.
        self.connection.text_factory = partial(str, encoding="utf-8", errors="replace")

    def __del__(self) -> None:
        # Where it could not be opened there is nothing to close.
        if "connection" in self.__dict__:
            self.connection.close()


class Readers:
    """Reads the database at `path` from any thread. Whatever goes wrong with the file is one StoreError."""

    def __init__(self, path: Path, *, address: str = "") -> None:
        self.path = path
        self._address = address
        self._mine = threading.local()
        self._open = weakref.WeakSet[Reader]()
        self._lock = threading.Lock()
        self._closed = False

    def one(self, sql: str, values: Any = ()) -> tuple[Any, ...] | None:
        """The first row; None when there is none."""
        connection = self._connection()
        try:
            return connection.execute(sql, values).fetchone()
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def all(self, sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        """Every row."""
        connection = self._connection()
        try:
            return connection.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    def pages(self, sql: str, after: Any, key_column: int) -> Iterator[tuple[Any, ...]]:
        """The rows of a statement that takes the last key and the size of a page, read page by page."""
        while rows := self.all(sql, (after, PAGE)):
            yield from rows
            after = rows[-1][key_column]

    def close(self) -> None:
        """Close every thread's connection; reading afterwards is a StoreError."""
        with self._lock:
            self._closed = True
            for reader in self._open:
                reader.connection.close()

    def _connection(self) -> sqlite3.Connection:
        if self._closed:
            raise StoreError(f"the workspace {self.path} is closed")
        reader: Reader | None = getattr(self._mine, "reader", None)
        if reader is None:
            try:
                reader = self._mine.reader = Reader(self.path, self._address)
            except sqlite3.Error as error:
                raise store_error(self.path, error) from None
            with self._lock:
                self._open.add(reader)
        return reader.connection
