"""Whether the statistics keep what they promise, and what they cost beside scipy and ranx.

Run `python bench/stats.py` for all, or name parts: proportions, means, tests, speed. docs/statistics.md has the tables.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import bdtr

from calibrant import stats

if TYPE_CHECKING:
    from collections.abc import Callable

    from calibrant.estimates import Estimate

Interval = tuple[float, float]
REPEATS = 4000


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    print(f"\n{title}\n")
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


# Proportions: no simulation is needed, because there are only n + 1 outcomes.


def published(successes: int, n: int, *, side: Any) -> Interval:
    estimate = stats.proportion(successes, n, side=side)
    return estimate.lower or 0.0, 1.0 if estimate.upper is None else estimate.upper


PROPORTIONS: dict[str, Callable[..., Interval]] = {
    "wilson": stats.wilson,
    "jeffreys": stats.jeffreys,
    "clopper_pearson": stats.clopper_pearson,
    "proportion": published,
}


def exact_coverage(interval: Callable[..., Interval], n: int, shares: np.ndarray, side: str) -> np.ndarray:
    """The chance, at each true share, that the interval of `n` items holds it."""
    bounds = np.array([interval(successes, n, side=side) for successes in range(n + 1)])
    below = bdtr(np.arange(n + 1)[:, None].astype(float), n, shares[None])
    chances = np.diff(below, axis=0, prepend=0.0)
    holds = (bounds[:, :1] <= shares) & (shares <= bounds[:, 1:])
    return (chances * holds).sum(axis=0)


def proportions() -> None:
    shares = np.linspace(0.5, 0.99, 491)
    for side, title in (("two", "two sides"), ("lower", "lower bound alone"), ("upper", "upper bound alone")):
        rows = []
        for n in (10, 20, 50, 100, 400, 1000):
            cells = [exact_coverage(interval, n, shares, side) for interval in PROPORTIONS.values()]
            rows.append([str(n), *(f"{cell.mean():.3f} ({cell.min():.3f})" for cell in cells)])
        head = ["n", *PROPORTIONS]
        table(f"Exact coverage at 95%, {title}: mean and least over pass rates of 0.50 to 0.99", head, rows)


# Means and bootstraps: simulated.


def simulated(draw: Callable[[np.random.Generator], Any], interval: Callable[[Any], Interval], truth: float) -> str:
    """The share of simulated samples whose interval holds the truth, and the mean width."""
    random = np.random.default_rng(11)
    bounds = np.array([interval(draw(random)) for _ in range(REPEATS)])
    held = ((bounds[:, 0] <= truth) & (truth <= bounds[:, 1])).mean()
    return f"{held:.3f} ({np.mean(bounds[:, 1] - bounds[:, 0]):.3f})"


SCORES: dict[str, tuple[Callable[[np.random.Generator, int], np.ndarray], float]] = {
    "uniform": (lambda random, n: random.uniform(size=n), 0.5),
    "skewed, Beta(8, 1)": (lambda random, n: random.beta(8, 1, size=n), 8 / 9),
    "verdicts, 90% full": (lambda random, n: random.choice([0, 0.5, 1.0], size=n, p=[0.04, 0.06, 0.9]), 0.93),
}


def bounds_of(estimate: Estimate) -> Interval:
    return estimate.lower, estimate.upper


def means() -> None:
    rows = []
    for name, (draw, truth) in SCORES.items():
        for n in (10, 30, 100, 400):
            cells = [simulated(lambda r, d=draw, n=n: d(r, n), method, truth) for method in MEANS.values()]
            rows.append([name, str(n), *cells])
    table("Simulated coverage at 95% (and mean width) of a mean", ["scores", "n", *MEANS], rows)
    rows = []
    for groups in (5, 10, 30, 100):
        score = lambda r, g=groups: clustered(r, g, binary=False)  # noqa: E731 - one line of a table
        passed = lambda r, g=groups: clustered(r, g, binary=True)  # noqa: E731 - one line of a table
        rows.append(
            [
                f"{groups} x 8",
                simulated(score, lambda data: stats.mean_interval(data[0]), 0.0),
                simulated(score, lambda data: stats.mean_interval(data[0], clusters=data[1]), 0.0),
                simulated(passed, lambda data: bounds_of(stats.proportion(data[0])), 0.8),
                simulated(passed, lambda data: bounds_of(stats.proportion(data[0], clusters=data[1])), 0.8),
            ]
        )
    head = ["clusters", "t", "t, clustered", "wilson", "wilson, clustered"]
    table("Simulated coverage at 95% (and mean width) when items share clusters (correlation 0.3)", head, rows)


MEANS: dict[str, Callable[[np.ndarray], Interval]] = {
    "mean_interval (t)": stats.mean_interval,
    "mean": lambda values: bounds_of(stats.mean(values)),
    "percentile, 1000": lambda values: stats.bootstrap(values, np.mean, resamples=1000),
    "bca, 1000": lambda values: stats.bootstrap_bca(values, np.mean, resamples=1000),
}


def clustered(random: np.random.Generator, groups: int, *, binary: bool) -> tuple[np.ndarray, np.ndarray]:
    """Eight items in each cluster; scores with mean 0, or passes with rate 0.8."""
    codes = np.repeat(np.arange(groups), 8)
    if binary:  # a beta-binomial: correlation 1 / (a + b + 1) = 0.3
        rate = random.beta(0.8 * 7 / 3, 0.2 * 7 / 3, size=groups)
        return (random.uniform(size=len(codes)) < rate[codes]).astype(float), codes
    shared = random.normal(size=groups)[codes] * 0.3**0.5
    return shared + random.normal(size=len(codes)) * 0.7**0.5, codes


# Tests: how often they reject when there is no difference.

NULLS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "normal": lambda random, n: random.normal(size=n),
    "heavy tails (t, 2 df)": lambda random, n: random.standard_t(2, size=n),
    "pass/fail, 20% differ": lambda random, n: random.choice([-1.0, 0.0, 1.0], size=n, p=[0.1, 0.8, 0.1]),
}
LEVELS = (0.01, 0.05, 0.10)


def mcnemar_of(values: np.ndarray, *, mid_p: bool = False) -> stats.TestResult:
    return stats.mcnemar(int((values > 0).sum()), int((values < 0).sum()), mid_p=mid_p)


def rejected(test: Callable[[np.ndarray], stats.TestResult], draw: Any, n: int, repeats: int = REPEATS) -> str:
    random = np.random.default_rng(12)
    p = np.array([test(draw(random, n)).p_value for _ in range(repeats)])
    return " / ".join(f"{(p <= level).mean():.3f}" for level in LEVELS)


def tests() -> None:
    rows = []
    for name, draw in NULLS.items():
        for n in (5, 12, 30, 200, 1000):
            sampled = rejected(lambda values: stats.sign_flip(values, resamples=999), draw, n)
            row = [name, str(n), sampled, rejected(stats.paired_t, draw, n), rejected(stats.wilcoxon, draw, n)]
            if name.startswith("pass"):
                row += [rejected(mcnemar_of, draw, n), rejected(lambda v: mcnemar_of(v, mid_p=True), draw, n)]
            rows.append(row + ["", ""] * (not name.startswith("pass")))
    head = ["differences", "n", "sign_flip", "paired_t", "wilcoxon", "mcnemar", "mcnemar, mid_p"]
    table("Rejections at 0.01 / 0.05 / 0.10 when there is no difference", head, rows)


# Speed: ratios of CPU seconds, best of three, side by side in one run.


def seconds(work: Callable[[], Any], times: int = 3) -> float:
    best = np.inf
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return float(best)


def passed_share(counts: np.ndarray) -> np.ndarray:
    return counts[:, 1] / counts.sum(axis=1)


def bootstrap_speed() -> list[list[str]]:
    from scipy import stats as theirs

    rows = []
    for n in (100, 1000, 10_000):
        values = np.random.default_rng(3).normal(size=n)
        ours = seconds(lambda v=values: stats.bootstrap(v, np.mean))
        peer = seconds(
            lambda v=values: theirs.bootstrap((v,), np.mean, method="percentile", batch=100, n_resamples=9999), 1
        )
        rows.append([f"bootstrap of a mean, n={n:,}", f"{ours:.3f}", "scipy", f"{peer:.3f}", f"{ours / peer:.3f}"])
    passes = np.random.default_rng(3).uniform(size=100_000) < 0.8
    ours = seconds(lambda: stats.bootstrap_table(np.bincount(passes), passed_share))
    # A tenth of the resamples, for time's sake.
    peer = 10 * seconds(
        lambda: theirs.bootstrap((passes,), np.mean, method="percentile", batch=20, n_resamples=1000), 1
    )
    rows.append(
        ["bootstrap_table of a pass rate, n=100,000", f"{ours:.4f}", "scipy (x10)", f"{peer:.1f}", f"{ours / peer:.5f}"]
    )
    return rows


def fisher_of_ranx() -> Callable[[np.ndarray, np.ndarray], Any] | None:
    try:
        from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test
    except ImportError:
        return None
    return lambda a, b: fisher_randomization_test(a, b, n_permutations=10_000, max_p=0.05)


def sign_flip_speed() -> list[list[str]]:
    from scipy import stats as theirs

    random = np.random.default_rng(4)
    a, b = random.uniform(size=10_000), random.uniform(size=10_000)
    ours = seconds(lambda: stats.sign_flip(a - b))

    def permuted() -> None:
        theirs.permutation_test(
            (a - b,), np.mean, permutation_type="samples", vectorized=True, n_resamples=1000, batch=100
        )

    peer = 10 * seconds(permuted, 1)
    rows = [["sign_flip, 10,000 x 10,000", f"{ours:.3f}", "scipy (x10)", f"{peer:.2f}", f"{ours / peer:.4f}"]]
    fisher = fisher_of_ranx()
    if fisher is not None:
        fisher(a[:100], b[:100])  # compiles
        peer = seconds(lambda: fisher(a, b), 1)
        rows.append(["sign_flip, 10,000 x 10,000", f"{ours:.3f}", "ranx", f"{peer:.2f}", f"{ours / peer:.4f}"])
    six = np.column_stack([a - b] * 6) * random.uniform(size=(10_000, 6))
    ours = seconds(lambda: stats.sign_flip_columns(six))
    rows.append(["sign_flip_columns, 6 measures", f"{ours:.3f}", "", "", ""])
    return rows


def speed() -> None:
    head = ["work, 10,000 resamples", "calibrant, CPU s", "peer", "CPU s", "ratio"]
    table("Speed", head, bootstrap_speed() + sign_flip_speed())


PARTS = {"proportions": proportions, "means": means, "tests": tests, "speed": speed}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
