import asyncio
import json
import re

import pytest

from calibrant import EvalInput, MultiOutputBaseMetric, ScriptedInvoker, metric
from calibrant.errors import (
    InputError,
    JudgeReplyError,
    ModelNotNamedError,
    StoreError,
    UnknownNameError,
    WrongTypeError,
)
from calibrant.metrics import RubricMetric
from calibrant.runs import RunSettings, run, run_async

ITEMS = [
    {
        "id": f"i{number}",
        "query": f"Question {number}?",
        "answer": "word " * (number % 4 + 1),
        "contexts": [f"words {number}"],
    }
    for number in range(40)
]


def brief(item):
    return len(item.answer.split()) <= 2


def good(request):
    return {"explanation": "Stands in the context.", "score": 3}


def groundedness(script=good, **settings):
    return RubricMetric("groundedness", models=ScriptedInvoker(script), **settings)


def failing_on(share):
    """A judge whose reply is rubbish for `share` of every ten items."""

    def script(request):
        texts = " ".join(message.content for message in request.messages)
        if int(re.search(r"words (\d+)", texts).group(1)) % 10 < share * 10:
            raise JudgeReplyError("expected a level, got 'maybe'")
        return {"explanation": "Fine.", "score": 3}

    return script


def test_a_function_rates_every_item_and_the_estimate_says_how_far_to_trust_it():
    result = run(ITEMS, [brief])
    rate = result.metric("brief").pass_rate
    assert (rate.value, rate.n, rate.method) == (0.5, 40, "wilson")
    assert result.metric("brief").failing_items == 20
    assert (result.status, result.exit_code) == ("complete", 0)


def test_metrics_are_instances_functions_or_names(monkeypatch):
    monkeypatch.delenv("CALIBRANT_MODEL", raising=False)
    assert run(ITEMS, brief).metrics[0].name == "brief"
    assert run(ITEMS, metric(brief, name="short")).metrics[0].name == "short"
    with pytest.raises(ModelNotNamedError, match="no judge model was named"):
        run(ITEMS, ["groundedness"])


def test_a_judge_rates_and_its_usage_is_counted():
    result = run(ITEMS, [groundedness()])
    assert result.metric("groundedness").score.value == 1.0
    assert (result.usage.calls, result.usage.cached) == (40, 0)


def test_a_judge_that_fails_on_some_rows_never_makes_the_headline_look_better():
    result = run(ITEMS, [groundedness(failing_on(0.3))], settings=RunSettings(concurrency=1))
    summary = result.metric("groundedness")
    assert summary.pass_rate.coverage.failed == 12
    assert summary.pass_rate.worst_case == (0.7, 1.0)
    assert summary.pass_rate.n == 28
    assert [(cause.code, cause.count) for cause in summary.failures] == [("reply_unparsable", 12)]
    assert "expected a level" in summary.failures[0].message
    assert result.warnings[0].startswith("groundedness: 12 of 40 items could not be rated; the pass rate lies between")
    assert result.coverage == 0.7


def test_the_same_run_in_a_workspace_makes_no_call_twice(tmp_path):
    judge = ScriptedInvoker(good)
    settings = RunSettings(workspace=tmp_path)
    first = run(ITEMS, [RubricMetric("groundedness", models=judge)], settings=settings)
    second = run(ITEMS, [RubricMetric("groundedness", models=judge)], settings=settings)
    assert len(judge.requests) == 40
    assert (first.id, second.usage.calls, second.usage.cached) == (second.id, 0, 40)
    assert first.metrics[0].score == second.metrics[0].score
    assert len(list(second.ratings())) == 40


def test_fresh_asks_again_and_keeps_another_run(tmp_path):
    judge = ScriptedInvoker(good)
    first = run(ITEMS, [RubricMetric("groundedness", models=judge)], settings=RunSettings(workspace=tmp_path))
    again = run(
        ITEMS, [RubricMetric("groundedness", models=judge)], settings=RunSettings(workspace=tmp_path, fresh=True)
    )
    assert len(judge.requests) == 80
    assert again.id == f"{first.id}-2"


def test_a_run_in_memory_keeps_its_ratings_and_items():
    result = run(ITEMS, [brief])
    assert [item.id for item in result.items()] == [item["id"] for item in ITEMS]
    assert {rating.rater for rating in result.ratings("brief")} == {"rule:brief"}
    assert result.outcomes("brief").passed.tolist()[:4] == [1, 1, 0, 0]


def test_another_answer_is_another_run_on_the_same_dataset():
    changed = [{**item, "answer": "Yes."} for item in ITEMS]
    first, second = run(ITEMS, [brief]), run(changed, [brief])
    assert first.dataset.hash == second.dataset.hash
    assert first.id != second.id


def test_a_jury_leaves_votes_and_a_result_and_shows_its_least_stable_items():
    def script(request):
        return {"explanation": "", "score": 3 if request.slot < 2 else 1}

    judge = ScriptedInvoker(script)
    result = run(ITEMS[:5], [RubricMetric("groundedness", models=[judge] * 3)])
    kept = list(result.ratings("groundedness"))
    assert [rating.role for rating in kept[:4]] == ["vote", "vote", "vote", "result"]
    unstable = result.metric("groundedness").unstable
    assert (unstable[0].passed, unstable[0].votes, unstable[0].spread) == (2, 3, 1.0)
    assert result.metric("groundedness").flip_rate == pytest.approx(2 / 3)
    assert result.usage.calls == 15


