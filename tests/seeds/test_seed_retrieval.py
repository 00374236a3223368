"""The sentences of the fourth seed (retrieval and RAG evaluation), each kept by a test that quotes it."""

import inspect

import pydantic
import pytest

from calibrant import retrieval
from calibrant.retrieval import (
    ABTestResult,
    ABTestRunner,
    AggregatedMetrics,
    BatchEvaluator,
    ContextItem,
    EvaluationDataset,
    EvaluationResult,
    EvaluationSample,
    HumanEvaluationCollector,
    HumanJudgment,
    LLMRAGEvaluator,
    PipelineEvaluator,
    RAGMetrics,
    RetrievalMetrics,
    RetrievalMetricsCalculator,
    SourceType,
    ab_testing,
    batch,
)

ZEROS = {"precision_at_k": 0.0, "recall_at_k": 0.0, "f1_at_k": 0.0, "mrr": 0.0, "ndcg": 0.0, "hit_rate": 0.0}


def items(*ids):
    return [ContextItem(id=one, content="x", source=SourceType.RETRIEVAL) for one in ids]


def retriever(table):
    return lambda query, top_k: items(*table[query][:top_k])


SAMPLES = [EvaluationSample(query=f"q{n}", relevant_ids=["a"]) for n in range(8)]
GOOD = {f"q{n}": ["a", "b"] for n in range(8)}
BAD = {f"q{n}": ["b", "c"] for n in range(8)}


@pytest.mark.parametrize("model", [RetrievalMetrics, RAGMetrics])
def test_metrics_are_immutable_pydantic_models_bounded_in_zero_to_one(model):
    """Immutable Pydantic model. All values are bounded in [0.0, 1.0]."""
    values = dict.fromkeys(model.model_fields, 0.5)
    made = model(**{name: value for name, value in values.items() if model.model_fields[name].annotation is float})
    name = next(name for name, field in model.model_fields.items() if field.annotation is float)
    with pytest.raises(pydantic.ValidationError):
        setattr(made, name, 0.1)
    for wrong in (-0.01, 1.01):
        with pytest.raises(pydantic.ValidationError):
            made.__class__(**{**made.model_dump(), name: wrong})


def test_the_fields_of_the_metrics():
    """precision_at_k, recall_at_k, f1_at_k, mrr, ndcg, hit_rate; faithfulness, answer_relevancy, context_precision,
    context_recall.
    """
    assert set(ZEROS) <= set(RetrievalMetrics.model_fields)
    assert {"faithfulness", "answer_relevancy", "context_precision", "context_recall"} <= set(RAGMetrics.model_fields)


def test_evaluation_result_combines_both():
    """Combines retrieval and RAG metrics into a single evaluation result."""
    empty = EvaluationResult()
    assert (empty.retrieval_metrics, empty.rag_metrics, empty.metadata) == (None, None, {})


def test_the_calculator_has_a_default_cutoff_of_ten():
    """k | int | 10 | Default cutoff for top-k evaluation."""
    assert RetrievalMetricsCalculator().k == 10


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_raises_value_error(k):
    """Raises ValueError if k < 1."""
    with pytest.raises(ValueError, match="k"):
        RetrievalMetricsCalculator(k=k)
    with pytest.raises(ValueError, match="k"):
        RetrievalMetricsCalculator().evaluate(items("a"), ["a"], k=k)


def test_the_seed_s_example():
    """print(metrics.precision_at_k)  # 1.0."""
    calc = RetrievalMetricsCalculator(k=5)
    found = calc.evaluate([ContextItem(id="a", content="x", source=SourceType.RETRIEVAL)], relevant=["a", "b"], k=3)
    assert found.precision_at_k == 1.0
    assert found.recall_at_k == 0.5
    assert found.f1_at_k == pytest.approx(2 / 3)
    assert found.mrr == found.hit_rate == 1.0
    # The ideal list has both relevant documents: 1 / (1 + 1 / log2(3)).
    assert found.ndcg == pytest.approx(1 / (1 + 0.6309297535714575))


