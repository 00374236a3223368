"""From ratings to numbers: the outcome of every item on one metric, as arrays, and what they come to."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant.errors import CODES, Status, StoreError
from calibrant.estimates import Coverage, Estimate
from calibrant.metrics.repeats import within_item_variance
from calibrant.ratings import Failure, Rating, Usage
from calibrant.runs.seals import Seal
from calibrant.runs.specification import label_of
from calibrant.runs.summaries import FailureCause, MetricSummary, Spread, UnstableItem
from calibrant.stats import mean, proportion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from calibrant.runs.keeping import Keeper
    from calibrant.runs.records import Run
    from calibrant.runs.specification import MetricSpec

__all__ = ["STATUSES", "Outcomes", "Tallies", "Tally", "outcomes_of", "spread", "tallies_of"]

STATUSES: tuple[Status | None, ...] = (None, "rated", "failed", "skipped", "not_applicable")
"""What the numbers in `Outcomes.statuses` stand for; 0 is an item that nobody came to."""

CODE_NUMBERS = {code: number for number, code in enumerate(CODES, 1)}
LEAST_STABLE = 5
MOST_VALUES = 12
"""So many different scores, or labels, are shown one by one."""
BINS = 20
UNDECIDED, NOT_PASSED, PASSED = -1, 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcomes:
    """Every item's outcome on one metric, in the dataset's order.

    `scores` is NaN where there is none; `passed` is 1, 0, or -1 where nothing says so; `statuses` are places in
    STATUSES. `items` and `clusters` are there when they were asked for; `clusters` is None without clusters.
    """

    items: Sequence[str]
    scores: NDArray[np.float64]
    passed: NDArray[np.int8]
    statuses: NDArray[np.int8]
    clusters: Sequence[str] | None = None


class Tally:
    """Takes the ratings of one metric as they come, in any order of the items, and sums them up.

    What it keeps of an item is eleven bytes, so that a million items fit.
    """

    def __init__(self, spec: MetricSpec, n: int) -> None:
        self.spec = spec
        self.n = n
        self.scores: NDArray[np.float64] = np.full(n, np.nan)
        self.passed: NDArray[np.int8] = np.full(n, UNDECIDED, dtype=np.int8)
        self.statuses: NDArray[np.int8] = np.zeros(n, dtype=np.int8)
        self.unreached = "interrupted"
        self.usage = Usage()
        self.codes: NDArray[np.int8] = np.zeros(n, dtype=np.int8)
        self._examples: dict[str, tuple[int, str, str]] = {}
        self._unstable: list[tuple[float, float, int, UnstableItem]] = []
        self._flips = 0.0
        self._spread = 0.0
        self._voted = 0
        self._labels: Counter[str] = Counter()

    def add(self, position: int, result: Rating, votes: Sequence[Rating] = ()) -> None:
        """Count the result of the item at `position`, and the votes behind it."""
        self.statuses[position] = STATUSES.index(result.status)
        self.codes[position] = 0
        if result.usage is not None:
            self.usage += result.usage
        if result.failure is not None:
            self._count_failure(position, result.item, result.failure)
        elif result.value is not None:
            score, passed = self.spec.outcome(result.value)
            if score is None:
                self._labels[label_of(result.value)] += 1
            self.scores[position] = np.nan if score is None else score
            self.passed[position] = UNDECIDED if passed is None else int(passed)
        if len(votes) > 1:
            self._count_votes(position, votes)

    def outcomes(self, items: Sequence[str] = (), clusters: Sequence[str] | None = None) -> Outcomes:
        """The arrays, with the items' names."""
        return Outcomes(items=items, scores=self.scores, passed=self.passed, statuses=self.statuses, clusters=clusters)

    @property
    def coverage(self) -> Coverage:
        """How many items were rated; those that nobody came to are skipped, as `unreached`."""
        counts = np.bincount(self.statuses, minlength=len(STATUSES)).tolist()
        codes = self._code_counts()
        if counts[0]:
            codes[self.unreached] = codes.get(self.unreached, 0) + counts[0]
        return Coverage(
            rated=counts[1], failed=counts[2], skipped=counts[3] + counts[0], not_applicable=counts[4], codes=codes
        )

    def summary(self, *, level: float = 0.95, clusters: NDArray[Any] | None = None) -> MetricSummary:
        """The metric's summary; with `clusters`, the number of each item's cluster, intervals are cluster-robust."""
        rated = self.statuses == STATUSES.index("rated")
        chosen = None if clusters is None else clusters[rated]
        return MetricSummary(
            spec=self.spec,
            pass_rate=self._pass_rate(rated, level, chosen),
            score=self._score(rated, level, chosen),
            failing_items=int(np.count_nonzero(self.passed[rated] == NOT_PASSED)),
            failures=self._causes(),
            unstable=tuple(entry[-1] for entry in sorted(self._unstable, reverse=True)),
            usage=self.usage,
            flip_rate=self._flips / self._voted if self._voted else None,
            vote_variance=self._spread / self._voted if self._voted else None,
            distribution=self._distribution(rated),
        )

    def _distribution(self, rated: NDArray[np.bool_]) -> Spread:
        if self._labels:
            names, counts = zip(*self._labels.most_common(MOST_VALUES), strict=True)
            return Spread(values=names, counts=counts)
        return spread(self.scores[rated])

    def _pass_rate(self, rated: NDArray[np.bool_], level: float, clusters: Any) -> Estimate:
        passed, coverage = self.passed[rated], self.coverage
        if (passed == UNDECIDED).any():
            reason = "the metric answers with labels, and nothing says which of them pass (passing_labels)"
            return Estimate.missing(reason, method="wilson", coverage=coverage)
        if not len(passed):
            return Estimate.missing("no item was rated", method="wilson", coverage=coverage)
        if clusters is not None:
            return proportion(passed, level=level, coverage=coverage, clusters=clusters)
        return proportion(int((passed == PASSED).sum()), len(passed), level=level, coverage=coverage)

    def _score(self, rated: NDArray[np.bool_], level: float, clusters: Any) -> Estimate:
        scores, coverage = self.scores[rated], self.coverage
        if self._labels:
            return Estimate.missing("the metric answers with labels, not numbers", method="t", coverage=coverage)
        if not len(scores):
            return Estimate.missing("no item was rated", method="t", coverage=coverage)
        if np.isin(scores, (0.0, 1.0)).all():
            # The mean of zeros and ones is a proportion, whose interval stays within 0 and 1.
            return proportion(scores, level=level, coverage=coverage, clusters=clusters)
        return mean(scores, level=level, coverage=coverage, clusters=clusters, scale=(0.0, 1.0))

    def _code_counts(self) -> dict[str, int]:
        counts = np.bincount(self.codes, minlength=len(CODE_NUMBERS) + 1).tolist()
        return {code: counts[number] for code, number in CODE_NUMBERS.items() if counts[number]}

    def _count_failure(self, position: int, item: str, failure: Failure) -> None:
        self.codes[position] = CODE_NUMBERS[failure.code]
        known = self._examples.get(failure.code)
        # The example is the first of the dataset, so that the same run always shows the same one.
        if known is None or position < known[0]:
            self._examples[failure.code] = (position, item, failure.message)

    def _causes(self) -> tuple[FailureCause, ...]:
        ranked = sorted(self._code_counts().items(), key=lambda entry: (-entry[1], entry[0]))
        return tuple(self._cause(code, count) for code, count in ranked)

    def _cause(self, code: str, count: int) -> FailureCause:
        position, item, message = self._examples[code]
        return FailureCause(code=code, count=count, item=item, message=message, number=position + 1)

    def _count_votes(self, position: int, votes: Sequence[Rating]) -> None:
        outcomes = [self.spec.outcome(vote.value) for vote in votes if vote.value is not None]
        scores = [outcome.score for outcome in outcomes if outcome.score is not None]
        if len(scores) < 2:
            return
        passed, n = sum(bool(outcome.passed) for outcome in outcomes), len(outcomes)
        flip = 2 * passed * (n - passed) / (n * (n - 1))
        self._flips += flip
        self._spread += within_item_variance(scores) or 0.0
        self._voted += 1
        if min(scores) == max(scores):
            return
        item = UnstableItem(
            item=votes[0].item, votes=len(scores), lowest=min(scores), highest=max(scores), passed=passed
        )
        entry = (flip, item.spread, -position, item)
        (heapq.heappush if len(self._unstable) < LEAST_STABLE else heapq.heappushpop)(self._unstable, entry)


