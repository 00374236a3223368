import asyncio
import re

import pytest

from calibrant import BaseMetric, EvalInput, Failure, MetricScore, ScriptedInvoker, metric
from calibrant.aggregation import AggregationMethod, MedianAggregationStrategy
from calibrant.errors import InputError, ModelNotNamedError, NotApplicableError, StoreError, WrongTypeError
from calibrant.metrics import ExactMatchMetric
from calibrant.models import Request

ITEM = EvalInput(id="a", query="Is it open?", answer="Yes.")


class Fixed(BaseMetric):
    """Returns what it was made with, or raises it."""

    def __init__(self, answer, **settings):
        self.answer = answer
        super().__init__(**settings)

    async def _evaluate(self, data):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Asking(BaseMetric):
    name = "asking"
    required_fields = {"query"}

    async def _evaluate(self, data):
        reply = await self.judge.invoke(Request.of(data.query, schema={}))
        return MetricScore(reply.data["score"], reply.data.get("why", ""))


def evaluate(metric, data=ITEM):
    return asyncio.run(metric.evaluate(data))


def test_an_item_is_scored():
    result = evaluate(Fixed(MetricScore(0.8, "fine", 3.0)))
    assert (result.score, result.success, result.explanation, result.rubric_score) == (0.8, True, "fine", 3.0)
    assert result.error is None


@pytest.mark.parametrize(
    ("answer", "score"), [(True, 1.0), (False, 0.0), (0.25, 0.25), (1, 1.0), ({"score": 0.5, "explanation": "x"}, 0.5)]
)
def test_bools_numbers_and_mappings_are_scores_too(answer, score):
    assert evaluate(Fixed(answer)).score == score


def test_numbers_of_numpy_are_scores_too():
    import numpy as np

    assert evaluate(Fixed(np.float32(0.5))).score == 0.5
    assert evaluate(Fixed(np.True_)).score == 1.0


def test_a_label_is_a_result_with_a_label():
    result = evaluate(Fixed("calm", passing_labels=frozenset({"calm"})))
    assert (result.label, result.score, result.success) == ("calm", None, True)
    assert result.judges[0].value == "calm"
    assert not evaluate(Fixed("angry", passing_labels=frozenset({"calm"}))).success


def test_a_set_of_labels_is_kept_as_one():
    result = evaluate(Fixed(frozenset({"b", "a"})))
    assert result.label == "a, b"
    assert result.judges[0].value == frozenset({"a", "b"})


@pytest.mark.parametrize("answer", [1.5, -0.1, float("nan"), None, [0.5], {"explanation": "no score"}])
def test_what_is_no_score_in_range_is_a_failure_and_not_a_zero(answer):
    result = evaluate(Fixed(answer))
    assert result.score is None
    assert not result.success
    assert result.error.code == "score_invalid"


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        ({"score": 0.9, "error": "timed out"}, "metric_error: timed out"),
        ({"error": "timed out"}, "metric_error: timed out"),
        ({"error": "judge_timeout: no answer", "error_code": "judge_timeout"}, "judge_timeout: no answer"),
    ],
)
def test_an_output_with_an_error_is_that_failure_whatever_score_is_beside_it(answer, failure):
    result = evaluate(Fixed(answer))
    assert (result.score, result.success, str(result.error)) == (None, False, failure)


def test_an_output_whose_error_is_none_has_none():
    result = evaluate(Fixed({"score": 0.9, "error": None}))
    assert (result.score, dict(result.details)) == (0.9, {})


@pytest.mark.parametrize("setting", ["required_fields", "passing_labels"])
def test_one_text_in_place_of_several_is_refused_for_it_would_be_taken_for_its_letters(setting):
    with pytest.raises(WrongTypeError, match=f"{setting} are several texts such as .*, not 'calm'"):
        Fixed("calm", **{setting: "calm"})
    with pytest.raises(WrongTypeError, match=f"{setting} are texts, not 3"):
        Fixed("calm", **{setting: [3]})
    with pytest.raises(WrongTypeError, match=f"{setting} are several texts"):
        type("Calm", (Fixed,), {setting: "calm"})
    with pytest.raises(WrongTypeError, match=f"{setting} are several texts"):
        metric(lambda item: True, **{setting: "calm"})


