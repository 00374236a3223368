"""A table of results becomes answers by rater: what is counted, what failed, and what is named."""

import polars as pl
import pytest

from calibrant.alignment import EvalTask, MultiLabelSchema
from calibrant.alignment.answers import answers_of_raters, answers_of_table
from calibrant.errors import InputError

TASK = EvalTask({"safe": ["yes", "no"], "why": None})


def table(**columns):
    return pl.DataFrame(columns, strict=False)


def test_columns_of_the_task_are_answers_and_bookkeeping_is_not():
    rows = table(original_id=[1, 2], run_id=["r", "r"], safe=["yes", "no"], why=["a", "b"], llm_total_tokens=[3, 4])
    found = answers_of_table(rows, "j", task=TASK)
    assert found.frame.to_dict(as_series=False) == {
        "original_id": ["1", "2"], "safe": ["yes", "no"], "why": ["a", "b"]
    }  # fmt: skip
    assert (found.rater, found.tasks, found.failed, found.notes) == ("j", ("safe", "why"), frozenset(), ())


def test_without_a_task_all_columns_but_bookkeeping_are_answers():
    rows = table(id=[1], status=["success"], annotation_timestamp=["now"], tone=["warm"], safe=["yes"])
    assert answers_of_table(rows, "j", task=None).tasks == ("tone", "safe")


def test_a_task_that_the_table_lacks_is_left_out_and_none_at_all_is_an_error():
    assert answers_of_table(table(id=[1], safe=["yes"]), "j", task=TASK).tasks == ("safe",)
    with pytest.raises(InputError, match="the table of 'j' has no column for safe, why; it has: original_id, x"):
        answers_of_table(table(id=[1], x=["yes"]), "j", task=TASK)
    with pytest.raises(InputError, match="has no column for a task; it has: original_id, run_id"):
        answers_of_table(table(id=[1], run_id=["r"]), "j", task=None)


@pytest.mark.parametrize("status", ["llm_error", "parsing_error", "other_error", "error", None])
def test_a_row_that_did_not_succeed_failed_and_its_answer_does_not_count(status):
    rows = table(id=[1, 2], status=["success", status], safe=["yes", "no"])
    found = answers_of_table(rows, "j", task=TASK)
    assert found.frame["safe"].to_list() == ["yes", None]
    assert found.failed == {"2"}


def test_a_row_that_was_skipped_is_no_failure():
    found = answers_of_table(table(id=[1, 2], status=["success", "skipped"], safe=["yes", None]), "j", task=TASK)
    assert found.failed == frozenset()
    assert found.frame["safe"].to_list() == ["yes", None]


def test_an_answer_of_a_skipped_row_does_not_count():
    found = answers_of_table(table(id=[1, 2], status=["success", "skipped"], safe=["yes", "no"]), "j", task=TASK)
    assert found.frame["safe"].to_list() == ["yes", None]


def test_a_partial_row_keeps_what_was_answered_and_fails_for_the_rest():
    rows = table(id=[1, 2], status=["partial", "success"], safe=["yes", "no"], why=[None, "w"])
    found = answers_of_table(rows, "j", task=TASK)
    assert found.frame["safe"].to_list() == ["yes", "no"]
    assert found.frame["why"].to_list() == [None, "w"]
    assert found.failed == {"1"}


def test_an_answer_that_the_task_does_not_know_is_named_and_failed():
    found = answers_of_table(table(id=[1, 2], safe=["Yes", "no"]), "kim", task=TASK)
    assert found.frame["safe"].to_list() == [None, "no"]
    assert found.failed == {"1"}
    assert found.notes == ("kim, safe, item 1: expected one of yes, no, got 'Yes'",)


def test_many_unknown_answers_are_summed_up():
    found = answers_of_table(table(id=list(range(9)), safe=["?"] * 9), "kim", task=TASK)
    assert len(found.notes) == 6
    assert found.notes[-1] == "kim, safe: 4 more answers that the task does not know"
    assert len(found.failed) == 9


def test_missing_answers_are_missing_and_neither_failed_nor_named():
    found = answers_of_table(table(id=[1, 2], safe=["yes", None]), "kim", task=TASK)
    assert (found.failed, found.notes) == (frozenset(), ())


def test_truth_values_and_numbers_are_the_outcomes_of_that_text():
    task = EvalTask({"safe": ["True", "False"], "stars": ["1", "2"]})
    found = answers_of_table(table(id=[1, 2], safe=[True, False], stars=[1, 2]), "j", task=task)
    assert found.frame["safe"].to_list() == ["True", "False"]
    assert found.frame["stars"].to_list() == ["1", "2"]


def test_label_sets_are_checked_label_by_label():
    task = EvalTask({"harms": MultiLabelSchema(["hate", "sex"])})
    rows = pl.DataFrame({"id": [1, 2, 3], "harms": [["hate", "FALSE"], ["sex"], ["love"]]})
    found = answers_of_table(rows, "j", task=task)
    assert found.frame["harms"].to_list() == [["hate", "FALSE"], ["sex"], None]
    assert found.notes == ("j, harms, item 3: expected one of hate, sex, got 'love'",)


def test_a_free_text_may_be_anything_and_numbers_become_texts():
    found = answers_of_table(table(id=[1, 2], why=[3, 4.5]), "j", task=TASK)
    assert found.frame["why"].to_list() == ["3", "4.5"]


def test_a_column_tells_raters_apart_in_their_order():
    rows = table(id=[1, 1, 2], annotator_id=["lee", "kim", "lee"], safe=["yes", "no", "no"])
    found = answers_of_raters(rows, None, ["annotator_id"], task=TASK, id_column=None)
    assert [one.rater for one in found] == ["lee", "kim"]
    assert found[0].frame["original_id"].to_list() == ["1", "2"]


def test_the_same_item_by_two_people_is_no_duplicate_and_by_one_it_is():
    rows = table(id=[1, 1], annotator_id=["lee", "lee"], safe=["yes", "no"])
    with pytest.raises(
        InputError, match="the table of 'lee' has 1 problem:\n  rows 1 and 2 share the id '1'; keep one"
    ):
        answers_of_raters(rows, None, ["annotator_id"], task=TASK, id_column=None)


def test_rows_without_a_rater_are_named():
    rows = table(id=[1, 2], annotator_id=["lee", None], safe=["yes", "no"])
    with pytest.raises(InputError, match="row 2 has no annotator_id; every row says whose result it is"):
        answers_of_raters(rows, None, ["annotator_id"], task=TASK, id_column=None)


def test_a_table_that_does_not_say_whose_it_is_is_refused():
    with pytest.raises(InputError, match="say whose results these are, or give them a column 'judge_id'"):
        answers_of_raters(table(id=[1], safe=["yes"]), None, ["judge_id"], task=TASK, id_column=None)


def test_numbers_may_name_raters():
    rows = table(id=[1, 1], human_id=[7, 8], safe=["yes", "no"])
    found = answers_of_raters(rows, None, ["human_id"], task=TASK, id_column=None)
    assert [one.rater for one in found] == ["7", "8"]
