"""What is asked of each item: outcomes, label sets, free text, what must be answered, and what comes back from JSON."""

import json

import pytest

from calibrant.alignment import EvalTask, MultiLabelSchema
from calibrant.errors import InputError, UnknownNameError


def test_tasks_with_outcomes_are_required_and_free_text_is_not():
    task = EvalTask({"safe": ["yes", "no"], "harms": MultiLabelSchema(["a", "b"]), "why": None})
    assert task.required_tasks == ["safe", "harms"]
    assert EvalTask({"safe": ["yes", "no"], "why": None}, required_tasks=["why"]).required_tasks == ["why"]
    assert EvalTask({"why": None}, required_tasks=[]).required_tasks == []


def test_an_unknown_required_task_is_named_with_those_there_are():
    with pytest.raises(UnknownNameError, match="unknown required task 'sfae'; expected one of: safe"):
        EvalTask({"safe": ["yes", "no"]}, required_tasks=["sfae"])


def test_an_unknown_answering_method_is_refused():
    with pytest.raises(UnknownNameError, match="unknown answering_method 'json'"):
        EvalTask({"safe": ["yes", "no"]}, answering_method="json")


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (["x"], "task 'a' needs two different outcomes or more, or None for free text"),
        (["x", "x"], "task 'a' needs two different outcomes"),
        ([], "task 'a' needs two different outcomes"),
        ("xy", "task 'a' has a list of outcomes, or None for free text, not 'xy'"),
        (3, "task 'a' has a list of outcomes, or None for free text, not 3"),
    ],
)
def test_a_schema_that_asks_nothing_is_refused(schema, words):
    with pytest.raises(InputError, match=words):
        EvalTask({"a": schema})


def test_no_task_is_refused():
    with pytest.raises(InputError, match="task_schemas is empty; name at least one task"):
        EvalTask({})


def test_label_sets_need_two_outcomes_too():
    with pytest.raises(InputError, match="task 'the schema' needs two different outcomes"):
        MultiLabelSchema(["only"])


def test_outcomes_may_be_numbers_and_truth_values():
    assert EvalTask({"stars": [1, 2, 3], "safe": [True, False]}).task_schemas == {
        "stars": ("1", "2", "3"), "safe": ("true", "false")
    }  # fmt: skip


def test_the_columns_are_those_of_prompt_and_response():
    task = EvalTask({"why": None}, prompt_columns=["q", "context"], response_columns=["a"])
    assert task.columns == ["q", "context", "a"]
    assert EvalTask({"why": None}).columns == []


@pytest.mark.parametrize("name", ["prompt_columns", "response_columns"])
def test_one_text_is_no_list_of_columns(name):
    with pytest.raises(InputError, match=f"{name} is a list of columns, not 'answer'"):
        EvalTask({"why": None}, **{name: "answer"})


@pytest.mark.parametrize(
    ("task", "answer", "problem"),
    [
        ("safe", "yes", ""),
        ("safe", None, ""),
        ("safe", "maybe", "expected one of yes, no, got 'maybe'"),
        ("safe", "YES", "expected one of yes, no, got 'YES'"),
        ("safe", "", "expected one of yes, no, got ''"),
        ("why", "anything at all", ""),
        ("unheard", "of", ""),
        ("harms", ["a", "b"], ""),
        ("harms", ["a", "FALSE"], ""),
        ("harms", [], ""),
        ("harms", ["c"], "expected one of a, b, got 'c'"),
        ("harms", "FALSE", "expected one of a, b, got 'FALSE'"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(task, answer, problem):
    asked = EvalTask({"safe": ["yes", "no"], "why": None, "harms": MultiLabelSchema(["a", "b"])})
    assert asked.problem(task, answer) == problem


@pytest.mark.parametrize(
    ("task", "answer", "expected"),
    [
        ("safe", True, "TRUE"),
        ("safe", "TRUE", "TRUE"),
        ("stars", 1, "1"),
        ("stars", 1.0, "1"),
        ("stars", 9, "9"),
        ("why", 3, "3"),
        ("why", None, None),
        ("why", ["a"], ["a"]),
        ("harms", [1, 2], ["1", "2"]),
    ],
)
def test_answers_are_written_as_the_schema_writes_them(task, answer, expected):
    asked = EvalTask({"safe": ["TRUE", "FALSE"], "stars": [1, 2], "why": None, "harms": MultiLabelSchema(["1", "2"])})
    assert asked.answer(task, answer) == expected


def test_a_task_comes_back_from_json_whole():
    task = EvalTask(
        {"safe": ["yes", "no"], "harms": MultiLabelSchema(["a", "b"]), "why": None},
        prompt_columns=["q"],
        response_columns=["a"],
        required_tasks=["safe"],
        annotation_prompt="Read the answer.",
        answering_method="xml",
        structured_outputs_fallback=True,
    )
    assert EvalTask.from_json(json.loads(json.dumps(task.to_json()))) == task


def test_a_task_of_another_version_leaves_out_what_is_not_known():
    found = EvalTask.from_json(
        {"task_schemas": {"safe": ["yes", "no"], "harms": {"outcomes": ["a", "b"]}}, "theme": "dark",
         "prompt_columns": None, "response_columns": ["a"], "required_tasks": None}
    )  # fmt: skip
    assert found.task_schemas["harms"] == MultiLabelSchema(["a", "b"])
    assert found.required_tasks == ["safe", "harms"]


def test_a_skip_function_is_code_and_is_not_compared_or_kept():
    task = EvalTask({"why": None}, skip_function=lambda row: not row["answer"])
    assert task == EvalTask({"why": None})
    assert "skip_function" not in task.to_json()
