"""Coefficients of agreement against numbers from outside, each with its source."""

import pytest

from calibrant.agreement import (
    RatingCube,
    accuracy,
    balanced_accuracy,
    cohens_kappa,
    f1,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    kendall_tau,
    krippendorff_alpha,
    many_raters_ac1,
    many_raters_ac2,
    matthews,
    mean_pairwise_kappa,
    precision,
    recall,
    spearman,
)


def spread(table):
    """A contingency table as two lists of answers."""
    cells = [
        (row, column) for row, counts in enumerate(table) for column, count in enumerate(counts) for _ in range(count)
    ]
    return [row for row, _ in cells], [column for _, column in cells]


def distributed(counts):
    """How often each answer was given to each item, as records of unnamed raters."""
    return [
        (item, f"rater {place}", answer)
        for item, row in enumerate(counts)
        for place, answer in enumerate([answer for answer, count in enumerate(row, start=1) for _ in range(count)])
    ]


TRUTH, RATED = spread([[11, 3, 1], [2, 8, 4], [0, 5, 16]])

# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units.
# The same data are cac.raw4raters of the R package irrCAC 1.3 (Gwet 2014).
OBSERVERS = {
    "A": [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    "B": [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    "C": [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    "D": [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
}
FOUR = RatingCube.of({name: dict(enumerate(answers)) for name, answers in OBSERVERS.items()})

# distrib.6raters of irrCAC 1.3: six psychiatrists, fifteen patients, five diagnoses.
PSYCHIATRISTS = distributed(
    [
        [0, 0, 0, 6, 0],
        [0, 3, 0, 0, 3],
        [0, 1, 4, 0, 1],
        [0, 0, 0, 0, 6],
        [0, 3, 0, 3, 0],
        [2, 0, 4, 0, 0],
        [0, 0, 4, 0, 2],
        [2, 0, 3, 1, 0],
        [2, 0, 0, 4, 0],
        [0, 0, 0, 0, 6],
        [1, 0, 0, 5, 0],
        [1, 1, 0, 4, 0],
        [0, 3, 3, 0, 0],
        [1, 0, 0, 5, 0],
        [0, 2, 0, 3, 1],
    ]
)


@pytest.mark.parametrize(
    ("metric", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_is_that_of_krippendorff_2011(metric, value):
    assert round(krippendorff_alpha(FOUR, metric=metric).value, 3) == value


@pytest.mark.parametrize(
    ("metric", "value"),
    # krippendorff 0.9.0 for Python: alpha(value_counts=..., value_domain=[1, 2, 3, 4, 5])
    [
        ("nominal", 0.4204384268214054),
        ("ordinal", 0.34146346553694806),
        ("interval", 0.25951095585900275),
        ("ratio", 0.13598649731668333),
    ],
)
def test_alpha_is_that_of_the_krippendorff_package(metric, value):
    assert krippendorff_alpha(PSYCHIATRISTS, metric=metric).value == pytest.approx(value, abs=1e-12)


def test_coefficients_of_many_raters_with_missing_ratings_are_those_of_irrcac():
    assert round(many_raters_ac1(FOUR).value, 5) == 0.77544
    assert round(fleiss_kappa(FOUR).value, 5) == 0.76117
    assert round(krippendorff_alpha(FOUR).value, 5) == 0.74342


def test_coefficients_of_six_psychiatrists_are_those_of_irrcac_and_statsmodels():
    assert many_raters_ac1(PSYCHIATRISTS).value == pytest.approx(0.4448007, abs=5e-8)
    # statsmodels 0.15.0, inter_rater.fleiss_kappa: 0.41392649903288237
    assert fleiss_kappa(PSYCHIATRISTS).value == pytest.approx(0.41392649903288237, abs=1e-12)


def test_fleiss_kappa_of_fourteen_raters_is_that_of_the_worked_example():
    # The worked example of Wikipedia, "Fleiss' kappa": ten subjects, fourteen raters, five categories.
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    assert round(fleiss_kappa(distributed(counts)).value, 3) == 0.210


def test_two_abstractors_are_those_of_irrcac():
    # cont3x3abstractors of irrCAC 1.3 (Gwet 2014): kappa 0.7964094, se 0.05891072, AC1 0.8493305, se 0.04321747
    first, second = spread([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    kappa, ac1 = cohens_kappa(first, second), gwet_ac1(first, second)
    assert kappa.value == pytest.approx(0.7964094, abs=5e-8)
    assert ac1.value == pytest.approx(0.8493305, abs=5e-8)
    assert kappa.upper - kappa.lower == pytest.approx(2 * 1.96 * 0.05891072, rel=0.05)
    assert ac1.upper - ac1.lower == pytest.approx(2 * 1.96 * 0.04321747, rel=0.05)
    assert krippendorff_alpha({"a": dict(enumerate(first)), "b": dict(enumerate(second))}).value == pytest.approx(
        0.7972585, abs=5e-8
    )


def test_cohens_kappa_is_that_of_the_scikit_learn_documentation():
    first = ["negative", "positive", "negative", "neutral", "positive"]
    second = ["negative", "positive", "negative", "neutral", "negative"]
    assert cohens_kappa(first, second).value == pytest.approx(0.6875)


@pytest.mark.parametrize(
    ("weights", "value"),
    # scikit-learn 1.9.1, cohen_kappa_score
    [(None, 0.5426829268292683), ("linear", 0.6409335727109515), ("quadratic", 0.7356051703877791)],
)
def test_weighted_kappa_is_that_of_scikit_learn(weights, value):
    assert cohens_kappa(TRUTH, RATED, weights=weights).value == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(
    ("average", "values"),
    # scikit-learn 1.9.1: precision_score, recall_score, f1_score
    [
        ("macro", (0.7026862026862027, 0.6888888888888888, 0.6936507936507935)),
        ("micro", (0.7, 0.7, 0.7)),
        ("weighted", (0.7138461538461539, 0.7, 0.705047619047619)),
    ],
)
def test_averages_over_classes_are_those_of_scikit_learn(average, values):
    found = [statistic(TRUTH, RATED, average=average).value for statistic in (precision, recall, f1)]
    assert found == pytest.approx(list(values), abs=1e-12)


def test_one_class_is_that_of_scikit_learn():
    # scikit-learn 1.9.1, labels equal to 1 against the rest
    found = [statistic(TRUTH, RATED, positive=1).value for statistic in (precision, recall, f1)]
    assert found == pytest.approx([0.5, 0.5714285714285714, 0.5333333333333333], abs=1e-12)


def test_a_class_that_was_never_answered_counts_as_in_the_scikit_learn_documentation():
    # The examples of precision_score, recall_score and f1_score, scikit-learn 1.9.1.
    truth, rated = [0, 1, 2, 0, 1, 2], [0, 2, 1, 0, 0, 1]
    found = [statistic(truth, rated, average="macro").value for statistic in (precision, recall, f1)]
    assert found == pytest.approx([0.2222222, 0.3333333, 0.2666667], abs=5e-8)


def test_whole_table_statistics_are_those_of_scikit_learn():
    # scikit-learn 1.9.1: accuracy_score, balanced_accuracy_score, matthews_corrcoef
    found = [statistic(TRUTH, RATED).value for statistic in (accuracy, balanced_accuracy, matthews)]
    assert found == pytest.approx([0.7, 0.6888888888888888, 0.5440101864604989], abs=1e-12)


def test_two_classes_are_those_of_the_scikit_learn_documentation():
    assert balanced_accuracy([0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1]).value == pytest.approx(0.625)
    assert matthews([1, 1, 1, -1], [1, -1, 1, 1]).value == pytest.approx(-1 / 3)


def test_rank_correlations_of_tables_are_those_of_scipy():
    # scipy 1.17.1: spearmanr, kendalltau
    assert spearman(TRUTH, RATED).value == pytest.approx(0.7257541113244592, abs=1e-12)
    assert kendall_tau(TRUTH, RATED).value == pytest.approx(0.6748171301712256, abs=1e-12)


def test_rank_correlations_are_those_of_the_scipy_documentation():
    assert kendall_tau([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]).value == pytest.approx(-0.47140452079103173)
    assert spearman([1, 2, 3, 4, 5], [5, 6, 7, 8, 7]).value == pytest.approx(0.8207826816681233)


def test_ac2_follows_gwets_formula():
    # Gwet 2014, chapter 3, by hand: quadratic weights 1, 3/4, 0; agreement 11/12; chance 6/6 * 11/18; so 11/14.
    assert gwet_ac2([1, 2, 3], [1, 2, 2]).value == pytest.approx(11 / 14)
    assert many_raters_ac2({"a": {1: 1, 2: 2, 3: 3}, "b": {1: 1, 2: 2, 3: 2}}).value == pytest.approx(11 / 14)


def test_the_mean_of_pairwise_kappas_is_that_of_scikit_learn_pair_by_pair():
    # scikit-learn 1.9.1, cohen_kappa_score of each pair: 1.0, 1/6 and 1/6
    raters = {"a": "xxxyy", "b": "xxxyy", "c": "xxyxy"}
    cube = RatingCube.of({name: dict(enumerate(answers)) for name, answers in raters.items()})
    assert mean_pairwise_kappa(cube).value == pytest.approx(0.44444444444444436, abs=1e-12)
