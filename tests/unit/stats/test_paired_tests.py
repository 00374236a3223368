import json
import math
import sys

import numpy as np
import pytest

from calibrant.errors import InputError, WrongTypeError
from calibrant.stats import (
    TestResult,
    equivalence_t,
    mcnemar,
    paired_t,
    sign_flip,
    sign_flip_columns,
    wilcoxon,
)


@pytest.mark.parametrize("test", [paired_t, sign_flip, wilcoxon])
@pytest.mark.parametrize("differences", [[], [0.0], [0.0] * 50, [0.3]])
def test_nothing_to_tell_has_p_1(test, differences):
    result = test(differences)
    assert result.p_value == 1.0
    assert result.statistic is None or math.isfinite(result.statistic)


@pytest.mark.parametrize("n", [2, 5, 20, 900])
def test_equal_differences_have_the_p_of_the_sign_flip_test(n):
    result = paired_t([0.1] * n)
    assert result.p_value == pytest.approx(2 / 2**n)
    assert result.statistic is None
    assert result.method == "paired t (equal differences: 2 / 2^n)"
    assert sign_flip([0.1] * n).p_value == pytest.approx(2 / 2**n)


def test_differences_that_are_equal_but_for_rounding_are_equal():
    assert paired_t([0.3 - 0.2, 0.4 - 0.3, 0.9 - 0.8]).p_value == 0.25
    assert sign_flip([0.3 - 0.2, 0.4 - 0.3, 0.9 - 0.8]).p_value == 0.25


def test_a_p_value_is_never_zero():
    assert paired_t([1.0] * 5000).p_value == sys.float_info.min
    assert mcnemar(0, 5000).p_value == sys.float_info.min
    assert paired_t([1.0, 1.0 + 1e-9] * 500).p_value > 0
    assert sign_flip(np.linspace(1, 2, 100), resamples=99).p_value == 1 / 100


def test_a_result_is_a_record_that_json_can_hold():
    result = paired_t([0.5] * 3)
    assert json.loads(json.dumps(result.to_json())) == {
        "p_value": 0.25,
        "statistic": None,
        "method": "paired t (equal differences: 2 / 2^n)",
        "n": 3,
    }
    with pytest.raises(InputError, match=r"a p-value lies between 0 and 1, not at nan"):
        TestResult(p_value=math.nan, statistic=None, method="none", n=0)


def test_repeated_items_are_no_new_evidence_when_they_share_a_cluster():
    differences, clusters = [0.1, 0.3, -0.1, 0.2], ["a", "b", "c", "d"]
    for test in (paired_t, sign_flip):
        once = test(differences)
        again = test(differences * 3, clusters=clusters * 3)
        assert again.p_value == pytest.approx(once.p_value)
        assert again.n == 12
    assert paired_t([0.1, 0.2], clusters=["a", "a"]).p_value == 1.0


def test_all_differences_of_clusters_that_agree_have_the_p_of_their_number():
    assert paired_t([0.2] * 12, clusters=[0, 1, 2] * 4).p_value == pytest.approx(0.25)


def test_equal_systems_are_equivalent_and_far_ones_are_not():
    assert equivalence_t([0.0, 0.01, -0.01, 0.0, 0.005], 0.1).p_value < 0.001
    assert equivalence_t([0.2, 0.21, 0.19, 0.2, 0.205], 0.1).p_value > 0.999
    assert equivalence_t([0.1], 0.2).p_value == 1.0


def test_identical_systems_are_equivalent_by_their_number_of_items():
    result = equivalence_t([0.0] * 6, 0.1)
    assert result.p_value == 1 / 64
    assert equivalence_t([0.3] * 6, 0.1).p_value == 1.0
    with pytest.raises(InputError, match=r"must be above 0, not 0"):
        equivalence_t([0.1, 0.2], 0)


def test_mcnemar_of_no_discordant_item_is_1():
    assert mcnemar(0, 0).p_value == mcnemar(0, 0, mid_p=True).p_value == 1.0
    assert mcnemar(4, 4).p_value == 1.0
    assert (mcnemar(2, 7).statistic, mcnemar(2, 7).n) == (2.0, 9)
    with pytest.raises(WrongTypeError, match=r"only_a must be a whole number, not 'two'"):
        mcnemar("two", 1)


def test_wilcoxon_leaves_out_zeros_and_counts_the_rest():
    with_zeros, without = wilcoxon([0, 1, 2, 0, -3, 4]), wilcoxon([1, 2, -3, 4])
    assert with_zeros == without
    assert (without.statistic, without.n, without.method) == (7.0, 4, "wilcoxon, exact")


def test_wilcoxon_hardly_changes_where_it_stops_counting():
    differences = np.random.default_rng(5).normal(0.15, 1, size=201)
    counted, approximated = wilcoxon(differences[:200]), wilcoxon(differences)
    assert approximated.method == "wilcoxon, normal"
    assert counted.p_value == pytest.approx(approximated.p_value, rel=0.2)


def test_the_sign_flip_test_is_exact_for_32_differences_and_sampled_for_33():
    differences = np.random.default_rng(6).normal(0.3, 1, size=33)
    assert sign_flip(differences[:32]).method == "sign-flip, exact"
    sampled = sign_flip(differences, resamples=20_000)
    assert sampled.method == "sign-flip, 20000 resamples"
    # The same question of the same data: the last difference set to zero is left out, and the answer becomes exact.
    exact = sign_flip([*differences[:32], 0.0])
    almost = sign_flip([*differences[:32], 1e-9], resamples=20_000)
    assert almost.p_value == pytest.approx(exact.p_value, abs=4 * (exact.p_value / 20_000) ** 0.5)


def test_the_same_seed_gives_the_same_answer_and_another_seed_another():
    differences = np.random.default_rng(8).normal(0.1, 1, size=300)
    assert sign_flip(differences, seed=1) == sign_flip(differences, seed=1)
    assert sign_flip(differences, seed=1).p_value != sign_flip(differences, seed=2).p_value


def test_many_items_are_drawn_in_pieces_and_agree_with_the_t_test():
    differences = np.random.default_rng(8).normal(0.02, 1, size=1700)
    sampled = sign_flip(differences, resamples=20_000)
    assert sampled.p_value == pytest.approx(paired_t(differences).p_value, abs=0.015)  # four deviations of a share


def test_columns_share_their_signs_and_say_what_each_would_say_alone():
    table = np.random.default_rng(9).normal(0.1, 1, size=(100, 3))
    table[:, 1] = 0.0
    together = sign_flip_columns(table, resamples=400, seed=3)
    assert together == [sign_flip(column, resamples=400, seed=3) for column in table.T]
    assert together[1].p_value == 1.0
    assert sign_flip_columns(np.zeros((0, 2)))[0].p_value == 1.0


def test_columns_come_as_a_table():
    with pytest.raises(InputError, match=r"differences must be a table of items and columns, not shape \(3,\)"):
        sign_flip_columns([0.1, 0.2, 0.3])
    with pytest.raises(InputError, match=r"differences must be one row of numbers, not shape \(2, 2\)"):
        sign_flip([[1, 2], [3, 4]])


def test_a_clear_difference_is_found_and_none_is_not():
    random = np.random.default_rng(10)
    assert sign_flip(random.normal(0.5, 1, size=200)).p_value < 0.001
    assert sign_flip(np.concatenate([random.normal(size=100), -random.normal(size=100)])).p_value > 0.05


def test_at_least_one_resample_is_needed():
    with pytest.raises(InputError, match=r"resamples must be at least 1, not 0"):
        sign_flip(range(50), resamples=0)
