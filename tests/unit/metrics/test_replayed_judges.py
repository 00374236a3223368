"""Prompts and parsing against recorded replies: a prompt that changes no longer finds its reply.

`recorded_judges.jsonl` is what the offline judge (SmolLM2) said. It judges like a coin and makes no statements, so
nothing here says that a verdict is right: only that what was asked is what is asked now, and that what was answered is
what comes out. `written_judges.jsonl` has replies that were written by hand, for the calls that it has no reply to.
After a change of a prompt, `python tests/unit/metrics/test_replayed_judges.py` makes both anew (ten minutes; needs
the model).
"""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from calibrant import EvalInput, Failure, ScriptedInvoker
from calibrant.aggregation import VERDICT_WEIGHTS, score_agg
from calibrant.metrics import (
    CustomEvalMetric,
    GEvalMetric,
    PairwiseMetric,
    RubricMetric,
    named_metric,
    rubric_names,
)
from calibrant.models import ReplayInvoker

RECORDED = Path(__file__).with_name("recorded_judges.jsonl")
WRITTEN = Path(__file__).with_name("written_judges.jsonl")
ITEM = EvalInput(
    id="library",
    query="When does the library open, and what does a card cost?",
    answer="It opens at nine on weekdays. A card costs 12 euros a year.",
    contexts=["The library opens at nine on weekdays and at ten on Saturdays.", "A card is 12 euros a year."],
    ground_truth="At nine on weekdays, at ten on Saturdays. A card is 12 euros a year.",
    answer_a="At nine; a card costs 12 euros.",
    answer_b="I would have to look it up.",
)
SPLITTING = ("answer_relevancy", "bias", "contextual_recall", "contextual_relevancy", "faithfulness", "toxicity")
VERDICTS = [
    {"reason": "The first context says so.", "quote": "opens at nine on WEEKDAYS", "verdict": "fully"},
    {"reason": "Nothing is said of fees.", "quote": "a fee of two euros", "verdict": "minor"},
]
STEPS = ["Look for what was asked.", "Count the sentences that do not answer it."]


def rubrics_and_pairs(judge):
    """What the offline judge gave an answer to, in every form of call but the claims'."""
    return {
        **{name: RubricMetric(name, models=judge) for name in rubric_names()},
        "groundedness, weighted": RubricMetric("groundedness", models=judge, scoring="weighted"),
        "fluency, sampled": RubricMetric("fluency", models=judge, scoring="sampled", samples=2),
        "pairwise": PairwiseMetric(models=judge),
    }


def claims(judge):
    """The metrics that are made of statements or steps, which the offline judge does not make."""
    return {
        **{name: named_metric(name, models=judge) for name in (*SPLITTING, "contextual_precision")},
        **{f"{name}, one call": named_metric(name, models=judge, calls=1) for name in SPLITTING},
        "custom_eval": CustomEvalMetric(criteria="It is brief. It is kind.", models=judge),
    }


def g_eval(judge):
    return GEvalMetric("The answer is brief and to the point.", models=judge)


def replies(recording):
    rows = map(json.loads, recording.read_text("utf-8").splitlines())
    return {row["call_key"]: row["reply"] for row in rows}


def replayed(metric, recording):
    """The result of the item, and the replies that it was made of."""
    result = asyncio.run(metric.evaluate(ITEM))
    assert result.error is None or result.error.code != "not_in_store", result.error
    known = replies(recording)
    return result, [known[key]["data"] or known[key] for key in result.judges[0].call_keys]


@pytest.mark.parametrize("name", rubric_names())
def test_a_rubrics_prompt_finds_its_reply_and_the_level_is_read(name):
    result, [said] = replayed(rubrics_and_pairs(ReplayInvoker(RECORDED))[name], RECORDED)
    assert (result.rubric_score, result.explanation) == (said["score"], said["explanation"])
    assert result.score == (said["score"] - 1) / 2
    assert result.details["reply_mode"] == "json_schema"


def test_weighted_scoring_finds_the_probabilities_of_a_real_model():
    metric = rubrics_and_pairs(ReplayInvoker(RECORDED))["groundedness, weighted"]
    result = asyncio.run(metric.evaluate(ITEM))
    reply = replies(RECORDED)[result.judges[0].call_keys[0]]
    masses = reply["label_probs"]
    expected = sum(masses[label] * level for level, label in enumerate("ABC", 1)) / sum(masses.values())
    assert result.rubric_score == pytest.approx(expected)
    assert result.details["off_label_mass"] == reply["off_label_mass"]
    # Asked freely, the small model would not have answered with a label at all.
    assert result.details["off_label_mass"] > 0.5