def test_what_the_measures_are():
    """Fraction of retrieved items that are relevant; fraction of relevant items that were retrieved; harmonic mean of
    precision and recall; reciprocal of the rank of the first relevant item; 1.0 if at least one relevant item was
    retrieved.
    """
    found = RetrievalMetricsCalculator().evaluate(items("x", "a", "b", "y"), ["a", "b", "c"])
    assert (found.precision_at_k, found.recall_at_k) == (0.5, pytest.approx(2 / 3))
    assert found.f1_at_k == pytest.approx(2 * 0.5 * (2 / 3) / (0.5 + 2 / 3))
    assert (found.mrr, found.hit_rate) == (0.5, 1.0)


def test_the_cutoff_falls_back_to_the_instance_default():
    """Cutoff override; falls back to instance default."""
    calc = RetrievalMetricsCalculator(k=1)
    assert calc.evaluate(items("x", "a"), ["a"]).hit_rate == 0.0
    assert calc.evaluate(items("x", "a"), ["a"], k=2).hit_rate == 1.0


@pytest.mark.parametrize(("retrieved", "relevant"), [([], ["a"]), (["a"], []), ([], [])])
def test_nothing_relevant_or_nothing_retrieved_is_zero(retrieved, relevant):
    """No relevant documents gives 0.0."""
    found = RetrievalMetricsCalculator().evaluate(items(*retrieved), relevant)
    assert {name: getattr(found, name) for name in ZEROS} == ZEROS


def test_callbacks_are_given_what_the_table_says():
    """faithfulness_fn (answer, contexts), relevancy_fn (query, answer), precision_fn (query, contexts), recall_fn
    (query, contexts, ground_truth).
    """
    seen = {}

    def remember(name, score):
        def callback(*arguments):
            seen[name] = arguments
            return score

        return callback

    evaluator = LLMRAGEvaluator(
        faithfulness_fn=remember("faithfulness", 0.1),
        relevancy_fn=remember("relevancy", 0.2),
        precision_fn=remember("precision", 0.3),
        recall_fn=remember("recall", 0.4),
    )
    found = evaluator.evaluate("q", "a", ["c"], "truth")
    assert seen == {
        "faithfulness": ("a", ["c"]),
        "relevancy": ("q", "a"),
        "precision": ("q", ["c"]),
        "recall": ("q", ["c"], "truth"),
    }
    assert (found.faithfulness, found.answer_relevancy, found.context_precision, found.context_recall) == (
        0.1,
        0.2,
        0.3,
        0.4,
    )


def test_dimensions_without_callbacks_are_zero():
    """Dimensions without registered callbacks return 0.0."""
    found = LLMRAGEvaluator(relevancy_fn=lambda query, answer: 0.75).evaluate("q", "a", ["c"])
    assert (found.faithfulness, found.answer_relevancy, found.context_recall) == (0.0, 0.75, 0.0)


def test_constructors_take_keywords_alone():
    """LLMRAGEvaluator(*, ...), PipelineEvaluator(*, ...)."""
    for made in (LLMRAGEvaluator, PipelineEvaluator):
        kinds = {one.kind for one in inspect.signature(made).parameters.values()}
        assert kinds == {inspect.Parameter.KEYWORD_ONLY}


def test_the_retrieval_calculator_of_a_pipeline_defaults_to_a_new_one():
    """retrieval_calculator: Defaults to a new instance. evaluate_retrieval(retrieved, relevant, k=10)."""
    assert PipelineEvaluator().evaluate_retrieval(items("a"), ["a"]).precision_at_k == 1.0
    assert inspect.signature(PipelineEvaluator.evaluate_retrieval).parameters["k"].default == 10


def test_rag_needs_its_evaluator():
    """Raises ValueError if no rag_evaluator was configured."""
    with pytest.raises(ValueError, match="rag_evaluator"):
        PipelineEvaluator().evaluate_rag("q", "a", ["c"])


def test_a_pipeline_runs_both_evaluations():
    """evaluate(...) -> EvaluationResult -- runs both evaluations."""
    pipeline = PipelineEvaluator(rag_evaluator=LLMRAGEvaluator(faithfulness_fn=lambda answer, contexts: 1.0))
    found = pipeline.evaluate("q", "a", items("a"), ["a"], ["c"], ground_truth=None, k=10, metadata={"run": 1})
    assert found.retrieval_metrics.hit_rate == 1.0
    assert found.rag_metrics.faithfulness == 1.0
    assert found.metadata == {"run": 1}


