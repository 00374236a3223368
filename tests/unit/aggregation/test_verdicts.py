"""Expected values are worked out from the definition with Python's decimal module, 50 digits."""

from decimal import Decimal, getcontext

import numpy as np
import pytest

from calibrant.aggregation import (
    TEMPERATURE_KNOTS,
    VERDICT_WEIGHTS,
    power_for_temperature,
    power_mean,
    score_agg,
    score_agg_many,
    verdict_weight,
)
from calibrant.errors import InputError, UnknownNameError, WrongTypeError

getcontext().prec = 50


def by_definition(values, p):
    power = Decimal(p)
    exact = [Decimal(value) for value in values]
    if p == 0:
        return float((sum(value.ln() for value in exact) / len(exact)).exp())
    return float((sum(value**power for value in exact) / len(exact)) ** (1 / power))


@pytest.mark.parametrize(("temperature", "p"), [(0.1, -8.0), (0.3, -2.5), (0.5, 1.0), (0.7, 4.6), (1.0, 12.25)])
def test_the_table_gives_the_knots(temperature, p):
    assert power_for_temperature(temperature) == p
    assert (temperature, p) in TEMPERATURE_KNOTS


@pytest.mark.parametrize(
    ("temperature", "p"),
    [(0.2, -5.25), (0.4, -0.75), (0.6, 2.8), (0.85, 8.425), (0.0, -8.0), (-3.0, -8.0), (7.0, 12.25)],
)
def test_between_the_knots_the_power_is_linear_and_outside_it_is_clamped(temperature, p):
    assert power_for_temperature(temperature) == pytest.approx(p)


@pytest.mark.parametrize("temperature", [float("nan"), float("inf")])
def test_a_temperature_is_a_number(temperature):
    with pytest.raises(InputError, match=r"temperature is a finite number \(0.1 strict to 1.0 lenient\), not"):
        power_for_temperature(temperature)


@pytest.mark.parametrize(
    "p", [-50.0, -8.0, -2.5, -1.0, -0.5, -1e-3, -1e-7, 0.0, 1e-7, 1e-4, 1e-3, 0.5, 2.0, 12.25, 80.0]
)
@pytest.mark.parametrize("values", [[1.0, 0.9, 0.7, 0.3], [1e-9, 0.9, 1.0], [0.5], [1e-9, 1e-9, 1e-3]])
def test_power_means_follow_the_definition(values, p):
    assert power_mean(values, p) == pytest.approx(by_definition(values, p), rel=1e-12)


@pytest.mark.parametrize("p", [1e300, -1e300, float("inf"), float("-inf"), 5000.0, -5000.0])
def test_no_power_overflows(p):
    mean = power_mean([0.2, 0.8], p)
    assert mean == pytest.approx(0.8 if p > 0 else 0.2, rel=1e-3)


def test_power_one_is_the_exact_mean():
    assert power_mean([0.1] * 10, 1.0) == 0.1


@pytest.mark.parametrize(("values", "p"), [([], 1.0), ([0.0, 1.0], 1.0), ([-1.0], 1.0), ([float("nan")], 1.0)])
def test_the_power_mean_is_of_positive_values(values, p):
    with pytest.raises(InputError, match="power mean of no values does not exist|positive finite values"):
        power_mean(values, p)


def test_a_power_that_is_no_number_is_refused():
    with pytest.raises(InputError, match="at a power that is a number"):
        power_mean([1.0], float("nan"))


def test_score_agg_at_half_is_the_exact_mean():
    assert score_agg([1.0, 0.9, 0.7, 0.3], temperature=0.5) == 0.725
    assert score_agg([1.0, 0.9, 0.7, 0.3]) == 0.725


@pytest.mark.parametrize(("temperature", "p"), TEMPERATURE_KNOTS)
def test_score_agg_is_the_power_mean_at_the_temperature_s_power(temperature, p):
    values = [1.0, 0.9, 0.7, 0.3]
    assert score_agg(values, temperature) == pytest.approx(by_definition(values, p), rel=1e-12)


@pytest.mark.parametrize(("temperature", "p"), TEMPERATURE_KNOTS)
def test_zeros_are_clamped_at_every_power_and_penalised_by_their_share(temperature, p):
    expected = by_definition([1.0, 0.9, 0.7, 1e-9], p) * (1 - 0.1 * 1 / 4)
    assert score_agg([1.0, 0.9, 0.7, 0.0], temperature) == pytest.approx(expected, rel=1e-12)