def test_several_outputs_are_rows_of_their_own_and_an_error_is_an_error_of_each():
    class Depths(MultiOutputBaseMetric):
        name = "hits"

        async def _evaluate(self, data):
            if data.id == "i0":
                raise RuntimeError("the index is down")
            return {"at_1": 1.0, "at_5": 0.0}

    result = run(ITEMS[:4], [Depths()])
    assert [summary.name for summary in result.metrics] == ["hits/at_1", "hits/at_5"]
    assert result.metric("hits/at_1").score.coverage.codes == {"metric_error": 1}
    assert result.outcomes("hits/at_5").statuses.tolist() == [2, 1, 1, 1]


def test_a_metric_that_takes_lists_is_given_lists():
    sizes = []

    from calibrant import BaseMetric

    class Listed(BaseMetric):
        name = "listed"
        batch = True

        async def _evaluate(self, data):
            sizes.append(len(data))
            return [1.0 for _ in data]

    assert run(ITEMS, [Listed()]).metric("listed").score.value == 1.0
    assert sizes == [32, 8]


def test_labels_have_a_pass_rate_only_when_something_says_which_pass():
    def tone(item):
        return "warm" if item.id in {"i0", "i1"} else "cold"

    without = run(ITEMS[:4], [tone]).metric("tone")
    assert without.pass_rate.reason.startswith("the metric answers with labels, and nothing says which")
    assert run(ITEMS[:4], [metric(tone, passing_labels=frozenset({"warm"}))]).metric("tone").pass_rate.value == 0.5


def test_items_of_one_cluster_widen_the_interval():
    clustered = [
        {**item, "customer": str(number // 10), "answer": "a " * (number // 10 + 1)}
        for number, item in enumerate(ITEMS)
    ]
    plain, robust = run(clustered, [brief]), run(clustered, [brief], settings=RunSettings(cluster="customer"))
    assert robust.metric("brief").pass_rate.method == "wilson, clustered"
    assert robust.dataset.clusters == 4
    width = [estimate.upper - estimate.lower for estimate in (plain.metrics[0].pass_rate, robust.metrics[0].pass_rate)]
    assert width[1] > width[0]


def test_a_run_works_inside_a_running_loop():
    async def inside():
        return await run_async(ITEMS, [brief])

    assert asyncio.run(inside()).metrics[0].pass_rate.value == 0.5


def test_the_json_has_the_keys_of_the_interface_and_no_nan():
    data = run(ITEMS, [brief, groundedness()]).to_json()
    assert json.loads(json.dumps(data, allow_nan=False))["schema"] == "calibrant.run/1"
    assert {"run", "status", "exit_code", "dataset", "metrics", "gates", "usage", "warnings"} <= set(data)
    assert {"name", "instrument", "judges", "scoring", "pass_rate", "score", "corrected_pass_rate"} <= set(
        data["metrics"][1]
    )
    assert data["metrics"][1]["judges"] == ["scripted/judge"]


def test_wrong_input_is_refused_before_anything_is_called():
    with pytest.raises(InputError, match="items has no items"):
        run([], [brief])
    with pytest.raises(InputError, match="at least one metric"):
        run(ITEMS, [])
    with pytest.raises(InputError, match="two metrics are called 'brief'"):
        run(ITEMS, [brief, brief])
    with pytest.raises(WrongTypeError, match="a metric is a BaseMetric, a function or a name, not 7"):
        run(ITEMS, [7])
    with pytest.raises(InputError, match="item 1, item 2 share the id 'a'"):
        run([{"id": "a"}, {"id": "a"}], [brief])
    with pytest.raises(UnknownNameError, match="unknown metric 'long'; expected one of: brief"):
        run(ITEMS, [brief]).metric("long")


def test_a_workspace_that_cannot_be_written_is_one_clear_error(tmp_path):
    place = tmp_path / "file"
    place.write_text("not a folder")
    with pytest.raises(StoreError, match=r"the workspace .* failed"):
        run(ITEMS, [brief], settings=RunSettings(workspace=place))


def test_the_users_metric_is_left_as_it_is():
    judge = ScriptedInvoker(good)
    mine = RubricMetric("groundedness", models=judge)
    run(ITEMS[:2], [mine])
    assert mine.models == [judge]


def test_the_default_judge_is_budgeted_and_journalled_like_any_other(tmp_path):
    from calibrant import BaseMetric
    from calibrant.metrics.judges import DEFAULT_JUDGE
    from calibrant.models import Request

    class Own(BaseMetric):
        name = "own"

        async def _evaluate(self, data):
            return (await self.judge.invoke(Request.of(data.query))).text == "yes"

    judge = ScriptedInvoker("yes")

    async def measured():
        DEFAULT_JUDGE.set(judge)
        return await run_async(ITEMS[:3], [Own()])

    assert asyncio.run(measured()).metric("own").pass_rate.value == 1.0


def test_items_are_kept_with_what_the_system_made_of_them(tmp_path):
    def system(item):
        return {"answer": "From the system.", "contexts": ["a"], "mood": "calm"}

    result = run([{"id": "a", "query": "Hi?"}], [brief], system=system, settings=RunSettings(workspace=tmp_path))
    assert next(result.items()) == EvalInput(
        id="a", query="Hi?", answer="From the system.", contexts=["a"], mood="calm"
    )
