"""Statistics of contingency tables against their definitions, worked out from the answers one by one."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.agreement import tables

counts = st.integers(0, 6)
square = st.integers(2, 4).flatmap(
    lambda size: st.lists(st.lists(counts, min_size=size, max_size=size), min_size=size, max_size=size)
)


def pairs(table):
    """The two answers of every item."""
    size = len(table)
    return [(i, j) for i in range(size) for j in range(size) for _ in range(table[i][j])]


def array(table):
    return np.array(table, float)


def close(found, expected):
    return (math.isnan(found) and expected is None) or found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(square)
def test_accuracy_is_the_share_of_equal_answers(table):
    rows = pairs(table)
    expected = sum(one == other for one, other in rows) / len(rows) if rows else None
    assert close(float(tables.accuracy_of(array(table))), expected)


@settings(max_examples=150, deadline=None)
@given(square)
def test_balanced_accuracy_is_the_mean_recall_of_what_occurs(table):
    rows = pairs(table)
    truths = {truth for truth, _ in rows}
    recalls = [
        sum(rated == one for truth, rated in rows if truth == one) / sum(truth == one for truth, _ in rows)
        for one in truths
    ]
    expected = sum(recalls) / len(recalls) if recalls else None
    assert close(float(tables.balanced_accuracy_of(array(table))), expected)


@settings(max_examples=150, deadline=None)
@given(square, st.sampled_from(["identity", "linear", "quadratic"]))
def test_kappa_is_one_less_seen_over_chance_disagreement(table, kind):
    rows, size = pairs(table), len(table)
    scale = {
        "identity": lambda one, other: float(one != other),
        "linear": lambda one, other: abs(one - other) / (size - 1),
        "quadratic": lambda one, other: ((one - other) / (size - 1)) ** 2,
    }[kind]
    expected = None
    if rows:
        seen = sum(scale(one, other) for one, other in rows) / len(rows)
        chance = sum(scale(one, other) for (one, _), (_, other) in itertools.product(rows, rows)) / len(rows) ** 2
        expected = 1.0 - seen / chance if chance else 1.0
    assert close(float(tables.kappa_of(array(table), tables.agreement_weights(size, kind))), expected)


@settings(max_examples=150, deadline=None)
@given(square)
def test_matthews_is_the_correlation_of_the_classes(table):
    rows, size = pairs(table), len(table)
    expected = None
    if rows:
        first = np.array([[one == label for label in range(size)] for one, _ in rows], float)
        second = np.array([[other == label for label in range(size)] for _, other in rows], float)
        first, second = first - first.mean(0), second - second.mean(0)
        spread = math.sqrt((first**2).sum() * (second**2).sum())
        expected = float((first * second).sum()) / spread if spread > 1e-9 else None
    assert close(float(tables.matthews_of(array(table))), expected)


@settings(max_examples=100, deadline=None)
@given(square)
def test_kendall_s_tau_b_counts_pairs_of_items(table):
    rows = pairs(table)
    signs = [(np.sign(a - c), np.sign(b - d)) for (a, b), (c, d) in itertools.combinations(rows, 2)]
    difference = sum(int(one * other) for one, other in signs)
    first, second = sum(one != 0 for one, _ in signs), sum(other != 0 for _, other in signs)
    expected = difference / math.sqrt(first * second) if first and second else None
    assert close(float(tables.kendall_of(array(table))), expected)


@settings(max_examples=100, deadline=None)
@given(square)
def test_spearman_s_rho_is_the_correlation_of_mid_ranks(table):
    rows = pairs(table)

    def ranks(values):
        return [
            sum(other < one for other in values) + (sum(other == one for other in values) + 1) / 2 for one in values
        ]

    expected = None
    if rows:
        first, second = (np.array(ranks([row[side] for row in rows])) for side in (0, 1))
        if np.ptp(first) and np.ptp(second):
            expected = float(np.corrcoef(first, second)[0, 1])
    assert close(float(tables.spearman_of(array(table))), expected)


@settings(max_examples=100, deadline=None)
@given(square)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(table):
    found = array(table)
    precision, recall, f1 = (tables.class_scores(found, beta) for beta in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5)))
    for p, r, f in zip(precision, recall, f1, strict=True):
        if not math.isnan(p) and not math.isnan(r) and p + r > 0:
            assert f == pytest.approx(2 * p * r / (p + r))


@settings(max_examples=60, deadline=None)
@given(square)
def test_ac1_takes_chance_from_the_mean_rates(table):
    rows, size = pairs(table), len(table)
    expected = None
    if rows:
        rates = [
            sum((one == label) + (other == label) for one, other in rows) / (2 * len(rows)) for label in range(size)
        ]
        chance = sum(rate * (1 - rate) for rate in rates) / (size - 1)
        seen = sum(one == other for one, other in rows) / len(rows)
        expected = (seen - chance) / (1 - chance)
    assert close(float(tables.gwet_of(array(table), np.eye(size))), expected)


STATISTICS = [
    tables.accuracy_of,
    tables.balanced_accuracy_of,
    tables.matthews_of,
    tables.spearman_of,
    tables.kendall_of,
    lambda found: tables.kappa_of(found, tables.agreement_weights(3, "linear")),
    lambda found: tables.gwet_of(found, np.eye(3)),
    lambda found: tables.precision_of(found, "macro"),
    lambda found: tables.recall_of(found, "weighted"),
    lambda found: tables.f1_of(found, 1),
]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_many_tables_at_once_are_each_by_itself(statistic):
    random = np.random.default_rng(0)
    stacked = random.integers(1, 9, (4, 5, 3, 3)).astype(float)
    found = statistic(stacked)
    assert found.shape == (4, 5)
    for place in np.ndindex(4, 5):
        assert found[place] == pytest.approx(float(statistic(stacked[place])))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_an_empty_table_defines_nothing(statistic):
    assert math.isnan(float(statistic(np.zeros((3, 3)))))


@pytest.mark.parametrize("statistic", STATISTICS[2:7])
def test_twice_the_data_is_the_same_number(statistic):
    table = np.array([[7.0, 2, 1], [1, 5, 2], [0, 3, 9]])
    assert float(statistic(2 * table)) == pytest.approx(float(statistic(table)))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("identity", [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ("linear", [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]),
        ("quadratic", [[1, 0.75, 0], [0.75, 1, 0.75], [0, 0.75, 1]]),
    ],
)
def test_weights_fall_with_the_distance_on_the_scale(kind, expected):
    assert tables.agreement_weights(3, kind).tolist() == expected
    assert tables.agreement_weights(1, kind).tolist() == [[1.0]]
