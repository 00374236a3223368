"""What a retriever returned for each item, measured by the retrieval kernel: several measures at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, NotApplicableError, RatingError, WrongTypeError, shortened
from calibrant.metrics.multi import MultiOutputBaseMetric
from calibrant.ratings import Failure

if TYPE_CHECKING:
    from calibrant.items import EvalInput

__all__ = ["PyTrecMetric", "TopKAccuracy"]


class PyTrecMetric(MultiOutputBaseMetric):
    """The measures of each item's ranking, by trec_eval's conventions: `{"nDCG@10": {"score": ...}, ...}`.

    `retrieved_chunks` are ids, or things with an id, best first; one that comes twice counts once. `relevant_ids` are
    the relevant documents; a field `relevance` that maps ids to grades takes their place where an item has it. An item
    without a relevant document is not applicable: there is nothing to find. Measures are written as `nDCG@10`, `P@5`,
    `R@100`, `RR`, `AP`, `hit@3`.

    >>> from calibrant import EvalInput
    >>> import asyncio
    >>> item = EvalInput(query="opening hours", retrieved_chunks=["x", "a"], relevant_ids=["a", "b"])
    >>> found = asyncio.run(PyTrecMetric(["RR", "R@10"]).evaluate(item))
    >>> found["RR"]["score"], found["R@10"]["score"]
    (0.5, 0.5)
    """

    name = "pytrec_metric"
    required_fields = frozenset({"retrieved_chunks"})
    batch = True
    measures: Sequence[str] = ("nDCG@10", "P@10", "R@10", "RR", "AP")

    def __init__(self, measures: Sequence[str] | str = measures, **settings: Any) -> None:
        from calibrant.retrieval.notation import named_measures

        given = (measures,) if isinstance(measures, str) else tuple(measures)
        if not given:
            raise InputError("name at least one measure, such as nDCG@10")
        named_measures(list(given))
        super().__init__(measures=given, **settings)

    def definition(self) -> dict[str, Any]:
        """The metric's settings and its measures."""
        return {**super().definition(), "measures": list(self.measures)}

    async def _evaluate(self, data: list[EvalInput]) -> list[Any]:
        judged: dict[int, tuple[Mapping[str, float], list[str]] | Failure] = {}
        for place, item in enumerate(data):
            try:
                judged[place] = _grades(item), _retrieved(item)
            except (RatingError, InputError, WrongTypeError) as error:
                judged[place] = Failure.of(error)
        able = {str(place): one for place, one in judged.items() if not isinstance(one, Failure)}
        values = self._values(able) if able else {}
        return [one if isinstance(one, Failure) else values[str(place)] for place, one in judged.items()]

    def _values(self, able: Mapping[str, tuple[Mapping[str, float], list[str]]]) -> Mapping[str, Mapping[str, float]]:
        from calibrant.retrieval.measures import measure

        qrels = {place: dict(grades) for place, (grades, _) in able.items()}
        rankings = {place: ids for place, (_, ids) in able.items() if ids}
        if not rankings:
            return {place: dict.fromkeys(self.measures, 0.0) for place in able}
        found = measure(qrels, rankings, list(self.measures)).per_query
        return {place: {str(name): float(value) for name, value in found[place].items()} for place in able}


class TopKAccuracy(PyTrecMetric):
    """1.0 when a relevant document is among the first k that were retrieved, for each k: `{"top_3": ...}`."""

    name = "top_k_accuracy"
    k: Sequence[int] = (1, 3, 5, 10)

    def __init__(self, k: Sequence[int] | int = k, **settings: Any) -> None:
        depths = (k,) if isinstance(k, int) else tuple(k)
        if not depths or not all(isinstance(one, int) and not isinstance(one, bool) and one >= 1 for one in depths):  # pyright: ignore[reportUnnecessaryIsInstance] - settings come from plans
            raise InputError(f"k is a whole number from 1 on, or a list of them, not {shortened(k)}")
        super().__init__([f"hit@{depth}" for depth in depths], k=depths, **settings)

    async def _evaluate(self, data: list[EvalInput]) -> list[Any]:
        return [
            one if isinstance(one, Failure) else {f"top_{depth}": one[f"hit@{depth}"] for depth in self.k}
            for one in await super()._evaluate(data)
        ]


def _grades(item: EvalInput) -> Mapping[str, float]:
    graded = item.get("relevance")
    if graded is not None and not isinstance(graded, Mapping):
        raise WrongTypeError(f"relevance of item {item.id!r} maps ids to grades, got {shortened(graded)}")
    if graded is None and item.relevant_ids is None:
        raise RatingError(f"item {item.id!r} has neither relevant_ids nor relevance", code="missing_field")
    given = dict.fromkeys(item.relevant_ids or (), 1.0) if graded is None else graded
    grades = {str(name): _grade(item, name, grade) for name, grade in given.items()}
    if not any(grade > 0 for grade in grades.values()):
        raise NotApplicableError(f"item {item.id!r} has no relevant document, so there is nothing to find")
    return grades


def _grade(item: EvalInput, name: Any, given: Any) -> float:
    """The grade as a number; checked item by item, since the measures take all items at once."""
    try:
        grade = float(given)
    except (TypeError, ValueError):
        grade = math.nan
    if not math.isfinite(grade):
        raise InputError(f"relevance of item {item.id!r}: the grade of {name!r} is a number, not {shortened(given)}")
    return grade


def _retrieved(item: EvalInput) -> list[str]:
    from calibrant.retrieval.context import document_ids

    where = f"retrieved_chunks of item {item.id!r}"
    try:
        ids = document_ids(list(item.retrieved_chunks or ()), where)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    return list(dict.fromkeys(ids))
