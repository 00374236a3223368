"""Measures as the papers write them: `nDCG@10`, `P(rel=2)@5`, `RBP(p=0.8)`. The text is the name everywhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from calibrant.errors import InputError, UnknownNameError, WrongTypeError, shortened

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["FAMILIES", "Family", "Measure", "UserMeasure", "named_measures"]

MeasureFunction = Callable[["NDArray[np.float64]", "NDArray[np.float64]"], float]


@dataclass(frozen=True, slots=True)
class Family:
    """The measures of one name: which parameters they take, with their defaults, and whether they can be cut at k."""

    name: str
    meaning: str
    defaults: Mapping[str, Any]
    cut: bool = True


def _family(name: str, meaning: str, *, cut: bool = True, **defaults: Any) -> Family:
    return Family(name, meaning, MappingProxyType(defaults), cut)


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        _family("P", "share of the first k that is relevant", rel=1),
        _family("R", "share of the relevant that is in the first k", rel=1),
        _family("F1", "harmonic mean of P and R", rel=1),
        _family("AP", "mean of the precision at each relevant document, over all relevant", rel=1),
        _family("RR", "one over the rank of the first relevant document", rel=1),
        _family("nDCG", "discounted gain over that of the best order", gain=None),
        _family("hit", "1 when a relevant document is in the first k", rel=1),
        _family("Success", "the same as hit", rel=1),
        _family("Rprec", "precision at rank R, the number of relevant documents", cut=False, rel=1),
        _family("bpref", "how rarely judged irrelevant documents stand above relevant ones", cut=False, rel=1),
        _family("RBP", "rank-biased precision with persistence p", p=0.8, rel=1),
        _family("judged", "share of the first k that was judged"),
        _family("SetP", "share of the retrieved that is relevant", cut=False, rel=1),
        _family("SetR", "share of the relevant that was retrieved", cut=False, rel=1),
        _family("SetF1", "harmonic mean of SetP and SetR", cut=False, rel=1),
    )
}
"""Every measure that Calibrant knows, by its name."""

ALIASES = {
    "precision": "P",
    "recall": "R",
    "f": "F1",
    "map": "AP",
    "mrr": "RR",
    "hit_rate": "hit",
    "hits": "hit",
    "r-precision": "Rprec",
    "setf": "SetF1",
}
SPELLINGS = {**{name.lower(): name for name in FAMILIES}, **ALIASES}
TREC_NAMES = {
    "ndcg_cut": "nDCG",
    "map_cut": "AP",
    "p": "P",
    "recall": "R",
    "success": "Success",
    "recip_rank": "RR",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_f": "SetF1",
}
TREC_SYNTAX = re.compile(rf"\s*(?P<name>{'|'.join(TREC_NAMES)})(?:[_.](?P<cutoff>\d+))?\s*", re.IGNORECASE)
SYNTAX = re.compile(
    r"\s*(?P<name>[A-Za-z][\w-]*?\d*)\s*(?:\((?P<parameters>[^()]*)\))?\s*(?:@\s*(?P<cutoff>[^\s@]+))?\s*"
)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure with its parameters and its cutoff, as its text says.

    >>> measure = Measure.parse("p( rel = 2 ) @10")
    >>> str(measure), measure.cutoff, measure.parameter("rel")
    ('P(rel=2)@10', 10, 2)
    >>> Measure.parse(str(measure)) == measure
    True
    """

    family: Family
    cutoff: int | None = None
    parameters: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def parse(cls, text: str) -> Measure:
        """The measure that `text` names, also by trec_eval's name for it; upper and lower case are the same."""
        match = SYNTAX.fullmatch(_from_trec_eval(text))
        if match is None:
            raise InputError(f"expected a measure like 'nDCG@10' or 'P(rel=2)@5', got {shortened(text)}")
        name = SPELLINGS.get(match["name"].lower())
        if name is None:
            raise UnknownNameError.among("measure", match["name"], FAMILIES)
        family = FAMILIES[name]
        return cls(family, _cutoff(match["cutoff"], family, text), _parameters(match["parameters"], family, text))

    @property
    def name(self) -> str:
        """The measure's text."""
        return str(self)

    def parameter(self, name: str) -> Any:
        """The value of a parameter: as given, or the family's default."""
        return dict(self.parameters).get(name, self.family.defaults.get(name))

    def __str__(self) -> str:
        inner = ", ".join(f"{name}={value}" for name, value in self.parameters)
        cut = "" if self.cutoff is None else f"@{self.cutoff}"
        return f"{self.family.name}{f'({inner})' if inner else ''}{cut}"


