"""The user's way: a rubric of one's own and shipped metrics in a plan, a real server, the command, and what it says."""

import json
import math
import sys

import pytest
from provider_server import ProviderServer, completion_payload

from calibrant.cli.group import main

RUBRIC = """\
---
fields: [answer]
levels: {1: Rude., 2: Curt., 3: Kind.}
---
Whether the answer is polite.
"""
ITEMS = [
    {"id": f"t{n}", "question": "Open?", "reply": f"Thank you for asking, until {n}.", "docs": [f"Open until {n}."]}
    for n in range(1, 13)
]
PLAN = """\
version: 1
name: support
dataset: {path: items.jsonl, columns: {query: question, answer: reply, contexts: docs}}
models:
  main: {model: openai/judge, base_url: "URL"}
  other: {model: openai/other, base_url: "URL"}
judges: [main]
canaries: true
metrics:
  - {name: polite, rubric: polite.md, judges: [main, main, other], aggregation: median}
  - groundedness
  - {name: faithfulness, settings: {temperature: 0.1, calls: 1}, threshold: 0.9}
  - {name: sure, rubric: polite.md, settings: {scoring: weighted}}
  - {name: steady, rubric: brief.md, repeats: 3}
"""


def text_of(body):
    return body["messages"][-1]["content"]


def believes_all(body):
    """A judge that gives the best of everything, and rates one item it was asked about on B and C."""
    if body.get("logprobs"):
        return completion_payload(body, "C", logprobs={"C": math.log(0.6), "B": math.log(0.3), "Well": math.log(0.1)})
    schema = body["response_format"]["json_schema"]["schema"]["properties"]
    if "verdicts" in schema:
        said = {"reason": "So it says.", "quote": "Open until", "verdict": "fully"}
        return json.dumps({"statements": ["It is open."], "verdicts": [said]})
    return json.dumps({"explanation": "It looks right.", "score": 3})


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    (tmp_path / "items.jsonl").write_text("\n".join(json.dumps(item) for item in ITEMS))
    (tmp_path / "polite.md").write_text(RUBRIC)
    (tmp_path / "brief.md").write_text(RUBRIC.replace("polite", "brief"))

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        return ended.value.code, capsys.readouterr().out

    return call


@pytest.fixture
def server(tmp_path):
    with ProviderServer(believes_all) as running:
        (tmp_path / "plan.yaml").write_text(PLAN.replace("URL", running.openai_url))
        yield running


def test_a_plan_is_rated_and_a_gullible_judge_is_in_the_headline(command, server):
    code, out = command("run", "plan.yaml", "--quiet")
    assert code == 0
    headline = out.splitlines()[0]
    assert headline.startswith("support  r-")
    assert headline.endswith("CANARIES FAILED: groundedness, faithfulness")
    assert "canaries  polite: none fits it" in out


def test_the_json_has_every_number_apart_from_the_canaries(command, server):
    _, out = command("run", "plan.yaml", "--quiet", "--json")
    data = json.loads(out)
    metrics = {one["name"]: one for one in data["metrics"]}
    assert list(metrics) == ["polite", "groundedness", "faithfulness", "sure", "steady"]
    assert all(one["pass_rate"]["coverage"]["rated"] == len(ITEMS) for one in metrics.values())
    assert metrics["polite"]["judges"] == ["openai/judge", "openai/judge", "openai/other"]
    assert metrics["sure"]["scoring"] == "weighted"
    # 0.6 on level 3 and 0.3 on level 2, renormalised: 2.667, which is 0.833 of the way from 1 to 3.
    assert metrics["sure"]["score"]["value"] == pytest.approx((0.6 * 1.0 + 0.3 * 0.5) / 0.9)
    assert "sure: on average 0.100 of the probability was on none of the labels" in data["warnings"]
    assert metrics["steady"]["flip_rate"] == 0.0
    reports = {one["metric"]: one for one in data["canaries"]}
    assert (reports["groundedness"]["passed"], reports["polite"]["passed"]) == (False, True)
    assert reports["polite"]["right"]["value"] is None


def test_the_calls_are_those_that_the_dry_run_foretold(command, server):
    _, out = command("run", "plan.yaml", "--dry-run", "--json")
    foretold = json.loads(out)["calls"]
    assert server.requests == []
    _, out = command("run", "plan.yaml", "--quiet", "--json")
    assert len(server.requests) == json.loads(out)["usage"]["calls"] == foretold


def test_the_same_command_again_asks_nothing_and_says_the_same(command, server):
    _, first = command("run", "plan.yaml", "--quiet", "--json")
    asked = len(server.requests)
    _, again = command("run", "plan.yaml", "--quiet", "--json")
    assert len(server.requests) == asked
    one, other = json.loads(first), json.loads(again)
    assert one["canaries"] == other["canaries"]
    assert [metric["score"] for metric in one["metrics"]] == [metric["score"] for metric in other["metrics"]]
    code, shown = command("show")
    assert code == 0
    assert shown.splitlines()[0].endswith("CANARIES FAILED: groundedness, faithfulness")


def test_what_is_judged_is_fenced_by_a_secret_of_the_workspace(command, server, tmp_path):
    command("run", "plan.yaml", "--quiet")
    first = {text_of(asked.body) for asked in server.requests}
    secret = (tmp_path / ".calibrant" / "secret").read_text()
    assert len(secret) == 64
    assert not any(secret in text for text in first)
    server.requests.clear()
    command("run", "plan.yaml", "--quiet", "--workspace", "elsewhere")
    other = {text_of(asked.body) for asked in server.requests}
    assert len(first) == len(other)
    assert not first & other
    assert {text.split(".", 1)[1].count("begin") for text in first} == {
        text.split(".", 1)[1].count("begin") for text in other
    }


def test_a_flag_asks_for_canaries_that_the_plan_does_not_name(command, server, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(plan.read_text().replace("canaries: true\n", ""))
    assert json.loads(command("run", "plan.yaml", "--quiet", "--json")[1])["canaries"] == []
    asked = len(server.requests)
    data = json.loads(command("run", "plan.yaml", "--quiet", "--json", "--canaries")[1])
    assert [one["metric"] for one in data["canaries"]] == ["polite", "groundedness", "faithfulness", "sure", "steady"]
    assert len(server.requests) - asked == data["usage"]["calls"]


def test_a_server_that_is_down_is_a_failure_of_every_item_and_no_score(command, server, tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "version: 1\ndataset: {path: items.jsonl, columns: {answer: reply}}\n"
        'models:\n  main: {model: openai/judge, base_url: "http://127.0.0.1:9/v1", timeout: 0.2}\n'
        "judges: [main]\nbudget: {minutes: 0.005}\nmetrics:\n  - fluency\n"
    )
    code, out = command("run", "plan.yaml", "--quiet", "--json")
    [metric] = json.loads(out)["metrics"]
    assert code == 4
    assert metric["score"]["value"] is None
    assert metric["pass_rate"]["coverage"]["rated"] == 0
    assert sum(metric["pass_rate"]["coverage"]["codes"].values()) == len(ITEMS)
