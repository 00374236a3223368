"""A workspace that lies where nothing can be written: it is opened to be read, and says so when it is to keep more."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING, Any

from calibrant.errors import StoreError
from calibrant.store.schema import check_current, connected, store_error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["NoWriter", "is_writable", "read_only_address"]


class NoWriter:
    """Stands where the writer of a workspace does, and takes nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def committed(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Nothing can be committed."""
        self.queue(sql, rows)

    def queue(self, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Nothing can be written: that is a StoreError."""
        del sql, rows
        raise StoreError(f"the workspace {self._path} was opened to be read; it lies where nothing can be written")

    def flush(self) -> None:
        """Nothing is on its way."""

    def close(self) -> None:
        """Nothing is open."""


def is_writable(path: Path) -> bool:
    """Whether the database at `path` can be written, and its folder, in which SQLite keeps a log beside it."""
    return os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)


def read_only_address(path: Path) -> str:
    """How SQLite opens the database at `path` without writing anything; what keeps it from that is a StoreError."""
    place = path.absolute().as_uri()
    try:
        address = f"{place}?mode=ro"
        _look(path, address)
    except sqlite3.Error as error:
        log = path.with_name(f"{path.name}-wal")
        if log.is_file() and log.stat().st_size:
            # Without its log the database would be read as it was some time ago, and nobody would know.
            remedy = (
                "its last changes lie in a log that cannot be read here; copy the folder to where it can be written"
            )
            raise StoreError(f"the workspace {path} failed: {remedy} ({type(error).__name__}: {error})") from None
        # Nobody can write here, so that SQLite may take the file to stay as it is.
        address = f"{place}?immutable=1"
        try:
            _look(path, address)
        except sqlite3.Error as error:
            raise store_error(path, error) from None
    return address


def _look(path: Path, address: str) -> None:
    """See that the database can be read, and as it is: an earlier version takes writing to be brought up to date."""
    connection = connected(path, address=address)
    try:
        check_current(connection, path)
    finally:
        connection.close()
