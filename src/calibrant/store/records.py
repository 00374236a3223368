"""What the store keeps: its row types, and what of them is left when texts may not be kept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from calibrant.errors import CODES
from calibrant.ratings import Failure, Rating, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CallRecord", "ItemRecord", "LabelRecord"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call to a model: its key, and the request and the reply as JSON.

    `reply` is None when the workspace keeps no texts and the reply was one: it can be counted, but not given again.
    """

    key: str
    model: str
    request: Mapping[str, Any] | None = None
    reply: Mapping[str, Any] | None = None

    def without_text(self) -> CallRecord:
        """The record with its key and scores alone: a label and its probabilities stay, prompts and texts go.

        >>> CallRecord(key="k", model="m", request={"messages": []}, reply={"text": "Why? ..."}).without_text()
        CallRecord(key='k', model='m', request=None, reply=None)
        """
        reply = self.reply
        if reply is None or not str(reply.get("mode", "")).startswith("label"):
            return replace(self, request=None, reply=None)
        return replace(self, request=None, reply={**reply, "text": str(reply.get("data")), "reasoning": ""})


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRecord:
    """An item of a run: its place in the dataset, its cluster, and its fields as JSON with the system's answer.

    `data` is None when the workspace keeps no texts.
    """

    position: int
    item: str
    cluster: str | None = None
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRecord:
    """What one person said of one criterion of one item; saying it again replaces it."""

    item: str
    criterion: str
    annotator: str
    value: Value
    note: str = ""

    def value_json(self) -> Any:
        """The value as JSON has it: a set of labels is a sorted list."""
        return sorted(self.value) if isinstance(self.value, frozenset) else self.value

    @classmethod
    def of_row(cls, item: str, criterion: str, annotator: str, *, value: Any, note: str) -> LabelRecord:
        """The label whose value was written by `value_json`."""
        kept = frozenset(cast("list[str]", value)) if isinstance(value, list) else value
        return cls(item=item, criterion=criterion, annotator=annotator, value=kept, note=note)


def rating_without_text(rating: Rating) -> Rating:
    """The rating without its explanation, and with the meaning of its failure's code instead of the message."""
    failure = rating.failure
    if failure is not None:
        failure = Failure(code=failure.code, message=CODES[failure.code].meaning, retryable=failure.retryable)
    return replace(rating, explanation="", failure=failure)
