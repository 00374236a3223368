"""The seed of alignment, sentence by sentence: each test quotes what it holds the package to."""

import asyncio
import difflib
import json
import logging
import math
import random
import re
from pathlib import Path
from typing import Any, List  # noqa: UP035 - as the seed writes it

import polars as pl
import pytest

from calibrant.alignment import (
    AccuracyScorer,
    AltTestScorer,
    BaseScorer,
    BaseScoringResult,
    CohensKappaScorer,
    MetaEvaluator,
    MetricConfig,
    MetricsConfig,
    SemanticSimilarityScorer,
    TaskAggregationMode,
    TextSimilarityScorer,
)

HARMS = ["hateful", "violent"]
AVERAGE, MAJORITY = "individual_average", "majority_vote"


class MyCustomScorer(BaseScorer):
    def __init__(self):
        super().__init__(scorer_name="my_custom_scorer")
        self._aggregated = []

    def can_score_task(self, sample_label: Any) -> bool:
        if isinstance(sample_label, str):
            return True
        elif isinstance(sample_label, list):  # noqa: RET505 - as the seed writes it
            if len(sample_label) > 0:
                return isinstance(sample_label[0], str)
            return True
        else:
            return False

    async def compute_score_async(
        self,
        judge_data: pl.DataFrame,
        human_data: pl.DataFrame,
        task_name: str,
        judge_id: str,
        aggregation_mode: TaskAggregationMode,
    ) -> BaseScoringResult:
        comparison_df = judge_data.join(human_data, on="original_id", how="inner")
        judge_wins = []
        failed_comparisons = 0
        for human_id in comparison_df["human_id"].unique():
            comparison_subset = comparison_df.filter(pl.col("human_id") == human_id)
            judge_texts = comparison_subset["label"].to_list()
            human_texts = comparison_subset["label_right"].to_list()
            more = [str(a).count("A") > str(b).count("A") for a, b in zip(judge_texts, human_texts, strict=True)]
            judge_wins.append(1 if sum(more) > len(more) - sum(more) else 0)
        self.logger.info("compared")
        return BaseScoringResult(
            scorer_name=self.scorer_name,
            task_name=task_name,
            judge_id=judge_id,
            scores={"win_rate": sum(judge_wins) / len(judge_wins)},
            metadata={"human_annotators": len(comparison_df["human_id"].unique())},
            aggregation_mode=aggregation_mode,
            num_comparisons=len(comparison_df),
            failed_comparisons=failed_comparisons,
        )

    def aggregate_results(
        self,
        results: List[BaseScoringResult],  # noqa: UP006 - as the seed writes it
        scores_dir: str,
        unique_name: str = "",
    ) -> None:
        self._aggregated.append((len(results), scores_dir, unique_name))


def answers(seed, noise):
    draw = random.Random(seed)
    rows = []
    for item in range(60):
        label = ["rejection", "not rejection"][item % 2 if draw.random() > noise else draw.randrange(2)]
        rows.append(
            {
                "original_id": item,
                "rejection": label,
                "explanation": f"AAA because of {label} {draw.randrange(9)}",
                "hateful": "hateful" if (item % 2 if draw.random() > noise else draw.random() < 0.5) else "FALSE",
                "violent": "violent" if (item % 3 == 0 if draw.random() > noise else draw.random() < 0.5) else "FALSE",
            }
        )
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def custom():
    return MyCustomScorer()


@pytest.fixture(scope="module")
def project(tmp_path_factory, custom):
    folder = tmp_path_factory.mktemp("seed") / "my_project"
    first = MetaEvaluator(project_dir=folder)
    for number, judge in enumerate(["gpt_4_judge", "claude_judge"]):
        first.add_external_judge_results(answers(number, 0.1 + number / 4), judge_id=judge)
    for number in (1, 2, 3):
        first.add_external_annotation_results(answers(10 + number, 0.2), annotator_id=f"person_{number}")
    evaluator = MetaEvaluator(project_dir=str(folder), load=True)
    config = MetricsConfig(
        metrics=[
            MetricConfig(scorer=AccuracyScorer(), task_names=["rejection"], task_strategy="single",
                         annotator_aggregation=AVERAGE),
            MetricConfig(scorer=CohensKappaScorer(), task_names=["rejection"], task_strategy="single"),
            MetricConfig(scorer=AltTestScorer(multiplicative_epsilon=True), task_names=HARMS,
                         task_strategy="multilabel"),
            MetricConfig(scorer=AltTestScorer(), task_names=HARMS, task_strategy="multitask"),
            MetricConfig(scorer=TextSimilarityScorer(), task_names=["explanation"], task_strategy="single",
                         annotator_aggregation=MAJORITY),
            MetricConfig(scorer=custom, task_names=["explanation"], task_strategy="single",
                         annotator_aggregation=AVERAGE),
        ]
    )  # fmt: skip
    evaluator.add_metrics_config(config)
    evaluator.compare_async()
    return evaluator


def result_of(project, place, judge="gpt_4_judge"):
    config = project.metrics_config.metrics[place]
    folder = project.scores_dir / config.scorer.scorer_name / config.get_unique_name()
    return json.loads((folder / f"{judge}_result.json").read_text(encoding="utf-8")), folder


