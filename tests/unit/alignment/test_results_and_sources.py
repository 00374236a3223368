"""Results of scorers, their files, raters' answers by task, and results from outside by whose they are."""

import json
import logging
import math
from datetime import UTC, datetime

import polars as pl
import pytest
from pydantic import ValidationError

from calibrant.alignment import BaseScoringResult, EvalTask, MetaEvaluator, TaskAggregationMode
from calibrant.alignment.comparing import MetricResults
from calibrant.alignment.rater_results import RaterResults, Ratings
from calibrant.alignment.result_files import read_result_files, result_folder, write_result_files
from calibrant.alignment.scorers.label_sets import answer_set, is_negative, sets_of_rows, votes_by_position
from calibrant.alignment.sources import Source
from calibrant.errors import InputError
from calibrant.estimates import Coverage, Estimate

SINGLE, MULTILABEL = TaskAggregationMode.SINGLE, TaskAggregationMode.MULTILABEL


def result(**changes):
    fields = {"scorer_name": "mine", "task_name": "t", "judge_id": "j", "scores": {"wins": 0.5},
              "aggregation_mode": SINGLE, "num_comparisons": 4}  # fmt: skip
    return BaseScoringResult(**{**fields, **changes})


def test_the_fields_of_a_result_are_checked():
    with pytest.raises(ValidationError, match="num_comparisons"):
        result(num_comparisons="many")
    with pytest.raises(ValidationError, match="aggregation_mode"):
        result(aggregation_mode="sideways")
    assert result(aggregation_mode="multitask").aggregation_mode is TaskAggregationMode.MULTITASK


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_no_number_that_is_none_stays(wrong):
    found = result(scores={"wins": wrong, "losses": 1.0}, metadata={"deep": [{"x": wrong}], "fine": 2.0})
    assert found.scores == {"wins": None, "losses": 1.0}
    assert found.reason == "wins is no finite number"
    assert found.metadata == {"deep": [{"x": None}], "fine": 2.0}


def test_a_reason_of_the_scorer_s_own_is_kept():
    assert result(scores={"wins": math.nan}, reason="nobody played").reason == "nobody played"


def test_the_headline_is_the_first_number_by_itself():
    assert result(scores={"rates": {"0.00": 0.1}, "share": 0.7}).score == 0.7
    assert result(scores={"rates": {"0.00": 0.1}}).score is None
    assert result(scores={}).score is None


def test_an_estimate_comes_back_as_it_was():
    estimate = Estimate(value=0.5, lower=0.2, upper=0.8, method="wilson", coverage=Coverage(rated=4, failed=1))
    found = result(intervals={"wins": estimate.to_json()})
    assert found.estimate("wins") == estimate
    assert found.estimate("losses") is None


def test_the_json_of_a_result_begins_with_what_matters():
    estimate = Estimate(value=0.5, lower=0.2, upper=0.8, method="wilson", coverage=Coverage(rated=4, failed=1))
    made = datetime(2025, 1, 15, 10, 30, tzinfo=UTC)
    found = result(intervals={"wins": estimate.to_json()}, details={"played": 4}, timestamp=made).to_json()
    assert list(found)[:6] == ["judge_id", "scorer_name", "task_strategy", "task_name", "score", "played"]
    assert (found["n"], found["interval"], found["level"], found["coverage"]["failed"]) == (4, [0.2, 0.8], 0.95, 1)
    assert found["metadata"]["scoring_date"] == "2025-01-15T10:30:00Z"


def test_a_result_without_an_interval_says_so_with_null():
    found = result().to_json()
    assert (found["n"], found["interval"], found["level"], found["coverage"]) == (None, None, None, None)


def test_a_result_comes_back_from_its_json_whole():
    first = result(details={"outcome": "passed"}, metadata={"a": [1, None]}, reason="", config_hash="h")
    again = BaseScoringResult.from_json(json.loads(json.dumps({**first.to_json(), "unique_name": "n"})))
    assert again.details == {"outcome": "passed"}
    assert again.to_json() == first.to_json()


