"""`calibrant align`: judges against people, from a project or from two files, and rates that people correct."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from calibrant.cli.group import EXIT_CODES, NamedGroup
from calibrant.cli.options import examples, quiet_option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.alignment import MetaEvaluator, ScoreReport
    from calibrant.alignment.requirements import Answer

__all__ = ["align"]

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


class ReportUnlessNamed(NamedGroup):
    """A group whose own arguments go to `report`, so that `calibrant align PROJECT` needs no word more."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, with `report` before those that begin with no subcommand."""
        if args and args[0] not in {*self.commands, "-h", "--help"}:
            args = ["report", *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=ReportUnlessNamed,
    no_args_is_help=True,
    epilog=examples(
        "calibrant align --judge judge.csv --human people.csv",
        "calibrant align correct --judge judge.csv --human people.csv --positive yes",
    ),
)
def align() -> None:
    """Compare judges with people: `calibrant align PROJECT`, or `calibrant align --judge FILE --human FILE`.

    Both are `calibrant align report`; its --help has the options, and says what the files look like.
    """


@align.command(
    epilog=examples(
        "calibrant align --judge judge.csv --human people.csv",
        'calibrant align --judge judge.csv --human people.csv --require "kappa >= 0.2"',
    )
)
@click.argument("project", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--judge", "judges", multiple=True, type=FILE, help="Results of a judge: CSV, JSON, JSONL, Parquet.")
@click.option("--human", "humans", multiple=True, type=FILE, help="Results of a person, or of several.")
@click.option("--task", "tasks", multiple=True, metavar="NAME", help="A task to compare on; all, unless named.")
@click.option(
    "--html", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Also write one HTML page."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--disagreements",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write where judges and people part.",
)
@quiet_option
@click.option(
    "--require", "requirements", multiple=True, metavar="CONDITION", help='A condition, such as "kappa.lower >= 0.6".'
)
def report(
    *,
    project: Path | None,
    html: Path | None,
    as_json: bool,
    disagreements: Path | None,
    requirements: Sequence[str],
    **answers: Any,
) -> int:
    """Report how well the judges of PROJECT, or of --judge files, agree with people.

    Files have a column with the ids of items (original_id, id, item or item_id) and one for each task; or they are
    JSON of the form {rater: {item: label}}. A file is one rater's, named by the file, unless a column judge_id or
    annotator_id says whose rows are whose; --judge and --human may be given several times. Exit code 1 when a
    requirement fails, 3 when one cannot be decided or when no judge has any score.
    """
    judges, humans = answers["judges"], answers["humans"]
    if (project is None) == (not judges) or bool(judges) != bool(humans):
        raise click.UsageError("give a PROJECT, or both --judge FILE and --human FILE")
    with tempfile.TemporaryDirectory() as folder:
        only = answers["tasks"][0] if len(answers["tasks"]) == 1 else None
        evaluator = _opened(project) if project else _of_files(Path(folder), judges, humans, only)
        found = _compared(evaluator, answers["tasks"])
        required = _answers(found, requirements)
        if html:
            html.parent.mkdir(parents=True, exist_ok=True)
            html.write_text(found.to_html(), encoding="utf-8")
        if disagreements:
            _write_disagreements(evaluator, disagreements)
        nothing = _without_scores(found)
        code = _exit_code(required) or EXIT_CODES["inconclusive" if nothing else "passed"]
        _shown(found, required, code, reason=nothing, as_json=as_json)
    return code


@align.command(epilog=examples("calibrant align correct --judge judge.csv --human people.csv --positive yes"))
@click.option("--judge", required=True, type=FILE, help="The judge's answers to all items.")
@click.option("--human", required=True, type=FILE, help="People's answers to some of them.")
@click.option("--task", metavar="NAME", help="The column of the answers; the only one, unless named.")
@click.option(
    "--positive", default="true", show_default=True, metavar="ANSWER", help="The answer whose rate is wanted."
)
@click.option(
    "--labels-from",
    type=click.Choice(["same_traffic", "elsewhere"]),
    default="same_traffic",
    show_default=True,
    help="Whether the labels are a random sample of the judged items.",
)
@click.option("--cluster", metavar="COLUMN", help="A column of the judge's file: what items share, such as a customer.")
@click.option("--level", type=float, default=0.95, show_default=True, metavar="LEVEL", help="Of the intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print the rate as JSON.")
@quiet_option
def correct(
    *,
    judge: Path,
    human: Path,
    task: str | None,
    cluster: str | None,
    as_json: bool,
    **settings: Any,
) -> int:
    """Say what rate people would find on all items, from a judge on all and people on some."""
    from calibrant.agreement import corrected_rate
    from calibrant.alignment.answer_columns import answers_by_item, clusters_by_item, most_frequent, votes_by_item
    from calibrant.alignment.scorers.label_kinds import unlike_spellings

    judged, votes = answers_by_item(judge, task, without=cluster), votes_by_item(human, task, without=cluster)
    labelled = {item: most_frequent(said) for item, said in votes.items()}
    by_judge, by_people = ({one for one in said.values() if one is not None} for said in (judged, labelled))
    settings["positive"] = positive = _known_answer(settings["positive"], by_judge | by_people)
    _require_one_spelling(positive, by_judge | by_people)
    shared = clusters_by_item(judge, cluster) if cluster else None
    rate = corrected_rate(judged, labelled, clusters=shared, **settings)
    said = [one.replace("labels_from='elsewhere'", "--labels-from elsewhere") for one in rate.warnings]
    warnings = [*unlike_spellings(by_judge, by_people), *_of_ties(votes, labelled), *said]
    if as_json:
        data = {"schema": "calibrant.corrected_rate/1", "positive": positive, **rate.to_json(), "warnings": warnings}
        click.echo(json.dumps(data, allow_nan=False))
    else:
        click.echo(f"corrected rate  {rate.estimate} ({rate.estimate.method})")
        click.echo(f"judge alone     {rate.judge_rate}")
        click.echo(f"labels alone    {rate.label_rate}")
        click.echo(rate.worth_text())
        for warning in warnings:
            click.echo(f"warning: {warning}")
    return EXIT_CODES["passed"] if rate.estimate.value is not None else EXIT_CODES["inconclusive"]


def _of_ties(votes: Mapping[str, Sequence[str]], labelled: Mapping[str, str | None]) -> list[str]:
    tied = [item for item, said in votes.items() if said and labelled[item] is None]
    if not tied:
        return []
    named = ", ".join(tied[:5]) + ", ..." * (len(tied) > 5)
    return [f"people are tied on {len(tied)} item{'s' * (len(tied) > 1)}, which count as not labelled: {named}"]


def _known_answer(positive: str, known: set[str]) -> str:
    """The answer that was meant: as it stands in the files, or as they spell a truth value."""
    meant = next((one for one in (positive, positive.casefold()) if one in known), None)
    if meant is None:
        listed = ", ".join(sorted(known)[:10])
        raise click.UsageError(f"nobody answered {positive!r}; --positive is one of: {listed}")
    return meant


def _require_one_spelling(positive: str, known: set[str]) -> None:
    """Refuse answers that would count as another than `positive` for a capital letter alone."""
    from calibrant.alignment.spellings import spelled_apart
    from calibrant.errors import InputError

    for found in spelled_apart(known):
        if positive in found:
            written = " and ".join(map(repr, found))
            raise InputError(
                f"one answer is written as {written}; write it in one way, since only {positive!r} is counted"
            )


def _opened(project: Path) -> MetaEvaluator:
    from calibrant.alignment import MetaEvaluator
    from calibrant.alignment.project_state import STATE_FILE

    if not any((project / name).exists() for name in (STATE_FILE, "results", "annotations")):
        raise click.UsageError(f"{project} is no project: it has no {STATE_FILE}, no results/ and no annotations/")
    return MetaEvaluator(project, load=True)


def _of_files(folder: Path, judges: Sequence[Path], humans: Sequence[Path], task: str | None) -> MetaEvaluator:
    """A project of these files; labels that have no column of their own are of `task`."""
    from calibrant.alignment import MetaEvaluator

    evaluator = MetaEvaluator(folder)
    evaluator.draws_charts = False
    for path in judges:
        evaluator.add_external_judge_results(path, task=task)
    for path in humans:
        evaluator.add_external_annotation_results(path, task=task)
    return evaluator


def _write_disagreements(evaluator: MetaEvaluator, folder: Path) -> None:
    """A file for each judge and task of labels that it answered; what cannot be compared is said."""
    from calibrant.alignment.safe_names import safe_name
    from calibrant.alignment.scorers.similarity import SimilarityScorer
    from calibrant.errors import InputError

    metrics = evaluator.metrics_config.metrics if evaluator.metrics_config else ()
    asked = dict.fromkeys(
        task for one in metrics if not isinstance(one.scorer, SimilarityScorer) for task in one.task_names
    )
    for judge, results in evaluator.judge_results.items():
        for task in (one for one in asked if one in results.tasks):
            path = (folder / f"{safe_name(f'{task}_{judge}')}.csv").absolute()
            try:
                evaluator.save_disagreements(task, judge, path)
            except InputError as error:
                click.echo(f"no disagreements of {judge} on {task}: {error}", err=True)


def _compared(evaluator: MetaEvaluator, tasks: Sequence[str]) -> ScoreReport:
    if tasks or evaluator.metrics_config is None:
        evaluator.add_usual_metrics(tasks)
    evaluator.compare_async()
    return evaluator.score_report


def _answers(found: ScoreReport, requirements: Sequence[str]) -> list[Answer]:
    from calibrant.alignment.requirements import answered

    return answered(found, requirements)


def _exit_code(answers: Sequence[Answer]) -> int:
    said = {answer.answer for answer in answers}
    if "FAIL" in said:
        return EXIT_CODES["failed"]
    return EXIT_CODES["inconclusive" if "INCONCLUSIVE" in said else "passed"]


def _without_scores(found: ScoreReport) -> str:
    """Why there is nothing to decide by; empty when a judge has a score."""
    cells = [cell for column in found.columns for cell in column.cells.values()]
    if any(cell.value is not None for cell in cells):
        return ""
    reasons = dict.fromkeys(cell.reason for cell in cells if cell.reason)
    return f"no judge has any score: {'; '.join(reasons) or 'there was nothing to compare'}"


def _shown(found: ScoreReport, answers: Sequence[Answer], code: int, *, reason: str, as_json: bool) -> None:
    if as_json:
        required = [answer.to_json() for answer in answers]
        data = {**found.to_json(), "requirements": required, "exit_code": code, "reason": reason}
        click.echo(json.dumps(data, allow_nan=False, default=str))
        return
    found.print()
    for answer in answers:
        click.echo(str(answer))
    if reason:
        click.echo(f"INCONCLUSIVE: {reason}")
