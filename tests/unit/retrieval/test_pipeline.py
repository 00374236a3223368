"""Answers asked about by functions, and both evaluations in one result."""

import asyncio
import math

import numpy as np
import pytest
from pydantic import ValidationError

from calibrant import ScriptedInvoker
from calibrant.errors import JudgeReplyError, RatingError, ScoreError
from calibrant.metrics import AnswerRelevancyMetric, ContextualPrecisionMetric
from calibrant.retrieval import (
    EvaluationResult,
    LLMRAGEvaluator,
    PipelineEvaluator,
    RAGMetrics,
    RetrievalMetricsCalculator,
)

ASKED = {"query": "Is it open?", "answer": "Until six.", "contexts": ["Open 9-18."]}


def test_each_function_gets_its_arguments_and_gives_its_dimension():
    calls = []

    def answering(value):
        def function(*arguments):
            calls.append(arguments)
            return value

        return function

    evaluator = LLMRAGEvaluator(
        faithfulness_fn=answering(0.1),
        relevancy_fn=answering(0.2),
        precision_fn=answering(0.3),
        recall_fn=answering(0.4),
    )
    metrics = evaluator.evaluate("query", "answer", ["c1", "c2"], ground_truth="truth")
    assert metrics.model_dump() == {
        "faithfulness": 0.1,
        "answer_relevancy": 0.2,
        "context_precision": 0.3,
        "context_recall": 0.4,
        "measured": ("faithfulness", "answer_relevancy", "context_precision", "context_recall"),
    }
    assert calls == [
        ("answer", ["c1", "c2"]),
        ("query", "answer"),
        ("query", ["c1", "c2"]),
        ("query", ["c1", "c2"], "truth"),
    ]


def test_a_dimension_without_a_function_is_zero_and_not_measured():
    metrics = LLMRAGEvaluator(faithfulness_fn=lambda _answer, _contexts: 0.0).evaluate(**ASKED)
    assert (metrics.faithfulness, metrics.answer_relevancy) == (0.0, 0.0)
    assert metrics.measured == ("faithfulness",)
    assert metrics.value("faithfulness") == 0.0
    assert metrics.value("answer_relevancy") is None


def test_no_functions_at_all_measure_nothing():
    assert LLMRAGEvaluator().evaluate(**ASKED).measured == ()


def test_recall_without_a_ground_truth_is_not_measured_and_not_asked():
    evaluator = LLMRAGEvaluator(recall_fn=lambda *_: pytest.fail("there was nothing to recall"))
    metrics = evaluator.evaluate(**ASKED)
    assert (metrics.context_recall, metrics.measured) == (0.0, ())


@pytest.mark.parametrize("value", [1.01, -0.01, math.nan, math.inf, None, "0.5", "high", [0.5]])
def test_what_is_no_number_in_range_is_an_error_that_names_the_function_and_the_value(value):
    evaluator = LLMRAGEvaluator(precision_fn=lambda _query, _contexts: value)
    with pytest.raises(ScoreError, match=r"precision_fn returns a number in \[0, 1\], but it returned") as raised:
        evaluator.evaluate(**ASKED)
    assert repr(value)[:10] in str(raised.value)
    assert isinstance(raised.value, ValueError)
    assert raised.value.code == "score_invalid"


@pytest.mark.parametrize("value", [0, 1, 0.5, True, np.float64(0.25), np.float32(0.5)])
def test_every_kind_of_number_in_range_is_taken(value):
    assert LLMRAGEvaluator(relevancy_fn=lambda *_: value).evaluate(**ASKED).answer_relevancy == float(value)


def test_a_function_that_raises_is_named_and_its_exception_kept():
    def broken(_answer, _contexts):
        raise ConnectionError("refused")

    with pytest.raises(RatingError, match="faithfulness_fn raised ConnectionError: refused") as raised:
        LLMRAGEvaluator(faithfulness_fn=broken).evaluate(**ASKED)
    assert isinstance(raised.value.__cause__, ConnectionError)


def test_a_failure_with_a_code_keeps_it():
    def refused(_query, _answer):
        raise JudgeReplyError("no verdict")

    with pytest.raises(JudgeReplyError, match="no verdict"):
        LLMRAGEvaluator(relevancy_fn=refused).evaluate(**ASKED)


