"""Every judge by every metric: own scorers as users write them, failures as reasons, judges beside judges."""

import asyncio
import csv
import json
import logging
from datetime import date

import numpy as np
import polars as pl
import pytest

from calibrant.alignment import (
    AccuracyScorer,
    AltTestScorer,
    BaseScorer,
    BaseScoringResult,
    CohensKappaScorer,
    EvalTask,
    MetaEvaluator,
    MetricConfig,
    MetricsConfig,
    TaskAggregationMode,
    TextSimilarityScorer,
)
from calibrant.errors import InputError, UnknownNameError

ANSWERS = {item: "yes" if item % 3 else "no" for item in range(40)}
TURNED = {item: "no" if answer == "yes" else "yes" for item, answer in ANSWERS.items()}


def changed(*items):
    return {**ANSWERS, **{item: TURNED[item] for item in items}}


@pytest.fixture
def project(tmp_path):
    made = MetaEvaluator(tmp_path / "p")
    made.draws_charts = False
    for name, answers in {"good": ANSWERS, "near": changed(1), "bad": TURNED}.items():
        made.add_external_judge_results(answers, name, task="safe")
    for name, answers in {"kim": ANSWERS, "lee": changed(2), "ann": changed(3, 4)}.items():
        made.add_external_annotation_results(answers, name, task="safe")
    return made


def compared(project, *scorers, **settings):
    metrics = [MetricConfig(scorer, ["safe"], "single", **settings) for scorer in scorers]
    project.add_metrics_config(MetricsConfig(metrics))
    return [{one.judge_id: one for one in results} for results in project.compare_async().values()]


class Own(BaseScorer):
    """A scorer as a user writes it; `answer` says what it gives."""

    def __init__(self, answer, *, name="own", takes=str):
        super().__init__(scorer_name=name)
        self._answer, self._takes, self._seen = answer, takes, []

    def can_score_task(self, sample_label):
        return isinstance(sample_label, self._takes)

    async def compute_score_async(self, judge_data, human_data, task_name, judge_id, aggregation_mode):
        self._seen.append((judge_data, human_data, task_name, judge_id, aggregation_mode))
        found = self._answer(judge_id) if callable(self._answer) else self._answer
        if not isinstance(found, dict):
            return found
        return BaseScoringResult(
            scorer_name=self.scorer_name,
            task_name=task_name,
            judge_id=judge_id,
            scores=found,
            aggregation_mode=aggregation_mode,
            num_comparisons=len(judge_data),
        )


def test_an_own_scorer_is_given_frames_without_missing_labels(project):
    project.add_external_judge_results({**ANSWERS, 5: None}, "gaps", task="safe")
    scorer = Own({"wins": 1.0})
    compared(project, scorer)
    judged, said, task, judge, mode = next(seen for seen in scorer._seen if seen[3] == "gaps")
    assert judged.columns == ["original_id", "label"]
    assert (judged.height, judged["label"].null_count()) == (39, 0)
    assert said.columns == ["original_id", "human_id", "label"]
    assert sorted(said["human_id"].unique()) == ["ann", "kim", "lee"]
    assert (task, judge, mode.value) == ("safe", "gaps", "single")


def test_an_own_scorer_may_take_the_aggregation(project):
    class Asking(Own):
        async def compute_score_async(
            self, judge_data, human_data, task_name, judge_id, aggregation_mode, annotator_aggregation="none"
        ):
            self.aggregation = annotator_aggregation
            return await super().compute_score_async(judge_data, human_data, task_name, judge_id, aggregation_mode)

    scorer = Asking({"wins": 1.0})
    compared(project, scorer, annotator_aggregation="majority_vote")
    assert scorer.aggregation == "majority_vote"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (0.5, "the scorer returned 0.5 and not a BaseScoringResult"),
        (None, "the scorer returned None and not a BaseScoringResult"),
        ({"wins": float("nan")}, "wins is no finite number"),
        ({"wins": float("inf")}, "wins is no finite number"),
    ],
)
def test_what_an_own_scorer_gives_wrong_is_a_reason(project, answer, reason):
    [found] = compared(project, Own(answer))
    assert (found["good"].score, found["good"].reason) == (None, reason)


def test_one_that_raises_is_the_reason_of_that_judge_alone(project, caplog):
    def answer(judge):
        if judge == "bad":
            raise KeyError("lost")
        return {"wins": 0.5}

    with caplog.at_level(logging.ERROR):
        [found] = compared(project, Own(answer))
    assert found["bad"].reason == "the scorer raised KeyError: 'lost'"
    assert found["good"].score == 0.5
    assert "scoring bad failed" in caplog.text


def test_labels_that_an_own_scorer_cannot_take_are_a_reason(project):
    [found] = compared(project, Own({"wins": 1.0}, takes=int))
    assert found["good"].reason == "own cannot score labels such as 'no'"


