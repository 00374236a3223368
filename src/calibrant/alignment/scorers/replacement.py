"""The alternative annotator test as a scorer: whether the judge may stand in for one of the people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from calibrant.agreement import AltTestSettings, alt_test
from calibrant.agreement.replacement import EPSILONS
from calibrant.agreement.replacement_result import epsilon_key
from calibrant.alignment.safe_names import safe_name
from calibrant.alignment.scorers.built_in import BuiltInScorer, is_single_label
from calibrant.alignment.scoring_result import BaseScoringResult
from calibrant.errors import counted
from calibrant.estimates import Estimate
from calibrant.stats.arrays import probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.agreement import AltTestResult
    from calibrant.alignment.scorers.comparisons import Comparison

__all__ = ["AltTestScorer"]

Scoring = Literal["accuracy", "neg_rmse", "jaccard"]


class AltTestScorer(BuiltInScorer):
    """Whether the judge agrees with the rest of the people at least as well as one of them does (Calderon et al. 2025).

    `epsilon` is what a person costs more than the judge, as a margin; `multiplicative_epsilon` takes it relative to
    the judge's agreement. Three people are needed, `min_instances_per_human` items of each, and
    `min_humans_per_item` people on an item. Every attribute can be set after construction.
    """

    score_name = "winning_rate"
    supports_majority = False

    def __init__(
        self,
        *,
        epsilon: float = 0.2,
        multiplicative_epsilon: bool = False,
        q_fdr: float = 0.05,
        min_instances_per_human: int = 30,
        min_humans_per_item: int = 2,
        scoring_function: Scoring | None = None,
    ) -> None:
        super().__init__(scorer_name="alt_test")
        self.epsilon = epsilon
        self.multiplicative_epsilon = multiplicative_epsilon
        self.q_fdr = q_fdr
        self.min_instances_per_human = min_instances_per_human
        self.min_humans_per_item = min_humans_per_item
        self.min_human_annotators = 3
        self.scoring_function: Scoring | None = scoring_function
        self.settings()

    def can_score_task(self, sample_label: Any) -> bool:
        """Whether the label is a text, a number, or a list of texts."""
        if isinstance(sample_label, list | tuple | set | frozenset):
            return all(isinstance(one, str) for one in sample_label)
        return is_single_label(sample_label)

    def settings(self) -> AltTestSettings:
        """What the test is asked, from the attributes as they are now; a wrong one is an InputError."""
        probability(self.q_fdr, "q_fdr")
        return AltTestSettings(
            epsilon=self.epsilon,
            multiplicative=self.multiplicative_epsilon,
            scoring=self.scoring_function,
            q=self.q_fdr,
            min_humans_per_item=self.min_humans_per_item,
            min_items_per_human=self.min_instances_per_human,
            min_humans=self.min_human_annotators,
        )

    def empty_scores(self) -> dict[str, Any]:
        """None at every epsilon, and no advantage probability."""
        grid = sorted({epsilon_key(one): one for one in (*EPSILONS, self.epsilon)}.items(), key=lambda pair: pair[1])
        return {"winning_rate": {key: None for key, _ in grid}, "advantage_probability": None}

    async def score(self, comparison: Comparison) -> BaseScoringResult:
        """The outcome, the winning rate at every epsilon, and the advantage probability with its interval."""
        found = alt_test(comparison.cube, comparison.judge, humans=comparison.active_humans, settings=self.settings())
        compared, failed = comparison.pairs()
        passed = found.outcome != "not_tested"
        return BaseScoringResult(
            scorer_name=self.scorer_name,
            task_name=comparison.task_name,
            judge_id=comparison.judge_id,
            scores={
                "winning_rate": dict(found.winning_rate),
                "advantage_probability": found.advantage_probability.value,
            },
            metadata={**self._metadata(found, comparison), "human_annotators": len(comparison.active_humans)},
            aggregation_mode=comparison.mode,
            num_comparisons=compared,
            failed_comparisons=max(failed, 0 if passed else 1),
            intervals={
                "advantage_probability": found.advantage_probability.to_json(),
                "winning_rate": _rate(found).to_json(),
            },
            details={"outcome": found.outcome},
            reason=found.reason,
        )

    def _metadata(self, found: AltTestResult, comparison: Comparison) -> dict[str, Any]:
        data = found.to_json()
        people = {comparison.person(name): rates for name, rates in data["human_advantage_probabilities"].items()}
        return {
            "human_advantage_probabilities": people,
            "scoring_function": found.scoring,
            "epsilon": self.epsilon,
            "multiplicative_epsilon": self.multiplicative_epsilon,
            "q_fdr": self.q_fdr,
            "min_instances_per_human": self.min_instances_per_human,
            "min_humans_per_item": self.min_humans_per_item,
            "ground_truth_method": "alt_test_procedure",
            "outcome": found.outcome,
            "winning_rate_at_epsilon": found.winning_rate_at_epsilon,
            "annotators": [{**one, "annotator": comparison.person(one["annotator"])} for one in data["annotators"]],
            "dropped_annotators": {comparison.person(name): why for name, why in found.dropped_annotators.items()},
            **{name: data[name] for name in ("items", "break_even_epsilon", "stability", "dropped_items")},
            "warnings": [*comparison.unlike_spellings(), *data["warnings"]],
        }

    def aggregate_results(self, results: Sequence[BaseScoringResult], scores_dir: str, unique_name: str = "") -> None:
        """Draw winning rates over epsilon, advantage probabilities, and each person's beside the judge's."""
        from calibrant.report import charts

        folder = Path(scores_dir) / safe_name(self.scorer_name) / safe_name(unique_name or self.scorer_name)
        rates = {one.judge_id: one.scores.get("winning_rate") or {} for one in results}
        bars = [
            charts.Bar(label=one.judge_id, estimate=one.estimate("advantage_probability"), reason=one.reason)
            for one in results
        ]
        people = {one.judge_id: one.metadata.get("human_advantage_probabilities") or {} for one in results}
        charts.line_chart(rates, folder / "aggregate_winning_rates.png", mark=0.5)
        charts.bar_chart(bars, folder / "aggregate_advantage_probabilities.png", title="advantage probability")
        charts.scatter_chart(people, folder / "aggregate_human_vs_llm_advantage.png")


def _rate(found: AltTestResult) -> Estimate:
    """The winning rate at the epsilon that was asked for; of a share of a few tests there is no interval."""
    coverage = found.advantage_probability.coverage
    if found.winning_rate_at_epsilon is None:
        return Estimate.missing(found.reason, method="alt-test", coverage=coverage)
    same = (
        ""
        if found.stability is None
        else f"; the outcome was the same in {found.stability.same_outcome:.0%} of resamples"
    )
    reason = f"no interval: a share of {counted(len(found.annotators), 'test')}{same}"
    return Estimate(value=found.winning_rate_at_epsilon, method="alt-test", coverage=coverage, reason=reason)