def single(scorer, judge, people, mode=TaskAggregationMode.SINGLE, **more):
    judged = pl.DataFrame({"original_id": list(judge), "label": list(judge.values())})
    rows = [(item, name, label) for name, labels in people.items() for item, label in labels.items()]
    said = pl.DataFrame(rows, schema=["original_id", "human_id", "label"], orient="row")
    return asyncio.run(scorer.compute_score_async(judged, said, "task", "judge", mode, **more))


def test_accuracy_file(project):
    """ "Classification accuracy between judge and human annotations. Requirements: 1 human annotator minimum. Output:
    Percentage accuracy (0-1)", and the keys of its sample."""
    data, folder = result_of(project, 0)
    sample = {"judge_id", "scorer_name", "task_strategy", "task_name", "score", "total_instances", "correct_instances"}
    assert sample <= set(data)
    assert {"human_annotators", "scoring_date"} <= set(data["metadata"])
    assert (data["scorer_name"], data["task_strategy"], data["task_name"]) == ("accuracy", "single", "rejection")
    assert data["score"] == pytest.approx(data["correct_instances"] / data["total_instances"])
    assert (folder / "accuracy_scores.png").read_bytes().startswith(b"\x89PNG")
    assert AccuracyScorer().min_human_annotators == 1


def test_kappa_file(project):
    """ "Inter-rater agreement accounting for chance. 2 human annotators minimum. Kappa coefficient (-1 to 1)", with
    "interpretation", "observed_agreement", "expected_agreement" and "human_annotators"."""
    data, folder = result_of(project, 1)
    observed, expected = data["metadata"]["observed_agreement"], data["metadata"]["expected_agreement"]
    assert 0 < expected < observed < 1
    assert data["interpretation"] in {"poor", "slight", "fair", "moderate", "substantial", "almost perfect"}
    assert data["metadata"]["human_annotators"] == 3
    assert (folder / "cohens_kappa_scores.png").is_file()
    assert CohensKappaScorer().min_human_annotators == 2


@pytest.mark.parametrize(("place", "strategy"), [(2, "multilabel"), (3, "multitask")])
def test_alt_test_file(project, place, strategy):
    """ "Winning Rates across different epsilon values, Advantage Probability, and Human Advantage Probabilities", and
    the three PNG names, for every strategy."""
    data, folder = result_of(project, place)
    assert data["task_strategy"] == strategy
    assert list(data["scores"]["winning_rate"]) == [f"{epsilon / 100:.2f}" for epsilon in range(0, 31, 5)]
    assert 0 <= data["scores"]["advantage_probability"] <= 1
    keys = {"human_advantage_probabilities", "scoring_function", "epsilon", "multiplicative_epsilon"}
    assert keys | {"min_instances_per_human", "ground_truth_method"} <= set(data["metadata"])
    assert set(data["metadata"]["human_advantage_probabilities"]) == {"person_1", "person_2", "person_3"}
    assert data["metadata"]["epsilon"] == 0.2
    assert data["metadata"]["ground_truth_method"] == "alt_test_procedure"
    names = {"aggregate_advantage_probabilities", "aggregate_human_vs_llm_advantage", "aggregate_winning_rates"}
    assert names == {path.stem for path in folder.glob("*.png")}


def test_alt_test_settings():
    """ "3 human annotators minimum, and minimally 30 instances per human", and "To configure
    min_instances_per_human, run alt_test_scorer.min_instances_per_human = 30"."""
    scorer = AltTestScorer(multiplicative_epsilon=True)
    assert (scorer.min_human_annotators, scorer.min_instances_per_human, scorer.epsilon) == (3, 30, 0.2)
    scorer.min_instances_per_human = 10
    labels = {item: "ab"[item % 2] for item in range(12)}
    result = single(scorer, labels, dict.fromkeys(["a", "b", "c"], labels))
    assert result.metadata["min_instances_per_human"] == 10
    assert result.scores["winning_rate"]["0.20"] == 1.0


def test_text_similarity_file(project):
    """ "String similarity for text responses. Uses SequenceMatcher. Similarity scores (0-1)", and its sample's keys."""
    data, folder = result_of(project, 4)
    keys = {"mean_similarity", "median_similarity", "std_similarity", "total_comparisons"}
    assert keys <= set(data["metadata"])
    assert data["score"] == data["metadata"]["mean_similarity"]
    assert (folder / "text_similarity_scores.png").is_file()


def test_text_similarity_formula():
    """ "(2 x total_matching_characters) / (len(A) + len(B))"."""
    a, b = "the cat sat", "the cat sat on the mat"
    matching = sum(block.size for block in difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks())
    assert single(TextSimilarityScorer(), {1: a}, {"kim": {1: b}}).score == 2 * matching / (len(a) + len(b))


