"""What `--json` prints, key by key as the interface says; and the forecast and the warnings beside it."""

import json

import pytest

from calibrant import ScriptedInvoker
from calibrant.errors import JudgeReplyError
from calibrant.metrics import RubricMetric
from calibrant.runs import RunSettings, run
from calibrant.runs.forecasting import Forecast
from calibrant.runs.preparation import measurement

ITEMS = [{"id": f"i{n}", "answer": f"Answer {n}.", "contexts": [f"c{n}"]} for n in range(20)]
ESTIMATE = {"value", "lower", "upper", "level", "method", "n", "coverage", "worst_case", "reason"}
COVERAGE = {"rated", "failed", "skipped", "not_applicable", "codes"}
TOP = {"schema", "run", "status", "exit_code", "dataset", "metrics", "gates", "usage", "warnings"}
METRIC = {"name", "instrument", "judges", "scoring", "pass_rate", "score", "corrected_pass_rate"}


def judge(*, fails=()):
    def script(request):
        text = request.messages[-1].content
        if any(f"Answer {n}." in text for n in fails):
            raise JudgeReplyError("expected a level, got 'maybe'")
        return {"explanation": "Fine.", "score": 3}

    return RubricMetric("groundedness", models=ScriptedInvoker(script, name="openai/gpt-x"))


@pytest.fixture(scope="module")
def data():
    result = run(ITEMS, [judge(fails=(3,))], gates=["groundedness.pass_rate >= 0.95", "coverage >= 0.5"])
    return json.loads(json.dumps(result.to_json(), allow_nan=False))


def test_the_run_has_the_keys_of_the_interface(data):
    assert set(data) >= TOP
    assert (data["schema"], data["status"], data["exit_code"]) == ("calibrant.run/1", "complete", 3)
    assert set(data["dataset"]) == {"name", "n", "hash"}
    assert (data["dataset"]["n"], data["dataset"]["hash"][:7]) == (20, "sha256:")


def test_a_metric_has_the_keys_of_the_interface(data):
    (metric,) = data["metrics"]
    assert set(metric) >= METRIC
    assert (metric["name"], metric["judges"], metric["scoring"]) == ("groundedness", ["openai/gpt-x"], "single")
    assert metric["instrument"].startswith("sha256:")
    assert metric["corrected_pass_rate"] is None


@pytest.mark.parametrize("name", ["pass_rate", "score"])
def test_an_estimate_has_its_interval_its_n_its_coverage_and_its_worst_case(data, name):
    estimate = data["metrics"][0][name]
    assert set(estimate) == ESTIMATE
    assert set(estimate["coverage"]) == COVERAGE
    assert estimate["coverage"]["codes"] == {"reply_unparsable": 1}
    assert (estimate["n"], estimate["level"], estimate["worst_case"]) == (19, 0.95, [0.95, 1.0])
    assert 0 <= estimate["lower"] <= estimate["value"] <= estimate["upper"] <= 1


def test_a_gate_has_its_answer_and_what_would_settle_it(data):
    assert [set(gate) for gate in data["gates"]] == [{"gate", "answer", "more_items", "reason"}] * 2
    assert [(gate["gate"], gate["answer"]) for gate in data["gates"]] == [
        ("groundedness.pass_rate >= 0.95", "INCONCLUSIVE"),
        ("coverage >= 0.5", "PASS"),
    ]


def test_usage_and_failures_are_there_in_numbers_and_words(data):
    assert set(data["usage"]) >= {"calls", "cached", "input_tokens", "output_tokens", "usd"}
    (cause,) = data["metrics"][0]["failures"]
    assert (cause["code"], cause["count"], cause["item"]) == ("reply_unparsable", 1, "i3")
    assert "expected a level, got 'maybe'" in cause["message"]


def test_a_system_and_clusters_are_there_when_the_run_has_them():
    rows = [{"id": str(n), "customer": str(n % 5)} for n in range(20)]
    result = run(rows, [lambda item: True], system=lambda item: "Yes.", settings=RunSettings(cluster="customer"))
    data = result.to_json()
    assert data["dataset"]["clusters"] == 5
    assert set(data["system"]) == {"name", "calls", "cached", "failed", "latency"}