@pytest.mark.parametrize("setting", ["higher_is_better", "strict_mode"])
@pytest.mark.parametrize("value", ["no", 0, None])
def test_a_switch_is_true_or_false(setting, value):
    with pytest.raises(WrongTypeError, match=f"{setting} is True or False, not "):
        Fixed(1.0, **{setting: value})
    with pytest.raises(WrongTypeError, match=f"{setting} is True or False, not "):
        type("Calm", (Fixed,), {setting: value})


def test_an_exception_is_a_failure_of_that_item_alone():
    class Fragile(BaseMetric):
        async def _evaluate(self, data):
            return 1.0 / len(data.answer)

    results = evaluate(Fragile(), [ITEM, EvalInput(id="b", answer=""), EvalInput(id="c", answer="x")])
    assert [result.status for result in results] == ["rated", "failed", "rated"]
    assert str(results[1].error) == "metric_error: ZeroDivisionError: float division by zero"


def test_nothing_to_rate_is_not_applicable():
    result = evaluate(Fixed(NotApplicableError("no statements")))
    assert result.status == "not_applicable"
    assert result.score is None


def test_a_store_that_cannot_be_written_is_no_failure_of_a_judge():
    with pytest.raises(StoreError, match="disk full"):
        evaluate(Fixed(StoreError("disk full")))
    with pytest.raises(StoreError, match="disk full"):
        evaluate(Fixed(StoreError("disk full"), models=[ScriptedInvoker("x")] * 3), [ITEM, EvalInput(id="b")])


def test_a_missing_field_is_skipped_and_named():
    class Grounded(Fixed):
        name = "grounded"
        required_fields = {"contexts", "answer"}

    metric = Grounded(1.0)
    assert not metric.can_evaluate(ITEM)
    result = evaluate(metric)
    assert result.status == "skipped"
    assert str(result.error) == "missing_field: item 'a' lacks contexts, which grounded needs"
    assert metric.ratings(ITEM, result)[0].status == "skipped"


def test_results_are_in_the_order_of_the_list():
    class Length(BaseMetric):
        async def _evaluate(self, data):
            await asyncio.sleep(0.001 * (5 - len(data.answer)))
            return len(data.answer) / 10

    items = [EvalInput(id=n, answer="x" * n) for n in range(5)]
    assert [result.score for result in evaluate(Length(), items)] == [0.0, 0.1, 0.2, 0.3, 0.4]


def test_an_empty_list_has_no_results():
    assert evaluate(Fixed(1.0), []) == []


def test_mappings_are_items_too():
    assert evaluate(Fixed(1.0), {"id": "a", "answer": "x"}).score == 1.0


@pytest.mark.parametrize("data", ["an answer", 7, [ITEM, "an answer"]])
def test_what_is_no_item_is_refused_at_once(data):
    with pytest.raises(WrongTypeError, match="evaluate takes"):
        evaluate(Fixed(1.0), data)


@pytest.mark.parametrize(
    ("score", "higher", "passes"),
    [(0.5, True, True), (0.4999, True, False), (0.5, False, True), (0.5001, False, False)],
)
def test_success_honours_polarity_at_the_exact_threshold(score, higher, passes):
    metric = Fixed(score, higher_is_better=higher)
    assert metric.is_success(score) is passes
    assert evaluate(metric).success is passes


@pytest.mark.parametrize(
    ("score", "higher", "binarised", "passes"),
    [(1.0, True, 1.0, True), (0.99, True, 0.0, False), (0.0, False, 0.0, True), (0.01, False, 1.0, False)],
)
def test_strict_mode_keeps_the_best_and_counts_all_else_as_the_worst(score, higher, binarised, passes):
    metric = Fixed(score, higher_is_better=higher, strict_mode=True)
    result = evaluate(metric)
    assert (result.score, result.success, result.strict_mode) == (binarised, passes, True)
    assert metric.is_success(score) is passes


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan"), "0.5", None, True])
def test_thresholds_outside_zero_to_one_are_refused(threshold):
    with pytest.raises(InputError, match=r"threshold is a number in \[0, 1\], not"):
        Fixed(1.0, threshold=threshold)


