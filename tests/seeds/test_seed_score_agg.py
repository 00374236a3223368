"""The sentences of the third seed (score aggregation), each kept by a test that quotes it."""

import inspect
import subprocess
import sys

import pytest

from calibrant import score_agg
from calibrant.aggregation import VERDICT_WEIGHTS, power_for_temperature

VERDICTS = [1.0, 0.9, 0.7, 0.3]


def test_the_signature():
    """def score_agg(scores, temperature=0.5, penalty=0.1, eps_for_neg_p=1e-9) -> float."""
    defaults = {name: one.default for name, one in inspect.signature(score_agg).parameters.items()}
    assert defaults == {"scores": inspect.Parameter.empty, "temperature": 0.5, "penalty": 0.1, "eps_for_neg_p": 1e-9}
    assert isinstance(score_agg(VERDICTS), float)


@pytest.mark.parametrize(("temperature", "p"), [(0.1, -8.0), (0.3, -2.5), (0.5, 1.0), (0.7, 4.6), (1.0, 12.25)])
def test_the_temperature_mapping(temperature, p):
    """| Temperature | Power (p) |: the table's rows, and the formula M_p = ((1/n) sum x_i^p)^(1/p)."""
    assert power_for_temperature(temperature) == p
    expected = (sum(x**p for x in VERDICTS) / len(VERDICTS)) ** (1 / p)
    assert score_agg(VERDICTS, temperature=temperature) == pytest.approx(expected)


def test_close_to_minimum_and_close_to_maximum():
    """0.1: Close to minimum. 1.0: Close to maximum."""
    assert score_agg(VERDICTS, temperature=0.1) - min(VERDICTS) < 0.1
    assert max(VERDICTS) - score_agg(VERDICTS, temperature=1.0) < 0.1


def test_below_at_and_above_the_arithmetic_mean():
    """0.3: Below arithmetic mean. 0.5: Arithmetic mean. 0.7: Above arithmetic mean."""
    assert score_agg(VERDICTS, 0.3) < score_agg(VERDICTS, 0.5) < score_agg(VERDICTS, 0.7)
    assert score_agg(VERDICTS, 0.5) == 0.725


def test_strict_penalizes_the_none_heavily():
    """Strict: penalizes the "none" heavily."""
    with_none = [1.0, 0.9, 0.7, 0.0]
    assert score_agg(with_none, temperature=0.1) < 0.05


def test_lenient_forgives_the_none():
    """Lenient: forgiving of the "none"."""
    assert score_agg([1.0, 0.9, 0.7, 0.0], temperature=1.0) > 0.85


def test_additional_penalty_for_zero_scores():
    """penalty: Additional penalty for zero scores."""
    assert score_agg([1.0, 0.0], penalty=0.2) < score_agg([1.0, 0.0], penalty=0.0)
    assert score_agg([1.0, 0.3], penalty=0.2) == score_agg([1.0, 0.3], penalty=0.0)


def test_small_value_to_avoid_division_by_zero():
    """eps_for_neg_p: Small value to avoid division by zero."""
    assert 0.0 < score_agg([1.0, 0.0], temperature=0.1) < 1e-8


def test_the_verdict_weights():
    """fully 1.0, mostly 0.9, partial 0.7, minor 0.3, none 0.0."""
    assert VERDICT_WEIGHTS == {"fully": 1.0, "mostly": 0.9, "partial": 0.7, "minor": 0.3, "none": 0.0}


def test_strictness_orders_the_bars_of_the_comparison():
    """Visual Comparison: the score rises with the temperature."""
    scores = [score_agg([1.0, 0.9, 0.7, 0.3, 0.0], temperature) for temperature in (0.1, 0.3, 0.5, 0.7, 1.0)]
    assert scores == sorted(scores)


def test_the_one_line_of_the_shell():
    """python -c "from calibrant import score_agg; print(score_agg([1.0, 0.9, 0.7, 0.3], temperature=0.5))"."""
    code = "from calibrant import score_agg; print(score_agg([1.0, 0.9, 0.7, 0.3], temperature=0.5))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0.725\n"
