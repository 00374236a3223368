"""The results of raters in a project's folders: our own files, and those of other meta-evaluators, read alike."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import polars as pl

from calibrant.alignment.answers import answers_of_table
from calibrant.alignment.result_tables import read_table
from calibrant.alignment.safe_names import safe_name
from calibrant.alignment.whole_files import write_json, write_whole
from calibrant.errors import InputError, shortened

if TYPE_CHECKING:
    from calibrant.alignment.rater_results import RaterResults
    from calibrant.alignment.tasks import EvalTask

__all__ = ["RaterKind", "read_results", "write_results"]

RaterKind = Literal["judge", "annotator"]
FOLDERS: dict[RaterKind, str] = {"judge": "results", "annotator": "annotations"}
ENDINGS: dict[RaterKind, str] = {"judge": "_state.json", "annotator": "_metadata.json"}


def write_results(project: Path, kind: RaterKind, results: RaterResults) -> Path:
    """Write one rater's results, as a Parquet file and what is known about it; the path of the latter."""
    folder = project / FOLDERS[kind]
    folder.mkdir(parents=True, exist_ok=True)
    run = str(results.about.get("run_id") or "external")
    stem = f"{safe_name(run)}_{safe_name(results.rater)}"
    frame = results.frame
    status = pl.when(frame["original_id"].is_in(sorted(results.failed))).then(pl.lit("error"))
    tasks = [name for name in results.tasks if frame[name].null_count() < frame.height]
    partly = pl.any_horizontal(pl.col(task).is_not_null() for task in tasks) if tasks else pl.lit(value=False)
    stated = frame.with_columns(pl.when(partly).then(pl.lit("success")).otherwise(status).alias("status"))
    stated = stated.with_columns(pl.col("status").fill_null("success"))
    write_whole(folder / f"{stem}_data.parquet", stated.write_parquet)
    about = {
        f"{kind}_id": results.rater,
        "run_id": run,
        "timestamp_local": datetime.now(UTC).isoformat(),
        "data_file": f"{stem}_data.parquet",
        "data_format": "parquet",
        "total_count": frame.height,
        "failed": sorted(results.failed),
        "notes": list(results.notes),
        "about": dict(results.about),
    }
    path = folder / f"{stem}{ENDINGS[kind]}"
    write_json(path, {"metadata": about})
    return path


def read_results(project: Path, kind: RaterKind, task: EvalTask | None) -> dict[str, RaterResults]:
    """The newest results of every rater in the project, by the rater's name."""
    found: dict[str, tuple[str, Path, Mapping[str, Any]]] = {}
    for path in sorted((project / FOLDERS[kind]).glob(f"*{ENDINGS[kind]}")):
        about = _about(path)
        rater = str(about.get(f"{kind}_id") or "")
        if not rater:
            raise InputError(f"{path.name} does not say whose results it holds; expected {kind}_id")
        made = str(about.get("timestamp_local") or about.get("run_id") or "")
        if rater not in found or made >= found[rater][0]:
            found[rater] = (made, path, about)
    return {rater: _read(path, rater, about, task) for rater, (_, path, about) in found.items()}


def _read(path: Path, rater: str, about: Mapping[str, Any], task: EvalTask | None) -> RaterResults:
    # Only the name counts: a file of results cannot point out of its folder.
    data = path.parent / Path(str(about.get("data_file") or "")).name
    results = answers_of_table(read_table(data, data_format=about.get("data_format")), rater, task=task)
    failed = results.failed | frozenset(map(str, about.get("failed") or ()))
    notes = (*map(str, about.get("notes") or ()), *results.notes)
    return replace(results, failed=failed, notes=tuple(dict.fromkeys(notes)), about=dict(about.get("about") or {}))


def _about(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    inner = data.get("metadata", data) if isinstance(data, Mapping) else None
    if not isinstance(inner, Mapping):
        raise InputError(f"{path} holds no account of results: {shortened(data)}")
    return cast("Mapping[str, Any]", inner)
