"""All judges by all metrics in one table: to read, to sort, to compute with."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import polars as pl

from calibrant.alignment.combining import items_of
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.report_page import report_page, score_section
from calibrant.errors import InputError, UnknownNameError, counted
from calibrant.estimates import Coverage, Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.alignment.comparing import MetricResults
    from calibrant.alignment.scoring_result import BaseScoringResult
    from calibrant.report.page import Section

__all__ = ["Cell", "ReportColumn", "ScoreReport"]

DIGITS, BORDERS = 8, 3
"""How wide a number is in a table, and what stands around it."""

TINY = 5e-6
"""A margin of the alternative annotator test below this is none: at 0 itself nothing can be rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One judge's number in one column, its estimate where there is one, and why there is no number.

    `note` says what the number means beside others: how people score against each other, what the test's outcome was.
    """

    value: float | None
    estimate: Estimate | None = None
    reason: str = ""
    note: str = ""

    def __str__(self) -> str:
        if self.value is None:
            return f"no score: {self.reason}"
        number = str(self.estimate) if self.estimate is not None else f"{self.value:.3f}"
        return f"{number}; {self.note}" if self.note else number


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportColumn:
    """One score of one metric, for every judge."""

    name: str
    metric: str
    cells: Mapping[str, Cell]
    higher_is_better: bool = True
    about: str = ""

    @property
    def best(self) -> float | None:
        """The best number of the column; None when it has none, or only one judge."""
        numbers = [cell.value for cell in self.cells.values() if cell.value is not None]
        if len(self.cells) < 2 or not numbers:
            return None
        return max(numbers) if self.higher_is_better else min(numbers)


class ScoreReport:
    """The summary of a comparison: a row a judge, a column a score, intervals and reasons beside the numbers.

    `scores_dir` is where `save` writes to; `notes` are warnings that concern the whole of it.
    """

    def __init__(self, metrics: Sequence[MetricResults], scores_dir: Path, notes: Sequence[str] = ()) -> None:
        self.metrics = tuple(metrics)
        self.scores_dir = scores_dir
        self.notes = tuple(dict.fromkeys([*notes, *_warnings(metrics)]))
        self.judges = tuple(dict.fromkeys(one.judge_id for metric in metrics for one in metric.results))
        self.columns = tuple(column for metric in metrics for column in _columns(metric))

    def to_frame(self) -> pl.DataFrame:
        """The numbers as a polars frame: judge_id and a column a score."""
        judges = pl.Series("judge_id", list(self.judges), dtype=pl.String)
        numbers = [
            pl.Series(column.name, [_cell(column, judge).value for judge in self.judges], dtype=pl.Float64)
            for column in self.columns
        ]
        return pl.DataFrame([judges, *numbers])

    def to_csv(self) -> str:
        """The numbers as CSV, and after them for each column its bounds, its n and its reason."""
        frame = self.to_frame()
        for column in self.columns:
            cells = [_cell(column, judge) for judge in self.judges]
            estimates = [cell.estimate for cell in cells]
            frame = frame.with_columns(
                pl.Series(f"{column.name}_lower", [one and one.lower for one in estimates], dtype=pl.Float64),
                pl.Series(f"{column.name}_upper", [one and one.upper for one in estimates], dtype=pl.Float64),
                pl.Series(f"{column.name}_n", [None if one is None else one.n for one in estimates], dtype=pl.Int64),
                pl.Series(f"{column.name}_reason", [cell.reason for cell in cells], dtype=pl.String),
            )
        return frame.write_csv()

    def to_json(self) -> dict[str, Any]:
        """The report as JSON has it: every judge's every result, null and a reason where there is no number."""
        return {
            "schema": "calibrant.alignment/1",
            "judges": list(self.judges),
            "metrics": [
                {
                    "name": metric.name,
                    "scorer_name": metric.scorer_name,
                    "about": metric.about,
                    "results": [result.to_json() for result in metric.results],
                    "comparison": metric.comparison,
                }
                for metric in self.metrics
            ],
            "notes": list(self.notes),
        }

    def to_html(self) -> str:
        """The report as one page that needs no other file: sortable, the best of each column marked."""
        return report_page(self.judges, self.columns, self._compared(), self.notes)

    def to_section(self) -> Section:
        """The report as a section of a page that shows more (`calibrant.report.html_report`)."""
        return score_section(self.judges, self.columns, self._compared(), self.notes)

    def _compared(self) -> dict[str, list[str]]:
        """Judge against judge, by the name of the metric."""
        return {metric.name: judge_lines(metric.comparison) for metric in self.metrics if metric.comparison}

    def to_text(self, width: int | None = None) -> str:
        """The table, and below it every number with its interval and n, or its reason.

        A table wider than `width` characters is shown as several, each with the judges' names.
        """
        settings = pl.Config(
            tbl_rows=-1, tbl_cols=-1, tbl_width_chars=60_000, fmt_str_lengths=200, tbl_hide_dataframe_shape=True
        )
        with settings:
            lines = ["Score Report:", *map(str, _parts(self.to_frame(), width))]
        for column in self.columns:
            lines += ["", f"{column.name} ({column.about})" if column.about else column.name]
            lines += [f"  {judge}: {_cell(column, judge)}" for judge in self.judges]
        for metric in self.metrics:
            if metric.comparison:
                lines += [
                    "",
                    f"{metric.name}, judge against judge",
                    *map("  {}".format, judge_lines(metric.comparison)),
                ]
        if self.notes:
            lines += ["", "Notes:", *(f"  {note}" for note in self.notes)]
        return "\n".join(lines)

    def print(self) -> None:
        """Print the report, no wider than the terminal where there is one."""
        click.echo(self.to_text(shutil.get_terminal_size().columns if sys.stdout.isatty() else None))

    def save(self, name: str | Path, format: str | None = None) -> Path:  # noqa: A002 - the name that users know
        """Write the report as `format` (html, csv, json or txt; by the ending of `name` unless said); its path.

        `name` is relative to the folder `scores/` of the project, and may be a path of your own from the root.
        """
        writers = {"html": self.to_html, "csv": self.to_csv, "json": self._json_text, "txt": self.to_text}
        chosen = format or (Path(name).suffix.removeprefix(".").lower() or "html")
        if chosen not in writers:
            raise UnknownNameError.among("report format", chosen, writers)
        path = self.scores_dir / name
        if not Path(name).is_absolute() and not path.resolve().is_relative_to(self.scores_dir.resolve()):
            raise InputError(f"{str(name)!r} leads out of {self.scores_dir}; give a whole path to write elsewhere")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(writers[chosen](), encoding="utf-8")
        return path

    def _json_text(self) -> str:
        return json.dumps(self.to_json(), indent=2, allow_nan=False, default=str)

    def __repr__(self) -> str:
        return f"ScoreReport({counted(len(self.judges), 'judge')}, {counted(len(self.columns), 'column')})"


