"""The verdicts that a score was made of, from the judge's reply that a workspace keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.ratings import Rating
    from calibrant.runs.keeping import Keeper

__all__ = ["has_verdicts", "verdicts_of"]


def has_verdicts(definition: Mapping[str, Any]) -> bool:
    """Whether a metric of this definition combines verdicts, by a temperature."""
    return "temperature" in definition and "weights" in definition


def verdicts_of(keeper: Keeper, rating: Rating) -> list[str] | None:
    """The verdicts behind a rating, in their order; None where its replies were not kept."""
    if keeper.workspace is None or not rating.call_keys:
        return None
    # The verdicts come with the last reply: before it, the text was split.
    record = keeper.workspace.call(rating.call_keys[-1])
    if record is None or record.reply is None:
        return None
    return [str(one["verdict"]) for one in record.reply["data"]["verdicts"]]
