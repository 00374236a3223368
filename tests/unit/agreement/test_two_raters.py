import math
import random

import pytest

from calibrant.agreement import (
    Coefficient,
    Measure,
    Resampling,
    accuracy,
    balanced_accuracy,
    cohens_kappa,
    f1,
    gwet_ac1,
    gwet_ac2,
    kendall_tau,
    matthews,
    precision,
    recall,
    spearman,
)
from calibrant.errors import InputError, UnknownNameError

EVERY = [
    accuracy,
    balanced_accuracy,
    cohens_kappa,
    f1,
    gwet_ac1,
    gwet_ac2,
    kendall_tau,
    matthews,
    precision,
    recall,
    spearman,
]
CATEGORICAL = [accuracy, balanced_accuracy, cohens_kappa, f1, gwet_ac1, matthews]


def noisy(count, seed=0, labels="abc", right=0.8):
    draw = random.Random(seed)
    truth = [draw.choice(labels) for _ in range(count)]
    return truth, [one if draw.random() < right else draw.choice(labels) for one in truth]


@pytest.mark.parametrize("statistic", EVERY)
def test_no_common_item_is_a_reason(statistic):
    found = statistic([1, None], [None, 2])
    assert found.value is None
    assert found.reason == "no item was rated by both"
    assert found.coverage.total == 2


@pytest.mark.parametrize("statistic", EVERY)
def test_nothing_at_all_is_a_reason(statistic):
    assert statistic([], []).value is None


@pytest.mark.parametrize("statistic", EVERY)
def test_constant_raters_give_a_value_or_a_reason(statistic):
    for second in ([1, 1, 1], [2, 2, 2], [1, 2, 1]):
        found = statistic([1, 1, 1], second)
        assert found.value is None or math.isfinite(found.value)
        assert found.value is not None or found.reason


@pytest.mark.parametrize("statistic", EVERY)
def test_one_item_has_no_interval_or_a_wide_one(statistic):
    found = statistic([1], [1])
    assert found.value is None or found.lower is None or found.upper - found.lower > 0.7


@pytest.mark.parametrize("statistic", CATEGORICAL)
def test_the_interval_surrounds_the_value(statistic):
    found = statistic(*noisy(300))
    assert found.lower < found.value < found.upper
    assert found.upper - found.lower < 0.2
    assert found.n == 300


@pytest.mark.parametrize("statistic", CATEGORICAL)
def test_clusters_that_repeat_items_widen_the_interval(statistic):
    truth, rated = noisy(60)
    plain = statistic(truth * 4, rated * 4)
    clustered = statistic(truth * 4, rated * 4, clusters=list(range(60)) * 4)
    assert clustered.value == pytest.approx(plain.value)
    assert clustered.upper - clustered.lower > 1.6 * (plain.upper - plain.lower)
    assert "cluster" in clustered.method


def test_two_constant_equal_raters_agree_perfectly_but_say_that_it_shows_little():
    found = cohens_kappa("yyyy", "yyyy")
    assert (found.value, found.lower, found.upper) == (1.0, None, None)
    assert found.reason == "no interval: every resample of these ratings gives the same value"


