"""Claim metrics: splitting, verdicts, quotations, and each failure."""

import asyncio
import json
import re

import pytest
from provider_server import ProviderServer

from calibrant import EvalInput, ScriptedInvoker
from calibrant.errors import InputError, ModelCallError, RatingError, UnknownNameError
from calibrant.metrics import (
    AnswerRelevancyMetric,
    BiasMetric,
    ContextualPrecisionMetric,
    ContextualRecallMetric,
    ContextualRelevancyMetric,
    CustomEvalMetric,
    FaithfulnessMetric,
    GEvalMetric,
    PairwiseMetric,
    ToxicityMetric,
)
from calibrant.metrics.claim_replies import CLAIM_SCHEMAS
from calibrant.models import connect, wrapped
from calibrant.retrieval import LLMRAGEvaluator

ITEM = EvalInput(
    id="q1",
    query="When is it open?",
    answer="It opens at ten and entry is free.",
    contexts=["Open from ten to six.", "Closed on Mondays."],
    ground_truth="From ten to six, but not on Mondays.",
)
SPLIT = {"statements": ["It opens at ten.", "Entry is free."]}
KINDS = [
    FaithfulnessMetric,
    AnswerRelevancyMetric,
    ContextualRecallMetric,
    ContextualRelevancyMetric,
    BiasMetric,
    ToxicityMetric,
]


def verdict(word, quote="", reason="So it is."):
    return {"reason": reason, "quote": quote, "verdict": word}


def verdicts(*words):
    return {"verdicts": [verdict(word) for word in words]}


def evaluated(metric, item=ITEM):
    return asyncio.run(metric.evaluate(item))


@pytest.mark.parametrize(
    ("words", "temperature", "score"),
    [
        (("fully", "fully"), 0.5, 1.0),
        (("fully", "partial"), 0.5, 0.85),
        (("fully", "none"), 0.5, 0.5 * (1 - 0.1 / 2)),
        (("mostly", "minor"), 0.5, 0.6),
        # The power mean of 1.0 and 0.7, written out, at p = 12.25 and p = -8.
        (("fully", "partial"), 1.0, ((1 + 0.7**12.25) / 2) ** (1 / 12.25)),
        (("fully", "partial"), 0.1, ((1 + 0.7**-8) / 2) ** (-1 / 8)),
    ],
)
def test_verdicts_become_a_score_at_the_metrics_temperature(words, temperature, score):
    metric = FaithfulnessMetric(model=ScriptedInvoker([SPLIT, verdicts(*words)]), temperature=temperature)
    assert evaluated(metric).score == pytest.approx(score)


@pytest.mark.parametrize("made", KINDS)
def test_every_metric_splits_and_then_judges(made):
    judge = ScriptedInvoker([SPLIT, verdicts("fully", "mostly")])
    metric = made(model=judge)
    result = evaluated(metric)
    assert result.score == pytest.approx(0.95)
    assert result.higher_is_better
    split, judged = judge.requests
    assert (split.schema, judged.schema) == (CLAIM_SCHEMAS["split"], CLAIM_SCHEMAS["judge"])
    assert split.messages[0].content == metric.instructions()["split"]
    assert judged.messages[0].content == metric.instructions()["judge"]
    assert "begin statement 2]\nEntry is free.\n" in judged.messages[1].content
    assert metric.estimated_calls(ITEM) == 2


def test_the_splitter_of_faithfulness_does_not_see_the_contexts():
    judge = ScriptedInvoker([SPLIT, verdicts("fully", "fully")])
    evaluated(FaithfulnessMetric(model=judge))
    assert "Closed on Mondays" not in judge.requests[0].messages[1].content
    assert "Closed on Mondays" in judge.requests[1].messages[1].content


def test_one_call_asks_for_both_at_once():
    judge = ScriptedInvoker({**SPLIT, **verdicts("fully", "none")})
    metric = FaithfulnessMetric(model=judge, calls=1)
    assert evaluated(metric).score == pytest.approx(0.475)
    assert [request.schema for request in judge.requests] == [CLAIM_SCHEMAS["both"]]
    assert metric.estimated_calls(ITEM) == 1
    assert list(CLAIM_SCHEMAS["both"]["properties"]) == ["statements", "verdicts"]


@pytest.mark.parametrize("given", [0, 1, 3])
@pytest.mark.parametrize("calls", [1, 2])
def test_more_or_fewer_verdicts_than_statements_are_a_failure(given, calls):
    said = verdicts(*["fully"] * given)
    script = {**SPLIT, **said} if calls == 1 else [SPLIT, said]
    result = evaluated(FaithfulnessMetric(model=ScriptedInvoker(script), calls=calls))
    assert (result.score, result.error.code) == (None, "verdict_count")
    assert result.error.message == f"expected 2 verdicts, one for each statement, got {given}"


