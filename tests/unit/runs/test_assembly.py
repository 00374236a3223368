"""A plan made ready: its metrics, judges, system, gates and labels, and every problem with its line."""

import asyncio
import sys
from textwrap import dedent

import pytest

from calibrant.errors import InputError, StoreError
from calibrant.metrics import RubricMetric
from calibrant.readers.plan import read_plan
from calibrant.runs import export, run, run_plan
from calibrant.runs.assembly import assembled
from calibrant.runs.plan_imports import imported

CHECKS = """\
from calibrant import BaseMetric, metric

def brief(item):
    return len(item.answer.split()) <= 2

@metric(passing_labels={"warm"})
def tone(item):
    return "warm"

class Length(BaseMetric):
    name = "length"
    most = 2

    def __init__(self, most=2, **settings):
        super().__init__(**settings)
        self.most = most

    async def _evaluate(self, data):
        return float(len(data.answer.split()) <= self.most)

number = 7

def answer(item):
    return f"Answer to {item.query}"
"""
RUBRIC = "---\ncriterion: polite\nfields: [answer]\nlevels:\n  0: rude\n  1: kind\n---\nIs it polite?\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with four items, checks and a rubric; imports from it are forgotten afterwards."""
    monkeypatch.setattr("sys.path", [*sys.path])
    rows = [f'{{"id": "i{n}", "query": "Q{n}", "answer": "{"word " * (n + 1)}"}}' for n in range(4)]
    (tmp_path / "items.jsonl").write_text("\n".join(rows))
    (tmp_path / "checks.py").write_text(CHECKS)
    (tmp_path / "polite.md").write_text(RUBRIC)
    yield tmp_path
    sys.modules.pop("checks", None)


def ready(folder, text, **changes):
    (folder / "plan.yaml").write_text("version: 1\ndataset: items.jsonl\n" + dedent(text))
    return assembled(read_plan(folder / "plan.yaml"), **changes)


def problems(folder, text, **changes):
    with pytest.raises(InputError) as caught:
        ready(folder, text, **changes)
    assert str(caught.value).startswith("plan.yaml has")
    return list(caught.value.problems)


def test_functions_classes_and_metrics_of_ones_own_are_metrics(folder):
    found = ready(
        folder,
        """\
        metrics:
          - {name: short, function: "checks:brief", threshold: 1}
          - {name: kind, function: "checks:tone"}
          - {name: few, function: "checks:Length", settings: {most: 3}}
        """,
    ).measurement.metrics
    assert [metric.name for metric in found] == ["short", "kind", "few"]
    assert (found[0].threshold, found[1].passing_labels, found[2].most) == (1, frozenset({"warm"}), 3)


def test_judges_are_those_of_the_metric_else_those_of_the_plan(folder):
    found = ready(
        folder,
        """\
        models:
          main: {model: openai/x, base_url: "http://localhost:1/v1"}
          other: {model: openai/y, base_url: "http://localhost:1/v1"}
        judges: [main]
        metrics:
          - fluency
          - {name: polite, rubric: polite.md, judges: [main, main, other], aggregation: median, quorum: 2}
          - {name: brief, function: "checks:brief"}
        """,
    ).measurement.metrics
    assert [[model.name for model in metric.models] for metric in found] == [
        ["openai/x"],
        ["openai/x", "openai/x", "openai/y"],
        [],
    ]
    assert found[1].models[0] is found[1].models[1] is found[0].models[0]
    assert (str(found[1].aggregation_method), found[1].quorum) == ("median", 2)


def test_a_judge_may_be_named_in_place(folder):
    (metric,) = ready(
        folder, "metrics:\n  - {name: polite, rubric: polite.md, judges: [ollama/x, ollama/x]}\n"
    ).measurement.metrics
    assert isinstance(metric, RubricMetric)
    assert metric.models[0] is metric.models[1]