def test_an_own_scorer_that_needs_more_people_says_so(project):
    scorer = Own({"wins": 1.0})
    scorer.min_human_annotators = 4
    [found] = compared(project, scorer)
    assert found["good"].reason == "own needs 4 human annotators, and there are 3"


def test_a_judge_without_the_task_has_a_reason_and_others_a_score(project):
    project.add_external_judge_results({1: "warm"}, "other", task="tone")
    for found in compared(project, AccuracyScorer(), Own({"wins": 1.0})):
        assert found["other"].reason == "the judge has no results for safe, but for tone; name the tasks alike"
        assert found["good"].score is not None


def test_a_judge_that_rated_nothing_has_a_reason(project):
    project.add_external_judge_results(dict.fromkeys(ANSWERS), "mute", task="safe")
    [accuracy, own] = compared(project, AccuracyScorer(), Own({"wins": 1.0}))
    assert accuracy["mute"].reason == own["mute"].reason == "the judge rated no item"


def test_a_judge_of_other_items_has_a_reason_that_names_the_usual_cause(project):
    project.add_external_judge_results({f"x{item}": "yes" for item in range(9)}, "elsewhere", task="safe")
    [found] = compared(project, AccuracyScorer())
    assert "check that their ids are the same" in found["elsewhere"].reason


def test_judges_are_told_apart_beside_the_metric(project):
    compared(project, AccuracyScorer(), CohensKappaScorer(), AltTestScorer(), TextSimilarityScorer())
    accuracy, kappa, alt, text = project.score_report.metrics
    assert accuracy.comparison["groups"] == [["good", "near"], ["bad"]]
    assert {(one["first"], one["second"]) for one in kappa.comparison["differences"]} == {
        ("good", "near"), ("good", "bad"), ("near", "bad")
    }  # fmt: skip
    assert alt.comparison is None
    assert text.comparison is None


def test_against_a_majority_judges_are_not_compared_by_single_people(project):
    compared(project, AccuracyScorer(), annotator_aggregation="majority_vote")
    assert project.score_report.metrics[0].comparison is None


def test_the_comparison_of_judges_survives_the_project(project):
    compared(project, AccuracyScorer())
    again = MetaEvaluator(project.project_dir, load=True)
    assert again.score_report.to_json() == project.score_report.to_json()
    assert again.score_report.to_html() == project.score_report.to_html()


def test_what_is_about_a_metric_is_in_the_report(project):
    compared(project, AccuracyScorer(), annotator_aggregation="majority_vote")
    assert "(safe; majority_vote)" in project.score_report.to_text()


