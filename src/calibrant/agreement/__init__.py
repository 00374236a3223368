"""Agreement: people, judges and rules as raters, and how far one may stand in for another."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.agreement.bounds import CeilingAndFloor, ceiling_and_floor, ceiling_and_floor_by_vote
    from calibrant.agreement.comparison import JudgeComparison, JudgeDifference, compare_judges
    from calibrant.agreement.correction import CorrectedRate, corrected_rate
    from calibrant.agreement.cube import RatingCube
    from calibrant.agreement.judging import AgainstEach, against_each, against_majority
    from calibrant.agreement.many_raters import (
        fleiss_kappa,
        krippendorff_alpha,
        many_raters_ac1,
        many_raters_ac2,
        mean_pairwise_kappa,
    )
    from calibrant.agreement.measures import Measure
    from calibrant.agreement.published import Coefficient, Resampling
    from calibrant.agreement.replacement import alt_test
    from calibrant.agreement.replacement_result import AltTestResult, AltTestSettings, AnnotatorTest, Stability
    from calibrant.agreement.triage import Disagreement, Disagreements, disagreements
    from calibrant.agreement.two_raters import (
        accuracy,
        balanced_accuracy,
        cohens_kappa,
        f1,
        gwet_ac1,
        gwet_ac2,
        kendall_tau,
        matthews,
        precision,
        recall,
        spearman,
    )
    from calibrant.agreement.voting import Majority, majority

__all__ = [
    "AgainstEach",
    "AltTestResult",
    "AltTestSettings",
    "AnnotatorTest",
    "CeilingAndFloor",
    "Coefficient",
    "CorrectedRate",
    "Disagreement",
    "Disagreements",
    "JudgeComparison",
    "JudgeDifference",
    "Majority",
    "Measure",
    "RatingCube",
    "Resampling",
    "Stability",
    "accuracy",
    "against_each",
    "against_majority",
    "alt_test",
    "balanced_accuracy",
    "ceiling_and_floor",
    "ceiling_and_floor_by_vote",
    "cohens_kappa",
    "compare_judges",
    "corrected_rate",
    "disagreements",
    "f1",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "kendall_tau",
    "krippendorff_alpha",
    "majority",
    "many_raters_ac1",
    "many_raters_ac2",
    "matthews",
    "mean_pairwise_kappa",
    "precision",
    "recall",
    "spearman",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "AgainstEach": "calibrant.agreement.judging",
        "AltTestResult": "calibrant.agreement.replacement_result",
        "AltTestSettings": "calibrant.agreement.replacement_result",
        "AnnotatorTest": "calibrant.agreement.replacement_result",
        "CeilingAndFloor": "calibrant.agreement.bounds",
        "Coefficient": "calibrant.agreement.published",
        "CorrectedRate": "calibrant.agreement.correction",
        "Disagreement": "calibrant.agreement.triage",
        "Disagreements": "calibrant.agreement.triage",
        "JudgeComparison": "calibrant.agreement.comparison",
        "JudgeDifference": "calibrant.agreement.comparison",
        "Majority": "calibrant.agreement.voting",
        "Measure": "calibrant.agreement.measures",
        "RatingCube": "calibrant.agreement.cube",
        "Resampling": "calibrant.agreement.published",
        "Stability": "calibrant.agreement.replacement_result",
        "accuracy": "calibrant.agreement.two_raters",
        "against_each": "calibrant.agreement.judging",
        "against_majority": "calibrant.agreement.judging",
        "alt_test": "calibrant.agreement.replacement",
        "balanced_accuracy": "calibrant.agreement.two_raters",
        "ceiling_and_floor": "calibrant.agreement.bounds",
        "ceiling_and_floor_by_vote": "calibrant.agreement.bounds",
        "cohens_kappa": "calibrant.agreement.two_raters",
        "compare_judges": "calibrant.agreement.comparison",
        "corrected_rate": "calibrant.agreement.correction",
        "disagreements": "calibrant.agreement.triage",
        "f1": "calibrant.agreement.two_raters",
        "fleiss_kappa": "calibrant.agreement.many_raters",
        "gwet_ac1": "calibrant.agreement.two_raters",
        "gwet_ac2": "calibrant.agreement.two_raters",
        "kendall_tau": "calibrant.agreement.two_raters",
        "krippendorff_alpha": "calibrant.agreement.many_raters",
        "majority": "calibrant.agreement.voting",
        "many_raters_ac1": "calibrant.agreement.many_raters",
        "many_raters_ac2": "calibrant.agreement.many_raters",
        "matthews": "calibrant.agreement.two_raters",
        "mean_pairwise_kappa": "calibrant.agreement.many_raters",
        "precision": "calibrant.agreement.two_raters",
        "recall": "calibrant.agreement.two_raters",
        "spearman": "calibrant.agreement.two_raters",
    },
)
