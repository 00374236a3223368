"""The sentences of the second seed (the base of metrics), each kept by a test that quotes it."""

import asyncio
import dataclasses

import pytest

from calibrant import EvalInput, ScriptedInvoker, metrics
from calibrant.aggregation import AggregationMethod
from calibrant.errors import ModelNotNamedError
from calibrant.metrics import (
    BaseMetric,
    MetricResult,
    MetricScore,
    MultiOutputBaseMetric,
    copy_invoker_with_schema,
    resolve_primary_invoker,
)
from calibrant.models import BaseLMInvoker, Reply, Request


@dataclasses.dataclass
class Fields:
    answer: str
    top_k: int = 3


class Completeness(BaseMetric):
    required_fields = {"answer"}
    input_type = Fields

    async def _evaluate(self, data):
        reply = await self.judge.invoke(Request.of(data.answer, schema={}))
        return MetricScore(reply.data["score"])


def invoker(score=1.0):
    return ScriptedInvoker({"score": score})


def evaluate(metric, data):
    return asyncio.run(metric.evaluate(data))


def test_defaults_of_the_attributes():
    """higher_is_better Defaults to True. strict_mode Defaults to False. threshold Defaults to 0.5. aggregation_method
    Defaults to majority_vote.
    """
    metric = Completeness()
    assert (metric.higher_is_better, metric.strict_mode, metric.threshold) == (True, False, 0.5)
    assert metric.aggregation_method == "majority_vote"
    assert metric.max_concurrent_judges is None
    assert BaseMetric.input_type is None


def test_the_name_of_the_metric():
    """name: The name of the metric."""
    assert Completeness.name == Completeness().name == "completeness"
    assert Completeness(name="whole").name == "whole"


def test_the_required_fields_for_this_metric_to_evaluate_data():
    """required_fields: The required fields for this metric to evaluate data."""
    judge = invoker()
    skipped = evaluate(Completeness(models=judge), EvalInput(id="a", query="x"))
    assert str(skipped) == "skipped: missing_field: item 'a' lacks answer, which completeness needs"
    assert judge.requests == []


def test_the_threshold_is_in_0_to_1():
    """threshold: Pass/fail threshold in [0, 1]."""
    assert [Completeness(threshold=value).threshold for value in (0, 0.3, 1)] == [0.0, 0.3, 1.0]
    for value in (-0.1, 1.1, float("nan"), "0.5", True):
        with pytest.raises(ValueError, match=r"threshold is a number in \[0, 1\], not"):
            Completeness(threshold=value)


def test_models_and_aggregation_method_are_writable():
    """models: property writable. aggregation_method: property writable. Return the configured aggregation method."""
    metric, judge = Completeness(), invoker()
    metric.models = [judge, judge]
    metric.aggregation_method = "average"
    assert (metric.models, metric.num_judges, metric.aggregation_method) == ([judge, judge], 2, "average")
    metric.models.append(judge)
    assert metric.num_judges == 2


@pytest.mark.parametrize("method", ["majority_vote", "median", "average"])
def test_the_strategy_for_aggregating_judge_scores(method):
    """Strategy for aggregating judge scores (majority_vote, median, average)."""
    metric = Completeness(models=[invoker(0.0), invoker(0.6), invoker(0.6)], aggregation_method=method)
    expected = {"majority_vote": 0.6, "median": 0.6, "average": 0.4}
    assert evaluate(metric, EvalInput(answer="x")).score == pytest.approx(expected[method])


@pytest.mark.parametrize(("cap", "most"), [(None, 4), (1, 1), (2, 2), (9, 4)])
def test_the_cap_on_concurrent_judge_tasks(cap, most):
    """max_concurrent_judges: Cap on concurrent judge tasks."""
    under_way = []

    class Counting(BaseLMInvoker):
        name = "test/counting"
        now = 0

        async def invoke(self, request):
            self.now += 1
            under_way.append(self.now)
            await asyncio.sleep(0.005)
            self.now -= 1
            return Reply(text="", data={"score": 1.0})

    metric = Completeness(models=[Counting()] * 4, max_concurrent_judges=cap)
    assert evaluate(metric, EvalInput(answer="x")).score == 1.0
    assert max(under_way) == most
    assert len(under_way) == 4


def test_batches_are_handled_by_default():
    """Automatically handles batch processing by default."""
    items = [EvalInput(id=str(number), answer=str(number)) for number in range(100)]
    judge = ScriptedInvoker(lambda request: {"score": int(request.messages[-1].content) / 100})
    assert [result.score for result in evaluate(Completeness(models=judge), items)] == [n / 100 for n in range(100)]


def test_strict_mode_binarises_before_thresholding():
    """If True, binarizes score to 1.0 or 0.0 before thresholding."""
    assert evaluate(Completeness(models=invoker(0.9), strict_mode=True), EvalInput(answer="x")).score == 0.0
    assert evaluate(Completeness(models=invoker(1.0), strict_mode=True), EvalInput(answer="x")).score == 1.0


def test_single_judge():
    """Single-judge: metric = GEvalCompletenessMetric(models=my_invoker)."""
    my_invoker = invoker()
    metric = Completeness(models=my_invoker)
    assert metric.models == [my_invoker]
    assert evaluate(metric, EvalInput(answer="x")).score == 1.0
    assert len(my_invoker.requests) == 1