def test_defaults_of_the_a_b_shapes():
    """relevant_ids [], metadata {}; samples [], name "", metadata {}; means 0.0 and num_samples 0."""
    sample = ab_testing.EvaluationSample(query="q")
    assert (sample.relevant_ids, sample.metadata) == ([], {})
    dataset = ab_testing.EvaluationDataset()
    assert (dataset.samples, dataset.name, dataset.metadata) == ([], "", {})
    means = ab_testing.AggregatedMetrics()
    assert (means.mean_precision, means.mean_recall, means.mean_f1, means.mean_mrr, means.mean_ndcg) == (0.0,) * 5
    assert means.num_samples == 0


def test_the_package_s_own_dataset_and_aggregate_are_those_of_ab_testing():
    """Defined in ab_testing; .batch has its own."""
    assert EvaluationDataset is ab_testing.EvaluationDataset
    assert AggregatedMetrics is ab_testing.AggregatedMetrics
    assert batch.AggregatedMetrics is not ab_testing.AggregatedMetrics


def run_ab(a, b, samples=SAMPLES, **settings):
    runner = ABTestRunner(PipelineEvaluator(), EvaluationDataset(samples=samples))
    return runner.run(retriever(a), retriever(b), **settings)


def test_the_signature_of_run():
    """run(retriever_a, retriever_b, k=10, significance_level=0.05) -> ABTestResult."""
    parameters = inspect.signature(ABTestRunner.run).parameters
    assert [*parameters][1:5] == ["retriever_a", "retriever_b", "k", "significance_level"]
    assert (parameters["k"].default, parameters["significance_level"].default) == (10, 0.05)


def test_the_better_retriever_wins():
    """winner: "a", "b", or "tie". is_significant: whether the result is statistically significant."""
    won = run_ab(GOOD, BAD)
    assert isinstance(won, ABTestResult)
    assert (won.winner, won.is_significant, won.significance_level) == ("a", True, 0.05)
    assert 0.0 < won.p_value < 0.05
    assert won.metrics_a.mean_ndcg == 1.0
    assert won.metrics_b.mean_ndcg == 0.0
    assert won.metrics_a.num_samples == 8
    assert run_ab(BAD, GOOD).winner == "b"


@pytest.mark.parametrize("samples", [SAMPLES, []])
def test_identical_retrievers_and_an_empty_dataset_tie(samples):
    """An empty dataset or identical retrievers: "tie", p = 1."""
    tied = run_ab(GOOD, GOOD, samples=samples)
    assert (tied.winner, tied.p_value, tied.is_significant) == ("tie", 1.0, False)


def test_per_metric_deltas():
    """per_metric_comparison: Per-metric deltas."""
    rows = run_ab(GOOD, BAD).per_metric_comparison
    assert {"precision", "recall", "f1", "mrr", "ndcg"} <= set(rows)
    assert abs(rows["mrr"]["delta"]) == 1.0


def test_a_batch_runs_over_the_whole_dataset():
    """Runs evaluation over an entire dataset and aggregates results: count, means, p95, min, per_sample_results."""
    samples = [batch.EvaluationSample(query=f"q{n}", relevant_ids=["a"]) for n in range(4)]
    table = {**GOOD, "q3": ["b", "c"]}
    found = BatchEvaluator(PipelineEvaluator(), retriever(table), top_k=2).evaluate(
        batch.EvaluationDataset(samples=samples), k=2
    )
    assert found.count == 4
    assert found.mean_precision == pytest.approx(0.375)
    assert found.mean_recall == found.mean_hit_rate == found.mean_mrr == pytest.approx(0.75)
    assert (found.min_precision, found.min_recall) == (0.0, 0.0)
    assert found.p95_precision == pytest.approx(0.5)
    assert found.p95_recall == 1.0
    assert len(found.per_sample_results) == 4
    for name in ("mean_f1", "mean_ndcg"):
        assert 0.0 <= getattr(found, name) <= 1.0