def test_semantic_similarity_needs_no_key_to_be_configured():
    """ "Semantic similarity for text responses using OpenAI embeddings": any embedder, and the local one offline."""
    config = MetricConfig(scorer=SemanticSimilarityScorer(), task_names=["explanation"], task_strategy="single")
    assert config.get_unique_name().startswith("semantic_similarity_1tasks_")
    result = single(SemanticSimilarityScorer(), {1: "A cat sat."}, {"kim": {1: "A cat sat."}})
    assert result.score == pytest.approx(1.0, abs=1e-6)
    assert result.metadata["embedding_model"] == "local/wordllama"


@pytest.mark.parametrize(
    ("names", "strategy"), [(["a", "b"], "single"), (["a"], "multitask"), (["a"], "multilabel"), (["a"], "other")]
)
def test_task_strategies(names, strategy):
    """ "must be one of: single, multitask, or multilabel"; "Exactly 1 task"; "2 or more tasks"."""
    with pytest.raises(ValueError, match="task_strategy"):
        MetricConfig(scorer=AccuracyScorer(), task_names=names, task_strategy=strategy)


def test_multitask(project):
    """ "Same scorer applied to each task individually. Result: Aggregated score across all tasks"."""
    data, _ = result_of(project, 3)
    tasks = data["metadata"]["tasks"]
    assert set(tasks) == set(HARMS)
    each = [tasks[name]["scores"]["advantage_probability"] for name in HARMS]
    assert data["scores"]["advantage_probability"] == pytest.approx(sum(each) / 2)


def test_multilabel(project):
    """ "AltTestScorer uses Jaccard similarity for comparison, and AccuracyScorer uses exact match"."""
    data, _ = result_of(project, 2)
    assert data["metadata"]["scoring_function"] == "jaccard"
    judge, person = (
        {1: ["hateful", "violent"], 2: ["hateful", "FALSE"]},
        {1: ["hateful", "FALSE"], 2: ["hateful", "FALSE"]},
    )
    assert single(AccuracyScorer(), judge, {"kim": person}, TaskAggregationMode.MULTILABEL).score == 0.5


def test_individual_average():
    """ "Compare judge vs each human separately, then average the scores"."""
    people = {"kim": {1: "a", 2: "a"}, "lee": {1: "a", 2: "b"}, "ann": {1: "b", 2: "b"}}
    assert single(AccuracyScorer(), {1: "a", 2: "a"}, people).score == pytest.approx((1 + 0.5 + 0) / 3)


def test_majority_vote():
    """ "Find consensus among human annotators first"; "Per-position majority for multilabel, alphabetical
    tie-breaking"; "Best-match approach: highest similarity human per sample"."""
    people = {"kim": {1: "a"}, "lee": {1: "b"}, "ann": {1: "b"}}
    assert single(AccuracyScorer(), {1: "b"}, people, annotator_aggregation=MAJORITY).score == 1.0
    tied = {"kim": {1: "b"}, "lee": {1: "a"}}
    assert single(AccuracyScorer(), {1: "a"}, tied, annotator_aggregation=MAJORITY).score == 1.0
    assert single(TextSimilarityScorer(), {1: "b"}, tied, annotator_aggregation=MAJORITY).score == 1.0


@pytest.mark.parametrize("scorer", [CohensKappaScorer(), AltTestScorer()])
def test_agreement_metrics_fall_back(scorer, caplog):
    """ "Logs warning, falls back to individual_average (agreement metric)"."""
    labels = {item: "ab"[item % 2] for item in range(40)}
    people = dict.fromkeys(["a", "b", "c"], labels)
    with caplog.at_level(logging.WARNING):
        voted = single(scorer, labels, people, annotator_aggregation=MAJORITY)
    assert caplog.records
    assert voted.scores == single(scorer, labels, people).scores


def test_custom_scorer(project, custom):
    """ "You may implement your own evaluation metrics": its columns are in the report, aggregate_results is called."""
    data, _ = result_of(project, 5)
    name = project.metrics_config.metrics[5].get_unique_name()
    assert set(data["scores"]) == {"win_rate"}
    assert name in project.score_report.to_frame().columns
    assert custom._aggregated == [(2, str(project.scores_dir), name)]


def test_summary_reports(project, capsys):
    """ "Summary reports are saved to the scores directory" as HTML with best score highlighting and as CSV, and
    "Print to console"."""
    project.score_report.save("score_report.html", format="html")
    project.score_report.save("score_report.csv", format="csv")
    project.score_report.print()
    page = (Path(project.project_dir) / "scores" / "score_report.html").read_text(encoding="utf-8")
    header = (project.scores_dir / "score_report.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert 'class="best"' in page
    assert header[0] == "judge_id"
    alt_test = project.metrics_config.metrics[2].get_unique_name()
    assert {f"{alt_test}_winning_rate", f"{alt_test}_advantage_probability"} <= set(header)
    assert re.match(r"Score Report:\n┌─+┬", capsys.readouterr().out)


def test_nothing_is_not_a_number(project):
    """ "Handle edge cases (empty data, mismatched IDs, etc.)": every file is strict JSON."""
    for path in project.scores_dir.rglob("*_result.json"):
        json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    empty = single(AccuracyScorer(), {1: "a"}, {"kim": {2: "a"}})
    assert empty.score is None
    assert "check that their ids are the same" in empty.reason
    assert not math.isnan(empty.num_comparisons)
