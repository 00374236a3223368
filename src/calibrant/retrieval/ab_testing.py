"""Two retrievers on the same queries: which is better, and whether it could be chance."""

from __future__ import annotations

from pydantic import Field

from calibrant.retrieval.per_query import JudgedQuery, QuerySet

__all__ = ["EvaluationDataset", "EvaluationSample"]


class EvaluationSample(JudgedQuery):
    """One query, with the ids of the documents that are relevant to it."""


class EvaluationDataset(QuerySet):
    """The queries that both retrievers are asked."""

    samples: list[EvaluationSample] = Field(default_factory=list[EvaluationSample])
