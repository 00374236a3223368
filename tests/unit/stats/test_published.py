import math

import numpy as np
import pytest

from calibrant.errors import InputError, UnknownNameError
from calibrant.estimates import Coverage
from calibrant.stats import clopper_pearson, jeffreys, mean, mean_interval, proportion, wilson


def test_a_pass_rate_is_published_as_the_interface_prints_it():
    estimate = proportion(322, 397, coverage=Coverage(rated=397, failed=3, codes={"judge_timeout": 3}))
    assert (estimate.lower, estimate.upper) == pytest.approx((0.7697, 0.8465), abs=5e-5)
    assert estimate.method == "wilson"
    assert estimate.worst_case == (0.805, 0.8125)
    assert str(estimate) == "0.811 [0.770, 0.847] n=397, 3 failed"


def test_few_items_get_an_interval_of_the_beta_distribution():
    assert proportion(39, 39).method == "jeffreys"
    assert (proportion(9, 10).lower, proportion(9, 10).upper) == jeffreys(9, 10)
    assert proportion(40, 40).method == "wilson"


def test_a_bound_of_few_items_that_is_to_decide_alone_is_exact():
    estimate = proportion(9, 10, side="lower")
    assert estimate.method == "clopper_pearson"
    assert (estimate.lower, estimate.upper) == clopper_pearson(9, 10, side="lower")
    assert proportion(90, 100, side="lower").lower == wilson(90, 100, side="lower").lower


def test_zeros_and_ones_are_counted():
    assert proportion([True, False, True]) == proportion(2, 3)
    assert proportion(np.ones(60, dtype=int)) == proportion(60, 60)
    with pytest.raises(InputError, match=r"position 1: 0\.5 is neither 0 nor 1"):
        proportion([1, 0.5])


def test_nothing_counted_is_an_estimate_that_says_so():
    for estimate in (proportion(0, 0), proportion([]), proportion([], clusters=[])):
        assert estimate.value is None
        assert estimate.reason == "there was nothing to count"
    lost = mean([], coverage=Coverage(rated=0, failed=4))
    assert str(lost) == "no estimate: there were no values (n=0, 4 failed)"


def test_a_wrong_setting_is_an_error_also_when_there_is_nothing_to_count():
    with pytest.raises(UnknownNameError):
        proportion(0, 0, side="both")
    with pytest.raises(InputError, match="level"):
        mean([], level=95)


def test_a_coverage_that_contradicts_the_data_is_refused():
    with pytest.raises(InputError, match=r"coverage says that 5 items were rated, but there are 4"):
        proportion(2, 4, coverage=Coverage(rated=5))
    with pytest.raises(InputError, match=r"coverage says that 5 items were rated, but there are 2"):
        mean([0.1, 0.2], coverage=Coverage(rated=5))


def test_clusters_need_the_values():
    with pytest.raises(InputError, match=r"pass the zeros and ones instead of their count"):
        proportion(2, 4, clusters=["a", "a", "b", "b"])


