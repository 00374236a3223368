import asyncio
import datetime as dt
import sqlite3
import threading
from decimal import Decimal
from pathlib import Path

import pytest

from calibrant.errors import StoreError
from calibrant.fingerprints import fingerprint
from calibrant.ratings import Failure, Rating, Usage
from calibrant.store import CallRecord, ItemRecord, LabelRecord, Workspace, open_workspace

CALL = CallRecord(
    key="sha256:1",
    model="openai/judge",
    request={"messages": [["user", "Secret question?"]]},
    reply={"text": '{"score": 1, "why": "Secret"}', "data": {"score": 1, "why": "Secret"}, "mode": "json_schema"},
)
LABELLED = CallRecord(
    key="sha256:2",
    model="openai/judge",
    request={"messages": [["user", "Secret question?"]]},
    reply={"text": " Yes", "data": "yes", "mode": "label", "reasoning": "Secret", "label_probs": {"yes": 0.9}},
)
RATED = Rating(
    item="q1",
    criterion="groundedness",
    rater="openai/judge",
    value=0.75,
    explanation="Secret",
    call_keys=("sha256:1",),
    usage=Usage(calls=1, usd=None),
)
FAILED = Rating(
    item="q2",
    criterion="groundedness",
    rater="openai/judge",
    status="failed",
    failure=Failure(code="judge_timeout", message="Secret", retryable=True),
)
CHOSEN = Rating(item="q3", criterion="topics", rater="human:kim", value=frozenset({"b", "a"}))


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path) as opened:
        yield opened


def altered(workspace, sql, *values):
    connection = sqlite3.connect(workspace.path)
    with connection:
        connection.execute(sql, values)
    connection.close()


def test_a_call_is_found_again_by_its_key(workspace):
    asyncio.run(workspace.put_call(CALL))
    assert workspace.call(CALL.key) == CALL
    assert workspace.call("sha256:other") is None


def test_the_same_call_written_twice_is_one(workspace):
    workspace.add_calls([CALL, CALL])
    workspace.flush()
    assert list(workspace.calls()) == [CALL]


def test_calls_are_read_in_pages_and_none_is_left_out(workspace):
    keys = [f"k{number:05}" for number in range(2500)]
    workspace.add_calls(CallRecord(key=key, model="m", reply={"text": ""}) for key in keys)
    workspace.flush()
    assert [record.key for record in workspace.calls()] == keys


def test_a_call_that_was_awaited_is_in_the_file_for_another_reader(tmp_path, workspace):
    asyncio.run(workspace.put_call(CALL))
    with Workspace(tmp_path) as other:
        assert other.call(CALL.key) == CALL


def test_ratings_come_back_as_they_were_and_in_their_order(workspace):
    workspace.add_ratings("r-1", [RATED, FAILED, CHOSEN])
    asyncio.run(workspace.put_ratings("r-2", [CHOSEN]))
    assert list(workspace.ratings("r-1")) == [RATED, FAILED, CHOSEN]
    assert list(workspace.ratings("r-1", criterion="topics")) == [CHOSEN]
    assert list(workspace.ratings("r-2")) == [CHOSEN]
    assert list(workspace.ratings("r-3")) == []


def test_a_rating_that_is_written_again_is_counted_once(workspace):
    workspace.add_ratings("r-1", [RATED])
    workspace.add_ratings("r-1", [RATED])
    workspace.flush()
    assert list(workspace.ratings("r-1")) == [RATED]


def test_ratings_are_streamed_while_more_are_written(workspace):
    workspace.add_ratings("r-1", (rating_of(number) for number in range(1500)))
    workspace.flush()
    stream = workspace.ratings("r-1")
    first = next(stream)
    workspace.add_ratings("r-1", [rating_of(1500)])
    workspace.flush()
    assert first.item == "i0"
    assert sum(1 for _ in stream) == 1500


def rating_of(number):
    return Rating(item=f"i{number}", criterion="c", rater="rule:r", value=True)


def test_labels_are_replaced_by_the_same_person_and_kept_apart_by_criterion(workspace):
    first = LabelRecord(item="q1", criterion="c", annotator="kim", value="good", note="first")
    second = LabelRecord(item="q1", criterion="c", annotator="kim", value=True)
    other = LabelRecord(item="q1", criterion="d", annotator="kim", value=frozenset({"x", "y"}))
    workspace.put_labels([first])
    workspace.put_labels([second, other])
    assert list(workspace.labels()) == [second, other]
    assert list(workspace.labels(criterion="d")) == [other]


def test_manifests_are_listed_oldest_first(workspace):
    workspace.put_manifest("r-2", {"n": 1})
    workspace.put_manifest("r-1", {"n": 2})
    assert workspace.runs() == ["r-2", "r-1"]
    assert workspace.manifest("r-1") == {"n": 2}
    assert workspace.manifest("r-9") is None


