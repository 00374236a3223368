"""How alike two texts are: longest common subsequence, edits, matching blocks, and the angle between embeddings."""

from __future__ import annotations

import inspect
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from calibrant.errors import InputError, NotApplicableError, RatingError, WrongTypeError, shortened
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.instrument import code_fingerprint
from calibrant.metrics.quotes import is_unspaced
from calibrant.metrics.text import TextRule, text_of
from calibrant.ratings import MetricScore

if TYPE_CHECKING:
    from collections.abc import Hashable

    from calibrant.items import EvalInput

__all__ = [
    "EditSimilarityMetric",
    "RougeLMetric",
    "SemanticSimilarityMetric",
    "TextSimilarityMetric",
    "common_subsequence",
    "edit_distance",
    "matching_ratio",
    "words_of",
]

_PLAIN_WORD = re.compile(r"[^\W_]+")
_MARKED_OR_UNSPACED = re.compile("[\u0300-\u036f\u0483-\u0489\u0591-\u1dff\u20d0-\U0010ffff]")
"""Where marks may belong to letters, or words may have no spaces between them: not in Latin, Greek or Cyrillic text."""


class SimilarityRule(TextRule):
    """The best similarity of the answer to the references of an item: a text, or a list of texts."""

    _threshold = 0.5
    required_fields = frozenset({"answer", "ground_truth"})
    case_sensitive: bool = False
    own_settings: ClassVar[tuple[str, ...]] = ("case_sensitive",)

    def rule(self, data: EvalInput) -> MetricScore:
        """The similarity to the reference that is most alike."""
        answer = self.text(data)
        references = references_of(data)
        scores = [self.similarity(self._folded(answer), self._folded(one)) for one in references]
        best = max(range(len(scores)), key=scores.__getitem__)
        return MetricScore(scores[best], details={"reference": best} if len(scores) > 1 else {})

    def similarity(self, answer: str, reference: str) -> float:
        """How alike the two texts are, in [0, 1]."""
        raise NotImplementedError

    def _folded(self, text: str) -> str:
        # One letter with its accent and two code points for it look the same.
        composed = unicodedata.normalize("NFC", text)
        return composed if self.case_sensitive else unicodedata.normalize("NFC", composed.casefold())


def references_of(data: EvalInput) -> list[str]:
    """The reference texts of an item; an empty list of them is not applicable."""
    given = data.ground_truth
    if isinstance(given, str):
        return [given]
    if not isinstance(given, Sequence) or not all(isinstance(one, str) for one in cast("Sequence[object]", given)):
        raise WrongTypeError(
            f"ground_truth of item {data.id!r} is a text or a list of texts for this metric, not {shortened(given)}"
        )
    if not given:
        raise _without_reference(data)
    return list(cast("Sequence[str]", given))


def _without_reference(data: EvalInput) -> NotApplicableError:
    return NotApplicableError(f"item {data.id!r} has no reference")


class RougeLMetric(SimilarityRule):
    """ROUGE-L: the F1 of the longest common subsequence of words (Lin 2004, with beta = 1).

    Words are runs of letters and digits, with their accents and vowel signs; in scripts that put no spaces between
    words (Chinese, Japanese, Thai) every letter is one. Nothing is stemmed.

    >>> from calibrant import EvalInput
    >>> import asyncio
    >>> item = EvalInput(answer="police kill the gunman", ground_truth="police killed the gunman")
    >>> asyncio.run(RougeLMetric().evaluate(item)).score
    0.75
    """

    name = "rouge_l"

    def similarity(self, answer: str, reference: str) -> float:
        """2 LCS / (words of the answer + words of the reference); 1.0 when neither has any."""
        first, second = words_of(answer), words_of(reference)
        total = len(first) + len(second)
        return 2 * common_subsequence(first, second) / total if total else 1.0


class EditSimilarityMetric(SimilarityRule):
    """1 minus the Levenshtein distance over the length of the longer text: 1.0 when they are equal."""

    name = "edit_similarity"

    def similarity(self, answer: str, reference: str) -> float:
        """1 - distance / longer length; 1.0 for two empty texts."""
        longer = max(len(answer), len(reference))
        return 1.0 - edit_distance(answer, reference) / longer if longer else 1.0


class TextSimilarityMetric(SimilarityRule):
    """The Ratcliff-Obershelp ratio: twice the length of the matching blocks over the length of both texts.

    Without difflib's popularity heuristic, which makes long texts look unlike.
    """

    name = "text_similarity"

    def similarity(self, answer: str, reference: str) -> float:
        """The ratio of the two texts."""
        return matching_ratio(answer, reference)


