"""The plan: a YAML file that says what is rated, by whom, within which budget; every problem with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from calibrant.errors import InputError, suggestion
from calibrant.readers.schema import Finding, findings, line_of, prune

__all__ = ["DatasetEntry", "MetricEntry", "ModelEntry", "Plan", "plan_schema", "read_plan", "surveyed_plan"]

SETTLING = ("dataset", "metrics", "models", "judges", "system", "baseline")
"""Where one of these is not written as it should be, much else would seem wrong that is not."""

TABLES = frozenset({".csv", ".tsv", ".jsonl", ".ndjson", ".parquet"})
"""Endings of files that hold items; a plan may be called anything else, also .json, which is YAML."""

LIMITS = frozenset({"requests_per_minute", "tokens_per_minute", "concurrency"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetEntry:
    """Where the items are, which column holds which field, and which says the cluster."""

    path: Path
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    cluster: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A model as the plan names it: `options` are those of `connect`, `limits` what it may be asked."""

    name: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricEntry:
    """A metric as the plan names it, the judges it names itself, its settings, and its line."""

    name: str
    rubric: Path | None = None
    function: str | None = None
    judges: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    line: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A plan that was read and checked. Its paths are resolved against `folder`, the one that it stands in."""

    path: Path
    name: str
    dataset: DatasetEntry
    metrics: tuple[MetricEntry, ...]
    system: str | None = None
    models: Mapping[str, ModelEntry] = field(default_factory=dict[str, ModelEntry])
    judges: tuple[str, ...] = ()
    baseline: str | None = None
    labels: Path | None = None
    budget: Mapping[str, Any] = field(default_factory=dict[str, Any])
    canaries: bool | Path = False
    concurrency: int | None = None
    seed: int = 0
    store_text: bool = True
    gates: tuple[str, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def folder(self) -> Path:
        """The folder that the plan stands in."""
        return self.path.parent

    def line(self, key: str, place: int | None = None) -> int:
        """The line on which a key of the plan stands, or the entry at that place of its list; 1 when it is not there.

        >>> Plan(path=Path("p.yaml"), name="p", dataset=DatasetEntry(path=Path("d.csv")), metrics=()).line("gates", 2)
        1
        """
        return self.lines.get(key if place is None else f"{key}[{place}]", 1)


@cache
def plan_schema() -> Mapping[str, Any]:
    """The JSON schema of a plan, which is shipped as `calibrant/readers/plan.schema.json`."""
    return json.loads(files("calibrant.readers").joinpath("plan.schema.json").read_text(encoding="utf-8"))


def read_plan(path: Path | str) -> Plan:
    """The plan in the file `path`. All that is wrong with it is raised as one InputError, line by line."""
    plan, problems = surveyed_plan(path)
    if plan is None or problems:
        raise InputError.gathered(Path(path).name, [str(problem) for problem in problems])
    return plan


def surveyed_plan(path: Path | str) -> tuple[Plan | None, list[Finding]]:
    """The plan in the file `path` as far as it can be understood, and what is wrong with it, in the order of its lines.

    The plan is None where what is wrong leaves open what the rest means. A file that cannot be read raises InputError.
    """
    path = Path(path)
    document = _document(path)
    problems = findings(document, plan_schema())
    if problems and not _is_understood(document):
        return None, problems
    return _plan(path, document), sorted([*problems, *_meaning(document, path.parent)])


def _is_understood(document: Any) -> bool:
    """Whether the rest of a plan with problems can be gone through: it is left without what does not fit the schema."""
    from difflib import get_close_matches

    if not isinstance(document, Mapping):
        return False
    known: Mapping[str, Any] = plan_schema()["properties"]
    strange = [str(key) for key in cast("Mapping[Any, Any]", document) if key not in known]
    if any(get_close_matches(key, SETTLING, n=1) for key in strange):
        return False
    prune(document, plan_schema())
    wrong = {key for key, value in cast("Mapping[str, Any]", document).items() if findings(value, known[key])}
    for key in wrong.difference(SETTLING):
        del cast("dict[str, Any]", document)[key]
    return not wrong & {*SETTLING} and {"dataset", "metrics"} <= document.keys()


def _document(path: Path) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    if path.suffix.lower() in TABLES and path.is_file():
        raise InputError(f"{path.name} holds items and is no plan; `calibrant init {path}` writes a plan for it")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"there is no plan {path}; `calibrant init DATA` writes one for your data") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the plan {path}: {error}") from None
    try:
        return YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else mark.line + 1
        problem = str(error.problem or error.context or "is not YAML").splitlines()[0]
        raise InputError.gathered(path.name, [f"line {line}: {problem}"]) from None
    except YAMLError as error:
        raise InputError.gathered(path.name, [f"line 1: is not YAML ({str(error).splitlines()[0]})"]) from None


def _meaning(document: Mapping[str, Any], folder: Path) -> Iterator[Finding]:
    """What the schema cannot say: files that are not there, judges that nobody named, names that stand twice."""
    yield from _missing_files(document, folder)
    yield from _unknown_judges(document)
    seen: dict[str, int] = {}
    for place, entry in enumerate(document["metrics"]):
        line, name = line_of(document["metrics"], place), entry if isinstance(entry, str) else entry["name"]
        if name in seen:
            yield Finding(line, f"two metrics are called {name!r} (the other on line {seen[name]}); name them apart")
        seen.setdefault(name, line)
        if isinstance(entry, Mapping) and "rubric" in entry and "function" in entry:
            yield Finding(line, f"metric {name!r} has a rubric and a function; it can have one of them")
    yield from (
        Finding(line_of(holder, key), f"{key} is written as module:name, not {holder[key]!r}")
        for holder, key in _references(document)
        if not all(part.strip() for part in holder[key].partition(":"))
    )


def _references(document: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    if "system" in document:
        yield document, "system"
    yield from (
        (entry, "function") for entry in document["metrics"] if isinstance(entry, Mapping) and "function" in entry
    )


def _missing_files(document: Mapping[str, Any], folder: Path) -> Iterator[Finding]:
    dataset = document["dataset"]
    places: list[tuple[Any, str]] = [(document, "dataset") if isinstance(dataset, str) else (dataset, "path")]
    places += [(document, name) for name in ("labels", "canaries") if isinstance(document.get(name), str)]
    places += [(entry, "rubric") for entry in document["metrics"] if isinstance(entry, Mapping) and "rubric" in entry]
    for holder, key in places:
        if not (folder / holder[key]).is_file():
            yield Finding(line_of(holder, key), f"there is no file {holder[key]!r} beside the plan")


def _unknown_judges(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Judges that are neither a name of `models` nor written provider/model."""
    known = [*document.get("models", {})]
    holders: list[Any] = [document, *document["metrics"]]
    for holder in holders:
        if isinstance(holder, Mapping) and "judges" in holder:
            for judge in _listed(holder["judges"]):
                if judge not in known and "/" not in judge:
                    remedy = suggestion(judge, known) if known else "there are no models in this plan"
                    yield Finding(
                        line_of(holder, "judges"), f"unknown judge {judge!r}; {remedy} (or write provider/model)"
                    )


