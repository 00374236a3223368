"""The workspace: what runs leave behind, written by one thread and read by any number, in any number of processes."""

from __future__ import annotations

import json
import time
import weakref
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from calibrant.errors import EvalError, StoreError
from calibrant.fingerprints import plain_json
from calibrant.ratings import Rating
from calibrant.store.readers import PAGE, Readers
from calibrant.store.reading import NoWriter, is_writable, read_only_address
from calibrant.store.records import CallRecord, ItemRecord, LabelRecord, rating_without_text
from calibrant.store.schema import prepared
from calibrant.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["Workspace", "open_workspace"]

FILE: Final = "calibrant.db"
FOLDER: Final = ".calibrant"

_CALLS = "INSERT OR REPLACE INTO calls (key, model, request, reply, crc, written)"
_RATINGS = "INSERT OR REPLACE INTO ratings (run, item, criterion, rater, slot, role, status, data, crc)"
_LABELS = "INSERT OR REPLACE INTO labels (item, criterion, annotator, value, note, written)"
_ITEMS = "INSERT OR REPLACE INTO items (run, position, item, cluster, data, crc)"
_MANIFESTS = "INSERT OR REPLACE INTO manifests (run, data, written)"

# ASCII alone, so that half a surrogate pair in a reply can be written too.
_encoded = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Workspace:
    """The database in `folder`, made when it is not there. Use it as a context manager, or `close` it.

    With `store_text=False` only keys, scores and counts are kept: no prompts, no replies, no explanations. Whatever
    goes wrong with the file is one StoreError. Runs, labels and manifests are streamed: nothing is held whole.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
    ...     workspace.put_manifest("r-01", {"name": "support"})
    ...     workspace.manifest("r-01")
    {'name': 'support'}
    """

    def __init__(self, folder: str | Path, *, store_text: bool = True) -> None:
        self.path = Path(folder) / FILE
        self.store_text = store_text
        self._hold(Writer(prepared(self.path), self.path), Readers(self.path))

    @classmethod
    def to_read(cls, folder: str | Path) -> Self:
        """The workspace that is in `folder`, to be read; where it can be written, as it is opened always."""
        path = Path(folder) / FILE
        if is_writable(path):
            return cls(folder)
        found = cls.__new__(cls)
        found.path, found.store_text = path, True
        found._hold(NoWriter(path), Readers(path, address=read_only_address(path)))  # noqa: SLF001 - of this very class
        return found

    def _hold(self, writer: Writer | NoWriter, readers: Readers) -> None:
        self._writer, self._read = writer, readers
        # At the interpreter's end what is queued is still committed.
        self._finalizer = weakref.finalize(self, _close, self._writer, self._read)

    def call(self, key: str) -> CallRecord | None:
        """The call of this key, if it was kept whole; a damaged row counts as absent, so that it is asked for again."""
        row = self._read.one("SELECT key, model, request, reply, crc FROM calls WHERE key = ?", (key,))
        if row is None or row[3] is None or not _sound(row):
            return None
        return _call_of(row)

    async def put_call(self, record: CallRecord) -> None:
        """Return when the call is committed."""
        await self._writer.committed(_CALLS, [self._call_row(record)])

    def add_calls(self, records: Iterable[CallRecord]) -> None:
        """Have these calls written soon; `flush` waits for them."""
        self._writer.queue(_CALLS, [self._call_row(record) for record in records])

    def calls(self) -> Iterator[CallRecord]:
        """Every call, in the order of its key; a damaged one is a StoreError."""
        sql = "SELECT key, model, request, reply, crc FROM calls WHERE key > ? ORDER BY key LIMIT ?"
        for row in self._read.pages(sql, "", 0):
            if not _sound(row):
                raise StoreError(f"the workspace {self.path} holds a damaged call, {row[0]}; `check` lists all")
            yield _call_of(row)

    def add_ratings(self, run: str, ratings: Iterable[Rating]) -> None:
        """Have these ratings of a run written soon; `flush` waits for them. The same rating twice is kept once."""
        self._writer.queue(_RATINGS, [self._rating_row(run, rating) for rating in ratings])

    async def put_ratings(self, run: str, ratings: Iterable[Rating]) -> None:
        """Return when these ratings of a run are committed."""
        await self._writer.committed(_RATINGS, [self._rating_row(run, rating) for rating in ratings])

    def ratings(self, run: str, *, criterion: str | None = None) -> Iterator[Rating]:
        """The ratings of a run, in the order in which they were written; a damaged one is a StoreError."""
        sql = """SELECT id, data, crc FROM ratings WHERE run = :run AND id > :after
            AND (:criterion IS NULL OR criterion = :criterion) ORDER BY id LIMIT :page"""
        after = 0
        while rows := self._read.all(sql, {"run": run, "criterion": criterion, "after": after, "page": PAGE}):
            for place, data, crc in rows:
                yield self._rating_of(place, data, crc)
            after = rows[-1][0]

    def add_items(self, run: str, items: Iterable[ItemRecord]) -> None:
        """Have these items of a run written soon; `flush` waits for them."""
        self._writer.queue(_ITEMS, [self._item_row(run, item) for item in items])

    def items(self, run: str) -> Iterator[ItemRecord]:
        """The items of a run, in the order of the dataset; a damaged one is a StoreError."""
        sql = (
            "SELECT position, item, cluster, data, crc FROM items "
            "WHERE run = ? AND position > ? ORDER BY position LIMIT ?"
        )
        after = -1
        while rows := self._read.all(sql, (run, after, PAGE)):
            for position, item, cluster, data, crc in rows:
                if _crc(item, cluster, data) != crc:
                    raise StoreError(f"the workspace {self.path} holds a damaged item, {item!r} of run {run!r}")
                kept = None if data is None else json.loads(data)
                yield ItemRecord(position=position, item=item, cluster=cluster, data=kept)
            after = rows[-1][0]

    def put_labels(self, labels: Iterable[LabelRecord]) -> None:
        """Commit these labels; a label of the same person, item and criterion is replaced."""
        now = time.time()
        rows = [(one.item, one.criterion, one.annotator, _encode(one.value_json()), one.note, now) for one in labels]
        self._writer.queue(_LABELS, rows)
        self._writer.flush()

    def labels(self, *, criterion: str | None = None) -> Iterator[LabelRecord]:
        """All labels, or those of one criterion, by item, criterion and annotator; a damaged one is a StoreError."""
        sql = """SELECT item, criterion, annotator, value, note FROM labels
            WHERE (item, criterion, annotator) > (?, ?, ?) AND criterion = coalesce(?, criterion)
            ORDER BY item, criterion, annotator LIMIT ?"""
        after = ("", "", "")
        while rows := self._read.all(sql, (*after, criterion, PAGE)):
            for item, named, annotator, value, note in rows:
                kept = self._decoded(value, f"label, of {annotator!r} on {named!r} of item {item!r}")
                yield LabelRecord.of_row(item, named, annotator, value=kept, note=note)
            after = rows[-1][:3]

    def put_manifest(self, run: str, manifest: Mapping[str, Any]) -> None:
        """Commit what is known about a run; it replaces what was."""
        self._writer.queue(_MANIFESTS, [(run, _encode(manifest), time.time())])
        self._writer.flush()

    def manifest(self, run: str) -> dict[str, Any] | None:
        """What is known about a run; None when there is no such run, and a StoreError when it is damaged."""
        row = self._read.one("SELECT data FROM manifests WHERE run = ?", (run,))
        return None if row is None else self._decoded(row[0], f"manifest, that of run {run!r}")

    def runs(self) -> list[str]:
        """The names of all runs that have a manifest, oldest first."""
        return [run for (run,) in self._read.all("SELECT run FROM manifests ORDER BY written, run", ())]

    def flush(self) -> None:
        """Return when everything that was added is committed; raises StoreError when something of it could not be."""
        self._writer.flush()

    def check(self, run: str | None = None) -> list[str]:
        """What is damaged: SQLite's own findings, and rows that do not match their checksum; empty when all is well.

        With `run`, of ratings and items those of that run alone, and no labels or other runs' manifests.
        """
        found = [f"database: {text}" for (text,) in self._read.all("PRAGMA integrity_check", ()) if text != "ok"]
        calls = "SELECT key, model, request, reply, crc FROM calls WHERE key > ? ORDER BY key LIMIT ?"
        found += [f"call {row[0]}" for row in self._read.pages(calls, "", 0) if not _sound(row)]
        ratings = "SELECT id, run, item, criterion, data, crc FROM ratings WHERE id > ? ORDER BY id LIMIT ?"
        for place, owner, item, criterion, data, crc in self._read.pages(ratings, 0, 0):
            if run not in (None, owner):
                continue
            try:
                self._rating_of(place, data, crc)
            except StoreError:
                found.append(f"rating of item {item!r} on {criterion!r} in run {owner!r}")
        return [*found, *self._damaged_items(run), *(self._damaged_texts() if run is None else ())]

    def close(self) -> None:
        """Commit what was added, and let go of the file; closing twice is fine."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path.parent)!r})"

    def _call_row(self, record: CallRecord) -> tuple[Any, ...]:
        kept = record if self.store_text else record.without_text()
        request = None if kept.request is None else _encode(kept.request)
        reply = None if kept.reply is None else _encode(kept.reply)
        return (kept.key, kept.model, request, reply, _crc(request, reply), time.time())

    def _rating_row(self, run: str, rating: Rating) -> tuple[Any, ...]:
        kept = rating if self.store_text else rating_without_text(rating)
        data = _encode(kept.to_json())
        place = (run, kept.item, kept.criterion, kept.rater, kept.slot, kept.role, kept.status)
        return (*place, data, _crc(data))

    def _item_row(self, run: str, item: ItemRecord) -> tuple[Any, ...]:
        data = None if item.data is None or not self.store_text else _encode(item.data)
        return (run, item.position, item.item, item.cluster, data, _crc(item.item, item.cluster, data))

    def _rating_of(self, place: int, data: str, crc: int) -> Rating:
        try:
            if _crc(data) == crc:
                return Rating.from_json(json.loads(data))
        except (ValueError, TypeError, KeyError, EvalError):
            pass
        raise StoreError(f"the workspace {self.path} holds a damaged rating, number {place}; `check` lists all")

    def _damaged_items(self, run: str | None) -> Iterator[str]:
        sql = """SELECT run, position, item, cluster, data, crc FROM items
            WHERE (run, position) > (?, ?) ORDER BY run, position LIMIT ?"""
        after = ("", -1)
        while rows := self._read.all(sql, (*after, PAGE)):
            damaged = [row for row in rows if _crc(*row[2:5]) != row[5] and run in (None, row[0])]
            yield from (f"item {row[2]!r} of run {row[0]!r}" for row in damaged)
            after = rows[-1][:2]

    def _damaged_texts(self) -> Iterator[str]:
        """Labels and manifests have no checksum: what cannot be read is damaged."""
        labels = "SELECT rowid, item, criterion, annotator, value FROM labels WHERE rowid > ? ORDER BY rowid LIMIT ?"
        for _, item, criterion, annotator, value in self._read.pages(labels, 0, 0):
            if _is_damaged(value):
                yield f"label of {annotator!r} on {criterion!r} of item {item!r}"
        manifests = "SELECT rowid, run, data FROM manifests WHERE rowid > ? ORDER BY rowid LIMIT ?"
        yield from (
            f"manifest of run {run!r}" for _, run, data in self._read.pages(manifests, 0, 0) if _is_damaged(data)
        )

    def _decoded(self, text: str, what: str) -> Any:
        if _is_damaged(text):
            raise StoreError(f"the workspace {self.path} holds a damaged {what}; `check` lists all")
        return json.loads(text)


def open_workspace(beside: str | Path = ".", *, store_text: bool = True) -> Workspace:
    """The workspace `.calibrant/` in the folder `beside`, or beside the file of that name; made when it is missing."""
    place = Path(beside)
    folder = place.parent if place.is_file() else place
    return Workspace(folder / FOLDER, store_text=store_text)


def _close(writer: Writer | NoWriter, readers: Readers) -> None:
    try:
        writer.close()
    finally:
        readers.close()


def _encode(value: Any) -> str:
    """`value` as JSON; what JSON has no form for, such as a date in an item, in the form that its fingerprint takes."""
    try:
        return _encoded(value)
    except (TypeError, ValueError):
        return _encoded(plain_json(value))


def _crc(*columns: object) -> int:
    """The checksum of a row's texts; a damaged column may have come back as bytes or a number."""
    total = 0
    for column in columns:
        total = zlib.crc32(b"\0" if column is None else str(column).encode("utf-8", "replace"), total)
    return total


def _is_damaged(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, TypeError):
        return True
    return False


def _sound(row: tuple[Any, ...]) -> bool:
    return _crc(row[2], row[3]) == row[4]


def _call_of(row: tuple[Any, ...]) -> CallRecord:
    key, model, request, reply, _ = row
    return CallRecord(
        key=key,
        model=model,
        request=None if request is None else json.loads(request),
        reply=None if reply is None else json.loads(reply),
    )
