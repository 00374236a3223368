import json

import pytest

from calibrant.cli.group import main

DATA = "Ticket,question,reply\n1,Open?,Until six.\n2,Why?,\n3,How?,By bus.\n"


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    (tmp_path / "data.csv").write_text(DATA)

    def call(*arguments):
        __import__("sys").modules.pop("checks", None)
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return call


def test_a_plan_written_for_ones_own_data_runs_as_it_is(command):
    code, out, _ = command("init", "data.csv")
    assert code == 0
    assert "id from 'Ticket', query from 'question', answer from 'reply'" in out
    code, out, err = command("run", "plan.yaml")
    assert code == 0
    assert "answered  0.667 [" in out
    assert "3 of 3 items, 0 failed" in err
    assert command("run", "plan.yaml", "--quiet")[2] == ""


def test_init_keeps_what_is_there_unless_it_is_forced(command):
    command("init", "data.csv")
    code, _, err = command("init", "data.csv", "--model", "openai/x")
    assert (code, "plan.yaml, rubrics/helpful.md, checks.py exist already" in err) == (2, True)
    assert command("init", "data.csv", "--model", "openai/x", "--force")[0] == 0
    code, out, _ = command("plan", "check", "plan.yaml")
    assert (code, "about 3 calls to judges" in out or "calls to judges" in out) == (0, True)


def test_json_stands_alone_on_standard_output(command):
    command("init", "data.csv")
    code, out, _ = command("run", "plan.yaml", "--json")
    data = json.loads(out)
    assert (code, data["schema"], data["exit_code"], data["name"]) == (0, "calibrant.run/1", 0, "plan")
    assert command("run", "plan.yaml", "--csv", "--quiet")[1].splitlines()[0].startswith("run,metric,estimate,value")


def test_a_dry_run_asks_nobody_and_leaves_nothing(command, tmp_path):
    command("init", "data.csv")
    code, out, _ = command("run", "plan.yaml", "--dry-run")
    assert (code, out) == (0, "plan: 3 items, no calls to models\nnobody was asked (--dry-run)\n")
    assert json.loads(command("run", "plan.yaml", "--dry-run", "--json")[1])["schema"] == "calibrant.forecast/1"
    assert not (tmp_path / ".calibrant").exists()


def test_a_run_that_was_kept_is_shown_and_listed(command):
    command("init", "data.csv")
    printed = command("run", "plan.yaml", "--quiet")[1]
    assert command("show")[1] == printed
    code, out, _ = command("show", "latest", "--failing")
    assert (code, "answered  item 2: scored False\n  query: Why?" in out) == (0, True)
    assert json.loads(command("show", "--json", "--failing")[1])["failing"][0]["item"] == "2"
    listed = command("list")[1]
    assert "complete" in listed
    assert json.loads(command("list", "--json")[1])["runs"][0]["n"] == 3
    assert "unknown run 'r-none'; expected one of: r-" in command("show", "r-none")[2]


def test_without_a_workspace_nothing_is_made(command, tmp_path):
    code, _, err = command("list")
    assert (code, "there is no workspace in ." in err) == (2, True)
    assert not (tmp_path / ".calibrant").exists()


def test_what_a_plan_names_and_is_not_there_is_told_with_its_line(command, tmp_path):
    (tmp_path / "plan.yaml").write_text(
        "version: 1\ndataset: data.csv\nmetrics:\n  - nonesuch\n  - {name: a, function: 'checks:nothing'}\n"
        "  - {name: b, function: 'nowhere:b'}\n"
    )
    (tmp_path / "checks.py").write_text("")
    code, _, err = command("plan", "check", "plan.yaml")
    assert code == 2
    assert "line 4: metric 'nonesuch'" in err
    assert "line 5: metric 'a': module 'checks' has no 'nothing'" in err
    assert "line 6: metric 'b': cannot import 'nowhere:b'" in err


def test_a_plan_that_is_wrong_ends_with_the_code_of_wrong_use(command, tmp_path):
    (tmp_path / "plan.yaml").write_text("version: 1\n")
    code, out, err = command("run", "plan.yaml")
    assert (code, out) == (2, "")
    assert "plan.yaml has 2 problems" in err


def test_the_schema_is_printed_for_editors(command):
    assert json.loads(command("plan", "schema")[1])["title"] == "A Calibrant plan"
