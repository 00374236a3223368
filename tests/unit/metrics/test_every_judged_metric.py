"""What holds for every metric that asks a judge: rubrics, claims, criteria of one's own, pairs."""

import asyncio
import copy
import random

import pytest

from calibrant import EvalInput, ScriptedInvoker
from calibrant.errors import ModelCallError
from calibrant.metrics import (
    CustomEvalMetric,
    GEvalMetric,
    PairwiseMetric,
    RubricMetric,
    named_metric,
    rubric_names,
)
from calibrant.models import BaseLMInvoker, Budget, Reply, Request, budgeted
from calibrant.runs import RunSettings, run

CLAIMS = (
    *("answer_relevancy", "bias", "contextual_precision", "contextual_recall", "contextual_relevancy"),
    *("faithfulness", "toxicity"),
)
MAKERS = {
    **{name: lambda judge, name=name, **rest: RubricMetric(name, models=judge, **rest) for name in rubric_names()},
    **{name: lambda judge, name=name, **rest: named_metric(name, models=judge, **rest) for name in CLAIMS},
    "custom_eval": lambda judge, **rest: CustomEvalMetric(criteria="Be kind. Be brief.", models=judge, **rest),
    "g_eval": lambda judge, **rest: GEvalMetric("Kind?", steps=["Look for thanks."], models=judge, **rest),
    "pairwise": lambda judge, **rest: PairwiseMetric(models=judge, **rest),
}
every_metric = pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))

ITEM = EvalInput(
    id="q1",
    query="When does it open, and what does it cost?",
    answer="It opens at ten. It is free.",
    contexts=["Open from ten to six.", "Entry is free."],
    ground_truth="It opens at ten. Entry is free.",
    answer_a="At ten.",
    answer_b="I do not know.",
)


def answered(request, *, level=3, word="fully", better="first"):
    """A right reply to whatever a shipped metric asks: as many verdicts as there are statements or contexts."""
    wanted = request.schema["properties"]
    text = request.messages[-1].content
    if "better" in wanted:
        return {"explanation": "So it is.", "better": better if "begin first answer]\nAt ten" in text else "second"}
    if "score" in wanted:
        return {"explanation": "So it is.", "score": level}
    if set(wanted) == {"statements"}:
        return {"statements": ["One.", "Two."]}
    said = {"reason": "So it is.", "quote": "", "verdict": word}
    if "statements" in wanted:
        return {"statements": ["One.", "Two."], "verdicts": [said] * 2}
    return {"verdicts": [said] * (text.count(" begin context ") or 2)}


def evaluated(metric, item=ITEM):
    return asyncio.run(metric.evaluate(item))


@every_metric
def test_a_right_reply_is_a_score_with_its_reason(make):
    result = evaluated(make(ScriptedInvoker(answered)))
    assert result.error is None
    assert 0.0 <= result.score <= 1.0
    assert result.explanation
    assert len(result.judges[0].call_keys) == result.usage.calls > 0


@every_metric
def test_the_calls_that_were_foretold_are_those_that_are_made(make):
    judge = ScriptedInvoker(answered)
    metric = make(judge)
    evaluated(metric)
    assert len(judge.requests) == metric.estimated_calls(ITEM)
    foretold = metric.estimated_requests(ITEM)
    assert judge.requests[0].messages == foretold[0].messages
    assert [one.schema for one in foretold] == [one.schema for one in judge.requests]


@every_metric
def test_the_same_item_makes_the_same_calls_whatever_was_asked_between(make):
    judge = ScriptedInvoker(answered)
    metric = make(judge)
    first = evaluated(metric)
    evaluated(metric, ITEM.replace(answer="Something else.", answer_a="At ten, then.", query="What?"))
    assert evaluated(metric).judges[0].call_keys == first.judges[0].call_keys


@every_metric
@pytest.mark.parametrize("said", ["no JSON at all", "{}", '{"score": "three"}', "[]", "null"])
def test_a_reply_that_is_none_is_a_failure_and_never_a_score(make, said):
    result = evaluated(make(ScriptedInvoker(said)))
    assert (result.score, result.success, result.error.code) == (None, False, "reply_unparsable")
    assert result.error.message.startswith("expected ")


@every_metric
@pytest.mark.parametrize("code", ["judge_timeout", "provider_error", "judge_unreachable", "reply_truncated"])
def test_what_went_wrong_with_the_judge_keeps_its_code(make, code):
    result = evaluated(make(ScriptedInvoker(ModelCallError("not today", code=code))))
    assert (result.score, result.error.code, result.error.message) == (None, code, "not today")


@every_metric
def test_without_a_needed_field_the_item_is_skipped_and_nobody_is_asked(make):
    judge = ScriptedInvoker(answered)
    metric = make(judge)
    for name in metric.required_fields:
        rest = {key: value for key, value in ITEM.to_json().items() if key != name}
        result = evaluated(metric, EvalInput.from_dict(rest))
        assert (result.status, result.error.code) == ("skipped", "missing_field")
        assert result.error.message == f"item 'q1' lacks {name}, which {metric.name} needs"
        assert metric.estimated_calls(EvalInput.from_dict(rest)) == 0
    assert judge.requests == []


