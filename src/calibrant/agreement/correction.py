"""Corrected rates: the rate that people would find, from a judge on everything and people on some of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from calibrant.agreement.corrections import Judged, by_rogan_gladen, by_tuned_prediction
from calibrant.agreement.encoding import encoded
from calibrant.agreement.uncertainty import Bounds
from calibrant.errors import InputError, UnknownNameError, WrongTypeError, counted, shortened
from calibrant.estimates import Coverage, Estimate
from calibrant.items import identifier
from calibrant.ratings import Failure
from calibrant.stats import proportion
from calibrant.stats.arrays import probability

if TYPE_CHECKING:
    import numpy.typing as npt

    from calibrant.ratings import Value

    Array = npt.NDArray[np.float64]

__all__ = ["CorrectedRate", "corrected_rate"]

PLAIN = frozenset({bool, int, str, type(None), Failure})
SOURCES = ("elsewhere", "same_traffic")

FEW_LABELS = 100
RARE_ANSWERS = 50
"""Below these numbers of labels, and of labels of the rarer answer, the t interval of PPI++ covers too little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedRate:
    """The rate that people would find on all items, with what it was made from beside it.

    `estimate` is the one to publish; `judge_rate` is the judge's own, which is not corrected, and `label_rate` that of
    the labels alone. `methods` holds every method that the labels allow. `worth` is the number of labels that would
    tell as much without the judge; None for labels from elsewhere.
    """

    estimate: Estimate
    judge_rate: Estimate
    label_rate: Estimate
    methods: Mapping[str, Estimate]
    labels: int
    worth: float | None
    warnings: tuple[str, ...]

    def __str__(self) -> str:
        worth = f"; {self.worth_text()}" if self.worth is not None else ""
        return f"{self.estimate} ({self.estimate.method}; the judge alone says {self.judge_rate}){worth}"

    def worth_text(self) -> str:
        """What the judge adds to the labels, in a sentence."""
        yours = f"your {self.labels} label{'s' * (self.labels != 1)}"
        if not self.labels:
            return "there is no label on an item that was judged, so nothing could be corrected"
        if self.worth is None:
            said = "say" if self.labels != 1 else "says"
            return f"{yours} {said} how the judge errs, and not how often people would pass an item"
        return f"{yours} {'are' if self.labels != 1 else 'is'} worth {self.worth:.0f}"

    def to_json(self) -> dict[str, Any]:
        """The rate as JSON has it."""
        return {
            "estimate": self.estimate.to_json(),
            "judge_rate": self.judge_rate.to_json(),
            "label_rate": self.label_rate.to_json(),
            "methods": {name: one.to_json() for name, one in self.methods.items()},
            "labels": self.labels,
            "worth": self.worth,
            "warnings": list(self.warnings),
        }


def corrected_rate(
    judge: Mapping[Any, Any] | Sequence[Any],
    human: Mapping[Any, Any] | Sequence[Any],
    *,
    positive: Value = True,
    labels_from: Literal["same_traffic", "elsewhere"] = "same_traffic",
    clusters: Mapping[Any, Any] | Sequence[Any] | None = None,
    level: float = 0.95,
) -> CorrectedRate:
    """The rate of answers `positive` that people would give to all items, from their labels on some.

    `judge` and `human` map items to answers, or are sequences in one order in which None is no answer; a Failure of
    the judge is counted as one. When the labels are a random sample of the `same_traffic`, the estimate is PPI++; with
    fewer than 100 labels, or 50 of the rarer answer, it has a score interval. Labels from `elsewhere` only say how the
    judge errs: the rate of the items without a label is then corrected as by Rogan and Gladen.

    >>> judge = [True] * 70 + [False] * 30 + [True] * 1400 + [False] * 600
    >>> human = [True] * 60 + [False] * 10 + [False] * 25 + [True] * 5 + [None] * 2000
    >>> rate = corrected_rate(judge, human)
    >>> print(rate.estimate)
    0.650 [0.574, 0.719] n=2100
    >>> rate.worth_text()
    'your 100 labels are worth 167'
    """
    if labels_from not in SOURCES:
        raise UnknownNameError.among("source of labels", labels_from, SOURCES)
    probability(level, "level")
    data, coverage, unjudged = _data(judge, human, clusters, positive)
    found = _methods(data, labels_from, coverage, level)
    tuned = None if labels_from == "elsewhere" or not data.labelled.any() else by_tuned_prediction(data, level)
    return CorrectedRate(
        estimate=found["headline"],
        judge_rate=_rate(data.judge, data, coverage, level),
        label_rate=_rate(data.human[data.labelled], data, None, level, data.labelled),
        methods=MappingProxyType({name: one for name, one in found.items() if name != "headline"}),
        labels=int(data.labelled.sum()),
        worth=None if tuned is None else tuned.worth,
        warnings=_warnings(data, labels_from, unjudged),
    )


def _methods(data: Judged, labels_from: str, coverage: Coverage, level: float) -> dict[str, Estimate]:
    labels = data.human[data.labelled]
    if not len(labels):
        missing = Bounds(None, None, None, "ppi++", "there is no label on an item that was judged")
        return {"headline": _estimate(missing, coverage, level)}
    outside = _estimate(by_rogan_gladen(data, level), _traffic(data, coverage), level)
    if labels_from == "elsewhere":
        return {"headline": outside, "rogan-gladen": outside}
    tuned = by_tuned_prediction(data, level)
    large, small = _estimate(tuned.large, coverage, level), _estimate(tuned.small, coverage, level)
    rare = min(labels.sum(), len(labels) - labels.sum())
    few = len(labels) < FEW_LABELS or rare < RARE_ANSWERS
    every = {"ppi++": large, "ppi++, score interval": small, "rogan-gladen": outside}
    return {"headline": small if few else large, **every}


