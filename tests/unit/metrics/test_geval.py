"""The shipped rubric classes, and the metric made of a one-line criterion."""

import asyncio

import pytest

from calibrant import AggregationMethod, EvalInput, ScriptedInvoker
from calibrant.errors import InputError, ModelCallError
from calibrant.metrics import GEvalCompletenessMetric, GEvalMetric, RubricMetric, geval, read_rubric, rubric_names
from calibrant.metrics.geval import ShippedRubricMetric

CLASSES = [getattr(geval, name) for name in geval.__all__ if name != "ShippedRubricMetric"]
FULL = EvalInput(query="Open?", answer="Until six.", contexts=["Open until six."], ground_truth="Until 18:00.")


def level(score, why="Because."):
    return {"explanation": why, "score": score}


def test_every_shipped_rubric_is_a_class():
    assert sorted(one.rubric_name for one in CLASSES) == rubric_names()
    assert all(issubclass(one, ShippedRubricMetric) for one in CLASSES)


@pytest.mark.parametrize("made", CLASSES)
def test_a_class_says_what_its_rubric_says(made):
    rubric = read_rubric(made.rubric_name)
    assert made.name == rubric.criterion
    assert made.required_fields == set(rubric.fields)
    assert made.higher_is_better is rubric.higher_is_better
    assert made().threshold == 0.5


@pytest.mark.parametrize("made", CLASSES)
def test_a_class_rates_an_item(made):
    result = asyncio.run(made(model=ScriptedInvoker(level(3))).evaluate(FULL))
    assert (result.score, result.rubric_score, result.success) == (1.0, 3, made.higher_is_better)


def test_one_judge_the_same_three_times_and_three_different_ones():
    first, second, third = (ScriptedInvoker(level(score), name=f"m{score}") for score in (1, 2, 3))
    assert asyncio.run(GEvalCompletenessMetric(models=first).evaluate(FULL)).rubric_score == 1
    thrice = GEvalCompletenessMetric(models=[second] * 3)
    thrice.aggregation_method = AggregationMethod.MEDIAN
    assert asyncio.run(thrice.evaluate(FULL)).rubric_score == 2
    jury = GEvalCompletenessMetric(models=[first, third, third])
    jury.aggregation_method = AggregationMethod.MAJORITY_VOTE
    result = asyncio.run(jury.evaluate(FULL))
    assert (result.rubric_score, result.details["score_distribution"]) == (3, {0.0: 1, 1.0: 2})


def test_a_class_and_its_rubric_by_name_give_the_same_scores():
    named = asyncio.run(RubricMetric("completeness", models=ScriptedInvoker(level(2))).evaluate(FULL))
    classed = asyncio.run(GEvalCompletenessMetric(models=ScriptedInvoker(level(2))).evaluate(FULL))
    assert named.score == classed.score


class Writer:
    """Answers the request for steps with steps, and everything else with a level."""

    def __init__(self):
        self.asked_for_steps = 0

    def __call__(self, request):
        if "steps" in request.schema["properties"]:
            self.asked_for_steps += 1
            return {"steps": ["Look for thanks.", " Look for a greeting. "]}
        return level(3 if "2. Look for a greeting." in request.messages[0].content else 1)


def test_steps_are_written_once_before_the_first_item():
    writer = Writer()
    metric = GEvalMetric("The answer is polite.", name="polite", models=ScriptedInvoker(writer, delay=0.001))
    results = asyncio.run(metric.evaluate([FULL] * 20))
    assert {one.score for one in results} == {1.0}
    assert writer.asked_for_steps == 1
    assert metric.preparation.calls == 1
    assert metric.rubric.steps == ("Look for thanks.", "Look for a greeting.")


def test_tasks_that_start_together_share_the_steps_and_a_later_loop_does_too():
    writer = Writer()
    metric = GEvalMetric("The answer is polite.", models=[ScriptedInvoker(writer, delay=0.001)] * 3)

    async def together():
        return await asyncio.gather(*(metric.evaluate(FULL) for _ in range(5)))

    assert {one.score for one in asyncio.run(together())} == {1.0}
    assert asyncio.run(metric.evaluate(FULL)).score == 1.0
    assert writer.asked_for_steps == 1


def test_the_steps_are_part_of_the_instrument_and_settled_by_prepare():
    metric = GEvalMetric("The answer is polite.", models=ScriptedInvoker(Writer()))
    before = metric.instrument
    asyncio.run(metric.prepare())
    after = metric.instrument
    assert before != after
    result = asyncio.run(metric.evaluate(FULL))
    assert result.judges[0].instrument == after


def test_steps_of_ones_own_are_taken_as_they_are():
    writer = Writer()
    metric = GEvalMetric("Polite?", steps=["a", "Look for a greeting."], models=ScriptedInvoker(writer))
    assert asyncio.run(metric.evaluate(FULL)).score == 1.0
    assert writer.asked_for_steps == 0


def test_the_steps_are_kept_in_a_file_and_read_from_it(tmp_path):
    path = tmp_path / "rubrics" / "polite.md"
    writer = Writer()
    first = GEvalMetric("Polite?", name="polite", path=path, models=ScriptedInvoker(writer))
    asyncio.run(first.evaluate(FULL))
    second = GEvalMetric("Polite?", name="polite", path=path, models=ScriptedInvoker(writer))
    asyncio.run(second.evaluate(FULL))
    assert writer.asked_for_steps == 1
    assert first.instrument == second.instrument
    assert RubricMetric(path).rubric == first.rubric
    with pytest.raises(InputError, match=r"polite\.md was written for other criteria, 'Polite\?'"):
        GEvalMetric("Brief?", path=path)


@pytest.mark.parametrize("said", [{"steps": []}, {"steps": [" "]}, {"steps": "one"}, "[]", {"explanation": "x"}])
def test_steps_that_are_none_fail_the_item_and_are_asked_for_again(said):
    judge = ScriptedInvoker([said, {"steps": ["Look."]}, level(3)])
    metric = GEvalMetric("Polite?", models=judge)
    failed = asyncio.run(metric.evaluate(FULL))
    assert failed.error.code == "reply_unparsable"
    assert "expected a list of steps" in failed.error.message
    assert asyncio.run(metric.evaluate(FULL)).score == 1.0


def test_a_judge_that_cannot_be_reached_for_the_steps_is_a_failure():
    metric = GEvalMetric("Polite?", models=ScriptedInvoker(ModelCallError("down", code="judge_unreachable")))
    assert asyncio.run(metric.evaluate(FULL)).error.code == "judge_unreachable"


def test_empty_criteria_are_refused():
    with pytest.raises(InputError, match="criteria is a text"):
        GEvalMetric("  ")


def test_fields_of_ones_own_are_needed_and_shown():
    judge = ScriptedInvoker(level(3))
    metric = GEvalMetric("Right?", fields=["answer", "ticket"], steps=["Look."], models=judge)
    item = EvalInput(answer="Yes.", ticket="T-1", query="hidden")
    assert asyncio.run(metric.evaluate(item)).score == 1.0
    assert "T-1" in judge.requests[0].messages[1].content
    assert "hidden" not in judge.requests[0].messages[1].content
    assert asyncio.run(metric.evaluate(FULL)).error.code == "missing_field"