async def relevancy(_query, _answer):
    await asyncio.sleep(0)
    return 0.75


def test_a_dimension_with_nothing_to_judge_is_not_measured_and_spoils_no_other():
    judge = ScriptedInvoker(
        lambda request: (
            {"statements": ["It is open."]}
            if "statements" in request.schema["properties"]
            else {"verdicts": [{"reason": "So.", "quote": "", "verdict": "mostly"}]}
        )
    )
    evaluator = LLMRAGEvaluator(
        relevancy_fn=AnswerRelevancyMetric(model=judge).callback(),
        precision_fn=ContextualPrecisionMetric(model=judge).callback(),
    )
    metrics = evaluator.evaluate("Is it open?", "Until six.", contexts=[])
    assert (metrics.answer_relevancy, metrics.measured) == (0.9, ("answer_relevancy",))
    assert metrics.value("context_precision") is None
    assert evaluator.evaluate("Is it open?", "", contexts=["Open."]).measured == ("context_precision",)


def test_an_asynchronous_function_is_waited_for_also_inside_a_running_loop():
    evaluator = LLMRAGEvaluator(relevancy_fn=relevancy)

    async def caller():
        return evaluator.evaluate(**ASKED)

    assert evaluator.evaluate(**ASKED).answer_relevancy == 0.75
    assert asyncio.run(caller()).answer_relevancy == 0.75


def test_what_is_no_function_is_refused_when_the_evaluator_is_made():
    with pytest.raises(TypeError, match=r"recall_fn is a function that returns a number in \[0, 1\], not 0.5"):
        LLMRAGEvaluator(recall_fn=0.5)


def test_one_text_is_no_list_of_contexts():
    with pytest.raises(TypeError, match="contexts is a list of texts, not one text: 'Open'"):
        LLMRAGEvaluator().evaluate("q", "a", "Open")


def test_rag_metrics_are_immutable_and_bounded():
    metrics = RAGMetrics(faithfulness=1.0, answer_relevancy=0.5, context_precision=0.0, context_recall=1.0)
    assert metrics.value("context_precision") == 0.0
    with pytest.raises(ValidationError, match="frozen"):
        metrics.faithfulness = 0.5
    for wrong in (1.1, -0.1, math.nan):
        with pytest.raises(ValidationError):
            RAGMetrics(faithfulness=wrong, answer_relevancy=0.5, context_precision=0.0, context_recall=1.0)


def test_a_pipeline_evaluates_both_and_keeps_the_metadata():
    pipeline = PipelineEvaluator(
        retrieval_calculator=RetrievalMetricsCalculator(k=1),
        rag_evaluator=LLMRAGEvaluator(relevancy_fn=lambda *_: 0.5),
    )
    result = pipeline.evaluate(**ASKED, retrieved=["x", "a"], relevant=["a"], ground_truth="t", k=2, metadata={"v": 1})
    assert result.retrieval_metrics.mrr == 0.5
    assert result.rag_metrics.answer_relevancy == 0.5
    assert result.metadata == {"v": 1}
    assert EvaluationResult.model_validate_json(result.model_dump_json()) == result
    with pytest.raises(ValidationError, match="frozen"):
        result.metadata = {}


def test_a_pipeline_takes_the_seeds_ten_whatever_its_calculators_cutoff_is():
    pipeline = PipelineEvaluator(retrieval_calculator=RetrievalMetricsCalculator(k=1))
    assert pipeline.evaluate_retrieval(["x", "a"], ["a"]).hit_rate == 1.0


def test_a_pipeline_without_a_rag_evaluator_measures_retrieval_alone():
    pipeline = PipelineEvaluator()
    result = pipeline.evaluate(**ASKED, retrieved=["a"], relevant=["a"])
    assert result.retrieval_metrics.mrr == 1.0
    assert result.rag_metrics is None


def test_asking_it_for_rag_alone_is_a_value_error_that_says_what_to_do():
    with pytest.raises(ValueError, match=r"no rag_evaluator was configured; pass PipelineEvaluator\(rag_evaluator="):
        PipelineEvaluator().evaluate_rag("q", "a", [])


def test_an_empty_result_holds_nothing():
    assert EvaluationResult() == EvaluationResult(retrieval_metrics=None, rag_metrics=None, metadata={})
