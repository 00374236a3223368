import asyncio
import datetime as dt
import threading
from decimal import Decimal

import polars as pl
import pytest
from sample_runs import items, jury, kept

from calibrant import EvalInput, metric
from calibrant.errors import InputError, StoreError, UnknownNameError
from calibrant.metrics.fences import fenced
from calibrant.ratings import Rating
from calibrant.runs import RunSettings, compare, run, verify
from calibrant.runs.archive import existing_workspace, manifest_of
from calibrant.runs.keeping import KeptItem, MemoryKeeper, WorkspaceKeeper, opened
from calibrant.runs.references import reopened
from calibrant.runs.reopening import run_called, run_named
from calibrant.store import Workspace


def rating(item, criterion="brief"):
    return Rating(item=item, criterion=criterion, rater="rule", value=True, explanation="Because.")


@pytest.fixture(params=["memory", "workspace", "workspace without texts"])
def keeper(request, tmp_path):
    if request.param == "memory":
        made = MemoryKeeper()
    else:
        made = WorkspaceKeeper(Workspace(tmp_path, store_text=request.param == "workspace"))
    yield made
    made.close()


def settled(keeper):
    asyncio.run(keeper.settle())


def test_items_come_back_in_the_order_of_the_dataset(keeper):
    for position in (2, 0, 1):
        keeper.add("r-1", [KeptItem(position, EvalInput(id=f"q{position}", query="?"), "c")], [])
    settled(keeper)
    found = [*keeper.items("r-1")]
    assert [(one.position, one.item.id, one.cluster) for one in found] == [
        (0, "q0", "c"),
        (1, "q1", "c"),
        (2, "q2", "c"),
    ]


def test_ratings_come_back_in_the_order_in_which_they_came(keeper):
    for item in ("b", "a"):
        keeper.add("r-1", [], [rating(item), rating(item, "polite")])
    settled(keeper)
    assert [(one.item, one.criterion) for one in keeper.ratings("r-1")] == [
        *(("b", "brief"), ("b", "polite"), ("a", "brief"), ("a", "polite")),
    ]
    assert [one.item for one in keeper.ratings("r-1", "polite")] == ["b", "a"]
    assert [*keeper.ratings("r-1", "other")] == []


def test_a_manifest_is_replaced_and_a_missing_one_is_none(keeper):
    assert keeper.manifest("r-1") is None
    for status in ("running", "complete"):
        keeper.put_manifest("r-1", {"status": status})
    assert keeper.manifest("r-1") == {"status": "complete"}


def test_an_item_in_twice_is_there_once(keeper):
    for answer in ("no", "yes"):
        keeper.add("r-1", [KeptItem(0, EvalInput(id="q0", answer=answer))], [])
    settled(keeper)
    assert len([*keeper.items("r-1")]) == 1


def test_texts_are_kept_or_left_out_as_was_asked(tmp_path):
    for text, folder in ((True, tmp_path / "with"), (False, tmp_path / "without")):
        made = opened(RunSettings(workspace=folder, store_text=text))
        made.add("r-1", [KeptItem(0, EvalInput(id="q0", answer="Until six."))], [rating("q0")])
        settled(made)
        [item], [said] = made.items("r-1"), made.ratings("r-1")
        assert (item.item.get("answer"), said.explanation) == (("Until six.", "Because.") if text else (None, ""))
        assert said.value is True
        made.close()


def test_without_a_workspace_a_run_is_kept_in_memory():
    assert isinstance(opened(RunSettings()), MemoryKeeper)
    assert opened(RunSettings()).workspace is None


