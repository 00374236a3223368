"""What holds for every run: nothing is lost, order changes nothing, one that was stopped ends as if it had not been."""

import re
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import BaseMetric, ScriptedInvoker
from calibrant.errors import NotApplicableError, RatingError
from calibrant.metrics import RubricMetric
from calibrant.runs import RunSettings, run

OUTCOMES = st.sampled_from(["pass", "fail", "broken", "lacking", "beside", "half"])


class ByOutcome(BaseMetric):
    """Does with an item what its answer says."""

    name = "told"

    async def _evaluate(self, data):
        match data.answer:
            case "broken":
                raise RatingError("as told", code="judge_timeout")
            case "lacking":
                raise RatingError("as told", code="missing_field")
            case "beside":
                raise NotApplicableError("as told")
            case other:
                return {"pass": 1.0, "half": 0.5}.get(other, 0.0)


def rows(outcomes):
    return [{"id": f"i{n}", "answer": outcome} for n, outcome in enumerate(outcomes)]


def numbers(result):
    return [
        (metric.pass_rate, metric.score, metric.failing_items, metric.failures, metric.unstable)
        for metric in result.metrics
    ]


@given(st.lists(OUTCOMES, min_size=1, max_size=30))
@settings(max_examples=40, deadline=None)
def test_every_item_is_in_the_coverage_once_and_the_worst_case_holds_the_rate(outcomes):
    summary = run(rows(outcomes), [ByOutcome()]).metrics[0]
    coverage = summary.pass_rate.coverage
    counts = [
        sum(one in kinds for one in outcomes)
        for kinds in (("pass", "fail", "half"), ("broken",), ("lacking",), ("beside",))
    ]
    assert [coverage.rated, coverage.failed, coverage.skipped, coverage.not_applicable] == counts
    assert coverage.total == len(outcomes)
    if summary.pass_rate.value is not None:
        low, high = summary.pass_rate.worst_case
        assert 0 <= low <= summary.pass_rate.value <= high <= 1
        assert summary.failing_items == outcomes.count("fail")


@given(st.lists(OUTCOMES, min_size=1, max_size=25), st.integers(1, 8), st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_neither_order_nor_concurrency_changes_a_number(outcomes, concurrency, shuffle):
    items = rows(outcomes)
    expected = numbers(run(items, [ByOutcome()]))
    assert numbers(run(items, [ByOutcome()], settings=RunSettings(concurrency=concurrency))) == expected
    shuffled = [*items]
    shuffle.shuffle(shuffled)
    again = run(shuffled, [ByOutcome()]).metrics[0]
    assert (again.pass_rate.value, again.pass_rate.coverage.total) == (expected[0][0].value, len(items))


@given(st.lists(OUTCOMES, min_size=2, max_size=25))
@settings(max_examples=25, deadline=None)
def test_failures_in_place_of_passes_or_fails_never_turn_a_gate_to_pass(outcomes):
    gates = ["told.pass_rate >= 0.6", "told.failing_items <= 1", "told.coverage >= 0.9", "coverage >= 0.9"]
    before = run(rows(outcomes), [ByOutcome()], gates=gates).gates
    hidden = ["broken" if one == "fail" else one for one in outcomes]
    after = run(rows(hidden), [ByOutcome()], gates=gates).gates
    for one, other in zip(before, after, strict=True):
        assert not (one.answer != "PASS" and other.answer == "PASS")


@given(st.lists(st.integers(0, 12), min_size=1, max_size=4), st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_a_run_stopped_anywhere_and_gone_on_with_is_an_undisturbed_one(stops, seed):
    def script(request):
        number = re.search(r"A(\d+)\.", request.messages[-1].content).group(1)
        return {"explanation": "", "score": 1 + int(number) % 3}

    items = [{"id": str(n), "answer": f"A{seed + n}.", "contexts": ["c"]} for n in range(12)]
    with TemporaryDirectory() as folder:
        judge = ScriptedInvoker(script)
        metric = RubricMetric("groundedness", models=judge)
        for stop in stops:
            partial = run(items, [metric], settings=RunSettings(workspace=folder, max_calls=stop, concurrency=3))
            assert partial.metrics[0].pass_rate.coverage.total == 12
            partial.close()
        whole = run(items, [metric], settings=RunSettings(workspace=folder, concurrency=3))
        assert len(judge.requests) == 12
        assert whole.status == "complete"
        alone = run(items, [RubricMetric("groundedness", models=ScriptedInvoker(script))])
        kept, expected = (sorted((one.item, one.value, one.status) for one in of.ratings()) for of in (whole, alone))
        assert kept == expected
        assert numbers(whole) == numbers(alone)
        whole.close()