def test_the_penalty_does_not_depend_on_the_number_of_statements():
    assert score_agg([1.0, 0.0]) == pytest.approx(score_agg([1.0, 0.0] * 50), rel=1e-12)


def test_penalty_and_epsilon_are_arguments():
    assert score_agg([1.0, 0.0], penalty=0.0, eps_for_neg_p=0.5) == 0.75
    assert score_agg([1.0, 0.0], 0.5, 1.0, 0.5) == 0.375


def test_no_scores_is_not_a_bad_score():
    with pytest.raises(ValueError, match="nothing was checked, which is not a score; treat it as not applicable"):
        score_agg([])


def test_scores_that_are_no_weights_are_named_together():
    with pytest.raises(InputError) as error:
        score_agg([1.0, 1.2, float("nan"), -0.1])
    assert str(error.value) == (
        "score_agg, whose scores are verdict weights from 0 to 1, has 3 problems:\n"
        "  score 1 is 1.2\n  score 2 is nan\n  score 3 is -0.1"
    )


@pytest.mark.parametrize("penalty", [-0.1, 1.1, float("nan")])
def test_a_penalty_is_a_share(penalty):
    with pytest.raises(InputError, match="penalty is a share from 0 to 1, not"):
        score_agg([1.0], penalty=penalty)


@pytest.mark.parametrize("eps", [0.0, 1.0, -1e-9])
def test_epsilon_lies_between_zero_and_one(eps):
    with pytest.raises(InputError, match="eps_for_neg_p stands for zero and lies between 0 and 1"):
        score_agg([1.0], eps_for_neg_p=eps)


def test_the_verdict_words_have_the_seed_s_weights():
    assert VERDICT_WEIGHTS == {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}
    assert [verdict_weight(word) for word in VERDICT_WEIGHTS] == [1.0, 0.9, 0.7, 0.3, 0.0]


def test_an_unknown_verdict_is_an_error_and_not_a_zero():
    with pytest.raises(UnknownNameError, match="unknown verdict 'Fully!'; expected one of: fully, minor, mostly"):
        verdict_weight("Fully!")


@pytest.mark.parametrize("temperature", [0.1, 0.3, 0.44285, 3.1 / 7, 0.5, 0.62, 1.0])
def test_many_lists_at_once_give_the_same(temperature):
    lists = [[1.0, 0.9, 0.7, 0.3], [0.0], [1.0], [0.0, 0.0, 0.3], [0.7] * 9]
    one_by_one = [score_agg(scores, temperature) for scores in lists]
    np.testing.assert_allclose(score_agg_many(lists, temperature), one_by_one, rtol=1e-12)


def test_no_lists_give_no_scores():
    assert score_agg_many([]).shape == (0,)


def test_the_list_at_fault_is_named():
    with pytest.raises(InputError, match="list 1 has no scores"):
        score_agg_many([[1.0], [], [0.5]])
    with pytest.raises(InputError, match="list 2, whose scores are verdict weights from 0 to 1, has 1 problem"):
        score_agg_many([[1.0], [0.5], [0.5, 1.5]])
    with pytest.raises(InputError, match="penalty is a share"):
        score_agg_many([[1.0]], penalty=2)


def test_scores_may_be_any_iterable_of_numbers():
    for given in ((1.0, 0.5), np.array([1.0, 0.5]), iter([1.0, 0.5]), [np.float32(1.0), Decimal("0.5")]):
        assert score_agg(given) == 0.75
    np.testing.assert_array_equal(score_agg_many(np.array([[1.0, 0.5], [0.5, 0.5]])), [0.75, 0.5])


def test_verdict_words_are_not_scores_and_the_error_says_what_turns_them_into_some():
    with pytest.raises(InputError, match=r"\(verdict_weight turns a verdict's word into one\), has 2 problems"):
        score_agg(["fully", "none"])
    with pytest.raises(InputError, match="list 1, whose scores .*:\n  score 0 is 'fully'"):
        score_agg_many([[1.0], ["fully"]])
    with pytest.raises(InputError, match="score 1 is None"):
        score_agg([0.5, None])


@pytest.mark.parametrize("given", ["fully", 0.5, None])
def test_what_is_no_list_of_scores_is_a_wrong_type(given):
    with pytest.raises(WrongTypeError, match="score_agg takes a list of verdict weights, not "):
        score_agg(given)


def test_a_temperature_that_is_a_word_is_refused():
    with pytest.raises(InputError, match="temperature is a finite number .* not 'strict'"):
        score_agg([1.0], temperature="strict")
