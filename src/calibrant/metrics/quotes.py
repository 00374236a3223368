"""Statements and quotations: splitting a text into sentences, and finding a quotation in what it is said to be from."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["is_quoted", "is_unspaced", "normalised_text", "sentences"]

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\.(?: ?\.){2,}|…)\s*")
_SPELLINGS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u2032\u2039\u203a`\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        # Soft hyphens, zero-width spaces and joiners, and the mark of the byte order: nobody sees them.
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),
    }
)
_OUTER = " \t\n\"'.,;:!?()[]。、！？「」『』"  # noqa: RUF001 - marks of other scripts
_BULLET = r"(?:(?:[-*•]|\d{1,2}[.)])\s+)?"
_FIRST_BULLET = re.compile(rf"\A\s*{_BULLET}")
_SENTENCE = re.compile(
    rf"\n+\s*{_BULLET}|"
    r"(?<=[.!?\u061f\u06d4])[\"')\]]*\s+(?=[\"'(\[]*[^\W_a-z])|"
    r"(?<=[。！？।])[」』\"')\]]*\s*"  # noqa: RUF001 - marks of other scripts
)
_ABBREVIATION = re.compile(r"\b(?:[A-Z]|Dr|Mr|Mrs|Ms|Prof|St|No|vs|etc|e\.g|i\.e|approx|Inc|Ltd|Co)\.$")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no spaces between words: Thai, Lao, Burmese, Khmer, Japanese and Chinese."""


def is_unspaced(letter: str) -> bool:
    """Whether `letter` is of a script that puts no spaces between words.

    >>> is_unspaced("語"), is_unspaced("a")
    (True, False)
    """
    return _UNSPACED.match(letter) is not None


def normalised_text(text: str) -> str:
    r"""`text` with one spelling of letters, quotation marks, dashes and white space, and without case.

    >>> normalised_text("The \u201cOld\nHouse\u201d \u2014 1\ufb01")
    'the "old house" - 1fi'
    """
    # Marks first: NFKC takes a double prime for two, and an acute accent by itself for a space with one.
    return " ".join(unicodedata.normalize("NFKC", text.translate(_SPELLINGS)).casefold().split())


def is_quoted(quote: str, sources: Iterable[str]) -> bool:
    """Whether `quote` stands in one of `sources`, word by word; its parts around an ellipsis in their order.

    Case, white space, kinds of marks, bold type in Markdown and what surrounds the quotation do not count. Words of
    scripts without spaces may be cut; a number may not. An empty quotation is none.

    >>> (
    ...     is_quoted("'Open ... till SIX'", ["It is open from ten till six."]),
    ...     is_quoted("open till six", ["Open from ten."]),
    ... )
    (True, False)
    """
    parts = [part for raw in _ELLIPSIS.split(quote) if (part := _unmarked(raw).strip(_OUTER))]
    return bool(parts) and any(_in_order(parts, _unmarked(source)) for source in sources)


def sentences(text: str) -> list[str]:
    r"""The sentences of `text`, by its marks and line breaks: a rule, which knows a few abbreviations and no grammar.

    >>> sentences("Dr. Kim arrived at 3.15 p.m. on Monday. She left?\n- Yes.")
    ['Dr. Kim arrived at 3.15 p.m. on Monday.', 'She left?', 'Yes.']
    """
    found: list[str] = []
    for piece in _SENTENCE.split(_FIRST_BULLET.sub("", text)):
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


def _unmarked(text: str) -> str:
    return normalised_text(text.replace("**", ""))


def _whole_words(part: str, source: str, start: int) -> int:
    """Where `part` stands in `source` as whole words, so that "12 euros" is not found in "112 euros"."""
    place = source.find(part, start)
    while place >= 0:
        if not _cuts(source, place) and not _cuts(source, place + len(part)):
            return place
        place = source.find(part, place + 1)
    return -1


def _cuts(source: str, place: int) -> bool:
    """Whether a boundary at `place` would go through a word or a number, such as 3.5 or 1,112."""
    if not 0 < place < len(source):
        return False
    before, after = source[place - 1], source[place]
    if _is_letter(before) and _is_letter(after):
        return not (is_unspaced(before) or is_unspaced(after))
    after_point = before in ".," and after.isdigit() and source[place - 2 : place - 1].isdigit()
    before_point = before.isdigit() and after in ".," and source[place + 1 : place + 2].isdigit()
    return after_point or before_point


def _is_letter(letter: str) -> bool:
    return letter.isalnum() or unicodedata.category(letter).startswith("M")
