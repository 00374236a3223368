import asyncio
import json

import pytest

from calibrant import BaseMetric, EvalInput, MetricScore, ScriptedInvoker
from calibrant.aggregation import AggregationMethod, LabelMajorityAggregationStrategy
from calibrant.aggregation.juries import BaseJudgeAggregator
from calibrant.errors import InputError, ModelCallError
from calibrant.models import BaseLMInvoker, Reply, Request

ITEM = EvalInput(id="a", query="Is it polite?")
DOWN = ModelCallError("connection refused", code="judge_unreachable")


class Polite(BaseMetric):
    name = "polite"

    async def _evaluate(self, data):
        reply = await self.judge.invoke(Request.of(data.query, schema={}))
        if "label" in reply.data:
            label = reply.data["label"]
            return frozenset(label) if isinstance(label, list) else label
        return MetricScore(reply.data["score"], reply.data.get("why", ""), reply.data.get("level"))


def judge(*lines, name="scripted/judge"):
    return ScriptedInvoker(
        [line if isinstance(line, dict | Exception) else {"score": line} for line in lines], name=name
    )


def jury(*scores, **settings):
    return Polite(models=[judge(score, name=f"m/{place}") for place, score in enumerate(scores)], **settings)


def evaluate(metric, data=ITEM):
    return asyncio.run(metric.evaluate(data))


@pytest.mark.parametrize(
    ("method", "score"),
    [("majority_vote", 1.0), (AggregationMethod.MEDIAN, 1.0), ("average", 0.625)],
)
def test_a_jury_s_votes_become_one_result(method, score):
    result = evaluate(jury(1.0, 0.0, 1.0, 0.5, aggregation_method=method))
    assert result.score == score
    assert [rating.value for rating in result.judges] == [1.0, 0.0, 1.0, 0.5]
    assert [(rating.slot, rating.rater, rating.role) for rating in result.judges] == [
        (place, f"m/{place}", "vote") for place in range(4)
    ]
    assert result.details["valid_judges"] == 4
    assert result.usage.calls == 4


def test_the_same_judge_three_times_is_three_calls_in_three_slots():
    one = judge(1.0, 0.0, 1.0)
    result = evaluate(Polite(models=[one] * 3))
    assert sorted(request.slot for request in one.requests) == [0, 1, 2]
    assert len({key for rating in result.judges for key in rating.call_keys}) == 3
    assert result.score == 1.0


def test_one_judge_s_failure_does_not_touch_the_others():
    result = evaluate(jury(1.0, DOWN, 1.0))
    assert result.score == 1.0
    assert [rating.status for rating in result.judges] == ["rated", "failed", "rated"]
    assert result.details["judge_errors"] == ["judge 1: judge_unreachable: connection refused"]


def test_too_few_valid_judges_are_a_failure():
    result = evaluate(jury(1.0, DOWN, DOWN))
    assert result.score is None
    assert result.error.code == "quorum_not_met"
    assert "1 of 3 judges answered, 2 are needed (2 judge_unreachable; the first:" in result.error.message
    assert len(result.judges) == 3


def test_exactly_half_is_not_more_than_half():
    assert evaluate(jury(1.0, DOWN)).error.code == "quorum_not_met"


def test_the_quorum_can_be_set():
    assert evaluate(jury(1.0, DOWN, DOWN, quorum=1)).score == 1.0
    assert evaluate(jury(1.0, 1.0, DOWN, quorum=3)).error.code == "quorum_not_met"


def test_a_quorum_that_cannot_be_met_is_refused():
    with pytest.raises(InputError, match=r"quorum is between 1 and the number of judges \(3\), not 4"):
        evaluate(jury(1.0, 1.0, 1.0, quorum=4))


@pytest.mark.parametrize("setting", ["quorum", "max_concurrent_judges"])
@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2"])
def test_a_count_of_judges_is_a_whole_number_from_1_on(setting, count):
    with pytest.raises(InputError, match=f"{setting} is a whole number from 1 on, or None, not "):
        jury(1.0, 1.0, 1.0, **{setting: count})


def test_sets_of_labels_are_counted_whatever_the_order_of_their_members():
    votes = [{"label": ["a", "b"]}, {"label": ["c"]}, {"label": ["b", "a"]}]
    result = evaluate(jury(*votes))
    assert (result.label, result.details["score_distribution"]) == ("a, b", {"a, b": 2, "c": 1})
    assert json.loads(json.dumps(result.to_json()))["details"]["individual_results"][0]["score"] == ["a", "b"]


def test_labels_beside_numbers_are_a_failure_that_says_so():
    result = evaluate(jury({"label": "calm"}, 0.5, {"label": "calm"}))
    assert str(result.error) == "score_invalid: some judges gave labels and others numbers, such as 0.5; no majority"


def test_a_lone_judge_s_failure_keeps_its_own_code():
    assert evaluate(jury(DOWN)).error.code == "judge_unreachable"


def test_a_jury_that_finds_nothing_to_rate_says_so():
    from calibrant.errors import NotApplicableError

    empty = NotApplicableError("no statements")
    assert evaluate(jury(empty, empty, 1.0)).status == "not_applicable"
    assert evaluate(jury(empty, DOWN, DOWN)).error.code == "quorum_not_met"


