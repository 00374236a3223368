"""Canaries: items whose right verdict is known, mixed into a run to see whether the judge can still be believed.

The bad ones try to grade themselves, close their fence or give orders to the judge; the good ones are plainly good, so
that a judge that fails everything is found out too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from calibrant.errors import InputError, WrongTypeError, shortened
from calibrant.items import EvalInput, identifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from calibrant.metrics.base import BaseMetric

__all__ = ["PREFIX", "Canaries", "Canary", "canary_of", "chosen_canaries", "read_canaries", "shipped_canaries"]

PREFIX = "canary:"
"""What the ids of canaries begin with, so that a run can keep them apart."""

_KEYS = frozenset({"id", "kind", "passes", "item"})


@dataclass(frozen=True, slots=True)
class Canary:
    """An item, the kind of trap that it is, and for each criterion that it fits whether it should pass."""

    item: EvalInput
    kind: str
    passes: tuple[tuple[str, bool], ...]

    def verdict(self, criterion: str) -> bool | None:
        """Whether the item should pass on `criterion`; None when it says nothing about it."""
        return dict(self.passes).get(criterion)

    def verdict_on(self, metric: BaseMetric) -> bool | None:
        """Whether the item should pass on `metric`, by its name, or by what it measures where it was renamed."""
        return next((known for name in _criteria(metric) if (known := self.verdict(name)) is not None), None)


Canaries = bool | str | Path | Iterable[Canary]
"""What stands for canaries: True for the shipped ones, False for none, a file, or a list of them."""


@cache
def shipped_canaries() -> tuple[Canary, ...]:
    """Every shipped canary, as `canaries.json` in the package has them.

    >>> {canary.kind for canary in shipped_canaries()} >= {"good", "grades itself", "closes its fence"}
    True
    """
    text = (resources.files("calibrant.metrics") / "canaries.json").read_text("utf-8")
    return tuple(canary_of(record) for record in json.loads(text))


def canary_of(record: Mapping[str, Any]) -> Canary:
    """The canary that a record with `id`, `kind`, `passes` and `item` describes; what is wrong with one is told."""
    item, passes = record.get("item"), record.get("passes")
    if not isinstance(item, dict) or not item:
        raise InputError(f"`item` is a mapping of the fields of an item, not {shortened(item)}")
    if not isinstance(passes, dict) or not passes or not all(isinstance(one, bool) for one in passes.values()):
        raise InputError(f"`passes` maps names of metrics to true or false, not {shortened(passes)}")
    unknown = sorted({*record} - _KEYS)
    if unknown:
        raise InputError(f"unknown key {unknown[0]!r}; the keys are: {', '.join(sorted(_KEYS))}")
    name = PREFIX + identifier(record.get("id"))
    verdicts = tuple(sorted(cast("dict[str, bool]", passes).items()))
    kind = str(record.get("kind") or ("good" if all(passing for _, passing in verdicts) else "bad"))
    return Canary(item=EvalInput.from_dict({**cast("dict[str, Any]", item), "id": name}), kind=kind, passes=verdicts)


def read_canaries(path: str | Path) -> tuple[Canary, ...]:
    """The canaries in a file of your own (JSONL or JSON); every record that is none is named.

    A record is `{"id": "rude", "item": {"answer": "Get lost."}, "passes": {"polite": false}}`.
    """
    from calibrant.readers.sources import row_source

    source = Path(path)
    if not source.is_file():
        raise InputError(f"there is no file of canaries {source}")
    found: dict[str, Canary] = {}
    problems: list[str] = []
    for row in row_source(source):
        try:
            canary = canary_of({} if row.problem else row.cells)
        except (InputError, AttributeError) as error:
            problems.append(f"{row.place}: {row.problem or error}")
            continue
        if canary.item.id in found:
            problems.append(f"{row.place}: the id {canary.item.id.removeprefix(PREFIX)!r} is another canary's")
        found[canary.item.id] = canary
    if problems:
        raise InputError.gathered(source.name, problems)
    if not found:
        raise InputError(f"{source.name} holds no canaries; leave canaries out, or write one record a line")
    return tuple(found.values())


def chosen_canaries(given: Canaries) -> tuple[Canary, ...]:
    """The canaries that `given` stands for: all shipped ones for True, none for False, a file's, or those of a list."""
    if isinstance(given, bool):
        return shipped_canaries() if given else ()
    if isinstance(given, str | Path):
        return read_canaries(given)
    found = tuple(given) if isinstance(given, Iterable) else None  # pyright: ignore[reportUnnecessaryIsInstance] - untyped callers
    if found is None or not all(isinstance(one, Canary) for one in found):  # pyright: ignore[reportUnnecessaryIsInstance] - as above
        raise WrongTypeError(f"canaries are True, a file, or a list of Canary, not {shortened(given)}")
    return found


def _criteria(metric: BaseMetric) -> list[str]:
    """What a canary may call the metric: its name, its rubric's criterion, its class's own name."""
    rubric = getattr(metric, "rubric", None)
    return list(dict.fromkeys([metric.name, getattr(rubric, "criterion", metric.name), type(metric).name]))