def test_a_class_attribute_sets_the_threshold_and_is_checked_too():
    class Strict(Fixed):
        threshold = 0.9

    assert Strict(1.0).threshold == 0.9
    assert Strict(1.0, threshold=0.3).threshold == 0.3
    assert Fixed(1.0).threshold == 0.5
    with pytest.raises(InputError, match="threshold is a number"):

        class Wrong(Fixed):
            threshold = 9


def test_class_attributes_set_models_and_aggregation():
    judge = ScriptedInvoker({"score": 1})

    class Jury(Asking):
        models = [judge] * 2
        aggregation_method = "median"

    assert Jury().models == [judge, judge]
    assert Jury().aggregation_method == "median"
    with pytest.raises(ValueError, match="unknown aggregation method"):

        class Wrong(Asking):
            aggregation_method = "mode"


def test_a_metric_is_named_after_its_class_unless_it_says_otherwise():
    class GEvalPolitenessMetric(Fixed):
        pass

    assert GEvalPolitenessMetric(1.0).name == "g_eval_politeness"
    assert Fixed(1.0, name="mine").name == "mine"
    assert Asking().name == "asking"


def test_an_unknown_setting_is_refused():
    with pytest.raises(WrongTypeError, match="Fixed has no setting 'treshold'; did you mean 'threshold'\\?"):
        Fixed(1.0, treshold=0.5)
    with pytest.raises(WrongTypeError, match="Fixed has no setting 'evaluate'"):
        Fixed(1.0, evaluate=1)


def test_a_setting_like_none_is_told_with_all_that_can_be_changed():
    with pytest.raises(WrongTypeError, match="has no setting 'colour'; expected one of: ") as refused:
        Fixed(1.0, colour="red")
    listed = str(refused.value).partition("expected one of: ")[2].split(", ")
    assert {"models", "quorum", "repeats", "strict_mode", "threshold"} <= set(listed)
    assert not {"evaluate", "instrument", "judge"} & set(listed)


def test_what_is_worked_out_cannot_be_set():
    with pytest.raises(WrongTypeError, match="Fixed has no setting 'instrument'"):
        Fixed(1.0, instrument="mine")


def test_model_and_models_are_not_both_given():
    with pytest.raises(InputError, match="pass models= or model=, not both; model=x is models="):
        Asking(model=ScriptedInvoker("x"), models=[])
    assert len(Asking(model=ScriptedInvoker("x")).models) == 1


def test_a_subclass_need_not_call_the_constructor_of_the_base():
    class Bare(BaseMetric):
        def __init__(self):
            self.limit = 3

        async def _evaluate(self, data):
            return 1.0

    assert evaluate(Bare()).success
    assert Bare().num_judges == 1


def test_models_are_writable_and_counted():
    judge = ScriptedInvoker({"score": 1})
    metric = Asking()
    assert metric.models == []
    assert metric.num_judges == 1
    metric.models = [judge] * 3
    assert metric.num_judges == 3
    metric.models = judge
    assert metric.models == [judge]
    metric.models = None
    assert metric.models == []
    with pytest.raises(AttributeError):
        metric.num_judges = 2


def test_what_is_no_judge_is_refused():
    with pytest.raises(WrongTypeError, match="a judge is a model or the name of one, not 7"):
        Asking(models=[7])


def test_the_aggregation_method_is_writable_and_checked():
    metric = Asking()
    assert metric.aggregation_method is AggregationMethod.MAJORITY_VOTE
    metric.aggregation_method = MedianAggregationStrategy()
    assert isinstance(metric.aggregation_method, MedianAggregationStrategy)
    with pytest.raises(TypeError, match="an aggregation method is"):
        metric.aggregation_method = 3


def test_the_judge_s_calls_and_usage_are_kept_with_the_rating():
    judge = ScriptedInvoker({"score": 1, "why": "sure"})
    metric = Asking(models=judge)
    result = evaluate(metric)
    (rating,) = result.judges
    assert (rating.item, rating.criterion, rating.rater, rating.role) == ("a", "asking", "scripted/judge", "result")
    assert rating.call_keys == (judge.call_key(judge.requests[0]),)
    assert rating.instrument == metric.instrument
    assert result.usage.calls == 1
    assert metric.ratings(ITEM, result) == result.judges