def test_perfect_agreement_keeps_an_interval():
    found = cohens_kappa("ab" * 50, "ab" * 50)
    assert found.value == found.upper == 1.0
    assert 0.9 < found.lower < 0.99
    assert found.method == "wilson, carried through"
    clustered = cohens_kappa("ab" * 50, "ab" * 50, clusters=[item // 10 for item in range(100)])
    assert clustered.lower < found.lower


def test_a_constant_rater_leaves_no_correlation():
    found = matthews("aaaa", "aabb")
    assert found.reason == "the first rater always gave one answer, so matthews is not defined"
    assert matthews("bbbb", "aaaa").reason.startswith("the first rater and the second rater always gave one answer")


def test_prevalence_and_agreement_by_chance_stand_beside_kappa():
    found = cohens_kappa(["y"] * 9 + ["n"], ["y"] * 9 + ["y"])
    assert dict(found.prevalence) == {"n": 0.05, "y": 0.95}
    assert (found.observed, found.expected) == (0.9, pytest.approx(0.9))
    assert found.value == pytest.approx(0.0)
    assert gwet_ac1(["y"] * 9 + ["n"], ["y"] * 9 + ["y"]).value > 0.85


def test_undefined_classes_have_reasons():
    assert (
        precision("ab", "bb", positive="a").reason == "nothing was rated 'a', so there is no share of it that is right"
    )
    assert (
        recall("bb", "ab", positive="a").reason == "nothing is 'a' in truth, so there is no share of it that was found"
    )
    assert f1("ab", "ab", positive="c").reason == "nobody answered 'c'"
    assert f1([1, None, 2], [1, 3, 2], positive=3).reason == "neither rater answered 3"


def test_the_order_of_labels_is_asked_for():
    assert cohens_kappa("ab", "ab", weights="linear").reason.startswith("labels have no order of their own")
    low_to_high = ["bad", "fair", "good"]
    one, other = ["bad", "good", "fair", "good"], ["bad", "fair", "fair", "bad"]
    by_number = cohens_kappa([0, 2, 1, 2], [0, 1, 1, 0], weights="quadratic")
    assert cohens_kappa(one, other, weights="quadratic", order=low_to_high).value == pytest.approx(by_number.value)
    assert spearman(one, other, order=low_to_high).value == pytest.approx(spearman([0, 2, 1, 2], [0, 1, 1, 0]).value)
    with pytest.raises(InputError, match="order lists every answer from low to high, but 'fair' is not in it"):
        cohens_kappa(one, other, weights="linear", order=["bad", "good"])


def test_sets_of_labels_are_compared_as_wholes():
    one, other = [["x", "y"], ["x"], []], [["y", "x"], [], []]
    assert accuracy(one, other).value == pytest.approx(2 / 3)
    assert cohens_kappa(one, other).reason == "kappa compares single answers, and these are sets of labels"


def test_many_values_are_no_categories_but_can_be_ranked_and_matched():
    first = [number * 1.5 for number in range(80)]
    second = [value + (7 if position % 3 else -5) for position, value in enumerate(first)]
    assert cohens_kappa(first, second).reason.endswith("distinct values are more than 50, and no categories")
    assert spearman(first, second).method == "fisher z"
    assert kendall_tau(first, second).lower < kendall_tau(first, second).value < kendall_tau(first, second).upper
    assert accuracy(first, second).value < 0.2
    assert not accuracy(first, second).prevalence


def test_rank_correlations_of_many_values_take_clusters():
    draw = random.Random(3)
    first = [draw.random() for _ in range(240)]
    second = [value + draw.gauss(0, 0.3) for value in first]
    found = spearman(first, second, clusters=[position // 2 for position in range(240)])
    assert found.method == "cluster jackknife"
    assert found.lower < found.value < found.upper
    alone = spearman(first, second, clusters=["one"] * 240)
    assert alone.reason == "no interval: too few clusters"


def test_rank_correlations_of_too_few_or_constant_values_have_reasons():
    values = [number / 7 for number in range(51)]
    assert spearman([*values, None], [*[None] * 51, 1.0]).value is None
    constant = spearman(values, [0.5] * 51)
    assert constant.reason == "the second rater always gave one answer, so spearman is not defined"


def test_the_same_seed_gives_the_same_interval_and_another_level_another():
    truth, rated = noisy(100)
    first = cohens_kappa(truth, rated, resampling=Resampling(seed=3))
    assert first == cohens_kappa(truth, rated, resampling=Resampling(seed=3))
    wide = cohens_kappa(truth, rated, resampling=Resampling(level=0.99))
    assert wide.level == 0.99
    assert wide.upper - wide.lower > first.upper - first.lower


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        Resampling(level=95)
    with pytest.raises(InputError, match="resamples must be at least 100"):
        Resampling(resamples=10)


def test_sequences_of_unlike_length_are_refused():
    with pytest.raises(InputError, match="both raters answer the same items in the same order, but gave 2 and 1"):
        accuracy([1, 2], [1])
    with pytest.raises(InputError, match="clusters name one for each of the 2 items"):
        accuracy([1, 2], [1, 2], clusters=["a", None])


def test_measures_say_what_they_do_not_know():
    with pytest.raises(UnknownNameError, match="unknown measure 'kapa'; expected one of: ac1, ac2, accuracy"):
        Measure(name="kapa")
    with pytest.raises(UnknownNameError, match="unknown weights 'cubic'; expected one of: linear, quadratic"):
        Measure(name="kappa", weights="cubic")
    with pytest.raises(UnknownNameError, match="unknown average 'samples'; expected one of: macro, micro, weighted"):
        Measure(name="f1", average="samples")
    with pytest.raises(InputError, match="accuracy has no weights; kappa and ac2 have"):
        Measure(name="accuracy", weights="linear")


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (-0.1, "poor"),
        (0.0, "slight"),
        (0.2, "slight"),
        (0.4, "fair"),
        (0.6, "moderate"),
        (0.8, "substantial"),
        (0.81, "almost perfect"),
    ],
)
def test_interpretation_is_right_closed(value, word):
    found = cohens_kappa("ab", "ab")
    fields = {**found.to_json(), "value": value, "lower": None, "upper": None}
    assert Coefficient.from_json(fields).interpretation == word


def test_a_coefficient_without_a_value_has_no_interpretation():
    assert cohens_kappa([], []).interpretation is None


def test_a_coefficient_survives_json_and_pickle():
    import json
    import pickle

    found = cohens_kappa([True, False, True], [True, True, True])
    again = Coefficient.from_json(json.loads(json.dumps(found.to_json())))
    assert again.to_json() == found.to_json()
    assert list(found.to_json()["prevalence"]) == ["false", "true"]
    copy = pickle.loads(pickle.dumps(found))
    assert copy == found
    assert hash(copy) == hash(found)
