"""People's labels on some items: the pass rate that they would find on all, beside the judge's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibrant.agreement.correction import corrected_rate
from calibrant.errors import InputError, shortened
from calibrant.items import identifier
from calibrant.metrics.multi import MultiOutputBaseMetric
from calibrant.ratings import Failure, Value
from calibrant.readers.sources import Row, row_source
from calibrant.store.records import LabelRecord

if TYPE_CHECKING:
    from calibrant.metrics.base import BaseMetric
    from calibrant.runs.specification import MetricSpec
    from calibrant.runs.summaries import MetricSummary
    from calibrant.runs.tally import Tallies, Tally

__all__ = ["Labels", "check_labels", "corrected", "labels_from_json", "labels_json", "read_labels"]

Labels = Mapping[str, Mapping[str, Mapping[str, Value]]]
"""By criterion and item, what each annotator said."""

COLUMNS = ("item", "criterion", "annotator", "value")
SHOWN = 3
WORDS = {"true": True, "yes": True, "pass": True, "false": False, "no": False, "fail": False}


def read_labels(source: Any) -> Labels:
    """The labels in a file or list with item, criterion, annotator and value; every bad row is named.

    A value is yes or no (also true, pass, 1), a score in [0, 1], or one of the metric's labels. What an annotator
    says last of an item counts; where nobody is named, rows that differ on an item are a problem.
    """
    found: dict[str, dict[str, dict[str, Value]]] = {}
    rows = row_source(_mappings(source), name=getattr(source, "name", "labels"))
    problems: list[str] = []
    for row in rows:
        try:
            item, criterion, annotator, value = _label(row)
        except InputError as error:
            problems.append(f"{row.place}: {error}")
            continue
        answers = found.setdefault(criterion, {}).setdefault(item, {})
        if not annotator and answers.get(annotator, value) != value:
            told = f"{criterion} of item {item!r} is labelled already, and otherwise"
            problems.append(f"{row.place}: {told}; name the annotator of each row")
        answers[annotator] = value
    if problems:
        raise InputError.gathered(rows.title, problems)
    return found


def check_labels(labels: Labels, metrics: Iterable[BaseMetric]) -> None:
    """Raise where labels are on no metric of the run, or say what this metric cannot read, before anybody is asked."""
    known = {metric.name: metric for metric in metrics}
    unknown = sorted(name for name in labels if not _is_known(name, known))
    if unknown:
        raise InputError(f"the labels are on {', '.join(unknown)}, but the metrics of this run are {', '.join(known)}")
    for name, by_item in labels.items():
        metric = known.get(name)
        words = sorted({value for by in by_item.values() for value in by.values() if isinstance(value, str)})
        if words and metric is not None and not metric.passing_labels:
            raise InputError(
                f"people labelled {name} with {words[0]!r}, and nothing says whether that passes; "
                "write yes or no, a score in [0, 1], or name the metric's passing_labels"
            )


def _is_known(name: str, metrics: Mapping[str, BaseMetric]) -> bool:
    """Whether it is a metric, or an output of one that has several; those are known only when they come."""
    parent = metrics.get(name.partition("/")[0])
    return name in metrics or isinstance(parent, MultiOutputBaseMetric)


def corrected(
    summaries: Iterable[MetricSummary], tallies: Tallies, labels: Labels, places: Mapping[str, int], *, level: float
) -> tuple[tuple[MetricSummary, ...], list[str]]:
    """The summaries with their corrected pass rates, and what the labels are worth, in sentences."""
    summaries = tuple(summaries)
    by_name = {tally.spec.name: tally for tally in tallies.settled()}
    told: list[str] = []
    found: list[MetricSummary] = []
    for summary in summaries:
        given = labels.get(summary.name)
        if given is None:
            found.append(summary)
            continue
        rate = corrected_rate(
            _judged(by_name[summary.name]),
            _human(by_name[summary.name], given, places),
            clusters=tallies.clusters.tolist() if tallies.has_clusters else None,
            level=level,
        )
        told.append(f"{summary.name}: {rate.worth_text()}")
        strangers = [item for item in given if item not in places]
        if strangers:
            count = f"{len(strangers)} of {len(given)} labelled items"
            told.append(f"{summary.name}: {count} are not in what was rated: {_some(strangers)}")
        tied = [item for item in given if item in places and _share(summary.spec, given[item]) == 0.5]
        if tied:
            count = f"{len(tied)} of {len(given)} labelled items"
            told.append(f"{summary.name}: people are tied on {count}, which count as not labelled: {_some(tied)}")
        told += [f"{summary.name}: {warning}" for warning in rate.warnings]
        found.append(replace(summary, corrected_pass_rate=rate.estimate))
    return tuple(found), told


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")


def labels_json(labels: Labels) -> dict[str, Any]:
    """The labels as JSON has them, to be kept with the numbers and the warnings that rest on them."""
    return {
        criterion: {
            item: {name: sorted(value) if isinstance(value, frozenset) else value for name, value in answers.items()}
            for item, answers in by_item.items()
        }
        for criterion, by_item in labels.items()
    }


def labels_from_json(data: Mapping[str, Any]) -> Labels:
    """The labels that `labels_json` wrote.

    >>> labels_from_json(labels_json({"kind": {"a": {"kim": frozenset({"warm"})}}}))
    {'kind': {'a': {'kim': frozenset({'warm'})}}}
    """
    return {
        criterion: {
            item: {name: frozenset(value) if isinstance(value, list) else value for name, value in answers.items()}
            for item, answers in by_item.items()
        }
        for criterion, by_item in data.items()
    }


def _mappings(source: Any) -> Any:
    """Records of the store as rows."""
    if isinstance(source, str) or hasattr(source, "__fspath__") or not isinstance(source, Iterable):
        return source
    return [
        {name: getattr(one, name) for name in COLUMNS} if isinstance(one, LabelRecord) else one
        for one in cast("Iterable[Any]", source)
    ]


def _label(row: Row) -> tuple[str, str, str, Value]:
    if row.problem or not isinstance(row.cells, Mapping):
        raise InputError(row.problem or f"expected a mapping, got {shortened(row.cells)}")
    missing = [name for name in COLUMNS if name != "annotator" and row.cells.get(name) is None]
    if missing:
        raise InputError(f"has no {', '.join(missing)}; a label has {', '.join(COLUMNS)}")
    item, criterion = identifier(row.cells["item"], "item"), identifier(row.cells["criterion"], "criterion")
    return item, criterion, str(row.cells.get("annotator", "")), _value(row.cells["value"])


def _value(value: Any) -> Value:
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in WORDS:
            return WORDS[text.lower()]
        try:
            value = float(text)
        except ValueError:
            return text
    if isinstance(value, bool | frozenset):
        return cast("Value", value)
    if not 0.0 <= float(value) <= 1.0:
        raise InputError(f"value is yes or no, a score in [0, 1] or a label, not {shortened(value)}")
    return float(value)


def _judged(tally: Tally) -> list[Any]:
    """For each item whether it passed; a Failure where it could not be rated, and None where that does not matter."""
    failure = Failure(code="metric_error", message="not rated")
    failed = tally.statuses == 2
    rated = tally.statuses == 1
    return [
        bool(passed) if is_rated else failure if has_failed else None
        for passed, is_rated, has_failed in zip(tally.passed.tolist(), rated, failed, strict=True)
    ]


def _human(tally: Tally, given: Mapping[str, Mapping[str, Value]], places: Mapping[str, int]) -> list[bool | None]:
    """For each item what most of its annotators said; None where nobody did, or where they are tied."""
    said: list[bool | None] = [None] * tally.n
    for item, answers in given.items():
        share = _share(tally.spec, answers)
        if item in places and share != 0.5:
            said[places[item]] = share > 0.5
    return said


def _share(spec: MetricSpec, answers: Mapping[str, Value]) -> float:
    """The share of an item's annotators that let it pass."""
    return float(np.mean([_passed(spec, value) for value in answers.values()]))


def _passed(spec: MetricSpec, value: Value) -> bool:
    passed = value if isinstance(value, bool) else spec.outcome(value).passed
    if passed is None:
        raise InputError(f"people labelled {spec.name} with {value!r}, and nothing says whether that passes")
    return passed