def test_a_metric_that_asks_nobody_is_a_rule():
    (rating,) = evaluate(Fixed(1.0)).judges
    assert rating.rater == "rule:fixed"
    assert rating.usage is None


def test_without_a_model_a_metric_that_asks_fails_with_a_code():
    result = evaluate(Asking())
    assert result.error.code == "model_not_named"
    assert "set CALIBRANT_MODEL" in result.error.message


def test_outside_of_an_evaluation_the_judge_is_the_first_model():
    judge = ScriptedInvoker({"score": 1})
    assert Asking(models=judge).judge.inner is judge
    with pytest.raises(ModelNotNamedError):
        _ = Asking().judge


def test_a_batch_metric_is_given_the_list():
    class Ranked(BaseMetric):
        batch = True
        required_fields = {"answer"}

        async def _evaluate(self, data):
            assert isinstance(data, list)
            return [place / len(data) for place, _ in enumerate(data)]

    items = [EvalInput(id="a", answer="x"), EvalInput(id="b"), EvalInput(id="c", answer="y")]
    results = evaluate(Ranked(), items)
    assert [result.score for result in results] == [0.0, None, 0.5]
    assert results[1].status == "skipped"
    assert evaluate(Ranked(), items[0]).score == 0.0


def test_a_batch_may_hold_failures():
    class Partly(BaseMetric):
        batch = True

        async def _evaluate(self, data):
            return [1.0, Failure(code="judge_refused", message="no")]

    assert [result.status for result in evaluate(Partly(), [ITEM, EvalInput(id="b")])] == ["rated", "failed"]


@pytest.mark.parametrize("answer", [[1.0], 1.0, "xy", {"a": 1.0, "b": 1.0}])
def test_a_batch_that_does_not_answer_every_item_fails_for_all(answer):
    class Short(BaseMetric):
        batch = True

        async def _evaluate(self, data):
            return answer

    results = evaluate(Short(), [ITEM, EvalInput(id="b")])
    assert [result.error.code for result in results] == ["metric_error"] * 2
    assert "a batch of 2 items needs a list of 2 scores" in results[0].error.message


def test_a_metric_cannot_be_made_without_evaluate():
    with pytest.raises(TypeError, match="abstract"):
        BaseMetric()


@pytest.mark.parametrize(
    ("setting", "value", "problem"),
    [
        ("name", "", "name of a metric is a text that is not empty, not ''"),
        ("name", 5, "name of a metric is a text that is not empty, not 5"),
        ("higher_is_better", "no", "higher_is_better is True or False, not 'no'"),
        ("strict_mode", 1, "strict_mode is True or False, not 1"),
        ("quorum", "2", "quorum is a whole number from 1 on, or None, not '2'"),
        ("quorum", 2.5, "quorum is a whole number from 1 on, or None, not 2.5"),
        ("max_concurrent_judges", -1, "max_concurrent_judges is a whole number from 1 on, or None, not -1"),
        ("max_concurrent_judges", True, "max_concurrent_judges is a whole number from 1 on, or None, not True"),
        ("required_fields", "answer", "required_fields are several texts such as {'one', 'other'}, not 'answer'"),
        ("required_fields", [5], "required_fields are texts, not 5"),
        ("passing_labels", "pass", "passing_labels are several texts such as {'one', 'other'}, not 'pass'"),
    ],
)
def test_a_setting_of_the_wrong_kind_is_refused_where_it_is_set(setting, value, problem):
    class Checked(BaseMetric):
        async def _evaluate(self, data):
            return 1.0

    for given in (
        lambda: Checked(**{setting: value}),
        lambda: setattr(Checked(), setting, value),
        lambda: type("Wrong", (Checked,), {setting: value}),
    ):
        with pytest.raises((InputError, WrongTypeError), match=re.escape(problem)):
            given()


def test_a_switch_of_a_subclass_is_true_or_false():
    with pytest.raises(WrongTypeError, match="normalise is True or False, not 'no'"):
        ExactMatchMetric(normalise="no")