def test_items_that_repeat_each_other_count_as_fewer():
    passes = [1, 1, 1, 0] * 25
    clusters = [row // 5 for row in range(100)]
    repeated = [float(cluster % 4 != 0) for cluster in clusters]
    assert sum(repeated) == sum(passes)
    spread, together = proportion(passes, clusters=clusters), proportion(repeated, clusters=clusters)
    assert together.method == spread.method == "wilson, clustered"
    assert together.upper - together.lower > 1.8 * (spread.upper - spread.lower)


def test_equal_verdicts_of_all_items_count_each_cluster_once():
    estimate = proportion([1] * 100, clusters=[row // 10 for row in range(100)])
    assert estimate.upper == 1.0
    assert estimate.lower < wilson(10, 10).lower  # t of 9 df is wider than the normal
    assert estimate.lower > 0.6


def test_one_cluster_has_a_value_but_no_interval():
    for estimate in (proportion([1, 0, 1], clusters="aaa"), mean([1, 0.5, 1], clusters="aaa")):
        assert estimate.value is not None
        assert estimate.lower is estimate.upper is None
        assert estimate.reason == "no interval: one cluster does not say how far values vary"


def test_a_mean_has_the_t_interval_and_with_clusters_the_robust_one():
    values, clusters = [0.2, 0.4, 0.9, 0.8], ["a", "a", "b", "c"]
    plain, robust = mean(values), mean(values, clusters=clusters)
    assert (plain.lower, plain.upper) == pytest.approx(mean_interval(values))
    assert (robust.lower, robust.upper) == pytest.approx(mean_interval(values, clusters=clusters))
    assert (plain.method, robust.method) == ("t", "t, clustered")


def test_a_mean_with_one_bound_has_no_other():
    estimate = mean([0.2, 0.4, 0.9], side="lower")
    assert estimate.lower == pytest.approx(mean_interval([0.2, 0.4, 0.9], side="lower").lower)
    assert estimate.upper is None
    assert mean([0.2, 0.4, 0.9], side="upper").lower is None


def test_a_single_value_is_published_without_an_interval():
    estimate = mean([0.5])
    assert (estimate.value, estimate.lower, estimate.upper) == (0.5, None, None)
    assert estimate.reason == "no interval: one value does not say how far values vary"


def test_equal_scores_are_not_taken_for_certainty():
    perfect = mean([1.0] * 20)
    assert perfect.upper == 1.0
    assert perfect.lower == pytest.approx(clopper_pearson(20, 20).lower)  # what passes alone would say
    assert perfect.method == "equal values"
    middle = mean([0.5] * 20, side="lower")
    assert middle.lower == pytest.approx(0.5 * clopper_pearson(20, 20, side="lower").lower)


def test_equal_scores_in_clusters_say_as_much_as_there_are_clusters():
    assert mean([1.0] * 20, clusters=[0, 1] * 10).lower == pytest.approx(mean([1.0] * 2).lower)


def test_equal_values_of_an_unknown_scale_have_no_interval():
    estimate = mean([3.0, 3.0, 3.0])
    assert estimate.lower is None
    assert estimate.reason == "no interval: all values are equal, and their scale is unknown; pass scale"
    assert mean([3.0, 3.0, 3.0], scale=(1, 5)).lower == pytest.approx(3 - 2 * (1 - 0.025 ** (1 / 3)))


def test_the_worst_case_is_taken_on_the_scale():
    coverage = Coverage(rated=2, failed=2)
    assert mean([0.5, 0.7], coverage=coverage).worst_case == pytest.approx((0.3, 0.8))
    assert mean([3, 5], coverage=coverage, scale=(1, 5)).worst_case == pytest.approx((2.5, 4.5))
    assert mean([3, 5], coverage=coverage).worst_case is None


def test_values_outside_of_their_scale_are_named():
    with pytest.raises(InputError, match=r"position 1: 6 lies outside of the scale 1 to 5"):
        mean([3, 6], scale=(1, 5))


def test_a_scale_rises_from_worst_to_best():
    with pytest.raises(InputError, match=r"in rising order, not 5 and 1"):
        mean([2, 3], scale=(5, 1))


def test_values_that_are_equal_but_for_rounding_are_not_taken_for_certainty():
    estimate = mean([0.1, 0.3 - 0.2, 0.4 - 0.3])
    assert estimate.method == "equal values"
    assert (estimate.lower, estimate.upper) == pytest.approx((mean([0.1] * 3).lower, mean([0.1] * 3).upper))


def test_a_count_without_n_is_asked_for_its_n():
    with pytest.raises(
        InputError, match=r"a count of successes needs n, the number of items; or pass the zeros and ones"
    ):
        proportion(3)


def test_no_estimate_is_ever_nan():
    with pytest.raises(InputError, match=r"position 0: nan"):
        mean([math.nan])
    with pytest.raises(InputError, match=r"position 0: nan"):
        proportion([math.nan])


@pytest.mark.parametrize("side", ["two", "lower", "upper"])
def test_no_bound_lies_outside_of_a_scale_that_is_named(side):
    values = [1.0, 1.0, 1.0, 0.5]
    free, within = mean(values, side=side), mean(values, side=side, scale=(0.0, 1.0))
    assert within.lower == free.lower
    assert within.upper == (None if free.upper is None else 1.0)
    assert free.upper is None or free.upper > 1.0


def test_a_user_who_names_no_scale_has_the_bounds_of_t():
    assert mean([1.0, 1.0, 1.0, 0.5]).upper > 1.0