def test_without_text_only_keys_and_scores_are_in_the_files(tmp_path):
    with Workspace(tmp_path, store_text=False) as workspace:
        workspace.add_calls([CALL, LABELLED])
        workspace.add_ratings("r-1", [RATED, FAILED])
        workspace.flush()
        assert workspace.call(CALL.key) is None
        assert workspace.call(LABELLED.key).reply["data"] == "yes"
        assert workspace.call(LABELLED.key).reply["label_probs"] == {"yes": 0.9}
        kept = list(workspace.ratings("r-1"))
        assert [rating.value for rating in kept] == [0.75, None]
        assert kept[1].failure.message == "The model did not answer in time."
        assert len(list(workspace.calls())) == 2
        written = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Secret" not in written


def test_half_a_surrogate_pair_is_kept(workspace):
    odd = CallRecord(key="k", model="m", reply={"text": "\ud83d and é"})
    asyncio.run(workspace.put_call(odd))
    assert workspace.call("k") == odd


def test_a_text_that_cannot_be_written_fails_alone(workspace):
    with pytest.raises(StoreError, match="surrogates not allowed"):
        asyncio.run(workspace.put_ratings("r", [Rating(item="\ud83d", criterion="c", rater="r", value=1.0)]))
    asyncio.run(workspace.put_call(CALL))
    assert workspace.call(CALL.key) == CALL


def test_a_damaged_call_is_asked_for_again_and_found_by_check(workspace):
    asyncio.run(workspace.put_call(CALL))
    assert workspace.check() == []
    altered(workspace, "UPDATE calls SET reply = replace(reply, 'json_schema', 'text')")
    assert workspace.call(CALL.key) is None
    assert workspace.check() == ["call sha256:1"]
    with pytest.raises(StoreError, match="holds a damaged call, sha256:1; `check` lists all"):
        list(workspace.calls())


DAMAGE = ["x'ff00'", "'{\"item\": 1}'", "substr(data, 1, 20)", "replace(data, '0.75', '0.95')"]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_rating_is_an_error_and_never_another_score(workspace, damage):
    workspace.add_ratings("r-1", [RATED])
    workspace.flush()
    altered(workspace, f"UPDATE ratings SET data = {damage}")  # noqa: S608 - the damage is this test's own
    with pytest.raises(StoreError, match="holds a damaged rating, number 1; `check` lists all"):
        list(workspace.ratings("r-1"))
    assert workspace.check() == ["rating of item 'q1' on 'groundedness' in run 'r-1'"]


def test_a_file_that_is_no_database_is_one_clear_error(tmp_path):
    (tmp_path / "calibrant.db").write_bytes(b"These are my notes." * 100)
    with pytest.raises(StoreError, match="it is damaged or no Calibrant workspace; move it away"):
        Workspace(tmp_path)


def test_a_database_of_something_else_is_left_alone(tmp_path):
    connection = sqlite3.connect(tmp_path / "calibrant.db")
    connection.execute("CREATE TABLE notes (text)")
    connection.close()
    with pytest.raises(StoreError, match="is not a Calibrant workspace; choose another folder"):
        Workspace(tmp_path)


def test_a_workspace_of_a_newer_version_is_refused(tmp_path):
    Workspace(tmp_path).close()
    connection = sqlite3.connect(tmp_path / "calibrant.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="has schema version 99, but this Calibrant knows up to 2; update Calibrant"):
        Workspace(tmp_path)


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="it cannot be written here; check the folder's permissions"):
        Workspace(tmp_path / "file")


def test_a_place_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "calibrant.db").mkdir()
    with pytest.raises(StoreError, match="it cannot be written here; check the folder's permissions"):
        Workspace(tmp_path)


