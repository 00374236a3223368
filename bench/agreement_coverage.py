"""How often intervals of agreement hold the truth: a judge and three people, simulated, nominally 95%.

Prints the table of docs/agreement.md. The truth is the statistic of 400,000 items.
`python bench/agreement_coverage.py 100` makes fewer runs.
"""

import sys

import numpy as np

from calibrant.agreement import (
    RatingCube,
    Resampling,
    against_each,
    alt_test,
    ceiling_and_floor,
    compare_judges,
    fleiss_kappa,
    krippendorff_alpha,
)
from calibrant.agreement.replacement_result import AltTestSettings

PEOPLE = ["ann", "bob", "cem"]
RATES = {"1/2, 1/2": [0.5, 0.5], "0.85, 0.15": [0.85, 0.15], "0.4, 0.35, 0.25": [0.4, 0.35, 0.25]}
ITEMS = (20, 50, 100, 300)
QUICK = Resampling(resamples=2_000)


def drawn(random, items, rates):
    truth = random.choice(len(rates), items, p=rates)

    def rater(right):
        return np.where(random.random(items) < right, truth, random.choice(len(rates), items, p=rates))

    codes = [rater(0.8), rater(0.75), *(rater(0.85) for _ in PEOPLE)]
    names = ("judge", "other", *PEOPLE)
    labels = tuple("abc"[: len(rates)])
    return RatingCube(
        items=tuple(map(str, range(items))), raters=names, values=labels, codes=np.stack(codes).astype("i4")
    )


def averaged(measure):
    return lambda cube: against_each(cube, "judge", measure, humans=PEOPLE, resampling=QUICK).average


def advantage(cube):
    settings = AltTestSettings(min_items_per_human=2, resampling=QUICK)
    return alt_test(cube, "judge", humans=PEOPLE, settings=settings).advantage_probability


STATISTICS = {
    "accuracy": averaged("accuracy"),
    "kappa": averaged("kappa"),
    "AC1": averaged("ac1"),
    "F1": averaged("f1"),
    "alpha": lambda cube: krippendorff_alpha(cube.select(PEOPLE), resampling=QUICK),
    "Fleiss": lambda cube: fleiss_kappa(cube.select(PEOPLE), resampling=QUICK),
    "advantage": advantage,
    "ceiling": lambda cube: ceiling_and_floor(cube, "judge", humans=PEOPLE).ceiling,
    "relative": lambda cube: ceiling_and_floor(cube, "judge", humans=PEOPLE).relative,
    "judge - other": lambda cube: compare_judges(cube, ["judge", "other"], humans=PEOPLE).differences[0].difference,
}


def difference(name, estimate, cube):
    """The sign of a difference is that of the better judge: turned to be of `judge` less `other`."""
    if name != "judge - other" or estimate.value is None:
        return estimate.lower, estimate.upper
    first = compare_judges(cube, ["judge", "other"], humans=PEOPLE).differences[0].first
    return (estimate.lower, estimate.upper) if first == "judge" else (-estimate.upper, -estimate.lower)


def held(random, rates, items, truths, runs):
    shares = {}
    cubes = [drawn(random, items, rates) for _ in range(runs)]
    for name, statistic in STATISTICS.items():
        bounds = [difference(name, one, cube) for cube in cubes if (one := statistic(cube)).lower is not None]
        shares[name] = sum(low <= truths[name] <= high for low, high in bounds) / max(len(bounds), 1)
    return shares


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    random = np.random.default_rng(0)
    print(f"| rates of answers | items | {' | '.join(STATISTICS)} |")
    print("|---" * (len(STATISTICS) + 2) + "|")
    for shown, rates in RATES.items():
        large = drawn(random, 400_000, rates)
        truths = {name: statistic(large).value for name, statistic in STATISTICS.items()}
        for items in ITEMS:
            shares = held(random, rates, items, truths, runs)
            print(f"| {shown} | {items} | {' | '.join(f'{share:.1%}' for share in shares.values())} |", flush=True)


if __name__ == "__main__":
    main()
