"""Two retrievers on the same queries: who wins, and when nobody does."""

import asyncio
import math

import pytest
from pydantic import ValidationError

from calibrant.errors import InputError, RatingError, UnknownNameError, WrongTypeError
from calibrant.retrieval import ABTestResult, ABTestRunner, PipelineEvaluator, QueryPair, ab_testing, batch
from calibrant.retrieval.ab_testing import AggregatedMetrics, EvaluationDataset, EvaluationSample

N = 12
DATASET = EvaluationDataset(
    samples=[EvaluationSample(query=f"q{number}", relevant_ids=["a"]) for number in range(N)], name="twelve"
)


def second(_query, _top_k):
    return ["x", "a"]


def first(_query, _top_k):
    return ["a", "x"]


def mostly_first(query, _top_k):
    return ["x", "a"] if query in {"q0", "q7"} else ["a", "x"]


def never(_query, _top_k):
    return ["x", "y"]


def failing_on(queries, otherwise):
    def retrieve(query, top_k):
        if query in queries:
            raise ConnectionError("refused")
        return otherwise(query, top_k)

    return retrieve


def run(a, b, dataset=DATASET, **settings):
    return ABTestRunner(PipelineEvaluator(), dataset).run(a, b, **settings)


def test_the_better_one_wins_and_the_order_does_not_matter():
    assert run(second, mostly_first).winner == "b"
    assert run(mostly_first, second).winner == "a"


def test_a_result_has_the_seeds_fields():
    result = run(second, mostly_first)
    gain = 1 / math.log2(3)
    assert result.metrics_a.model_dump() == {
        "mean_precision": 0.5,
        "mean_recall": 1.0,
        "mean_f1": pytest.approx(2 / 3),
        "mean_mrr": 0.5,
        "mean_ndcg": pytest.approx(gain),
        "num_samples": N,
    }
    assert result.metrics_b.mean_ndcg == pytest.approx((10 + 2 * gain) / N)
    assert result.metrics_b.num_samples == N
    assert result.is_significant
    assert result.p_value < 0.05
    assert result.significance_level == 0.05
    assert list(result.per_metric_comparison) == ["precision", "recall", "f1", "mrr", "ndcg"]
    assert result.metadata["dataset"] == "twelve"


def test_deltas_are_b_minus_a_with_interval_and_corrected_p():
    result = run(second, mostly_first)
    row = result.per_metric_comparison["mrr"]
    assert row["delta"] == pytest.approx(row["mean_b"] - row["mean_a"])
    assert row["lower"] < row["delta"] < row["upper"]
    assert row["p_value"] <= row["p_value_holm"] <= 1.0
    assert row["level"] == 0.95
    assert (row["wins"], row["losses"], row["ties"]) == (10, 0, 2)
    assert result.per_metric_comparison["precision"]["delta"] == 0.0
    assert result.per_metric_comparison["precision"]["p_value_holm"] == 1.0


def test_the_headline_is_the_row_of_the_chosen_metric():
    result = run(second, mostly_first, metric="mrr")
    row = result.per_metric_comparison["mrr"]
    assert result.metric == "mrr"
    assert (result.p_value, result.randomisation_p_value) == (row["p_value"], row["randomisation_p_value"])
    assert result.queries_needed == row["queries_needed"] >= 2


def test_a_metric_on_which_both_are_equal_is_a_tie_though_another_differs():
    result = run(second, mostly_first, metric="recall")
    assert (result.winner, result.p_value, result.queries_needed) == ("tie", 1.0, None)


def test_an_empty_dataset_is_a_tie():
    result = run(second, first, EvaluationDataset())
    assert (result.winner, result.p_value, result.is_significant) == ("tie", 1.0, False)
    assert result.metrics_a == AggregatedMetrics()
    assert result.metrics_a.num_samples == 0
    assert result.per_metric_comparison["ndcg"]["reason"] == "there were no values"
    assert result.per_metric_comparison["ndcg"]["delta"] is None


def test_identical_retrievers_are_a_tie():
    result = run(first, first)
    assert (result.winner, result.p_value, result.randomisation_p_value) == ("tie", 1.0, 1.0)
    assert not result.is_significant
    assert result.per_metric_comparison["ndcg"]["delta"] == 0.0