def test_a_run_without_numbers_has_null_and_a_reason():
    result = run(ITEMS[:2], [judge(fails=(0, 1))])
    data = json.loads(json.dumps(result.to_json(), allow_nan=False))
    estimate = data["metrics"][0]["pass_rate"]
    assert (estimate["value"], estimate["lower"], estimate["reason"]) == (None, None, "no item was rated")
    remedy = "name a judge that keeps to the form it is asked for"
    assert f"groundedness: no item was rated (2 reply_unparsable); {remedy}" in data["warnings"]
    assert (data["exit_code"], data["status"]) == (3, "complete")


@pytest.mark.parametrize(("failing", "warned"), [((), False), ((1,), True), (tuple(range(10)), True)])
def test_two_failures_in_a_hundred_are_worth_a_warning(failing, warned):
    warnings = run(ITEMS, [judge(fails=[10 + n for n in failing])]).warnings
    assert any("could not be rated; the pass rate lies between" in text for text in warnings) == warned


def test_a_rare_failure_is_in_the_numbers_and_no_warning():
    items = [{"id": str(n), "answer": f"Answer {n}.", "contexts": ["c"]} for n in range(100)]
    result = run(items, [judge(fails=(70,))])
    assert (result.warnings, result.metrics[0].pass_rate.coverage.failed) == ((), 1)


@pytest.mark.parametrize(
    ("answers", "complete", "code"),
    [
        ([], True, 0),
        (["judge.score >= 0"], True, 0),
        (["judge.failing_items > 5"], True, 1),
        (["judge.pass_rate >= 0.9"], True, 3),
        (["judge.pass_rate >= 0.9", "judge.failing_items > 5"], True, 1),
        (["judge.failing_items > 5"], False, 4),
    ],
)
def test_the_exit_code_says_the_worst_that_is_known(answers, complete, code):
    settings = RunSettings(max_minutes=None if complete else 0)
    assert run(ITEMS[:5], [_named("judge")], gates=answers, settings=settings).exit_code == code


def _named(name):
    def judge(item):
        return True

    judge.__name__ = name
    return judge


def test_coverage_of_a_run_is_over_all_that_was_asked():
    result = run(ITEMS, [judge(fails=range(5)), _named("other")])
    assert result.coverage == pytest.approx(35 / 40)


def test_a_forecast_counts_every_judge_of_every_metric():
    priced = ScriptedInvoker({"explanation": "", "score": 3}, name="openai/x")
    jury = RubricMetric("groundedness", models=[priced, priced, priced], name="jury")
    asked = measurement(ITEMS, [jury, judge(), _named("rule")], None, RunSettings())
    found = asked.forecast
    assert (found.items, found.calls, found.system_calls) == (20, 80, 0)
    assert found.input_tokens > found.calls
    assert found.to_json()["usd"] == found.usd


def test_a_forecast_is_what_the_run_takes():
    metric = judge()
    expected = measurement(ITEMS, [metric], None, RunSettings()).forecast
    taken = run(ITEMS, [metric]).usage
    assert expected.calls == taken.calls == 20


def test_items_that_lack_a_field_are_not_expected_to_cost():
    items = [{"id": str(n), **({"answer": "a", "contexts": ["c"]} if n % 2 else {})} for n in range(10)]
    assert measurement(items, [judge()], None, RunSettings()).forecast.calls == 5


@pytest.mark.parametrize(
    ("forecast", "told"),
    [
        (Forecast(items=3, calls=0), "3 items, no calls to models"),
        (Forecast(items=1200, calls=0, system_calls=1200), "1,200 items, 1,200 calls to the system"),
        (
            Forecast(items=2, calls=4, input_tokens=1000, output_tokens=800, usd=None),
            "2 items, about 4 calls to judges, about 1,000 tokens read and 800 written, price unknown",
        ),
        (
            Forecast(items=2, calls=4, usd=0.01234567),
            "2 items, about 4 calls to judges, about 0 tokens read and 0 written, about $0.01235",
        ),
    ],
)
def test_a_forecast_is_one_line(forecast, told):
    assert str(forecast) == told