def _parts(frame: pl.DataFrame, width: int | None) -> list[pl.DataFrame]:
    """The frame, or its columns in as many frames as it takes to be no wider than `width`, each with the first."""
    first, *names = frame.columns
    taken = max(len(str(one)) for one in [first, *frame[first]]) + BORDERS
    parts: list[list[str]] = [[]]
    used = taken
    for name in names:
        wide = max(len(name), DIGITS) + BORDERS
        if width is not None and parts[-1] and used + wide > width:
            parts.append([])
            used = taken
        parts[-1].append(name)
        used += wide
    return [frame.select(first, *part) for part in parts]


def _cell(column: ReportColumn, judge: str) -> Cell:
    return column.cells.get(judge) or Cell(value=None, reason="there is no result of this judge")


def _columns(metric: MetricResults) -> list[ReportColumn]:
    """One column for a metric of one score, which has the metric's name; else one for each of its scores."""
    flat = {result.judge_id: _flat(result) for result in metric.results}
    names = list(dict.fromkeys(name for cells in flat.values() for name in cells)) or [""]
    reasons = {result.judge_id: result.reason for result in metric.results}
    return [
        ReportColumn(
            name=metric.name if len(names) == 1 else f"{metric.name}_{name}",
            metric=metric.name,
            cells={
                judge: cells.get(name) or Cell(value=None, reason=reasons[judge] or "the scorer gave no such score")
                for judge, cells in flat.items()
            },
            higher_is_better=metric.higher_is_better,
            about=metric.about,
        )
        for name in names
    ]


def _flat(result: BaseScoringResult) -> dict[str, Cell]:
    """A result's scores by name; of winning rates over epsilon, the one that was asked for."""
    cells: dict[str, Cell] = {}
    for name, value in result.scores.items():
        asked = f"{name}_at_epsilon"
        if isinstance(value, dict) and result.scorer_name != "alt_test":
            cells |= {f"{name}_{key}": _of_value(inner, None, result) for key, inner in value.items()}
        else:
            number = result.metadata.get(asked) if isinstance(value, dict) else value
            cells[name] = _of_value(number, result.estimate(name), result)
    return cells


