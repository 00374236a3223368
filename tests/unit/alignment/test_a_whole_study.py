"""A researcher's study from files to report: every scorer, strategy and aggregation, with data as they come.

Integer ids, missing labels, a constant person, empty texts, unknown labels, and judges in two formats.
"""

import csv
import json
import math
import random
import re
import shutil

import polars as pl
import pytest

from calibrant.alignment import (
    AccuracyScorer,
    AltTestScorer,
    CohensKappaScorer,
    EvalTask,
    MetaEvaluator,
    MetricConfig,
    MetricsConfig,
    SemanticSimilarityScorer,
    TextSimilarityScorer,
)
from calibrant.cli.group import main

ITEMS = 90
LABELS = ["rejection", "not rejection"]
TASK = EvalTask(
    {"rejection": LABELS, "hateful": ["hateful", "FALSE"], "violent": ["violent", "FALSE"], "explanation": None},
    prompt_columns=["question"],
    response_columns=["answer"],
)
CHARTS = {
    "accuracy": {"accuracy_scores"},
    "cohens_kappa": {"cohens_kappa_scores"},
    "alt_test": {"aggregate_advantage_probabilities", "aggregate_human_vs_llm_advantage", "aggregate_winning_rates"},
    "text_similarity": {"text_similarity_scores"},
    "semantic_similarity": {"semantic_similarity_scores"},
}
SHARED = {
    *("judge_id", "scorer_name", "task_strategy", "task_name", "score", "scores", "n", "interval", "level"),
    *("coverage", "intervals", "reason", "config_hash", "metadata", "num_comparisons", "failed_comparisons"),
}
OWN = {
    "accuracy": ({"total_instances", "correct_instances"}, {"human_annotators", "scoring_date"}),
    "cohens_kappa": ({"interpretation"}, {"observed_agreement", "expected_agreement", "human_annotators"}),
    "alt_test": ({"outcome"}, {"human_advantage_probabilities", "scoring_function", "epsilon",
                               "multiplicative_epsilon", "min_instances_per_human", "ground_truth_method"}),
    "text_similarity": (set(), {"mean_similarity", "median_similarity", "std_similarity", "total_comparisons"}),
    "semantic_similarity": (set(), {"mean_similarity", "median_similarity", "std_similarity", "total_comparisons",
                                    "embedding_model"}),
}  # fmt: skip


def answers(seed, right, *, missing=0.0, constant=None):
    draw, rows = random.Random(seed), []
    for item in range(ITEMS):
        label = LABELS[item % 2] if draw.random() < right else draw.choice(LABELS)
        rows.append(
            {
                "original_id": item,
                "rejection": None if draw.random() < missing else constant or label,
                "hateful": "hateful" if (item % 3 == 0) == (draw.random() < right) else "FALSE",
                "violent": "violent" if (item % 4 == 0) == (draw.random() < right) else "FALSE",
                "explanation": "" if item % 17 == 0 else f"it {draw.choice(['says', 'states'])} {item % 7}, {label}",
            }
        )
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    items = [{"id": item, "question": f"Q{item}?", "answer": f"<b>{item}</b>"} for item in range(ITEMS)]
    pl.DataFrame(items).write_csv(folder / "items.csv")
    answers(1, 0.9, missing=0.05).write_csv(folder / "gpt.csv")
    claude = answers(2, 0.7).with_columns(
        pl.when(pl.col("original_id") == 3).then(pl.lit("maybe")).otherwise("rejection").alias("rejection")
    )
    claude.write_parquet(folder / "claude.parquet")
    answers(3, 0.85, missing=0.1).write_csv(folder / "kim.csv")
    answers(4, 0.85).write_ndjson(folder / "lee.jsonl")
    answers(5, 0.9, constant="rejection").write_json(folder / "ann.json")
    return folder


def every_metric():
    labels = {"single": ["rejection"], "multitask": ["rejection", "hateful"], "multilabel": ["hateful", "violent"]}
    texts = {
        "single": ["explanation"],
        "multitask": ["explanation", "rejection"],
        "multilabel": ["hateful", "explanation"],
    }
    scorers = {AccuracyScorer: labels, CohensKappaScorer: labels, AltTestScorer: labels,
               TextSimilarityScorer: texts, SemanticSimilarityScorer: texts}  # fmt: skip
    return [
        MetricConfig(scorer(), names, strategy, aggregation)
        for scorer, strategies in scorers.items()
        for strategy, names in strategies.items()
        for aggregation in ("individual_average", "majority_vote")
    ]


@pytest.fixture(scope="module")
def study(files):
    project = MetaEvaluator(files / "project")
    project.add_eval_task(TASK)
    project.add_data(files / "items.csv", id_column="id")
    for name in ("gpt.csv", "claude.parquet"):
        project.add_external_judge_results(files / name)
    for name in ("kim.csv", "lee.jsonl", "ann.json"):
        project.add_external_annotation_results(files / name)
    project.draws_charts = False
    project.add_metrics_config(MetricsConfig(every_metric()))
    project.compare_async()
    return project


@pytest.fixture(scope="module")
def small(study, tmp_path_factory):
    """The same study with one metric of each scorer, over several tasks, and drawn."""
    folder = tmp_path_factory.mktemp("small") / "project"
    shutil.copytree(study.project_dir, folder, ignore=shutil.ignore_patterns("scores"))
    project = MetaEvaluator(folder, load=True)
    chosen = [one for one in every_metric() if one.task_strategy == "multitask"][::2]
    project.add_metrics_config(MetricsConfig(chosen))
    project.compare_async()
    return project


