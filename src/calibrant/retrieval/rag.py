"""The four questions about a generated answer and its contexts, answered by functions of the user's own."""

from __future__ import annotations

from inspect import isawaitable, iscoroutine
from typing import TYPE_CHECKING, Any

from calibrant.bridge import run_sync
from calibrant.errors import RatingError, ScoreError, WrongTypeError, shortened
from calibrant.retrieval.results import RAGMetrics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from calibrant.retrieval.results import RAGDimension

__all__ = ["LLMRAGEvaluator"]


class LLMRAGEvaluator:
    """Asks up to four functions about an answer; each returns a number in [0, 1].

    A dimension without a function gets 0.0 and is left out of `RAGMetrics.measured`. So is `context_recall` when
    there is no ground truth to recall, and every dimension whose function found nothing to judge (`not_applicable`).

    >>> evaluator = LLMRAGEvaluator(relevancy_fn=lambda query, answer: 0.75)
    >>> metrics = evaluator.evaluate("Is it open?", "Until six.", contexts=[])
    >>> metrics.answer_relevancy, metrics.faithfulness, metrics.measured
    (0.75, 0.0, ('answer_relevancy',))
    """

    def __init__(
        self,
        *,
        faithfulness_fn: Callable[[str, list[str]], float] | None = None,
        relevancy_fn: Callable[[str, str], float] | None = None,
        precision_fn: Callable[[str, list[str]], float] | None = None,
        recall_fn: Callable[[str, list[str], str], float] | None = None,
    ) -> None:
        given = {
            "faithfulness_fn": faithfulness_fn,
            "relevancy_fn": relevancy_fn,
            "precision_fn": precision_fn,
            "recall_fn": recall_fn,
        }
        for name, function in given.items():
            if function is not None and not callable(function):
                raise WrongTypeError(f"{name} is a function that returns a number in [0, 1], not {shortened(function)}")
        self.faithfulness_fn = faithfulness_fn
        self.relevancy_fn = relevancy_fn
        self.precision_fn = precision_fn
        self.recall_fn = recall_fn

    def evaluate(self, query: str, answer: str, contexts: Sequence[str], ground_truth: str | None = None) -> RAGMetrics:
        """The metrics of one answer. A function that raises, or returns no number in [0, 1], is a `RatingError`."""
        if isinstance(contexts, str):
            raise WrongTypeError(f"contexts is a list of texts, not one text: {shortened(contexts)}")
        texts = list(contexts)
        questions: dict[RAGDimension, tuple[str, Callable[..., Any] | None, tuple[Any, ...]]] = {
            "faithfulness": ("faithfulness_fn", self.faithfulness_fn, (answer, texts)),
            "answer_relevancy": ("relevancy_fn", self.relevancy_fn, (query, answer)),
            "context_precision": ("precision_fn", self.precision_fn, (query, texts)),
            "context_recall": (
                "recall_fn",
                None if ground_truth is None else self.recall_fn,
                (query, texts, ground_truth),
            ),
        }
        measured: dict[RAGDimension, float] = {}
        for dimension, (name, function, arguments) in questions.items():
            score = None if function is None else _asked(name, function, arguments)
            if score is not None:
                measured[dimension] = score
        return RAGMetrics(**{**dict.fromkeys(questions, 0.0), **measured}, measured=tuple(measured))


def _asked(name: str, function: Callable[..., Any], arguments: tuple[Any, ...]) -> float | None:
    """What the function says; None when there was nothing to judge, such as no contexts to be precise."""
    try:
        value = function(*arguments)
        if isawaitable(value):
            value = run_sync(value if iscoroutine(value) else _awaited(value))
    except RatingError as error:
        if error.code == "not_applicable":
            return None
        raise
    except Exception as error:
        raise RatingError(f"{name} raised {type(error).__name__}: {error}") from error
    return _score(name, value)


async def _awaited(value: Any) -> Any:
    return await value


def _score(name: str, value: Any) -> float:
    try:
        score = float(value)
    except (TypeError, ValueError):
        score = None
    if score is None or isinstance(value, str) or not 0.0 <= score <= 1.0:
        raise ScoreError(f"{name} returns a number in [0, 1], but it returned {shortened(value)}")
    return score