def _of_value(value: Any, estimate: Estimate | None, result: BaseScoringResult) -> Cell:
    number = float(value) if isinstance(value, int | float) else None
    if number is None:
        return Cell(value=None, estimate=estimate, reason=result.reason or "the scorer gave no number")
    if estimate is None:
        coverage = items_of([_compared(one) for one in _tasks(result).values()] or [_compared(result.model_dump())])
        estimate = Estimate(
            value=number, method=result.scorer_name, coverage=coverage, reason="no interval: the scorer gave none"
        )
    return Cell(value=number, estimate=estimate, note=_note(result))


def _note(result: BaseScoringResult) -> str:
    """People's own score and that of a constant answer, or the outcome of the test, where the scorer gave them."""
    per_task = _per_task(result)
    if result.details.get("outcome"):
        return "; ".join([_outcome(result), *per_task])
    found = {name: result.metadata.get(name) or {} for name in ("ceiling", "floor", "relative")}
    shown = [
        f"{who} {_with_bounds(found[name])}"
        for name, who in (("ceiling", "people"), ("floor", "constant"))
        if found[name].get("value") is not None
    ]
    if found["relative"].get("value") is not None:
        shown.append(f"{_with_bounds(found['relative'], digits=2)} of the way from a constant to a person")
    if result.metadata.get("embedding_model"):
        shown.append(f"embeddings by {result.metadata['embedding_model']}")
    return ", ".join([*shown, *per_task])


def _tasks(result: BaseScoringResult) -> Mapping[str, Any]:
    """Each task's own result in one over several; empty in a result of one."""
    found = result.metadata.get("tasks") if result.aggregation_mode is TaskAggregationMode.MULTITASK else None
    return found if isinstance(found, dict) else {}


def _compared(result: Mapping[str, Any]) -> Coverage:
    return Coverage(rated=result["num_comparisons"], failed=result["failed_comparisons"])


def _per_task(result: BaseScoringResult) -> list[str]:
    """How many items each task has, where they differ."""
    counts = {
        task: next(iter(one["intervals"].values()))["n"] if one["intervals"] else one["num_comparisons"]
        for task, one in _tasks(result).items()
    }
    if len(set(counts.values())) < 2:
        return []
    return [f"n by task: {', '.join(f'{task} {n}' for task, n in counts.items())}"]


def _outcome(result: BaseScoringResult) -> str:
    """What came of the test, at which margin, and the smallest margin at which it passes."""
    said, about = str(result.details["outcome"]), result.metadata
    if about.get("epsilon") is not None:
        relative = "multiplicative " if about.get("multiplicative_epsilon") else ""
        said += f" at {relative}epsilon {about['epsilon']:g}"
    margin = about.get("break_even_epsilon")
    if margin is None:
        return said
    every = "every task " if result.aggregation_mode is TaskAggregationMode.MULTITASK else ""
    return f"{said}; {every}passes " + (f"from {margin:.3g}" if margin >= TINY else "at any above 0")


def _with_bounds(data: Mapping[str, Any], *, digits: int = 3) -> str:
    text = f"{data['value']:.{digits}f}"
    if data.get("lower") is None or data.get("upper") is None:
        return text
    return f"{text} [{data['lower']:.{digits}f}, {data['upper']:.{digits}f}]"


def _warnings(metrics: Sequence[MetricResults]) -> list[str]:
    """What scorers warn of, each warning once, with the metrics and the judges that it is of."""
    judges: dict[tuple[str, str], list[str]] = {}
    for metric in metrics:
        for result in metric.results:
            for warning in result.metadata.get("warnings") or ():
                judges.setdefault((warning, metric.name), []).append(result.judge_id)
    names: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (warning, name), who in judges.items():
        names.setdefault((warning, tuple(who)), []).append(name)
    return [f"{', '.join([*named, *who])}: {warning}" for (warning, who), named in names.items()]


def judge_lines(comparison: Mapping[str, Any]) -> list[str]:
    """Judge against judge in lines: every difference with its interval and p-value, and who cannot be told apart."""
    if comparison.get("reason"):
        return [f"no comparison: {comparison['reason']}"]
    lines = [
        f"{one['first']} - {one['second']}: {Estimate.from_json(one['difference'])}, {_p_text(one)}"
        for one in comparison["differences"]
    ]
    alike = [", ".join(group) for group in comparison["groups"] if len(group) > 1]
    return [*lines, *(f"cannot be told apart: {group}" for group in alike)]


def _p_text(difference: Mapping[str, Any]) -> str:
    if difference["p"] is None:
        return "no p-value"
    return f"p={difference['p']:.3g}, by Holm {difference['p_holm']:.3g}"
