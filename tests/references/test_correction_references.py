"""Corrected rates against the formulas of their papers, worked out apart."""

from math import sqrt

import pytest

from calibrant.agreement import corrected_rate


def cells(hits, false_alarms, misses, rejections):
    judge = [True] * (hits + false_alarms) + [False] * (misses + rejections)
    human = [True] * hits + [False] * false_alarms + [True] * misses + [False] * rejections
    return judge, human


def test_rogan_gladen_and_the_interval_of_lee_and_others():
    # Lee and others, How to Correctly Report LLM-as-a-Judge Evaluations (arXiv 2511.21140), section 3, by hand for
    # p = 1400/2000, specificity q0 = 70/100, sensitivity q1 = 90/100, z = 1.959964.
    judge, human = cells(90, 30, 10, 70)
    found = corrected_rate(
        judge + [True] * 1400 + [False] * 600, human + [None] * 2000, labels_from="elsewhere"
    ).estimate
    z = 1.959963984540054
    n, m0, m1 = 2000 + z**2, 102.0, 102.0
    p, q0, q1 = (1400 + z**2 / 2) / n, 71 / 102, 91 / 102
    theta = (p + q0 - 1) / (q0 + q1 - 1)
    shift = 2 * z**2 * (-(1 - theta) * q0 * (1 - q0) / m0 + theta * q1 * (1 - q1) / m1)
    error = sqrt(p * (1 - p) / n + (1 - theta) ** 2 * q0 * (1 - q0) / m0 + theta**2 * q1 * (1 - q1) / m1) / (
        q0 + q1 - 1
    )
    assert found.value == pytest.approx((0.7 + 0.7 - 1) / (0.7 + 0.9 - 1))
    assert (found.lower, found.upper) == pytest.approx((theta + shift - z * error, theta + shift + z * error))


def test_ppi_plus_plus_is_its_definition():
    # Angelopoulos, Duchi and Zrnic, PPI++ (arXiv 2311.01453), for a mean: numpy moments of the rows themselves.
    import numpy as np
    from scipy.stats import t

    judge, human = cells(90, 30, 10, 70)
    found = corrected_rate(judge + [True] * 1100 + [False] * 900, human + [None] * 2000).methods["ppi++"]
    f, y = np.array(judge, float), np.array(human, float)
    u = np.repeat([1.0, 0.0], [1100, 900])
    power = np.cov(y, f, ddof=0)[0, 1] / ((1 + 200 / 2000) * np.var(np.concatenate([f, u])))
    value = power * u.mean() + (y - power * f).mean()
    error = sqrt(np.var(y - power * f, ddof=1) / 200 + power**2 * np.var(u, ddof=1) / 2000)
    assert found.value == pytest.approx(value)
    assert found.upper - found.value == pytest.approx(t.ppf(0.975, 199) * error)
