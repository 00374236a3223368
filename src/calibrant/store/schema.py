"""The database's tables, its version, and the way from any older version to this one."""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING, Final

from calibrant.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["APPLICATION", "MIGRATIONS", "check_current", "connected", "prepared", "store_error"]

APPLICATION: Final = 0x43414C49
"""Marks the file as Calibrant's ("CALI")."""

BUSY_SECONDS: Final = 30.0
BUSY_PAUSE: Final = 0.02

MIGRATIONS: Final[tuple[str, ...]] = (
    """
    CREATE TABLE calls (
        key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT, reply TEXT, crc INTEGER NOT NULL, written REAL NOT NULL
    );
    CREATE TABLE ratings (
        id INTEGER PRIMARY KEY, run TEXT NOT NULL, item TEXT NOT NULL, criterion TEXT NOT NULL, rater TEXT NOT NULL,
        slot INTEGER NOT NULL, role TEXT NOT NULL, status TEXT NOT NULL, data TEXT NOT NULL, crc INTEGER NOT NULL,
        UNIQUE (run, item, criterion, rater, slot, role)
    );
    CREATE INDEX ratings_in_order ON ratings (run, id);
    CREATE TABLE labels (
        item TEXT NOT NULL, criterion TEXT NOT NULL, annotator TEXT NOT NULL, value TEXT NOT NULL, note TEXT NOT NULL,
        written REAL NOT NULL, PRIMARY KEY (item, criterion, annotator)
    );
    CREATE TABLE manifests (run TEXT PRIMARY KEY, data TEXT NOT NULL, written REAL NOT NULL);
    """,
    """
    CREATE TABLE items (
        run TEXT NOT NULL, position INTEGER NOT NULL, item TEXT NOT NULL, cluster TEXT, data TEXT, crc INTEGER NOT NULL,
        PRIMARY KEY (run, position)
    ) WITHOUT ROWID;
    """,
)
"""Each step takes a database from the version of its place to the next; a step that was released never changes."""


def connected(path: Path, *, address: str = "") -> sqlite3.Connection:
    """A connection to the database, which waits for other processes; transactions are begun by hand.

    `address` is the URI to open it by, where its path alone will not do.
    """
    return sqlite3.connect(
        address or path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=bool(address)
    )


def check_current(connection: sqlite3.Connection, path: Path) -> None:
    """Raise StoreError for a database that has to be brought up to this version before it can be read."""
    version = _version(connection, path)
    if version < len(MIGRATIONS):
        raise StoreError(
            f"the workspace {path} has schema version {version}, and cannot be brought up to {len(MIGRATIONS)} where "
            "nothing can be written; copy its folder to where it can"
        )


def prepared(path: Path) -> sqlite3.Connection:
    """The writing connection to the workspace at `path`, made or brought to this version where needed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = connected(path)
    except (OSError, sqlite3.Error) as error:
        raise store_error(path, error) from None
    try:
        _prepare(connection, path)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise store_error(path, error) from None
        raise
    return connection


def store_error(path: Path, error: Exception) -> StoreError:
    """The one error that says what is the matter with the workspace at `path`, and what to do."""
    said = str(error)
    if "malformed" in said or "not a database" in said:
        remedy = "it is damaged or no Calibrant workspace; move it away, or restore it from a copy"
    elif "readonly" in said or "unable to open" in said or isinstance(error, OSError):
        remedy = "it cannot be written here; check the folder's permissions, or choose another folder"
    elif "full" in said or "disk I/O" in said:
        remedy = "the disk did not take the write; what was committed before is safe, so make room and run again"
    elif "locked" in said:
        remedy = f"another process held it for more than {BUSY_SECONDS:g} s; try again when it is done"
    else:
        remedy = "see the message"
    return StoreError(f"the workspace {path} failed: {remedy} ({type(error).__name__}: {said})")


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    _write_ahead(connection)
    # In WAL mode a commit survives a killed process without a sync for each; a power cut may cost the last moments.
    connection.execute("PRAGMA synchronous = NORMAL")
    if _version(connection, path) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            _migrate(connection, _version(connection, path))
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch the database to write-ahead logging.

    SQLite waits for others at every statement but this one: where several processes make one workspace at the same
    moment, it says at once that the database is locked.
    """
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(BUSY_PAUSE)
        else:
            return


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if tables and application != APPLICATION:
        raise StoreError(f"the database {path} is not a Calibrant workspace; choose another folder")
    if version > len(MIGRATIONS):
        raise StoreError(
            f"the workspace {path} has schema version {version}, but this Calibrant knows up to {len(MIGRATIONS)}; "
            "update Calibrant, or choose another folder"
        )
    return version


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    for step in MIGRATIONS[version:]:
        # Not executescript, which would commit the transaction first.
        for statement in step.split(";"):
            if statement.strip():
                connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
