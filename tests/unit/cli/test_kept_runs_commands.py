import csv
import io
import json
import sqlite3
import sys

import pytest

from calibrant.cli.group import main

CHECKS = """
def brief(item):
    return len(item.answer.split()) <= 3


def share(item):
    return 1 / len(item.answer.split())


def broken(item):
    if item.id == "q1":
        raise RuntimeError("<b>broken</b>")
    return True
"""


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """A folder with two runs, `old` and `new`, and the command in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "checks.py").write_text(CHECKS)
    for name, words in (("old", 5), ("new", 3)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["id", "query", "answer"])
            rows.writerows([f"q{n}", f"Question {n}?", "word " * (n % words + 1)] for n in range(40))
        (tmp_path / f"{name}.yaml").write_text(
            f"version: 1\nname: {name}\ndataset: {name}.csv\nmetrics:\n"
            '  - {name: brief, function: "checks:brief"}\n  - {name: share, function: "checks:share", threshold: 0.3}\n'
        )

    def call(*arguments):
        sys.modules.pop("checks", None)
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    for name in ("old", "new"):
        assert call("run", f"{name}.yaml", "--quiet")[0] == 0
    return call


def test_compare_says_what_is_settled_and_what_is_not(command):
    code, out, err = command("compare", "old", "new")
    assert (code, err) == (0, "")
    assert out.startswith("old: 40 items\nnew: 40 items\n\nA = old, B = new\n")
    assert "new is better" in out


def test_compare_prints_json_alone(command):
    code, out, err = command("compare", "old", "new", "--json")
    data = json.loads(out)
    assert (code, err, data["schema"], data["exit_code"]) == (0, "", "calibrant.comparison/1", 0)
    assert [run["label"] for run in data["runs"]] == ["old", "new"]


def test_compare_prints_csv_for_a_spreadsheet(command):
    rows = list(csv.DictReader(io.StringIO(command("compare", "old", "new", "--csv")[1])))
    assert {row["metric"] for row in rows} == {"brief", "share"}


def test_compare_takes_files_and_three_runs(command):
    command("export", "old", "-o", "base/old.jsonl")
    out = command("compare", "base/old.jsonl", "new", "latest")[1]
    assert out.count("A = ") == 3


@pytest.mark.parametrize(
    ("gate", "code", "answer"),
    [
        ("brief.pass_rate >= baseline", 0, "PASS"),
        ("brief.pass_rate <= baseline", 1, "FAIL"),
        ("share.score >= baseline + 0.2", 3, "INCONCLUSIVE"),
    ],
)
def test_a_gate_decides_the_exit_code_of_compare(command, gate, code, answer):
    found, out, _ = command("compare", "old", "new", "--gate", gate)
    assert (found, f"{answer}  {gate}" in out) == (code, True)
    assert json.loads(command("compare", "old", "new", "--gate", gate, "--json")[1])["exit_code"] == code


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("old",), "expected two runs or more to compare, got 1"),
        (("old", "none"), "unknown run 'none'"),
        (("old", "gone.jsonl"), "there is no file gone.jsonl"),
        (("old", "new", "--allow", "judges"), "unknown difference to allow 'judges'"),
        (("old", "new", "--gate", "brief >= 1"), "gate 'brief >= 1' does not say what of which metric"),
        (("old", "new", "--workspace", "elsewhere"), "there is no workspace in elsewhere"),
        (("old", "new", "--html", "new.csv/x.html"), "cannot write new.csv/x.html: "),
    ],
)
def test_wrong_use_of_compare_is_exit_code_2_and_one_message(command, arguments, message):
    code, out, err = command("compare", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_unlike_runs_are_refused_with_the_option_that_allows_them(command, tmp_path):
    (tmp_path / "new.yaml").write_text(
        (tmp_path / "new.yaml").read_text().replace("0.3", "0.4").replace("new\n", "odd\n", 1)
    )
    command("run", "new.yaml", "-q")
    code, _, err = command("compare", "old", "odd")
    assert code == 2
    assert "share was measured by another instrument: threshold 0.3 -> 0.4" in err
    assert "--allow instrument" in err
    code, out, _ = command("compare", "old", "odd", "--allow", "instrument")
    assert (code, "unlike, and allowed: share was measured" in out) == (0, True)


@pytest.mark.parametrize("arguments", [("compare", "old", "new"), ("show", "old"), ("run", "old.yaml")])
def test_html_is_one_more_file_and_says_so_unless_quiet(command, tmp_path, arguments):
    _, out, err = command(*arguments, "--html", "pages/page.html")
    assert "wrote pages/page.html" in err
    assert "<" not in out.replace("<0.0001", "")
    page = (tmp_path / "pages" / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    assert command(*arguments, "--html", "pages/page.html", "--quiet")[2] == ""


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_export_writes_every_form_and_counts_what_it_wrote(command, tmp_path, ending):
    code, out, _ = command("export", "new", "-o", f"out/ratings.{ending}")
    assert (code, out.startswith(f"out/ratings.{ending}: 80 ratings of r-")) == (0, True)
    assert (tmp_path / "out" / f"ratings.{ending}").stat().st_size > 0
    data = json.loads(command("export", "new", "-o", f"ratings.{ending}", "--json")[1])
    assert (data["schema"], data["ratings"], data["path"]) == ("calibrant.exported/1", 80, f"ratings.{ending}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("new",), "Missing option '-o'"),
        (("new", "-o", "x.docx"), "unknown export format '.docx'; expected one of: csv, jsonl, parquet"),
        (("new", "-o", "x.csv", "--format", "xml"), "unknown export format 'xml'"),
        (("newer", "-o", "x.csv"), "unknown run 'newer'"),
    ],
)
def test_wrong_use_of_export_is_exit_code_2(command, arguments, message):
    code, out, err = command("export", *arguments)
    assert (code, out, message in err) == (2, "", True)


def test_export_without_text_leaves_messages_out(command, tmp_path):
    (tmp_path / "odd.yaml").write_text(
        'version: 1\nname: odd\ndataset: new.csv\nmetrics:\n  - {name: broken, function: "checks:broken"}\n'
    )
    command("run", "odd.yaml", "-q")
    command("export", "odd", "-o", "odd.jsonl", "--no-text")
    assert "<b>" not in (tmp_path / "odd.jsonl").read_text()
    command("export", "odd", "-o", "odd.jsonl")
    assert "<b>" in (tmp_path / "odd.jsonl").read_text()


def test_verify_says_ok_and_what_differs(command, tmp_path):
    code, out, _ = command("verify")
    assert (code, out.startswith("OK  r-")) == (0, True)
    command("export", "new", "-o", "new.jsonl")
    assert command("verify", "new.jsonl")[0] == 0
    text = (tmp_path / "new.jsonl").read_text()
    (tmp_path / "new.jsonl").write_text(text.replace('"value": 0.5', '"value": 0.75', 1))
    code, out, _ = command("verify", "new.jsonl")
    assert (code, out.startswith("DIFFERS  r-")) == (1, True)
    data = json.loads(command("verify", "new.jsonl", "--json")[1])
    assert (data["schema"], data["ok"]) == ("calibrant.verification/1", False)


def test_verify_names_a_damaged_row(command, tmp_path):
    with sqlite3.connect(tmp_path / ".calibrant" / "calibrant.db") as database:
        database.execute("UPDATE ratings SET data = data || ' ' WHERE id = 3")
    database.close()
    code, out, _ = command("verify", "old")
    assert (code, out.startswith("DAMAGED  r-")) == (1, True)
    assert "  damaged: rating of item 'q" in out
    assert command("verify", "new")[0] == 0


def test_verify_of_what_is_not_there_is_wrong_use(command):
    assert command("verify", "none")[0] == 2
    assert "there is no file none.jsonl" in command("verify", "none.jsonl")[2]


def test_replay_says_what_would_have_changed(command, tmp_path):
    before = command("show", "new")[1]
    code, out, _ = command("replay", "new", "--threshold", "0.4", "-o", "stricter.jsonl")
    assert code == 0
    assert "replayed with threshold 0.4; nobody was asked" in out
    assert "share: no longer pass: q2, q5, q8, q11, q14, ... (13 in all)" in out
    assert command("show", "new")[1] == before
    assert "share" in command("show", "stricter.jsonl")[1]
    assert json.loads(command("replay", "new", "--threshold", "0.4", "--json")[1])["schema"] == "calibrant.replay/1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "a replay changes something: an aggregation, a threshold, a temperature, or several"),
        (("--threshold", "2"), "threshold is a number in [0, 1], not 2.0"),
        (("--threshold", "much"), "'much' is not a valid float"),
        (("--aggregation", "median"), "an aggregation concerns juries and repeats"),
        (("--temperature", "0.3"), "a temperature concerns metrics that give verdicts"),
        (("--threshold", "0.4", "--metric", "long"), "unknown metric 'long'"),
    ],
)
def test_wrong_use_of_replay_is_exit_code_2(command, arguments, message):
    code, out, err = command("replay", "new", *arguments)
    assert (code, out, message in err) == (2, "", True)


def test_show_has_every_form_and_opens_files(command):
    text = command("show", "old")[1]
    assert text.startswith("old  r-")
    data = json.loads(command("show", "old", "--json")[1])
    assert (data["schema"], data["name"]) == ("calibrant.run/1", "old")
    rows = list(csv.DictReader(io.StringIO(command("show", "old", "--csv")[1])))
    assert [row["metric"] for row in rows] == ["brief", "brief", "share", "share"]
    command("export", "old", "-o", "old.jsonl")
    assert command("show", "old.jsonl")[1] == text
    assert command("show")[1].startswith("new  r-")


def test_show_failing_names_the_items_and_what_was_answered(command):
    out = command("show", "old", "--failing")[1]
    assert "brief  item q3: scored False" in out
    assert "  query: Question 3?\n  answer: word word word word" in out
    failing = json.loads(command("show", "old", "--failing", "--json")[1])["failing"]
    assert len([one for one in failing if one["metric"] == "brief"]) == 16
    assert failing[0].keys() == {"metric", "item", "what", "shown"}


def test_list_has_the_newest_first(command):
    rows = json.loads(command("list", "--json")[1])["runs"]
    assert [row["name"] for row in rows] == ["new", "old"]
    assert rows[0]["pass_rates"]["brief"]["value"] == 1.0
    header, first, _ = command("list")[1].splitlines()
    assert header.split()[:2] == ["run", "name"]
    assert first.split()[1] == "new"


def test_an_export_of_an_incomplete_run_says_so(command, tmp_path):
    with (tmp_path / "old.yaml").open("a") as plan:
        plan.write("system: app:answer\n")
    (tmp_path / "app.py").write_text("def answer(item):\n    return item.answer\n")
    assert command("run", "old.yaml", "--max-calls", "3", "--quiet", "--name", "part")[0] == 4
    code, out, err = command("export", "part", "-o", "part.jsonl")
    assert code == 0
    assert "ratings of" in out
    assert err.startswith("note: r-")
    assert "is incomplete: what it did not reach is not in the file" in err
    assert command("export", "part", "-o", "part.jsonl", "--quiet")[2] == ""
    assert command("export", "new", "-o", "new.jsonl")[2] == ""
