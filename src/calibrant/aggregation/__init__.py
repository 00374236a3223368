"""Aggregation: juries of judges, verdicts on statements, and metrics combined."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.aggregation.combined import (
        AggregationResult,
        MetricsAggregator,
        ScoreMapping,
        WeightedMetricsAggregator,
    )
    from calibrant.aggregation.juries import (
        AggregationMethod,
        AggregationSelector,
        AverageAggregationStrategy,
        BaseJudgeAggregator,
        MajorityVoteAggregationStrategy,
        MedianAggregationStrategy,
        RepeatedResults,
        build_aggregation_strategy,
    )
    from calibrant.aggregation.labels import LabelMajorityAggregationStrategy, LabelVote, TiePolicy, majority_label
    from calibrant.aggregation.verdicts import (
        TEMPERATURE_KNOTS,
        VERDICT_WEIGHTS,
        power_for_temperature,
        power_mean,
        score_agg,
        score_agg_many,
        verdict_weight,
    )
    from calibrant.aggregation.whatif import what_if_verdicts, what_if_votes

__all__ = [
    "AggregationMethod",
    "AggregationResult",
    "AggregationSelector",
    "AverageAggregationStrategy",
    "BaseJudgeAggregator",
    "LabelMajorityAggregationStrategy",
    "LabelVote",
    "MajorityVoteAggregationStrategy",
    "MedianAggregationStrategy",
    "MetricsAggregator",
    "RepeatedResults",
    "ScoreMapping",
    "TEMPERATURE_KNOTS",
    "TiePolicy",
    "VERDICT_WEIGHTS",
    "WeightedMetricsAggregator",
    "build_aggregation_strategy",
    "majority_label",
    "power_for_temperature",
    "power_mean",
    "score_agg",
    "score_agg_many",
    "verdict_weight",
    "what_if_verdicts",
    "what_if_votes",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "AggregationMethod": "calibrant.aggregation.juries",
        "AggregationResult": "calibrant.aggregation.combined",
        "AggregationSelector": "calibrant.aggregation.juries",
        "AverageAggregationStrategy": "calibrant.aggregation.juries",
        "BaseJudgeAggregator": "calibrant.aggregation.juries",
        "LabelMajorityAggregationStrategy": "calibrant.aggregation.labels",
        "LabelVote": "calibrant.aggregation.labels",
        "MajorityVoteAggregationStrategy": "calibrant.aggregation.juries",
        "MedianAggregationStrategy": "calibrant.aggregation.juries",
        "MetricsAggregator": "calibrant.aggregation.combined",
        "RepeatedResults": "calibrant.aggregation.juries",
        "ScoreMapping": "calibrant.aggregation.combined",
        "TEMPERATURE_KNOTS": "calibrant.aggregation.verdicts",
        "TiePolicy": "calibrant.aggregation.labels",
        "VERDICT_WEIGHTS": "calibrant.aggregation.verdicts",
        "WeightedMetricsAggregator": "calibrant.aggregation.combined",
        "build_aggregation_strategy": "calibrant.aggregation.juries",
        "majority_label": "calibrant.aggregation.labels",
        "power_for_temperature": "calibrant.aggregation.verdicts",
        "power_mean": "calibrant.aggregation.verdicts",
        "score_agg": "calibrant.aggregation.verdicts",
        "score_agg_many": "calibrant.aggregation.verdicts",
        "verdict_weight": "calibrant.aggregation.verdicts",
        "what_if_verdicts": "calibrant.aggregation.whatif",
        "what_if_votes": "calibrant.aggregation.whatif",
    },
)
