"""Canaries among the items of a run: asked by the same judges, told apart from the numbers, and in the headline."""

import json
import re

import pytest

from calibrant import EvalInput, MultiOutputBaseMetric, ScriptedInvoker
from calibrant.errors import InputError, JudgeReplyError
from calibrant.metrics import FaithfulnessMetric, RubricMetric, canaries_for, metric, shipped_canaries
from calibrant.readers.plan import read_plan
from calibrant.report import html_report
from calibrant.runs import RunSettings, export, read_export, run
from calibrant.runs.assembly import assembled
from calibrant.runs.canaries import mixed
from calibrant.runs.reopening import kept_run

ITEMS = [{"id": f"i{n}", "answer": f"Answer {n}.", "contexts": [f"Answer {n}."]} for n in range(40)]
FITTING = len(canaries_for(RubricMetric("groundedness")))


def level(score):
    return {"explanation": "As I see it.", "score": score}


def knows(request):
    answer = request.messages[-1].content.rpartition("begin answer]")[2]
    return level(1 if "opens at four" in answer or "antiquity" in answer else 3)


def measured(script, *, canaries=True, items=ITEMS, **settings):
    judge = ScriptedInvoker(script)
    metrics = [RubricMetric("groundedness", models=judge)]
    return run(items, metrics, canaries=canaries, settings=RunSettings(**settings)), judge


def test_the_numbers_of_a_metric_are_those_without_canaries():
    plain, _ = measured(knows, canaries=False)
    mixed_in, judge = measured(knows)
    assert mixed_in.metrics[0].score == plain.metrics[0].score
    assert mixed_in.metrics[0].pass_rate == plain.metrics[0].pass_rate
    assert mixed_in.metrics[0].usage == plain.metrics[0].usage
    assert (mixed_in.id, mixed_in.dataset) == (plain.id, plain.dataset)
    assert len(judge.requests) == len(ITEMS) + FITTING
    assert mixed_in.usage.calls == plain.usage.calls + FITTING
    assert [item.id for item in mixed_in.items()] == [item["id"] for item in ITEMS]
    assert {rating.item for rating in mixed_in.ratings()} == {item["id"] for item in ITEMS}


def test_a_run_whose_canaries_are_right_says_so_apart():
    result, _ = measured(knows)
    [report] = result.canaries
    assert report.passed
    text = str(result)
    assert "CANARIES FAILED" not in text
    assert f"canaries  groundedness: right, {FITTING} of {FITTING} as they should be" in text


def test_a_run_whose_canaries_fail_says_so_in_its_headline():
    result, _ = measured(level(3))
    headline, *rest = str(result).splitlines()
    assert headline.endswith("  CANARIES FAILED: groundedness")
    assert any(line.startswith("canaries  groundedness: FAILED, 2 of") for line in rest)
    assert any("plain-bad: pass 1.000 (>= 0.5), but it is bad" in line for line in rest)
    assert f"  ... and {FITTING - 2 - 3} more" in rest
    assert result.metrics[0].pass_rate.value == 1.0


def test_json_has_the_reports_under_a_key_of_their_own():
    data = json.loads(json.dumps(measured(level(3))[0].to_json(), allow_nan=False))
    [report] = data["canaries"]
    assert (report["metric"], report["passed"]) == ("groundedness", False)
    assert report["right"]["coverage"]["rated"] == FITTING
    assert {"canary": "plain-bad", "said": "pass 1.000 (>= 0.5), but it is bad"} in report["wrong"]
    assert measured(level(3), canaries=False)[0].to_json()["canaries"] == []


def test_the_page_says_it_at_its_beginning_and_lists_them():
    page = html_report(measured(level(3))[0])
    note = page.index("CANARIES FAILED")
    assert note < page.index("<h2")
    assert "groundedness. Items whose verdict is known were judged wrongly." in page
    assert "plain-bad: pass 1.000 (&gt;= 0.5), but it is bad" in page.replace(">=", "&gt;=")
    assert "✕ FAILED" in page
    right = html_report(measured(knows)[0])
    assert "CANARIES FAILED" not in right
    assert "✓ all right" in right
    assert "Canaries" not in html_report(measured(knows, canaries=False)[0])


