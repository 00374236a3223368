"""Several tasks of one judge as one result: the mean over tasks, with each task's own result kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from calibrant.agreement.published import interpreted
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.scoring_result import BaseScoringResult
from calibrant.estimates import Coverage, Estimate

__all__ = ["combined", "items_of"]

ESTIMATE = frozenset({"value", "lower", "upper", "level", "method", "n", "coverage", "worst_case", "reason"})
"""The keys of an estimate in JSON."""


def combined(results: Mapping[str, BaseScoringResult]) -> BaseScoringResult:
    """The result over all tasks (`results` by task): every score is the mean of the tasks'.

    A task without a score leaves the mean without one, and says why: a mean over the tasks that worked would not be
    comparable between judges. The interval runs from the mean lower to the mean upper bound, which holds whatever the
    tasks have to do with each other. Its n is a number of items (`items_of`); what counts answers, such as
    `num_comparisons`, is the sum over the tasks.
    """
    each = list(results.values())
    reasons = [f"{task}: {one.reason}" for task, one in results.items() if one.reason]
    first = each[0]
    return BaseScoringResult(
        scorer_name=first.scorer_name,
        task_name=f"{len(each)}_tasks_avg",
        judge_id=first.judge_id,
        scores={name: _mean([one.scores.get(name) for one in each]) for name in _names(each)},
        metadata={
            **_shared({task: one.metadata for task, one in results.items()}),
            "task_names": list(results),
            "tasks": {task: _kept(one) for task, one in results.items()},
        },
        aggregation_mode=TaskAggregationMode.MULTITASK,
        num_comparisons=sum(one.num_comparisons for one in each),
        failed_comparisons=sum(one.failed_comparisons for one in each),
        intervals=_intervals(each),
        details=_details(results),
        reason="; ".join(reasons),
    )


def _names(each: Sequence[BaseScoringResult]) -> list[str]:
    return list(dict.fromkeys(name for one in each for name in one.scores))


def _kept(result: BaseScoringResult) -> dict[str, Any]:
    return {
        "scores": result.scores,
        **result.details,
        "intervals": result.intervals,
        "reason": result.reason,
        "num_comparisons": result.num_comparisons,
        "failed_comparisons": result.failed_comparisons,
        "metadata": result.metadata,
    }


def _mean(values: Sequence[Any]) -> Any:
    """The mean of numbers, of estimates, or of dicts and lists of them, place by place; None of anything else."""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return values[0] if len(set(values)) == 1 else sum(values) / len(values)
    if all(_is_estimate(value) for value in values):
        return _mean_estimate([_estimate(value) for value in values]).to_json()
    if all(isinstance(value, Mapping) for value in values):
        tables = cast("Sequence[Mapping[str, Any]]", values)
        shared = [key for key in tables[0] if all(key in table for table in tables)]
        return {key: _mean([table[key] for table in tables]) for key in shared}
    if all(isinstance(value, list) for value in values) and len({len(value) for value in values}) == 1:
        means = [_mean(place) for place in zip(*values, strict=True)]
        return None if None in means else means
    return None


def _is_estimate(value: Any) -> bool:
    return isinstance(value, Mapping) and set(cast("Mapping[str, Any]", value)) >= ESTIMATE


def _estimate(value: Mapping[str, Any]) -> Estimate:
    return Estimate.from_json({name: value[name] for name in ESTIMATE})


PER_TASK = frozenset({"annotators", "dropped_annotators", "dropped_items", "left_out"})
"""What has no mean over tasks, such as p-values: only each task's own result has it."""


def _shared(metadata: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What all tasks say alike, and the mean of what differs and is a number; totals are summed, warnings listed.

    The margin at which a judge passes the alternative annotator test is that at which it passes in every task.
    """
    merged: dict[str, Any] = {}
    for key in (name for name in next(iter(metadata.values())) if name not in PER_TASK):
        values = [one.get(key) for one in metadata.values()]
        if key == "warnings":
            merged[key] = _warnings(metadata)
        elif key == "break_even_epsilon":
            known = [value for value in values if value is not None]
            merged[key] = max(known) if len(known) == len(values) else None
        elif key.startswith("total_") and all(isinstance(value, int) for value in values):
            merged[key] = sum(value for value in values if value is not None)
        elif all(value == values[0] for value in values):
            merged[key] = values[0]
        elif (mean := _mean(values)) not in (None, {}, []):
            merged[key] = mean
    return merged


def _warnings(metadata: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Each warning once, with the tasks that it is of."""
    tasks: dict[str, list[str]] = {}
    for task, about in metadata.items():
        for warning in about.get("warnings") or ():
            tasks.setdefault(warning, []).append(task)
    return [f"{', '.join(named)}: {warning}" for warning, named in tasks.items()]


def _details(results: Mapping[str, BaseScoringResult]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    each = list(results.values())
    for key in each[0].details:
        values = [one.details.get(key) for one in each]
        if all(isinstance(value, int) for value in values):
            merged[key] = sum(value for value in values if value is not None)
        elif key == "interpretation":
            mean = _mean([one.score for one in each])
            merged[key] = None if mean is None else interpreted(mean)
        elif len(set(map(str, values))) == 1:
            merged[key] = values[0]
        else:
            merged[key] = "; ".join(f"{task}: {value}" for task, value in zip(results, values, strict=True))
    return merged


def _intervals(each: Sequence[BaseScoringResult]) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for name in each[0].intervals:
        estimates = [one.estimate(name) for one in each]
        found = [one for one in estimates if one is not None]
        if len(found) == len(each):
            made[name] = _mean_estimate(found).to_json()
    return made


def items_of(coverages: Sequence[Coverage]) -> Coverage:
    """The coverage of a mean over tasks of the same items: it counts items, and no item twice.

    It has the rated items of the task with the fewest and the failures of the task with the most; the rest of the items
    of the largest task were skipped, or had nothing to rate.

    >>> print(items_of([Coverage(rated=80), Coverage(rated=78, failed=2), Coverage(rated=75, skipped=5)]))
    75 rated, 2 failed, 3 skipped
    """
    rated, failed = min(one.rated for one in coverages), max(one.failed for one in coverages)
    rest = max(one.total for one in coverages) - rated - failed
    not_applicable = min(rest, max(one.not_applicable for one in coverages))
    codes = {code: max(one.codes.get(code, 0) for one in coverages) for each in coverages for code in each.codes}
    return Coverage(
        rated=rated, failed=failed, skipped=rest - not_applicable, not_applicable=not_applicable, codes=codes
    )


def _mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    value = _mean([one.value for one in estimates])
    reasons = [one.reason for one in estimates if one.reason]
    return Estimate(
        value=value,
        lower=None if value is None else _mean([one.lower for one in estimates]),
        upper=None if value is None else _mean([one.upper for one in estimates]),
        level=estimates[0].level,
        method="mean of the tasks' bounds",
        coverage=items_of([one.coverage for one in estimates]),
        reason="; ".join(dict.fromkeys(reasons)) or ("" if value is not None else "a task has no score"),
    )
