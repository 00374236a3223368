"""Rubric metrics: prompt, parsing, the three ways of scoring, and each failure."""

import asyncio
import math

import pytest

from calibrant import EvalInput, ScriptedInvoker
from calibrant.aggregation import WeightedMetricsAggregator
from calibrant.errors import InputError, ModelCallError, UnknownNameError
from calibrant.metrics import Rubric, RubricMetric, copy_invoker_with_schema
from calibrant.models import Reply, Request

ITEM = EvalInput(id="q1", query="Open?", answer="Until six.", contexts=["Open from ten to six.", "Closed on Mondays."])


def level(score, why="Because."):
    return {"explanation": why, "score": score}


def probabilities(off=None, **masses):
    return Reply(text="B", data="B", label_probs=masses, off_label_mass=off, mode="label")


def evaluated(metric, item=ITEM):
    return asyncio.run(metric.evaluate(item))


@pytest.mark.parametrize(("said", "score", "passes"), [(1, 0.0, False), (2, 0.5, True), (3, 1.0, True)])
def test_the_level_is_the_rubric_score_and_its_place_the_score(said, score, passes):
    result = evaluated(RubricMetric("groundedness", models=ScriptedInvoker(level(said, "Seen."))))
    assert (result.rubric_score, result.score, result.success) == (said, score, passes)
    assert (result.explanation, result.details["scoring"], result.error) == ("Seen.", "single", None)


def test_a_lower_is_better_rubric_keeps_its_score_and_turns_the_verdict():
    metric = RubricMetric("redundancy", models=ScriptedInvoker([level(3), level(1)]))
    results = [evaluated(metric), evaluated(metric)]
    assert [(one.score, one.success, one.higher_is_better) for one in results] == [
        (1.0, False, False),
        (0.0, True, False),
    ]


def test_the_prompt_has_the_rubric_as_system_and_the_item_between_markers():
    judge = ScriptedInvoker(level(3))
    metric = RubricMetric("groundedness", models=judge)
    evaluated(metric)
    system, user = judge.requests[0].messages
    assert (system.role, system.content) == ("system", metric.rubric.instructions())
    assert user.content == metric.prompt(ITEM)
    assert user.content.splitlines()[0].startswith("The marker is ")
    for shown in ("Until six.", "Open?", "begin contexts 2]\nClosed on Mondays."):
        assert shown in user.content


def test_the_explanation_comes_before_the_score():
    judge = ScriptedInvoker(level(3))
    evaluated(RubricMetric("groundedness", models=judge))
    schema = judge.requests[0].schema
    assert list(schema["properties"]) == ["explanation", "score"]
    assert schema["properties"]["score"]["enum"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (level(4), "expected a score that is one of 1, 2, 3, got {'explanation': 'Because.', 'score': 4}"),
        (level(2.5), "one of 1, 2, 3"),
        (level(True), "one of 1, 2, 3"),
        (level("3"), "one of 1, 2, 3"),
        ({"explanation": "Good."}, "one of 1, 2, 3"),
        ("[3]", "got [3]"),
        ("3", "got 3"),
        ("not json", "expected JSON"),
    ],
)
def test_a_reply_without_a_level_is_a_failure_and_not_a_score(said, shown):
    result = evaluated(RubricMetric("groundedness", models=ScriptedInvoker(said)))
    assert (result.score, result.success, result.error.code) == (None, False, "reply_unparsable")
    assert shown in result.error.message


def test_an_item_without_a_needed_field_is_skipped_and_nobody_is_asked():
    judge = ScriptedInvoker(level(3))
    result = evaluated(RubricMetric("groundedness", models=judge), EvalInput(id="q2", answer="Yes."))
    assert (result.status, result.error.code, judge.requests) == ("skipped", "missing_field", [])


