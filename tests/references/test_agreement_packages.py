"""Coefficients of agreement against scikit-learn, scipy, krippendorff and statsmodels, on tables drawn once.

The numbers were worked out by scikit-learn 1.9.1, scipy 1.17.1, krippendorff 0.9.0 and statsmodels 0.15.0, in an
environment of their own, on the data that stand here.
"""

import numpy as np
import pytest

from calibrant import agreement
from calibrant.agreement import Measure, RatingCube, against_each, krippendorff_alpha
from calibrant.agreement.measures import MEASURES
from calibrant.agreement.replacement_arithmetic import p_values, rejected
from calibrant.stats import benjamini_hochberg, benjamini_yekutieli, holm

TABLES = [
    [
        [25, 4],
        [4, 21],
    ],
    [
        [11, 0],
        [4, 8],
    ],
    [
        [6, 1, 2],
        [0, 7, 2],
        [2, 1, 7],
    ],
    [
        [7, 0, 1],
        [2, 15, 0],
        [6, 3, 8],
    ],
    [
        [10, 0, 1, 0],
        [0, 8, 4, 1],
        [1, 1, 7, 2],
        [1, 2, 0, 10],
    ],
    [
        [13, 1, 1, 1, 0],
        [2, 4, 2, 0, 2],
        [1, 1, 9, 1, 2],
        [0, 1, 1, 5, 1],
        [0, 3, 1, 0, 7],
    ],
]
"""Truth in rows, the rater in columns."""

# accuracy_score, balanced_accuracy_score, matthews_corrcoef, cohen_kappa_score without weights, linear and quadratic,
# scipy's spearmanr and kendalltau.
WHOLE = [
    (0.8518518519, 0.8510344828, 0.7020689655, 0.7020689655, 0.7020689655, 0.7020689655, 0.7020689655, 0.7020689655),
    (0.8260869565, 0.8333333333, 0.6992058988, 0.6567164179, 0.6567164179, 0.6567164179, 0.6992058988, 0.6992058988),
    (0.7142857143, 0.7148148148, 0.5711580707, 0.5700575816, 0.52, 0.4706994329, 0.4701363015, 0.4538495107),
    (0.7142857143, 0.7426470588, 0.6037319451, 0.5746835443, 0.4722222222, 0.3601108033, 0.3743509601, 0.3687995436),
    (0.7291666667, 0.7325174825, 0.6400001075, 0.6388888889, 0.6691936595, 0.7045143639, 0.7069864869, 0.6562319943),
    (0.6440677966, 0.6233441558, 0.5481757666, 0.5479751915, 0.5966695881, 0.6527298559, 0.670813379, 0.5846721559),
]

# scikit-learn's precision_recall_fscore_support, where a class without an answer counts 0.
AVERAGES = [
    {
        "macro": (0.8510344828, 0.8510344828, 0.8510344828),
        "micro": (0.8518518519, 0.8518518519, 0.8518518519),
        "weighted": (0.8518518519, 0.8518518519, 0.8518518519),
    },
    {
        "macro": (0.8666666667, 0.8333333333, 0.8230769231),
        "micro": (0.8260869565, 0.8260869565, 0.8260869565),
        "weighted": (0.8724637681, 0.8260869565, 0.8220735786),
    },
    {
        "macro": (0.7213804714, 0.7148148148, 0.7167755991),
        "micro": (0.7142857143, 0.7142857143, 0.7142857143),
        "weighted": (0.7183441558, 0.7142857143, 0.7149859944),
    },
    {
        "macro": (0.7296296296, 0.7426470588, 0.6937410416),
        "micro": (0.7142857143, 0.7142857143, 0.7142857143),
        "weighted": (0.785978836, 0.7142857143, 0.7119650536),
    },
    {
        "macro": (0.7282925408, 0.7325174825, 0.7285395764),
        "micro": (0.7291666667, 0.7291666667, 0.7291666667),
        "weighted": (0.7299558081, 0.7291666667, 0.7276570048),
    },
    {
        "macro": (0.6305952381, 0.6233441558, 0.6261438923),
        "micro": (0.6440677966, 0.6440677966, 0.6440677966),
        "weighted": (0.6462873285, 0.6440677966, 0.6445590764),
    },
]