def metric(name, *results):
    return MetricResults(name=name, scorer_name="mine", results=results, about="t; individual_average")


def test_results_are_written_and_read_in_their_order(tmp_path):
    given = [metric("b", result(judge_id="z"), result(judge_id="a")), metric("a", result())]
    write_result_files(tmp_path, given)
    assert [(one.name, one.about, [row.judge_id for row in one.results]) for one in read_result_files(tmp_path)] == [
        ("b", "t; individual_average", ["z", "a"]), ("a", "t; individual_average", ["j"])
    ]  # fmt: skip


def test_a_result_that_is_no_result_any_more_is_a_reason(tmp_path):
    paths = write_result_files(tmp_path, [metric("m", result(), result(judge_id="k"))])
    paths[0].write_text("{", encoding="utf-8")
    paths[1].unlink()
    read = read_result_files(tmp_path)[0].results
    assert [(row.judge_id, row.score, row.reason) for row in read] == [
        ("j", None, "j_result.json cannot be read; call compare_async() again"),
        ("k", None, "k_result.json cannot be read; call compare_async() again"),
    ]


def test_no_index_is_no_results(tmp_path):
    assert read_result_files(tmp_path) == []


def test_odd_names_stay_below_scores(tmp_path):
    folder = result_folder(tmp_path, "../x", "a/../../b")
    assert folder.parent.parent == tmp_path
    [path] = write_result_files(tmp_path, [metric("a/../b", result(judge_id="../../j"))])
    assert tmp_path in path.parents


def rater(name="j", **tasks):
    size = len(next(iter(tasks.values())))
    return RaterResults(rater=name, frame=pl.DataFrame({"original_id": [str(item) for item in range(size)], **tasks}))


def test_results_print_on_one_line_however_many_answers_there_are():
    found = rater(a=["x"] * 500, b=[1] * 500)
    assert repr(found) == "RaterResults('j', 500 items, a, b; 0 failed)"


def test_answers_to_one_task_and_to_several():
    found = rater(a=["x", "y"], b=[1, 2])
    assert found.tasks == ("a", "b")
    assert found.answers(["a"], SINGLE)["label"].to_list() == ["x", "y"]
    assert found.answers(["a", "b"], MULTILABEL)["label"].to_list() == [["x", "1"], ["y", "2"]]
    assert found.answers(["c"], SINGLE) is None


def test_people_s_answers_stand_below_each_other_with_their_names():
    ratings = Ratings({"j": rater(a=["x"])}, {"kim": rater("kim", a=["x"]), "lee": rater("lee", b=["y"])})
    assert ratings.human_frame(["a"], SINGLE).rows() == [("0", "kim", "x")]
    assert ratings.human_frame(["c"], SINGLE).is_empty()
    assert set(ratings.tasks) == {"a", "b"}


def test_numbers_of_one_person_and_texts_of_another_meet_as_texts():
    ratings = Ratings({"j": rater(a=[1])}, {"kim": rater("kim", a=[1]), "lee": rater("lee", a=["1"])})
    assert ratings.human_frame(["a"], SINGLE)["label"].to_list() == ["1", "1"]


def test_labels_are_encoded_once_for_all_judges():
    ratings = Ratings({"j": rater(a=["x"]), "k": rater(a=["y"])}, {"kim": rater("kim", a=["x"])})
    assert ratings.labels("j", ["a"], SINGLE) is ratings.labels("k", ["a"], SINGLE)


@pytest.mark.parametrize("value", ["FALSE", "False", "no", "NO", "", " ", 0, 0.0, False, "0"])
def test_negatives_hold_for_no_label(value):
    assert is_negative(value)


@pytest.mark.parametrize("value", ["hateful", "yes", 1, True, "none", "n"])
def test_other_answers_hold(value):
    assert not is_negative(value)


