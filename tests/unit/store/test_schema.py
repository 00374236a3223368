"""The database's version: made once by whoever comes first, brought forward with all that is in it, never backward."""

import os
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from calibrant.errors import StoreError
from calibrant.ratings import Rating
from calibrant.store import CallRecord, ItemRecord, LabelRecord, Workspace
from calibrant.store.schema import APPLICATION, MIGRATIONS, connected, prepared, store_error

CALL = CallRecord(key="sha256:1", model="m", request={"q": 1}, reply={"text": "yes", "data": "yes", "mode": "label"})
RATED = Rating(item="i", criterion="c", rater="r", value=0.5)
LABEL = LabelRecord(item="i", criterion="c", annotator="kim", value=frozenset({"x"}), note="sure")
MAKES = textwrap.dedent("""
    import sys, time
    from calibrant.store import CallRecord, Workspace
    while time.time() < float(sys.argv[2]):
        pass
    with Workspace(sys.argv[1]) as workspace:
        workspace.add_calls([CallRecord(key=sys.argv[3], model="m", reply={"text": "x"})])
""")
OPENS = textwrap.dedent("""
    import os, sys
    from calibrant.errors import StoreError
    from calibrant.store.workspace import Workspace
    if os.geteuid() == 0:
        os.setuid(65534)  # root may write anywhere
    try:
        Workspace(sys.argv[1])
    except StoreError as error:
        print(error)
""")


def pragma(path, name):
    connection = sqlite3.connect(path)
    try:
        return connection.execute(f"PRAGMA {name}").fetchone()[0]
    finally:
        connection.close()


def tables(path):
    connection = sqlite3.connect(path)
    try:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        connection.close()


def of_version(path, version):
    """A workspace as the Calibrant of that version left it: `MIGRATIONS` are never changed once released."""
    connection = sqlite3.connect(path)
    with connection:
        for step in MIGRATIONS[:version]:
            connection.executescript(step)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def filled(path):
    with Workspace(path.parent) as workspace:
        workspace.add_calls([CALL])
        workspace.add_ratings("r-1", [RATED])
        workspace.put_labels([LABEL])
        workspace.put_manifest("r-1", {"name": "one"})


def test_a_new_workspace_is_marked_as_ours_and_has_the_newest_version(tmp_path):
    Workspace(tmp_path).close()
    path = tmp_path / "calibrant.db"
    assert pragma(path, "application_id") == APPLICATION == int.from_bytes(b"CALI", "big")
    assert pragma(path, "user_version") == len(MIGRATIONS)
    assert pragma(path, "journal_mode") == "wal"
    assert tables(path) == {"calls", "ratings", "labels", "manifests", "items"}


@pytest.mark.parametrize("version", range(1, len(MIGRATIONS)))
def test_an_older_workspace_is_brought_forward_with_all_that_is_in_it(tmp_path, version):
    path = tmp_path / "calibrant.db"
    # What the older version wrote, by moving the rows of a new one into an old database.
    filled(path)
    new = path.rename(tmp_path / "new.db")
    of_version(path, version)
    connection = sqlite3.connect(path)
    old_tables = tables(path)
    with connection:
        connection.execute("ATTACH ? AS new", (str(new),))
        for table in old_tables:
            connection.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")  # noqa: S608 - our own tables
    connection.close()
    with Workspace(tmp_path) as workspace:
        assert list(workspace.calls()) == [CALL]
        assert list(workspace.ratings("r-1")) == [RATED]
        assert list(workspace.labels()) == [LABEL]
        assert workspace.manifest("r-1") == {"name": "one"}
        workspace.add_items("r-1", [ItemRecord(position=0, item="i")])
        workspace.flush()
        assert list(workspace.items("r-1")) == [ItemRecord(position=0, item="i")]
        assert workspace.check() == []
    assert pragma(path, "user_version") == len(MIGRATIONS)