# krippendorff's alpha on the four levels of measurement; statsmodels' fleiss_kappa where nothing is missing.
OBSERVERS = [
    (
        [
            [2, 2, 2, 1, 2, 1, 1, 1, 1, 2, 2, 2],
            [2, 2, 2, 1, 1, 2, 1, 1, 2, 2, 1, 1],
            [2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 2],
        ],
        (0.3333333333, 0.3333333333, 0.3333333333, 0.3333333333),
        0.3142857143,
    ),
    (
        [
            [2, 2, 3, 3, 1, 3, 3, 3, 1, None, 3, 2, 2, None, 1],
            [3, 1, None, 3, 1, 1, 3, 3, 1, 3, 1, 2, 1, None, 1],
            [2, 2, 1, 3, 1, 1, 1, 3, 1, 2, 3, 1, None, 3, 1],
            [None, 2, 3, 1, 2, 2, None, 3, 1, 1, 2, None, 1, None, 2],
        ],
        (0.1703386373, 0.226358204, 0.2392694064, 0.1887931659),
        None,
    ),
    (
        [
            [5, None, None, 1, 3, 3, 1, 4, 2, None, None, 4, None, 4, 5, None, 3, 5, 2, 4],
            [5, 1, None, None, None, 5, 3, None, 3, 4, 3, None, 5, None, None, 1, None, 2, None, 4],
            [5, None, 2, 4, None, 5, None, 1, 2, None, 5, 4, 1, 1, None, None, 3, 2, None, None],
            [5, 1, 3, 2, 1, None, 5, 1, None, None, None, 4, None, None, None, 1, 3, None, 2, 4],
            [1, 2, 1, 2, None, 5, 3, None, None, None, None, 4, 4, 1, None, 3, None, 2, None, None],
        ],
        (0.3062593145, 0.2308228785, 0.2389204545, 0.1733470424),
        None,
    ),
    (
        [
            [4, 3, 1, 1, 1, 4, 4, 3, 3, 1, 2, 4, 3, 2],
            [1, 1, 1, 4, 1, 4, 4, 3, 2, 1, 2, None, 3, None],
        ],
        (0.5555555556, 0.3856837607, 0.3812865497, 0.4103266782),
        None,
    ),
]

# statsmodels.stats.multitest.multipletests: fdr_by, fdr_bh, holm.
ADJUSTED = [
    (
        [0.001, 0.01, 0.03, 0.04, 0.2],
        [0.0114166667, 0.0570833333, 0.1141666667, 0.1141666667, 0.4566666667],
        [0.005, 0.025, 0.05, 0.05, 0.2],
        [0.005, 0.04, 0.09, 0.09, 0.2],
    ),
    (
        [0.05, 0.05, 0.05],
        [0.0916666667, 0.0916666667, 0.0916666667],
        [0.05, 0.05, 0.05],
        [0.15, 0.15, 0.15],
    ),
    (
        [0.5],
        [0.5],
        [0.5],
        [0.5],
    ),
    (
        [0.0001, 0.9, 0.02, 0.02],
        [0.0008333333, 1.0, 0.0555555556, 0.0555555556],
        [0.0004, 0.9, 0.0266666667, 0.0266666667],
        [0.0004, 0.9, 0.06, 0.06],
    ),
]

# How often d is -1, 0 and 1, epsilon, and the p-value of scipy's ttest_1samp with the alternative less.
T_TESTS = [
    ([3, 5, 2], 0.2, 0.11531837156498377),
    ([6, 14, 0], 0.0, 0.005081286060345304),
    ([9, 20, 3], 0.1, 0.004977809698020483),
]

# scipy.stats.spearmanr and kendalltau of 25 numbers, some tied.
FIRST = [
    -0.33,
    -0.53,
    0.33,
    -0.93,
    -0.83,
    0.81,
    0.61,
    -0.32,
    -0.66,
    -1.84,
    0.41,
    -0.54,
    1.61,
    -0.7,
    -0.01,
    -0.69,
    0.28,
    2.69,
    -0.34,
    -0.92,
    0.39,
    0.28,
    -1.71,
    0.96,
    -1.05,
]
SECOND = [
    0.61,
    -0.42,
    -0.19,
    -0.58,
    -1.46,
    -0.56,
    0.0,
    -0.43,
    -1.91,
    -1.85,
    -0.74,
    0.02,
    1.52,
    -1.1,
    -2.45,
    -0.46,
    -1.88,
    1.96,
    -1.87,
    0.49,
    0.2,
    0.39,
    -1.21,
    0.45,
    -0.46,
]
RANKS = (0.4509426702577914, 0.33444816053511706)


