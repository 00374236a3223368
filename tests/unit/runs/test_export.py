import csv
import json
import os

import polars as pl
import pytest
from sample_runs import brief, faithfulness, items, jury, kept, share, tone

from calibrant.errors import CODES, InputError, UnknownNameError
from calibrant.runs import compare, export, read_export, reopened, run, verify
from calibrant.runs.exporting import COLUMNS


@pytest.fixture(scope="module")
def made():
    return kept(items(), [jury(failing={3}), brief, share, tone], cluster="customer", gates=["coverage >= 0.9"])


def test_a_jsonl_file_opens_again_as_the_same_run(made, tmp_path):
    path = export(made, tmp_path / "deep" / "down" / "run.jsonl")
    found = read_export(path)
    assert found.to_json() == made.to_json()
    assert [one.item for one in found.ratings()] == [one.item for one in made.ratings()]
    assert (found.id, found.name, found.dataset) == (made.id, made.name, made.dataset)


def test_a_file_of_a_file_is_the_same_file(made, tmp_path):
    first = export(made, tmp_path / "first.jsonl")
    second = export(read_export(first), tmp_path / "second.jsonl")
    assert first.read_text() == second.read_text()


def test_a_run_of_a_workspace_exports_as_one_in_memory(tmp_path):
    there = kept(items(), [jury(), brief], folder=tmp_path / "w")
    here = kept(items(), [jury(), brief])
    paths = [export(one, tmp_path / f"{name}.jsonl") for one, name in ((there, "there"), (here, "here"))]
    there.close()
    rows = [[json.loads(line) for line in path.read_text().splitlines()[1:]] for path in paths]
    assert rows[0] == rows[1]


def test_an_exported_run_is_a_baseline(made, tmp_path):
    path = export(made, tmp_path / "main.jsonl")
    gates = ["brief.pass_rate >= baseline - 0.5"]
    found = run(items(), [brief], gates=gates, baseline=path)
    assert found.gates[0].answer in {"PASS", "INCONCLUSIVE"}
    assert compare(str(path), made).between("brief").difference.value == 0.0


def test_calls_are_not_named_in_a_file_that_leaves_them_behind(made, tmp_path):
    lines = export(made, tmp_path / "run.jsonl").read_text().splitlines()[1:]
    assert all(json.loads(line)["call_keys"] == [] for line in lines)


def test_a_csv_table_has_one_row_a_rating(made, tmp_path):
    with export(made, tmp_path / "ratings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len([*made.ratings()]) == 40 * (4 + 3)
    first = next(row for row in rows if row["criterion"] == "brief" and row["item"] == "q4")
    assert (first["value"], first["score"], first["passed"], first["cluster"]) == ("false", "0.0", "False", "c4")
    failed = next(row for row in rows if row["status"] == "failed" and row["role"] == "vote")
    assert (failed["item"], failed["failure_code"], failed["value"]) == ("q3", "reply_unparsable", "")
    assert "<b>maybe</b>" in failed["failure_message"]
    assert {row["value"] for row in rows if row["criterion"] == "tone"} == {"curt", "kind", "neutral"}


def test_a_parquet_table_has_the_same_rows_with_types(made, tmp_path):
    frame = pl.read_parquet(export(made, tmp_path / "ratings.parquet"))
    table = pl.read_csv(export(made, tmp_path / "ratings.csv"), infer_schema_length=None)
    assert frame.columns == list(COLUMNS)
    assert (frame["score"].dtype, frame["passed"].dtype, frame["position"].dtype) == (pl.Float64, pl.Boolean, pl.Int64)
    assert frame["score"].to_list() == table["score"].to_list()
    results = frame.filter((pl.col("criterion") == "brief") & (pl.col("role") == "result"))
    assert results["passed"].mean() == made.metric("brief").pass_rate.value


def test_an_empty_column_keeps_its_type(tmp_path):
    frame = pl.read_parquet(export(kept(items(2), [tone]), tmp_path / "tone.parquet"))
    assert frame["score"].dtype == pl.Float64
    assert frame["score"].null_count() == 2


def test_the_format_may_be_said_beside_any_ending(made, tmp_path):
    path = export(made, tmp_path / "baseline.txt", format="jsonl")
    assert read_export(path).id == made.id
    assert export(made, tmp_path / "UPPER.CSV").read_text().startswith("run,position")


@pytest.mark.parametrize(
    ("name", "form", "said"), [("run.xlsx", None, "'.xlsx'"), ("run", None, "'run'"), ("run.csv", "xml", "'xml'")]
)
def test_an_unknown_format_lists_those_there_are(made, tmp_path, name, form, said):
    with pytest.raises(UnknownNameError, match=f"unknown export format {said}; expected one of: csv, jsonl, parquet"):
        export(made, tmp_path / name, format=form)


def test_without_text_nothing_that_was_said_leaves(tmp_path):
    found = kept(items(), [jury(failing={3}), faithfulness("fully", "none")], folder=tmp_path / "w")
    for ending in ("jsonl", "csv"):
        text = export(found, tmp_path / f"run.{ending}", text=False).read_text()
        assert "stands in the context" not in text
        assert "maybe" not in text
        assert CODES["reply_unparsable"].meaning in text
    again = read_export(tmp_path / "run.jsonl")
    assert [one.pass_rate for one in again.metrics] == [one.pass_rate for one in found.metrics]
    found.close()


def test_a_workspace_without_texts_keeps_none_in_its_report(tmp_path):
    found = kept(items(), [jury(failing={3})], folder=tmp_path, store_text=False)
    assert "maybe" in found.metrics[0].failures[0].message  # the run that was just made may say it
    found.close()
    whole = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"maybe" not in whole
    assert b"stands in the context" not in whole


def test_nothing_half_written_is_left(made, tmp_path):
    export(made, tmp_path / "run.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"]


def test_a_place_that_cannot_be_written_is_one_error(made, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write .*run.jsonl: (Not a directory|File exists)"):
        export(made, tmp_path / "file" / "run.jsonl")
    (tmp_path / "taken.jsonl").mkdir()
    with pytest.raises(InputError, match=r"cannot write .*taken\.jsonl: Is a directory"):
        export(made, tmp_path / "taken.jsonl")


@pytest.mark.skipif(os.geteuid() != 0, reason="links into /dev/full are root's own way to a full disk")
def test_a_full_disk_is_one_error_and_leaves_what_was_there(made, tmp_path):
    target = tmp_path / "run.jsonl"
    export(made, target)
    before = target.read_text()
    (tmp_path / "run.jsonl.part").symlink_to("/dev/full")
    with pytest.raises(InputError, match=r"cannot write .*: No space left on device"):
        export(made, target)
    assert target.read_text() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"run\.jsonl begins with ''; expected a run exported as JSONL \(calibrant export RUN -o FILE\.jsonl\)"),
        ("run,metric\n", r"begins with 'run,metric'; expected a run exported as JSONL"),
        ('{"schema": "calibrant.run/1"}\n', "begins with .*calibrant.run/1.*; expected a run exported as JSONL"),
        ("[1, 2]\n", "begins with '.1, 2.'"),
        ('{"schema": "calibrant.export/1", "run": "r-1"}\n', r"does not hold a whole run \('\w+'\)"),
    ],
)
def test_a_file_that_is_no_export_says_what_was_expected(tmp_path, text, message):
    (tmp_path / "run.jsonl").write_text(text)
    with pytest.raises(InputError, match=message):
        read_export(tmp_path / "run.jsonl")


