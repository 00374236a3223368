import asyncio

from calibrant import EvalInput, Failure, MetricScore, MultiOutputBaseMetric, ScriptedInvoker
from calibrant.models import Request


class TopK(MultiOutputBaseMetric):
    name = "top_k"
    required_fields = {"retrieved_chunks", "relevant_ids"}

    async def _evaluate(self, data):
        relevant = set(data.relevant_ids)
        return {f"hit@{k}": float(bool(relevant & set(data.retrieved_chunks[:k]))) for k in (1, 2)}


ITEM = EvalInput(id="a", retrieved_chunks=["d1", "d2"], relevant_ids=["d2"])


def evaluate(metric, data):
    return asyncio.run(metric.evaluate(data))


def test_every_sub_metric_has_its_own_result():
    assert evaluate(TopK(), ITEM) == {
        "hit@1": {"score": 0.0, "explanation": ""},
        "hit@2": {"score": 1.0, "explanation": ""},
    }


def test_a_list_of_items_gives_a_list():
    assert [output["hit@1"]["score"] for output in evaluate(TopK(), [ITEM, ITEM])] == [0.0, 0.0]


def test_a_missing_field_is_an_error_output():
    output = evaluate(TopK(), EvalInput(id="b", retrieved_chunks=["d1"]))
    assert output == {
        "error": "missing_field: item 'b' lacks relevant_ids, which top_k needs",
        "error_code": "missing_field",
    }


def one_that_returns(answer, **attributes):
    class One(MultiOutputBaseMetric):
        async def _evaluate(self, data):
            if isinstance(answer, Exception):
                raise answer
            return answer

    for name, value in attributes.items():
        setattr(One, name, value)
    return One()


def test_scores_may_come_with_an_explanation_or_as_mappings():
    metric = one_that_returns({"a": MetricScore(0.5, "half"), "b": {"score": 0.25, "depth": 3}, "c": {"error": "no"}})
    assert evaluate(metric, ITEM) == {
        "a": {"score": 0.5, "explanation": "half"},
        "b": {"score": 0.25, "explanation": "", "depth": 3},
        "c": {"error": "no"},
    }


def test_one_bad_sub_metric_leaves_the_others_as_they_are():
    output = evaluate(one_that_returns({"a": 0.5, "b": float("nan")}), ITEM)
    assert output["a"]["score"] == 0.5
    assert output["b"]["error_code"] == "score_invalid"


def test_what_is_no_mapping_and_what_raises_is_an_error_output():
    assert evaluate(one_that_returns(0.5), ITEM)["error_code"] == "score_invalid"
    assert evaluate(one_that_returns(RuntimeError("oops")), ITEM)["error"] == "metric_error: RuntimeError: oops"


def test_a_batch_is_given_the_items_that_can_be_evaluated():
    class Batch(TopK):
        batch = True

        async def _evaluate(self, data):
            return [{"n": 1 / len(data)}, Failure(code="metric_error", message="second")]

    outputs = evaluate(Batch(), [ITEM, EvalInput(id="b"), EvalInput(id="c", retrieved_chunks=[], relevant_ids=[])])
    assert outputs[0]["n"]["score"] == 0.5
    assert outputs[1]["error_code"] == "missing_field"
    assert outputs[2]["error"] == "metric_error: second"


def test_it_may_ask_its_judge():
    class Judged(MultiOutputBaseMetric):
        async def _evaluate(self, data):
            reply = await self.judge.invoke(Request.of("levels?", schema={}))
            return reply.data

    assert evaluate(Judged(models=ScriptedInvoker({"a": 1, "b": 0})), ITEM)["a"]["score"] == 1
