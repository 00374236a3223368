"""A rule in place of a judge: whether the words, numbers and names of each statement are in the contexts.

It is a rule, and knows nothing of meaning. It finds invented numbers, names and topics; it does not find a negation
turned round, facts put together wrongly, or a true statement in words of its own. The documentation has its hit rates.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from calibrant.errors import InputError, NotApplicableError, shortened
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.fences import sections_of
from calibrant.metrics.quotes import is_unspaced, normalised_text, sentences
from calibrant.metrics.text import is_number, numbers_of
from calibrant.ratings import MetricScore

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from calibrant.items import EvalInput

__all__ = ["GroundednessRule"]

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_NAME = re.compile(r"(?<![.!?:\"]\s)(?<!^)(?<!\w['\u2019])\b[A-Z](?:['\u2019]?[^\W\d_])+")
_STOP_WORDS = frozenset(
    """a about after all also an and any are as at be because been before both but by can could did do does during each
    for from had has have he her here his how i if in into is it its itself just may might more most must my of on one
    only or other our out over own she should so some such than that the their them then there these they this those
    through to too under until up us very was we were what when where which while who whom why will with would you your
    """.split()  # noqa: SIM905 - a hundred words read better as a text
)
_NUMBER_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ies", "ied", "ed", "es", "ly", "s", "e", "y")


class _Source(NamedTuple):
    """What the contexts hold: stems of words, names in lower case, and numbers."""

    stems: frozenset[str]
    words: frozenset[str]
    numbers: frozenset[float]


class GroundednessRule(BaseMetric):
    """The share of the answer's sentences whose numbers and names, and enough of whose words, are in the contexts.

    A sentence is supported when each of its numbers and each of its capitalised words (but the first) is in the
    contexts, and at least `word_share` of its other words, stemmed and without stop words, are too. The item passes
    when every sentence is. No model is asked. This is a rule: see the module for what it cannot find.

    >>> from calibrant import EvalInput
    >>> import asyncio
    >>> item = EvalInput(
    ...     answer="It opens at ten. Entry is 5 euros.", contexts=["The museum opens at ten, entry is free."]
    ... )
    >>> result = asyncio.run(GroundednessRule().evaluate(item))
    >>> print(result, "|", result.explanation)
    fail 0.500 (>= 1) | 'Entry is 5 euros.': the number 5 is not in the contexts
    """

    name = "groundedness_rule"
    required_fields = frozenset({"answer", "contexts"})
    word_share: float = 0.6
    _threshold = 1.0
    version: ClassVar[str] = "1"

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if not is_number(self.word_share) or not 0.0 <= self.word_share <= 1.0:
            raise InputError(f"word_share is a share from 0 to 1, not {shortened(self.word_share)}")

    def definition(self) -> dict[str, Any]:
        """The metric's settings, with the share of words."""
        return {**super().definition(), "word_share": self.word_share}

    async def _evaluate(self, data: EvalInput) -> MetricScore:
        statements = [one for text in sections_of(data, ["answer"]).values() for one in sentences(text)]
        if not statements:
            raise NotApplicableError(f"the answer of item {data.id!r} makes no statement that can be checked")
        letters = [letter for statement in statements for letter in statement if letter.isalpha()]
        if sum(map(is_unspaced, letters)) * 2 > len(letters):
            raise NotApplicableError(f"the answer of item {data.id!r} has no spaces between words, so none can be told")
        source = _source(sections_of(data, ["contexts"]).values())
        problems = [self._problem(statement, source) for statement in statements]
        found = [f"{statement!r}: {why}" for statement, why in zip(statements, problems, strict=True) if why]
        share = 1.0 - len(found) / len(statements)
        details = {"statements": len(statements), "unsupported": len(found)}
        return MetricScore(share, "; ".join(found), details=details)

    def _problem(self, statement: str, source: _Source) -> str | None:
        for readings in _numbers(statement):
            if source.numbers.isdisjoint(readings):
                return f"the number {readings[0]:g} is not in the contexts"
        for name in _NAME.findall(statement):
            if _singular(normalised_text(name)) not in source.words:
                return f"the name {name} is not in the contexts"
        stems = _stems(statement)
        missing = [stem for stem in stems if stem not in source.stems]
        if stems and 1.0 - len(missing) / len(stems) < self.word_share:
            return f"{len(missing)} of its {len(stems)} words are not in the contexts"
        return None


def _source(texts: Iterable[str]) -> _Source:
    joined = "\n".join(texts)
    words = frozenset(_WORD.findall(normalised_text(joined)))
    numbers = frozenset(number for readings in _numbers(joined) for number in readings)
    return _Source(frozenset(map(_stem, words)), words | {_singular(word) for word in words}, numbers)


def _singular(word: str) -> str:
    return word.removesuffix("'s")


def _numbers(text: str) -> list[tuple[float, float]]:
    """Each number in its two readings: 12% is 12, as "12 percent" is, and 0.12. Signs are left out."""
    plain, shares = numbers_of(text.replace("%", " ")), numbers_of(text)
    words = (word.casefold() for word in _WORD.findall(text))
    # "One" is a pronoun more often than a number.
    spelled = [float(_NUMBER_WORDS.index(word)) for word in words if word in _NUMBER_WORDS and word != "one"]
    found = [(abs(number), abs(share)) for number, share in zip(plain, shares, strict=True)]
    return found + [(number, number) for number in spelled]


def _stems(text: str) -> list[str]:
    words = _WORD.findall(normalised_text(text))
    return [_stem(word) for word in words if word not in _STOP_WORDS and word not in _NUMBER_WORDS]


def _stem(word: str) -> str:
    """`word` without a common English ending; what is left keeps at least three letters."""
    word = word.removesuffix("'s")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
