"""Labels that came as unlike kinds: numbers from a frame and texts from a file, truth values and their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from calibrant.agreement.published import value_text
from calibrant.alignment.spellings import spelled_apart
from calibrant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

__all__ = ["TRUTH", "label_texts", "stacked", "unlike_spellings"]

TRUTH = ("false", "true")
SHOWN = 3


def stacked(frames: Sequence[pl.DataFrame], column: str) -> pl.DataFrame:
    """The frames below each other, with the labels in `column` made one kind.

    Beside texts, a number is the text of its digits, be it 1 or 1.0; beside truth values, texts that all say true or
    false are truth values. Other kinds that differ are an InputError.

    >>> both = [pl.DataFrame({"label": ["1", "0"]}), pl.DataFrame({"label": [1.0, None]})]
    >>> stacked(both, "label")["label"].to_list()
    ['1', '0', '1', None]
    """
    labels = [_plain(frame[column]) for frame in frames]
    kinds = {one.dtype for one in labels} - {pl.Null()}
    if len(kinds) > 1 and pl.Boolean() in kinds:
        labels = [_truth_values(one, kinds) for one in labels]
    elif len(kinds) > 1 and pl.String() in kinds and not any(kind.is_nested() for kind in kinds):
        labels = [label_texts(one) for one in labels]
    made = [frame.with_columns(one.alias(column)) for frame, one in zip(frames, labels, strict=True)]
    try:
        return pl.concat(made, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise _unlike(kinds) from None


def label_texts(column: pl.Series) -> pl.Series:
    """The labels as texts, each as a file would hold it: a whole number in digits, truth values as true and false."""
    if column.dtype in {pl.String(), pl.Null()}:
        return column.cast(pl.String)
    if column.dtype.is_nested():
        raise InputError(f"the labels of {column.name!r} are lists; several labels an item are one task of their own")
    texts = {one: value_text(one) for one in column.unique().to_list() if isinstance(one, bool | int | float)}
    return pl.Series(column.name, [texts.get(one, one) for one in column.to_list()], dtype=pl.String, strict=False)


def unlike_spellings(judge: Collection[str], people: Collection[str]) -> list[str]:
    """What makes one suspect that the judge and people mean the same and write it otherwise.

    >>> unlike_spellings({"Yes", "no"}, {"yes", "no"})
    ["'Yes' and 'yes' differ only in case or spaces, and count as different labels"]
    >>> unlike_spellings({"1", "0"}, {"yes", "no"})
    ['the judge and people have no label in common: the judge says 0, 1, and people say no, yes']
    """
    same = spelled_apart({*judge, *people})
    found = [
        f"{' and '.join(map(repr, spelled))} differ only in case or spaces, and count as different labels"
        for spelled in same[:SHOWN]
    ]
    if not same and judge and people and not {*judge} & {*people} and len({*judge, *people}) > 2:
        who, others = (", ".join(sorted(labels)[:SHOWN]) for labels in (judge, people))
        found.append(f"the judge and people have no label in common: the judge says {who}, and people say {others}")
    return found


def _plain(column: pl.Series) -> pl.Series:
    return column.cast(pl.String) if isinstance(column.dtype, pl.Categorical | pl.Enum) else column


def _truth_values(column: pl.Series, kinds: Collection[pl.DataType]) -> pl.Series:
    """Texts as the truth values that they all name, in any case; anything else is no kind of truth value."""
    if column.dtype in {pl.Boolean(), pl.Null()}:
        return column
    lowered = column.str.to_lowercase() if column.dtype == pl.String else None
    if lowered is None or not lowered.drop_nulls().is_in(TRUTH).all():
        raise _unlike(kinds)
    return lowered == "true"


def _unlike(kinds: Collection[pl.DataType]) -> InputError:
    listed = ", ".join(sorted(map(str, kinds)))
    return InputError(f"labels of people and judges are of unlike kinds ({listed}); write them alike")