def test_one_query_decides_nothing():
    one = EvaluationDataset(samples=DATASET.samples[:1])
    result = run(second, first, one)
    assert (result.winner, result.p_value) == ("tie", 1.0)
    assert result.per_metric_comparison["ndcg"]["reason"].startswith("no interval: one value")


def test_equal_differences_have_the_p_of_the_sign_flip_test_and_never_zero():
    result = run(second, first)
    assert result.p_value == 2 / 2**N
    assert result.winner == "b"


def test_a_level_below_the_p_value_makes_a_tie():
    result = run(second, first, significance_level=1e-6)
    assert (result.winner, result.is_significant, result.significance_level) == ("tie", False, 1e-6)


def test_k_is_the_cutoff_and_what_is_asked_for():
    asked = []

    def recording(_query, top_k):
        asked.append(top_k)
        return ["x", "a"]

    result = run(recording, first, k=1)
    assert set(asked) == {1}
    assert result.metrics_a.mean_recall == 0.0
    assert result.metadata["k"] == 1


def test_a_query_that_one_retriever_fails_on_is_left_out_for_both_and_named():
    result = run(second, failing_on({"q3", "q5"}, first))
    assert result.metrics_a.num_samples == result.metrics_b.num_samples == N - 2
    assert result.metrics_b.mean_ndcg == 1.0
    assert (result.coverage.rated, result.coverage.failed) == (N - 2, 2)
    assert dict(result.coverage.codes) == {"system_error": 2}
    assert [str(failure) for failure in result.failures] == [
        "retriever b on query 'q3': ConnectionError: refused",
        "retriever b on query 'q5': ConnectionError: refused",
    ]


def test_the_worst_case_counts_a_failure_as_the_worst_and_as_the_best():
    estimate = run(second, failing_on({"q3", "q5"}, first)).estimates()["ndcg"]
    difference = 1 - 1 / math.log2(3)
    assert estimate.value == pytest.approx(difference)
    assert estimate.worst_case == pytest.approx(((10 * difference - 2) / 12, (10 * difference + 2) / 12))


def test_a_retriever_that_fails_on_everything_is_an_error_and_does_not_lose():
    with pytest.raises(RatingError, match=r"retriever b failed on all 12, so nothing was measured") as raised:
        run(second, failing_on({sample.query for sample in DATASET.samples}, first))
    assert "retriever b on query 'q0': ConnectionError: refused" in str(raised.value)
    assert "... and 9 more" in str(raised.value)


def test_no_query_that_both_answered_is_an_error_too():
    even = {f"q{number}" for number in range(0, N, 2)}
    odd = {f"q{number}" for number in range(1, N, 2)}
    with pytest.raises(RatingError, match="one retriever or the other failed on all 12"):
        run(failing_on(even, second), failing_on(odd, first))


def test_it_runs_inside_a_running_loop_with_both_kinds_of_retrievers():
    async def awaited(query, top_k):
        await asyncio.sleep(0)
        return mostly_first(query, top_k)

    runner = ABTestRunner(PipelineEvaluator(), DATASET)

    async def caller():
        return runner.run(second, awaited), await runner.run_async(second, awaited)

    inside, awaited_result = asyncio.run(caller())
    outside = runner.run(second, awaited)
    assert inside == outside == awaited_result
    assert outside.winner == "b"


def test_the_result_is_computed_again_without_asking_the_retrievers():
    result = run(second, mostly_first)
    assert result.again() == result
    by_recall = result.again(metric="recall", significance_level=0.01)
    assert (by_recall.winner, by_recall.metric, by_recall.significance_level) == ("tie", "recall", 0.01)
    assert ABTestResult.of(result.queries, metadata=result.metadata) == result


def test_a_result_survives_json_and_can_be_computed_again_from_it():
    result = run(second, failing_on({"q3"}, mostly_first))
    loaded = ABTestResult.model_validate_json(result.model_dump_json())
    assert loaded == result
    assert loaded.again() == result