@pytest.mark.parametrize(
    ("script", "shown"),
    [
        (["[]"], "expected an object with statements, got []"),
        ([{"statements": "one"}], "expected a list of statements, got 'one'"),
        ([{"statements": [1]}], "expected a list of statements"),
        ([SPLIT, {"verdict": "fully"}], "expected an object with verdicts"),
        ([SPLIT, {"verdicts": "fully"}], "expected a list of verdicts"),
        ([SPLIT, verdicts("fully", "Yes, fully")], "verdict 2 is one of fully, mostly, partial, minor, none, not"),
        ([SPLIT, {"verdicts": ["fully", "fully"]}], "verdict 1 is one of"),
    ],
)
def test_a_reply_of_another_form_is_a_failure(script, shown):
    result = evaluated(FaithfulnessMetric(model=ScriptedInvoker(script)))
    assert (result.score, result.error.code) == (None, "reply_unparsable")
    assert shown in result.error.message


def test_an_answer_with_nothing_to_check_is_not_applicable():
    for script in ([{"statements": []}], [{"statements": ["", " "]}]):
        result = evaluated(FaithfulnessMetric(model=ScriptedInvoker(script)))
        assert (result.status, result.score) == ("not_applicable", None)
        assert result.error.message == "item 'q1' has no statement in answer that can be judged"


def test_a_blank_answer_is_not_applicable_and_nobody_is_asked():
    judge = ScriptedInvoker([])
    result = evaluated(FaithfulnessMetric(model=judge), ITEM.replace(answer=" \n"))
    assert (result.status, judge.requests) == ("not_applicable", [])
    assert result.error.message == "item 'q1' has nothing in answer, so there is nothing to judge"


def test_statements_are_not_capped():
    many = [f"Statement {place}." for place in range(200)]
    judge = ScriptedInvoker([{"statements": many}, verdicts(*["fully"] * 199, "none")])
    result = evaluated(FaithfulnessMetric(model=judge))
    assert len(result.details["verdicts"]) == 200
    assert result.score == pytest.approx(199 / 200 * (1 - 0.1 / 200))


def quoting(*quotes, **settings):
    said = {"verdicts": [verdict("fully", quote) for quote in quotes]}
    return FaithfulnessMetric(model=ScriptedInvoker([SPLIT, said]), **settings)


def test_a_quotation_that_is_not_in_the_context_is_reported():
    result = evaluated(quoting("“open FROM  ten", "Entry is free of charge"))
    assert result.score == 1.0
    assert [one["quote_found"] for one in result.details["verdicts"]] == [True, False]
    assert result.details["quotes_not_found"] == 1
    assert "1 of the judge's quotations are not in their source" in result.explanation


def test_a_quotation_that_is_not_in_the_context_can_fail_the_item():
    result = evaluated(quoting("from ten", "Entry is free", missing_quote="fail"))
    assert result.error.code == "reply_unparsable"
    assert result.error.message == "1 of 2 quotations are not in their source: 'Entry is free'"


def test_no_quotation_is_none_that_is_missing():
    result = evaluated(quoting("", "", missing_quote="fail"))
    assert [one["quote_found"] for one in result.details["verdicts"]] == [None, None]


def test_contextual_precision_judges_the_contexts_as_they_are():
    judge = ScriptedInvoker(verdicts("fully", "none"))
    metric = ContextualPrecisionMetric(model=judge)
    result = evaluated(metric)
    assert result.score == pytest.approx(0.475)
    assert metric.estimated_calls(ITEM) == len(judge.requests) == 1
    assert "begin context 2]\nClosed on Mondays.\n" in judge.requests[0].messages[1].content
    assert list(metric.instructions()) == ["judge"]
    none = evaluated(metric, EvalInput(query="Open?", contexts=[]))
    assert none.status == "not_applicable"


