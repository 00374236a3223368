"""Two or more runs of the same items by the same instruments: whether they differ, and by how much."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.errors import InputError, UnknownNameError, UnlikeRunsError, WrongTypeError, shortened
from calibrant.runs.comparison import ComparedRun, Comparison, MetricDifference
from calibrant.runs.gate_text import checked_gates
from calibrant.runs.gating import judged
from calibrant.runs.likeness import unlikeness
from calibrant.runs.pairing import difference, only_one, pairs_of
from calibrant.runs.records import Run
from calibrant.runs.references import reopened
from calibrant.stats import (
    cohens_d,
    cohens_h,
    detectable_paired_mean,
    detectable_paired_proportions,
    holm,
    mcnemar,
    sign_flip,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from calibrant.estimates import Estimate
    from calibrant.runs.likeness import Unlike
    from calibrant.runs.pairing import Pairs
    from calibrant.runs.records import GateAnswer
    from calibrant.stats import TestResult

__all__ = ["ALLOWED", "compare"]

ALLOWED = ("dataset", "instrument")
"""In what runs may be unlike when that is allowed by name."""

SHOWN = 5


def compare(
    a: Run | str,
    b: Run | str,
    *others: Run | str,
    allow: Iterable[str] = (),
    gates: Iterable[str] = (),
    seed: int = 0,
) -> Comparison:
    """Runs compared with each other, paired on their items; a text is an exported file or a run of the workspace.

    Pass rates are compared by McNemar's exact test, scores by the sign-flip test, both by whole clusters where items
    have them; p-values are corrected by Holm over all that is compared. Runs of other items or by another instrument
    raise UnlikeRunsError unless `allow` names "dataset" or "instrument"; then the result says what differs. `gates` are
    conditions on B with A as its baseline, such as "polite.score >= baseline - 0.02".

    >>> from calibrant.runs import run
    >>> def brief(item):
    ...     return len(item.answer.split()) <= 3
    >>> old = run([{"id": n, "query": "?", "answer": "I would not know that."} for n in range(9)], [brief])
    >>> new = run([{"id": n, "query": "?", "answer": "Until six."} for n in range(9)], [brief])
    >>> found = compare(old, new).between("brief")
    >>> found.test.p_value, found.better, len(found.wins)
    (0.00390625, 'b', 9)
    """
    runs = [_run(one) for one in (a, b, *others)]
    allowed = _allowed(allow)
    labels = _labels(runs)
    shared, only_in = _shared(runs, labels)
    unlike = _unlike(runs, shared, allowed)
    differences = [
        found
        for (first, one), (second, other) in combinations(zip(labels, runs, strict=True), 2)
        for name in shared
        for found in _differences((first, one), (second, other), name, seed)
    ]
    return Comparison(
        runs=tuple(
            ComparedRun(label=label, run=run.id, name=run.name, n=run.dataset.n, is_complete=run.status == "complete")
            for label, run in zip(labels, runs, strict=True)
        ),
        differences=tuple(_corrected(differences)),
        unlike=tuple(unlike),
        only_in=tuple(only_in),
        seed=seed,
        gates=_gates(gates, runs),
    )


def _gates(gates: Iterable[str], runs: Sequence[Run]) -> tuple[GateAnswer, ...]:
    given = [gates] if isinstance(gates, str) else [*gates]
    if given and len(runs) > 2:
        raise InputError(f"gates hold one run against another; compare two runs with them, not {len(runs)}")
    conditions = checked_gates(given, dict.fromkeys((one.name for one in runs[1].metrics), False), has_baseline=True)
    return judged(conditions, runs[1], baseline=runs[0])


def _run(given: Run | str) -> Run:
    if isinstance(given, Run):
        return given
    if isinstance(given, str) or hasattr(given, "__fspath__"):  # pyright: ignore[reportUnnecessaryIsInstance] - paths too
        return reopened(str(given))
    raise WrongTypeError(f"expected a Run, an exported file or the name of a run, got {shortened(given)}")


def _allowed(allow: Iterable[str]) -> frozenset[str]:
    given = frozenset([allow] if isinstance(allow, str) else allow)
    for name in sorted(given - {*ALLOWED}):
        raise UnknownNameError.among("difference to allow", name, ALLOWED)
    return given


def _labels(runs: Sequence[Run]) -> list[str]:
    """The runs' names where those tell them apart, else their ids, else letters."""
    for choice in ([run.name for run in runs], [run.id for run in runs]):
        if all(choice) and len(set(choice)) == len(runs):
            return choice
    return [chr(ord("A") + place) for place in range(len(runs))]


def _shared(runs: Sequence[Run], labels: Sequence[str]) -> tuple[list[str], list[str]]:
    names = [[summary.name for summary in run.metrics] for run in runs]
    shared = [name for name in names[0] if all(name in other for other in names[1:])]
    if not shared:
        told = "; ".join(f"{label}: {', '.join(own)}" for label, own in zip(labels, names, strict=True))
        raise InputError(f"the runs share no metric ({told})")
    having: dict[str, list[str]] = {}
    for label, own in zip(labels, names, strict=True):
        for name in own:
            having.setdefault(name, []).append(label)
    return shared, [f"{name} only in {', '.join(those)}" for name, those in having.items() if name not in shared]