def test_sets_are_pairs_of_task_and_value_or_the_values():
    assert answer_set(["yes", "FALSE"], ["a", "b"]) == {"a=yes"}
    assert answer_set(["hate", "", "sex"], None) == {"hate", "sex"}
    assert answer_set(["no", "FALSE"], ["a", "b"]) == frozenset()
    assert answer_set(["yes", None], ["a", "b"]) is None


def test_votes_by_position_are_sets_of_what_most_said_of_each():
    said = {
        "kim": [["yes", "no"], ["no", "no"]],
        "lee": [["yes", "yes"], ["no", "yes"]],
        "ann": [["no", "yes"], ["no", "no"]],
    }
    rows = [(item, name, answers) for name, given in said.items() for item, answers in enumerate(given)]
    names = ["a", "b"]
    whole = sets_of_rows(rows, names)
    positions = {
        name: whole.from_records([(item, rater_name, answers[place]) for item, rater_name, answers in rows])
        for place, name in enumerate(names)
    }
    vote = votes_by_position(positions, whole, ["kim", "lee", "ann"], "first")
    assert [vote.values[code] for code in vote.codes] == [frozenset({"a=yes", "b=yes"}), frozenset()]
    tied = votes_by_position(positions, whole, ["kim", "lee"], "abstain")
    assert (tied.ties, tied.abstained, tied.codes.tolist()) == (2, 2, [-1, -1])


TASK = EvalTask({"safe": ["yes", "no"]})


def named(source, task=None):
    return {one.rater: one.frame["safe"].to_list() for one in source.results(task)}


def test_labels_without_a_column_belong_to_the_only_task_or_to_the_one_that_is_named():
    assert named(Source(kind="judge", given={1: "yes"}, rater="j"), TASK) == {"j": ["yes"]}
    assert named(Source(kind="judge", given={1: "yes"}, rater="j", task="safe")) == {"j": ["yes"]}


def test_nested_answers_are_a_rater_each():
    pair = {"kim": {1: "yes"}, 7: {1: "no"}}
    assert named(Source(kind="annotator", given=pair), TASK) == {"kim": ["yes"], "7": ["no"]}


@pytest.mark.parametrize(("kind", "column"), [("judge", "judge_id"), ("judge", "judge"), ("annotator", "human_id")])
def test_a_column_says_whose_rows_are_whose(kind, column):
    rows = [{"id": 1, column: "a", "safe": "yes"}, {"id": 1, column: "b", "safe": "no"}]
    assert named(Source(kind=kind, given=rows)) == {"a": ["yes"], "b": ["no"]}


def test_a_name_that_is_given_goes_before_a_column():
    rows = [{"id": 1, "judge_id": "a", "safe": "yes"}]
    assert named(Source(kind="judge", given=rows, rater="mine"), TASK) == {"mine": ["yes"]}


def test_a_file_without_a_name_has_its_own(tmp_path):
    path = tmp_path / "gpt-4.csv"
    path.write_text("id,safe\n1,yes\n", encoding="utf-8")
    assert named(Source(kind="judge", given=path)) == {"gpt-4": ["yes"]}
    assert named(Source(kind="judge", given=str(path), id_column="id")) == {"gpt-4": ["yes"]}


@pytest.mark.parametrize("name", ["", "  ", True])
def test_a_name_that_is_none_is_refused(name):
    with pytest.raises(InputError, match="judge_id"):
        Source(kind="judge", given={1: "yes"}, rater=name).results(TASK)


def test_notes_are_logged_when_results_are_added(tmp_path, caplog):
    project = MetaEvaluator(tmp_path)
    project.add_eval_task(TASK)
    with caplog.at_level(logging.WARNING):
        project.add_external_judge_results({1: "perhaps"}, "j")
    assert "j, safe, item 1: expected one of yes, no, got 'perhaps'" in caplog.text
    assert project.notes == ("j, safe, item 1: expected one of yes, no, got 'perhaps'",)