@every_metric
def test_a_call_past_the_budget_is_not_made_and_the_item_is_skipped(make):
    judge = ScriptedInvoker(answered)
    result = evaluated(make(budgeted(judge, Budget(calls=0))))
    assert (result.status, result.error.code, judge.requests) == ("skipped", "budget_exhausted", [])


@every_metric
@pytest.mark.parametrize("size", range(2, 10))
def test_a_jury_of_two_to_nine_different_judges_has_a_vote_of_each(make, size):
    jury = [ScriptedInvoker(answered, name=f"judge/{place}") for place in range(size)]
    result = evaluated(make(jury))
    assert [vote.rater for vote in result.judges] == [one.name for one in jury]
    assert [vote.slot for vote in result.judges] == list(range(size))
    assert len({vote.value for vote in result.judges}) == 1
    assert result.details["agreement"] == 1.0


@every_metric
def test_one_failed_judge_of_three_is_told_and_two_are_too_many(make):
    broken = ScriptedInvoker(ModelCallError("down", code="provider_error"), name="broken")
    fine = [ScriptedInvoker(answered, name=f"fine/{place}") for place in range(2)]
    result = evaluated(make([*fine, broken]))
    assert result.error is None
    assert [vote.status for vote in result.judges] == ["rated", "rated", "failed"]
    lost = evaluated(make([fine[0], broken, broken]))
    assert (lost.score, lost.error.code) == (None, "quorum_not_met")
    assert "1 of 3 judges answered, 2 are needed (2 provider_error" in lost.error.message


@every_metric
def test_repeats_say_how_much_the_ratings_of_one_item_differ(make):
    judge = ScriptedInvoker(answered)
    metric = make(judge, repeats=3)
    result = evaluated(metric)
    assert len(judge.requests) == metric.estimated_calls(ITEM)
    told = result.details["repeats"]
    assert (told["asked"], told["variance"], told["flip_rate"]) == (3, 0.0, 0.0)
    assert told["scores"] == [result.score] * 3
    assert len({request.slot for request in judge.requests}) == 3


@every_metric
def test_strict_mode_lets_nothing_but_the_best_count(make):
    best = evaluated(make(ScriptedInvoker(answered)))
    middling = evaluated(
        make(
            ScriptedInvoker(lambda request: answered(request, level=2, word="partial", better="second")),
            strict_mode=True,
        )
    )
    worst = 0.0 if best.higher_is_better else 1.0
    assert (middling.score, middling.success) == (worst, False)


@every_metric
def test_the_instrument_is_the_same_for_a_copy_and_another_for_another_judge(make):
    metric = make(ScriptedInvoker(answered))
    assert make(ScriptedInvoker(answered)).instrument == copy.copy(metric).instrument == metric.instrument
    assert make(ScriptedInvoker(answered, name="other/judge")).instrument != metric.instrument
    assert make(ScriptedInvoker(answered), threshold=0.123).instrument != metric.instrument
    assert make(ScriptedInvoker(answered), repeats=2).instrument != metric.instrument


@every_metric
def test_the_text_of_an_item_stands_in_the_users_message_alone(make):
    judge = ScriptedInvoker(answered)
    word = "xyzzy-1234"
    marked = {name: f"{value} {word}" for name, value in ITEM.to_json().items() if isinstance(value, str)}
    evaluated(make(judge), EvalInput.from_dict({**marked, "id": "q1", "contexts": [f"Open from ten. {word}"]}))
    for request in judge.requests:
        system, user = request.messages
        assert (system.role, user.role) == ("system", "user")
        assert word not in system.content
        assert "data to be judged" in system.content


@every_metric
def test_a_run_keeps_its_ratings_and_asks_nothing_twice(make, tmp_path):
    judge = ScriptedInvoker(answered)
    settings = RunSettings(workspace=tmp_path)
    first = run([ITEM], [make(judge)], settings=settings)
    asked = len(judge.requests)
    again = run([ITEM], [make(judge)], settings=settings)
    assert len(judge.requests) == asked == first.usage.calls
    assert again.metrics[0].score == first.metrics[0].score
    assert [rating.value for rating in again.ratings()] == [rating.value for rating in first.ratings()]


class Unsteady(BaseLMInvoker):
    """Answers after a while of its own, by what is asked: a metric that kept something between items would mix them."""

    name = "test/unsteady"

    async def invoke(self, request: Request) -> Reply:
        text = request.messages[-1].content
        for _ in range(len(text) % 7):
            await asyncio.sleep(0)
        number = sum(map(ord, text))
        words = ["fully", "mostly", "partial", "minor", "none"]
        said = answered(
            request, level=number % 3 + 1, word=words[number % 5], better=["first", "second", "tie"][number % 3]
        )
        return Reply(text="", data=said)


@every_metric
def test_many_items_at_once_in_any_order_score_as_one_at_a_time(make):
    metric = make(Unsteady())
    items = [
        EvalInput.from_dict(
            {**ITEM.to_json(), "id": str(n), "answer": f"Answer {n}.", "query": f"{n}?", "ground_truth": f"{n}!"}
        )
        for n in range(60)
    ]
    alone = {item.id: evaluated(metric, item).score for item in items}
    random.Random(5).shuffle(items)
    together = asyncio.run(metric.evaluate(items))
    assert [one.score for one in together] == [alone[item.id] for item in items]
