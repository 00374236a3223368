"""Pairs are judged in both orders; what depends on the order is a tie, and is counted."""

import asyncio

import pytest

from calibrant import EvalInput, MetricResult, ScriptedInvoker
from calibrant.errors import InputError, ModelCallError
from calibrant.metrics import PairwiseMetric, pairwise_summary

ITEM = EvalInput(id="q1", query="Open?", answer_a="alpha", answer_b="beta")


def choice(better):
    return {"explanation": f"{better} it is.", "better": better}


def prefers(word):
    def judged(request):
        text = request.messages[1].content
        return choice("first" if text.index(f"\n{word}\n") < text.index("end first answer") else "second")

    return ScriptedInvoker(judged, name=f"prefers/{word}")


def evaluated(judge, item=ITEM, **settings):
    return asyncio.run(PairwiseMetric(models=judge, **settings).evaluate(item))


@pytest.mark.parametrize(("word", "score"), [("alpha", 1.0), ("beta", 0.0)])
def test_the_better_answer_wins_in_both_orders(word, score):
    judge = prefers(word)
    result = evaluated(judge)
    assert (result.score, result.details["consistent"]) == (score, True)
    assert len(judge.requests) == PairwiseMetric(models=judge).estimated_calls(ITEM) == 2
    first, second = (request.messages[1].content for request in judge.requests)
    assert first.index("alpha") < first.index("beta")
    assert second.index("beta") < second.index("alpha")


@pytest.mark.parametrize(
    ("said", "score", "consistent"),
    [
        (("first", "first"), 0.5, False),
        (("second", "second"), 0.5, False),
        (("tie", "tie"), 0.5, True),
        (("first", "tie"), 0.5, False),
        (("first", "second"), 1.0, True),
        (("second", "first"), 0.0, True),
    ],
)
def test_what_depends_on_the_order_is_a_tie(said, score, consistent):
    result = evaluated(ScriptedInvoker([choice(one) for one in said]))
    assert (result.score, result.details["consistent"]) == (score, consistent)
    assert result.details["choices"] == list(said)


@pytest.mark.parametrize("said", [choice("A"), "[]", {"explanation": "hm"}])
def test_a_reply_without_a_choice_is_a_failure(said):
    result = evaluated(ScriptedInvoker(said))
    assert result.error.code == "reply_unparsable"
    assert "expected `better` to be one of first, second, tie" in result.error.message


def test_a_failure_in_one_order_is_a_failure_of_the_pair():
    judge = ScriptedInvoker([choice("first"), ModelCallError("down", code="provider_error")])
    assert evaluated(judge).error.code == "provider_error"


def test_the_answers_can_be_in_other_fields():
    item = EvalInput(answer="alpha", ground_truth="beta")
    assert evaluated(prefers("alpha"), item, first="answer", second="ground_truth").score == 1.0
    assert evaluated(prefers("alpha"), EvalInput(answer="x")).error.code == "missing_field"


@pytest.mark.parametrize("settings", [{"first": "answer_b"}, {"criteria": " "}])
def test_settings_that_mean_nothing_are_refused(settings):
    with pytest.raises(InputError):
        PairwiseMetric(**settings)


def test_the_instrument_knows_the_criteria():
    assert PairwiseMetric(criteria="Shorter.").instrument != PairwiseMetric().instrument


def test_win_rate_inconsistency_and_bias_have_intervals():
    said = [("first", "second")] * 6 + [("second", "first")] * 2 + [("first", "first")] * 3 + [("tie", "tie")]
    results = [evaluated(ScriptedInvoker([choice(one) for one in pair])) for pair in said]
    results.append(evaluated(ScriptedInvoker(ModelCallError("down", code="provider_error"))))
    found = pairwise_summary(results)
    assert (found.wins, found.ties, found.losses) == (6, 4, 2)
    assert found.win_rate.value == pytest.approx((6 + 0.5 * 4) / 12)
    assert found.inconsistent.value == pytest.approx(3 / 12)
    assert found.position_bias.value == pytest.approx(3 / 12)
    assert found.win_rate.coverage.failed == 1
    assert found.win_rate.lower < found.win_rate.value < found.win_rate.upper
    assert "(6 won, 4 tied, 2 lost)" in str(found)
    assert found.to_json()["wins"] == 6


def test_a_judge_that_loves_the_second_place_has_a_negative_bias():
    results = [evaluated(ScriptedInvoker(choice("second"))) for _ in range(4)]
    assert pairwise_summary(results).position_bias.value == -1.0
    assert pairwise_summary(results).win_rate.value == 0.5


def test_every_judge_of_a_jury_counts_for_the_bias():
    jury = [prefers("alpha"), prefers("alpha"), ScriptedInvoker(choice("first"), name="always/first")]
    result = evaluated(jury)
    found = pairwise_summary([result])
    assert result.score == 1.0
    assert found.inconsistent.value == pytest.approx(1 / 3)
    assert found.position_bias.value == pytest.approx(2 / 6)


def test_results_of_another_metric_are_refused():
    with pytest.raises(InputError, match="takes the results of a PairwiseMetric"):
        pairwise_summary([MetricResult(score=1.0, success=True)])


def test_a_choice_in_other_capitals_is_kept_as_the_choice_that_it_is():
    judge = ScriptedInvoker([{"explanation": "x", "better": "First"}, {"explanation": "y", "better": "SECOND."}])
    item = EvalInput(answer_a="Until six.", answer_b="No idea.")
    result = asyncio.run(PairwiseMetric(models=judge).evaluate(item))
    assert (result.score, result.details["choices"]) == (1.0, ["first", "second"])
