"""`calibrant run`, `plan` and `init` with their options, as somebody types them."""

import json
import sys

import pytest
from provider_server import ProviderServer

from calibrant.cli.group import main

ROWS = "Ticket No.,Customer question,BOT: reply\n1,Open?,Until six.\n2,Why?,\n3,How?,By bus.\n"
CHECKS = (
    "def brief(item):\n    return len((item.answer or '').split()) <= 2\n\n\ndef answer(item):\n    return 'Yes.'\n"
)
PLAN = """\
version: 1
name: bot
dataset: {path: data.csv, columns: {id: "Ticket No.", query: "Customer question", answer: "BOT: reply"}}
metrics: [{name: brief, function: "checks:brief"}]
"""


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "data.csv").write_text(ROWS, encoding="utf-8")
    (tmp_path / "checks.py").write_text(CHECKS, encoding="utf-8")

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    yield call
    sys.modules.pop("checks", None)


@pytest.fixture
def plan(tmp_path):
    def written(more="", text=PLAN):
        (tmp_path / "plan.yaml").write_text(text + more, encoding="utf-8")

    return written


@pytest.mark.parametrize(
    ("gate", "code", "answer"),
    [
        ("brief.failing_items <= 0", 0, "PASS"),
        ("brief.failing_items > 0", 1, "FAIL"),
        ("brief.pass_rate >= 0.9", 3, "INCONCLUSIVE"),
    ],
)
def test_the_exit_code_is_that_of_the_gates(command, plan, gate, code, answer):
    plan(f"gates: ['{gate}']\n")
    ended, out, _ = command("run", "plan.yaml", "--quiet")
    assert ended == code
    assert f"{answer}  {gate}" in out


def test_an_inconclusive_gate_says_how_many_more_items_would_settle_it(command, plan):
    plan("gates: ['brief.pass_rate >= 0.9']\n")
    assert "more items would settle it" in command("run", "plan.yaml", "--quiet")[1]


@pytest.mark.parametrize(("option", "value"), [("--max-calls", "1"), ("--max-minutes", "0")])
def test_a_limit_ends_the_run_with_a_partial_result_and_its_own_code(command, plan, option, value):
    plan("system: checks:answer\n")
    code, out, _ = command("run", "plan.yaml", "--quiet", option, value)
    assert code == 4
    assert "INCOMPLETE: the numbers are partial" in out
    assert "budget_exhausted" in out
    code, out, _ = command("run", "plan.yaml", "--quiet")
    assert (code, "INCOMPLETE" in out) == (0, False)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--concurrency", "0"), "error: concurrency is at least 1, not 0"),
        (("--max-cost", "-1"), "error: max_cost is a number, 0 or more, not -1.0"),
        (("--max-calls", "many"), "'many' is not a valid integer"),
        (("--nonsense",), "No such option"),
    ],
)
def test_wrong_use_is_code_two_and_names_what_is_wrong(command, plan, arguments, told):
    plan()
    code, out, err = command("run", "plan.yaml", *arguments)
    assert (code, out) == (2, "")
    assert told in err


def test_another_name_is_another_run_and_fresh_is_one_too(command, plan):
    plan("system: checks:answer\n")
    ids = [
        json.loads(command("run", "plan.yaml", "--json", "--quiet", *more)[1])["run"]
        for more in ((), ("--name", "other"), ("--fresh",))
    ]
    assert len(set(ids)) == 3
    assert ids[2] == f"{ids[0]}-2"


def test_a_run_is_kept_where_the_user_says(command, plan, tmp_path):
    plan()
    assert command("run", "plan.yaml", "--quiet", "--workspace", "elsewhere")[0] == 0
    assert (tmp_path / "elsewhere" / "calibrant.db").is_file()
    assert not (tmp_path / ".calibrant").exists()


def test_a_missing_baseline_is_an_error_for_run_check_and_dry_run_until_it_is_left_out(command, plan):
    plan("baseline: baselines/main.jsonl\ngates: [brief.score >= baseline]\n")
    for arguments in (("run", "plan.yaml"), ("run", "plan.yaml", "--dry-run"), ("plan", "check", "plan.yaml")):
        code, out, err = command(*arguments)
        assert (code, out) == (2, "")
        assert "line 5: there is no baseline 'baselines/main.jsonl'; for a first run leave it out" in err
        assert "calibrant run --no-baseline" in err
    assert command("plan", "check", "plan.yaml", "--no-baseline")[0] == 0
    code, out, _ = command("run", "plan.yaml", "--no-baseline", "--quiet")
    assert code == 3
    assert "INCONCLUSIVE  brief.score >= baseline (there is no baseline yet; export this run to be it)" in out


