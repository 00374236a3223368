"""People's judgments of relevance: collected, checked for agreement, turned into datasets and qrels."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import floor, fsum
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from calibrant.errors import InputError, UnknownNameError, WrongTypeError, shortened
from calibrant.items import identifier
from calibrant.retrieval.ab_testing import EvaluationDataset, EvaluationSample
from calibrant.retrieval.context import DocumentId
from calibrant.retrieval.human_qrels import qrels_grades, trec_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from calibrant.estimates import Estimate

__all__ = ["HumanEvaluationCollector", "HumanJudgment"]

HIGHEST = 3
"""The highest relevance that a judgment may have; the lowest is 0."""

RepeatPolicy = Literal["last", "first", "error"]


class HumanJudgment(BaseModel):
    """How relevant one annotator finds one document for one query, from 0 (not) to 3 (fully)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str
    item_id: DocumentId
    relevance: Annotated[int, Field(ge=0, le=HIGHEST)]
    annotator: Annotated[str, BeforeValidator(lambda value: identifier(value, "annotator"))]
    metadata: dict[str, Any] = Field(default_factory=dict)


class HumanEvaluationCollector:
    """Collects judgments of (query, document) pairs by any number of annotators.

    When an annotator judges a pair again, `on_repeat` says which judgment counts: "last" (people correct themselves),
    "first", or "error", which refuses the second. All that were accepted stay in `judgments`.

    >>> collector = HumanEvaluationCollector()
    >>> collector.add_judgment(HumanJudgment(query="q", item_id="d1", relevance=3, annotator="kim"))
    >>> collector.add_judgment(HumanJudgment(query="q", item_id="d1", relevance=2, annotator="lee"))
    >>> collector.to_dataset().samples[0].relevant_ids
    ['d1']
    """

    def __init__(self, *, on_repeat: RepeatPolicy = "last") -> None:
        if on_repeat not in {"last", "first", "error"}:
            raise UnknownNameError.among("policy on_repeat", on_repeat, ["last", "first", "error"])
        self.on_repeat: RepeatPolicy = on_repeat
        self._judgments: list[HumanJudgment] = []
        self._counting: dict[tuple[str, str], dict[str, int]] = {}

    @property
    def judgments(self) -> list[HumanJudgment]:
        """A copy of all judgments, in the order in which they came."""
        return list(self._judgments)

    def add_judgment(self, judgment: HumanJudgment) -> None:
        """Add one judgment."""
        self.add_judgments([judgment])

    def add_judgments(self, judgments: Iterable[HumanJudgment]) -> None:
        """Add several judgments: all of them, or none when one is refused."""
        added = list(judgments)
        self._refuse(added)
        for one in added:
            raters = self._counting.setdefault((one.query, one.item_id), {})
            if self.on_repeat != "first" or one.annotator not in raters:
                raters[one.annotator] = one.relevance
        self._judgments.extend(added)

    def compute_agreement(self) -> float:
        """Cohen's kappa over the pairs that two annotators judged; the mean of all pairs of annotators when more.

        Annotators who judged nothing in common are left out; 0.0 when nobody did. It does not depend on the order in
        which judgments came. Two annotators who both gave one and the same grade throughout agree fully: 1.0.
        """
        kappas = [cohens_kappa(pairs) for pairs in self._shared().values()]
        return fsum(kappas) / len(kappas) if kappas else 0.0

    def to_dataset(self, threshold: int = 2) -> EvaluationDataset:
        """The judged queries, each with the documents whose mean relevance is at least `threshold`.

        A query without any such document stays in the dataset, with no relevant ids.
        """
        if not 0 <= threshold <= HIGHEST:
            raise InputError(f"threshold is a relevance from 0 to {HIGHEST}, not {shortened(threshold)}")
        relevant: dict[str, list[str]] = {}
        for (query, item), raters in self._counting.items():
            found = relevant.setdefault(query, [])
            if sum(raters.values()) >= threshold * len(raters):
                found.append(item)
        samples = [EvaluationSample(query=query, relevant_ids=ids) for query, ids in relevant.items()]
        return EvaluationDataset(samples=samples, metadata={"threshold": threshold, "on_repeat": self.on_repeat})

    def compute_metrics(self) -> dict[str, float]:
        """Mean relevance, agreement, and the numbers of judgments, annotators and queries; all 0 when there are none.

        A repeated judgment is in `num_judgments`; in the mean is only the one that counts.
        """
        grades = [grade for raters in self._counting.values() for grade in raters.values()]
        return {
            "mean_relevance": sum(grades) / len(grades) if grades else 0.0,
            "agreement": self.compute_agreement(),
            "num_judgments": len(self._judgments),
            "num_annotators": len({one.annotator for one in self._judgments}),
            "num_queries": len({one.query for one in self._judgments}),
        }

    def to_qrels(self) -> dict[str, dict[str, int]]:
        """The judgments as qrels: query to document to grade, the mean of its annotators rounded down.

        Rounded down, the documents of at least grade 2 are those that `to_dataset(threshold=2)` finds relevant.
        """
        qrels: dict[str, dict[str, int]] = {}
        for (query, item), raters in self._counting.items():
            qrels.setdefault(query, {})[item] = floor(sum(raters.values()) / len(raters))
        return qrels

    def to_trec(self, query_ids: Mapping[str, str] | None = None) -> str:
        """The qrels as TREC text; queries whose text has white space get their ids from `query_ids`."""
        return trec_text(self.to_qrels(), query_ids)

    def add_qrels(self, qrels: Any, annotator: str = "qrels") -> None:
        """Add the judgments of qrels, as those of `annotator`.

        Qrels are a TREC file, a dict of dicts, or whatever `Qrels.of` takes. A grade that no judgment can
        have, such as TREC's -1, is refused.
        """
        self.add_judgments(
            HumanJudgment(query=query, item_id=document, relevance=grade, annotator=annotator)
            for query, document, grade in qrels_grades(qrels, HIGHEST)
        )

    def agreement(
        self,
        *,
        level: float = 0.95,
        resamples: int = 10_000,
        seed: int = 0,
        clusters: Literal["query"] | None = None,
    ) -> dict[str, Estimate]:
        """Cohen's kappa, the weighted kappa (quadratic) and Krippendorff's alpha (ordinal), with bootstrap intervals.

        The kappas are means over the pairs of annotators, alpha is over all. What is resampled are the judged pairs of
        query and document, or with `clusters="query"` whole queries, since a query's documents are judged alike. What
        cannot be estimated says why.
        """
        from calibrant.agreement import RatingCube, Resampling, krippendorff_alpha, mean_pairwise_kappa

        cube = RatingCube.of(self._answers(), clusters=self._queries() if clusters == "query" else None)
        scale = tuple(range(HIGHEST + 1))
        resampling = Resampling(level=level, resamples=resamples, seed=seed)
        return {
            "kappa": mean_pairwise_kappa(cube, resampling=resampling),
            "weighted_kappa": mean_pairwise_kappa(cube, weights="quadratic", order=scale, resampling=resampling),
            "alpha": krippendorff_alpha(cube, metric="ordinal", order=scale, resampling=resampling),
        }

    def _answers(self) -> dict[str, dict[int, int]]:
        """The grades of each annotator, in alphabetical order, by the number of the judged pair."""
        answers: dict[str, dict[int, int]] = {
            who: {} for who in sorted({who for raters in self._counting.values() for who in raters})
        }
        for number, pair in enumerate(sorted(self._counting)):
            for who, grade in self._counting[pair].items():
                answers[who][number] = grade
        return answers

    def _queries(self) -> dict[int, str]:
        return {number: query for number, (query, _) in enumerate(sorted(self._counting))}

    def _refuse(self, added: Sequence[Any]) -> None:
        seen = {(query, item, who) for (query, item), raters in self._counting.items() for who in raters}
        problems: list[str] = []
        for row, one in enumerate(added, start=1):
            if not isinstance(one, HumanJudgment):
                raise WrongTypeError(f"judgment {row}: expected a HumanJudgment, got {shortened(one)}")
            key = (one.query, one.item_id, one.annotator)
            if self.on_repeat == "error" and key in seen:
                problems.append(f"judgment {row}: {one.annotator!r} judged {one.item_id!r} for {one.query!r} before")
            seen.add(key)
        if problems:
            raise InputError.gathered("the judgments (on_repeat='error')", problems)

    def _shared(self) -> dict[tuple[str, str], list[tuple[int, int]]]:
        """For every two annotators, in alphabetical order, their grades of what both judged."""
        shared: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for raters in self._counting.values():
            for first, second in combinations(sorted(raters), 2):
                shared.setdefault((first, second), []).append((raters[first], raters[second]))
        return shared


def cohens_kappa(pairs: Sequence[tuple[int, int]]) -> float:
    """Cohen's kappa (1960) of two raters' grades: (p_o - p_e) / (1 - p_e); 1.0 when both are constant and equal."""
    n = len(pairs)
    first, second = Counter(one for one, _ in pairs), Counter(two for _, two in pairs)
    # In whole numbers, so that equal tables give equal kappas whatever the order of the pairs.
    agreed = n * sum(one == two for one, two in pairs)
    expected = sum(first[grade] * second[grade] for grade in first)
    return 1.0 if expected == n * n else (agreed - expected) / (n * n - expected)
