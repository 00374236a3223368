"""A report held against its ratings: every number worked out anew, offline, and every row against its checksum."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from calibrant.errors import InputError
from calibrant.items import ItemDigest
from calibrant.runs.records import Run
from calibrant.runs.recounting import recounted
from calibrant.runs.references import kept
from calibrant.runs.verification import TOLERANCE, Difference, Verification, is_alike
from calibrant.runs.votes_checked import VotesCheck

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from calibrant.runs.keeping import Keeper
    from calibrant.runs.recounting import Recount

__all__ = ["verify"]

COUNTED_LIVE = ("usage", "spending", "system", "canaries")
"""Parts of a report that were counted while it ran, of calls that are not among the ratings."""


def verify(
    run: Run | str | Path, *, baseline: Run | str | Path | None = None, workspace: str | Path = ".calibrant"
) -> Verification:
    """The report of a run held against its ratings: a run of the workspace, or an exported file.

    Every row is held against its checksum, the ratings against their seal, results against the votes that they were
    made of, and the numbers, gates and warnings of the report against what they come to now. Nobody is asked.
    `baseline` is what gates were held against, when it is not in the same workspace.

    >>> from calibrant.runs import run
    >>> def brief(item):
    ...     return len(item.answer.split()) <= 3
    >>> verify(run([{"answer": "Until six."}], [brief])).is_ok
    True
    """
    if not isinstance(run, Run):
        return _verification(*kept(run, workspace=workspace), baseline)
    if run.keeper is None:
        raise InputError(f"the ratings of {run.id} are not there any more; open it again with reopened()")
    return _verification(run.keeper, run.id, baseline)


def _verification(keeper: Keeper, run: str, baseline: Run | str | Path | None) -> Verification:
    manifest = keeper.manifest(run) or {}
    if not manifest.get("report"):
        raise InputError(f"{run} has no report: it has not ended; the same `calibrant run` goes on with it")
    damaged = _damaged(keeper, run)
    if damaged:
        return Verification(run=run, checked=0, ratings=0, damaged=damaged)
    count = recounted(keeper, run, baseline=baseline)
    votes = VotesCheck(keeper, run)
    reported, found = _comparable(manifest["report"], count), _comparable(count.run.to_json(), count)
    differences = [*_seal(manifest, count), *_items(keeper, manifest, run), *votes.differences()]
    differences += [*_usage(manifest["report"], count), *_differences("", reported, found)]
    return Verification(
        run=run,
        checked=_leaves(found),
        ratings=votes.ratings,
        differences=tuple(differences),
        unchecked=(*_unchecked(manifest, count), *votes.unchecked),
    )


def _damaged(keeper: Keeper, run: str) -> tuple[str, ...]:
    """What of this run, and of the calls that it rests on, is not as its checksum says, and items that are gone."""
    found = [] if keeper.workspace is None else keeper.workspace.check(run)
    calls = {text.removeprefix("call ") for text in found if text.startswith("call ")}
    others = [text for text in found if not text.startswith("call ")]
    if others:
        # Where ratings are damaged, nobody can say which calls they rest on.
        return tuple(others)
    known = {kept_item.item.id for kept_item in keeper.items(run)}
    used, lost = set[str](), dict[str, None]()
    for rating in keeper.ratings(run):
        used.update(rating.call_keys)
        if rating.item not in known:
            lost[rating.item] = None
    gone = [f"item {item!r}, of which there are ratings, is missing" for item in lost]
    return (*(f"call {key}" for key in sorted(calls & used)), *gone)


def _seal(manifest: Mapping[str, Any], count: Recount) -> Iterator[Difference]:
    sealed = manifest.get("seal")
    if sealed is not None and sealed != count.seal:
        yield Difference(where="the seal over all ratings", reported=sealed[:27], found=count.seal[:27])


def _items(keeper: Keeper, manifest: Mapping[str, Any], run: str) -> Iterator[Difference]:
    """Whether the kept items are those of the dataset, where all of them are kept as they were read."""
    dataset, digest = manifest["dataset"], ItemDigest()
    if keeper.workspace is None or manifest.get("system") is not None:
        return
    for kept_item in keeper.items(run):
        if kept_item.item.to_json().keys() == {"id"}:
            return
        digest.add(kept_item.item)
    if digest.n == dataset["n"] and digest.contents != dataset["contents"]:
        yield Difference(where="the items", reported=dataset["contents"], found=digest.contents)


def _comparable(report: Mapping[str, Any], count: Recount) -> dict[str, Any]:
    """What of a report can be held against another: by metric and by gate, without what could not be worked out."""
    told: dict[str, Any] = {name: part for name, part in report.items() if name not in COUNTED_LIVE}
    told["metrics"] = {
        one["name"]: {
            name: part
            for name, part in one.items()
            if name != "corrected_pass_rate" or one["name"] not in count.open_corrections
        }
        for one in report["metrics"]
    }
    told["gates"] = {gate["gate"]: gate for gate in report["gates"] if gate["gate"] not in count.open_gates}
    for name, is_open in (("exit_code", count.open_gates), ("warnings", count.open_corrections)):
        if is_open:
            told.pop(name)
    return json.loads(json.dumps(told))


def _differences(path: str, reported: Any, found: Any) -> Iterator[Difference]:
    """Each leaf that differs, by its path."""
    if isinstance(reported, dict) and isinstance(found, dict):
        first, second = cast("dict[str, Any]", reported), cast("dict[str, Any]", found)
        for key in dict.fromkeys([*first, *second]):
            yield from _differences(f"{path}, {key}" if path else key, first.get(key), second.get(key))
    elif isinstance(reported, list) and isinstance(found, list) and len(reported) == len(found):
        for place, (one, other) in enumerate(zip(reported, found, strict=True)):
            yield from _differences(f"{path}[{place}]", one, other)
    elif not is_alike(reported, found):
        yield Difference(where=path, reported=reported, found=found)


def _leaves(value: Any) -> int:
    """How many entries there are in JSON, however deep."""
    if isinstance(value, dict):
        return sum(map(_leaves, value.values()))
    return sum(map(_leaves, value)) if isinstance(value, list) else 1


def _usage(report: Mapping[str, Any], count: Recount) -> Iterator[Difference]:
    """Where the run says that it took less than its ratings alone did. It may have taken more: calls fail too."""
    found = count.run.usage.to_json()
    for name, reported in report["usage"].items():
        if reported is not None and found[name] is not None and reported < found[name] * (1 - TOLERANCE):
            yield Difference(where=f"usage, {name}", reported=reported, found=found[name])


def _unchecked(manifest: Mapping[str, Any], count: Recount) -> Iterator[str]:
    report, found = manifest["report"], count.run.usage.to_json()
    if not all(is_alike(report["usage"][name], found[name]) for name in found):
        more = report["usage"]["calls"] - found["calls"]
        yield f"usage: {more} calls that no rating accounts for, such as calls that failed, were counted as it ran"
    yield from (f"{name}: counted while it ran" for name in ("system", "canaries") if report.get(name))
    if manifest.get("modes"):
        yield "warnings on how votes were scored: counted while it ran"
    if "seal" not in manifest:
        yield "the seal: this run was kept without one"
    for gate, reason in count.open_gates.items():
        yield f"gate {gate}: {reason}"
    for name in sorted(count.open_corrections):
        yield f"{name}, corrected pass rate: the labels that it rests on were not kept with the run"
