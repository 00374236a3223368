"""The plan and the rubric that `calibrant init` writes: for columns of any name, and they run."""

import csv
import io

import pytest
from ruamel.yaml import YAML

from calibrant.errors import InputError
from calibrant.metrics import RubricMetric
from calibrant.readers.plan import read_plan
from calibrant.runs import run_plan
from calibrant.runs.templates import checks_text, columns_entry, columns_guess, plan_text, rubric_text


@pytest.mark.parametrize(
    ("columns", "guessed"),
    [
        (["id", "query", "answer"], {"id": "id", "query": "query", "answer": "answer"}),
        (["Ticket No.", "Customer question", "BOT: reply"], {"query": "Customer question", "answer": "BOT: reply"}),
        (["User Input", "actual_output", "expected_output"], {"query": "User Input", "answer": "actual_output"}),
        (["questionText", "responseText"], {"query": "questionText", "answer": "responseText"}),
        (["QUESTION", "ANSWER"], {"query": "QUESTION", "answer": "ANSWER"}),
        (["a", "b"], {}),
        ([], {}),
    ],
)
def test_what_columns_are_called_says_what_they_hold(columns, guessed):
    found = columns_guess(columns)
    assert {name: found.get(name) for name in ("query", "answer")} == {
        name: guessed.get(name) for name in ("query", "answer")
    }


def test_an_expected_answer_is_the_reference_and_not_the_answer():
    assert columns_guess(["expected answer", "answer"]) == {"answer": "answer", "ground_truth": "expected answer"}
    assert columns_guess(["expected answer"]) == {"ground_truth": "expected answer"}


@pytest.mark.parametrize("column", ["question_id", "answer_length", "response time", "prompt_count", "answer_score"])
def test_a_column_about_a_text_is_not_the_text(column):
    assert "query" not in columns_guess([column])
    assert "answer" not in columns_guess([column])


def test_the_usual_id_of_questions_is_found():
    found = columns_guess(["qid", "question", "answer"], unique={"qid"})
    assert found == {"id": "qid", "query": "question", "answer": "answer"}


def test_the_plan_shows_where_the_address_of_a_server_of_ones_own_goes():
    text = plan_text("items.csv", ["answer"], fields={"answer": "answer"}, model=None)
    assert 'base_url: "http://localhost:8000/v1"' in text


def test_a_whole_name_wins_over_a_word_in_another():
    assert columns_guess(["bot answer", "answer"])["answer"] == "answer"


def test_a_column_is_taken_once():
    found = columns_guess(["context question answer"])
    assert len(found) == 1


def test_only_a_column_that_tells_rows_apart_is_the_id():
    assert columns_guess(["ticket"], unique=["ticket"]) == {"id": "ticket"}
    assert columns_guess(["ticket"], unique=[]) == {}
    assert columns_guess(["customer_id", "ticket_id"], unique=["ticket_id"]) == {"id": "ticket_id"}


def test_names_that_no_field_can_have_are_renamed():
    assert columns_entry(["get", "_row", "query", "id"], {"query": "query"}) == {
        "my_get": "get",
        "my_row": "_row",
        "my_id": "id",
    }
    assert columns_entry(["id", "answer"], {"id": "id", "answer": "answer"}) == {}


@pytest.mark.parametrize(
    "column",
    [
        'say "hi"',
        "a: b",
        "#1",
        "- dash",
        "{x}",
        "étiquette",
        "日本",
        "a\nb",
        "tab\there",
        "😀",
        "'",
        "*x",
        "&y",
        "\x7f",
        "%",
    ],
)
def test_a_column_of_any_name_stands_in_the_plan_as_it_is(column):
    text = plan_text("data.csv", [column, "other"], fields={"answer": column}, model="openai/x")
    document = YAML(typ="safe").load(text)
    assert document["dataset"]["columns"] == {"answer": column}
    assert document["models"] == {"main": {"model": "openai/x"}}
    assert [metric["name"] for metric in document["metrics"]] == ["answered", "helpful"]


def test_without_a_judge_the_rubric_waits_in_a_comment():
    text = plan_text("data.csv", ["answer"], fields={"answer": "answer"}, model=None)
    document = YAML(typ="safe").load(text)
    assert "models" not in document
    assert [metric["name"] for metric in document["metrics"]] == ["answered"]
    assert "# - {name: helpful, rubric: rubrics/helpful.md}" in text
    assert "# columns: {query: question}" in text


def test_without_an_answer_the_plan_says_so_and_rates_nothing():
    text = plan_text("data.csv", ["a"], fields={}, model=None)
    assert "# no column looks like the answer: name it in columns (answer: ...), or name a system below" in text
    assert YAML(typ="safe").load(text)["metrics"][0]["required_fields"] == ["answer"]


@pytest.mark.parametrize(
    ("fields", "required", "optional"),
    [
        ({}, ["answer"], []),
        ({"query": "q", "answer": "a"}, ["query", "answer"], []),
        ({"answer": "a", "contexts": "c", "ground_truth": "g"}, ["answer"], ["contexts", "ground_truth"]),
    ],
)
def test_the_rubric_reads_the_fields_that_the_data_has(tmp_path, fields, required, optional):
    path = tmp_path / "helpful.md"
    path.write_text(rubric_text(fields), encoding="utf-8")
    rubric = RubricMetric(path)
    assert sorted(rubric.required_fields) == sorted(required)
    assert ("optional: [" in rubric_text(fields)) == bool(optional)


def test_the_check_is_a_function_of_the_answer():
    namespace = {}
    exec(checks_text(), namespace)  # noqa: S102 - the text is a module for the user

    class Item:
        answer = " "

    assert namespace["answered"](Item) is False
    Item.answer = "Yes."
    assert namespace["answered"](Item) is True
    Item.answer = None
    assert namespace["answered"](Item) is False


@pytest.mark.parametrize(
    ("header", "rate"),
    [
        (["Ticket No.", "Customer question", "BOT: reply"], 0.75),
        (["id", "get", "_private", "answer"], 0.75),
        (['"quoted"', "ünïcode, with comma", "Réponse: answer"], 0.75),
        (["x", "y", "z"], None),
        (["key", "items", "response"], 0.75),
    ],
)
def test_what_was_written_runs(tmp_path, header, rate):
    rows = [[f"{n}", f"c{n}", *["x"] * (len(header) - 3), "Yes." if n < 3 else " "] for n in range(4)]
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    (tmp_path / "data.csv").write_text(out.getvalue(), encoding="utf-8")
    fields = columns_guess(header, unique=header[:1])
    (tmp_path / "plan.yaml").write_text(plan_text("data.csv", header, fields=fields, model=None), encoding="utf-8")
    (tmp_path / "checks.py").write_text(checks_text(), encoding="utf-8")
    assert read_plan(tmp_path / "plan.yaml").dataset.path == tmp_path / "data.csv"
    if rate is None:
        with pytest.raises(InputError, match=r"line \d+: metric 'answered' needs answer, missing or empty"):
            run_plan(tmp_path / "plan.yaml")
        return
    result = run_plan(tmp_path / "plan.yaml")
    assert result.metric("answered").pass_rate.value == rate
    result.close()
