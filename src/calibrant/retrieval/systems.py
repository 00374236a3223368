"""The systems of a comparison: their names, that they were measured alike, and the queries that all of them have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.retrieval.sources import file_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from calibrant.retrieval.measured import MeasureResult

__all__ = ["common_queries", "named_systems", "refuse_unlike"]


def named_systems(rankings: Any) -> dict[str, Any]:
    """The sources by name: as given, or after their files."""
    if isinstance(rankings, Mapping):
        return {str(name): source for name, source in cast("Mapping[object, Any]", rankings).items()}
    if isinstance(rankings, str | PathLike) or not isinstance(rankings, Iterable):
        raise WrongTypeError(f"rankings are a dict of names, or a list of files, not {shortened(rankings)}")
    sources = list(cast("Iterable[Any]", rankings))
    names = [_name(source, number) for number, source in enumerate(sources, start=1)]
    if len(set(names)) < len(names):
        # Files of one name in two folders go by their paths.
        names = [
            str(source) if isinstance(source, str | PathLike) else name
            for source, name in zip(sources, names, strict=True)
        ]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError.gathered(
            "rankings",
            [f"{name!r} is there twice; name each once (in Python a dict of names tells them apart)" for name in twice],
        )
    return dict(zip(names, sources, strict=True))


def _name(source: Any, number: int) -> str:
    if isinstance(source, str | PathLike):
        return file_name(Path(cast("str | PathLike[str]", source)))
    name = getattr(source, "name", None)
    return name if isinstance(name, str) and name != "ranking" else f"ranking {number}"


def refuse_unlike(results: Mapping[str, MeasureResult]) -> None:
    """Raise when results are of other measures, conventions or qrels than the first: they are not to be compared."""
    name, first = next(iter(results.items()))
    problems = [
        f"{other} has other {what} than {name}: {shortened(theirs)}, not {shortened(ours)}"
        for other, one in results.items()
        for what, theirs, ours, is_like in (
            ("measures", one.measures, first.measures, one.measures == first.measures),
            ("conventions", one.conventions.name, first.conventions.name, one.conventions == first.conventions),
            ("qrels", one.qrels, first.qrels, one.evidence.qrels.agrees_with(first.evidence.qrels)),
        )
        if not is_like
    ]
    if problems:
        raise InputError.gathered("the comparison", problems)


def common_queries(results: Mapping[str, MeasureResult]) -> tuple[tuple[str, ...], dict[str, NDArray[np.intp]]]:
    """The queries that all results have, and where each result has them."""
    first, *others = results.values()
    shared = set(first.queries).intersection(*(one.queries for one in others))
    queries = tuple(query for query in first.queries if query in shared)
    places = {name: {query: row for row, query in enumerate(one.queries)} for name, one in results.items()}
    return queries, {
        name: np.array([found[query] for query in queries], dtype=np.intp) for name, found in places.items()
    }
