"""Two raters as plain sequences: one function for each statistic.

Every function takes two sequences of equal length, in which None is missing, and `clusters`, the document or customer
of each item, where items share some. The first sequence is the truth where it matters which one is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from calibrant.agreement.encoding import answer_column, encoded, encoded_values
from calibrant.agreement.measures import Measure
from calibrant.agreement.pairs import Pair, score
from calibrant.agreement.published import Resampling
from calibrant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.agreement.published import Coefficient
    from calibrant.ratings import Value

    Answers = Sequence[Any]

__all__ = [
    "accuracy",
    "balanced_accuracy",
    "cohens_kappa",
    "f1",
    "gwet_ac1",
    "gwet_ac2",
    "kendall_tau",
    "matthews",
    "precision",
    "recall",
    "spearman",
]

DEFAULT = Resampling()


def accuracy(
    truth: Answers, rated: Answers, *, clusters: Answers | None = None, resampling: Resampling = DEFAULT
) -> Coefficient:
    """The share of items on which both are equal; sets of labels are compared as wholes.

    >>> print(accuracy(["yes", "no", "yes", None], ["yes", "no", "no", "no"]))
    0.667 [0.177, 0.961] n=3, 1 skipped
    """
    return _scored(truth, rated, Measure(name="accuracy"), clusters, resampling)


def precision(
    truth: Answers,
    rated: Answers,
    *,
    positive: Value | None = None,
    average: str = "macro",
    clusters: Answers | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """The share of answers `positive` that are right, or its average over all answers.

    Its interval is a proportion's. If nothing was rated `positive`, there is a reason instead.

    >>> print(precision([1, 1, 0, 0], [1, 1, 1, 0], positive=1))
    0.667 [0.177, 0.961] n=4
    """
    return _scored(truth, rated, _of_class("precision", positive, average), clusters, resampling)


def recall(
    truth: Answers,
    rated: Answers,
    *,
    positive: Value | None = None,
    average: str = "macro",
    clusters: Answers | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """The share of items that are `positive` in truth and were rated so, or its average over all answers.

    >>> recall([0, 0], [1, 0], positive=1).reason
    'nothing is 1 in truth, so there is no share of it that was found'
    """
    return _scored(truth, rated, _of_class("recall", positive, average), clusters, resampling)


def f1(
    truth: Answers,
    rated: Answers,
    *,
    positive: Value | None = None,
    average: str = "macro",
    clusters: Answers | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """The harmonic mean of precision and recall, of `positive` or averaged over all answers.

    >>> round(f1([1, 1, 0, 0], [1, 1, 1, 0], positive=1).value, 3)
    0.8
    """
    return _scored(truth, rated, _of_class("f1", positive, average), clusters, resampling)


def balanced_accuracy(
    truth: Answers, rated: Answers, *, clusters: Answers | None = None, resampling: Resampling = DEFAULT
) -> Coefficient:
    """The mean recall over the answers that occur in truth.

    >>> round(balanced_accuracy([1, 1, 1, 0], [1, 1, 0, 0]).value, 4)
    0.8333
    """
    return _scored(truth, rated, Measure(name="balanced_accuracy"), clusters, resampling)


def matthews(
    truth: Answers, rated: Answers, *, clusters: Answers | None = None, resampling: Resampling = DEFAULT
) -> Coefficient:
    """Matthews' correlation of two classifications; a constant rater gives a reason, since nothing can correlate.

    >>> round(matthews([1, 1, 1, 0], [1, 0, 1, 1]).value, 4)
    -0.3333
    """
    return _scored(truth, rated, Measure(name="matthews"), clusters, resampling)


def cohens_kappa(
    first: Answers,
    second: Answers,
    *,
    weights: Literal["linear", "quadratic"] | None = None,
    order: Sequence[Value] | None = None,
    clusters: Answers | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """Cohen's kappa (1960), or the weighted one (1968), by the places of the answers on their scale.

    Labels have no order of their own, so weights need `order`, from low to high. Two constant, equal raters agree
    perfectly.

    >>> kappa = cohens_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    >>> kappa.value, kappa.observed, kappa.expected
    (0.5, 0.75, 0.5)
    """
    return _scored(first, second, Measure(name="kappa", weights=weights, order=order), clusters, resampling)


def gwet_ac1(
    first: Answers, second: Answers, *, clusters: Answers | None = None, resampling: Resampling = DEFAULT
) -> Coefficient:
    """Gwet's AC1 (2008): agreement beyond chance that does not collapse when one answer is rare.

    >>> round(gwet_ac1([1] * 9 + [0], [1] * 9 + [1]).value, 3)
    0.89
    """
    return _scored(first, second, Measure(name="ac1"), clusters, resampling)


def gwet_ac2(
    first: Answers,
    second: Answers,
    *,
    weights: Literal["linear", "quadratic"] = "quadratic",
    order: Sequence[Value] | None = None,
    clusters: Answers | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """Gwet's AC2 (2014): AC1 in which near answers count in part.

    >>> round(gwet_ac2([1, 2, 3, 3], [1, 2, 3, 2], weights="linear").value, 3)
    0.724
    """
    return _scored(first, second, Measure(name="ac2", weights=weights, order=order), clusters, resampling)


def spearman(
    first: Answers,
    second: Answers,
    *,
    order: Sequence[Value] | None = None,
    clusters: Answers | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """Spearman's rank correlation; ties share their mean rank.

    >>> round(spearman([1, 2, 3, 4], [1, 2, 4, 3]).value, 3)
    0.8
    """
    return _scored(first, second, Measure(name="spearman", order=order), clusters, resampling)


def kendall_tau(
    first: Answers,
    second: Answers,
    *,
    order: Sequence[Value] | None = None,
    clusters: Answers | None = None,
    resampling: Resampling = DEFAULT,
) -> Coefficient:
    """Kendall's tau-b: concordant less discordant pairs, over the pairs that are not tied.

    >>> round(kendall_tau([1, 2, 3, 4], [1, 2, 4, 3]).value, 3)
    0.667
    """
    return _scored(first, second, Measure(name="kendall", order=order), clusters, resampling)


def pair_of(first: Answers, second: Answers, clusters: Answers | None = None) -> Pair:
    """The pair of two sequences of answers."""
    first, second = list(first), list(second)
    if len(first) != len(second):
        raise InputError(
            f"both raters answer the same items in the same order, but gave {len(first)} and {len(second)}"
        )
    column = encoded_values(answer_column([*first, *second]))
    shared = None
    if clusters is not None:
        codes = encoded(list(clusters)).codes
        if len(codes) != len(first) or (codes < 0).any():
            raise InputError(f"clusters name one for each of the {len(first)} items")
        shared = codes
    return Pair(
        truth=column.codes[: len(first)], rated=column.codes[len(first) :], values=column.values, clusters=shared
    )


def _of_class(name: str, positive: Value | None, average: str) -> Measure:
    return Measure(name=name, positive=positive, average=average)


def _scored(
    first: Answers, second: Answers, measure: Measure, clusters: Answers | None, resampling: Resampling
) -> Coefficient:
    return score(pair_of(first, second, clusters), measure, resampling)