class SemanticSimilarityMetric(BaseMetric):
    """The cosine of the angle between the embeddings of answer and reference, not below 0.

    `embedder` is a function, sync or async, from a list of texts to a list of vectors, an object whose `embed` is one,
    or the name of an embedding model (`local/wordllama` is offline). An empty text has no embedding: without an answer,
    or any reference, an item is not applicable. Alike is not faithful: a text with one wrong number is very much alike.
    Not to be used for faithfulness.
    """

    name = "semantic_similarity"
    required_fields = frozenset({"answer", "ground_truth"})
    embedder: Any = None

    def __init__(self, embedder: Any, **settings: Any) -> None:
        if not isinstance(embedder, str) and not callable(getattr(embedder, "embed", embedder)):
            raise WrongTypeError(f"embedder is a function from texts to vectors, or a name, not {shortened(embedder)}")
        if isinstance(embedder, str):
            from calibrant.models.embedding_models import embedding_model

            embedding_model(embedder)  # an unknown name is refused here, and not item by item
        super().__init__(embedder=embedder, **settings)

    def definition(self) -> dict[str, Any]:
        """The metric's settings and the name of its embedder."""
        embedder = self.embedder
        name = embedder if isinstance(embedder, str) else getattr(embedder, "name", None)
        embed: Any = getattr(embedder, "embed", embedder)
        known = name if isinstance(name, str) else code_fingerprint(embed)
        return {**super().definition(), "embedder": known}

    async def _evaluate(self, data: EvalInput) -> MetricScore:
        texts = [text_of(data, "answer"), *(one for one in references_of(data) if one.strip())]
        if not texts[0].strip():
            raise NotApplicableError(f"item {data.id!r} has nothing in answer, so there is nothing to embed")
        if len(texts) == 1:
            raise _without_reference(data)
        answer, *references = [_vector(one) for one in await self._embedded(texts)]
        if len(references) != len(texts) - 1:
            raise RatingError(f"{len(texts)} texts need as many embeddings, got {len(references) + 1}")
        return MetricScore(max(_cosine(answer, one) for one in references))

    async def _embedded(self, texts: list[str]) -> Any:
        if isinstance(self.embedder, str):
            from calibrant.models.embedding import embed

            return await embed(texts, model=self.embedder)
        vectors = getattr(self.embedder, "embed", self.embedder)(texts)
        return await vectors if inspect.isawaitable(vectors) else vectors


def words_of(text: str) -> list[str]:
    """The words of `text`: runs of letters and digits, and every letter of a script without spaces by itself.

    >>> words_of("Don't ask: snake_case"), words_of("करना"), words_of("東京 2020年")
    (['Don', 't', 'ask', 'snake', 'case'], ['करना'], ['東', '京', '2020', '年'])
    """
    if not _MARKED_OR_UNSPACED.search(text):
        return _PLAIN_WORD.findall(text)
    found: list[str] = []
    last = ""
    for letter in text:
        if unicodedata.category(letter).startswith("M") and last:
            found[-1] += letter
        elif letter.isalnum():
            alone = is_unspaced(letter)
            if last == "word" and not alone:
                found[-1] += letter
            else:
                found.append(letter)
            last = "letter" if alone else "word"
        else:
            last = ""
    return found


def common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence, by rows of bits (Hyyro 2004).

    >>> common_subsequence("ABCBDAB", "BDCABA")
    4
    """
    matches: defaultdict[Hashable, int] = defaultdict(int)
    for place, one in enumerate(first):
        matches[one] |= 1 << place
    row = full = (1 << len(first)) - 1
    for one in second:
        shared = row & matches[one]
        row = ((row + shared) | (row - shared)) & full
    return len(first) - row.bit_count()


def edit_distance(first: str, second: str) -> int:
    """The Levenshtein distance: insertions, deletions and substitutions, by columns of bits (Myers 1999, Hyyro 2003).

    >>> edit_distance("kitten", "sitting"), edit_distance("", "abc")
    (3, 3)
    """
    if not first or not second:
        return len(first) + len(second)
    matches: defaultdict[str, int] = defaultdict(int)
    for place, letter in enumerate(first):
        matches[letter] |= 1 << place
    full, top = (1 << len(first)) - 1, 1 << (len(first) - 1)
    up, down, distance = full, 0, len(first)
    for letter in second:
        match = matches[letter]
        zero = (((match & up) + up) ^ up) | match | down
        rises, falls = down | (full & ~(zero | up)), up & zero
        distance += bool(rises & top) - bool(falls & top)
        rises, falls = (rises << 1) | 1, falls << 1
        up, down = full & (falls | ~(zero | rises)), rises & zero & full
    return distance


def matching_ratio(first: str, second: str) -> float:
    """The Ratcliff-Obershelp ratio of two texts, without a popularity heuristic; 1.0 for two empty ones.

    >>> matching_ratio("abcd", "bcde")
    0.75
    """
    try:
        from cydifflib import SequenceMatcher  # pyright: ignore[reportAttributeAccessIssue] - it ships no types
    except ImportError:  # the same numbers, more slowly
        from difflib import SequenceMatcher
    return float(SequenceMatcher(None, first, second, autojunk=False).ratio())


def _vector(given: Any) -> list[float]:
    numbers = [float(number) for number in given]
    if not numbers or not all(map(math.isfinite, numbers)):
        raise RatingError("an embedding is a row of finite numbers, and one of these is not")
    return numbers


def _cosine(first: Sequence[float], second: Sequence[float]) -> float:
    if len(first) != len(second):
        raise InputError(f"embeddings of {len(first)} and {len(second)} numbers cannot be compared")
    product = math.hypot(*first) * math.hypot(*second)
    if not product:
        raise RatingError("an embedding of zeros has no direction, so it cannot be compared")
    return min(max(math.fsum(a * b for a, b in zip(first, second, strict=True)) / product, 0.0), 1.0)
