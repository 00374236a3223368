"""Whether two runs may be compared: what differs in their items and in their instruments, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from calibrant.errors import shortened

if TYPE_CHECKING:
    from calibrant.runs.records import Run
    from calibrant.runs.specification import MetricSpec

__all__ = ["Unlike", "unlikeness"]

SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Unlike:
    """One way in which two runs differ: in their dataset, or in the instrument of a metric."""

    kind: Literal["dataset", "instrument"]
    text: str
    metric: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The difference as JSON has it."""
        return {"kind": self.kind, "metric": self.metric, "text": self.text}


def unlikeness(a: Run, b: Run, metrics: Iterable[str]) -> list[Unlike]:
    """What makes B another measurement than A: empty when items and instruments are the same."""
    found = [] if a.dataset.hash == b.dataset.hash else [Unlike(kind="dataset", text=_items_text(a, b))]
    return found + [unlike for name in metrics if (unlike := _instrument(a, b, name)) is not None]


def _instrument(a: Run, b: Run, name: str) -> Unlike | None:
    first, second = a.metric(name).spec, b.metric(name).spec
    if first.instrument == second.instrument:
        return None
    changes = [*_changes("", _definition(a, first), _definition(b, second))]
    told = "; ".join(changes) or f"{first.instrument[:15]}... and {second.instrument[:15]}..."
    return Unlike(kind="instrument", metric=name, text=f"{name} was measured by another instrument: {told}")


def _items_text(a: Run, b: Run) -> str:
    ids_a, ids_b = [item.id for item in a.items()], [item.id for item in b.items()]
    counts = f"{a.dataset.n} items of {a.dataset.name or 'a'} and {b.dataset.n} of {b.dataset.name or 'b'}"
    only = [(f"only in {run.id}", _beside(own, other)) for run, own, other in ((a, ids_a, ids_b), (b, ids_b, ids_a))]
    told = [
        f"{len(ids)} {where} ({', '.join(ids[:SHOWN])}{', ...' if len(ids) > SHOWN else ''})"
        for where, ids in only
        if ids
    ]
    if not told:
        told = ["their ids are the same, but their inputs (or their order) are not"]
    return f"the runs are about other items: {counts}; {'; '.join(told)}"


def _beside(own: Sequence[str], other: Sequence[str]) -> list[str]:
    known = set(other)
    return [item for item in own if item not in known]


def _definition(run: Run, spec: MetricSpec) -> Mapping[str, Any]:
    """All that makes the instrument; what the run itself says of it where no more was kept."""
    manifest = None if run.keeper is None else run.keeper.manifest(run.id)
    kept = {} if manifest is None else manifest.get("definitions", {})
    return kept.get(spec.parent or spec.name) or {**spec.to_json(), "instrument": None}


def _changes(path: str, a: Any, b: Any) -> Iterator[str]:
    """Each leaf that differs, as `path: from -> to`."""
    if a == b:
        return
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        first, second = cast("Mapping[str, Any]", a), cast("Mapping[str, Any]", b)
        for key in dict.fromkeys([*first, *second]):
            yield from _changes(f"{path}.{key}" if path else str(key), first.get(key), second.get(key))
    elif isinstance(a, list | tuple) and isinstance(b, list | tuple) and len(a) == len(b):
        for place, (one, other) in enumerate(zip(a, b, strict=True)):
            yield from _changes(f"{path}[{place}]", one, other)
    else:
        yield f"{path} {shortened(a)} -> {shortened(b)}"
