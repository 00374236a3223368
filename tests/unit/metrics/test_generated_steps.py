"""Steps that a model writes: once for a metric, whatever asks it, and the instrument rests on them."""

import asyncio
import json
from itertools import count

import pytest

from calibrant import EvalInput, ScriptedInvoker
from calibrant.errors import InputError, ModelCallError, RatingError
from calibrant.metrics import GEvalMetric, RubricMetric, read_rubric
from calibrant.runs import RunSettings, compare, run

ITEMS = [{"id": f"i{n}", "answer": f"Answer {n}."} for n in range(5)]
CRITERIA = "The answer is kind."


def writer(name="acme/judge"):
    """A judge that writes other steps whenever it is asked for some."""
    numbers = count(1)

    def script(request):
        if "steps" in request.schema["properties"]:
            return {"steps": [f"Look at it in way {next(numbers)}."]}
        return {"explanation": "x", "score": 3}

    return ScriptedInvoker(script, name=name)


def asked_for_steps(judge):
    return sum("steps" in request.schema["properties"] for request in judge.requests)


def test_one_metric_in_two_runs_has_one_instrument_and_they_compare():
    judge = writer()
    kind = GEvalMetric(CRITERIA, name="kind", models=judge)
    before, after = (run(ITEMS, [kind]) for _ in range(2))
    assert asked_for_steps(judge) == 1
    assert before.metrics[0].spec.instrument == after.metrics[0].spec.instrument
    assert compare(before, after).unlike == ()


def test_the_users_own_metric_settles_on_the_steps_of_its_run():
    judge = writer()
    kind = GEvalMetric(CRITERIA, name="kind", models=judge)
    unsettled = kind.instrument
    result = run(ITEMS, [kind])
    asyncio.run(kind.prepare())
    assert asked_for_steps(judge) == 1
    assert kind.rubric.steps == ("Look at it in way 1.",)
    assert kind.instrument == result.metrics[0].spec.instrument != unsettled


def test_a_workspace_keeps_the_steps_for_the_same_plan_made_anew(tmp_path):
    judge = writer()
    settings = RunSettings(workspace=tmp_path)
    first = run(ITEMS, [GEvalMetric(CRITERIA, name="kind", models=judge)], settings=settings)
    asked = len(judge.requests)
    again = run(ITEMS, [GEvalMetric(CRITERIA, name="kind", models=judge)], settings=settings)
    assert (first.id, len(judge.requests)) == (again.id, asked)
    manifest = again.keeper.manifest(again.id)
    assert manifest["definitions"]["kind"]["rubric"]["steps"] == ["Look at it in way 1."]
    assert json.dumps(manifest, allow_nan=False)


def test_other_steps_are_another_instrument():
    one, other = (GEvalMetric(CRITERIA, name="kind", models=writer(), steps=[step]) for step in ("Look.", "Listen."))
    assert one.instrument != other.instrument
    assert one.instrument == GEvalMetric(CRITERIA, name="kind", models=writer(), steps=["Look."]).instrument


def test_a_jurys_first_judge_writes_the_steps_for_all():
    jury = [writer(f"acme/{n}") for n in range(3)]
    run(ITEMS, [GEvalMetric(CRITERIA, name="kind", models=jury)])
    assert [asked_for_steps(judge) for judge in jury] == [1, 0, 0]
    systems = {request.messages[0].content for judge in jury for request in judge.requests[1:]}
    assert len([text for text in systems if "Look at it in way 1." in text]) == 1


def test_the_writer_sees_the_criterion_the_levels_and_the_names_of_the_fields_and_no_item():
    judge = writer()
    asyncio.run(GEvalMetric(CRITERIA, models=judge).evaluate(EvalInput(answer="SECRET TEXT")))
    system, user = judge.requests[0].messages
    assert "Do not rate anything." in system.content
    assert CRITERIA in user.content
    assert "The judge sees: answer, query, contexts, ground_truth" in user.content
    assert "3: The criterion is met fully." in user.content
    assert "SECRET" not in user.content + system.content


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"steps": []}, "expected a list of steps, got {'steps': []}"),
        ({"steps": [1]}, "expected a list of steps"),
        ("nothing", "expected JSON, got 'nothing'"),
        (ModelCallError("gone", code="unsupported"), "gone"),
    ],
)
def test_a_run_whose_steps_cannot_be_written_says_which_metric_it_is_and_rates_nothing(said, told):
    judge = ScriptedInvoker(said)
    with pytest.raises(RatingError) as failed:
        run(ITEMS, [GEvalMetric(CRITERIA, name="kind", models=judge)])
    assert str(failed.value).startswith("metric 'kind' could not be made ready: ")
    assert told in str(failed.value)
    assert all("steps" in request.schema["properties"] for request in judge.requests)