def answers(table):
    """A contingency table as two lists of answers."""
    cells = [(row, column) for row, counts in enumerate(table) for column, n in enumerate(counts) for _ in range(n)]
    return [row for row, _ in cells], [column for _, column in cells]


def ordered(function, table, **settings):
    return function(*answers(table), resampling=agreement.Resampling(resamples=100), **settings).value


@pytest.mark.parametrize(("table", "expected"), [*zip(TABLES, WHOLE, strict=True)])
def test_whole_table_statistics(table, expected):
    found = (
        ordered(agreement.accuracy, table),
        ordered(agreement.balanced_accuracy, table),
        ordered(agreement.matthews, table),
        ordered(agreement.cohens_kappa, table),
        ordered(agreement.cohens_kappa, table, weights="linear"),
        ordered(agreement.cohens_kappa, table, weights="quadratic"),
        ordered(agreement.spearman, table),
        ordered(agreement.kendall_tau, table),
    )
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("average", ["macro", "micro", "weighted"])
@pytest.mark.parametrize(("table", "expected"), [*zip(TABLES, AVERAGES, strict=True)])
def test_averages_over_classes(table, expected, average):
    found = [
        ordered(function, table, average=average) for function in (agreement.precision, agreement.recall, agreement.f1)
    ]
    assert found == pytest.approx(expected[average], abs=1e-9)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("table", TABLES)
def test_a_judge_against_one_person_is_the_statistic_of_the_two(table, name):
    truth, rated = answers(table)
    cube = RatingCube.of({"judge": dict(enumerate(rated)), "kim": dict(enumerate(truth))})
    found = against_each(cube, "judge", Measure(name=name), resampling=agreement.Resampling(resamples=100))
    functions = {"kappa": "cohens_kappa", "ac1": "gwet_ac1", "ac2": "gwet_ac2", "kendall": "kendall_tau"}
    assert found.average.value == ordered(getattr(agreement, functions.get(name, name)), table)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize(("rows", "expected", "_"), OBSERVERS)
def test_alpha_on_every_scale(rows, expected, _, metric):
    cube = RatingCube.of({f"rater {number}": dict(enumerate(row)) for number, row in enumerate(rows)})
    found = krippendorff_alpha(cube, metric=metric, resampling=agreement.Resampling(resamples=100))
    levels = ("nominal", "ordinal", "interval", "ratio")
    assert found.value == pytest.approx(expected[levels.index(metric)], abs=1e-9)


@pytest.mark.parametrize(("rows", "_", "fleiss"), [one for one in OBSERVERS if one[2] is not None])
def test_fleiss_kappa(rows, _, fleiss):
    cube = RatingCube.of({f"rater {number}": dict(enumerate(row)) for number, row in enumerate(rows)})
    assert agreement.fleiss_kappa(cube).value == pytest.approx(fleiss, abs=1e-9)


@pytest.mark.parametrize(("p", "by", "bh", "by_holm"), ADJUSTED)
def test_adjusted_p_values(p, by, bh, by_holm):
    assert list(benjamini_yekutieli(p)) == pytest.approx(by, abs=1e-9)
    assert list(benjamini_hochberg(p)) == pytest.approx(bh, abs=1e-9)
    assert list(holm(p)) == pytest.approx(by_holm, abs=1e-9)


@pytest.mark.parametrize("q", [0.01, 0.05, 0.1, 0.3])
@pytest.mark.parametrize(("p", "by", "_", "__"), ADJUSTED)
def test_what_the_alt_test_rejects_is_what_the_adjusted_p_values_say(p, by, _, __, q):
    assert rejected(np.array(p), q).tolist() == [one <= q for one in by]


@pytest.mark.parametrize(("counts", "epsilon", "expected"), T_TESTS)
def test_p_values_from_counts_are_the_t_test_of_the_differences(counts, epsilon, expected):
    judge_alone, both, person_alone = counts
    given = np.array([[sum(counts), judge_alone + both, person_alone + both, both]], float)
    assert p_values(given, epsilon)[0] == pytest.approx(expected, rel=1e-9)


def test_rank_correlations_of_many_values():
    assert agreement.spearman(FIRST, SECOND).value == pytest.approx(RANKS[0], abs=1e-12)
    assert agreement.kendall_tau(FIRST, SECOND).value == pytest.approx(RANKS[1], abs=1e-12)
