"""Statistics on plain arrays, usable alone: intervals, tests, many tests at once, the bootstrap, power."""

from typing import TYPE_CHECKING

from calibrant._lazy import lazy_exports

if TYPE_CHECKING:
    from calibrant.stats.effects import cohens_d, cohens_h
    from calibrant.stats.intervals import (
        Interval,
        clopper_pearson,
        jeffreys,
        mean_interval,
        paired_difference_interval,
        wilson,
    )
    from calibrant.stats.multiplicity import benjamini_hochberg, benjamini_yekutieli, holm
    from calibrant.stats.paired import TestResult, equivalence_t, mcnemar, paired_t, wilcoxon
    from calibrant.stats.power import (
        detectable_paired_mean,
        detectable_paired_proportions,
        detectable_proportion,
        more_items,
        power_paired_mean,
        power_paired_proportions,
        power_proportion,
        sample_size_paired_mean,
        sample_size_paired_proportions,
        sample_size_proportion,
        sample_size_width,
    )
    from calibrant.stats.published import mean, proportion
    from calibrant.stats.randomisation import sign_flip, sign_flip_columns
    from calibrant.stats.resampling import (
        bootstrap,
        bootstrap_bca,
        bootstrap_means,
        bootstrap_table,
        bootstrap_table_bca,
    )
    from calibrant.stats.settling import doubt_of, is_settled

__all__ = [
    "Interval",
    "TestResult",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "bootstrap",
    "bootstrap_bca",
    "bootstrap_means",
    "bootstrap_table",
    "bootstrap_table_bca",
    "clopper_pearson",
    "cohens_d",
    "cohens_h",
    "detectable_paired_mean",
    "detectable_paired_proportions",
    "detectable_proportion",
    "doubt_of",
    "equivalence_t",
    "holm",
    "is_settled",
    "jeffreys",
    "mcnemar",
    "mean",
    "mean_interval",
    "more_items",
    "paired_difference_interval",
    "paired_t",
    "power_paired_mean",
    "power_paired_proportions",
    "power_proportion",
    "proportion",
    "sample_size_paired_mean",
    "sample_size_paired_proportions",
    "sample_size_proportion",
    "sample_size_width",
    "sign_flip",
    "sign_flip_columns",
    "wilcoxon",
    "wilson",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "Interval": "calibrant.stats.intervals",
        "TestResult": "calibrant.stats.paired",
        "benjamini_hochberg": "calibrant.stats.multiplicity",
        "benjamini_yekutieli": "calibrant.stats.multiplicity",
        "bootstrap": "calibrant.stats.resampling",
        "bootstrap_bca": "calibrant.stats.resampling",
        "bootstrap_means": "calibrant.stats.resampling",
        "bootstrap_table": "calibrant.stats.resampling",
        "bootstrap_table_bca": "calibrant.stats.resampling",
        "clopper_pearson": "calibrant.stats.intervals",
        "cohens_d": "calibrant.stats.effects",
        "cohens_h": "calibrant.stats.effects",
        "detectable_paired_mean": "calibrant.stats.power",
        "detectable_paired_proportions": "calibrant.stats.power",
        "detectable_proportion": "calibrant.stats.power",
        "doubt_of": "calibrant.stats.settling",
        "equivalence_t": "calibrant.stats.paired",
        "holm": "calibrant.stats.multiplicity",
        "is_settled": "calibrant.stats.settling",
        "jeffreys": "calibrant.stats.intervals",
        "mcnemar": "calibrant.stats.paired",
        "mean": "calibrant.stats.published",
        "mean_interval": "calibrant.stats.intervals",
        "more_items": "calibrant.stats.power",
        "paired_difference_interval": "calibrant.stats.intervals",
        "paired_t": "calibrant.stats.paired",
        "power_paired_mean": "calibrant.stats.power",
        "power_paired_proportions": "calibrant.stats.power",
        "power_proportion": "calibrant.stats.power",
        "proportion": "calibrant.stats.published",
        "sample_size_paired_mean": "calibrant.stats.power",
        "sample_size_paired_proportions": "calibrant.stats.power",
        "sample_size_proportion": "calibrant.stats.power",
        "sample_size_width": "calibrant.stats.power",
        "sign_flip": "calibrant.stats.randomisation",
        "sign_flip_columns": "calibrant.stats.randomisation",
        "wilcoxon": "calibrant.stats.paired",
        "wilson": "calibrant.stats.intervals",
    },
)
