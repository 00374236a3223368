"""Numbers from papers, from R and from scipy.stats, which the package itself never loads."""

import inspect

import numpy as np
import pytest
from scipy import stats as scipy_stats

from calibrant import stats

RANDOM = np.random.default_rng(20)
SCORES = RANDOM.normal(0.1, 1.0, size=40)
# scipy 1.15 gave two things new names; the references hold in the oldest one that we allow too.
IS_RENAMED = "rng" in inspect.signature(scipy_stats.bootstrap).parameters
SEEDED, NORMAL = ("rng", "asymptotic") if IS_RENAMED else ("random_state", "approx")


# Newcombe (1998), Statistics in Medicine 17:857-872, table I: methods 3 (Wilson) and 5 (Clopper-Pearson).
NEWCOMBE = [
    (81, 263, (0.2553, 0.3662), (0.2527, 0.3676)),
    (15, 148, (0.0624, 0.1605), (0.0578, 0.1617)),
    (0, 20, (0.0000, 0.1611), (0.0000, 0.1684)),
    (1, 29, (0.0061, 0.1718), (0.0009, 0.1776)),
]


@pytest.mark.parametrize(("successes", "n", "score", "exact"), NEWCOMBE)
def test_proportions_have_the_intervals_of_newcombes_examples(successes, n, score, exact):
    assert stats.wilson(successes, n) == pytest.approx(score, abs=5e-5)
    assert stats.clopper_pearson(successes, n) == pytest.approx(exact, abs=5e-5)


@pytest.mark.parametrize(("successes", "n"), [(0, 7), (1, 7), (3, 7), (7, 7), (90, 100), (399, 400)])
@pytest.mark.parametrize(("side", "alternative"), [("two", "two-sided"), ("lower", "greater"), ("upper", "less")])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.999])
def test_intervals_of_proportions_are_those_of_scipy_with_two_sides_and_with_one(
    successes, n, side, alternative, level
):
    test = scipy_stats.binomtest(successes, n, alternative=alternative)
    for ours, theirs in ((stats.wilson, "wilson"), (stats.clopper_pearson, "exact")):
        expected = test.proportion_ci(level, method=theirs)
        assert ours(successes, n, level=level, side=side) == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize(("successes", "n"), [(1, 7), (3, 7), (90, 100), (399, 400)])
def test_jeffreys_interval_is_the_quantiles_of_the_beta_posterior(successes, n):
    posterior = scipy_stats.beta(successes + 0.5, n - successes + 0.5)
    assert stats.jeffreys(successes, n, level=0.9) == pytest.approx(posterior.ppf([0.05, 0.95]), abs=1e-12)
    assert stats.jeffreys(successes, n, level=0.9, side="lower").lower == pytest.approx(posterior.ppf(0.1), abs=1e-12)


def test_the_jeffreys_interval_of_no_success_ends_where_brown_cai_and_dasgupta_print_it():
    # Statistical Science 16 (2001), table 5, n = 7 and 10, x = 0: upper limits .292 and .217.
    assert stats.jeffreys(0, 7) == pytest.approx((0, 0.292), abs=5e-4)
    assert stats.jeffreys(0, 10) == pytest.approx((0, 0.217), abs=5e-4)


def test_the_interval_of_a_mean_is_that_of_scipys_t_test():
    expected = scipy_stats.ttest_1samp(SCORES, 0).confidence_interval(0.9)
    assert stats.mean_interval(SCORES, level=0.9) == pytest.approx(tuple(expected))
    one_sided = scipy_stats.ttest_1samp(SCORES, 0, alternative="greater").confidence_interval(0.9)
    assert stats.mean_interval(SCORES, level=0.9, side="lower") == pytest.approx(tuple(one_sided))


def test_the_paired_t_test_is_scipys():
    expected = scipy_stats.ttest_1samp(SCORES, 0)
    found = stats.paired_t(SCORES)
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))


def test_equivalence_is_the_worse_of_scipys_two_one_sided_t_tests():
    above = scipy_stats.ttest_1samp(SCORES, -0.5, alternative="greater").pvalue
    below = scipy_stats.ttest_1samp(SCORES, 0.5, alternative="less").pvalue
    assert stats.equivalence_t(SCORES, 0.5).p_value == pytest.approx(max(above, below))


@pytest.mark.parametrize("n", [1, 2, 5, 12, 40])
def test_wilcoxon_without_ties_is_scipys_exact_test(n):
    expected = scipy_stats.wilcoxon(SCORES[:n], method="exact")
    assert stats.wilcoxon(SCORES[:n]).p_value == pytest.approx(expected.pvalue)


def test_wilcoxon_with_ties_is_scipys_permutation_of_the_same_statistic():
    differences = np.array([1, 1, -1, 2, 3, 3, -2, 1, 4, 2], dtype=float)
    expected = scipy_stats.wilcoxon(differences, method=scipy_stats.PermutationMethod())
    assert stats.wilcoxon(differences).p_value == pytest.approx(expected.pvalue)


