import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.aggregation import power_for_temperature, power_mean, score_agg

WEIGHTS = st.sampled_from([0.0, 0.3, 0.7, 0.9, 1.0]) | st.floats(0.0, 1.0)
SCORES = st.lists(WEIGHTS, min_size=1, max_size=12)
POSITIVE = st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=12)
TEMPERATURES = st.floats(-1.0, 2.0)
SLACK = 1e-9


@given(SCORES, TEMPERATURES)
def test_the_score_lies_between_the_worst_and_the_best_before_the_penalty(scores, temperature):
    score = score_agg(scores, temperature, penalty=0.0)
    assert min(scores) <= score <= max(*scores, 1e-9)


@given(SCORES, TEMPERATURES, TEMPERATURES)
def test_a_higher_temperature_never_lowers_the_score(scores, one, other):
    low, high = sorted([one, other])
    assert score_agg(scores, low) <= score_agg(scores, high) + SLACK


@given(SCORES, TEMPERATURES, st.data())
def test_a_better_statement_never_lowers_the_score(scores, temperature, data):
    place = data.draw(st.integers(0, len(scores) - 1))
    better = [*scores]
    better[place] = data.draw(st.floats(scores[place], 1.0))
    assert score_agg(scores, temperature) <= score_agg(better, temperature) + SLACK


@given(SCORES, TEMPERATURES, st.floats(0.0, 1.0))
def test_a_larger_share_of_zeros_never_raises_the_score(scores, temperature, penalty):
    with_one_more = [0.0, *scores]
    assert score_agg(with_one_more, temperature, penalty) <= score_agg(scores, temperature, penalty) + SLACK


@given(SCORES, TEMPERATURES, st.randoms())
def test_the_order_of_the_statements_does_not_matter(scores, temperature, random):
    shuffled = random.sample(scores, len(scores))
    assert score_agg(shuffled, temperature) == pytest.approx(score_agg(scores, temperature), rel=1e-12)


@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=12))
def test_without_zeros_half_is_the_mean(scores):
    assert score_agg(scores, 0.5) == pytest.approx(sum(scores) / len(scores), rel=1e-15)


@given(SCORES, TEMPERATURES, st.integers(2, 5))
def test_repeating_the_statements_changes_nothing(scores, temperature, times):
    assert score_agg(scores * times, temperature) == pytest.approx(score_agg(scores, temperature), rel=1e-12)


@given(POSITIVE, st.floats(-60.0, 60.0), st.floats(-60.0, 60.0))
def test_power_means_grow_with_the_power(values, one, other):
    low, high = sorted([one, other])
    assert power_mean(values, low) <= power_mean(values, high) * (1 + 1e-12)


@given(TEMPERATURES, TEMPERATURES)
def test_the_power_grows_with_the_temperature(one, other):
    low, high = sorted([one, other])
    assert power_for_temperature(low) <= power_for_temperature(high)