def _estimate(bounds: Bounds, coverage: Coverage, level: float) -> Estimate:
    value = None if bounds.value is None else min(max(bounds.value, 0.0), 1.0)
    worst = None if value is None else coverage.worst_case(value)
    fields = bounds._replace(value=value)._asdict()
    return Estimate(**fields, level=level, coverage=coverage, worst_case=worst)


def _rate(
    answers: Array,
    data: Judged,
    coverage: Coverage | None,
    level: float,
    chosen: npt.NDArray[np.bool_] | None = None,
) -> Estimate:
    if not len(answers):
        return proportion(0, 0, level=level, coverage=coverage)
    clusters = data.clusters if data.clusters is None or chosen is None else data.clusters[chosen]
    return proportion(answers, level=level, coverage=coverage, clusters=cast("Any", clusters))


def _traffic(data: Judged, coverage: Coverage) -> Coverage:
    """The coverage of the items without a label, whose rate is asked for."""
    return Coverage(
        rated=int((~data.labelled).sum()),
        failed=coverage.failed,
        skipped=coverage.skipped,
        not_applicable=coverage.not_applicable,
        codes=coverage.codes,
    )


def _data(judge: Any, human: Any, clusters: Any, positive: Value) -> tuple[Judged, Coverage, int]:
    """The items that were judged, as zeros and ones; how the rest is counted; and the labels on what was not judged."""
    items, (judged, labelled, shared) = _aligned(judge, human, clusters)
    _check_positive(_known(judged), _known(labelled), positive)
    coverage = Coverage.of(_status(answer) for answer in judged)
    kept = [place for place, answer in enumerate(judged) if answer is not None and not isinstance(answer, Failure)]
    unjudged = sum(label is not None for label in labelled) - sum(labelled[place] is not None for place in kept)
    said = np.array([judged[place] == positive for place in kept], float)
    labels = np.array([np.nan if labelled[place] is None else labelled[place] == positive for place in kept], float)
    without = [items[place] for place in kept if clusters is not None and shared[place] is None]
    if without:
        raise InputError.gathered("clusters", [f"item {item!r} has no cluster" for item in without])
    groups = None if clusters is None else encoded([shared[place] for place in kept]).codes
    return Judged(said, labels, groups), coverage, unjudged


def _aligned(judge: Any, human: Any, clusters: Any) -> tuple[list[str], list[list[Any]]]:
    columns = {"judge": judge, "human": human, "clusters": clusters}
    given = {name: column for name, column in columns.items() if column is not None}
    if all(isinstance(column, Mapping) for column in given.values()):
        named = {name: {identifier(item, "item"): one for item, one in of.items()} for name, of in given.items()}
        items = list(dict.fromkeys([*named["judge"], *named["human"]]))
        return items, [[named.get(name, {}).get(item) for item in items] for name in columns]
    if not all(_is_row(column) for column in given.values()):
        raise WrongTypeError("judge, human and clusters are all mappings of items, or all sequences in one order")
    lengths = {name: len(column) for name, column in given.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"judge, human and clusters hold the same items in the same order, but have {lengths}")
    rows = [_row(given[name]) if name in given else [None] * len(judge) for name in columns]
    return [str(place) for place in range(len(judge))], rows


def _is_row(column: object) -> bool:
    return isinstance(column, Sequence | np.ndarray) and not isinstance(column, str)


def _row(column: Any) -> list[Any]:
    values: list[Any] = column.tolist() if isinstance(column, np.ndarray) else list(column)
    return values if set(map(type, values)) <= PLAIN else [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    item = getattr(value, "item", None)
    plain = item() if callable(item) else value
    return None if isinstance(plain, float) and math.isnan(plain) else plain


def _status(answer: Any) -> tuple[Any, str | None]:
    if isinstance(answer, Failure):
        return answer.status, answer.code
    return ("skipped", None) if answer is None else ("rated", None)


def _known(answers: list[Any]) -> set[Any]:
    return {answer for answer in answers if answer is not None and not isinstance(answer, Failure)}


def _check_positive(by_judge: set[Any], by_people: set[Any], positive: Value) -> None:
    """A `positive` that nobody answered is a rate of zero, or a slip; with yes and no spelled otherwise, a slip."""
    known = by_judge | by_people
    if known and positive not in known and not known <= {False, True}:
        raise InputError(f"nobody answered {shortened(positive)}; say positive=... as one of: {_listed(known)}")
    if by_judge and by_people and not by_judge & by_people and len(known) > 2:
        raise InputError(
            "the judge and people have no answer in common, so a rate would compare nothing: "
            f"the judge says {_listed(by_judge)}, and people say {_listed(by_people)}; write them alike"
        )


def _listed(answers: set[Any]) -> str:
    return ", ".join(sorted(shortened(answer) for answer in answers)[:5])


def _warnings(data: Judged, labels_from: str, unjudged: int) -> tuple[str, ...]:
    found: list[str] = []
    if unjudged:
        found.append(f"{counted(unjudged, 'labelled item was', 'labelled items were')} not judged, and left out")
    f, u = data.judge[data.labelled], data.judge[~data.labelled]
    if labels_from == "same_traffic" and len(f) and len(u):
        pooled = float(data.judge.mean())
        error = np.sqrt(pooled * (1.0 - pooled) * (1.0 / len(f) + 1.0 / len(u)))
        if data.clusters is None and error > 0 and abs(f.mean() - u.mean()) > 2.58 * error:
            found.append(
                f"the judge passes {f.mean():.0%} of the labelled items and {u.mean():.0%} of the others: the labels "
                "do not look like a random sample; if they come from elsewhere, say labels_from='elsewhere'"
            )
    return tuple(found)
