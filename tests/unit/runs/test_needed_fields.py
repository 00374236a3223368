"""A metric that no item can give what it needs is wrong input; one that some items lack is a skip of each of them."""

import json

import pytest

from calibrant import EvalInput, metric, run
from calibrant.cli.group import main
from calibrant.errors import InputError
from calibrant.metrics import BaseMetric

ROWS = [{"id": "t1", "query": "Open?", "answer": "Until six."}, {"id": "t2", "query": "Why?", "answer": "So."}]
PLAN = """\
version: 1
dataset: faq.csv
judges: openai/gpt-x
metrics:
  - fluency
  - groundedness
  - completeness
"""


@metric(required_fields=["ground_truth", "contexts"])
def like_the_truth(item):
    return item.answer == item.ground_truth


class Picky(BaseMetric):
    name = "picky"
    required_fields = {"tone"}

    def can_evaluate(self, data):
        return True

    async def _evaluate(self, data):
        return 1.0


def test_what_no_item_has_is_told_before_anybody_is_asked():
    asked = []

    def first(item):
        return bool(asked.append(item.id)) or True

    with pytest.raises(InputError) as raised:
        run(ROWS, [first, like_the_truth])
    assert str(raised.value) == (
        "metric 'like_the_truth' needs contexts and ground_truth, missing or empty in every item of items "
        "(it has: answer, id, query); name its column (columns: {contexts: COLUMN}), or leave the metric out"
    )
    assert asked == []


def test_a_column_that_is_empty_throughout_is_as_good_as_none(tmp_path):
    (tmp_path / "faq.csv").write_text("id,answer,contexts,ground_truth\nt1,So.,,x\nt2,So.,,y\n")
    told = r"needs contexts, missing or empty in every item of faq.csv \(it has: id, answer, contexts, ground_truth\)"
    with pytest.raises(InputError, match=told):
        run(tmp_path / "faq.csv", [like_the_truth])


def test_what_some_items_lack_is_a_skip_of_each():
    rows = [{**ROWS[0], "contexts": ["x"], "ground_truth": "Until six."}, ROWS[1]]
    coverage = run(rows, [like_the_truth]).metric("like_the_truth").pass_rate.coverage
    assert (coverage.rated, coverage.skipped, dict(coverage.codes)) == (1, 1, {"missing_field": 1})


def test_a_system_may_make_any_field_and_a_metric_may_decide_for_itself():
    made = {"answer": "So.", "contexts": ["x"], "ground_truth": "So."}
    assert run(ROWS, [like_the_truth], system=lambda item: made).metric("like_the_truth").pass_rate.value == 1
    assert run(ROWS, [Picky()]).metric("picky").pass_rate.n == 2


def test_items_of_python_count_as_their_fields_do():
    items = [EvalInput(answer="So.", ground_truth="So.", contexts=["x"])]
    assert run(items, [like_the_truth]).metric("like_the_truth").pass_rate.value == 1


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "faq.csv").write_text("id,query,answer\nt1,Open?,Until six.\n")
    (tmp_path / "plan.yaml").write_text(PLAN)

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return ended.value.code, *capsys.readouterr()

    return call


@pytest.mark.parametrize("arguments", ["plan check plan.yaml", "run plan.yaml", "run plan.yaml --dry-run"])
def test_a_plan_is_not_right_when_a_metric_can_rate_nothing(command, tmp_path, arguments):
    code, out, err = command(*arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith(
        "error: plan.yaml has 2 problems:\n  line 6: metric 'groundedness' needs contexts, missing or"
    )
    assert "line 7: metric 'completeness' needs ground_truth, missing or empty in every item of faq.csv" in err
    assert not (tmp_path / ".calibrant").exists()


@pytest.fixture
def fluent(tmp_path, command):
    (tmp_path / "plan.yaml").write_text("\n".join(PLAN.splitlines()[:5]))
    return command


def test_a_key_that_is_nowhere_is_a_warning_and_no_error(fluent):
    told = "warning: openai/gpt-x needs a key: set OPENAI_API_KEY, or pass api_key=...; only calls that the workspace"
    for arguments in (("plan", "check", "plan.yaml"), ("run", "plan.yaml", "--dry-run")):
        code, out, _ = fluent(*arguments)
        assert (code, out.count(told)) == (0, 1)
    (warning,) = json.loads(fluent("plan", "check", "plan.yaml", "--json")[1])["warnings"]
    assert f"warning: {warning}".startswith(told)


def test_a_judge_with_its_key_or_without_need_of_one_is_not_warned_of(fluent, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-long-enough")
    assert "warning" not in fluent("plan", "check", "plan.yaml")[1]
    monkeypatch.delenv("OPENAI_API_KEY")
    local = 'judges: {model: openai/qwen3, base_url: "http://localhost:8000/v1", requests_per_minute: 60}'
    models = f"models: {{local: {local.removeprefix('judges: ')}}}\njudges: local"
    (tmp_path / "plan.yaml").write_text("\n".join(PLAN.splitlines()[:5]).replace("judges: openai/gpt-x", models))
    code, out, _ = fluent("plan", "check", "plan.yaml")
    assert (code, "warning" in out) == (0, False)