class Tallies:
    """The tallies of all metrics of a run, also of those outputs that are known only when they come."""

    def __init__(self, specs: Iterable[MetricSpec], n: int) -> None:
        self.n = n
        self.unreached = "interrupted"
        self.specs = {spec.name: spec for spec in specs}
        self.clusters: NDArray[np.int64] = np.full(n, -1, dtype=np.int64)
        self.seal = Seal()
        self._by_name: dict[str, Tally] = {}
        self._failed: dict[str, dict[int, Rating]] = {}
        self._cluster_codes: dict[str, int] = {}

    def place(self, position: int, cluster: str | None) -> None:
        """Note which cluster the item at `position` belongs to."""
        if cluster is not None:
            self.seal.place(position, cluster)
            self.clusters[position] = self._cluster_codes.setdefault(cluster, len(self._cluster_codes))

    @property
    def has_clusters(self) -> bool:
        """Whether items belong to clusters."""
        return bool(self._cluster_codes)

    def add(self, position: int, ratings: Iterable[Rating]) -> None:
        """Count the ratings of one item; the votes of a metric stand before its result."""
        votes: list[Rating] = []
        for rating in ratings:
            self.seal.add(position, rating)
            if rating.role == "vote":
                votes.append(rating)
                continue
            tally = self._tally(rating.criterion)
            if tally is None:
                self._failed.setdefault(rating.criterion, {})[position] = rating
            else:
                tally.add(position, rating, votes)
            votes = []

    def summaries(self, *, level: float) -> tuple[MetricSummary, ...]:
        """One summary a metric, in the order of the metrics."""
        clusters = self.clusters if self.has_clusters else None
        return tuple(tally.summary(level=level, clusters=clusters) for tally in self.settled())

    def settled(self) -> list[Tally]:
        """The tallies in the order of the metrics. An item on which a metric failed failed on each of its outputs."""
        found: list[Tally] = []
        for name, spec in self.specs.items():
            parts = [tally for tally in self._by_name.values() if name in {tally.spec.name, tally.spec.parent}]
            parts = parts or [self._by_name.setdefault(name, Tally(spec, self.n))]
            for tally in parts:
                for position, rating in self._failed.get(name, {}).items():
                    tally.add(position, rating)
                tally.unreached = self.unreached
            found += parts
        return found

    def _tally(self, criterion: str) -> Tally | None:
        """The tally of a criterion; None for the failure of a metric with several outputs, which is all of theirs."""
        known = self._by_name.get(criterion)
        if known is None:
            spec = self.specs.get(criterion)
            if spec is None:
                parent, _, name = criterion.partition("/")
                spec = self.specs[parent].part(name)
            elif spec.has_parts:
                return None
            known = self._by_name[criterion] = Tally(spec, self.n)
        return known