def test_wilcoxon_of_many_is_scipys_normal_approximation():
    differences = RANDOM.integers(-4, 6, size=700).astype(float)
    expected = scipy_stats.wilcoxon(differences, method=NORMAL, correction=True)
    found = stats.wilcoxon(differences)
    assert found.method == "wilcoxon, normal"
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 1), (1, 9), (6, 16), (59, 6), (30, 30)])
def test_mcnemar_is_the_binomial_test_of_the_discordant_items(only_a, only_b):
    expected = scipy_stats.binomtest(only_a, only_a + only_b).pvalue
    assert stats.mcnemar(only_a, only_b).p_value == pytest.approx(expected)


def test_mcnemar_gives_the_p_values_that_fagerland_and_others_print():
    # Fagerland, Lydersen, Laake (2013), BMC Medical Research Methodology 13:91, table 1 (airway hyper-responsiveness,
    # discordant pairs 1 and 7): exact conditional 0.0703, mid-p 0.0391.
    assert stats.mcnemar(1, 7).p_value == pytest.approx(0.0703, abs=5e-5)
    assert stats.mcnemar(1, 7, mid_p=True).p_value == pytest.approx(0.0391, abs=5e-5)


def test_the_exact_sign_flip_test_is_scipys_full_enumeration():
    for n in (3, 6, 11):
        expected = scipy_stats.permutation_test(
            (SCORES[:n],), np.mean, permutation_type="samples", vectorized=True, n_resamples=np.inf
        )
        assert stats.sign_flip(SCORES[:n]).p_value == pytest.approx(expected.pvalue)


def test_the_sign_flip_test_gives_fishers_answer_on_darwins_maize():
    # Fisher, The Design of Experiments (1935), section 21: of 32,768 arrangements 1,726 are as extreme (both tails).
    differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
    assert stats.sign_flip(differences).p_value == 1726 / 32768


def test_p_values_adjusted_for_the_false_discovery_rate_are_scipys():
    p = RANDOM.uniform(size=30) ** 3
    assert stats.benjamini_hochberg(p) == pytest.approx(scipy_stats.false_discovery_control(p, method="bh"))
    assert stats.benjamini_yekutieli(p) == pytest.approx(scipy_stats.false_discovery_control(p, method="by"))


def test_holms_p_values_are_those_of_r():
    # R 4: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") prints 0.05 0.08 0.09 0.09 0.09.
    assert stats.holm([0.01, 0.02, 0.03, 0.04, 0.05]) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", [np.mean, np.median, np.std])
def test_the_bootstrap_with_a_seed_is_scipys_with_the_same_draws(method, statistic):
    expected = scipy_stats.bootstrap(
        (SCORES,), statistic, n_resamples=2000, method=method, **{SEEDED: np.random.default_rng(7)}
    ).confidence_interval
    ours = {"percentile": stats.bootstrap, "bca": stats.bootstrap_bca}[method]
    found = ours(SCORES, statistic, resamples=2000, seed=7)
    assert found == pytest.approx(tuple(expected), rel=1e-9)


def test_a_bootstrap_that_is_drawn_in_batches_is_scipys_of_one_batch():
    values = RANDOM.normal(size=3000)
    expected = scipy_stats.bootstrap(
        (values,), np.mean, n_resamples=900, method="percentile", **{SEEDED: np.random.default_rng(0)}
    ).confidence_interval
    assert stats.bootstrap(values, np.mean, resamples=900) == pytest.approx(tuple(expected), rel=1e-9)


@pytest.mark.parametrize(("n", "sd", "difference", "alpha"), [(60, 1, 0.2, 0.1), (34, 1, 0.5, 0.05), (5, 2, 1.5, 0.05)])
def test_the_power_of_the_paired_t_test_is_by_the_noncentral_t(n, sd, difference, alpha):
    shift, critical = difference / sd * n**0.5, scipy_stats.t(n - 1).ppf(1 - alpha / 2)
    expected = scipy_stats.nct(n - 1, shift).sf(critical) + scipy_stats.nct(n - 1, shift).cdf(-critical)
    assert stats.power_paired_mean(n, sd, difference, alpha=alpha) == pytest.approx(expected, abs=1e-9)


def test_power_and_sample_size_are_those_that_other_programs_print():
    # R package pwr, example of pwr.t.test(d=0.2, n=60, sig.level=0.10, type="one.sample"): power = 0.4555818.
    assert stats.power_paired_mean(60, 1, 0.2, alpha=0.10) == pytest.approx(0.4555818, abs=5e-8)
    # G*Power manual, matched pairs: dz = 0.5, alpha = 0.05, power 0.8 needs 34 pairs.
    assert stats.sample_size_paired_mean(1, 0.5) == 34


def test_three_points_need_the_thousand_questions_that_miller_counts():
    # Miller (2024), arXiv 2411.00640, section 5: variance 1/9, difference 0.03, power 0.8: n = 969 by the normal
    # distribution; the t test needs a few more.
    assert 969 <= stats.sample_size_paired_mean(1 / 3, 0.03) <= 972