def test_opening_again_changes_nothing(tmp_path):
    path = tmp_path / "calibrant.db"
    filled(path)
    before = pragma(path, "schema_version")
    Workspace(tmp_path).close()
    assert pragma(path, "schema_version") == before


def test_a_migration_that_fails_leaves_the_older_version_whole(tmp_path):
    path = tmp_path / "calibrant.db"
    of_version(path, 1)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE items (something TEXT)")
    connection.close()
    with pytest.raises(StoreError, match=r"the workspace .* failed: .*table items already exists"):
        Workspace(tmp_path)
    assert pragma(path, "user_version") == 1
    assert tables(path) == {"calls", "ratings", "labels", "manifests", "items"}


def test_an_empty_file_becomes_a_workspace(tmp_path):
    (tmp_path / "calibrant.db").touch()
    with Workspace(tmp_path) as workspace:
        assert list(workspace.calls()) == []


def test_the_folder_is_made_with_all_above_it(tmp_path):
    with Workspace(tmp_path / "a" / "b" / "c") as workspace:
        assert workspace.path.is_file()


def test_processes_that_make_one_workspace_at_the_same_moment_all_succeed(tmp_path):
    start = str(time.time() + 1.0)
    makers = [
        subprocess.Popen([sys.executable, "-c", MAKES, str(tmp_path / "w"), start, f"k{number}"]) for number in range(5)
    ]
    assert [maker.wait(60) for maker in makers] == [0] * 5
    with Workspace(tmp_path / "w") as workspace:
        assert [call.key for call in workspace.calls()] == [f"k{number}" for number in range(5)]


@pytest.mark.skipif(os.name != "posix", reason="permissions are set in the way of POSIX")
@pytest.mark.parametrize("is_there", [False, True])
def test_a_folder_that_may_only_be_read_is_one_clear_error(is_there):
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above, "workspace")
        folder.mkdir()
        if is_there:
            Workspace(folder).close()
        for path in (Path(above), folder, *folder.iterdir()):
            path.chmod(0o555 if path.is_dir() else 0o444)
        done = subprocess.run([sys.executable, "-c", OPENS, str(folder)], capture_output=True, text=True, check=False)
        for path in (Path(above), folder):
            path.chmod(0o755)
    assert done.stderr == ""
    assert done.stdout.startswith(f"the workspace {folder / 'calibrant.db'} failed: it cannot be written here; check")
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize(
    ("said", "remedy"),
    [
        ("database disk image is malformed", "it is damaged or no Calibrant workspace; move it away"),
        ("file is not a database", "it is damaged or no Calibrant workspace; move it away"),
        ("attempt to write a readonly database", "it cannot be written here; check the folder's permissions"),
        ("unable to open database file", "it cannot be written here; check the folder's permissions"),
        ("database or disk is full", "the disk did not take the write; what was committed before is safe"),
        ("disk I/O error", "the disk did not take the write; what was committed before is safe"),
        ("database is locked", "another process held it for more than 30 s; try again when it is done"),
        ("no such table: calls", "see the message"),
    ],
)
def test_whatever_is_wrong_with_the_file_the_error_says_what_to_do(tmp_path, said, remedy):
    error = store_error(tmp_path / "calibrant.db", sqlite3.OperationalError(said))
    assert f"the workspace {tmp_path / 'calibrant.db'} failed: {remedy}" in str(error)
    assert str(error).endswith(f"(OperationalError: {said})")


def test_two_connections_wait_for_each_other(tmp_path):
    first = prepared(tmp_path / "calibrant.db")
    second = connected(tmp_path / "calibrant.db")
    assert second.execute("PRAGMA busy_timeout").fetchone()[0] == 30_000
    first.execute("BEGIN IMMEDIATE")
    second.execute("PRAGMA busy_timeout = 20")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        second.execute("BEGIN IMMEDIATE")
    first.execute("ROLLBACK")
    second.execute("BEGIN IMMEDIATE")
    second.execute("ROLLBACK")
    first.close()
    second.close()