def test_a_workspace_has_one_secret_whoever_is_first(tmp_path):
    keepers = [WorkspaceKeeper(Workspace(tmp_path)) for _ in range(2)]
    seen = []

    def look(keeper):
        with keeper.secret():
            seen.append(fenced({"answer": "x"}))

    threads = [threading.Thread(target=look, args=(keeper,)) for keeper in keepers * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert len({*seen}) == 1
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    for keeper in keepers:
        keeper.close()


def test_another_workspace_fences_by_another_secret(tmp_path):
    seen = []
    for name in ("a", "b"):
        keeper = WorkspaceKeeper(Workspace(tmp_path / name))
        with keeper.secret():
            seen.append(fenced({"answer": "x"}))
        keeper.close()
    assert seen[0] != seen[1]


def test_a_secret_that_cannot_be_kept_is_one_error(tmp_path):
    keeper = WorkspaceKeeper(Workspace(tmp_path))
    (tmp_path / "secret").mkdir()
    with pytest.raises(StoreError, match="cannot keep the workspace's secret in .*secret"), keeper.secret():
        pass
    keeper.close()


@pytest.mark.parametrize("where", [".", ".calibrant"])
def test_a_workspace_is_found_in_its_folder_or_beside(tmp_path, where):
    Workspace(tmp_path / ".calibrant").close()
    with existing_workspace(tmp_path / where) as found:
        assert found.path == tmp_path / where / ("" if where == ".calibrant" else ".calibrant") / "calibrant.db"


def test_a_folder_without_a_workspace_stays_as_it_is(tmp_path):
    with pytest.raises(InputError, match="there is no workspace in .*; `calibrant run PLAN` makes one in .calibrant"):
        existing_workspace(tmp_path)
    assert [*tmp_path.iterdir()] == []


def test_runs_are_named_by_id_beginning_or_latest():
    runs = ["r-0a1b", "r-0c2d", "r-0c2d-2"]
    assert run_named(runs, "r-0a") == "r-0a1b"
    assert run_named(runs, "r-0c2d") == "r-0c2d"
    assert run_named(runs, "latest") == "r-0c2d-2"
    with pytest.raises(InputError, match="'r-0c' begins the names of several runs: r-0c2d, r-0c2d-2"):
        run_named(runs, "r-0c")
    for wrong in ("", "x"):
        with pytest.raises(UnknownNameError, match="unknown run"):
            run_named(runs, wrong)
    with pytest.raises(UnknownNameError, match="unknown run 'latest'"):
        run_named([], "latest")


def test_an_id_goes_before_a_name_and_the_newest_before_the_others(tmp_path):
    with Workspace(tmp_path) as workspace:
        for run, name in (("r-1", "main"), ("r-2", "r-1"), ("r-3", "main")):
            workspace.put_manifest(run, {"name": name})
        assert run_called(workspace, "r-1") == "r-1"
        assert run_called(workspace, "main") == "r-3"
        assert manifest_of(workspace, "main") == {"name": "main"}
        told = r"unknown run 'mainly'; expected one of: r-3 \(main\), r-2 \(r-1\), r-1 \(main\)$"
        with pytest.raises(UnknownNameError, match=told):
            run_called(workspace, "mainly")


def test_a_frame_with_dates_decimals_and_nested_columns_is_rated_kept_and_verified(tmp_path):
    frame = pl.DataFrame(
        {
            "id": ["t1", "t2"],
            "answer": ["Yes.", "No, never on a Sunday."],
            "opened": [dt.datetime(2026, 3, 1, 9, tzinfo=dt.UTC), None],
            "refund": [Decimal("1.50"), Decimal("20.00")],
            "seen": [{"by": "kim", "on": dt.date(2026, 3, 2)}, None],
        }
    )
    brief = metric(lambda item: len(item.answer) < 9, name="brief")
    settings = RunSettings(workspace=tmp_path)
    made, again = run(frame, [brief], settings=settings), run(frame, [brief], settings=settings)
    assert made.metric("brief").pass_rate.value == 0.5
    assert verify(made.id, workspace=tmp_path).is_ok
    assert compare(made, again).between("brief").difference.value == 0.0
    first = next(iter(made.items()))
    assert (first.opened, first.refund, first.seen["on"]) == ("2026-03-01T09:00:00+00:00", "1.50", "2026-03-02")
    made.close()
    again.close()


def test_of_many_runs_the_newest_are_named_to_who_asks_for_another(tmp_path):
    with Workspace(tmp_path) as workspace:
        with pytest.raises(UnknownNameError, match="unknown run 'mine'; the workspace has no runs yet$"):
            run_called(workspace, "mine")
        for number in range(10):
            workspace.put_manifest(f"r-{number}", {"name": "nightly"})
        with pytest.raises(UnknownNameError, match=r"r-2 \(nightly\), and 2 older ones: calibrant list$"):
            run_called(workspace, "mine")


def test_a_run_that_has_not_ended_says_what_it_took_so_far(tmp_path):
    run = kept(items(8), [jury(size=1)], folder=tmp_path)
    manifest = dict(run.keeper.manifest(run.id))
    run.keeper.put_manifest(
        run.id, {**{name: manifest[name] for name in manifest if name != "report"}, "status": "running"}
    )
    killed = reopened(run.id, workspace=tmp_path)
    assert (killed.status, killed.usage) == ("incomplete", run.usage)
    assert killed.usage.calls == 8
    assert "no model was asked" not in str(killed)
    killed.close()
    run.close()
