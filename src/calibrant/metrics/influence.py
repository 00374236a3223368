"""What each judge of a jury changes: the jury's results with and without it, from the votes that are stored."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from calibrant.aggregation.juries import (
    AggregationMethod,
    AggregationSelector,
    BaseJudgeAggregator,
    build_aggregation_strategy,
)
from calibrant.errors import InputError
from calibrant.estimates import Coverage, Estimate
from calibrant.metrics.settings import CHECKED_SETTINGS, check_quorum

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from calibrant.ratings import MetricOutput, Rating

__all__ = ["JudgeInfluence", "leave_one_out"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeInfluence:
    """What a jury would have said without the judge in `slot`.

    `changed` is the share of items whose pass or fail would be the other one, `shift` the mean of the score with the
    judge minus the score without it, `pass_rate_without` the pass rate of the rest. Items that either jury cannot
    decide are in the coverage as failed.
    """

    rater: str
    slot: int
    changed: Estimate
    shift: Estimate
    pass_rate_without: Estimate

    def __str__(self) -> str:
        return f"without {self.rater} (slot {self.slot}): {self.changed} of the items change, score {self.shift:+.3f}"

    def to_json(self) -> dict[str, Any]:
        """The influence as JSON has it."""
        estimates = {name: getattr(self, name).to_json() for name in ("changed", "shift", "pass_rate_without")}
        return {"rater": self.rater, "slot": self.slot, **estimates}


def leave_one_out(
    votes: Iterable[Rating],
    *,
    aggregation: AggregationSelector | str = AggregationMethod.MAJORITY_VOTE,
    threshold: float = 0.5,
    higher_is_better: bool = True,
    quorum: int | None = None,
    level: float = 0.95,
) -> list[JudgeInfluence]:
    """For each judge of a jury, what the results would be without it; nobody is asked.

    `votes` are the ratings with the role "vote" of one criterion, as a result or a run has them; others are left out.
    Every slot is a judge: of a metric with repeats each repeat counts as one. A jury needs `quorum` valid votes, more
    than half by default, with and without the judge. Raises InputError when there are votes of fewer than two judges or
    of several criteria, and for a threshold or quorum that no metric of as many judges could have.
    """
    by_item, raters = _by_item(votes)
    check_quorum(quorum, len(raters))
    strategy = build_aggregation_strategy(aggregation)
    rule = _Rule(strategy, CHECKED_SETTINGS["threshold"](threshold), higher_is_better, quorum)
    found: list[JudgeInfluence] = []
    for slot in sorted(raters):
        juries = [slots for slots in by_item.values() if slot in slots and len(slots) > 1]
        pairs = [rule.with_and_without(slots, slot) for slots in juries]
        decided = [pair for pair in pairs if pair is not None]
        lost = len(pairs) - len(decided)
        coverage = Coverage(rated=len(decided), failed=lost, codes={"quorum_not_met": lost} if lost else {})
        outcomes = [(before - after, rule.passes(before), rule.passes(after)) for before, after in decided]
        found.append(_influence((raters[slot], slot), outcomes, coverage, level))
    return found


class _Rule(NamedTuple):
    """How votes become a verdict: the strategy, where passing begins and on which side, and how many must be valid."""

    strategy: BaseJudgeAggregator
    threshold: float
    higher_is_better: bool
    quorum: int | None

    def passes(self, score: float) -> bool:
        return score >= self.threshold if self.higher_is_better else score <= self.threshold

    def with_and_without(self, slots: Mapping[int, MetricOutput], slot: int) -> tuple[float, float] | None:
        """The scores of the jury and of the jury without `slot`; None when either has too few valid votes."""
        before = self._score(list(slots.values()))
        after = self._score([vote for other, vote in slots.items() if other != slot])
        return None if before is None or after is None else (before, after)

    def _score(self, outputs: list[MetricOutput]) -> float | None:
        needed = min(self.quorum or len(outputs) // 2 + 1, len(outputs))
        if sum("score" in one for one in outputs) < needed:
            return None
        return float(self.strategy.aggregate(outputs, len(outputs))["score"])


def _influence(
    judge: tuple[str, int], outcomes: list[tuple[float, bool, bool]], coverage: Coverage, level: float
) -> JudgeInfluence:
    from calibrant.stats import mean, proportion

    changed = sum(before != after for _, before, after in outcomes)
    passed = sum(after for _, _, after in outcomes)
    shifts = [shift for shift, _, _ in outcomes]
    return JudgeInfluence(
        rater=judge[0],
        slot=judge[1],
        changed=proportion(changed, len(outcomes), level=level, coverage=coverage),
        shift=mean(shifts, level=level, coverage=coverage, scale=(-1.0, 1.0)),
        pass_rate_without=proportion(passed, len(outcomes), level=level, coverage=coverage),
    )


def _by_item(votes: Iterable[Rating]) -> tuple[Mapping[str, Mapping[int, MetricOutput]], Mapping[int, str]]:
    by_item: defaultdict[str, dict[int, MetricOutput]] = defaultdict(dict)
    raters: dict[int, str] = {}
    criteria: set[str] = set()
    for vote in votes:
        if vote.role != "vote":
            continue
        criteria.add(vote.criterion)
        raters[vote.slot] = vote.rater
        if isinstance(vote.value, str | frozenset):
            raise InputError(f"leave_one_out takes votes that are numbers; on item {vote.item!r} it is {vote.value!r}")
        by_item[vote.item][vote.slot] = {"score": vote.value} if vote.failure is None else {"error": str(vote.failure)}
    if len(criteria) > 1:
        raise InputError(f"leave_one_out takes the votes of one criterion, not of {', '.join(sorted(criteria))}")
    if len(raters) < 2:
        raise InputError(f"leaving one out needs the votes of at least two judges, got those of {len(raters)}")
    return by_item, raters
