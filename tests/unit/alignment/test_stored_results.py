"""Results in a project's folders: written and read alike, the newest of each rater, and none from outside."""

import json
from dataclasses import replace

import polars as pl
import pytest

from calibrant.alignment import EvalTask
from calibrant.alignment.rater_results import RaterResults
from calibrant.alignment.stored_results import read_results, write_results
from calibrant.errors import InputError


def results(rater="j", answers=("yes", "no", None), **more):
    frame = pl.DataFrame({"original_id": ["1", "2", "3"], "safe": list(answers)}, schema_overrides={"safe": pl.String})
    return RaterResults(rater=rater, frame=frame, **more)


@pytest.mark.parametrize(("kind", "folder"), [("judge", "results"), ("annotator", "annotations")])
def test_what_is_written_is_read(tmp_path, kind, folder):
    given = results(failed=frozenset({"3"}), notes=("n",), about={"run_id": "r1", "model": "m"})
    path = write_results(tmp_path, kind, given)
    assert path.parent == tmp_path / folder
    found = read_results(tmp_path, kind, None)["j"]
    assert found.frame.equals(given.frame)
    assert (found.failed, found.notes, dict(found.about)) == (given.failed, given.notes, dict(given.about))


def test_a_missing_answer_stays_missing_and_a_failed_one_failed(tmp_path):
    write_results(tmp_path, "judge", results(answers=("yes", None, None), failed=frozenset({"3"})))
    found = read_results(tmp_path, "judge", None)["j"]
    assert found.frame["safe"].to_list() == ["yes", None, None]
    assert found.failed == {"3"}


def test_lists_of_labels_are_kept(tmp_path):
    frame = pl.DataFrame(
        {"original_id": ["1", "2"], "harms": [["a"], []]}, schema_overrides={"harms": pl.List(pl.String)}
    )
    write_results(tmp_path, "judge", RaterResults(rater="j", frame=frame))
    assert read_results(tmp_path, "judge", None)["j"].frame["harms"].to_list() == [["a"], []]


def test_of_several_runs_the_newest_counts(tmp_path):
    write_results(tmp_path, "judge", results(about={"run_id": "2"}))
    write_results(tmp_path, "judge", results(answers=("no", "no", "no"), about={"run_id": "1"}))
    assert len(list((tmp_path / "results").glob("*_state.json"))) == 2
    assert read_results(tmp_path, "judge", None)["j"].frame["safe"].to_list() == ["no", "no", "no"]


def test_the_same_run_is_replaced(tmp_path):
    for answers in (("yes", "yes", "yes"), ("no", "no", "no")):
        write_results(tmp_path, "judge", results(answers=answers))
    assert len(list((tmp_path / "results").iterdir())) == 2


def test_names_that_look_like_paths_stay_in_the_folder(tmp_path):
    evil = results(rater="../../evil")
    path = write_results(tmp_path, "annotator", evil)
    assert path.parent == tmp_path / "annotations"
    assert list(read_results(tmp_path, "annotator", None)) == ["../../evil"]


def test_names_that_differ_in_case_or_signs_alone_do_not_meet(tmp_path):
    for name in ("a/b", "a:b", "a b"):
        write_results(tmp_path, "judge", results(rater=name))
    assert sorted(read_results(tmp_path, "judge", None)) == ["a b", "a/b", "a:b"]


def test_the_task_is_held_against_what_was_written(tmp_path):
    write_results(tmp_path, "judge", results(answers=("yes", "perhaps", None)))
    found = read_results(tmp_path, "judge", EvalTask({"safe": ["yes", "no"]}))["j"]
    assert found.notes == ("j, safe, item 2: expected one of yes, no, got 'perhaps'",)


def test_no_folder_is_no_results(tmp_path):
    assert read_results(tmp_path, "judge", None) == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "x_state.json is no JSON"),
        ("[]", "x_state.json holds no account of results"),
        ("{}", "x_state.json does not say whose results it holds; expected judge_id"),
        ('{"judge_id": "j", "data_file": "gone.json"}', "there is no file of results at .*gone.json"),
    ],
)
def test_an_account_that_is_no_account_is_named(tmp_path, text, words):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "x_state.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_results(tmp_path, "judge", None)


def test_an_account_may_lie_flat_as_others_write_it(tmp_path):
    (tmp_path / "annotations").mkdir()
    results().frame.write_csv(tmp_path / "annotations" / "kim.csv")
    about = {"annotator_id": "kim", "run_id": "r", "data_file": "kim.csv", "data_format": "csv", "error_count": 0}
    (tmp_path / "annotations" / "kim_metadata.json").write_text(json.dumps(about), encoding="utf-8")
    assert read_results(tmp_path, "annotator", None)["kim"].frame["original_id"].to_list() == ["1", "2", "3"]


def test_a_rater_without_any_answer_is_kept(tmp_path):
    write_results(tmp_path, "judge", replace(results(answers=(None, None, None)), failed=frozenset({"1", "2", "3"})))
    found = read_results(tmp_path, "judge", None)["j"]
    assert found.failed == {"1", "2", "3"}
