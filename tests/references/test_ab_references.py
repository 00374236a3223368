"""The A/B test against scipy's own tests, on small samples where a normal approximation is badly wrong."""

import numpy as np
import pytest
from scipy import stats

from calibrant.estimates import Coverage
from calibrant.retrieval import ABTestResult, QueryPair, RetrievalMetrics
from calibrant.retrieval.differences import paired_differences


def pair(number, a, b):
    return QueryPair(query=str(number), a=metrics(a), b=metrics(b))


def metrics(ndcg):
    return RetrievalMetrics(precision_at_k=0.5, recall_at_k=0.5, f1_at_k=0.5, mrr=0.5, ndcg=ndcg, hit_rate=1.0)


CASES = [
    ([0.40, 0.55, 0.50, 0.60, 0.35], [0.52, 0.61, 0.66, 0.68, 0.55]),
    ([0.1, 0.9, 0.3, 0.7, 0.5], [0.2, 0.8, 0.9, 0.7, 0.6]),
    ([0.25, 0.75], [0.5, 0.8]),
]


@pytest.mark.parametrize(("a", "b"), CASES)
def test_p_is_that_of_scipys_ttest_rel(a, b):
    result = ABTestResult.of([pair(number, *both) for number, both in enumerate(zip(a, b, strict=True))])
    assert result.p_value == pytest.approx(stats.ttest_rel(b, a).pvalue, rel=1e-9)


@pytest.mark.parametrize(("a", "b"), CASES)
def test_the_interval_is_that_of_scipys_ttest_rel(a, b):
    result = ABTestResult.of([pair(number, *both) for number, both in enumerate(zip(a, b, strict=True))])
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    row = result.per_metric_comparison["ndcg"]
    within = max(expected.low, -1.0), min(expected.high, 1.0)  # no difference of two shares is larger
    assert (row["lower"], row["upper"]) == pytest.approx(within, rel=1e-9)


@pytest.mark.parametrize(("a", "b"), CASES)
def test_the_randomisation_p_is_that_of_scipys_exact_permutation_test(a, b):
    result = ABTestResult.of([pair(number, *both) for number, both in enumerate(zip(a, b, strict=True))])
    exact = stats.permutation_test(
        (np.array(b), np.array(a)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert result.randomisation_p_value == pytest.approx(exact.pvalue)


def test_five_queries_are_judged_by_t_and_not_by_the_normal_distribution():
    # t(4) = 3.72 has p = 0.0205; the normal distribution would say 0.0002, a hundred times too sure.
    spread = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    differences = spread + 3.72 * np.std(spread, ddof=1) / np.sqrt(5)
    (found,) = paired_differences(differences[:, None], coverage=Coverage(rated=5))
    assert found.t.p_value == pytest.approx(0.0205, abs=5e-5)
    assert 2 * stats.norm.sf(3.72) == pytest.approx(0.0002, abs=5e-5)


def test_the_queries_needed_are_those_of_the_t_test_in_cohens_tables():
    # Cohen 1988, d = 0.5, two-sided 0.05, power 0.8: 34 pairs.
    rng = np.random.default_rng(0)
    column = rng.standard_normal(50)
    column = (column - column.mean()) / column.std(ddof=1) * 0.2 + 0.1
    (found,) = paired_differences(column[:, None], coverage=Coverage(rated=50))
    assert found.effect_size == pytest.approx(0.5)
    assert found.needed == 34
