"""The alternative annotator test from counts: p-values, who falls, winning rates, and where a judge begins to pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from calibrant.agreement.replacement_arithmetic import SMALLEST, break_even, p_values, rejected, winning_rates
from calibrant.agreement.replacement_scores import indicators, scoring_for, scoring_of
from calibrant.errors import InputError, UnknownNameError


@st.composite
def counts(draw):
    """Items, judge at least as well, person at least as well, both; on every item one of them is."""
    both, judge, person = (draw(st.integers(0, 40)) for _ in range(3))
    n = both + judge + person
    return [n, both + judge, both + person, both]


def differences(row, factor=1.0):
    n, judge, person, both = row
    alone = [1.0 - factor] * both + [-factor] * (judge - both) + [1.0] * (person - both)
    assert len(alone) == n
    return alone


@settings(max_examples=150, deadline=None)
@given(counts(), st.sampled_from([0.0, 0.1, 0.2, 0.35]))
def test_the_p_value_is_the_t_test_s(row, epsilon):
    found = float(p_values(np.array([row], float), epsilon)[0])
    values = differences(row)
    if len(values) < 2:
        assert found == 1.0
    elif np.ptp(values) == 0:
        assert found == (SMALLEST if values[0] < epsilon - 1e-12 else 1.0)
    else:
        assert found == pytest.approx(
            stats.ttest_1samp(values, epsilon, alternative="less").pvalue, rel=1e-7, abs=1e-300
        )


@settings(max_examples=100, deadline=None)
@given(counts(), st.sampled_from([0.1, 0.2, 0.35]))
def test_the_multiplicative_p_value_is_the_t_test_s(row, epsilon):
    values = differences(row, 1.0 / (1.0 - epsilon))
    if len(values) < 2 or np.ptp(values) < 1e-9:
        return
    found = float(p_values(np.array([row], float), epsilon, multiplicative=True)[0])
    assert found == pytest.approx(stats.ttest_1samp(values, 0.0, alternative="less").pvalue, rel=1e-6, abs=1e-300)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=8), st.sampled_from([0.01, 0.05, 0.2]))
def test_who_falls_is_who_scipy_s_adjusted_p_value_says(p, q):
    adjusted = stats.false_discovery_control(p, method="by")
    near = np.abs(adjusted - q) < 1e-9
    found = rejected(np.array(p), q)
    assert all(bool(one) == (value <= q) for one, value, edge in zip(found, adjusted, near, strict=True) if not edge)


@settings(max_examples=60, deadline=None)
@given(st.lists(counts(), min_size=1, max_size=5))
def test_a_larger_margin_never_loses_a_win(rows):
    table = np.array(rows, float)
    rates = [float(winning_rates(table, epsilon, 0.05)) for epsilon in (0.0, 0.1, 0.2, 0.4, 0.8)]
    assert rates == sorted(rates)


@settings(max_examples=60, deadline=None)
@given(st.lists(counts(), min_size=1, max_size=4))
def test_the_judge_passes_from_its_break_even_on_and_not_before(rows):
    table = np.array(rows, float)
    found = break_even(table, 0.05)
    if found is None:
        assert winning_rates(table, 0.999, 0.05) < 0.5
    else:
        assert winning_rates(table, min(found + 1e-5, 0.999999), 0.05) >= 0.5
        assert found == 0.0 or winning_rates(table, max(found - 1e-5, 0.0), 0.05) < 0.5


def test_a_judge_that_always_does_as_well_wins_at_any_margin_but_none():
    table = np.array([[30, 30, 30, 30]] * 3, float)
    assert float(winning_rates(table, 0.05, 0.05)) == 1.0
    assert float(winning_rates(table, 0.0, 0.05)) == 0.0
    assert break_even(table, 0.05) == 1e-6


def test_a_judge_that_never_does_as_well_never_passes():
    assert break_even(np.array([[30, 0, 30, 0]] * 3, float), 0.05) is None


def test_many_tables_at_once_are_each_by_itself():
    random = np.random.default_rng(2)
    judge, person, both = random.integers(0, 30, (3, 6, 4))
    tables = np.stack([judge + person + both, judge + both, person + both, both], -1).astype(float)
    together = winning_rates(tables, 0.1, 0.05)
    assert together.tolist() == [float(winning_rates(one, 0.1, 0.05)) for one in tables]


KEPT = np.ones(1, bool)


def codes(*columns):
    return np.array(columns, np.int32)[:, None]


def test_labels_score_by_how_many_of_the_rest_agree():
    # The judge says a; people say a, a, b. Without the first: the judge agrees with one of two, so does the person.
    found = indicators(codes(0)[0], codes(0, 0, 1), KEPT, "accuracy", ("a", "b"))
    assert found.judge[:, 0].tolist() == [True, True, True]
    assert found.person[:, 0].tolist() == [True, True, False]


def test_numbers_score_by_distance_and_equal_distances_tie():
    values = (0.1, 0.2, 0.3)
    # The judge says 0.2 between 0.1 and 0.3: nearer to each of the others than the one left out.
    found = indicators(codes(1)[0], codes(0, 2), KEPT, "neg_rmse", values)
    assert (found.judge[:, 0].tolist(), found.person[:, 0].tolist()) == ([True, True], [False, False])
    tied = indicators(codes(0)[0], codes(2, 1), KEPT, "neg_rmse", values)
    assert (tied.judge[0, 0], tied.person[0, 0]) == (True, True)


def test_sets_score_by_jaccard_and_empty_ones_agree():
    values = (frozenset(), frozenset({"x"}), frozenset({"x", "y"}))
    found = indicators(codes(1)[0], codes(0, 2), KEPT, "jaccard", values)
    # Without the second: judge and {} share nothing, nor do {x, y} and {}.
    assert (found.judge[1, 0], found.person[1, 0]) == (True, True)
    assert (found.judge[0, 0], found.person[0, 0]) == (True, False)


def test_who_did_not_rate_is_not_counted_and_not_among_the_rest():
    found = indicators(codes(0)[0], codes(0, -1, 1), KEPT, "accuracy", ("a", "b"))
    assert found.counted[:, 0].tolist() == [True, False, True]
    assert not found.judge[1, 0]


@pytest.mark.parametrize(
    ("values", "expected"),
    [((1, 2), "neg_rmse"), ((0.5,), "neg_rmse"), ((True, False), "accuracy"), (("a",), "accuracy"),
     ((frozenset({"a"}),), "jaccard"), ((), "accuracy")],
)  # fmt: skip
def test_the_scoring_follows_the_kind_of_values(values, expected):
    assert scoring_for(values) == expected
    assert scoring_of(None, values) == expected
    assert scoring_of("accuracy", values) == "accuracy"


def test_a_scoring_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="neg_rmse compares numbers, and the ratings are values such as 'a'"):
        scoring_of("neg_rmse", ("a",))
    with pytest.raises(InputError, match="jaccard compares sets of labels, and the ratings are values such as 1"):
        scoring_of("jaccard", (1, 2))
    with pytest.raises(UnknownNameError, match="unknown scoring 'rmse'"):
        scoring_of("rmse", (1, 2))
