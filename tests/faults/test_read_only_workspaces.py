"""A workspace in a folder that cannot be written: on a mounted image, a share, or in an archive of somebody else."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from calibrant import run
from calibrant.errors import StoreError
from calibrant.runs import RunSettings
from calibrant.store import LabelRecord, Workspace
from calibrant.store.reading import read_only_address

MOUNTED = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
ITEMS = [{"id": str(n), "answer": "Until six." if n else "I would not know that at all."} for n in range(6)]


def brief(item):
    return len(item.answer.split()) <= 3


@pytest.fixture
def folder(tmp_path):
    """The folder of a plan that was carried out twice, under two names."""
    place = tmp_path / "kept"
    for name in ("first", "second"):
        run(ITEMS, [brief], settings=RunSettings(workspace=place / ".calibrant", name=name)).close()
    assert [path.name for path in (place / ".calibrant").glob("calibrant.db*")] == ["calibrant.db"]
    return place


@pytest.fixture
def reading(folder, tmp_path):
    """Gives a command to Calibrant while the folder is read-only: by its permissions, or for root by a mount."""
    work = tmp_path / "work"
    work.mkdir()

    def called(*arguments):
        command = [sys.executable, "-m", "calibrant", *arguments, "--workspace", str(folder)]
        if os.geteuid() == 0:
            command = ["unshare", "--mount", "sh", "-c", MOUNTED, str(folder), *command]
        return subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)

    if os.geteuid() == 0:
        if shutil.which("unshare") is None:
            pytest.skip("permissions do not bind root, and there is no unshare to mount the folder read-only with")
        tried = ["unshare", "--mount", "sh", "-c", MOUNTED, str(folder), "touch", str(folder / "x")]
        if "Read-only file system" not in subprocess.run(tried, capture_output=True, text=True, check=False).stderr:
            pytest.skip("permissions do not bind root, and nothing can be mounted read-only here")
        yield called
        return
    places = [folder, folder / ".calibrant", *(folder / ".calibrant").iterdir()]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    yield called
    for place in places:
        place.chmod(0o755)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["list"], "first"),
        (["show", "first"], "brief   0.833"),
        (["show", "first", "--failing"], "item 0: scored False"),
        (["verify", "first"], "OK"),
        (["compare", "first", "second"], "brief"),
        (["replay", "first", "--threshold", "0.7"], "brief"),
        (["export", "first", "-o", "first.jsonl"], "first.jsonl"),
    ],
)
def test_what_only_reads_works_in_a_folder_that_is_read_only(reading, folder, arguments, told):
    done = reading(*arguments)
    assert done.returncode == 0, done.stderr
    assert told in done.stdout + done.stderr
    assert [path.name for path in (folder / ".calibrant").glob("calibrant.db*")] == ["calibrant.db"]


@contextlib.contextmanager
def unwritable(monkeypatch):
    """As if permissions did not let this process write."""
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda *_: False)
        yield


def test_what_cannot_be_written_takes_nothing_and_says_so(folder, monkeypatch):
    with unwritable(monkeypatch), Workspace.to_read(folder / ".calibrant") as workspace:
        assert len(workspace.runs()) == 2
        assert workspace.check() == []
        with pytest.raises(StoreError, match="was opened to be read; it lies where nothing can be written"):
            workspace.put_labels([LabelRecord(item="1", criterion="brief", annotator="kim", value=True)])
        workspace.flush()


def test_a_workspace_that_can_be_written_is_opened_as_always(folder):
    with Workspace.to_read(folder / ".calibrant") as workspace:
        workspace.put_manifest("r-new", {"name": "new"})
        assert "r-new" in workspace.runs()


def test_another_process_may_write_while_it_is_read(folder, monkeypatch):
    place = folder / ".calibrant"
    with unwritable(monkeypatch), Workspace(place) as writing, Workspace.to_read(place) as read:
        writing.put_manifest("r-new", {"name": "new"})
        assert "r-new" in read.runs()


def test_an_earlier_version_is_not_read_where_it_cannot_be_brought_up_to_date(folder, monkeypatch):
    place = folder / ".calibrant" / "calibrant.db"
    with contextlib.closing(sqlite3.connect(place)) as connection:
        connection.execute("PRAGMA user_version = 1")
    with unwritable(monkeypatch), pytest.raises(StoreError, match="has schema version 1, and cannot be brought up to"):
        Workspace.to_read(folder / ".calibrant")


def test_what_is_no_database_is_damage_and_not_a_matter_of_writing(tmp_path):
    (tmp_path / "calibrant.db").write_text("nothing of the kind " * 100)
    with pytest.raises(StoreError, match="it is damaged or no Calibrant workspace"):
        read_only_address(tmp_path / "calibrant.db")


def test_a_log_that_cannot_be_read_is_not_passed_over(tmp_path, monkeypatch):
    """SQLite would read the database without its last commits if it were told that nobody writes."""
    (tmp_path / "calibrant.db").write_bytes(b"")
    (tmp_path / "calibrant.db-wal").write_bytes(b"committed, but not yet in the database")

    def refused(*_, **__):
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr("calibrant.store.reading.connected", refused)
    with pytest.raises(StoreError, match="its last changes lie in a log that cannot be read here; copy the folder"):
        read_only_address(tmp_path / "calibrant.db")
