"""Statements and quotations: splitting a text into sentences, and finding a quotation in what it is said to be from."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["is_quoted", "normalised_text", "sentences"]

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\.{3}|…)\s*")
_MARKS = str.maketrans({**dict.fromkeys("\u2018\u2019\u201a", "'"), **dict.fromkeys("\u201c\u201d\u201e", '"')})
_DASHES = str.maketrans({**dict.fromkeys("\u2013\u2014", "-"), "\u00ad": None})
_OUTER = " \t\n\"'.,;:!?()[]"
_SENTENCE = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+(?=[\"'(\[]*[^\W_a-z])|\n+\s*(?:[-*•]\s+)?")  # noqa: RUF001 - full-width marks end sentences too
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|vs|etc|e\.g|i\.e|approx|Inc|Ltd|Co)\.$")


def normalised_text(text: str) -> str:
    r"""`text` with one spelling of letters, quotation marks, dashes and white space, and without case.

    >>> normalised_text("The \u201cOld\nHouse\u201d \u2014 1\ufb01")
    'the "old house" - 1fi'
    """
    return " ".join(unicodedata.normalize("NFKC", text).translate(_MARKS).translate(_DASHES).casefold().split())


def is_quoted(quote: str, sources: Iterable[str]) -> bool:
    """Whether `quote` stands in one of `sources`, word by word; its parts around an ellipsis in their order.

    Case, white space, kinds of marks and what surrounds the quotation do not count. An empty quotation is none.

    >>> (
    ...     is_quoted("'Open ... till SIX'", ["It is open from ten till six."]),
    ...     is_quoted("open till six", ["Open from ten."]),
    ... )
    (True, False)
    """
    parts = [part for raw in _ELLIPSIS.split(quote) if (part := normalised_text(raw).strip(_OUTER))]
    return bool(parts) and any(_in_order(parts, normalised_text(source)) for source in sources)


def sentences(text: str) -> list[str]:
    r"""The sentences of `text`, by its marks and line breaks: a rule, which knows a few abbreviations and no grammar.

    >>> sentences("Dr. Kim arrived at 3.15 p.m. on Monday. She left?\n- Yes.")
    ['Dr. Kim arrived at 3.15 p.m. on Monday.', 'She left?', 'Yes.']
    """
    found: list[str] = []
    for piece in _SENTENCE.split(text):
        stripped = piece.strip()
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] = f"{found[-1]} {stripped}"
        elif any(letter.isalnum() for letter in stripped):
            found.append(stripped)
    return found


def _in_order(parts: list[str], source: str) -> bool:
    start = 0
    for part in parts:
        place = _whole_words(part, source, start)
        if place < 0:
            return False
        start = place + len(part)
    return True


def _whole_words(part: str, source: str, start: int) -> int:
    """Where `part` stands in `source` as whole words, so that "12 euros" is not found in "112 euros"."""
    place = source.find(part, start)
    while place >= 0:
        end = place + len(part)
        cut_before = place > 0 and source[place - 1].isalnum() and part[0].isalnum()
        cut_after = end < len(source) and source[end].isalnum() and part[-1].isalnum()
        if not cut_before and not cut_after:
            return place
        place = source.find(part, place + 1)
    return -1
