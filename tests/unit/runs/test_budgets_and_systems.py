import asyncio

import pytest

from calibrant import ScriptedInvoker
from calibrant.errors import InputError
from calibrant.metrics import RubricMetric
from calibrant.runs import RunSettings, run

ITEMS = [{"id": f"i{n}", "query": f"Question {n}?", "answer": f"Answer {n}.", "contexts": [f"c{n}"]} for n in range(30)]


def answered(item):
    return item.answer is not None and item.answer.startswith("Answer")


def judge():
    return ScriptedInvoker({"explanation": "", "score": 3})


def groundedness(model):
    return RubricMetric("groundedness", models=model)


def test_a_budget_of_calls_stops_cleanly_with_a_partial_result():
    model = judge()
    result = run(ITEMS, [groundedness(model), answered], settings=RunSettings(max_calls=10))
    coverage = result.metric("groundedness").pass_rate.coverage
    assert (len(model.requests), coverage.rated, coverage.skipped) == (10, 10, 20)
    assert coverage.codes == {"budget_exhausted": 20}
    assert (result.status, result.exit_code) == ("incomplete", 4)
    assert result.metric("answered").pass_rate.n == 30
    assert "20 of 30 items were not reached; the numbers are partial" in result.warnings[0]


def test_a_larger_budget_goes_on_where_the_smaller_ended(tmp_path):
    model = judge()
    first = run(ITEMS, [groundedness(model)], settings=RunSettings(workspace=tmp_path, max_calls=10))
    second = run(ITEMS, [groundedness(model)], settings=RunSettings(workspace=tmp_path))
    assert (first.id, len(model.requests)) == (second.id, 30)
    assert (second.status, second.usage.calls, second.usage.cached) == ("complete", 20, 10)


def test_no_time_at_all_leaves_every_item_to_be_skipped():
    result = run(ITEMS, [answered], settings=RunSettings(max_minutes=0))
    assert result.metric("answered").pass_rate.coverage.codes == {"budget_exhausted": 30}
    assert result.metric("answered").pass_rate.reason == "no item was rated"
    assert result.exit_code == 4


def test_the_system_answers_within_the_run_and_its_exceptions_are_its_own():
    def system(item):
        if item.id == "i3":
            raise ConnectionError("the index is down")
        return f"Answer to {item.query}"

    result = run(ITEMS, [answered], system=system)
    coverage = result.metric("answered").pass_rate.coverage
    assert coverage.codes == {"system_error": 1}
    assert result.metric("answered").failures[0].message == "ConnectionError: the index is down"
    assert (result.system.calls, result.system.failed) == (30, 1)
    assert result.system.latency["p50"] > 0
    assert "system_error" in str(result)


@pytest.mark.parametrize("wrong", [None, {"answer": object()}])
def test_a_system_that_returns_no_answer_has_failed(wrong):
    result = run(ITEMS[:1], [answered], system=lambda item: wrong)
    assert result.metrics[0].pass_rate.coverage.codes == {"system_error": 1}


def test_a_system_that_is_async_is_awaited_and_may_return_fields():
    async def system(item):
        await asyncio.sleep(0)
        return {"answer": "Answer.", "contexts": ["found"]}

    result = run([{"id": "a", "query": "Hi?"}], [groundedness(judge())], system=system)
    assert next(result.items()).contexts == ("found",)
    assert result.metrics[0].pass_rate.n == 1


def test_an_interrupted_system_goes_on_and_a_complete_one_is_measured_anew(tmp_path):
    asked = []

    def system(item):
        asked.append(item.id)
        return "Answer."

    partial = run(ITEMS, [answered], system=system, settings=RunSettings(workspace=tmp_path, max_calls=12))
    assert (len(asked), partial.exit_code) == (12, 4)
    whole = run(ITEMS, [answered], system=system, settings=RunSettings(workspace=tmp_path))
    assert (len(asked), whole.id, whole.system.cached) == (30, partial.id, 12)
    again = run(ITEMS, [answered], system=system, settings=RunSettings(workspace=tmp_path))
    assert (len(asked), again.id) == (60, f"{whole.id}-2")


def test_calls_of_the_system_count_against_the_budget_but_not_as_the_judges():
    result = run(
        ITEMS, [groundedness(judge())], system=lambda item: "Answer.", settings=RunSettings(concurrency=1, max_calls=10)
    )
    assert result.usage.calls + result.system.calls == 10


def test_people_correct_the_pass_rate_and_the_run_says_what_their_labels_are_worth():
    items = [{"id": str(n), "answer": "Answer." if n % 10 < 8 else "No."} for n in range(300)]
    labels = [
        {"item": str(n), "criterion": "answered", "annotator": "kim", "value": "yes" if n % 10 < 6 else "no"}
        for n in range(120)
    ]
    result = run(items, [answered], labels=labels)
    corrected = result.metric("answered").corrected_pass_rate
    assert result.metric("answered").pass_rate.value == 0.8
    assert 0.5 < corrected.value < 0.7
    assert corrected.lower < corrected.value < corrected.upper
    assert any("your 120 labels are worth" in text for text in result.warnings)
    assert "corrected by people 0.6" in str(result)


def test_labels_that_are_wrong_are_named_row_by_row():
    with pytest.raises(InputError, match="item 1: has no criterion, value; a label has item, criterion, annotator"):
        run(ITEMS, [answered], labels=[{"item": "a"}])
    with pytest.raises(InputError, match=r"item 1: value is yes or no, a score in \[0, 1\] or a label, not 3"):
        run(ITEMS, [answered], labels=[{"item": "a", "criterion": "answered", "value": 3}])
    with pytest.raises(InputError, match="the labels are on polite, but the metrics of this run are answered"):
        run(ITEMS, [answered], labels=[{"item": "i1", "criterion": "polite", "value": "yes"}])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"concurrency": 0}, "concurrency is at least 1"),
        ({"max_cost": -1}, "max_cost is a number, 0 or more, not -1"),
        ({"level": 1}, "level is a probability"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        RunSettings(**wrong)