def test_sampled_scoring_finds_each_sample():
    result, said = replayed(rubrics_and_pairs(ReplayInvoker(RECORDED))["fluency, sampled"], RECORDED)
    levels = [one["score"] for one in said]
    assert sorted(result.details["sampled_levels"]) == sorted(levels)
    assert result.rubric_score == pytest.approx(sum(levels) / 2)


def test_a_pair_finds_both_of_its_orders():
    result, said = replayed(rubrics_and_pairs(ReplayInvoker(RECORDED))["pairwise"], RECORDED)
    assert result.details["choices"] == [one["better"] for one in said]
    assert len(set(result.judges[0].call_keys)) == 2


def test_a_small_model_that_loses_count_of_the_contexts_is_a_failure():
    result, [said] = replayed(claims(ReplayInvoker(RECORDED))["contextual_precision"], RECORDED)
    assert len(said["verdicts"]) != 2
    problem = f"expected 2 verdicts, one for each context, got {len(said['verdicts'])}"
    assert result.error == Failure(code="verdict_count", message=problem)


@pytest.mark.parametrize("name", claims(None))
def test_a_claim_metrics_prompts_find_their_replies_and_the_verdicts_are_read(name):
    metric = claims(ReplayInvoker(WRITTEN))[name]
    result, said = replayed(metric, WRITTEN)
    told = result.details["verdicts"]
    words = [one["verdict"] for one in said[-1]["verdicts"]]
    assert [one["verdict"] for one in told] == words == ["fully", "minor"]
    assert [one["reason"] for one in told] == [one["reason"] for one in VERDICTS]
    assert result.score == pytest.approx(score_agg([VERDICT_WEIGHTS[word] for word in words]))
    # The first quotation stands in the contexts and in the answer, the second one nowhere.
    assert [one["quote_found"] for one in told] == ["query" not in metric.evidence, False]


def test_generated_steps_are_found_and_the_rating_rests_on_them():
    metric = g_eval(ReplayInvoker(WRITTEN))
    result, [said] = replayed(metric, WRITTEN)
    assert metric.rubric.steps == tuple(STEPS)
    assert (result.rubric_score, result.explanation) == (said["score"], said["explanation"])


def test_every_recorded_reply_is_replayed():
    """A recording that nobody reads would hide that its prompt is gone."""
    for recording, metrics in ((RECORDED, rubrics_and_pairs), (WRITTEN, claims)):
        made = metrics(ReplayInvoker(recording))
        if recording == RECORDED:
            made["contextual_precision"] = claims(ReplayInvoker(recording))["contextual_precision"]
        used = {key for metric in made.values() for key in replayed(metric, recording)[0].judges[0].call_keys}
        assert len(set(replies(recording)) - used) == (0 if recording == RECORDED else 2)  # the steps and their rating


@pytest.mark.parametrize("metric", [RubricMetric("fluency"), PairwiseMetric(), named_metric("bias", calls=1)])
def test_a_prompt_that_was_not_recorded_is_told_and_is_no_score(metric):
    metric.models = ReplayInvoker(RECORDED)
    other = ITEM.replace(answer="Never recorded.", answer_a="Never recorded.")
    result = asyncio.run(metric.evaluate(other))
    assert (result.score, result.error.code) == (None, "not_in_store")


def written(request):
    """A good reply to whatever is asked, as somebody wrote it down."""
    wanted = request.schema["properties"]
    if "score" in wanted:
        return {"explanation": "Two sentences, and both answer.", "score": 3}
    parts = {"statements": ["It opens at nine.", "There is a fee."], "verdicts": VERDICTS, "steps": STEPS}
    return {name: parts[name] for name in wanted}


def record(path, judge, metrics):
    """Ask `judge` everything anew, and write what it says."""
    import tempfile

    from calibrant.models import wrapped, write_calls
    from calibrant.store.workspace import Workspace

    with tempfile.TemporaryDirectory() as folder, Workspace(folder) as workspace:
        for name, metric in metrics(wrapped(judge, workspace=workspace)).items():
            sys.stderr.write(f"{name}: {asyncio.run(metric.evaluate(ITEM))}\n")
        workspace.flush()
        write_calls(path, workspace.calls())


def record_all():
    from calibrant.models import connect

    def as_written(judge):
        return {**claims(judge), "g_eval": g_eval(judge)}

    def as_judged(judge):
        return {**rubrics_and_pairs(judge), "contextual_precision": claims(judge)["contextual_precision"]}

    record(WRITTEN, ScriptedInvoker(written, name="written/judge"), as_written)
    if "--written" not in sys.argv:
        record(RECORDED, connect("local/smollm2"), as_judged)


if __name__ == "__main__":
    record_all()
