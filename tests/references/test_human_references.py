"""Agreement of people, against values that others published."""

import pytest

from calibrant.retrieval import HumanEvaluationCollector, HumanJudgment


def collector_of(first, second):
    collector = HumanEvaluationCollector()
    for row, grades in enumerate(zip(first, second, strict=True)):
        for who, grade in zip("ab", grades, strict=True):
            collector.add_judgment(HumanJudgment(query="q", item_id=f"d{row}", relevance=grade, annotator=who))
    return collector


def test_kappa_of_the_fifty_proposals_is_0_4():
    # The worked example of the encyclopedia article on Cohen's kappa: 20 both yes, 15 both no, 5 and 10 apart.
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert collector_of(*zip(*pairs, strict=True)).compute_agreement() == pytest.approx(0.4)


def test_kappa_of_scikit_learns_example_is_0_6875():
    # sklearn.metrics.cohen_kappa_score, example in its documentation: negative 0, neutral 1, positive 2.
    assert collector_of([0, 2, 0, 1, 2], [0, 2, 0, 1, 0]).compute_agreement() == 0.6875


def test_kappas_of_four_grades_are_those_of_scikit_learn():
    # scikit-learn 1.9.1: cohen_kappa_score(a, b) and with weights="quadratic", labels=[0, 1, 2, 3].
    collector = collector_of([0, 1, 2, 3, 3, 2, 1, 0, 0, 3], [0, 2, 2, 3, 1, 2, 1, 0, 1, 3])
    agreement = collector.agreement(resamples=100)
    assert agreement["kappa"].value == pytest.approx(0.6052631578947368)
    assert agreement["weighted_kappa"].value == pytest.approx(0.76)


def test_alpha_of_krippendorffs_binary_example_is_0_095():
    # Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", A: two observers, ten documents. With two values
    # the ordinal alpha is the nominal one.
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert collector_of(first, second).agreement(resamples=100)["alpha"].value == pytest.approx(0.095, abs=5e-4)