def test_the_page_does_not_call_right_what_nobody_was_asked_about():
    unasked = html_report(measured(knows, max_minutes=0)[0])
    assert "none was asked about" in unasked
    assert "all right" not in unasked
    some = html_report(measured(knows, max_calls=20, concurrency=1)[0])
    assert re.search(r"✓ all right \(\d+ not asked about\)", some)
    unfit = html_report(run(ITEMS[:2], [metric(lambda item: True, name="brief")], canaries=True))
    assert "none fits it" in unfit


def test_canaries_are_spread_over_the_run():
    order = []

    def watch(request):
        order.append("town library" in request.messages[-1].content)
        return knows(request)

    measured(watch, concurrency=1)
    half = len(order) // 2
    assert sum(order[:half]) in {FITTING // 2, FITTING // 2 + 1}


def test_mixing_keeps_every_chunk_and_turn_in_order():
    found = list(mixed(iter("abcdefg"), [1, 2, 3], 7))
    assert [one for one in found if isinstance(one, str)] == list("abcdefg")
    assert [one for one in found if not isinstance(one, str)] == [1, 2, 3]
    assert list(mixed([], [1], 0)) == []


def test_one_item_is_enough_for_all_canaries():
    result, judge = measured(knows, items=ITEMS[:1])
    assert result.canaries[0].right.coverage.rated == FITTING
    assert len(judge.requests) == 1 + FITTING


def test_every_metric_has_its_own_report_and_one_that_fits_no_canary_says_so():
    def brief(item):
        return True

    judge = ScriptedInvoker(knows)
    result = run(ITEMS[:3], [brief, RubricMetric("groundedness", models=judge)], canaries=True)
    assert [(one.metric, one.right.coverage.total) for one in result.canaries] == [
        ("brief", 0),
        ("groundedness", FITTING),
    ]
    assert "canaries  brief: none fits it" in str(result)
    assert "CANARIES FAILED" not in str(result)


def test_the_system_is_not_asked_for_the_answers_of_canaries():
    asked = []

    def system(item):
        asked.append(item.id)
        return "Answer."

    run(ITEMS[:3], [RubricMetric("groundedness", models=ScriptedInvoker(knows))], system=system, canaries=True)
    assert sorted(asked) == ["i0", "i1", "i2"]


def test_a_judge_that_cannot_answer_fails_its_canaries_and_the_items_stay_rated():
    def script(request):
        if "town library" in request.messages[-1].content:
            raise JudgeReplyError("expected a level, got 'maybe'")
        return level(3)

    result, _ = measured(script)
    assert result.canaries[0].right.coverage.failed == FITTING
    assert "reply_unparsable" in result.canaries[0].wrong[0][1]
    assert result.metrics[0].pass_rate.coverage.failed == 0
    assert "CANARIES FAILED" in str(result).splitlines()[0]


def test_canaries_that_the_budget_left_out_are_not_wrong():
    result, _ = measured(knows, max_calls=20, concurrency=1)
    [report] = result.canaries
    assert result.status == "incomplete"
    assert report.passed
    assert 0 < report.right.coverage.skipped < FITTING
    assert report.right.coverage.codes == {"budget_exhausted": report.right.coverage.skipped}
    assert f"{report.right.coverage.skipped} not asked about" in str(result)


def test_a_run_that_was_stopped_tells_which_canaries_it_did_not_come_to():
    result, _ = measured(knows, max_minutes=0)
    assert result.canaries[0].right.coverage.codes == {"budget_exhausted": FITTING}
    assert f"canaries  groundedness: none of {FITTING} was asked about" in str(result)


def test_a_workspace_keeps_the_report_and_asks_no_canary_twice(tmp_path):
    first, judge = measured(level(3), workspace=tmp_path)
    again, second = measured(level(3), workspace=tmp_path)
    assert (len(judge.requests), len(second.requests)) == (len(ITEMS) + FITTING, 0)
    assert again.canaries == first.canaries
    reopened = kept_run(first.keeper, "latest")
    assert reopened.canaries == first.canaries
    assert str(reopened).splitlines()[0] == str(first).splitlines()[0]


def test_canaries_may_be_added_to_a_run_that_is_done(tmp_path):
    first, _ = measured(knows, canaries=False, workspace=tmp_path)
    again, judge = measured(knows, workspace=tmp_path)
    assert (first.id, len(judge.requests)) == (again.id, FITTING)
    assert again.metrics[0].pass_rate == first.metrics[0].pass_rate


def test_an_exported_run_keeps_what_its_canaries_said(tmp_path):
    result, _ = measured(level(3))
    again = read_export(export(result, tmp_path / "run.jsonl"))
    assert again.canaries == result.canaries
    assert "CANARIES FAILED: groundedness" in str(again)


def test_claim_metrics_meet_canaries_too():
    def script(request):
        text = request.messages[-1].content
        if request.schema and "statements" in request.schema["properties"] and "verdicts" not in str(request.schema):
            return {"statements": ["It opens at nine."]}
        quote = "" if "opens at four" in text else "opens at nine on weekdays"
        return {"verdicts": [{"reason": "r", "quote": quote, "verdict": "fully"}]}

    judge = ScriptedInvoker(script)
    result = run(ITEMS[:2], [FaithfulnessMetric(model=judge)], canaries=True)
    [report] = result.canaries
    assert not report.passed
    assert report.right.coverage.rated == len(canaries_for(FaithfulnessMetric(model=judge)))


def test_a_metric_with_several_outputs_has_no_canaries():
    class Both(MultiOutputBaseMetric):
        name = "groundedness"

        async def _evaluate(self, data):
            return {"a": 1.0}

    result = run(ITEMS[:2], [Both()], canaries=True)
    assert result.canaries[0].right.coverage.total == 0


def test_a_jury_is_asked_as_a_jury():
    judges = [ScriptedInvoker(knows, name=f"j/{n}") for n in range(3)]
    result = run(ITEMS[:2], [RubricMetric("groundedness", models=judges)], canaries=True)
    assert result.canaries[0].passed
    assert [len(judge.requests) for judge in judges] == [2 + FITTING] * 3


def test_the_forecast_counts_the_calls_of_canaries(tmp_path):
    (tmp_path / "data.jsonl").write_text("\n".join(json.dumps(one) for one in ITEMS))
    plan = tmp_path / "plan.yaml"
    text = "version: 1\ndataset: data.jsonl\njudges: [openai/x]\nmetrics: [groundedness]\n"
    plan.write_text(text)
    without = assembled(read_plan(plan)).measurement.forecast
    plan.write_text(text + "canaries: true\n")
    ready = assembled(read_plan(plan))
    assert ready.measurement.canaries == shipped_canaries()
    assert ready.measurement.forecast.calls == without.calls + FITTING == len(ITEMS) + FITTING
    assert ready.measurement.forecast.items == len(ITEMS)
    plan.write_text(text)
    assert assembled(read_plan(plan), canaries=True).measurement.forecast.calls == len(ITEMS) + FITTING


def test_a_plan_names_a_file_of_canaries_beside_it(tmp_path):
    (tmp_path / "data.jsonl").write_text(json.dumps(ITEMS[0]))
    (tmp_path / "mine.jsonl").write_text(
        json.dumps(
            {"id": "rude", "item": {"answer": "Get lost.", "contexts": ["x"]}, "passes": {"groundedness": False}}
        )
    )
    text = "version: 1\ndataset: data.jsonl\njudges: [openai/x]\nmetrics: [groundedness]\ncanaries: mine.jsonl\n"
    plan = tmp_path / "plan.yaml"
    plan.write_text(text)
    ready = assembled(read_plan(plan))
    assert [one.item for one in ready.measurement.canaries] == [
        EvalInput(id="canary:rude", answer="Get lost.", contexts=["x"])
    ]
    plan.write_text(text.replace("mine.jsonl", "none.jsonl"))
    with pytest.raises(InputError, match=re.escape("line 5: there is no file 'none.jsonl' beside the plan")):
        read_plan(plan)
    plan.write_text(text.replace("mine.jsonl", "7"))
    with pytest.raises(InputError, match="line 5: "):
        read_plan(plan)