def _unlike(runs: Sequence[Run], metrics: Sequence[str], allowed: frozenset[str]) -> list[Unlike]:
    found = {(unlike.kind, unlike.text): unlike for other in runs[1:] for unlike in unlikeness(runs[0], other, metrics)}
    refused = [unlike for unlike in found.values() if unlike.kind not in allowed]
    if refused:
        told = "\n".join(f"  {unlike.text}" for unlike in refused[:SHOWN])
        more = f"\n  ... and {len(refused) - SHOWN} more" if len(refused) > SHOWN else ""
        kinds = sorted({unlike.kind for unlike in refused})
        remedy = " and ".join(f'"{kind}"' for kind in kinds)
        flags = " ".join(f"--allow {kind}" for kind in kinds)
        raise UnlikeRunsError(
            f"these runs were not measured alike:\n{told}{more}\nto compare them all the same, allow {remedy} ({flags})"
        )
    return [*found.values()]


def _differences(a: tuple[str, Run], b: tuple[str, Run], name: str, seed: int) -> Iterator[MetricDifference]:
    """The pass rate and, where it says something else, the score of one metric in two runs."""
    before, after = a[1].outcomes(name), b[1].outcomes(name)
    higher = b[1].metric(name).spec.higher_is_better
    passes = pairs_of(before, after, "pass_rate")
    if not passes.items and before.items and not {*before.items} & {*after.items}:
        raise InputError(f"{a[0]} and {b[0]} have no item in common, so nothing can be paired")
    scores = pairs_of(before, after, "score")
    chosen = [scores] if not passes.items and scores.items else [passes]
    if passes.items and scores.items and not scores.is_binary:
        chosen.append(scores)
    for pairs in chosen:
        yield _difference(pairs, (a[0], b[0], name), seed, higher_is_better=higher)


def _difference(pairs: Pairs, names: tuple[str, str, str], seed: int, *, higher_is_better: bool) -> MetricDifference:
    found, values = difference(pairs), pairs.differences
    better = values if higher_is_better or pairs.quantity == "pass_rate" else -values
    a, b, metric = names
    return MetricDifference(
        metric=metric,
        quantity=pairs.quantity,
        a=a,
        b=b,
        value_a=float(pairs.a.mean()) if len(values) else None,
        value_b=float(pairs.b.mean()) if len(values) else None,
        difference=found,
        test=_test(pairs, seed),
        p_corrected=None,
        effect=_effect(pairs),
        detectable=_detectable(pairs, found),
        wins=_items(pairs, better > 0),
        losses=_items(pairs, better < 0),
        ties=_items(pairs, better == 0),
        lost_a=pairs.lost_a,
        lost_b=pairs.lost_b,
        higher_is_better=higher_is_better,
    )


def _corrected(differences: Sequence[MetricDifference]) -> Iterator[MetricDifference]:
    tested = [one.test.p_value for one in differences if one.test is not None]
    corrected = iter(holm(tested).tolist() if tested else [])
    for one in differences:
        yield one if one.test is None else replace(one, p_corrected=next(corrected))


def _items(pairs: Pairs, chosen: Any) -> tuple[str, ...]:
    return tuple(pairs.items[place] for place in np.flatnonzero(chosen).tolist())


def _test(pairs: Pairs, seed: int) -> TestResult | None:
    if not len(pairs.items):
        return None
    if pairs.quantity == "pass_rate" and pairs.clusters is None:
        return mcnemar(*only_one(pairs))
    return sign_flip(pairs.differences, seed=seed, clusters=pairs.clusters)


def _effect(pairs: Pairs) -> float | None:
    if not len(pairs.items):
        return None
    if pairs.quantity == "pass_rate":
        return cohens_h(float(pairs.b.mean()), float(pairs.a.mean()))
    return cohens_d(pairs.differences)


def _detectable(pairs: Pairs, found: Estimate) -> float | None:
    """The smallest difference that these data show with power 0.8 at level 0.05; None when there is none to name."""
    n = len(pairs.items)
    if n < 2:
        return None
    if pairs.quantity == "pass_rate" and pairs.clusters is None:
        # One item more on each side, as in the interval: no discordant item does not mean that there are none.
        discordant = (sum(only_one(pairs)) + 2) / (n + 2)
        return detectable_paired_proportions(n, discordant) if discordant < 1 else None
    if found.lower is None or found.upper is None:
        return None
    z = NormalDist().inv_cdf((1 + found.level) / 2)
    spread = (found.upper - found.lower) / (2 * z) * math.sqrt(n)
    return detectable_paired_mean(n, spread) if spread > 0 else None