def test_settings_of_the_plan_are_those_of_the_run_and_changes_win(folder):
    text = """\
    name: bot
    metrics: [{name: brief, function: "checks:brief"}]
    budget: {calls: 7, tokens: 100, minutes: 5}
    concurrency: 3
    seed: 11
    store_text: false
    """
    settings = ready(folder, text).measurement.settings
    assert (settings.name, settings.max_calls, settings.max_tokens, settings.max_minutes) == ("bot", 7, 100, 5)
    assert (settings.concurrency, settings.seed, settings.store_text) == (3, 11, False)
    assert settings.workspace == folder / ".calibrant"
    changed = ready(folder, text, max_calls=2, name="again", workspace=folder / "kept", concurrency=None)
    assert (changed.measurement.settings.max_calls, changed.measurement.settings.name) == (2, "again")
    assert (changed.measurement.settings.workspace, changed.measurement.settings.concurrency) == (folder / "kept", 3)


def test_every_problem_of_what_a_plan_names_has_its_line(folder):
    assert problems(
        folder,
        """\
        metrics:
          - {name: a, function: "checks:nothing"}
          - {name: b, function: "nowhere:b"}
          - {name: c, function: "checks:number"}
          - nonesuch
        system: checks:missing
        """,
    ) == [
        "line 4: metric 'a': module 'checks' has no 'nothing'; it has: Length, answer, brief",
        f"line 5: metric 'b': cannot import 'nowhere:b': No module named 'nowhere' (looked in {folder} first)",
        "line 6: metric 'c': a function metric is made of a function of the item, not 7",
        problems(folder, "metrics:\n\n\n\n  - nonesuch\n")[0],
        "line 8: system: module 'checks' has no 'missing'; it has: Length, answer, brief",
    ]


def test_a_model_that_cannot_be_connected_has_its_line(folder):
    (told,) = problems(
        folder,
        """\
        models:
          main: {model: nowhere/x}
        metrics: [{name: brief, function: "checks:brief"}]
        """,
    )
    assert told.startswith("line 4: model 'main': unknown provider 'nowhere'")


def test_gates_are_read_before_anybody_is_asked_each_with_its_line(folder):
    assert problems(
        folder,
        """\
        metrics: [{name: brief, function: "checks:brief"}]
        gates:
          - brief.pass_rate >= 90
          - brief.pass_rate >= 0.9
          - polite.pass_rate >= 0.9
          - nonsense
          - brief.score >= baseline
        """,
    ) == [
        "line 5: gate 'brief.pass_rate >= 90' has the limit 90, but pass_rate lies between 0 and 1; did you mean 90%?",
        "line 7: gate 'polite.pass_rate >= 0.9' is about 'polite'; the metrics of this run are: brief",
        (
            "line 8: gate 'nonsense' is no condition; expected METRIC.QUANTITY >= NUMBER, such as "
            "'polite.pass_rate >= 0.90' or 'polite.score >= baseline - 0.02'"
        ),
        (
            "line 9: gate 'brief.score >= baseline' needs a baseline; name an exported run, or one of the workspace "
            "(baseline)"
        ),
    ]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("i0,breif,kim,yes", "line 4: the labels are on breif, but the metrics of this run are brief"),
        (
            "i0,brief,kim,perhaps",
            (
                "line 4: people labelled brief with 'perhaps', and nothing says whether that passes; write yes or no, "
                "a score in [0, 1], or name the metric's passing_labels"
            ),
        ),
    ],
)
def test_labels_that_cannot_be_used_are_told_before_anybody_is_asked(folder, rows, told):
    (folder / "labels.csv").write_text(f"item,criterion,annotator,value\n{rows}\n")
    text = 'metrics: [{name: brief, function: "checks:brief"}]\nlabels: labels.csv\n'
    assert problems(folder, text) == [told]
    assert not (folder / ".calibrant").exists()


BASELINE = """\
metrics: [{name: brief, function: "checks:brief"}]
baseline: baselines/main.jsonl
gates:
  - brief.pass_rate >= baseline
  - brief.failing_items <= 3
"""


def test_a_baseline_that_is_not_there_is_an_error_that_says_how_to_begin(folder):
    assert problems(folder, BASELINE) == [
        (
            "line 4: there is no baseline 'baselines/main.jsonl'; for a first run leave it out "
            "(calibrant run --no-baseline), then export that run"
        )
    ]


