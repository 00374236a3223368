from textwrap import dedent

import pytest

from calibrant.errors import InputError
from calibrant.readers.plan import plan_schema, read_plan

WHOLE = """\
version: 1
name: support-bot
dataset:
  path: items.csv
  columns: {id: ticket, query: question}
  cluster: customer
system: app.bot:answer
models:
  main: {model: openai/gpt-x, requests_per_minute: 600, price: {input: 1, output: 2}}
  local: openai/qwen3
judges: main
metrics:
  - groundedness
  - {name: polite, rubric: polite.md, judges: [main, main, local], aggregation: median, threshold: 0.6}
  - {name: brief, function: "checks:brief", settings: {limit: 3}}
baseline: main.jsonl
labels: labels.csv
budget: {usd: 5.00, calls: 2000}
concurrency: 64
seed: 7
gates:
  - groundedness.pass_rate >= 0.90
"""


@pytest.fixture
def folder(tmp_path):
    for name in ("items.csv", "polite.md", "labels.csv"):
        (tmp_path / name).write_text("")
    return tmp_path


def plan_of(folder, text):
    path = folder / "plan.yaml"
    path.write_text(dedent(text))
    return read_plan(path)


def problems(folder, text):
    with pytest.raises(InputError) as caught:
        plan_of(folder, text)
    return list(caught.value.problems)


def test_a_whole_plan_is_read_with_its_paths_beside_it(folder):
    plan = plan_of(folder, WHOLE)
    assert (plan.name, plan.dataset.path, plan.dataset.cluster) == ("support-bot", folder / "items.csv", "customer")
    assert plan.models["main"].limits == {"requests_per_minute": 600}
    assert plan.models["main"].options == {"price": {"input": 1, "output": 2}}
    assert (plan.models["local"].model, plan.judges) == ("openai/qwen3", ("main",))
    polite, brief = plan.metrics[1:]
    assert polite.settings == {"aggregation": "median", "threshold": 0.6}
    assert (polite.judges, polite.rubric, polite.line) == (("main", "main", "local"), folder / "polite.md", 14)
    assert (brief.function, brief.settings) == ("checks:brief", {"limit": 3})
    assert (plan.budget, plan.seed, plan.gates) == ({"usd": 5.0, "calls": 2000}, 7, ("groundedness.pass_rate >= 0.90",))


def test_every_problem_is_told_with_its_line(folder):
    found = problems(
        folder,
        """\
        version: 2
        dataset: {path: items.csv, colums: {}}
        metrics:
          - {name: polite, treshold: 1}
          - 7
        concurrency: 0
        seed: yes
        store_text: true
        budget: {usd: -1, minutes: 0}
        gates: none
        """,
    )
    assert found == [
        "line 1: version is 1, not 2",
        "line 2: unknown key 'colums' in dataset; did you mean 'columns'?",
        "line 4: unknown key 'treshold' in metrics[1]; did you mean 'threshold'?",
        "line 5: metrics[2] is a text or a mapping, not 7",
        "line 6: concurrency is at least 1, not 0",
        "line 7: seed is a whole number, not 'yes'",
        "line 9: minutes is above 0, not 0",
        "line 9: usd is at least 0, not -1",
        "line 10: gates is a list, not 'none'",
    ]


def test_what_the_schema_cannot_say_is_checked_too(folder):
    found = problems(
        folder,
        """\
        version: 1
        dataset: other.csv
        system: app
        models: {main: openai/x}
        judges: [mian, openai/y]
        metrics:
          - polite
          - {name: polite, rubric: no.md, function: "a:b"}
        """,
    )
    assert found == [
        "line 2: there is no file 'other.csv' beside the plan",
        "line 3: system is written as module:name, not 'app'",
        "line 5: unknown judge 'mian'; did you mean 'main'? (or write provider/model)",
        "line 8: metric 'polite' has a rubric and a function; it can have one of them",
        "line 8: there is no file 'no.md' beside the plan",
        "line 8: two metrics are called 'polite' (the other on line 7); name them apart",
    ]


def test_what_is_missing_is_named_with_what_it_is_for(folder):
    found = problems(folder, "version: 1\nmetrics: []\n")
    assert found[0].startswith("line 1: the plan has no 'dataset': The items: a path")
    assert found[1] == "line 2: metrics is empty; it lists at least one"
    assert problems(folder, "") == ["line 1: the plan is a mapping, not empty"]


def test_yaml_that_cannot_be_read_names_its_line(folder):
    assert problems(folder, "version: 1\n  name: [\n")[0].startswith("line 2: ")
    assert problems(folder, "version: 1\nversion: 1\n")[0].startswith("line 2: found duplicate key")
    with pytest.raises(InputError, match="there is no plan .*; `calibrant init DATA` writes one"):
        read_plan(folder / "no.yaml")


def test_the_schema_describes_every_key():
    def undescribed(schema, where=""):
        for name, inner in schema.get("properties", {}).items():
            if "description" not in inner and where != ".price":
                yield f"{where}.{name}"
            for one in [inner, inner.get("additionalProperties"), inner.get("items"), *inner.get("anyOf", ())]:
                if isinstance(one, dict):
                    yield from undescribed(one, f".{name}")
                    for deep in one.get("anyOf", ()):
                        yield from undescribed(deep, f".{name}")

    assert not list(undescribed(plan_schema()))


@pytest.mark.parametrize("name", ["items.jsonl", "items.csv"])
def test_data_in_the_place_of_a_plan_is_told_apart_from_a_broken_plan(folder, name):
    (folder / name).write_text('{"id": 1}\n{"id": 2}\n')
    with pytest.raises(InputError) as raised:
        read_plan(folder / name)
    assert (
        str(raised.value) == f"{name} holds items and is no plan; `calibrant init {folder / name}` writes a plan for it"
    )
