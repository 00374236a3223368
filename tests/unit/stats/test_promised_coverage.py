"""Whether intervals and tests keep their promise, by the simulations of `bench/stats.py`."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from calibrant import stats

pytestmark = pytest.mark.slow
BENCH = runpy.run_path(str(Path(__file__).parents[3] / "bench" / "stats.py"))
SHARES = np.linspace(0.5, 0.99, 99)


@pytest.mark.parametrize("n", [10, 39, 40, 200])
def test_published_pass_rates_are_covered_on_average_and_bounds_for_gates_also_at_worst(n):
    both, lower = (BENCH["exact_coverage"](BENCH["published"], n, SHARES, side) for side in ("two", "lower"))
    assert both.mean() == pytest.approx(0.952, abs=0.005)
    assert lower.min() > 0.93
    assert BENCH["exact_coverage"](stats.clopper_pearson, n, SHARES, "two").min() >= 0.95


@pytest.mark.parametrize("groups", [10, 30])
def test_clustered_means_are_covered_and_plain_ones_are_not(groups):
    def draw(random):
        return BENCH["clustered"](random, groups, binary=False)

    robust = BENCH["simulated"](draw, lambda data: stats.mean_interval(data[0], clusters=data[1]), 0.0)
    plain = BENCH["simulated"](draw, lambda data: stats.mean_interval(data[0]), 0.0)
    assert float(robust.split()[0]) == pytest.approx(0.95, abs=0.014)  # four deviations of 4,000 samples
    assert float(plain.split()[0]) < 0.8


@pytest.mark.parametrize("n", [12, 30, 200])
def test_the_sign_flip_test_rejects_as_often_as_it_says(n):
    found = BENCH["rejected"](
        lambda values: stats.sign_flip(values, resamples=999), BENCH["NULLS"]["heavy tails (t, 2 df)"], n
    )
    for rate, level in zip(map(float, found.split(" / ")), BENCH["LEVELS"], strict=True):
        assert rate == pytest.approx(level, abs=4 * (level / BENCH["REPEATS"]) ** 0.5)
