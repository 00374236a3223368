"""`calibrant align` as a user runs it: reports, requirements by exit code, corrected rates, and wrong use."""

import csv
import json

import pytest

from calibrant.cli.group import main

ANSWERS = ["yes" if item % 3 else "no" for item in range(60)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "gpt.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("original_id", "safe"), *enumerate(["no", *ANSWERS[1:]])])
    with (tmp_path / "people.csv").open("w", newline="") as file:
        rows = [(item, person, answer) for person in ("kim", "lee", "ann") for item, answer in enumerate(ANSWERS)]
        csv.writer(file).writerows([("original_id", "annotator_id", "safe"), *rows])
    (tmp_path / "some.csv").write_text("id,safe\n" + "".join(f"{item},{ANSWERS[item]}\n" for item in range(20)))
    return tmp_path


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["align", *arguments])
    return ended.value.code or 0, *capsys.readouterr()


def test_two_files_are_compared_and_reported(files, capsys):
    code, out, _ = run(capsys, "--judge", "gpt.csv", "--human", "people.csv", "--html", "out/report.html")
    assert code == 0
    assert "accuracy_safe" in out
    assert "gpt: 1.000 [" in out
    assert (files / "out" / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_json_stands_alone_on_standard_output(files, capsys):
    code, out, _ = run(
        capsys, "--judge", "gpt.csv", "--human", "people.csv", "--json", "--require", "kappa.lower >= 0.6"
    )
    data = json.loads(out)
    assert (code, data["exit_code"], data["schema"]) == (0, 0, "calibrant.alignment/1")
    assert data["requirements"][0]["answer"] == "PASS"


@pytest.mark.parametrize(
    ("requirements", "expected", "words"),
    [
        (["accuracy >= 0.9", "winning_rate >= 0.5"], 0, "PASS: accuracy >= 0.9"),
        (["accuracy.n > 100"], 1, "FAIL: accuracy.n > 100"),
        (["coverage_of_nothing >= 1"], 2, "unknown score 'coverage_of_nothing'"),
        (["accuracy is good"], 2, "a requirement is written like 'kappa.lower >= 0.6'"),
        (["accuracy.middle >= 1"], 2, "unknown field of accuracy 'middle'"),
    ],
)
def test_requirements_set_the_exit_code(files, capsys, requirements, expected, words):
    given = [part for one in requirements for part in ("--require", one)]
    code, out, error = run(capsys, "--judge", "gpt.csv", "--human", "people.csv", *given)
    assert code == expected
    assert words in out + error


def test_a_requirement_without_a_number_is_inconclusive(files, capsys):
    code, out, _ = run(capsys, "--judge", "gpt.csv", "--human", "some.csv", "--require", "kappa >= 0.1")
    assert code == 3
    assert "INCONCLUSIVE: kappa >= 0.1 (gpt, cohens_kappa_safe: cohens_kappa needs 2 human annotators" in out


def test_a_project_is_compared_by_its_own_metrics(files, capsys):
    from calibrant.alignment import AccuracyScorer, MetaEvaluator, MetricConfig

    project = MetaEvaluator("project")
    project.add_external_judge_results("gpt.csv")
    project.add_external_annotation_results("people.csv")
    project.add_metrics_config(MetricConfig(AccuracyScorer(), ["safe"], "single", display_name="Safe"))
    code, out, _ = run(capsys, "project")
    assert code == 0
    assert "\nSafe (safe; individual_average)\n  gpt: 1.000 [" in out


@pytest.mark.parametrize("arguments", [["--judge", "gpt.csv"], ["--json"], [".", "--judge", "gpt.csv"]])
def test_half_of_what_is_needed_is_wrong_use(files, capsys, arguments):
    code, _, error = run(capsys, *arguments)
    assert code == 2
    assert "give a PROJECT, or both --judge FILE and --human FILE" in error


def test_a_rate_is_corrected_by_what_people_said(files, capsys):
    code, out, _ = run(capsys, "correct", "--judge", "gpt.csv", "--human", "some.csv", "--positive", "yes")
    assert code == 0
    assert out.startswith("corrected rate  0.")
    assert "your 20 labels are worth" in out


def test_a_corrected_rate_is_printed_as_json(files, capsys):
    _, out, _ = run(capsys, "correct", "--judge", "gpt.csv", "--human", "people.csv", "--positive", "yes", "--json")
    data = json.loads(out)
    assert data["labels"] == 60
    assert data["estimate"]["lower"] <= data["estimate"]["value"] <= data["estimate"]["upper"]


def test_an_answer_that_nobody_gave_is_wrong_use(files, capsys):
    code, _, error = run(capsys, "correct", "--judge", "gpt.csv", "--human", "some.csv")
    assert code == 2
    assert "nobody answered 'true'; --positive is one of: no, yes" in error


def test_a_task_that_is_named_is_that_of_labels_without_a_column_of_their_own(files, capsys):
    people = {person: dict(enumerate(ANSWERS)) for person in ("kim", "lee", "ann")}
    (files / "people.json").write_text(json.dumps(people), encoding="utf-8")
    given = ["--judge", "gpt.csv", "--human", "people.json"]
    code, out, _ = run(capsys, *given, "--task", "safe")
    assert code == 0
    assert "gpt: 1.000 [" in out
    _, out, _ = run(capsys, *given)
    assert "no score: the judge has no results for label, but for safe; name the tasks alike" in out


def test_a_folder_that_is_no_project_is_named_and_left_as_it_is(files, capsys):
    (files / "notes").mkdir()
    code, _, err = run(capsys, "notes")
    assert code == 2
    assert "notes is no project: it has no main_state.json, no results/ and no annotations/" in err
    assert not list((files / "notes").iterdir())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("j.jsonl", b'{"id": 1, "safe": "yes"}\n{"id": 2,\n', "line 2 is not JSON"),
        ("j.csv", b"id,safe\n1,yes\n2,no,more\n", "line 3 has 3 cells, the header has 2"),
        ("j.csv", "id,safe\n1,sí\n".encode("latin-1"), "line 2 has the byte 0xed"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(files, capsys, name, content, message):
    (files / name).write_bytes(content)
    code, _, err = run(capsys, "--judge", name, "--human", "people.csv")
    assert code == 2
    assert message in err


def test_a_rate_is_not_corrected_by_answers_that_differ_in_a_capital(files, capsys):
    people = "".join(f"{item},{ANSWERS[item].title()}\n" for item in range(20))
    (files / "bob.csv").write_text(f"id,safe\n{people}", encoding="utf-8")
    code, out, error = run(capsys, "correct", "--judge", "gpt.csv", "--human", "bob.csv", "--positive", "yes")
    assert (code, out) == (2, "")
    assert "one answer is written as 'Yes' and 'yes'; write it in one way, since only 'yes' is counted" in error


def test_the_help_of_the_group_leads_to_the_options(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "Both are `calibrant align report`; its --help has the options" in " ".join(out.split())
    assert "  calibrant align --judge judge.csv --human people.csv\n" in out


def test_a_metric_whose_name_has_a_space_and_a_dot_can_be_required(files, capsys):
    from calibrant.alignment import AccuracyScorer, MetaEvaluator, MetricConfig

    project = MetaEvaluator("project")
    project.add_external_judge_results("gpt.csv")
    project.add_external_annotation_results("people.csv")
    project.add_metrics_config(MetricConfig(AccuracyScorer(), ["safe"], "single", display_name="Tone v1.2"))
    code, out, _ = run(capsys, "project", "--require", "'Tone v1.2'.lower >= 0.5")
    assert code == 0
    assert "PASS: 'Tone v1.2'.lower >= 0.5 (gpt, Tone v1.2: " in out


def test_no_score_at_all_is_inconclusive_and_says_why(files, capsys):
    (files / "others.csv").write_text("id,safe\nx,yes\ny,no\n")
    code, out, _ = run(capsys, "--judge", "gpt.csv", "--human", "others.csv")
    assert code == 3
    assert out.splitlines()[-1].startswith("INCONCLUSIVE: no judge has any score: no item was rated by both")
    code, out, _ = run(capsys, "--judge", "gpt.csv", "--human", "others.csv", "--json")
    data = json.loads(out)
    assert (code, data["exit_code"]) == (3, 3)
    assert data["reason"].startswith("no judge has any score: no item was rated by both")


def test_one_score_of_one_judge_is_a_report(files, capsys):
    code, out, _ = run(capsys, "--judge", "gpt.csv", "--human", "some.csv", "--json")
    assert (code, json.loads(out)["reason"]) == (0, "")