def test_homogeneous_multi_judge():
    """Homogeneous multi-judge (same model, 3 repetitions): models=[my_invoker] * 3."""
    my_invoker = invoker()
    metric = Completeness(models=[my_invoker] * 3)
    metric.aggregation_method = AggregationMethod.MEDIAN
    assert evaluate(metric, EvalInput(answer="x")).score == 1.0
    assert len(my_invoker.requests) == 3


def test_heterogeneous_multi_judge():
    """Heterogeneous multi-judge (different models): models=[invoker_a, invoker_b, invoker_c]."""
    metric = Completeness(models=[invoker(1.0), invoker(0.0), invoker(0.0)])
    metric.aggregation_method = AggregationMethod.MAJORITY_VOTE
    assert evaluate(metric, EvalInput(answer="x")).score == 0.0


def test_an_empty_list_is_single_judge_mode(monkeypatch):
    """Empty list (default): single-judge mode."""
    assert Completeness().models == []
    assert Completeness(models=[]).num_judges == 1


def test_num_judges_is_read_only():
    """Read-only convenience: len(models) when models is non-empty, else 1."""
    assert Completeness().num_judges == 1
    assert Completeness(models=[invoker()] * 4).num_judges == 4
    with pytest.raises(AttributeError):
        Completeness().num_judges = 3


def test_can_evaluate():
    """True if the metric can evaluate the data, False otherwise."""
    assert Completeness().can_evaluate(EvalInput(answer="x")) is True
    assert Completeness().can_evaluate(EvalInput(query="x")) is False


def test_evaluate_takes_one_or_a_list():
    """Returns a list if input is a list."""
    metric = Completeness(models=invoker())
    assert isinstance(evaluate(metric, EvalInput(answer="x")), MetricResult)
    results = evaluate(metric, [EvalInput(answer="x"), EvalInput(answer="y")])
    assert [type(one) for one in results] == [MetricResult, MetricResult]


def test_evaluate_may_be_optimised_for_lists():
    """Subclasses can override _evaluate to accept lists for optimized batch processing."""

    class Batch(BaseMetric):
        batch = True

        async def _evaluate(self, data):
            return [MetricScore(len(data) / 2) for _ in data]

    assert [one.score for one in evaluate(Batch(), [EvalInput(id="a"), EvalInput(id="b")])] == [1.0, 1.0]


def test_input_fields():
    """Return declared input field names if input_type is provided; otherwise None."""
    assert Completeness.get_input_fields() == ["answer", "top_k"]

    class Untyped(Completeness):
        input_type = None

    assert Untyped.get_input_fields() is None


def test_input_spec():
    """Return structured spec for input fields if input_type is provided; otherwise None."""
    assert [spec["name"] for spec in Completeness.get_input_spec()] == ["answer", "top_k"]
    assert [spec["required"] for spec in Completeness.get_input_spec()] == [True, False]


@pytest.mark.parametrize(
    ("higher", "score", "passes"), [(True, 0.5, True), (True, 0.4, False), (False, 0.5, True), (False, 0.6, False)]
)
def test_is_success(higher, score, passes):
    """Determine if the score indicates success based on threshold and polarity."""
    assert Completeness(higher_is_better=higher).is_success(score) is passes


def test_multi_output_bypasses_metric_score_conversion():
    """Base class for metrics that emit one result dict per sub-metric. Evaluate using multi-output path, bypassing
    MetricScore conversion.
    """

    class TopK(MultiOutputBaseMetric):
        async def _evaluate(self, data):
            return {"top_1": {"score": 0.0}, "top_5": {"score": 1.0}}

    output = evaluate(TopK(), EvalInput())
    assert (output["top_1"]["score"], output["top_5"]["score"]) == (0.0, 1.0)
    assert len(evaluate(TopK(), [EvalInput(), EvalInput(answer="x")])) == 2


def test_copy_invoker_with_schema():
    """Original invoker when schema is None; otherwise copied invoker with the response schema applied."""
    source = invoker()
    copied = copy_invoker_with_schema(source, {"type": "object"})
    assert copy_invoker_with_schema(source, None) is source
    assert isinstance(copied, BaseLMInvoker)
    assert copied is not source
    asyncio.run(copied.invoke(Request.of("x")))
    assert source.requests[0].schema == {"type": "object"}


def test_resolve_primary_invoker(monkeypatch):
    """Single invoker, list of invokers, or None. Lists use the first invoker; empty lists and None use the default
    invoker.
    """
    first, second = invoker(), invoker()
    assert resolve_primary_invoker(first) is first
    assert resolve_primary_invoker([first, second]) is first
    with pytest.raises(ModelNotNamedError):
        resolve_primary_invoker(None)
    monkeypatch.setenv("CALIBRANT_MODEL", "ollama/qwen3")
    assert resolve_primary_invoker([]).name == resolve_primary_invoker(None).name == "ollama/qwen3"


def test_every_name_of_the_seed_is_public():
    """The names that the page documents."""
    for name in ("BaseMetric", "MultiOutputBaseMetric", "copy_invoker_with_schema", "resolve_primary_invoker"):
        assert name in metrics.__all__