def _plan(path: Path, document: Mapping[str, Any]) -> Plan:
    plain = _plain(document)
    entry = plain["dataset"]
    dataset: dict[str, Any] = {"path": entry} if isinstance(entry, str) else entry
    canaries = plain.get("canaries", False)
    optional: dict[str, Any] = {
        name: plain[name] for name in ("system", "baseline", "concurrency", "seed", "store_text") if name in plain
    }
    return Plan(
        path=path,
        name=plain.get("name", path.stem),
        dataset=DatasetEntry(
            path=path.parent / dataset["path"], columns=dataset.get("columns", {}), cluster=dataset.get("cluster")
        ),
        metrics=tuple(
            _metric(entry, path.parent, line_of(document["metrics"], place))
            for place, entry in enumerate(plain["metrics"])
        ),
        models={
            name: _model(name, entry, line_of(document["models"], name))
            for name, entry in plain.get("models", {}).items()
        },
        judges=_listed(plain.get("judges", ())),
        labels=path.parent / plain["labels"] if "labels" in plain else None,
        budget=plain.get("budget", {}),
        canaries=path.parent / canaries if isinstance(canaries, str) else canaries,
        gates=tuple(plain.get("gates", ())),
        lines=_lines(document),
        **optional,
    )


def _lines(document: Mapping[str, Any]) -> dict[str, int]:
    """The line of every key, and of every gate."""
    gates = document.get("gates", ())
    listed = {f"gates[{place}]": line_of(gates, place) for place in range(len(gates))}
    return {**{str(key): line_of(document, key) for key in document}, **listed}


def _metric(entry: Any, folder: Path, line: int) -> MetricEntry:
    given = {"name": entry} if isinstance(entry, str) else dict(entry)
    settings = given.pop("settings", {})
    rubric = given.pop("rubric", None)
    return MetricEntry(
        name=given.pop("name"),
        rubric=None if rubric is None else folder / rubric,
        function=given.pop("function", None),
        judges=_listed(given.pop("judges", ())),
        settings={**cast("dict[str, Any]", settings), **given},
        line=line,
    )


def _model(name: str, entry: Any, line: int) -> ModelEntry:
    given = {"model": entry} if isinstance(entry, str) else dict(entry)
    return ModelEntry(
        name=name,
        model=given.pop("model"),
        options={key: value for key, value in given.items() if key not in LIMITS},
        limits={key: value for key, value in given.items() if key in LIMITS},
        line=line,
    )


def _listed(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _plain(value: Any) -> Any:
    """The document without its marks: Python's own dicts, lists, texts and numbers."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in cast("list[Any]", value)]
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value
