"""How often the interval of a corrected rate holds the truth: simulated traffic of 2,000 items, nominally 95%.

Prints the table of docs/correction.md. `python bench/correction.py 200` makes fewer runs.
"""

import sys

import numpy as np

from calibrant.agreement import corrected_rate

RATES = (0.6, 0.8, 0.95)
LABELS = (50, 100, 200, 500)
JUDGES = {"0.90 / 0.70": (0.9, 0.7), "0.95 / 0.60": (0.95, 0.6), "0.98 / 0.95": (0.98, 0.95)}
ITEMS = 2000


def drawn(random, rate, judge, labels):
    truth = random.random(ITEMS) < rate
    said = np.where(truth, random.random(ITEMS) < judge[0], random.random(ITEMS) >= judge[1])
    return said.astype(float), np.where(np.arange(ITEMS) < labels, truth, np.nan)


def covered(random, rate, judge, labels, runs):
    hits = dict.fromkeys(("default", "ppi++", "rogan-gladen", "labels", "judge"), 0)
    widths, worths = [], []
    for _ in range(runs):
        found = corrected_rate(*drawn(random, rate, judge, labels), positive=1.0)
        estimates = {
            "default": found.estimate,
            "ppi++": found.methods["ppi++"],
            "rogan-gladen": found.methods["rogan-gladen"],
            "labels": found.label_rate,
            "judge": found.judge_rate,
        }
        for name, one in estimates.items():
            hits[name] += one.value is None or one.lower <= rate <= one.upper
        widths.append(found.estimate.upper - found.estimate.lower)
        worths.append(found.worth)
    return {name: count / runs for name, count in hits.items()}, float(np.mean(widths)), float(np.median(worths))


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    random = np.random.default_rng(0)
    print(
        "| rate | sensitivity / specificity | labels | default | width | worth | ppi++, t | rogan-gladen "
        "| labels alone | judge alone |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for rate in RATES:
        for name, judge in JUDGES.items():
            for labels in LABELS:
                hits, width, worth = covered(random, rate, judge, labels, runs)
                shown = [f"{hits['default']:.1%}", f"{width:.3f}", f"{worth:.0f}"]
                shown += [f"{hits[one]:.1%}" for one in ("ppi++", "rogan-gladen", "labels", "judge")]
                print(f"| {rate} | {name} | {labels} | {' | '.join(shown)} |", flush=True)


if __name__ == "__main__":
    main()
