"""A project: items, a task, judges, people, and how well the judges agree with the people."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from calibrant.alignment.comparing import MetricResults, compared
from calibrant.alignment.configuration import MetricConfig, MetricsConfig
from calibrant.alignment.disagreement_files import write_disagreements
from calibrant.alignment.former_state import warn_of_secrets
from calibrant.alignment.insights import bounded, compared_judges, disagreements_of
from calibrant.alignment.judges import JudgeConfig, judges_of_state, judges_of_yaml
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.project_state import (
    STATE_FILE,
    ProjectState,
    is_another_s,
    metrics_of_state,
    read_data,
    read_state,
    task_of_state,
    write_state,
)
from calibrant.alignment.rater_results import RaterResults, Ratings
from calibrant.alignment.result_files import read_result_files, write_result_files
from calibrant.alignment.result_tables import id_column_of, read_table, with_ids
from calibrant.alignment.safe_names import safe_name
from calibrant.alignment.score_report import ScoreReport
from calibrant.alignment.sources import Source
from calibrant.alignment.stored_results import RaterKind, read_results, write_results
from calibrant.alignment.tasks import EvalTask
from calibrant.alignment.usual_metrics import usual_metrics
from calibrant.bridge import run_sync
from calibrant.errors import InputError, MissingExtraError, UnknownNameError, WrongTypeError, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from calibrant.agreement import CeilingAndFloor, Disagreements, JudgeComparison, Measure
    from calibrant.models import Budget

__all__ = ["MetaEvaluator"]


class MetaEvaluator:
    """Judges against people, in the folder `project_dir`.

    With `load` the folder's project is opened, be it ours or another meta-evaluator's; without, a new one is made,
    and a folder that holds one already is refused. Everything that is added is written at once.

    >>> import tempfile
    >>> from calibrant.alignment import AccuracyScorer, MetricConfig, MetricsConfig
    >>> folder = tempfile.TemporaryDirectory()
    >>> evaluator = MetaEvaluator(folder.name)
    >>> evaluator.add_external_judge_results({"a": "yes", "b": "no"}, "judge", task="safe")
    >>> evaluator.add_external_annotation_results({"a": "yes", "b": "yes"}, "kim", task="safe")
    >>> evaluator.add_metrics_config(MetricsConfig([MetricConfig(AccuracyScorer(), ["safe"], "single")]))
    >>> [result.score for results in evaluator.compare_async().values() for result in results]
    [0.5]
    >>> folder.cleanup()
    """

    def __init__(self, project_dir: str | Path = "my_project", *, load: bool = False) -> None:
        self.project_dir = Path(project_dir)
        self.logger = logging.getLogger("calibrant.alignment.project")
        self.eval_task: EvalTask | None = None
        self.data: pl.DataFrame | None = None
        self.cluster_column: str | None = None
        self.metrics_config: MetricsConfig | None = None
        self.draws_charts = True
        self.judges: dict[str, JudgeConfig] = {}
        self._results: dict[RaterKind, dict[str, RaterResults]] = {"judge": {}, "annotator": {}}
        self._report: ScoreReport | None = None
        if load:
            self._load()
        elif (self.project_dir / STATE_FILE).exists():
            raise InputError(f"{self.project_dir} holds a project already; open it with load=True, or name another")
        self.scores_dir.mkdir(parents=True, exist_ok=True)

    @property
    def scores_dir(self) -> Path:
        """Where results, charts and reports are."""
        return self.project_dir / "scores"

    @property
    def judge_results(self) -> dict[str, RaterResults]:
        """The judges' answers, by the judge's name."""
        return dict(self._results["judge"])

    @property
    def annotation_results(self) -> dict[str, RaterResults]:
        """The people's answers, by the person's name."""
        return dict(self._results["annotator"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What was wrong with answers that are not counted, and how steady judges were that were asked repeatedly."""
        results = [*self._results["judge"].values(), *self._results["annotator"].values()]
        return tuple(note for one in results for note in one.notes)

    def add_eval_task(self, eval_task: EvalTask) -> None:
        """Say what is asked of each item; answers that the task does not know then count as failed."""
        if not isinstance(eval_task, EvalTask):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass dicts
            raise WrongTypeError(f"expected an EvalTask, got {shortened(eval_task)}")
        self.eval_task = eval_task
        self.save_state()

    def add_data(
        self,
        source: Any,
        *,
        id_column: str | None = None,
        cluster_column: str | None = None,
        data_format: str | None = None,
    ) -> None:
        """Add the items: a CSV, JSON, JSONL or Parquet file, a polars or pandas frame, or a list of dicts.

        `cluster_column` says what items share (a document, a customer); every interval then counts clusters.
        """
        table = read_table(source, data_format=data_format)
        needed = [*(self.eval_task.columns if self.eval_task else []), *([cluster_column] if cluster_column else [])]
        missing = [name for name in needed if name not in table.columns]
        if missing:
            raise InputError(f"the data has no column {', '.join(missing)}; it has: {', '.join(table.columns)}")
        self.data = with_ids(table, id_column_of(table, id_column, "the data"), "the data")
        self.cluster_column = cluster_column
        self.save_state()

    def add_external_judge_results(
        self,
        file_path: Any,
        judge_id: str | None = None,
        *,
        task: str | None = None,
        run_id: str | None = None,
        id_column: str | None = None,
        data_format: str | None = None,
        **about: Any,
    ) -> None:
        """Add a judge's results from a file, a frame, a list of dicts, or a mapping of items to labels.

        They have a column with the ids of items and one for each task. Without `judge_id`, a column `judge_id` says
        whose they are, or the keys of `{judge: {item: label}}`, or else the file's name. `task` names the task of
        labels that have no column of their own.
        """
        given = {"task": task, "id_column": id_column, "data_format": data_format}
        self._add(Source(kind="judge", given=file_path, rater=judge_id, **given), {"run_id": run_id, **about})

    def add_external_annotation_results(
        self,
        file_path: Any,
        annotator_id: str | None = None,
        *,
        task: str | None = None,
        run_id: str | None = None,
        id_column: str | None = None,
        data_format: str | None = None,
        **about: Any,
    ) -> None:
        """Add a person's results, or several people's that a column `annotator_id` or `human_id` tells apart."""
        given = {"task": task, "id_column": id_column, "data_format": data_format}
        self._add(Source(kind="annotator", given=file_path, rater=annotator_id, **given), {"run_id": run_id, **about})

    def add_judge(self, judge: JudgeConfig) -> None:
        """Add a model that is to judge; one of the same name is replaced."""
        if not isinstance(judge, JudgeConfig):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass dicts
            raise WrongTypeError(f"expected a JudgeConfig, got {shortened(judge)}")
        self.judges[judge.id] = judge
        self.save_state()

    def load_judges_from_yaml(
        self, yaml_file: str | Path, *, on_duplicate: Literal["skip", "overwrite"] | None = None
    ) -> None:
        """Add the judges of a YAML file, each with an id, a model and a prompt file."""
        for judge in judges_of_yaml(yaml_file):
            if judge.id in self.judges and on_duplicate is None:
                raise InputError(f"there is a judge {judge.id!r} already; say on_duplicate='skip' or 'overwrite'")
            if judge.id not in self.judges or on_duplicate == "overwrite":
                self.judges[judge.id] = judge
        self.save_state()

    def run_judges(
        self,
        judge_ids: Sequence[str] | str | None = None,
        *,
        repeats: int = 1,
        budget: Budget | None = None,
        concurrency: int = 16,
    ) -> dict[str, RaterResults]:
        """Ask the judges about every item, and keep their results; the results by judge.

        Replies are kept in the project's workspace: asking again, or after an interruption, asks only what is missing.
        With `repeats` every item is asked so often, the most frequent answer counts, and all votes are kept.
        """
        return run_sync(self._run_judges(judge_ids, repeats=repeats, budget=budget, concurrency=concurrency))

    def disagreements(self, task: str, judge_id: str) -> Disagreements:
        """The items on which people agree and the judge differs, and those on which people differ, apart."""
        return disagreements_of(self._ratings(), task, judge_id)

    def save_disagreements(self, task: str, judge_id: str, name: str | Path | None = None) -> Path:
        """Write both lists of `disagreements`, with the columns that were shown, as CSV or JSON; the path.

        `name` is relative to `scores/`, and disagreements/<task>_<judge>.csv unless said.
        """
        path = self.scores_dir / (name or f"disagreements/{safe_name(f'{task}_{judge_id}')}.csv")
        shown = self.eval_task.columns if self.eval_task else []
        rows = [] if self.data is None or not shown else self.data.select("original_id", *shown).to_dicts()
        items = {row.pop("original_id"): row for row in rows}
        return write_disagreements(path, self.disagreements(task, judge_id), items)

    def compare_judges(self, task: str, measure: str | Measure = "accuracy") -> JudgeComparison:
        """All judges in pairs on the items that they share: differences with intervals, and who is alike."""
        return compared_judges(self._ratings(), [task], TaskAggregationMode.SINGLE, measure)

    def ceiling_and_floor(self, task: str, judge_id: str, measure: str | Measure = "accuracy") -> CeilingAndFloor:
        """A judge's score between that of the best constant answer and that of people among themselves."""
        return bounded(self._ratings(), task, judge_id, measure)

    def add_usual_metrics(self, tasks: Sequence[str] = ()) -> None:
        """Ask what is usual: accuracy, kappa and the alternative annotator test of labels, similarity of free text.

        Of all tasks that people answered, unless some are named. Nothing is saved but the results.
        """
        self.metrics_config = usual_metrics(self._ratings(), tasks, self.eval_task)

    def add_metrics_config(self, metrics_config: MetricsConfig | MetricConfig) -> None:
        """Say which scorers to ask of which tasks; replaces what was said before."""
        if isinstance(metrics_config, MetricConfig):
            metrics_config = MetricsConfig(metrics=[metrics_config])
        if not isinstance(metrics_config, MetricsConfig):  # pyright: ignore[reportUnnecessaryIsInstance] - users pass lists
            raise WrongTypeError(f"expected a MetricsConfig, got {shortened(metrics_config)}")
        self.metrics_config = metrics_config
        self.save_state()

    def compare_async(self) -> dict[str, list[Any]]:
        """Compare every judge with the people by every metric, write all results, and return them by metric.

        Waits until it is done, also within a running loop. What goes wrong with one judge is its reason.
        """
        return run_sync(self._compare())

    @property
    def score_report(self) -> ScoreReport:
        """The summary of the last comparison, of this session or of the one that was saved."""
        if self._report is None:
            raise InputError("there is nothing to report yet; call compare_async() first")
        return self._report

    def save_state(self) -> Path:
        """Write what the project knows to its folder; the path of the state file."""
        self.project_dir.mkdir(parents=True, exist_ok=True)
        kept = ProjectState(
            task=self.eval_task,
            data=self.data,
            cluster_column=self.cluster_column,
            judges=[judge.to_json() for judge in self.judges.values()],
            metrics=self.metrics_config.metrics if self.metrics_config else (),
        )
        return write_state(self.project_dir, kept)

    def _load(self) -> None:
        if not self.project_dir.is_dir():
            self.logger.warning("there is no project at %s yet; a new one is made", self.project_dir)
            return
        state = read_state(self.project_dir)
        if is_another_s(state):
            warn_of_secrets(self.project_dir / STATE_FILE, state)
        self.eval_task = task_of_state(state)
        self.data = read_data(self.project_dir, state)
        self.judges = {judge.id: judge for judge in judges_of_state(state)}
        self.cluster_column = (state.get("data") or {}).get("cluster_column")
        metrics, lost = metrics_of_state(state)
        for reason in lost:
            self.logger.warning("%s", reason)
        self.metrics_config = MetricsConfig(metrics) if metrics else None
        for kind in ("judge", "annotator"):
            self._results[kind] = read_results(self.project_dir, kind, self.eval_task)
        written = read_result_files(self.scores_dir)
        if written:
            self._report = ScoreReport(written, self.scores_dir, self.notes)

    def _add(self, source: Source, about: dict[str, Any]) -> None:
        for results in source.results(self.eval_task):
            self._keep(source.kind, replace(results, about=about))
        self.save_state()

    def _keep(self, kind: RaterKind, results: RaterResults) -> None:
        for note in results.notes:
            self.logger.warning("%s", note)
        write_results(self.project_dir, kind, results)
        self._results[kind][results.rater] = results

    async def _run_judges(
        self, judge_ids: Sequence[str] | str | None, *, repeats: int, budget: Budget | None, concurrency: int
    ) -> dict[str, RaterResults]:
        from calibrant.alignment.judge_runs import JudgeRun
        from calibrant.models import Budget
        from calibrant.store import open_workspace

        if self.eval_task is None or self.data is None:
            raise InputError("judges need items and a task; call add_data() and add_eval_task() first")
        names = [judge_ids] if isinstance(judge_ids, str) else list(judge_ids or self.judges)
        unknown = [name for name in names if name not in self.judges]
        if unknown or not names:
            raise UnknownNameError.among("judge", (unknown or ["(none was added)"])[0], self.judges)
        if repeats < 1:
            raise InputError(f"repeats is a whole number of at least 1, not {repeats}")
        with open_workspace(self.project_dir) as workspace:
            run = JudgeRun(
                items=self.data.to_dicts(),
                task=self.eval_task,
                workspace=workspace,
                budget=budget or Budget(),
                repeats=repeats,
                concurrency=concurrency,
            )
            for name in names:
                self._keep("judge", await run.results(self.judges[name]))
        return {name: self._results["judge"][name] for name in names}

    def _ratings(self) -> Ratings:
        if not self._results["judge"]:
            raise InputError("there are no judge results; add some with add_external_judge_results(), or run judges")
        if not self._results["annotator"]:
            raise InputError("there are no annotations; add some with add_external_annotation_results()")
        clusters = None
        if self.data is not None and self.cluster_column is not None:
            clusters = dict(zip(self.data["original_id"], self.data[self.cluster_column], strict=True))
        return Ratings(self._results["judge"], self._results["annotator"], clusters)

    async def _compare(self) -> dict[str, list[Any]]:
        if self.metrics_config is None:
            raise InputError("no metrics were named; call add_metrics_config() first")
        ratings = self._ratings()
        unknown = [
            name for metric in self.metrics_config.metrics for name in metric.task_names if name not in ratings.tasks
        ]
        if unknown:
            raise InputError(
                f"nobody answered the task {unknown[0]!r}; the results have: {', '.join(sorted(ratings.tasks))}"
            )
        found = await compared(self.metrics_config.metrics, ratings)
        write_result_files(self.scores_dir, found)
        undrawn = self._aggregate(found) if self.draws_charts else []
        for note in undrawn:
            self.logger.warning("%s", note)
        self._report = ScoreReport(found, self.scores_dir, [*self.notes, *undrawn])
        return {metric.name: list(metric.results) for metric in found}

    def _aggregate(self, found: list[MetricResults]) -> list[str]:
        """Let each scorer draw what it likes; one that fails at it loses its drawing, and nothing else.

        Returns which charts were not drawn for want of an optional part.
        """
        metrics = self.metrics_config.metrics if self.metrics_config else ()
        undrawn: dict[str, list[str]] = {}
        for metric, results in zip(metrics, found, strict=True):
            try:
                metric.scorer.aggregate_results(list(results.results), str(self.scores_dir), results.name)
            except MissingExtraError as error:
                undrawn.setdefault(str(error), []).append(results.name)
            except Exception:
                metric.scorer.logger.exception("%s could not be drawn", results.name)
        return [f"no chart was drawn of {', '.join(names)}: {why}" for why, names in undrawn.items()]
