"""Runs as files: JSONL, which is a run that can be opened again, and tables for other tools."""

from __future__ import annotations

import contextlib
import csv
import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from calibrant.errors import EvalError, InputError, UnknownNameError, shortened
from calibrant.items import EvalInput
from calibrant.ratings import Rating
from calibrant.runs.keeping import KeptItem, MemoryKeeper
from calibrant.runs.reopening import kept_run
from calibrant.runs.withholding import report_without_text
from calibrant.store.records import rating_without_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from calibrant.runs.records import Run
    from calibrant.runs.specification import MetricSpec

__all__ = ["EXPORT_FORMATS", "EXPORT_SCHEMA", "export", "read_export", "read_ratings"]

EXPORT_SCHEMA = "calibrant.export/1"
ExportFormat = Literal["csv", "jsonl", "parquet"]
EXPORT_FORMATS: tuple[ExportFormat, ...] = ("csv", "jsonl", "parquet")
SUFFIXES: dict[str, ExportFormat] = {".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}

COLUMNS = (
    *("run", "position", "item", "cluster", "criterion", "rater", "instrument", "role", "slot", "status"),
    *("value", "score", "passed", "failure_code", "failure_message", "explanation"),
    *("calls", "cached", "input_tokens", "output_tokens", "usd"),
)
"""The columns of a table, one row a rating."""


def export(run: Run, path: str | Path, *, format: ExportFormat | None = None, text: bool = True) -> Path:  # noqa: A002 - the word that users look for
    """Write the ratings of `run`, votes and results, to `path`, and return the path.

    The format is that of the file's suffix: `.jsonl` can be opened again, compared with and used as a baseline;
    `.csv` and `.parquet` are tables with one row a rating. `text=False` leaves explanations out, and of failures
    keeps what their codes mean; so does the export of a run that was made with `store_text=False`.
    """
    target = Path(path)
    chosen = format or SUFFIXES.get(target.suffix.lower())
    if chosen not in EXPORT_FORMATS:
        raise UnknownNameError.among("export format", format or target.suffix or target.name, EXPORT_FORMATS)
    draft = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        WRITERS[chosen](run, draft, text and _keeps_text(run))
        draft.replace(target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        # Gone when all went well; where the folder itself is in the way, there is none.
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
    return target


def _keeps_text(run: Run) -> bool:
    """Whether texts may leave with the run: one that was just made still has those that its workspace does not keep."""
    workspace = None if run.keeper is None else run.keeper.workspace
    return workspace is None or workspace.store_text


def read_export(path: str | Path) -> Run:
    """The run in a JSONL file that `export` wrote, with its numbers counted anew from its ratings."""
    keeper, run = read_ratings(path)
    try:
        return kept_run(keeper, run)
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"{Path(path).name} does not hold a whole run ({error}); {REMEDY}") from None


def read_ratings(path: str | Path) -> tuple[MemoryKeeper, str]:
    """What a JSONL file that `export` wrote holds, and the name of its run; nothing is counted yet."""
    source = Path(path)
    keeper = MemoryKeeper()
    try:
        with source.open(encoding="utf-8") as lines:
            manifest = _manifest(source, lines.readline())
            _fill(keeper, manifest["run"], source, lines)
    except UnicodeDecodeError:
        raise InputError(f"{source.name} is not text; {REMEDY}") from None
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror or error}") from None
    keeper.put_manifest(manifest["run"], manifest)
    return keeper, manifest["run"]


REMEDY = "expected a run exported as JSONL (calibrant export RUN -o FILE.jsonl)"


def _manifest(source: Path, line: str) -> dict[str, Any]:
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("schema") != EXPORT_SCHEMA:
        raise InputError(f"{source.name} begins with {shortened(line.strip())}; {REMEDY}")
    return header


