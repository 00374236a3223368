"""What a metric is: code that turns an item into a result by asking one or more raters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, overload

from calibrant.aggregation.juries import AggregationMethod, AggregationSelector
from calibrant.errors import InputError, WrongTypeError, shortened, suggestion
from calibrant.fingerprints import fingerprint
from calibrant.items import EvalInput
from calibrant.metrics.fields import field_names, field_specs
from calibrant.metrics.judges import CURRENT_SLOT, SlotJudge, resolve_primary_invoker
from calibrant.metrics.jury import CONCURRENT_ITEMS, Vote, ballot, each, failed_result, result_of
from calibrant.metrics.repeats import repeated_result
from calibrant.metrics.settings import (
    CHECKED_SETTINGS,
    PLAIN_SETTINGS,
    check_quorum,
    checked_item,
    checked_items,
    snake_case,
)
from calibrant.ratings import Failure, MetricResult, Rating

if TYPE_CHECKING:
    from calibrant.models.invoker import BaseLMInvoker, Request

__all__ = ["BaseMetric"]


class BaseMetric(ABC):
    """A metric. Subclass it, name it, and write `_evaluate`, which may ask `self.judge`.

    `required_fields` are the fields without which an item is skipped. A score lies in [0, 1]; it passes at or above
    `threshold`, or at or below it when `higher_is_better` is False. With `strict_mode` only the best score counts as
    it is, every other one as the worst. `models` are its judges: none (the default model, if `_evaluate` asks at
    all), one, or a jury, whose votes `aggregation_method` makes one; `quorum` of them must be valid (more than half
    unless said otherwise), and at most `max_concurrent_judges` are asked at a time. With `batch = True`, `_evaluate`
    takes a list of items and returns a list of scores. With `repeats` above 1 every item is rated so many times over,
    and its result says how much the ratings differ.

    A metric holds no state between items: one instance may serve a thousand tasks at once.

    >>> from calibrant import EvalInput, MetricScore
    >>> class Brief(BaseMetric):
    ...     name = "brief"
    ...     required_fields = {"answer"}
    ...
    ...     async def _evaluate(self, data):
    ...         return MetricScore(1.0 if len(data.answer.split()) <= 5 else 0.0)
    >>> import asyncio
    >>> print(asyncio.run(Brief().evaluate(EvalInput(answer="Yes, until six."))))
    pass 1.000 (>= 0.5)
    """

    name: str = ""
    required_fields: set[str] | frozenset[str] = frozenset()
    input_type: type | None = None
    higher_is_better: bool = True
    strict_mode: bool = False
    max_concurrent_judges: int | None = None
    quorum: int | None = None
    batch: ClassVar[bool] = False
    passing_labels: frozenset[str] = frozenset()
    version: ClassVar[str] = "1"

    _threshold: float = 0.5
    _models: Sequence[BaseLMInvoker] = ()
    _aggregation_method: AggregationSelector | str = AggregationMethod.MAJORITY_VOTE
    _repeats: int = 1
    _instrument: str | None = None

    def __init__(self, *, models: Any = None, model: Any = None, **settings: Any) -> None:
        if models is not None and model is not None:
            raise InputError("pass models= or model=, not both; model=x is models=[x]")
        chosen = models if models is not None else model
        if chosen is not None:
            self.models = chosen
        for name, value in settings.items():
            if not self._is_setting(name):
                known = [one for one in dir(type(self)) if self._is_setting(one)]
                raise WrongTypeError(f"{type(self).__name__} has no setting {name!r}; {suggestion(name, known)}")
            if isinstance(getattr(type(self), name), bool) and not isinstance(value, bool):
                raise WrongTypeError(f"{name} is True or False, not {shortened(value)}")
            setattr(self, name, value)

    @classmethod
    def _is_setting(cls, name: str) -> bool:
        """Whether it may be set: a public attribute of the class that is no method and can be changed."""
        if name.startswith("_") or not hasattr(cls, name):
            return False
        one = getattr(cls, name)
        return not callable(one) and not (isinstance(one, property) and one.fset is None)

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # A class attribute such as `threshold = 0.9` would hide the property that checks it.
        for setting in CHECKED_SETTINGS:
            value = cls.__dict__.get(setting)
            if setting in cls.__dict__ and not isinstance(value, property):
                delattr(cls, setting)
                setattr(cls, f"_{setting}", CHECKED_SETTINGS[setting](value))
        for setting in PLAIN_SETTINGS.keys() & cls.__dict__.keys():
            value = cls.__dict__[setting]
            if not isinstance(value, property):
                setattr(cls, setting, PLAIN_SETTINGS[setting](value))
        if "name" not in cls.__dict__:
            cls.name = snake_case(cls.__name__)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "_instrument":
            object.__setattr__(self, "_instrument", None)
        check = PLAIN_SETTINGS.get(name)
        object.__setattr__(self, name, value if check is None else check(value))

    @property
    def threshold(self) -> float:
        """Where passing begins, in [0, 1]."""
        return self._threshold

    @threshold.setter
    def threshold(self, value: float) -> None:
        self._threshold = CHECKED_SETTINGS["threshold"](value)

    @property
    def models(self) -> list[BaseLMInvoker]:
        """The judges: empty for the default model, one, or a jury; `[m] * 3` asks m three times."""
        return list(self._models)

    @models.setter
    def models(self, value: BaseLMInvoker | str | Sequence[BaseLMInvoker | str] | None) -> None:
        self._models = CHECKED_SETTINGS["models"](value)

    @property
    def aggregation_method(self) -> AggregationSelector | str:
        """How the votes of a jury become one result."""
        return self._aggregation_method

    @aggregation_method.setter
    def aggregation_method(self, value: AggregationSelector | str) -> None:
        self._aggregation_method = CHECKED_SETTINGS["aggregation_method"](value)

    @property
    def repeats(self) -> int:
        """How many times over each item is rated: more than once shows how stable its score is."""
        return self._repeats

    @repeats.setter
    def repeats(self, value: int) -> None:
        self._repeats = CHECKED_SETTINGS["repeats"](value)

    @property
    def num_judges(self) -> int:
        """How many judges vote: the number of models, or 1 when there are none."""
        return len(self._models) or 1

    @property
    def judge(self) -> SlotJudge:
        """The judge to ask, inside `_evaluate`: this slot's own, or the first one outside of an evaluation."""
        slot = CURRENT_SLOT.get()
        return slot.judge if slot is not None else SlotJudge(resolve_primary_invoker(self.models))

    @property
    def instrument(self) -> str:
        """The hash of the measuring device: everything about this metric and its judges that makes scores differ."""
        if self._instrument is None:
            self._instrument = fingerprint(self.definition())
        return self._instrument

    def definition(self) -> dict[str, Any]:
        """What `instrument` hashes. A metric with a prompt, a rubric or a parser adds them here."""
        from calibrant.metrics.instrument import definition_of

        return definition_of(self)

    def estimated_requests(self, item: EvalInput) -> list[Request]:
        """What one judge is asked about `item` for one vote, as far as it is known before anybody answers.

        Empty for a metric that asks nobody, or that does not say.
        """
        del item
        return []

    def preparing_requests(self) -> list[Request]:
        """What `prepare` will ask, once for all items; empty for most metrics, and when it is ready."""
        return []

    def estimated_calls(self, item: EvalInput) -> int:
        """How many calls to models `item` takes: every judge's, in every repeat; 0 when it lacks a field.

        A metric of one's own that has judges and does not say what it asks counts one call a vote.
        """
        if not self.can_evaluate(item):
            return 0
        return max(len(self.estimated_requests(item)), bool(self._models)) * self.num_judges * self.repeats

    async def prepare(self) -> None:  # noqa: B027 - most metrics need nothing
        """Make ready what every item needs, such as generated steps; the instrument is settled then. Asks once."""

    def can_evaluate(self, data: EvalInput) -> bool:
        """Whether the item has every required field."""
        return all(data.get(name) is not None for name in self.required_fields)

    def is_success(self, score: float) -> bool:
        """Whether `score` passes: at or above the threshold, or at or below it when lower is better."""
        score = self.binarised(score) if self.strict_mode else score
        return score >= self.threshold if self.higher_is_better else score <= self.threshold

    def binarised(self, score: float) -> float:
        """`score` as strict mode counts it: the best one stays, any other is the worst."""
        best = 1.0 if self.higher_is_better else 0.0
        return best if score == best else 1.0 - best

    @classmethod
    def get_input_fields(cls) -> list[str] | None:
        """The field names of `input_type`; None when it is not given."""
        return None if cls.input_type is None else field_names(cls.input_type)

    @classmethod
    def get_input_spec(cls) -> list[dict[str, Any]] | None:
        """Name, type and whether it is required for each field of `input_type`; None when it is not given."""
        return None if cls.input_type is None else field_specs(cls.input_type)

    @abstractmethod
    async def _evaluate(self, data: Any) -> Any:
        """The score of one item; the one method to write. With `batch = True`: the scores of a list of items."""

    @overload
    async def evaluate(self, data: EvalInput | Mapping[str, Any]) -> MetricResult: ...
    @overload
    async def evaluate(self, data: Sequence[EvalInput | Mapping[str, Any]]) -> list[MetricResult]: ...
    async def evaluate(self, data: Any) -> Any:
        """The result of one item, or of each item of a list, in its order.

        What goes wrong is in the result as a Failure; one judge's or item's failure does not touch the others.
        """
        if isinstance(data, EvalInput | Mapping):
            return (await self._evaluate_items([checked_item(data)]))[0]
        return await self._evaluate_items(checked_items(data))

    def ratings(self, item: EvalInput, result: MetricResult) -> tuple[Rating, ...]:
        """What to keep of `result`: every vote, and what the jury came to."""
        if len(result.judges) == 1:
            return result.judges
        value = result.label if result.score is None else result.score
        return (
            *result.judges,
            Rating(
                item=item.id,
                criterion=self.name,
                rater=self.rater,
                instrument=self.instrument,
                status=result.status,
                value=value,
                failure=result.error,
                explanation=result.explanation,
                usage=result.usage,
            ),
        )

    @property
    def rater(self) -> str:
        """Who answers: the judge, the jury, or the rule that this metric is."""
        names = [model.name for model in self._models]
        if not names:
            return f"rule:{self.name}"
        return names[0] if len(names) == 1 else f"jury:{'+'.join(names)}"

    async def _evaluate_items(self, items: list[EvalInput]) -> list[Any]:
        check_quorum(self.quorum, self.num_judges)
        if not self.batch:
            return await each(items, self._evaluate_item, limit=CONCURRENT_ITEMS)
        able = [item for item in items if self.can_evaluate(item)]
        slots = await ballot(self, able) if able else []
        voted = {id(item): [votes[place] for votes in slots] for place, item in enumerate(able)}
        return [self._result(one, voted[id(one)]) if id(one) in voted else self._skipped(one) for one in items]

    async def _evaluate_item(self, item: EvalInput) -> Any:
        if not self.can_evaluate(item):
            return self._skipped(item)
        return self._result(item, [votes[0] for votes in await ballot(self, [item])])

    def _result(self, item: EvalInput, votes: list[Vote]) -> MetricResult:
        return (result_of if self.repeats == 1 else repeated_result)(self, item, votes)

    def _skipped(self, item: EvalInput) -> Any:
        return failed_result(self, self._lacking(item))

    def _lacking(self, item: EvalInput) -> Failure:
        lacking = ", ".join(name for name in sorted(self.required_fields) if item.get(name) is None)
        return Failure(code="missing_field", message=f"item {item.id!r} lacks {lacking}, which {self.name} needs")