def test_results_from_elsewhere_are_compared_without_any_retriever():
    evaluator = PipelineEvaluator()
    pairs = [
        QueryPair(query=str(number), a=evaluator.evaluate_retrieval(["x", "a"], ["a"]), b=one)
        for number in range(12)
        for one in [evaluator.evaluate_retrieval(["a", "x"], ["a"])]
    ]
    assert ABTestResult.of(pairs).winner == "b"


def test_a_small_p_value_beside_an_interval_that_holds_zero_is_a_tie_that_says_so():
    """Six queries that all differ by 1 - 1 / log2(3) = 0.369: p = 2 / 2^6, and the interval of equal values holds 0."""
    six = EvaluationDataset(samples=[EvaluationSample(query=f"q{number}", relevant_ids=["a"]) for number in range(6)])
    result = run(second, first, six)
    assert (result.winner, result.p_value, result.is_significant) == ("tie", 0.03125, True)
    assert str(result).startswith(
        "tie by ndcg: b - a = 0.369 [-0.260, 0.659] n=6, p = 0.03125 "
        "(not settled: p is below 0.05, but the interval holds 0)"
    )


def test_a_seed_gives_the_same_result_every_time():
    big = EvaluationDataset(samples=[EvaluationSample(query=f"q{number}", relevant_ids=["a"]) for number in range(60)])

    def uneven(query, _top_k):
        return [*["x", "y", "z"][: int(query[1:]) % 4], "a"]

    def other(query, _top_k):
        return [*["x", "y", "z"][: int(query[1:]) % 3], "a"]

    results = [run(uneven, other, big, seed=seed).randomisation_p_value for seed in (1, 1, 2)]
    assert results[0] == results[1]
    assert results[0] == pytest.approx(results[2], abs=0.02)


def test_it_prints_the_verdict_the_difference_and_what_would_settle_it():
    text = str(run(second, mostly_first))
    assert text.startswith("b is better by ndcg: b - a = 0.308 [")
    assert "n=12, p = " in text
    assert "queries find such a difference four times in five" in text
    assert str(run(first, first)).startswith("tie by ndcg: b - a = 0.000 [")


def test_queries_without_relevant_documents_are_counted():
    dataset = EvaluationDataset(samples=[*DATASET.samples, EvaluationSample(query="q99")])
    assert run(second, first, dataset).metadata["queries_without_relevant_documents"] == 1


def test_wrong_settings_are_refused_before_any_retriever_is_asked():
    def untouched(_query, _top_k):
        pytest.fail("a retriever was asked")

    with pytest.raises(UnknownNameError, match="unknown metric 'map'; expected one of: f1, mrr, ndcg"):
        run(untouched, untouched, metric="map")
    with pytest.raises(InputError, match="a significance level lies between 0 and 1"):
        run(untouched, untouched, significance_level=5)
    with pytest.raises(ValueError, match="at least 1; got 0"):
        run(untouched, untouched, k=0)
    with pytest.raises(WrongTypeError, match="expected an EvaluationDataset with samples"):
        ABTestRunner(PipelineEvaluator(), ["q1"])


def test_the_result_is_immutable():
    result = run(second, first)
    with pytest.raises(ValidationError, match="frozen"):
        result.winner = "a"


def test_both_modules_have_aggregates_of_their_own():
    assert ab_testing.AggregatedMetrics is not batch.AggregatedMetrics
    defaults = {f"mean_{name}": 0.0 for name in ("precision", "recall", "f1", "mrr", "ndcg")}
    assert AggregatedMetrics().model_dump() == {**defaults, "num_samples": 0}


def test_batches_have_estimates_with_their_coverage():
    metrics = batch.BatchEvaluator(PipelineEvaluator(), failing_on({"q1"}, mostly_first)).evaluate(DATASET)
    estimate = metrics.estimates()["mrr"]
    assert estimate.value == pytest.approx(metrics.mean_mrr)
    assert (estimate.coverage.rated, estimate.coverage.failed) == (N - 1, 1)
    assert estimate.lower < estimate.value < estimate.upper
    assert batch.AggregatedMetrics().estimates()["ndcg"].value is None