def test_a_first_run_leaves_gates_against_the_baseline_open(folder):
    ready(folder, BASELINE, without_baseline=True)
    first = run_plan(folder / "plan.yaml", without_baseline=True)
    assert [(gate.answer, gate.reason) for gate in first.gates] == [
        ("INCONCLUSIVE", "there is no baseline yet; export this run to be it"),
        ("PASS", "2 of 4 fail"),
    ]
    assert first.exit_code == 3
    (folder / "baselines").mkdir()
    export(first, folder / "baselines" / "main.jsonl")
    first.close()
    second = run_plan(folder / "plan.yaml")
    assert second.gates[0].reason.startswith("+0.000")
    second.close()


def test_a_baseline_may_be_a_run_of_the_workspace(folder):
    ready(folder, BASELINE.replace("baselines/main.jsonl", "r-none"))
    with pytest.raises(InputError, match="there is no baseline 'r-none': the workspace has no runs yet"):
        run_plan(folder / "plan.yaml")
    first = run_plan(folder / "plan.yaml", without_baseline=True)
    first.close()
    ready(folder, BASELINE.replace("baselines/main.jsonl", first.id))
    again = run_plan(folder / "plan.yaml")
    assert again.gates[0].reason.startswith("+0.000")
    again.close()


def test_a_plan_runs_the_same_from_python_as_its_parts_do(folder):
    ready(folder, 'metrics: [{name: brief, function: "checks:brief"}]\n')
    whole = run_plan(folder / "plan.yaml")
    parts = run(folder / "items.jsonl", [imported("checks:brief", folder)])
    assert whole.metrics[0].pass_rate == parts.metrics[0].pass_rate
    assert whole.dataset.hash == parts.dataset.hash
    whole.close()


def test_a_plan_runs_where_a_loop_is_running_already(folder):
    ready(folder, 'metrics: [{name: brief, function: "checks:brief"}]\nsystem: checks:answer\n')

    async def notebook():
        return run_plan(str(folder / "plan.yaml"))

    result = asyncio.run(notebook())
    assert (result.status, result.system.name, result.system.calls) == ("complete", "checks:answer", 4)
    result.close()


def test_a_workspace_that_cannot_be_made_is_one_error(folder):
    ready(folder, 'metrics: [{name: brief, function: "checks:brief"}]\n')
    (folder / ".calibrant").write_text("a file")
    with pytest.raises(StoreError, match=r"the workspace .*\.calibrant"):
        run_plan(folder / "plan.yaml")


def test_a_budget_in_money_needs_prices_and_says_so_before_the_first_call(folder):
    text = """\
    models: {{main: {{model: openai/unheard-of, base_url: "http://localhost:1/v1"{price}}}}}
    judges: main
    metrics: [fluency]
    budget: {{usd: 1}}
    """
    with pytest.raises(InputError, match="the price of openai/unheard-of is unknown: give it") as caught:
        ready(folder, text.format(price=""))
    assert "set the budget in calls or tokens" in str(caught.value)
    assert ready(folder, text.format(price=", price: {input: 1, output: 2}")).measurement.settings.max_cost == 1


def test_each_plan_has_the_modules_beside_it(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "checks.py").write_text("def brief(item):\n    return True\n")
    first, second, again = (imported("checks:brief", place) for place in (folder, other, folder))
    assert first.__code__.co_filename == str(folder / "checks.py") == again.__code__.co_filename
    assert second.__code__.co_filename == str(other / "checks.py")


def test_packages_beside_the_plan_are_found_too(folder):
    package = folder / "application" / "parts"
    package.mkdir(parents=True)
    (package / "bot.py").write_text("from checks import answer\n\nclass Bot:\n    reply = staticmethod(answer)\n")
    assert imported("application.parts.bot:Bot.reply", folder).__name__ == "answer"
    for name in [name for name in sys.modules if name.startswith("application")]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 / 0", "importing 'broken' failed: ZeroDivisionError: division by zero"),
        ("import nowhere_at_all", "cannot import 'broken:x': No module named 'nowhere_at_all'"),
        ("def x(:", "importing 'broken' failed: SyntaxError"),
    ],
)
def test_a_module_that_cannot_be_imported_says_why(folder, text, told):
    (folder / "broken.py").write_text(text + "\n")
    with pytest.raises(InputError, match="broken") as caught:
        imported("broken:x", folder)
    assert told in str(caught.value)
    sys.modules.pop("broken", None)