@dataclass(frozen=True, slots=True)
class UserMeasure:
    """A measure of your own: a function of the ranks and grades of a query's judged documents, best rank first.

    A judged document that was not retrieved has rank infinity, so that its discounted gain is 0.

    >>> first_good = UserMeasure("first_good", lambda ranks, grades: float((1 / ranks[grades >= 2]).max(initial=0)))
    >>> str(first_good)
    'first_good'
    """

    name: str
    function: MeasureFunction

    def __str__(self) -> str:
        return self.name


def named_measures(measures: Any) -> dict[str, Measure | UserMeasure]:
    """The measures by name, in the order given: texts, Measures, UserMeasures or plain functions; one or several."""
    single = isinstance(measures, str | Measure | UserMeasure) or callable(measures)
    given = [measures] if single else list(cast("Iterable[Any]", measures))
    named: dict[str, Measure | UserMeasure] = {}
    for one in map(_measure, given):
        if named.setdefault(one.name, one) != one:
            raise InputError(f"two measures are called {one.name!r}; give one of them another name")
    if not named:
        raise InputError("no measure was asked for; name at least one, for example 'nDCG@10'")
    return named


def _measure(given: Any) -> Measure | UserMeasure:
    if isinstance(given, Measure | UserMeasure):
        return given
    if isinstance(given, str):
        return Measure.parse(given)
    if callable(given):
        return UserMeasure(getattr(given, "__name__", type(given).__name__), cast("MeasureFunction", given))
    raise WrongTypeError(f"a measure is a text like 'nDCG@10' or a function, not {shortened(given)}")


def _from_trec_eval(text: str) -> str:
    """trec_eval's `ndcg_cut_10` or `P.10` as `nDCG@10` or `P@10`; any other text as it is.

    >>> _from_trec_eval("ndcg_cut_10"), _from_trec_eval("set_F"), _from_trec_eval("AP")
    ('nDCG@10', 'SetF1', 'AP')
    """
    match = TREC_SYNTAX.fullmatch(text)
    if match is None:
        return text
    return TREC_NAMES[match["name"].lower()] + ("" if match["cutoff"] is None else f"@{match['cutoff']}")


def _cutoff(text: str | None, family: Family, whole: str) -> int | None:
    if text is None:
        return None
    if not family.cut:
        raise InputError(f"{family.name} has no cutoff, but {shortened(whole)} names one")
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InputError(f"expected a whole number from 1 behind the @ of {shortened(whole)}, got {shortened(text)}")
    return int(text)


def _parameters(text: str | None, family: Family, whole: str) -> tuple[tuple[str, Any], ...]:
    found: dict[str, Any] = {}
    for part in (text or "").split(",") if (text or "").strip() else ():
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in family.defaults or name in found:
            known = ", ".join(f"{known}=..." for known in family.defaults) or "no parameters"
            raise InputError(f"{family.name} takes {known}; got {shortened(part.strip())} in {shortened(whole)}")
        found[name] = CHECKS[name](value, whole)
    return tuple((name, found[name]) for name in family.defaults if name in found)


def _level(text: str, whole: str) -> float:
    number = _number(text, whole)
    if number <= 0:
        raise InputError(f"rel is the lowest relevant grade and above 0, not {text} as in {shortened(whole)}")
    return number


def _persistence(text: str, whole: str) -> float:
    number = _number(text, whole)
    if not 0 < number < 1:
        raise InputError(f"p is a persistence between 0 and 1, not {text} as in {shortened(whole)}")
    return number


def _gain(text: str, whole: str) -> str:
    gains = {"linear": "linear", "exp": "exponential", "exponential": "exponential"}
    if text not in gains:
        raise InputError(f"gain is linear or exponential, not {shortened(text)} as in {shortened(whole)}")
    return gains[text]


def _number(text: str, whole: str) -> float:
    if re.fullmatch(r"-?(\d+\.?\d*|\.\d+)(e-?\d+)?", text, re.ASCII) is None:
        raise InputError(f"expected a number, got {shortened(text)} in {shortened(whole)}")
    number = float(text)
    return int(number) if number.is_integer() else number


CHECKS: Mapping[str, Callable[[str, str], Any]] = {"rel": _level, "p": _persistence, "gain": _gain}
