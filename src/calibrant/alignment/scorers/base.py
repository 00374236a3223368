"""What every scorer looks like: three methods, of which a scorer of your own writes two."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, WrongTypeError
from calibrant.fingerprints import canonical_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from calibrant.alignment.modes import TaskAggregationMode
    from calibrant.alignment.scoring_result import BaseScoringResult

__all__ = ["BaseScorer"]


class BaseScorer(ABC):
    """A way to compare a judge with people. Subclass it, and call `super().__init__(scorer_name=...)`.

    `min_human_annotators` is how many people it needs; with fewer, every judge gets a reason instead of a score.
    """

    min_human_annotators: int = 1

    def __init__(self, scorer_name: str) -> None:
        if not isinstance(scorer_name, str) or not scorer_name.strip():  # pyright: ignore[reportUnnecessaryIsInstance] - users pass None
            raise InputError(f"scorer_name is a text that is not empty, not {scorer_name!r}")
        self.scorer_name = scorer_name
        self.logger = logging.getLogger(f"calibrant.alignment.{scorer_name}")

    @abstractmethod
    def can_score_task(self, sample_label: Any) -> bool:
        """Whether labels such as this one can be scored."""

    @abstractmethod
    async def compute_score_async(
        self,
        judge_data: pl.DataFrame,
        human_data: pl.DataFrame,
        task_name: str,
        judge_id: str,
        aggregation_mode: TaskAggregationMode,
        annotator_aggregation: str = "individual_average",
    ) -> BaseScoringResult:
        """The result of one judge: `judge_data` has original_id and label, `human_data` human_id as well.

        A scorer of your own may leave out the last argument.
        """

    def aggregate_results(  # noqa: B027 - drawing is optional, so nothing has to be written
        self, results: Sequence[BaseScoringResult], scores_dir: str, unique_name: str = ""
    ) -> None:
        """Called once with all judges' results; draw or write what you like. Does nothing unless overridden."""

    def parameters(self) -> dict[str, Any]:
        """What makes this scorer differ from another of its class: its public attributes, as JSON can hold them."""
        own = {name: value for name, value in vars(self).items() if not name.startswith("_") and name != "logger"}
        return {name: _describable(value) for name, value in own.items()}


def _describable(value: Any) -> Any:
    """`value`, or what stands for it: the identity of a model, the name of a type."""
    identity = getattr(value, "identity", None)
    if identity is not None and not isinstance(value, type):
        return dict(identity)
    try:
        canonical_json(value)
    except (WrongTypeError, ValueError, TypeError, RecursionError):
        return f"{type(value).__module__}.{type(value).__qualname__}"
    return value