def test_an_empty_batch_has_count_zero():
    """An empty dataset has count 0."""
    found = BatchEvaluator(PipelineEvaluator(), retriever({})).evaluate(batch.EvaluationDataset(samples=[]))
    assert (found.count, found.mean_precision, found.per_sample_results) == (0, 0.0, [])


@pytest.mark.parametrize("relevance", [-1, 4])
def test_relevance_is_zero_to_three(relevance):
    """relevance | int | 0 <= x <= 3."""
    with pytest.raises(pydantic.ValidationError):
        HumanJudgment(query="q", item_id="d", relevance=relevance, annotator="kim")


def judged(*rows):
    collector = HumanEvaluationCollector()
    collector.add_judgments([HumanJudgment(query=q, item_id=d, relevance=r, annotator=who) for q, d, r, who in rows])
    return collector


def test_judgments_are_a_copy_of_all_collected():
    """Property: judgments -> list[HumanJudgment] -- copy of all collected judgments."""
    collector = HumanEvaluationCollector()
    assert collector.judgments == []
    one = HumanJudgment(query="q", item_id="d", relevance=2, annotator="kim")
    collector.add_judgment(one)
    collector.judgments.clear()
    assert collector.judgments == [one]


def test_agreement_is_cohen_s_kappa_over_pairs_judged_twice():
    """Cohen's kappa over (query, item_id) pairs judged by at least two annotators. Returns 0.0 if no overlapping
    judgments exist.
    """
    both = [("q", f"d{n}", grade, who) for n, grade in enumerate([0, 1, 2, 3]) for who in ("kim", "lee")]
    assert judged(*both).compute_agreement() == 1.0
    assert judged(("q", "d1", 1, "kim"), ("q", "d2", 1, "lee")).compute_agreement() == 0.0
    # 2 of 4 agree; chance (1/2)(1/2) + (1/2)(1/2) = 1/2: kappa 0.
    crossed = [("q", "1", 0, "a"), ("q", "2", 0, "a"), ("q", "3", 1, "a"), ("q", "4", 1, "a")]
    crossed += [("q", "1", 0, "b"), ("q", "2", 1, "b"), ("q", "3", 0, "b"), ("q", "4", 1, "b")]
    assert judged(*crossed).compute_agreement() == pytest.approx(0.0)


def test_to_dataset_takes_the_mean_relevance_at_or_above_the_threshold():
    """Items with mean relevance at or above threshold are considered relevant."""
    collector = judged(("q", "d1", 3, "kim"), ("q", "d1", 1, "lee"), ("q", "d2", 1, "kim"), ("r", "d3", 2, "kim"))
    dataset = collector.to_dataset()
    assert isinstance(dataset, EvaluationDataset)
    assert {sample.query: sample.relevant_ids for sample in dataset.samples} == {"q": ["d1"], "r": ["d3"]}
    assert {s.query: s.relevant_ids for s in collector.to_dataset(threshold=1).samples}["q"] == ["d1", "d2"]


def test_compute_metrics():
    """returns mean_relevance, agreement, num_judgments, num_annotators, num_queries."""
    found = judged(("q", "d1", 3, "kim"), ("q", "d1", 3, "lee"), ("r", "d3", 0, "kim")).compute_metrics()
    assert found == {
        "mean_relevance": 2.0,
        "agreement": 1.0,
        "num_judgments": 3,
        "num_annotators": 2,
        "num_queries": 2,
    }


def test_every_name_of_the_seed_is_public():
    """The classes that the page documents."""
    documented = {
        "ABTestResult",
        "ABTestRunner",
        "AggregatedMetrics",
        "BatchEvaluator",
        "ContextItem",
        "EvaluationDataset",
        "EvaluationResult",
        "EvaluationSample",
        "HumanEvaluationCollector",
        "HumanJudgment",
        "LLMRAGEvaluator",
        "PipelineEvaluator",
        "RAGMetrics",
        "RetrievalMetrics",
        "RetrievalMetricsCalculator",
        "Retriever",
        "SourceType",
    }
    assert documented <= set(retrieval.__all__)
