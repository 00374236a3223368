"""What a project remembers between sessions, as one JSON file with no secret in it, and its data beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.alignment.configuration import MetricConfig
from calibrant.alignment.former_state import put_aside
from calibrant.alignment.result_tables import id_column_of, read_table, with_ids
from calibrant.alignment.tasks import EvalTask
from calibrant.alignment.whole_files import write_json, write_whole
from calibrant.errors import EvalError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from calibrant.alignment.scorers.base import BaseScorer

__all__ = [
    "STATE_FILE",
    "ProjectState",
    "is_another_s",
    "metrics_of_state",
    "read_data",
    "read_state",
    "task_of_state",
    "write_state",
]

STATE_FILE = "main_state.json"
DATA_FILE = "main_state_data.parquet"
VERSION = "calibrant.alignment/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectState:
    """What a project remembers, but for the results of its raters, which have files of their own."""

    task: EvalTask | None = None
    data: pl.DataFrame | None = None
    cluster_column: str | None = None
    judges: Sequence[Mapping[str, Any]] = ()
    metrics: Sequence[MetricConfig] = ()


def write_state(project: Path, kept: ProjectState) -> Path:
    """Write the whole state; the data goes to `data/`. The path of the state file."""
    about = None
    if kept.data is not None:
        folder = project / "data"
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / DATA_FILE, kept.data.write_parquet)
        about = {
            "id_column": "original_id",
            "cluster_column": kept.cluster_column,
            "data_file": DATA_FILE,
            "data_format": "parquet",
        }
    state = {
        "version": VERSION,
        "data": about,
        "eval_task": None if kept.task is None else kept.task.to_json(),
        "judges": [dict(judge) for judge in kept.judges],
        "metrics": [metric_to_json(metric) for metric in kept.metrics],
    }
    path = project / STATE_FILE
    _keep_another_s(path)
    write_json(path, state)
    return path


def _keep_another_s(path: Path) -> None:
    """Another meta-evaluator's state is put aside, once, before ours takes its name."""
    state = read_state(path.parent)
    if path.is_file() and is_another_s(state):
        put_aside(path, state)


def is_another_s(state: Mapping[str, Any]) -> bool:
    """Whether a state was written by another meta-evaluator."""
    return bool(state) and not str(state.get("version") or "unknown").startswith("calibrant.")


def read_state(project: Path) -> dict[str, Any]:
    """The state of a project, ours or another meta-evaluator's; empty when the folder has none."""
    path = project / STATE_FILE
    if not path.is_file():
        return {}
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is no JSON: {error}") from None
    if not isinstance(state, dict):
        raise InputError(f"{path} holds no project's state")
    return state


def task_of_state(state: Mapping[str, Any]) -> EvalTask | None:
    """The task that the state holds; None when there is none."""
    found = state.get("eval_task") or state.get("evaluation_task")
    return None if not found else EvalTask.from_json(found)


def read_data(project: Path, state: Mapping[str, Any]) -> pl.DataFrame | None:
    """The project's items, with their ids as texts in `original_id`; None when it has none."""
    about = state.get("data")
    if not about or not about.get("data_file"):
        return None
    path = project / "data" / Path(str(about["data_file"])).name
    table = read_table(path, data_format=about.get("data_format"))
    return with_ids(table, id_column_of(table, about.get("id_column"), str(path)), str(path))


def metric_to_json(metric: MetricConfig) -> dict[str, Any]:
    """A metric as JSON. Of a scorer of the user's own, or around a model object, the name alone is kept."""
    named = {
        "scorer": type(metric.scorer).__name__,
        "task_names": list(metric.task_names),
        "task_strategy": metric.task_strategy,
        "annotator_aggregation": metric.annotator_aggregation,
        "display_name": metric.display_name,
    }
    return {**named, "parameters": _settings(metric.scorer)}


def metric_of_json(data: Mapping[str, Any]) -> MetricConfig | str:
    """The metric that `metric_to_json` wrote, or why it cannot be made again."""
    maker = _built_in().get(data.get("scorer", ""))
    if maker is None or data.get("parameters") is None:
        name, tasks = data.get("scorer"), ", ".join(data.get("task_names") or ())
        return f"the metric {name} of {tasks} is not in the saved project, since its code is yours; add it again"
    fields = {name: value for name, value in data.items() if name not in {"scorer", "parameters"}}
    try:
        return MetricConfig(scorer=_scorer(maker, data["parameters"]), **fields)
    except (EvalError, TypeError) as error:
        return f"a saved metric cannot be made again: {error}"


def metrics_of_state(state: Mapping[str, Any]) -> tuple[list[MetricConfig], list[str]]:
    """The metrics that the state holds, and why some cannot be made again."""
    found = [metric_of_json(one) for one in state.get("metrics") or ()]
    metrics = [one for one in found if isinstance(one, MetricConfig)]
    return metrics, [one for one in found if isinstance(one, str)]


SETTABLE = frozenset(
    {
        "epsilon", "multiplicative_epsilon", "q_fdr", "min_instances_per_human", "min_humans_per_item",
        "min_human_annotators", "scoring_function", "ties", "weights", "order", "model", "options",
    }
)  # fmt: skip


def _settings(scorer: BaseScorer) -> dict[str, Any] | None:
    """What makes this built-in scorer again; None of one that is not ours, or that holds more than JSON can."""
    if type(scorer) not in _built_in().values():
        return None
    found = {name: value for name, value in scorer.parameters().items() if name in SETTABLE and value is not None}
    return None if isinstance(found.get("model"), Mapping) else found


def _scorer(maker: type[BaseScorer], parameters: Mapping[str, Any]) -> BaseScorer:
    given: dict[str, Any] = {name: value for name, value in parameters.items() if name in SETTABLE}
    options = given.pop("options", {})
    early = {name: given.pop(name) for name in ("model",) if name in given}
    scorer = maker(**early, **options)
    for name, value in given.items():
        if hasattr(scorer, name):
            setattr(scorer, name, value)
    return scorer


def _built_in() -> dict[str, type[BaseScorer]]:
    from calibrant.alignment import scorers

    makers = (
        scorers.AccuracyScorer,
        scorers.AltTestScorer,
        scorers.CohensKappaScorer,
        scorers.SemanticSimilarityScorer,
        scorers.TextSimilarityScorer,
    )
    return {maker.__name__: maker for maker in makers}