def test_criteria_of_ones_own_are_split_once_for_all_items():
    judge = ScriptedInvoker([{"statements": ["It is kind."]}, {"verdicts": [verdict("partial", "entry is free")]}] * 2)
    metric = CustomEvalMetric(model=judge, threshold=0.6, name="Kindness", criteria=" Be kind. ", temperature=0.8)
    result = evaluated(metric)
    evaluated(metric, ITEM.replace(answer="Other."))
    assert (metric.name, result.score, result.success) == ("Kindness", pytest.approx(0.7), True)
    assert judge.requests[0] == judge.requests[2]
    assert "begin point 1]\nIt is kind." in judge.requests[1].messages[1].content
    assert result.details["verdicts"][0]["quote_found"]
    other = CustomEvalMetric(model=judge, threshold=0.6, name="Kindness", criteria="Be brief.", temperature=0.8)
    assert metric.instrument != other.instrument


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"calls": 3}, InputError, r"calls is 1 \(split and judge at once\) or 2"),
        ({"missing_quote": "drop"}, UnknownNameError, "unknown missing_quote 'drop'"),
        ({"temperature": "hot"}, InputError, "temperature is a number"),
        ({"temperature": float("nan")}, InputError, "temperature is a finite number"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        FaithfulnessMetric(**settings)
    with pytest.raises(InputError, match="criteria is a text"):
        CustomEvalMetric(name="x", criteria=" ")


def test_the_instrument_knows_temperature_calls_and_quotations():
    made = [FaithfulnessMetric(), FaithfulnessMetric(temperature=0.1), FaithfulnessMetric(calls=1)]
    made += [FaithfulnessMetric(missing_quote="fail"), FaithfulnessMetric(threshold=0.9), AnswerRelevancyMetric()]
    assert len({one.instrument for one in made}) == 6


def test_a_jury_votes_on_claims():
    judges = [ScriptedInvoker([SPLIT, verdicts(*words)], name=str(words)) for words in (("fully",) * 2, ("none",) * 2)]
    third = ScriptedInvoker(ModelCallError("down", code="provider_error"), name="third")
    result = evaluated(FaithfulnessMetric(models=[*judges, third], aggregation_method="average"))
    assert result.score == pytest.approx((1.0 + 0.0) / 2, abs=1e-6)
    assert result.details["failed_judges"] == 1


class Judge:
    """Splits into one statement, and judges it by the field that was asked about."""

    def __call__(self, request):
        return {"statements": ["x"]} if "statements" in request.schema["properties"] else self.judged(request)

    def judged(self, request):
        count = request.messages[1].content.count(" begin context ") or 1
        return verdicts(*["mostly"] * count)


def test_callbacks_make_the_retrieval_evaluator_run_on_these_metrics():
    judge = ScriptedInvoker(Judge())
    evaluator = LLMRAGEvaluator(
        faithfulness_fn=FaithfulnessMetric(model=judge).callback(),
        relevancy_fn=AnswerRelevancyMetric(model=judge).callback(),
        precision_fn=ContextualPrecisionMetric(model=judge).callback(),
        recall_fn=ContextualRecallMetric(model=judge).callback(),
    )
    found = evaluator.evaluate(ITEM.query, ITEM.answer, list(ITEM.contexts), ITEM.ground_truth)
    values = (found.faithfulness, found.answer_relevancy, found.context_precision, found.context_recall)
    assert values == pytest.approx((0.9, 0.9, 0.9, 0.9))


def test_a_callback_raises_what_a_metric_would_report():
    ask = FaithfulnessMetric(model=ScriptedInvoker([{"statements": []}])).callback()
    assert ask.__name__ == "faithfulness"
    with pytest.raises(RatingError) as caught:
        ask("Hello!", ["a context"])
    assert caught.value.code == "not_applicable"


def test_a_callback_works_where_a_loop_is_running():
    ask = FaithfulnessMetric(model=ScriptedInvoker([SPLIT, verdicts("fully", "fully")])).callback()

    async def asked():
        return ask("It opens at ten.", ["Open from ten."])

    assert asyncio.run(asked()) == 1.0


@pytest.mark.parametrize("criteria", [None, 5, "", " \n", ["Be brief."]])
@pytest.mark.parametrize("made", [CustomEvalMetric, GEvalMetric, lambda given: PairwiseMetric(criteria=given)])
def test_criteria_that_are_no_text_are_refused_in_words(made, criteria):
    with pytest.raises(InputError, match="criteria is a text that says what is judged, not"):
        made(criteria)


def test_a_judge_is_shown_that_there_are_no_contexts():
    judge = ScriptedInvoker([SPLIT, verdicts("none", "none")])
    item = EvalInput(answer="It opens at ten; entry is free.", contexts=[])
    assert asyncio.run(FaithfulnessMetric(model=judge).evaluate(item)).score == pytest.approx(0.0, abs=1e-8)
    shown = judge.requests[1].messages[1].content
    assert re.search(r"\[(\w+) begin contexts\]\n\n\[\1 end contexts\]", shown)


@pytest.mark.parametrize("word", ["Fully", "FULLY.", " fully"])
def test_a_verdict_in_other_capitals_is_kept_as_the_verdict_that_it_is(word):
    result = evaluated(FaithfulnessMetric(models=ScriptedInvoker([SPLIT, verdicts(word, "none")])))
    assert [one["verdict"] for one in result.details["verdicts"]] == ["fully", "none"]


@pytest.mark.parametrize("word", ["Fully or none", "fully/none", "Completely", None, 1])
def test_a_verdict_that_is_two_or_none_is_a_failure(word):
    result = evaluated(FaithfulnessMetric(models=ScriptedInvoker([SPLIT, verdicts(word, "none")])))
    assert (result.score, result.error.code) == (None, "reply_unparsable")


def test_a_provider_is_not_asked_again_for_a_capital_letter():
    said = iter([SPLIT, verdicts("Fully.", "None")])
    with ProviderServer(lambda body: json.dumps(next(said))) as server:
        judge = wrapped(connect("openai/judge", base_url=server.openai_url))
        result = evaluated(FaithfulnessMetric(models=judge))
    assert [one["verdict"] for one in result.details["verdicts"]] == ["fully", "none"]
    assert result.usage.calls == 2
