"""Judgments as qrels and qrels as judgments: the ids and grades that either can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant.errors import InputError, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["qrels_grades", "trec_text"]


def trec_text(qrels: Mapping[str, Mapping[str, int]], query_ids: Mapping[str, str] | None = None) -> str:
    """The qrels as TREC text, a line a judgment: query, 0, document, grade.

    TREC ids hold no white space. Queries that are questions get ids from `query_ids`, by their text.

    >>> print(trec_text({"q1": {"a": 3, "b": 0}}), end="")
    q1 0 a 3
    q1 0 b 0
    """
    names = {query: query if query_ids is None else query_ids.get(query, query) for query in qrels}
    problems = [
        f"query {shortened(query)} needs an id without white space; pass query_ids={{text: id}}"
        for query, name in names.items()
        if _has_space(name)
    ]
    documents = sorted({one for grades in qrels.values() for one in grades if _has_space(one)})
    problems += [f"document {shortened(one)} has white space in its id" for one in documents]
    if len(set(names.values())) < len(names):
        problems.append("two queries would have one id")
    if problems:
        raise InputError.gathered("the qrels as TREC text", problems)
    return "".join(
        f"{names[query]} 0 {one} {grade}\n" for query, grades in qrels.items() for one, grade in grades.items()
    )


def qrels_grades(source: Any, highest: int) -> Iterator[tuple[str, str, int]]:
    """Query, document and grade of every judgment in qrels of any form; a grade not from 0 to `highest` is refused."""
    from calibrant.retrieval.qrels import Qrels

    rows = [
        (query, document, grade)
        for query, grades in Qrels.of(source).to_dict().items()
        for document, grade in grades.items()
    ]
    problems = [
        f"document {shortened(document)} of query {shortened(query)} has the grade {grade:g}"
        for query, document, grade in rows
        if grade not in range(highest + 1)
    ]
    if problems:
        raise InputError.gathered(f"qrels with grades that are no whole numbers from 0 to {highest}", problems)
    return ((query, document, int(grade)) for query, document, grade in rows)


def _has_space(name: str) -> bool:
    return len(name.split()) != 1 or name != name.strip()