def spread(scores: NDArray[np.float64]) -> Spread:
    """The distribution of scores from 0 to 1: each value where there are few, else bins.

    >>> spread(np.array([1.0, 0.5, 1.0])).counts
    (1, 2)
    """
    values, counts = np.unique(scores, return_counts=True)
    if len(values) <= MOST_VALUES:
        return Spread(values=tuple(values.tolist()), counts=tuple(counts.tolist()))
    binned, edges = np.histogram(scores, bins=BINS, range=(0.0, 1.0))
    middles = ((edges[:-1] + edges[1:]) / 2).round(6)
    return Spread(values=tuple(middles.tolist()), counts=tuple(binned.tolist()), width=1.0 / BINS)


def tallies_of(run: str, keeper: Keeper, specs: Iterable[MetricSpec], n: int) -> Tallies:
    """The tallies of a run that was kept, counted anew from its ratings."""
    tallies, places = Tallies(specs, n), dict[str, int]()
    for kept in keeper.items(run):
        places[kept.item.id] = kept.position
        tallies.place(kept.position, kept.cluster)
    for item, ratings in groupby(keeper.ratings(run), key=attrgetter("item")):
        tallies.add(_place(places, item, run), ratings)
    return tallies


def outcomes_of(run: Run, spec: MetricSpec) -> Outcomes:
    """Every item's outcome on one metric of a run, from the ratings that were kept; items not reached are left out."""
    if run.keeper is None:
        return Tally(spec, 0).outcomes()
    kept = list(run.keeper.items(run.id))
    places = {record.item.id: place for place, record in enumerate(kept)}
    tally = Tally(spec, len(kept))
    for criterion in dict.fromkeys([spec.parent or spec.name, spec.name]):
        for rating in run.keeper.ratings(run.id, criterion):
            if rating.role == "result":
                tally.add(_place(places, rating.item, run.id), rating)
    has_clusters = any(record.cluster is not None for record in kept)
    return tally.outcomes([*places], [record.cluster or "" for record in kept] if has_clusters else None)


def _place(places: Mapping[str, int], item: str, run: str) -> int:
    """Where an item stands in the dataset. An item that was taken from the store is damage, and is named."""
    if item not in places:
        raise StoreError(f"run {run!r} holds ratings of item {item!r}, but not the item; `calibrant verify` lists all")
    return places[item]
