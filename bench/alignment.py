"""Judges against people: 100,000 items, two judges, five people, three labels, string ids.

Every categorical statistic against each person and the majority, the statistics of many raters, all with intervals of
10,000 resamples, and the alternative annotator test at seven epsilons; beside scikit-learn, krippendorff and scipy's
bootstrap where they are installed, and text similarity beside difflib. Prints CPU seconds; peers run on fewer items
where they would take minutes, and say so. Run it with `make bench`, or `python bench/alignment.py 10000` for fewer.
"""

import difflib
import importlib.util
import random
import resource
import sys
import time

import numpy as np

from calibrant.agreement import (
    RatingCube,
    against_each,
    against_majority,
    alt_test,
    ceiling_and_floor,
    compare_judges,
    fleiss_kappa,
    krippendorff_alpha,
    many_raters_ac1,
    mean_pairwise_kappa,
)
from calibrant.alignment.scorers.ratios import ratios

MEASURES = ("accuracy", "precision", "recall", "f1", "balanced_accuracy", "matthews", "kappa", "ac1")
MANY = (fleiss_kappa, many_raters_ac1, krippendorff_alpha, mean_pairwise_kappa)
PEOPLE = [f"person-{number}" for number in range(5)]
JUDGES = ["judge-a", "judge-b"]


def ratings(items):
    draw = random.Random(0)
    names = [f"conversation-{draw.getrandbits(48):012x}-{item}" for item in range(items)]
    truth = [draw.choice("abc") for _ in names]
    return {
        rater: {
            name: one if draw.random() < 0.8 else draw.choice("abc") for name, one in zip(names, truth, strict=True)
        }
        for rater in [*JUDGES, *PEOPLE]
    }


def timed(what, work):
    start = time.process_time()
    result = work()
    seconds = time.process_time() - start
    print(f"{what:<66} {seconds:9.3f} s")
    return result, seconds


def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(cube):
    for judge in JUDGES:
        for measure in MEASURES:
            against_each(cube, judge, measure, humans=PEOPLE)
            against_majority(cube, judge, measure, humans=PEOPLE)
    people = cube.select(PEOPLE)
    for statistic in MANY:
        statistic(people)


def tests(cube):
    for judge in JUDGES:
        alt_test(cube, judge, humans=PEOPLE)


def context(cube):
    compare_judges(cube, JUDGES, humans=PEOPLE)
    for judge in JUDGES:
        ceiling_and_floor(cube, judge, humans=PEOPLE)


def ours(table):
    before = memory()
    cube, encoding = timed("encoding the ratings (a dict of dicts, string ids)", lambda: RatingCube.of(table))
    statistics = f"2 judges x {len(MEASURES)} statistics x (5 people, mean, majority), 4 of many raters"
    _, reporting = timed(statistics, lambda: report(cube))
    _, testing = timed("the alternative annotator test, 2 judges, 7 epsilons, stability", lambda: tests(cube))
    timed("ceiling, floor and the judges compared", lambda: context(cube))
    print(f"{'encoded, all statistics and the test':<66} {encoding + reporting + testing:9.3f} s")
    print(f"{'memory over the loaded ratings':<66} {memory() - before:9.0f} MB")
    return cube, reporting


def with_scikit_learn(cube):
    from sklearn import metrics

    rows = {name: [cube.values[code] for code in cube.of_rater(name)] for name in cube.raters}

    def all_values():
        for judge in JUDGES:
            for person in PEOPLE:
                metrics.accuracy_score(rows[person], rows[judge])
                metrics.precision_recall_fscore_support(rows[person], rows[judge], average="macro")
                metrics.balanced_accuracy_score(rows[person], rows[judge])
                metrics.matthews_corrcoef(rows[person], rows[judge])
                metrics.cohen_kappa_score(rows[person], rows[judge])

    timed("scikit-learn: 7 of them, 2 judges x 5 people, no intervals", all_values)


def with_krippendorff(cube):
    import krippendorff

    data = cube.select(PEOPLE).codes.astype(float)
    timed(
        "krippendorff: alpha of 5 people, no interval", lambda: krippendorff.alpha(data, level_of_measurement="nominal")
    )
    timed("ours: the same, with its interval", lambda: krippendorff_alpha(cube.select(PEOPLE)))


def with_scipy(cube):
    from scipy import stats

    match = (cube.of_rater(JUDGES[0]) == cube.of_rater(PEOPLE[0])).astype(float)
    resamples = 200
    _, seconds = timed(
        f"scipy.stats.bootstrap: the interval of one accuracy, {resamples} resamples",
        lambda: stats.bootstrap((match,), np.mean, n_resamples=resamples, method="percentile", batch=50),
    )
    print(f"{'    ... which is, for 10,000 resamples,':<66} {seconds * 10_000 / resamples:9.1f} s")


def texts(pairs):
    """Explanations of about 160 characters, and the same with one word in ten changed."""
    draw = random.Random(1)
    words = [f"{draw.choice('bcdfgklmnprst')}{draw.choice('aeiou')}{draw.choice('lmnrst')}{n % 7}" for n in range(200)]
    for _ in range(pairs):
        said = [draw.choice(words) for _ in range(32)]
        yield " ".join(said), " ".join(one if draw.random() < 0.9 else draw.choice(words) for one in said)


def with_difflib():
    given = list(texts(1_500))
    found, seconds = timed("text similarity of 1,500 pairs, 160 characters", lambda: ratios(given))

    def standard():
        return [difflib.SequenceMatcher(None, first, second, autojunk=False).ratio() for first, second in given]

    expected, theirs = timed("difflib: the same", standard)
    if found != expected:
        raise SystemExit("the ratios differ from difflib's")
    print(f"{'    ... ours over difflib':<66} {seconds / theirs:9.3f}")
    with_repeats = given[:150] * 10
    timed("text similarity of 1,500 pairs of which 150 differ", lambda: ratios(with_repeats))


def main():
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    table = ratings(items)
    print(f"{items:,} items, {len(table)} raters, CPU seconds")
    cube, _ = ours(table)
    for package, work in (("sklearn", with_scikit_learn), ("krippendorff", with_krippendorff), ("scipy", with_scipy)):
        if importlib.util.find_spec(package) is None:
            print(f"{package}: not installed, skipped")
        else:
            work(cube)
    with_difflib()


if __name__ == "__main__":
    main()
