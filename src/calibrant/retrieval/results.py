"""What one evaluation gives: immutable, and bounded, so that no impossible number is passed on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, PlainValidator

from calibrant.estimates import Coverage

__all__ = ["CoverageField", "EvaluationResult", "RAGDimension", "RAGMetrics", "RetrievalMetrics", "Share"]

Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
"""A number from 0 to 1."""

if TYPE_CHECKING:
    CoverageField = Coverage
else:  # pydantic would read the annotations of Coverage, which are imported for type checkers alone
    CoverageField = Annotated[
        Any,
        PlainValidator(lambda given: given if isinstance(given, Coverage) else Coverage.from_json(given)),
        PlainSerializer(lambda coverage: coverage.to_json()),
    ]
"""A coverage as a field of a model: JSON has it as everywhere else."""

RAGDimension = Literal["faithfulness", "answer_relevancy", "context_precision", "context_recall"]
"""What is asked about a generated answer and its contexts."""


class RetrievalMetrics(BaseModel):
    """The metrics of one retrieved list, all in [0, 1] and all cut at k.

    `conventions` says how they were counted: under "seed", precision divides by what was retrieved (at most k), a
    document that was retrieved twice counts once, gains are binary and the ideal gain of nDCG is cut at k too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    precision_at_k: Share
    recall_at_k: Share
    f1_at_k: Share
    mrr: Share
    ndcg: Share
    hit_rate: Share
    conventions: str = "seed"


class RAGMetrics(BaseModel):
    """The metrics of one generated answer, all in [0, 1].

    `measured` names the dimensions that somebody answered for; the others hold 0.0 and are no measurement.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    faithfulness: Share
    answer_relevancy: Share
    context_precision: Share
    context_recall: Share
    measured: tuple[RAGDimension, ...] = (
        "faithfulness",
        "answer_relevancy",
        "context_precision",
        "context_recall",
    )

    def value(self, dimension: RAGDimension) -> float | None:
        """The value of `dimension`; None when it was not measured, where the field holds 0.0."""
        return getattr(self, dimension) if dimension in self.measured else None


class EvaluationResult(BaseModel):
    """What was measured of one query: the retrieved list, the generated answer, or both; None is not measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    retrieval_metrics: RetrievalMetrics | None = None
    rag_metrics: RAGMetrics | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