def test_a_jury_without_budget_was_skipped():
    from calibrant.errors import BudgetError

    assert evaluate(jury(BudgetError("spent"), BudgetError("spent"), 1.0)).status == "skipped"


def test_labels_are_counted_as_labels():
    labels = [{"label": "calm"}, {"label": "angry"}, {"label": "calm"}]
    result = evaluate(jury(*labels, passing_labels=frozenset({"calm"})))
    assert (result.label, result.success) == ("calm", True)
    assert result.details["score_distribution"] == {"angry": 1, "calm": 2}


def test_labels_that_tie_may_abstain():
    metric = jury({"label": "calm"}, {"label": "angry"}, aggregation_method=LabelMajorityAggregationStrategy("abstain"))
    assert evaluate(metric).error.code == "jury_tied"


def test_labels_have_no_median():
    result = evaluate(jury({"label": "calm"}, {"label": "angry"}, aggregation_method="median"))
    assert result.error.code == "score_invalid"
    assert "for labels use majority_label" in result.error.message


def test_an_aggregator_of_one_s_own_that_breaks_is_a_failure_of_the_item():
    class Broken(BaseJudgeAggregator):
        strategy = AggregationMethod.MEDIAN

        def aggregate(self, all_results, total_judges):
            raise RuntimeError("oops")

    assert str(evaluate(jury(1.0, 1.0, aggregation_method=Broken())).error) == "metric_error: oops"


def test_what_to_keep_is_every_vote_and_what_the_jury_came_to():
    metric = jury(1.0, 0.0, 1.0)
    *votes, result = metric.ratings(ITEM, evaluate(metric))
    assert len(votes) == 3
    assert (result.rater, result.role, result.value) == ("jury:m/0+m/1+m/2", "result", 1.0)
    assert result.instrument == metric.instrument


def test_the_average_keeps_the_level_of_the_nearest_judge():
    lines = [{"score": 0.0, "level": 1}, {"score": 0.5, "level": 2}, {"score": 1.0, "level": 3}]
    result = evaluate(jury(*lines, aggregation_method="average"))
    assert (result.score, result.rubric_score) == (0.5, 2)


class Gauge(BaseLMInvoker):
    """Answers after a moment, and remembers how many were asked at once."""

    name = "gauge/judge"

    def __init__(self, moment=0.01):
        self.now = self.most = self.cancelled = 0
        self.moment, self.ten_are_asked = moment, asyncio.Event()

    async def invoke(self, request):
        self.now += 1
        if self.now == 10:
            self.ten_are_asked.set()
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(self.moment)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.now -= 1
        return Reply(text="", data={"score": 1.0})


@pytest.mark.parametrize(("cap", "most"), [(None, 5), (2, 2), (1, 1)])
def test_judges_run_at_once_under_the_cap(cap, most):
    gauge = Gauge()
    evaluate(Polite(models=[gauge] * 5, max_concurrent_judges=cap))
    assert gauge.most == most


def test_cancelling_an_evaluation_cancels_every_judge_and_leaves_no_task():
    gauge = Gauge(moment=600)

    async def cancel_it():
        task = asyncio.create_task(Polite(models=[gauge] * 5).evaluate([ITEM, EvalInput(id="b", query="?")]))
        await gauge.ten_are_asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(cancel_it()) == set()
    assert gauge.now == 0
    assert gauge.cancelled == 10


def test_one_metric_may_serve_a_thousand_tasks_at_once():
    def answer(request):
        return {"score": int(request.messages[0].content) % 2, "why": f"slot {request.slot}"}

    metric = Polite(models=[ScriptedInvoker(answer, name=f"m/{slot}", delay=0.0001) for slot in range(3)])
    items = [EvalInput(id=n, query=str(n)) for n in range(1000)]

    async def all_at_once():
        return await asyncio.gather(*(metric.evaluate(item) for item in items))

    results = asyncio.run(all_at_once())
    assert [result.score for result in results] == [n % 2 for n in range(1000)]
    assert all(rating.explanation == f"slot {rating.slot}" for result in results for rating in result.judges)


def test_a_metric_may_ask_another_metric():
    inner = Polite(models=judge(0.25, name="inner/judge"))

    class Outer(BaseMetric):
        async def _evaluate(self, data):
            inside = await inner.evaluate(data)
            reply = await self.judge.invoke(Request.of("and you?", schema={}))
            return (inside.score + reply.data["score"]) / 2

    result = evaluate(Outer(models=judge(0.75, name="outer/judge")))
    assert result.score == 0.5
    assert [rating.rater for rating in result.judges] == ["outer/judge"]


def test_a_jury_of_a_batch_metric_votes_on_every_item():
    class Batch(BaseMetric):
        batch = True

        async def _evaluate(self, data):
            reply = await self.judge.invoke(Request.of("all", schema={}))
            return [reply.data["score"]] * len(data)

    metric = Batch(models=[judge(1.0), judge(0.0), judge(1.0)])
    results = evaluate(metric, [ITEM, EvalInput(id="b")])
    assert [result.score for result in results] == [1.0, 1.0]
    assert [rating.value for rating in results[1].judges] == [1.0, 0.0, 1.0]
