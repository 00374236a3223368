"""The results of a comparison as files: one for each metric and judge, and none that an earlier comparison left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from calibrant.alignment.comparing import MetricResults
from calibrant.alignment.safe_names import safe_name
from calibrant.alignment.scoring_result import BaseScoringResult

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
            data = {**result.to_json(), "unique_name": metric.name}
            path.write_text(json.dumps(data, indent=2, allow_nan=False, default=str), encoding="utf-8")
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
    (scores / INDEX).write_text(json.dumps({"metrics": index}, indent=2, allow_nan=False), encoding="utf-8")
    return written


def read_result_files(scores: Path) -> list[MetricResults]:
    """The results of the last comparison that was written; empty when there was none."""
    index = scores / INDEX
    if not index.is_file():
        return []
    found: list[MetricResults] = []
    for entry in json.loads(index.read_text(encoding="utf-8"))["metrics"]:
        folder = result_folder(scores, entry["scorer_name"], entry["name"])
        results = [_read(folder / f"{safe_name(judge)}{ENDING}") for judge in entry.pop("judges", [])]
        found.append(MetricResults(**entry, results=tuple(one for one in results if one is not None)))
    return found


def _read(path: Path) -> BaseScoringResult | None:
    try:
        return BaseScoringResult.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError):
        return None
