"""How the tasks of one metric become what a scorer is given, and how several people become one truth."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["ANNOTATOR_AGGREGATIONS", "TaskAggregationMode"]

ANNOTATOR_AGGREGATIONS = ("individual_average", "majority_vote")
"""Against each person, and the mean of it; or against what most of them said."""


class TaskAggregationMode(StrEnum):
    """The `task_strategy` of a metric: one task, several apart and their mean, or several as one set of labels.

    >>> TaskAggregationMode("multilabel") is TaskAggregationMode.MULTILABEL
    True
    """

    SINGLE = "single"
    MULTITASK = "multitask"
    MULTILABEL = "multilabel"
