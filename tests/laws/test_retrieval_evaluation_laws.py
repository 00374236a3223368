"""What holds for every ranked list and every pair of retrievers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.retrieval import (
    ABTestResult,
    HumanEvaluationCollector,
    HumanJudgment,
    QueryPair,
    RetrievalMetricsCalculator,
    measure,
)

IDS = st.sampled_from([f"d{number}" for number in range(12)])
LISTS = st.lists(IDS, max_size=15)
RELEVANT = st.lists(IDS, min_size=1, max_size=8, unique=True)
SIX = ("precision_at_k", "recall_at_k", "f1_at_k", "mrr", "ndcg", "hit_rate")


@given(LISTS, RELEVANT, st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_the_calculator_agrees_with_the_kernel_under_the_seeds_conventions(retrieved, relevant, k):
    names = [f"{name}@{k}" for name in ("P", "R", "F1", "RR", "nDCG", "hit")]
    kernel = measure(
        {"q": dict.fromkeys(relevant, 1)}, {"q": list(dict.fromkeys(retrieved))}, names, conventions="seed"
    )
    metrics = RetrievalMetricsCalculator(k=k).evaluate(retrieved, relevant)
    assert [getattr(metrics, name) for name in SIX] == pytest.approx([kernel.of(name)[0] for name in names])


@given(LISTS, RELEVANT, st.integers(1, 12))
def test_all_six_lie_between_0_and_1_and_hit_agrees_with_them(retrieved, relevant, k):
    metrics = RetrievalMetricsCalculator(k=k).evaluate(retrieved, relevant)
    values = [getattr(metrics, name) for name in SIX]
    assert all(0 <= value <= 1 for value in values)
    assert all((value > 0) == bool(metrics.hit_rate) for value in values)


@given(LISTS, RELEVANT, st.integers(1, 11))
def test_looking_further_never_lowers_recall_and_hit(retrieved, relevant, k):
    calculator = RetrievalMetricsCalculator()
    near, far = calculator.evaluate(retrieved, relevant, k), calculator.evaluate(retrieved, relevant, k + 1)
    assert near.recall_at_k <= far.recall_at_k
    assert near.hit_rate <= far.hit_rate
    assert near.mrr <= far.mrr


@given(st.lists(st.tuples(LISTS, LISTS), min_size=1, max_size=12), RELEVANT)
@settings(max_examples=40, deadline=None)
def test_exchanging_the_retrievers_exchanges_the_winner_and_nothing_else(lists, relevant):
    calculator = RetrievalMetricsCalculator()
    pairs = [
        QueryPair(query=str(row), a=calculator.evaluate(a, relevant), b=calculator.evaluate(b, relevant))
        for row, (a, b) in enumerate(lists)
    ]
    forth = ABTestResult.of(pairs)
    back = ABTestResult.of([QueryPair(query=one.query, a=one.b, b=one.a) for one in pairs])
    assert back.winner == {"a": "b", "b": "a", "tie": "tie"}[forth.winner]
    assert back.p_value == pytest.approx(forth.p_value)
    assert back.metrics_a == forth.metrics_b
    assert 0 < forth.p_value <= 1
    for metric, row in forth.per_metric_comparison.items():
        assert row["p_value"] <= row["p_value_holm"] <= 1
        assert row["delta"] == pytest.approx(-back.per_metric_comparison[metric]["delta"])
        assert row["wins"] + row["losses"] + row["ties"] == len(pairs)


JUDGMENTS = st.lists(
    st.builds(
        HumanJudgment,
        query=st.sampled_from(["q1", "q2"]),
        item_id=IDS,
        relevance=st.integers(0, 3),
        annotator=st.sampled_from("abcd"),
    ),
    max_size=40,
    unique_by=lambda one: (one.query, one.item_id, one.annotator),
)


@given(JUDGMENTS, st.randoms(use_true_random=False))
def test_agreement_relevance_and_qrels_do_not_depend_on_the_order_of_judgments(judgments, random):
    first, second = HumanEvaluationCollector(), HumanEvaluationCollector()
    first.add_judgments(judgments)
    second.add_judgments(random.sample(judgments, len(judgments)))
    assert first.compute_metrics() == second.compute_metrics()
    assert first.to_qrels() == second.to_qrels()
    assert -1 <= first.compute_agreement() <= 1


@given(JUDGMENTS, st.integers(1, 3))
def test_the_dataset_and_the_qrels_find_the_same_documents_relevant(judgments, threshold):
    collector = HumanEvaluationCollector()
    collector.add_judgments(judgments)
    by_qrels = {
        query: {document for document, grade in grades.items() if grade >= threshold}
        for query, grades in collector.to_qrels().items()
    }
    assert {one.query: set(one.relevant_ids) for one in collector.to_dataset(threshold).samples} == by_qrels
