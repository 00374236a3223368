"""What the alternative annotator test is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from calibrant.agreement.published import Resampling
from calibrant.errors import InputError, counted, shortened
from calibrant.stats.arrays import count, probability

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.estimates import Estimate

__all__ = ["AltTestResult", "AltTestSettings", "AnnotatorTest", "Stability", "epsilon_key"]

Outcome = Literal["passed", "failed", "not_tested"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AltTestSettings:
    """What the test asks: the margin, how answers are compared, and how much data it needs.

    `epsilon` is what people cost more than the judge, as a margin on the agreement (0.2 for experts, 0.15 for skilled
    people, 0.1 for crowds, says the paper); `multiplicative` takes it relative to the judge's. `scoring` is "accuracy",
    "neg_rmse" or "jaccard", by the kind of the ratings unless named.
    """

    epsilon: float = 0.2
    multiplicative: bool = False
    scoring: Literal["accuracy", "neg_rmse", "jaccard"] | None = None
    q: float = 0.05
    min_humans_per_item: int = 2
    min_items_per_human: int = 30
    min_humans: int = 3
    resampling: Resampling = field(default_factory=Resampling)

    def __post_init__(self) -> None:
        number = isinstance(self.epsilon, int | float)  # pyright: ignore[reportUnnecessaryIsInstance] - users pass texts
        if not number or not 0.0 <= self.epsilon < 1.0:
            raise InputError(f"epsilon is a margin of at least 0 and below 1, not {shortened(self.epsilon)}")
        probability(self.q, "q")
        count(self.min_humans_per_item, "min_humans_per_item", least=2)
        count(self.min_items_per_human, "min_items_per_human", least=2)
        count(self.min_humans, "min_humans", least=2)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorTest:
    """The test against one person, left out of the rest.

    `judge_advantage` is the share of the `n` items on which the judge agrees with the rest at least as well as this
    person (rho_f), `human_advantage` the reverse (rho_h); ties count for both. `p` is the p-value at the epsilon that
    was asked for, and the adjusted ones follow Benjamini and Yekutieli, Benjamini and Hochberg, and Holm.
    """

    annotator: str
    n: int
    judge_advantage: float
    human_advantage: float
    p: float
    p_by: float
    p_bh: float
    p_holm: float
    judge_wins: bool

    def to_json(self) -> dict[str, Any]:
        """The test as JSON has it."""
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}


class Stability(NamedTuple):
    """In what share of resamples of the items the outcome was the same."""

    same_outcome: float
    resamples: int

    def __str__(self) -> str:
        return (
            f"with other items drawn from the same, the outcome was the same in {self.same_outcome:.0%} of "
            f"{self.resamples:,} resamples; this is how much it hangs on the choice of items, and no error rate"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AltTestResult:
    """What the test says, and on what it rests.

    `outcome` is "passed" when the judge wins against at least half of the people, "failed" when it does not, and
    "not_tested" when there was too little to test, with the `reason`. `winning_rate` has a share, or None, for every
    epsilon of the grid and the one that was asked for. `break_even_epsilon` is the smallest at which it passes.
    """

    judge: str
    outcome: Outcome
    reason: str
    settings: AltTestSettings
    scoring: str
    items: int
    winning_rate: Mapping[str, float | None]
    advantage_probability: Estimate
    annotators: tuple[AnnotatorTest, ...]
    dropped_items: Mapping[str, tuple[str, ...]]
    dropped_annotators: Mapping[str, str]
    break_even_epsilon: float | None
    stability: Stability | None
    warnings: tuple[str, ...]

    @property
    def passed(self) -> bool | None:
        """Whether the judge may stand in for a person; None when that was not tested."""
        return None if self.outcome == "not_tested" else self.outcome == "passed"

    @property
    def winning_rate_at_epsilon(self) -> float | None:
        """The winning rate at the epsilon that was asked for."""
        return self.winning_rate[epsilon_key(self.settings.epsilon)]

    @property
    def human_advantage_probabilities(self) -> dict[str, list[float]]:
        """For each person [rho_f, rho_h]: how often the judge, and how often the person, did at least as well."""
        return {one.annotator: [one.judge_advantage, one.human_advantage] for one in self.annotators}

    def __str__(self) -> str:
        if self.outcome == "not_tested":
            return f"{self.judge}: not tested, because {self.reason}"
        wins = sum(one.judge_wins for one in self.annotators)
        return (
            f"{self.judge}: {self.outcome} at epsilon {self.settings.epsilon:g}, winning against {wins} of "
            f"{counted(len(self.annotators), 'annotator')}; advantage probability {self.advantage_probability}"
        )

    def to_json(self) -> dict[str, Any]:
        """The result as JSON has it; null where there is no number."""
        return {
            "judge": self.judge,
            "outcome": self.outcome,
            "reason": self.reason,
            "epsilon": self.settings.epsilon,
            "multiplicative_epsilon": self.settings.multiplicative,
            "q_fdr": self.settings.q,
            "scoring_function": self.scoring,
            "items": self.items,
            "winning_rate": dict(self.winning_rate),
            "advantage_probability": self.advantage_probability.to_json(),
            "human_advantage_probabilities": self.human_advantage_probabilities,
            "annotators": [one.to_json() for one in self.annotators],
            "dropped_items": {reason: list(items) for reason, items in self.dropped_items.items()},
            "dropped_annotators": dict(self.dropped_annotators),
            "break_even_epsilon": self.break_even_epsilon,
            "stability": None if self.stability is None else self.stability._asdict(),
            "warnings": list(self.warnings),
        }


def epsilon_key(epsilon: float) -> str:
    """An epsilon as a key of `winning_rate`: two decimals, or as many as it has.

    >>> epsilon_key(0.2), epsilon_key(0.125)
    ('0.20', '0.125')
    """
    return f"{epsilon:.2f}" if abs(round(epsilon, 2) - epsilon) < 1e-9 else f"{epsilon:g}"
