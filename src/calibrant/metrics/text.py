"""Rules about an answer: equal, contained, matching, near a number, within a length. They ask no model."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, cast

from calibrant.errors import InputError, NotApplicableError, WrongTypeError, shortened
from calibrant.metrics.base import BaseMetric
from calibrant.metrics.quotes import normalised_text
from calibrant.ratings import MetricScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.items import EvalInput

__all__ = [
    "ContainsMetric",
    "ExactMatchMetric",
    "LengthMetric",
    "NumericMetric",
    "RegexMetric",
    "TextRule",
    "numbers_of",
    "text_of",
]

_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?(?!\.?\d)(?:\s?%)?"
)
_MINUS = str.maketrans("\u2212\u2010\u2011", "---")
_UNITS = ("characters", "words", "lines")


class TextRule(BaseMetric):
    """A rule about the field that `field` names, by default the answer; `threshold` is 1.0: a rule holds or not."""

    field: str = "answer"
    own_settings: ClassVar[tuple[str, ...]] = ()
    """The settings beside `field` that make scores differ."""
    _threshold = 1.0

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # A rule about another field needs that one.
        self.required_fields = frozenset({self.field, *(self.required_fields - {"answer"})})

    def definition(self) -> dict[str, Any]:
        """The metric's settings, with its own."""
        own = {name: getattr(self, name) for name in ("field", *self.own_settings)}
        return {**super().definition(), "settings": own}

    def text(self, data: EvalInput) -> str:
        """The text that the rule is about; anything that is no text is an error."""
        return text_of(data, self.field)

    async def _evaluate(self, data: EvalInput) -> MetricScore:
        return self.rule(data)

    @abstractmethod
    def rule(self, data: EvalInput) -> MetricScore:
        """What the rule says of one item."""


def text_of(data: EvalInput, name: str) -> str:
    """The field `name` of an item as a text; a value of another kind is a WrongTypeError that names the item."""
    value = data.get(name)
    if not isinstance(value, str):
        raise WrongTypeError(f"{name} of item {data.id!r} is a text for this metric, not {shortened(value)}")
    return value


class ExactMatchMetric(TextRule):
    """1.0 when the answer is the reference (or any of a list of them); `normalise` forgives case and white space.

    >>> from calibrant import EvalInput
    >>> import asyncio
    >>> item = EvalInput(answer=" Paris", ground_truth=["paris", "Lutetia"])
    >>> asyncio.run(ExactMatchMetric().evaluate(item)).score
    0.0
    >>> asyncio.run(ExactMatchMetric(normalise=True).evaluate(item)).score
    1.0
    """

    name = "exact_match"
    required_fields = frozenset({"answer", "ground_truth"})
    normalise: bool = False
    own_settings = ("normalise",)

    def rule(self, data: EvalInput) -> MetricScore:
        """1.0 when one of the references is the answer."""
        answer = data.get(self.field)
        references = data.ground_truth if isinstance(data.ground_truth, list | tuple) else (data.ground_truth,)
        if not references and not isinstance(answer, list | tuple):
            raise NotApplicableError(f"item {data.id!r} has no reference")
        known = [data.ground_truth, *cast("Sequence[Any]", references)]
        matches = any(self._same(answer, reference) for reference in known)
        return MetricScore(float(matches), "" if matches else f"expected {shortened(data.ground_truth)}")

    def _same(self, answer: Any, reference: Any) -> bool:
        if self.normalise and isinstance(answer, str) and isinstance(reference, str):
            return normalised_text(answer) == normalised_text(reference)
        return type(answer) is type(reference) and answer == reference


class ContainsMetric(TextRule):
    """The share of the texts to be contained that are in the answer; of none of `excluded` any may be.

    `texts` are given here, or else are the item's reference (a text, or a list). `case_sensitive` is off by default.
    """

    name = "contains"
    texts: Sequence[str] = ()
    excluded: Sequence[str] = ()
    case_sensitive: bool = False
    own_settings = ("texts", "excluded", "case_sensitive")

    def __init__(self, texts: Sequence[str] | str = (), **settings: Any) -> None:
        for name, value in {"texts": texts, "excluded": settings.get("excluded", ())}.items():
            given = (value,) if isinstance(value, str) else value
            if not isinstance(given, list | tuple) or not all(isinstance(one, str) and one for one in given):
                raise InputError(f"{name} is a text or a list of texts, and none is empty, not {shortened(value)}")
            settings[name] = tuple(given)
        super().__init__(**settings)
        if not self.texts and not self.excluded:
            self.required_fields |= {"ground_truth"}

    def rule(self, data: EvalInput) -> MetricScore:
        """The share that is contained; 0.0 when an excluded text is."""
        text = self._folded(self.text(data))
        wanted = list(self.texts)
        if not wanted and not self.excluded:
            given = data.ground_truth
            listed = cast("Sequence[Any]", given if isinstance(given, list | tuple) else (given,))
            # An empty text stands in every answer: it would be a score that says nothing.
            wanted = [str(one) for one in listed if one != ""]
        if not wanted and not self.excluded:
            raise NotApplicableError(f"item {data.id!r} names no text that shall be contained")
        missing = [one for one in wanted if self._folded(one) not in text]
        unwanted = [one for one in self.excluded if self._folded(one) in text]
        share = 1.0 - len(missing) / len(wanted) if wanted else 1.0
        why = [f"{shortened(one)} is missing" for one in missing] + [f"{shortened(one)} is there" for one in unwanted]
        return MetricScore(0.0 if unwanted else share, "; ".join(why))

    def _folded(self, text: str) -> str:
        return text if self.case_sensitive else text.casefold()


