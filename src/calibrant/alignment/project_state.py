"""What a project remembers between sessions, as one JSON file with no secret in it, and its data beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibrant.alignment.configuration import MetricConfig, MetricsConfig
from calibrant.alignment.result_tables import id_column_of, read_table, with_ids
from calibrant.alignment.tasks import EvalTask
from calibrant.errors import EvalError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from calibrant.alignment.scorers.base import BaseScorer

__all__ = ["STATE_FILE", "metric_of_json", "metric_to_json", "read_data", "read_state", "task_of_state", "write_state"]

STATE_FILE = "main_state.json"
DATA_FILE = "main_state_data.parquet"
VERSION = "calibrant.alignment/1"


def write_state(
    project: Path,
    *,
    task: EvalTask | None,
    data: pl.DataFrame | None,
    judges: Sequence[Mapping[str, Any]],
    metrics: Sequence[MetricConfig],
) -> Path:
    """Write the whole state; the data goes to `data/`. The path of the state file."""
    about = None
    if data is not None:
        folder = project / "data"
        folder.mkdir(parents=True, exist_ok=True)
        data.write_parquet(folder / DATA_FILE)
        about = {"id_column": "original_id", "data_file": DATA_FILE, "data_format": "parquet"}
    state = {
        "version": VERSION,
        "data": about,
        "eval_task": None if task is None else task.to_json(),
        "judges": [dict(judge) for judge in judges],
        "metrics": [described for metric in metrics if (described := metric_to_json(metric)) is not None],
    }
    path = project / STATE_FILE
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(state, indent=2, default=str), encoding="utf-8")
    fresh.replace(path)
    return path


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


def metric_to_json(metric: MetricConfig) -> dict[str, Any] | None:
    """A metric with a built-in scorer as JSON; None for a scorer of the user's own, whose code is not kept."""
    if type(metric.scorer).__name__ not in _built_in():
        return None
    parameters = {
        name: value for name, value in metric.scorer.parameters().items() if name in _SETTABLE and value is not None
    }
    return {
        "scorer": type(metric.scorer).__name__,
        "parameters": parameters,
        "task_names": list(metric.task_names),
        "task_strategy": metric.task_strategy,
        "annotator_aggregation": metric.annotator_aggregation,
        "display_name": metric.display_name,
    }


def metric_of_json(data: Mapping[str, Any]) -> MetricConfig | None:
    """The metric that `metric_to_json` wrote; None when it cannot be made again."""
    maker = _built_in().get(data.get("scorer", ""))
    if maker is None:
        return None
    fields = {name: value for name, value in data.items() if name not in {"scorer", "parameters"}}
    try:
        return MetricConfig(scorer=_scorer(maker, data.get("parameters") or {}), **fields)
    except (EvalError, TypeError):
        return None


_SETTABLE = frozenset(
    {
        "epsilon", "multiplicative_epsilon", "q_fdr", "min_instances_per_human", "min_humans_per_item",
        "min_human_annotators", "scoring_function", "ties", "weights", "order", "model",
    }
)  # fmt: skip


def _scorer(maker: type[BaseScorer], parameters: Mapping[str, Any]) -> BaseScorer:
    scorer = maker()  # pyright: ignore[reportCallIssue] - every built-in scorer has defaults
    for name, value in parameters.items():
        if name in _SETTABLE and hasattr(scorer, name):
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


def metrics_of_state(state: Mapping[str, Any]) -> list[MetricConfig]:
    """The metrics that the state holds and that can be made again."""
    found = [metric_of_json(one) for one in state.get("metrics") or ()]
    return list(MetricsConfig([one for one in found if one is not None]).metrics) if any(found) else []