def test_weighted_is_the_expected_level_under_the_labels_probabilities():
    judge = ScriptedInvoker(probabilities(A=0.1, B=0.2, C=0.7, off=0.05))
    result = evaluated(RubricMetric("groundedness", models=judge, scoring="weighted"))
    assert result.rubric_score == pytest.approx(0.1 * 1 + 0.2 * 2 + 0.7 * 3)
    assert result.score == pytest.approx(0.8)
    assert result.details["scoring"] == "weighted"
    assert result.details["level"] == 3
    assert result.details["level_probabilities"] == pytest.approx({1: 0.1, 2: 0.2, 3: 0.7})
    assert result.details["off_label_mass"] == 0.05
    request = judge.requests[0]
    assert (request.labels, request.logprobs, request.schema) == (("A", "B", "C"), True, None)


def test_probabilities_are_renormalised_over_the_labels_and_the_rest_is_told():
    judge = ScriptedInvoker(probabilities(A=0.2, C=0.2, Well=0.6))
    result = evaluated(RubricMetric("groundedness", models=judge, scoring="weighted"))
    assert result.rubric_score == pytest.approx(2.0)
    assert result.details["off_label_mass"] == pytest.approx(0.6)


def test_weighted_without_probabilities_is_an_error_that_says_so():
    judge = ScriptedInvoker("B", name="acme/small")
    result = evaluated(RubricMetric("groundedness", models=judge, scoring="weighted"))
    assert result.error.code == "unsupported"
    assert result.error.message == (
        "scoring='weighted' needs the probabilities of the labels A, B, C, and acme/small gave none; "
        "use scoring='single' or 'sampled', or allow fallback='sampled'"
    )


def test_probabilities_on_no_label_at_all_are_none():
    judge = ScriptedInvoker(probabilities(A=0.0, B=0.0, C=0.0))
    assert evaluated(RubricMetric("fluency", models=judge, scoring="weighted")).error.code == "unsupported"


def test_a_fallback_is_sampled_and_recorded():
    judge = ScriptedInvoker(["B", level(1), level(2), level(2)])
    metric = RubricMetric("groundedness", models=judge, scoring="weighted", fallback="sampled", samples=3)
    result = evaluated(metric)
    assert result.rubric_score == pytest.approx(5 / 3)
    assert (result.details["scoring"], result.details["asked_scoring"]) == ("sampled", "weighted")
    assert "acme" not in result.details["fallback_reason"]
    assert "gave none" in result.details["fallback_reason"]


def test_another_failure_is_not_fallen_back_from():
    judge = ScriptedInvoker([ModelCallError("slow", code="judge_timeout"), level(3)])
    metric = RubricMetric("fluency", models=judge, scoring="weighted", fallback="sampled", samples=1)
    assert evaluated(metric).error.code == "judge_timeout"


def test_sampled_is_the_mean_level_with_the_explanation_nearest_to_it():
    judge = ScriptedInvoker([level(1, "low"), level(3, "high"), level(2, "middle"), level(3, "high"), level(2, "also")])
    result = evaluated(RubricMetric("fluency", models=judge, scoring="sampled"))
    assert result.rubric_score == pytest.approx(2.2)
    assert (result.score, result.explanation) == (pytest.approx(0.6), "middle")
    assert sorted(result.details["sampled_levels"]) == [1, 2, 2, 3, 3]
    assert [request.slot for request in judge.requests] == [0, 1, 2, 3, 4]
    assert len(set(result.judges[0].call_keys)) == 5


def test_samples_of_a_jury_never_share_a_slot():
    judge = ScriptedInvoker(level(2))
    evaluated(RubricMetric("fluency", models=[judge] * 3, scoring="sampled", samples=4, repeats=2))
    assert sorted(request.slot for request in judge.requests) == list(range(24))


def test_a_minority_of_failed_samples_is_told_and_a_majority_fails():
    broken = ModelCallError("down", code="provider_error")
    few = RubricMetric("fluency", models=ScriptedInvoker([level(3), broken, level(3)]), scoring="sampled", samples=3)
    result = evaluated(few)
    assert (result.score, result.details["sample_errors"]) == (1.0, ["provider_error: down"])
    many = RubricMetric("fluency", models=ScriptedInvoker([level(3), broken, broken]), scoring="sampled", samples=3)
    assert str(evaluated(many).error) == "provider_error: 2 of 3 samples gave no result; down"


