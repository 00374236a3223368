"""What a retriever returns: items with an id, or the ids themselves."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.items import identifier

__all__ = ["ContextItem", "DocumentId", "SourceType", "document_id"]


def document_id(document: object) -> str:
    """The id of a document given as its id, as a mapping with an `id`, or as any object that has one.

    >>> document_id(ContextItem(id="a", content="x")), document_id({"id": 7}), document_id("b")
    ('a', '7', 'b')
    """
    if isinstance(document, str | int | float):
        return identifier(document, "document id")
    if isinstance(document, Mapping):
        found = cast("Mapping[str, object]", document).get("id")
    else:
        found = getattr(document, "id", document if hasattr(document, "__index__") else None)
    if found is None:
        raise InputError(f"a document is an id, or something with an `id`; got {shortened(document)}")
    return identifier(found, "document id")


def document_ids(documents: Any, what: str) -> list[str]:
    """The ids of `documents` in their order; `what` names them in an error.

    A text would be read letter by letter and grades would lose their values, so neither is taken for a list.
    """
    if type(documents) is list:
        # The usual case, kept short: this is called once a query.
        return [one if type(one) is str and one else document_id(one) for one in cast("list[object]", documents)]
    if isinstance(documents, Mapping):
        raise WrongTypeError(
            f"{what} is a list of ids or of items with an `id`, not a mapping: {shortened(documents)}; "
            "graded judgments go to calibrant.retrieval.measure"
        )
    if isinstance(documents, str | bytes):
        raise WrongTypeError(f"{what} is a list of ids or of items with an `id`, not one text: {shortened(documents)}")
    try:
        return [document_id(one) for one in documents]
    except TypeError:
        if hasattr(documents, "__iter__"):
            raise
        raise WrongTypeError(f"{what} is a list of ids or of items with an `id`, not {shortened(documents)}") from None


DocumentId = Annotated[str, BeforeValidator(document_id)]
"""A field that holds a document's id as the text that it is everywhere; whole numbers are taken too."""


class SourceType(StrEnum):
    """Where a context item came from."""

    RETRIEVAL = "retrieval"
    MEMORY = "memory"
    SYSTEM = "system"
    USER = "user"
    TOOL = "tool"
    CONVERSATION = "conversation"


class ContextItem(BaseModel):
    """A document that a retriever returned. Fields of your own are kept; the order of the list is the ranking.

    >>> ContextItem(id=7, content="Opening hours", source=SourceType.RETRIEVAL).id
    '7'
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    id: DocumentId
    content: str = ""
    source: SourceType = SourceType.RETRIEVAL
    score: float | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
