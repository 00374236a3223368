"""Fields that a metric needs and no item has: nothing could be rated, which is told before anybody is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibrant.errors import InputError
from calibrant.metrics.base import BaseMetric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from calibrant.runs.preparation import Measurement

__all__ = ["check_fields", "unmet_needs"]


def unmet_needs(asked: Measurement) -> Iterator[tuple[str, str]]:
    """Each metric that can rate no item for want of a field, and what it wants.

    A system may give an item any field, and a metric may decide for itself what it can rate: then nobody can say.
    """
    if asked.system is not None:
        return
    where, has = asked.table.title, ", ".join(asked.table.rows.columns or sorted(asked.survey.fields))
    for metric in asked.metrics:
        lacking = sorted(metric.required_fields - asked.survey.fields)
        if lacking and type(metric).can_evaluate is BaseMetric.can_evaluate:
            needs = f"needs {' and '.join(lacking)}, missing or empty in every item of {where} (it has: {has})"
            remedy = f"name its column (columns: {{{lacking[0]}: COLUMN}}), or leave the metric out"
            yield metric.name, f"{needs}; {remedy}"


def check_fields(asked: Measurement) -> None:
    """Raise one InputError for all metrics that can rate no item for want of a field."""
    problems = [f"metric {name!r} {needs}" for name, needs in unmet_needs(asked)]
    if problems:
        raise InputError.gathered("the run", problems) if len(problems) > 1 else InputError(problems[0])