RUBRIC = "---\ncriterion: polite\nfields: [answer]\nlevels:\n  0: rude\n  1: kind\n---\nIs it polite?\n"


def test_a_run_says_before_what_it_takes_and_at_the_end_what_it_took(command, plan, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    (tmp_path / "polite.md").write_text(RUBRIC)
    with ProviderServer(lambda body: json.dumps({"explanation": "Kind.", "score": 1})) as server:
        address = f"base_url: {server.openai_url!r}, price: {{input: 1, output: 2}}"
        judged = "metrics:\n  - {name: polite, rubric: polite.md}\njudges: main\n"
        plan(
            f"models: {{main: {{model: openai/judge, {address}}}}}\n", PLAN.replace(PLAN.splitlines()[3] + "\n", judged)
        )
        code, out, err = command("run", "plan.yaml", "--dry-run")
        assert (code, err, server.requests) == (0, "", [])
        assert "bot: 3 items, about 2 calls to judges, about" in out
        assert out.endswith("nobody was asked (--dry-run)\n")
        code, out, err = command("run", "plan.yaml")
        assert (code, len(server.requests)) == (0, 2)
        assert "bot: 3 items, about 2 calls to judges" in err
        assert "3 of 3 items, 0 failed, 2 calls, $0.00012 of about $" in err
        # Two calls of 40 tokens read and 10 written, at 1 and 2 dollars per million.
        assert "2 calls, 0 from the workspace, 80 tokens read, 20 written, cost $0.0001" in out
        for arguments in (("run", "plan.yaml", "--quiet"), ("run", "plan.yaml", "--quiet"), ("show",)):
            told = command(*arguments)[1]
            assert "this time: 0 calls, 2 from the workspace, 0 tokens read, 0 written, cost $0\n" in told
            assert "in all: 2 calls, 80 tokens read, 20 written, cost $0.0001\n" in told
        assert len(server.requests) == 2


def test_init_guesses_columns_by_their_words_and_what_it_wrote_runs(command):
    code, out, _ = command("init", "data.csv", "--force")
    assert code == 0
    assert "fields: query from 'Customer question', answer from 'BOT: reply'" in out.replace(
        "id from 'Ticket No.', ", ""
    )
    assert command("plan", "check", "plan.yaml")[0] == 0
    sys.modules.pop("checks", None)
    code, out, _ = command("run", "plan.yaml", "--quiet")
    assert (code, "answered  0.667" in out) == (0, True)


def test_init_without_an_answer_says_what_to_do(command, tmp_path):
    (tmp_path / "odd.csv").write_text("x,y\n1,2\n3,4\n")
    code, out, _ = command("init", "odd.csv", "--force")
    assert code == 0
    assert "no column looks like the answer: name it in plan.yaml (columns: {answer: ...}), or name a system" in out
    sys.modules.pop("checks", None)
    code, _, err = command("run", "plan.yaml", "--quiet")
    assert code == 2
    told = "metric 'answered' needs answer, missing or empty in every item of odd.csv (it has: x, y); name its column"
    assert told in err


def test_an_id_column_that_repeats_is_no_id(command, tmp_path):
    (tmp_path / "odd.csv").write_text("id,question,reply\n1,a,b\n1,c,d\n")
    assert command("init", "odd.csv", "--force")[0] == 0
    assert 'my_id: "id"' in (tmp_path / "plan.yaml").read_text()
    sys.modules.pop("checks", None)
    assert command("run", "plan.yaml", "--quiet")[0] == 0


@pytest.mark.parametrize("name", ["empty.csv", "data.txt", "none.csv"])
def test_init_of_what_is_no_table_is_wrong_use(command, tmp_path, name):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "data.txt").write_text("a")
    code, out, err = command("init", name)
    assert (code, out) == (2, "")
    assert name in err


def test_the_check_of_a_plan_tells_every_problem_with_its_line(command, plan):
    plan("gates: ['brief.pass_rate >= 90', 'other.score > 0']\nlabels: data.csv\n")
    code, _, err = command("plan", "check", "plan.yaml")
    assert code == 2
    assert "has no item, criterion, value; a label has item, criterion, annotator, value" in err
    plan("gates:\n  - brief.pass_rate >= 90\n  - other.score > 0\n")
    err = command("plan", "check", "plan.yaml")[2]
    assert "line 6: gate 'brief.pass_rate >= 90' has the limit 90" in err
    assert "line 7: gate 'other.score > 0' is about 'other'" in err