def test_clusters_reach_every_scorer(project):
    rows = [{"id": item, "doc": item // 10} for item in ANSWERS]
    project.add_data(rows, cluster_column="doc")
    accuracy, kappa, alt, text = compared(
        project, AccuracyScorer(), CohensKappaScorer(), AltTestScorer(min_instances_per_human=5), TextSimilarityScorer()
    )
    assert accuracy["near"].intervals["accuracy"]["method"] == "cluster jackknife"
    assert kappa["near"].intervals["kappa"]["method"] == "cluster jackknife"
    assert alt["near"].intervals["advantage_probability"]["method"] == "cluster jackknife"
    assert "cluster" in text["near"].intervals["text_similarity"]["method"]


def test_items_that_the_data_does_not_know_are_clusters_of_their_own(project):
    project.add_data([{"id": item, "doc": "a"} for item in range(5)], cluster_column="doc")
    [found] = compared(project, AccuracyScorer())
    assert found["near"].intervals["accuracy"]["n"] == 40


def test_disagreements_are_written_as_two_lists_with_what_was_shown(project):
    project.eval_task = EvalTask({"safe": ["yes", "no"]}, prompt_columns=["q"], response_columns=["a"])
    project.add_data([{"id": item, "q": f"Q{item}?", "a": 'Ä, "x"', "hidden": 1} for item in ANSWERS])
    path = project.save_disagreements("safe", "near")
    assert path == project.scores_dir / "disagreements" / "safe_near.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["list"], row["item"]) for row in rows] == [
        ("judge_differs", "1"), ("people_differ", "2"), ("people_differ", "3"), ("people_differ", "4")
    ]  # fmt: skip
    assert rows[0] == {
        "list": "judge_differs", "item": "1", "judge": "no", "most_people": "yes", "share": "1", "human:ann": "yes",
        "human:kim": "yes", "human:lee": "yes", "data:q": "Q1?", "data:a": 'Ä, "x"',
    }  # fmt: skip


def test_disagreements_as_json_are_two_lists_apart(project):
    path = project.save_disagreements("safe", "near", "look.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    assert (data["compared"], data["agreed"]) == (40, 36)
    assert [row["item"] for row in data["judge_differs"]] == ["1"]
    assert [row["item"] for row in data["people_differ"]] == ["2", "3", "4"]


def test_no_disagreement_is_a_file_with_heads_alone(project):
    for name in ("lee", "ann"):
        project.add_external_annotation_results(ANSWERS, name, task="safe")
    text = project.save_disagreements("safe", "good").read_text(encoding="utf-8")
    assert text == "list,item,judge,most_people,share\n"


def test_disagreements_that_cannot_be_written_are_refused(project):
    with pytest.raises(InputError, match="disagreements are written as .csv or .json, not as 'look.xlsx'"):
        project.save_disagreements("safe", "near", "look.xlsx")
    with pytest.raises(UnknownNameError, match="unknown judge 'neer'"):
        project.save_disagreements("safe", "neer")
    with pytest.raises(UnknownNameError, match="unknown task 'sfae'"):
        project.save_disagreements("sfae", "near")


def test_a_judge_and_a_person_of_one_name_are_told_apart(project):
    project.add_external_judge_results(TURNED, "kim", task="safe")
    assert len(project.disagreements("safe", "kim").judge_differs) == 37
    [found] = compared(project, AccuracyScorer())
    assert found["kim"].score < 0.1


def test_comparing_again_replaces_what_was_written(project):
    compared(project, AccuracyScorer(), CohensKappaScorer())
    compared(project, AccuracyScorer())
    assert [metric.scorer_name for metric in project.score_report.metrics] == ["accuracy"]
    assert [one.scorer_name for one in MetaEvaluator(project.project_dir, load=True).score_report.metrics] == [
        "accuracy"
    ]


def test_two_comparisons_at_once_do_not_meet(project):
    metrics = MetricsConfig([MetricConfig(AccuracyScorer(), ["safe"], "single")])
    project.add_metrics_config(metrics)

    async def both():
        return await asyncio.gather(*(asyncio.to_thread(project.compare_async) for _ in range(2)))

    first, second = asyncio.run(both())
    assert [one.scores for one in next(iter(first.values()))] == [one.scores for one in next(iter(second.values()))]


def test_pandas_like_frames_are_taken_by_scorers():
    class Column(list):
        def tolist(self):
            return list(self)

    class Frame(dict):
        columns = property(list)

    judged = Frame(original_id=Column([1, 2]), label=Column(["x", "y"]))
    said = Frame(original_id=Column(["1", "2"]), human_id=Column(["kim", "kim"]), label=Column(["x", "x"]))
    work = AccuracyScorer().compute_score_async(judged, said, "t", "j", "single")
    assert asyncio.run(work).score == 0.5


def test_a_result_of_integers_as_names_is_text(project):
    found = BaseScoringResult(
        scorer_name="s", task_name=7, judge_id=3, scores={}, aggregation_mode="single", num_comparisons=0
    )
    assert (found.task_name, found.judge_id) == ("7", "3")
    assert pl.DataFrame([found.to_json()["scores"]]).is_empty()


def test_what_is_averaged_is_not_said_to_be_a_vote_and_judges_are_compared_all_the_same(project):
    compared(project, CohensKappaScorer(), AccuracyScorer(), annotator_aggregation="majority_vote")
    kappa, accuracy = project.score_report.metrics
    assert kappa.about == "safe; individual_average"
    assert kappa.comparison["measure"] == "kappa"
    assert (accuracy.about, accuracy.comparison) == ("safe; majority_vote", None)


@pytest.mark.parametrize(
    ("score", "expected"),
    [(np.int64(3), 3.0), (np.float32(0.5), 0.5), (np.float32("nan"), None), (np.array([1, 2]), None), ("good", None)],
)
def test_what_numpy_gives_an_own_scorer_is_a_score_and_what_is_no_number_a_reason(project, score, expected):
    compared(project, Own({"wins": score}), display_name="own")
    assert project.score_report.to_frame()["own"].to_list() == [expected] * 3
    again = MetaEvaluator(project.project_dir, load=True).score_report
    assert again.to_text() == project.score_report.to_text()
    assert expected is not None or "no score: " in again.to_text()


def test_what_json_does_not_know_is_kept_as_text():
    result = BaseScoringResult(
        scorer_name="own",
        task_name="safe",
        judge_id="j",
        scores={"wins": 1},
        metadata={3: date(2026, 1, 2), "seen": {"b", "a"}, "odd": np.float32("nan")},
        aggregation_mode=TaskAggregationMode.SINGLE,
        num_comparisons=1,
    )
    assert result.metadata == {"3": "2026-01-02", "seen": ["a", "b"], "odd": None}
    assert json.loads(json.dumps(result.to_json(), allow_nan=False))["metadata"]["seen"] == ["a", "b"]
