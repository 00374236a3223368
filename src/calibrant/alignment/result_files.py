"""The results of a comparison as files: one for each metric and judge, and none that an earlier comparison left."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from calibrant.alignment.comparing import MetricResults
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.safe_names import safe_name
from calibrant.alignment.scoring_result import BaseScoringResult
from calibrant.alignment.whole_files import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["read_result_files", "result_folder", "write_result_files"]

ENDING = "_result.json"
INDEX = "comparison.json"


def result_folder(scores: Path, scorer_name: str, unique_name: str) -> Path:
    """The folder of one metric: `scores/<scorer>/<unique name>`."""
    return scores / safe_name(scorer_name) / safe_name(unique_name)


def write_result_files(scores: Path, metrics: Sequence[MetricResults]) -> list[Path]:
    """Write every judge's result, and the index of what belongs together; results of judges that are gone, go."""
    written: list[Path] = []
    for metric in metrics:
        folder = result_folder(scores, metric.scorer_name, metric.name)
        folder.mkdir(parents=True, exist_ok=True)
        for stale in folder.glob(f"*{ENDING}"):
            stale.unlink()
        for result in metric.results:
            path = folder / f"{safe_name(result.judge_id)}{ENDING}"
            write_json(path, {**result.to_json(), "unique_name": metric.name})
            written.append(path)
    index = [
        {
            "name": one.name,
            "scorer_name": one.scorer_name,
            "higher_is_better": one.higher_is_better,
            "about": one.about,
            "comparison": one.comparison,
            "judges": [result.judge_id for result in one.results],
        }
        for one in metrics
    ]
    write_json(scores / INDEX, {"metrics": index})
    return written


def read_result_files(scores: Path) -> list[MetricResults]:
    """The results of the last comparison that was written; empty when there was none, or its index is broken.

    A judge whose file is gone or broken stays in, with that as its reason.
    """
    found: list[MetricResults] = []
    for entry in _index(scores):
        folder = result_folder(scores, entry["scorer_name"], entry["name"])
        results = tuple(_read(folder, entry["scorer_name"], judge) for judge in entry.pop("judges", []))
        found.append(MetricResults(**entry, results=results))
    return found


def _index(scores: Path) -> list[dict[str, Any]]:
    index = scores / INDEX
    if not index.is_file():
        return []
    try:
        return json.loads(index.read_text(encoding="utf-8"))["metrics"]
    except (ValueError, KeyError, TypeError):
        logging.getLogger("calibrant.alignment.project").warning(
            "%s cannot be read, so there is no report of the last comparison; call compare_async() again", index
        )
        return []


def _read(folder: Path, scorer_name: str, judge: str) -> BaseScoringResult:
    path = folder / f"{safe_name(judge)}{ENDING}"
    try:
        return BaseScoringResult.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError):
        return BaseScoringResult(
            scorer_name=scorer_name,
            task_name="",
            judge_id=judge,
            scores={},
            aggregation_mode=TaskAggregationMode.SINGLE,
            num_comparisons=0,
            failed_comparisons=1,
            reason=f"{path.name} cannot be read; call compare_async() again",
        )