def test_bad_lines_are_named_together(made, tmp_path):
    path = export(made, tmp_path / "run.jsonl")
    lines = path.read_text().splitlines()
    lines[3], lines[5] = "{", lines[5].replace('"status": "rated"', '"status": "guessed"')
    path.write_text("\n".join(lines))
    with pytest.raises(InputError) as told:
        read_export(path)
    assert "line 4: is no rating" in str(told.value)
    assert "line 6: is no rating" in str(told.value)


def test_a_file_that_is_not_text_and_one_that_is_missing(tmp_path):
    (tmp_path / "run.jsonl").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(InputError, match=r"run\.jsonl is not text; expected a run exported as JSONL"):
        read_export(tmp_path / "run.jsonl")
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        read_export(tmp_path / "other.jsonl")


def test_names_in_every_script_survive(tmp_path):
    rows = [{"id": "Größe-日本-🙂", "query": "?", "answer": "a\u2028b"}, {"id": "2", "query": "?", "answer": "x"}]
    found = kept(rows, [share], name="Ünïcode")
    again = read_export(export(found, tmp_path / "run.jsonl"))
    assert [item.id for item in again.items()] == ["Größe-日本-🙂", "2"]
    assert again.name == "Ünïcode"


def test_runs_are_called_by_id_beginning_name_or_latest(tmp_path):
    ids = []
    for number, name in enumerate(("old", "new", "old")):
        found = kept(items(3 + number), [brief], name=name, folder=tmp_path / ".calibrant")
        ids.append(found.id)
        found.close()

    def called(reference, workspace=tmp_path):
        found = reopened(reference, workspace=workspace)
        found.close()
        return found.id

    assert [called(one) for one in ids] == ids
    assert called(ids[0][:6]) == ids[0]
    assert (called("latest"), called("new"), called("old")) == (ids[2], ids[1], ids[2])
    assert called("new", tmp_path / ".calibrant") == ids[1]
    with pytest.raises(InputError, match="'r-' begins the names of several runs"):
        called("r-")
    with pytest.raises(UnknownNameError, match="unknown run 'older'"):
        called("older")
    with pytest.raises(InputError, match="there is no file old.jsonl; expected an exported run, or the name of a run"):
        called("old.jsonl")
    with pytest.raises(InputError, match="there is no workspace in .*; `calibrant run PLAN` makes one"):
        called("old", tmp_path / "nowhere")


@pytest.mark.parametrize("suffix", ["jsonl", "csv"])
def test_a_run_whose_texts_are_not_kept_takes_none_into_a_file(tmp_path, suffix):
    def indiscreet(item):
        raise ValueError(f"no such patient: {item.answer}")

    run = kept(items(6), [indiscreet], folder=tmp_path / "w", store_text=False)
    assert "no such patient" in str(run)
    path = export(run, tmp_path / f"run.{suffix}")
    assert "no such patient" not in path.read_text()
    if suffix == "jsonl":
        assert verify(path).is_ok
    run.close()
