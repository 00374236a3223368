"""The choices that move a retrieval measure, and the sets of them that known tools make."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypedDict, get_args, get_type_hints

from calibrant.errors import UnknownNameError

__all__ = ["CONVENTIONS", "Conventions", "Policies"]

Queries = Literal["qrels", "intersection"]
Ties = Literal["trec", "given", "expected"]
ScoreType = Literal["float64", "float32"]
Gain = Literal["linear", "exponential"]
OnDuplicate = Literal["error", "first", "last"]
OnNan = Literal["error", "drop"]
Precision = Literal["k", "retrieved"]

ALIASES = {("gain", "exp"): "exponential", ("ties", "rank"): "given", ("queries", "all"): "qrels"}


class Policies(TypedDict, total=False):
    """Every policy by its keyword, as `measure` takes them."""

    queries: Queries
    ties: Ties
    score_dtype: ScoreType
    gain: Gain
    on_duplicate: OnDuplicate
    on_nan: OnNan
    precision: Precision


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """Which queries count, how ties are broken, and the other choices behind a number; part of every result.

    `queries`: all of the qrels (one without results counts 0), or only those that the ranking has.
    `ties`: "trec" ranks equal scores by document id, descending by bytes; "given" as they came; "expected" is the
    mean of the measure over all orders of the tied documents.
    `score_dtype`: "float32" makes scores equal that trec_eval 9 and pytrec_eval cannot tell apart.
    `gain`: of a grade g in nDCG, "linear" g or "exponential" 2**g - 1.
    `on_duplicate`: a document that a query has twice is an error, or its first or last row counts.
    `on_nan`: a score that is no number is an error, or its row is dropped and counted.
    `precision`: P@k divides by "k", or by what was "retrieved", at most k.
    """

    name: str = "trec_eval"
    queries: Queries = "qrels"
    ties: Ties = "trec"
    score_dtype: ScoreType = "float64"
    gain: Gain = "linear"
    on_duplicate: OnDuplicate = "error"
    on_nan: OnNan = "error"
    precision: Precision = "k"

    def __post_init__(self) -> None:
        for policy, hint in POLICY_TYPES.items():
            value = getattr(self, policy)
            value = ALIASES.get((policy, value), value)
            if value not in get_args(hint):
                raise UnknownNameError.among(f"{policy} policy", value, get_args(hint))
            object.__setattr__(self, policy, value)

    @classmethod
    def of(cls, conventions: str | Conventions = "trec_eval", **policies: Any) -> Conventions:
        """The conventions of that name, with `policies` changed; the name then says what was changed.

        >>> Conventions.of("pytrec_eval").score_dtype
        'float32'
        >>> Conventions.of("trec_eval", ties="expected").name
        'trec_eval, ties=expected'
        """
        if isinstance(conventions, str):
            if conventions not in CONVENTIONS:
                raise UnknownNameError.among("conventions", conventions, CONVENTIONS)
            conventions = CONVENTIONS[conventions]
        for policy in policies:
            if policy not in POLICY_TYPES:
                raise UnknownNameError.among("policy", policy, POLICY_TYPES)
        changed = replace(conventions, **policies)
        base = CONVENTIONS.get(conventions.name.partition(", ")[0], conventions)
        different = [name for name in POLICY_TYPES if getattr(changed, name) != getattr(base, name)]
        texts = [base.name, *(f"{name}={getattr(changed, name)}" for name in different)]
        return replace(changed, name=", ".join(texts))

    def to_json(self) -> dict[str, str]:
        """The conventions as JSON has them."""
        return asdict(self)


POLICY_TYPES = {name: hint for name, hint in get_type_hints(Conventions).items() if name != "name"}

CONVENTIONS: dict[str, Conventions] = {
    conventions.name: conventions
    for conventions in (
        Conventions(name="trec_eval"),
        Conventions(name="pytrec_eval", queries="intersection", score_dtype="float32"),
        Conventions(name="ranx", ties="given", on_duplicate="last"),
        Conventions(name="seed", ties="given", gain="exponential", on_duplicate="first", precision="retrieved"),
    )
}
"""trec_eval 10 (as with -c), pytrec_eval, ranx with make_comparable, and `RetrievalMetricsCalculator`."""
