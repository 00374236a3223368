"""The n of a score over several tasks: items, in the terminal, in CSV, in JSON, and for requirements."""

import csv
import io
from pathlib import Path

import polars as pl
import pytest

from calibrant.alignment import AccuracyScorer, BaseScorer, BaseScoringResult, MetaEvaluator, MetricConfig
from calibrant.alignment.requirements import answered

TASKS = ["safe", "tone", "clear"]


class Share(BaseScorer):
    """A scorer of one's own, without an interval."""

    def __init__(self):
        super().__init__(scorer_name="share")

    def can_score_task(self, sample_label):
        return True

    async def compute_score_async(self, judge_data, human_data, task_name, judge_id, aggregation_mode):
        return BaseScoringResult(
            scorer_name="share", task_name=task_name, judge_id=judge_id, scores={"share": 0.5},
            aggregation_mode=aggregation_mode, num_comparisons=len(judge_data),
        )  # fmt: skip


def report(folder: Path, *scorers, items=80, fewer=0):
    """Three tasks of `items` items, of which the last has `fewer` less."""
    project = MetaEvaluator(folder)
    project.draws_charts = False
    missing = {"clear": range(items - fewer, items)}

    def rows(label):
        return pl.DataFrame(
            [
                {"id": str(item), **{task: None if item in missing.get(task, ()) else label(item) for task in TASKS}}
                for item in range(items)
            ]
        )

    project.add_external_judge_results(rows(lambda _: "yes"), "judge")
    for person in ("kim", "lee"):
        project.add_external_annotation_results(rows(lambda item: "yes" if item % 3 else "no"), person)
    for scorer in scorers:
        project.add_metrics_config(MetricConfig(scorer, TASKS, "multitask"))
    project.compare_async()
    return project.score_report


@pytest.mark.parametrize("scorer", [AccuracyScorer, Share])
def test_three_tasks_of_eighty_items_have_eighty_items(tmp_path, scorer):
    found = report(tmp_path, scorer())
    text = found.to_text()
    assert " n=80" in text
    assert "240" not in text
    assert "n by task" not in text
    (row,) = csv.DictReader(io.StringIO(found.to_csv()))
    assert [value for name, value in row.items() if name.endswith("_n")] == ["80"]


def test_json_and_requirements_have_the_same_n(tmp_path):
    found = report(tmp_path, AccuracyScorer())
    (result,) = found.to_json()["metrics"][0]["results"]
    assert (result["n"], result["coverage"]["rated"]) == (80, 80)
    assert [one["intervals"]["accuracy"]["n"] for one in result["metadata"]["tasks"].values()] == [80, 80, 80]
    assert [one.answer for one in answered(found, ["accuracy.n >= 80", "accuracy.n > 80"])] == ["PASS", "FAIL"]


@pytest.mark.parametrize("scorer", [AccuracyScorer, Share])
def test_tasks_of_unlike_items_are_told_with_their_n(tmp_path, scorer):
    text = report(tmp_path, scorer(), fewer=30).to_text()
    assert " n=50" in text
    assert "n by task: safe 80, tone 80, clear 50" in text