def folders(study):
    for metric in study.metrics_config.metrics:
        yield metric, study.scores_dir / metric.scorer.scorer_name / metric.get_unique_name()


def test_every_metric_has_its_folder_with_a_file_a_judge(study):
    for _, folder in folders(study):
        assert {path.name for path in folder.iterdir()} == {"gpt_result.json", "claude_result.json"}


def test_every_scorer_draws_its_charts_also_over_several_tasks(small):
    drawn = {metric.scorer.scorer_name: folder for metric, folder in folders(small)}
    assert set(drawn) == set(CHARTS)
    for scorer, folder in drawn.items():
        pictures = list(folder.glob("*.png"))
        assert {path.stem for path in pictures} == CHARTS[scorer]
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in pictures)


def test_every_file_has_the_keys_that_are_promised(study):
    for metric, folder in folders(study):
        for path in folder.glob("*_result.json"):
            data = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
            own, about = OWN[metric.scorer.scorer_name]
            assert set(data) >= SHARED | ({"unique_name"} if data["score"] is None else own)
            assert data["task_strategy"] == metric.task_strategy
            assert data["config_hash"] == metric.hash
            if data["score"] is not None:
                assert set(data["metadata"]) >= about


def test_every_number_has_an_interval_and_n_or_says_why(study):
    numbers = 0
    for column in study.score_report.columns:
        for cell in column.cells.values():
            if cell.value is None:
                assert cell.reason
                continue
            numbers += 1
            assert math.isfinite(cell.value)
            assert cell.estimate.n > 0
            assert cell.estimate.reason or cell.estimate.lower <= cell.value <= cell.estimate.upper
    assert numbers == 2 * (len(study.score_report.columns) - 2)


def test_kappa_of_label_sets_alone_has_no_score_and_says_why(study):
    without = {column.metric for column in study.score_report.columns if column.best is None}
    assert len(without) == 2
    assert all(name.startswith("cohens_kappa_2tasks_") and name.endswith("_multilabel") for name in without)


def test_an_unknown_label_is_named_once_and_counts_as_failed(study):
    note = "claude, rejection, item 3: expected one of rejection, not rejection, got 'maybe'"
    assert study.score_report.notes.count(note) == 1
    folder = next(folder for metric, folder in folders(study) if metric.task_names == ["rejection"])
    data = json.loads((folder / "claude_result.json").read_text(encoding="utf-8"))
    assert (data["n"], data["coverage"]["failed"]) == (ITEMS - 1, 1)


def test_missing_labels_are_skipped_and_never_compared(study):
    folder = next(folder for metric, folder in folders(study) if metric.task_names == ["rejection"])
    data = json.loads((folder / "gpt_result.json").read_text(encoding="utf-8"))
    missing = study.judge_results["gpt"].frame["rejection"].null_count()
    assert missing > 0
    assert (data["n"], data["coverage"]["skipped"]) == (ITEMS - missing, missing)


def test_people_and_a_constant_stand_beside_every_score_of_labels_and_texts(study):
    for metric, folder in folders(study):
        data = json.loads((folder / "gpt_result.json").read_text(encoding="utf-8"))
        if metric.scorer.scorer_name != "alt_test" and data["score"] is not None:
            assert {"ceiling", "floor", "relative"} <= set(data["metadata"])
            assert data["metadata"]["ceiling"]["value"] is not None or data["metadata"]["ceiling"]["reason"]


def test_the_report_opens_again_as_it_was(study):
    again = MetaEvaluator(study.project_dir, load=True)
    assert again.score_report.to_csv() == study.score_report.to_csv()
    assert again.score_report.to_text() == study.score_report.to_text()
    assert [one.hash for one in again.metrics_config.metrics] == [one.hash for one in every_metric()]


def test_no_two_metrics_share_a_name(study):
    names = [metric.get_unique_name() for metric in study.metrics_config.metrics]
    assert len(set(names)) == len(names) == 30
    assert all(re.fullmatch(r"\w+_\dtasks_[0-9a-f]{8}_(single|multitask|multilabel)", name) for name in names)


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["align", *map(str, arguments)])
    return ended.value.code or 0, *capsys.readouterr()


def test_the_command_reports_writes_a_page_and_the_disagreements(small, tmp_path, capsys):
    code, out, _ = run(capsys, small.project_dir, "--html", tmp_path / "r.html", "--disagreements", tmp_path / "look")
    assert code == 0
    assert out.startswith("Score Report:")
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert {path.name for path in (tmp_path / "look").iterdir()} == {
        f"{task}_{judge}.csv" for task in ("rejection", "hateful") for judge in ("gpt", "claude")
    }
    with (tmp_path / "look" / "hateful_gpt.csv").open(encoding="utf-8", newline="") as file:
        row = next(csv.DictReader(file))
    assert row["data:answer"] == f"<b>{row['item']}</b>"


def test_the_command_s_exit_code_is_the_answer(small, capsys):
    given = ["accuracy.n >= 80", "accuracy.lower >= 0.99", "text_similarity.lower > 2"]
    arguments = [part for one in given for part in ("--require", one)]
    code, out, _ = run(capsys, small.project_dir, "--json", *arguments)
    data = json.loads(out, parse_constant=pytest.fail)
    assert (code, data["exit_code"]) == (1, 1)
    assert [one["answer"] for one in data["requirements"]] == ["PASS", "PASS", "FAIL", "FAIL", "FAIL", "FAIL"]