def test_a_closed_workspace_takes_and_gives_nothing(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.close()
    workspace.close()
    with pytest.raises(StoreError, match="is closed"):
        workspace.add_calls([CALL])
    with pytest.raises(StoreError, match="is closed"):
        workspace.call("k")


def test_closing_commits_what_was_added(tmp_path):
    with Workspace(tmp_path) as workspace:
        workspace.add_calls([CALL])
    with Workspace(tmp_path) as workspace:
        assert workspace.call(CALL.key) == CALL


def test_the_workspace_lies_beside_the_plan(tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("version: 1")
    with open_workspace(plan) as beside_plan, open_workspace(tmp_path) as in_folder:
        assert beside_plan.path == in_folder.path == tmp_path / ".calibrant" / "calibrant.db"
        assert repr(in_folder) == f"Workspace('{tmp_path / '.calibrant'}')"


def test_the_items_of_a_run_come_back_in_the_order_of_the_dataset(workspace):
    items = [ItemRecord(position=place, item=f"i{place}", cluster="c", data={"query": "Hi?"}) for place in (2, 0, 1)]
    workspace.add_items("r-01", items)
    workspace.flush()
    assert [item.item for item in workspace.items("r-01")] == ["i0", "i1", "i2"]
    assert next(workspace.items("r-01")).data == {"query": "Hi?"}
    assert list(workspace.items("r-02")) == []


def test_without_texts_an_item_is_kept_by_its_name_alone(tmp_path):
    with Workspace(tmp_path, store_text=False) as workspace:
        workspace.add_items("r-01", [ItemRecord(position=0, item="i0", data={"query": "Secret"})])
        workspace.flush()
        assert list(workspace.items("r-01")) == [ItemRecord(position=0, item="i0")]


def test_a_damaged_item_is_an_error_that_names_it(workspace):
    workspace.add_items("r-01", [ItemRecord(position=0, item="i0", data={"query": "Hi?"})])
    workspace.flush()
    altered(workspace, "UPDATE items SET data = '{}'")
    with pytest.raises(StoreError, match="holds a damaged item, 'i0' of run 'r-01'"):
        list(workspace.items("r-01"))


@pytest.mark.parametrize("damage", ["'{'", "x'ff'", "''", "substr(data, 1, 3)"])
def test_a_damaged_manifest_is_an_error_that_names_its_run(workspace, damage):
    workspace.put_manifest("r-1", {"name": "support"})
    workspace.put_manifest("r-2", {"name": "other"})
    altered(workspace, f"UPDATE manifests SET data = {damage} WHERE run = 'r-1'")  # noqa: S608 - this test's own
    with pytest.raises(StoreError, match="holds a damaged manifest, that of run 'r-1'; `check` lists all"):
        workspace.manifest("r-1")
    assert workspace.manifest("r-2") == {"name": "other"}
    assert workspace.check() == ["manifest of run 'r-1'"]


def test_a_damaged_label_is_an_error_that_names_it_and_the_others_are_read_up_to_it(workspace):
    labels = [LabelRecord(item=f"i{place}", criterion="c", annotator="kim", value=1.0) for place in range(3)]
    workspace.put_labels(labels)
    altered(workspace, "UPDATE labels SET value = '[' WHERE item = 'i1'")
    stream = workspace.labels()
    assert next(stream) == labels[0]
    with pytest.raises(StoreError, match="holds a damaged label, of 'kim' on 'c' of item 'i1'; `check` lists all"):
        next(stream)
    assert workspace.check() == ["label of 'kim' on 'c' of item 'i1'"]


def test_check_names_everything_that_is_damaged_at_once(workspace):
    workspace.add_calls([CALL, LABELLED])
    workspace.add_ratings("r-1", [RATED])
    workspace.add_items("r-1", [ItemRecord(position=0, item="q1", data={"query": "Hi?"})])
    workspace.put_manifest("r-1", {})
    altered(workspace, "UPDATE calls SET reply = '{}' WHERE key = 'sha256:1'")
    altered(workspace, "UPDATE ratings SET data = '{}'")
    altered(workspace, "UPDATE items SET item = 'q9'")
    altered(workspace, "UPDATE manifests SET data = 'none'")
    assert workspace.check() == [
        "call sha256:1",
        "rating of item 'q1' on 'groundedness' in run 'r-1'",
        "item 'q9' of run 'r-1'",
        "manifest of run 'r-1'",
    ]
    assert workspace.call(LABELLED.key) == LABELLED


def open_files():
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files are counted in the way of Linux")
def test_threads_that_come_and_go_leave_no_file_open(workspace):
    workspace.call("k")
    before = open_files()
    for _ in range(20):
        thread = threading.Thread(target=workspace.call, args=("k",))
        thread.start()
        thread.join()
    # SQLite keeps one for its next connection.
    assert open_files() <= before + 1


def test_closing_closes_what_every_thread_has_open(tmp_path):
    workspace = Workspace(tmp_path)
    asyncio.run(workspace.put_call(CALL))
    read, over, said = threading.Event(), threading.Event(), []

    def reads_before_and_after():
        said.append(workspace.call(CALL.key))
        read.set()
        over.wait(10)
        with pytest.raises(StoreError, match="is closed"):
            workspace.call(CALL.key)
        said.append("closed")

    thread = threading.Thread(target=reads_before_and_after)
    thread.start()
    read.wait(10)
    workspace.close()
    over.set()
    thread.join(10)
    assert said == [CALL, "closed"]
    # Nothing of SQLite's own is left beside the database: everyone has let go of it.
    assert [path.name for path in tmp_path.iterdir()] == ["calibrant.db"]


def test_a_workspace_that_is_closed_while_it_is_streamed_says_so(tmp_path):
    workspace = Workspace(tmp_path)
    workspace.add_ratings("r", (rating_of(number) for number in range(1500)))
    workspace.flush()
    stream = workspace.ratings("r")
    next(stream)
    workspace.close()
    with pytest.raises(StoreError, match="is closed"):
        list(stream)


def test_an_item_with_dates_and_decimals_is_kept_and_its_fingerprint_with_it(tmp_path):
    data = {
        "id": "q1",
        "opened": dt.date(2026, 3, 1),
        "price": Decimal("1.50"),
        "tags": {"b", "a"},
        "gap": float("nan"),
    }
    with Workspace(tmp_path) as workspace:
        workspace.add_items("r-1", [ItemRecord(position=0, item="q1", data=data)])
        workspace.flush()
        (kept,) = workspace.items("r-1")
    assert (kept.data["opened"], kept.data["price"], kept.data["tags"]) == ("2026-03-01", "1.50", ["a", "b"])
    assert fingerprint(kept.data) == fingerprint(data)
