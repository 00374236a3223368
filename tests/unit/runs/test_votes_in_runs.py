"""Items with several votes in a run: how often two of them disagree, how far they lie apart, and what is foretold."""

import json

import pytest

from calibrant import ScriptedInvoker
from calibrant.metrics import GEvalMetric, RubricMetric, metric, stability
from calibrant.runs import RunSettings, run
from calibrant.runs.preparation import measurement
from calibrant.runs.reopening import kept_run

ITEMS = [{"id": f"i{n}", "answer": f"Answer {n}."} for n in range(4)]


def wavering(request):
    """Gives the first two items 3 always, and the others 3 and 1 in turns, by the slot that is asked."""
    number = int(request.messages[-1].content.split("Answer ")[1][0])
    return {"explanation": "x", "score": 3 if number < 2 or request.slot % 2 == 0 else 1}


def test_repeats_in_a_run_have_their_flip_rate_and_their_variance():
    result = run(ITEMS, [RubricMetric("fluency", models=ScriptedInvoker(wavering), repeats=4)])
    [summary] = result.metrics
    # Of the four votes on each of two items two pass: pairs that disagree are 4 of 6, and the variance is 1/3.
    assert summary.flip_rate == pytest.approx(0.5 * 4 / 6)
    assert summary.vote_variance == pytest.approx(0.5 / 3)
    assert "two votes disagree on 33.3%, their variance within an item is 0.167" in str(result)
    data = json.loads(json.dumps(result.to_json(), allow_nan=False))["metrics"][0]
    assert (data["flip_rate"], data["vote_variance"]) == (summary.flip_rate, summary.vote_variance)


def test_they_are_what_the_results_themselves_say():
    import asyncio

    from calibrant import EvalInput

    fluency = RubricMetric("fluency", models=ScriptedInvoker(wavering), repeats=4)
    found = stability(asyncio.run(fluency.evaluate([EvalInput.from_dict(item) for item in ITEMS])))
    [summary] = run(ITEMS, [fluency]).metrics
    assert summary.flip_rate == pytest.approx(found.flip_rate.value)
    assert summary.vote_variance == pytest.approx(found.variance.value)


def test_a_jurys_votes_count_like_repeats_and_one_vote_says_nothing():
    jury = [ScriptedInvoker({"explanation": "x", "score": level}, name=f"j/{level}") for level in (1, 3)]
    [divided] = run(ITEMS, [RubricMetric("fluency", models=jury, aggregation_method="average")]).metrics
    assert (divided.flip_rate, divided.vote_variance) == (1.0, pytest.approx(0.5))
    [lone] = run(ITEMS, [RubricMetric("fluency", models=jury[0])]).metrics
    assert (lone.flip_rate, lone.vote_variance) == (None, None)
    [labelled] = run(ITEMS, [metric(lambda item: "a", name="l", repeats=3, passing_labels=frozenset("a"))]).metrics
    assert labelled.vote_variance is None


def test_a_run_that_is_opened_again_counts_the_same(tmp_path):
    fluency = RubricMetric("fluency", models=ScriptedInvoker(wavering), repeats=4)
    result = run(ITEMS, [fluency], settings=RunSettings(workspace=tmp_path))
    again = kept_run(result.keeper, "latest").metrics[0]
    assert again.vote_variance == pytest.approx(result.metrics[0].vote_variance)
    assert again.flip_rate == pytest.approx(result.metrics[0].flip_rate)


def test_the_call_for_generated_steps_is_foretold_until_it_was_made():
    def script(request):
        return {"steps": ["Look."]} if "steps" in request.schema["properties"] else {"explanation": "x", "score": 3}

    judge = ScriptedInvoker(script)
    kind = GEvalMetric("Kind?", name="kind", models=judge, repeats=2)
    asked = measurement(ITEMS, [kind], None, RunSettings())
    assert asked.forecast.calls == 2 * len(ITEMS) + 1
    run(ITEMS, [kind])
    assert len(judge.requests) == 2 * len(ITEMS) + 1
    assert measurement(ITEMS, [kind], None, RunSettings()).forecast.calls == 2 * len(ITEMS)
    assert GEvalMetric("Kind?", steps=["Look."]).preparing_requests() == []
    assert RubricMetric("fluency").preparing_requests() == []