class RegexMetric(TextRule):
    """1.0 when `pattern` is found in the answer; with `full` when it is all of it. `flags` are those of `re`."""

    name = "regex"
    pattern: str = ""
    full: bool = False
    flags: int = 0
    own_settings = ("pattern", "full", "flags")

    def __init__(self, pattern: str, **settings: Any) -> None:
        super().__init__(pattern=pattern, **settings)
        if isinstance(self.flags, bool) or not isinstance(self.flags, int):  # pyright: ignore[reportUnnecessaryIsInstance] - settings come from plans
            raise InputError(f"flags is a number, such as re.IGNORECASE (2), not {shortened(self.flags)}")
        try:
            self._compiled = re.compile(self.pattern, self.flags)
        except (re.error, TypeError) as error:
            raise InputError(f"pattern {shortened(pattern)} is no regular expression: {error}") from None

    def rule(self, data: EvalInput) -> MetricScore:
        """1.0 when the pattern is found."""
        text = self.text(data)
        found = self._compiled.fullmatch(text) if self.full else self._compiled.search(text)
        return MetricScore(float(found is not None), "" if found else f"{self.pattern!r} was not found")


class NumericMetric(TextRule):
    """1.0 when the answer's number is the reference's, within `absolute` or `relative` tolerance (the wider counts).

    The answer is a number, or a text with exactly one; a text with several is judged by its last one only when
    `last=True`. 1,234.5, 1e3 and 12% (0.12) are numbers.

    >>> from calibrant import EvalInput
    >>> import asyncio
    >>> item = EvalInput(answer="It costs 1,234.50 euros.", ground_truth=1234)
    >>> asyncio.run(NumericMetric(absolute=1.0).evaluate(item)).score
    1.0
    """

    name = "numeric"
    required_fields = frozenset({"answer", "ground_truth"})
    absolute: float = 0.0
    relative: float = 1e-9
    last: bool = False
    own_settings = ("absolute", "relative", "last")

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in ("absolute", "relative"):
            given = getattr(self, name)
            if not is_number(given) or not 0.0 <= given < math.inf:
                raise InputError(f"{name} is a tolerance, finite and not negative, not {shortened(given)}")

    def rule(self, data: EvalInput) -> MetricScore:
        """1.0 when the numbers agree; an answer without one number does not, a reference without one is an error."""
        expected = numbers_of(data.ground_truth)
        if len(expected) != 1:
            raise InputError(f"the reference of item {data.id!r} is one number, not {shortened(data.ground_truth)}")
        found = numbers_of(data.get(self.field))
        if not found or (len(found) > 1 and not self.last):
            return MetricScore(0.0, f"expected one number, {expected[0]:g}, found {len(found)}")
        near = math.isclose(found[-1], expected[0], rel_tol=self.relative, abs_tol=self.absolute)
        return MetricScore(float(near), f"{found[-1]:g} {'is' if near else 'is not'} {expected[0]:g}")


class LengthMetric(TextRule):
    """1.0 when the answer has between `least` and `most` characters, words or lines (`unit`)."""

    name = "length"
    least: int = 0
    most: int | None = None
    unit: str = "words"
    own_settings = ("least", "most", "unit")

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        if self.unit not in _UNITS:
            raise InputError(f"unit is one of {', '.join(_UNITS)}, not {self.unit!r}")
        for name, given in {"least": self.least, "most": self.most}.items():
            if not (isinstance(given, int) and not isinstance(given, bool)) and (name, given) != ("most", None):
                raise InputError(f"{name} is a whole number, not {shortened(given)}")
        if self.least < 0 or (self.most is not None and self.most < self.least):
            raise InputError(f"length is between least and most, not between {self.least} and {self.most}")

    def rule(self, data: EvalInput) -> MetricScore:
        """1.0 when the length is within the limits."""
        text = self.text(data)
        sizes = {"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}
        size = sizes[self.unit]
        fits = size >= self.least and (self.most is None or size <= self.most)
        return MetricScore(float(fits), f"{size} {self.unit}")


def is_number(value: object) -> bool:
    """Whether `value` is a number, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def numbers_of(value: Any) -> list[float]:
    """The numbers in a text, or the number that a value is; what is not finite is none, and neither is "1.2.3".

    >>> numbers_of("From 1,000 to 2.5e3, that is 12%."), numbers_of(7), numbers_of(None)
    ([1000.0, 2500.0, 0.12], [7.0], [])
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return [float(value)] if math.isfinite(value) else []
    if not isinstance(value, str):
        return []
    numbers = [_number(found) for found in _NUMBER.findall(value.translate(_MINUS))]
    return [number for number in numbers if math.isfinite(number)]


def _number(text: str) -> float:
    plain = text.replace(",", "")
    return float(plain[:-1].rstrip()) / 100 if plain.endswith("%") else float(plain)