def test_a_budget_that_does_not_reach_for_the_steps_is_told():
    with pytest.raises(RatingError, match="metric 'kind' could not be made ready: the budget of 0 calls") as failed:
        run(ITEMS, [GEvalMetric(CRITERIA, name="kind", models=writer())], settings=RunSettings(max_calls=0))
    assert failed.value.code == "budget_exhausted"


def test_a_failure_to_write_them_is_tried_again_by_the_next_evaluation():
    replies = iter([{"steps": []}, {"steps": ["Look."]}, {"explanation": "x", "score": 3}])
    kind = GEvalMetric(CRITERIA, models=ScriptedInvoker(lambda request: next(replies)))
    first, second = (asyncio.run(kind.evaluate(EvalInput(answer="x"))) for _ in range(2))
    assert (first.error.code, second.score) == ("reply_unparsable", 1.0)


def test_a_kept_file_is_a_rubric_of_ones_own_and_is_corrected_by_hand(tmp_path):
    path = tmp_path / "rubrics" / "kind.md"
    judge = writer()
    asyncio.run(GEvalMetric(CRITERIA, name="kind", path=path, models=judge).prepare())
    assert read_rubric(path).steps == ("Look at it in way 1.",)
    path.write_text(path.read_text().replace("in way 1", "twice"))
    corrected = GEvalMetric(CRITERIA, name="kind", path=path, models=judge)
    asyncio.run(corrected.prepare())
    assert (corrected.rubric.steps, asked_for_steps(judge)) == (("Look at it twice.",), 1)
    assert RubricMetric(path, models=judge).rubric == corrected.rubric


def test_a_kept_file_for_other_criteria_is_refused(tmp_path):
    path = tmp_path / "kind.md"
    asyncio.run(GEvalMetric(CRITERIA, path=path, models=writer()).prepare())
    with pytest.raises(InputError, match="was written for other criteria, 'The answer is kind.'; delete it, or use"):
        GEvalMetric("The answer is brief.", path=path)


def test_what_the_steps_took_is_told_apart():
    kind = GEvalMetric(CRITERIA, models=writer())
    result = asyncio.run(kind.evaluate(EvalInput(answer="x")))
    assert (kind.preparation.calls, result.usage.calls) == (1, 1)


@pytest.mark.parametrize("scoring", ["single", "sampled"])
def test_every_way_of_scoring_rests_on_the_steps(scoring):
    judge = writer()
    kind = GEvalMetric(CRITERIA, models=judge, scoring=scoring, samples=3)
    assert asyncio.run(kind.evaluate(EvalInput(answer="x"))).score == 1.0
    assert all("Look at it in way 1." in request.messages[0].content for request in judge.requests[1:])
    assert len(judge.requests) == 1 + (3 if scoring == "sampled" else 1)


def test_kept_steps_are_not_passed_off_as_those_of_another_name_or_other_fields(tmp_path):
    path = tmp_path / "kind.md"
    asyncio.run(GEvalMetric(CRITERIA, name="kind", path=path, models=writer()).evaluate(EvalInput(answer="Hello!")))
    assert GEvalMetric(CRITERIA, path=path).name == "kind"
    assert GEvalMetric(CRITERIA, path=path, fields="answer").rubric.steps == ("Look at it in way 1.",)
    for settings, problem in [
        ({"name": "warm"}, "kind.md has the criterion 'kind', and 'warm' is asked for"),
        ({"fields": ["query"]}, r"has the fields \('answer',\), and \('query',\) is asked for"),
    ]:
        with pytest.raises(InputError, match=problem):
            GEvalMetric(CRITERIA, path=path, **settings)


def test_one_field_and_one_step_need_no_list():
    metric = GEvalMetric(CRITERIA, fields="query", steps="Look for a greeting.")
    assert (metric.rubric.fields, metric.rubric.steps) == (("query",), ("Look for a greeting.",))
    assert metric.required_fields == {"query"}


def test_an_empty_step_is_refused():
    with pytest.raises(InputError, match="steps: step 2 is empty"):
        GEvalMetric(CRITERIA, steps=["Look.", " "])