def _fill(keeper: MemoryKeeper, run: str, source: Path, lines: Iterator[str]) -> None:
    problems: list[str] = []
    for number, line in enumerate(lines, 2):
        try:
            data = json.loads(line)
            position, cluster = data.pop("position"), data.pop("cluster")
            rating = Rating.from_json(data)
        except (ValueError, TypeError, KeyError, AttributeError, EvalError) as error:
            problems.append(f"line {number}: is no rating ({shortened(str(error))})")
            continue
        keeper.add(run, [KeptItem(position, EvalInput(id=rating.item), cluster)], [rating])
    if problems:
        raise InputError.gathered(source.name, problems)


def _rows(run: Run, *, text: bool) -> Iterator[tuple[KeptItem, Rating]]:
    """The ratings in the order in which they were kept, with their item's place."""
    places = {} if run.keeper is None else {kept.item.id: kept for kept in run.keeper.items(run.id)}
    for rating in run.ratings():
        yield places[rating.item], rating if text else rating_without_text(rating)


def _write_jsonl(run: Run, path: Path, text: bool) -> None:  # noqa: FBT001 - the three writers are called alike
    manifest = {} if run.keeper is None else dict(run.keeper.manifest(run.id) or {})
    report = run.to_json() if text else report_without_text(run.to_json())
    header = {**manifest, "schema": EXPORT_SCHEMA, "run": run.id, "report": report}
    with path.open("w", encoding="utf-8") as out:
        out.write(json.dumps(header, ensure_ascii=False, allow_nan=False) + "\n")
        for kept, rating in _rows(run, text=text):
            data = {"position": kept.position, "cluster": kept.cluster, **rating.to_json()}
            data["call_keys"] = []  # they name calls of a workspace that the file leaves behind
            out.write(json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n")


def _write_csv(run: Run, path: Path, text: bool) -> None:  # noqa: FBT001 - the three writers are called alike
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(_table(run, text=text))


def _write_parquet(run: Run, path: Path, text: bool) -> None:  # noqa: FBT001 - the three writers are called alike
    import polars as pl

    schema: dict[str, Any] = dict.fromkeys(COLUMNS, pl.String)
    schema |= dict.fromkeys(("position", "slot", "calls", "cached", "input_tokens", "output_tokens"), pl.Int64)
    schema |= {"score": pl.Float64, "passed": pl.Boolean, "usd": pl.Float64}
    rows = _table(run, text=text)
    parts = [pl.DataFrame(schema=schema)]
    while chunk := list(islice(rows, 10_000)):
        parts.append(pl.DataFrame(chunk, schema=schema))
    pl.concat(parts).write_parquet(path)


WRITERS = {"csv": _write_csv, "jsonl": _write_jsonl, "parquet": _write_parquet}


def _table(run: Run, *, text: bool) -> Iterator[dict[str, Any]]:
    specs: Mapping[str, MetricSpec] = {summary.name: summary.spec for summary in run.metrics}
    for kept, rating in _rows(run, text=text):
        yield _row(run.id, kept, rating, specs.get(rating.criterion))


def _row(run: str, kept: KeptItem, rating: Rating, spec: MetricSpec | None) -> dict[str, Any]:
    outcome = None if spec is None or rating.value is None else spec.outcome(rating.value)
    failure, usage = rating.failure, rating.usage
    data = rating.to_json()
    value = data["value"]
    return {
        "run": run,
        "position": kept.position,
        "cluster": kept.cluster,
        **{name: data[name] for name in ("item", "criterion", "rater", "instrument", "role", "slot", "status")},
        "value": None if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False),
        "score": None if outcome is None else outcome.score,
        "passed": None if outcome is None else outcome.passed,
        "failure_code": None if failure is None else failure.code,
        "failure_message": None if failure is None else failure.message,
        "explanation": rating.explanation,
        **{
            name: None if usage is None else getattr(usage, name)
            for name in ("calls", "cached", "input_tokens", "output_tokens", "usd")
        },
    }
