"""A metric that rated nothing is no success, wherever somebody looks."""

import json

import pytest

from calibrant import run
from calibrant.cli.group import main
from calibrant.errors import CODES
from calibrant.estimates import Coverage
from calibrant.report import html_report
from calibrant.runs import RunSettings, verify
from calibrant.runs.unrated import REMEDIES, unrated_text

ITEMS = [{"id": str(n), "answer": "Until six."} for n in range(6)]


def down(item):
    raise RuntimeError("the judge is down")


def half(item):
    if item.id in {"0", "1", "2"}:
        raise RuntimeError("the judge is down")
    return True


def brief(item):
    return len(item.answer.split()) <= 3


@pytest.fixture
def keyless(tmp_path, monkeypatch):
    """A plan whose judge needs a key that is nowhere, and the command that is given to it."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "items.jsonl").write_text("\n".join(json.dumps({"query": "Open?", **item}) for item in ITEMS))
    plan = "version: 1\nname: keyless\ndataset: items.jsonl\njudges: openai/gpt-x\nmetrics: [fluency]\n"
    (tmp_path / "plan.yaml").write_text(plan)


def called(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code, capsys.readouterr().out


def test_every_code_has_a_remedy():
    assert REMEDIES.keys() == CODES.keys()


@pytest.mark.parametrize("metrics", [[down], [brief, down]])
def test_without_gates_a_metric_that_rated_nothing_is_inconclusive(metrics):
    result = run(ITEMS, metrics)
    assert (result.status, result.exit_code) == ("complete", 3)
    assert result.unrated == (result.metrics[-1].name,)


def test_one_rating_is_enough_to_leave_the_answer_to_the_gates():
    result = run(ITEMS, [half])
    assert (result.unrated, result.exit_code) == ((), 0)
    assert run(ITEMS, [half], gates=["coverage >= 0.9"]).exit_code == 1


def test_gates_that_pass_do_not_hide_it_and_one_that_fails_goes_before():
    assert run(ITEMS, [brief, down], gates=["brief.failing_items <= 1"]).exit_code == 3
    assert run(ITEMS, [brief, down], gates=["down.coverage >= 0.5"]).exit_code == 1


def test_a_run_that_was_cut_short_is_incomplete_and_not_inconclusive():
    result = run(ITEMS, [brief], settings=RunSettings(max_minutes=0))
    assert (result.exit_code, result.unrated) == (4, ("brief",))
    assert "INCOMPLETE: the numbers are partial" in str(result)


def test_the_most_frequent_cause_has_the_remedy():
    told = unrated_text("polite", Coverage(rated=0, failed=5, codes={"unauthorized": 3, "judge_timeout": 2}))
    assert told.startswith("polite: no item was rated (3 unauthorized, 2 judge_timeout); set the model's API key in")
    assert unrated_text("polite", Coverage(rated=1, failed=5, codes={"unauthorized": 5})) == ""
    assert unrated_text("polite", Coverage(rated=0)) == ""


def test_a_missing_key_is_told_by_text_json_and_show_alike(keyless, capsys):
    line = "fluency: no item was rated (6 unauthorized); set the model's API key in its environment variable"
    code, out = called(capsys, "run", "plan.yaml", "--quiet")
    assert code == 3
    assert out.splitlines()[0].endswith("INCONCLUSIVE: fluency rated nothing")
    assert f"warning: {line}" in out
    assert called(capsys, "show") == (0, out)
    for arguments in (("run", "plan.yaml", "--json", "--quiet"), ("show", "--json")):
        data = json.loads(called(capsys, *arguments)[1])
        assert (data["exit_code"], data["status"]) == (3, "complete")
        assert data["warnings"][0].startswith(line)
    assert called(capsys, "verify")[0] == 0


def test_the_page_says_so_at_its_head():
    assert "<strong>INCONCLUSIVE</strong>: down rated nothing." in html_report(run(ITEMS, [brief, down]).to_json())
    assert "rated nothing" not in html_report(run(ITEMS, [brief]).to_json())


def test_what_is_kept_without_texts_says_so_too(tmp_path):
    settings = RunSettings(workspace=tmp_path, store_text=False)
    result = run(ITEMS, [down], settings=settings)
    assert verify(result).is_ok
    result.close()