def test_samples_that_fail_in_several_ways_are_counted_by_code_and_named_by_the_commonest():
    slow, broken = ModelCallError("slow", code="judge_timeout"), ModelCallError("down", code="provider_error")
    judge = ScriptedInvoker([slow, broken, broken, level(3), level(3)])
    error = evaluated(RubricMetric("fluency", models=judge, scoring="sampled")).error
    told = "3 of 5 samples gave no result (1 judge_timeout, 2 provider_error); down"
    assert (error.code, error.message, error.retryable) == ("provider_error", told, True)


def test_half_of_the_samples_are_too_few_and_a_single_one_fails_as_it_does():
    broken = ModelCallError("down", code="provider_error")
    half = RubricMetric("fluency", models=ScriptedInvoker([level(3), broken]), scoring="sampled", samples=2)
    assert evaluated(half).error.message == "1 of 2 samples gave no result; down"
    one = RubricMetric("fluency", models=ScriptedInvoker(broken), scoring="sampled", samples=1)
    assert evaluated(one).error.message == "down"


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"scoring": "best"}, UnknownNameError, "unknown scoring 'best'; expected one of: sampled, single, weighted"),
        ({"fallback": "single"}, UnknownNameError, "unknown fallback 'single'; expected one of: sampled"),
        ({"samples": 0}, InputError, "samples is a whole number from 1 on, not 0"),
        ({"samples": True}, InputError, "samples is a whole number from 1 on, not True"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        RubricMetric("fluency", **settings)


def test_the_instrument_knows_rubric_scoring_and_judge():
    judge = ScriptedInvoker(level(3))
    base = RubricMetric("fluency", models=judge)
    others = [
        RubricMetric("coherence", models=judge),
        RubricMetric("fluency", models=judge, scoring="weighted"),
        RubricMetric("fluency", models=judge, scoring="weighted", fallback="sampled"),
        RubricMetric("fluency", models=judge, scoring="sampled", samples=7),
        RubricMetric("fluency", models=ScriptedInvoker(level(3), name="other")),
        RubricMetric("fluency", models=judge, threshold=0.6),
        RubricMetric("fluency", models=judge, repeats=2),
    ]
    assert len({one.instrument for one in [base, *others]}) == 8
    assert base.instrument == RubricMetric("fluency", models=judge, samples=9).instrument


def test_the_rubrics_settings_hold_unless_others_are_given(tmp_path):
    rubric = Rubric(
        criterion="brief", definition="Short?", fields=("answer",), levels={0: "no", 1: "yes"}, threshold=1.0
    )
    assert (RubricMetric(rubric).threshold, RubricMetric(rubric).name) == (1.0, "brief")
    named = RubricMetric(rubric, threshold=0.2, name="curt", higher_is_better=False)
    assert (named.threshold, named.name, named.higher_is_better) == (0.2, "curt", False)


def test_calls_are_estimated_for_judges_samples_and_repeats():
    judges = [ScriptedInvoker(level(2)), ScriptedInvoker(level(2), name="other")]
    metric = RubricMetric("groundedness", models=judges, scoring="sampled", samples=3, repeats=2)
    assert metric.estimated_calls(ITEM) == 12
    assert metric.estimated_calls(EvalInput(answer="no contexts")) == 0
    assert RubricMetric("groundedness").estimated_calls(ITEM) == 1
    evaluated(metric)
    assert sum(len(judge.requests) for judge in judges) == 12
    assert all(isinstance(one, Request) for one in metric.estimated_requests(ITEM))


def test_a_schema_that_a_judge_brings_does_not_replace_the_metrics_own():
    judge = ScriptedInvoker(level(3))
    shaped = copy_invoker_with_schema(judge, {"type": "array"})
    assert evaluated(RubricMetric("fluency", models=shaped)).score == 1.0
    assert judge.requests[0].schema["type"] == "object"


def test_levels_can_be_weighted_by_the_combined_metrics():
    result = evaluated(RubricMetric("fluency", models=ScriptedInvoker(level(2))))
    aggregator = WeightedMetricsAggregator({"fluency": 2.0}, {"fluency": {1: 0.0, 2: 0.25, 3: 1.0}})
    assert math.isclose(aggregator.compute_score({"fluency": result}), 0.25)
