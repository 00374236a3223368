"""One retriever over a dataset, query by query: metrics, or the failure that came instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from calibrant.errors import InputError, RatingError, WrongTypeError, shortened
from calibrant.retrieval.context import document_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.retrieval.pipeline import PipelineEvaluator
    from calibrant.retrieval.results import RetrievalMetrics
    from calibrant.retrieval.retrievers import Retrieved

__all__ = ["JudgedQuery", "QuerySet", "RetrieverFailure"]


def _relevant_ids(given: Any) -> list[str]:
    try:
        return document_ids(given, "relevant_ids")
    except WrongTypeError as error:
        # A model reports what its fields refuse with a ValueError; a TypeError would go past it.
        raise InputError(str(error)) from error


class JudgedQuery(BaseModel):
    """One query, with the ids of the documents that are relevant to it."""

    model_config = ConfigDict(extra="forbid")

    query: str
    relevant_ids: Annotated[list[str], BeforeValidator(_relevant_ids)] = Field(default_factory=list[str])
    metadata: dict[str, Any] = Field(default_factory=dict)


class QuerySet(BaseModel):
    """What a set of judged queries has beside them: a name, and notes."""

    model_config = ConfigDict(extra="forbid")

    name: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)


class RetrieverFailure(BaseModel):
    """A query that a retriever gave no list for, and why. It is counted and named, never scored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str
    retriever: str = ""
    code: str = "system_error"
    message: str

    def __str__(self) -> str:
        who = f"retriever {self.retriever} " if self.retriever else ""
        return f"{who}on query {self.query!r}: {self.message}"


def evaluated(
    evaluator: PipelineEvaluator,
    samples: Sequence[JudgedQuery],
    retrieved: Sequence[Retrieved],
    *,
    k: int,
    name: str = "",
) -> list[RetrievalMetrics | RetrieverFailure]:
    """For each sample the metrics of what was retrieved for it, or the failure of the retriever called `name`."""
    outcomes: list[RetrievalMetrics | RetrieverFailure] = []
    for sample, given in zip(samples, retrieved, strict=True):
        if given.failure is None:
            outcomes.append(evaluator.evaluate_retrieval(list(given.ids), sample.relevant_ids, k=k))
        else:
            failure = RetrieverFailure(
                query=sample.query, retriever=name, code=given.failure.code, message=given.failure.message
            )
            outcomes.append(failure)
    return outcomes


def refuse_total_failure(failures: Sequence[RetrieverFailure], queries: int) -> None:
    """Raise when no query at all was left to score: nothing was measured, so there is nothing to report."""
    who = {failure.retriever for failure in failures}
    subject = (
        f"retriever {who.pop()}"
        if len(who) == 1 and "" not in who
        else "the retriever"
        if len(who) == 1
        else "one retriever or the other"
    )
    shown = "".join(f"\n  {failure}" for failure in failures[:3])
    more = f"\n  ... and {len(failures) - 3} more" if len(failures) > 3 else ""
    raise RatingError(
        f"no query could be scored: {subject} failed on all {queries}, so nothing was measured:{shown}{more}",
        code="system_error",
    )


def samples_of(dataset: Any) -> Sequence[JudgedQuery]:
    """The samples of a dataset, this package's or one of the same shape."""
    samples = getattr(dataset, "samples", None)
    if not isinstance(samples, list | tuple):
        raise WrongTypeError(f"expected an EvaluationDataset with samples, got {shortened(dataset)}")
    return cast("Sequence[JudgedQuery]", samples)
