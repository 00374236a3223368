"""Data as they come: each scorer, in each strategy and aggregation, gives a value or a reason, and never NaN."""

import json
import math

import pytest

from calibrant.alignment import (
    AccuracyScorer,
    AltTestScorer,
    CohensKappaScorer,
    EvalTask,
    MetaEvaluator,
    MetricConfig,
    MetricsConfig,
    TextSimilarityScorer,
)

SCORERS = [AccuracyScorer, CohensKappaScorer, AltTestScorer, TextSimilarityScorer]
STRATEGIES = {"single": ["a"], "multitask": ["a", "b"], "multilabel": ["a", "b"]}
N = 36


def column(text):
    return [None if one == "-" else {"y": "yes", "n": "no", "e": ""}.get(one, one) for one in text]


def rows(a, b=None, ids=range(N)):
    second = column(b or a)
    return [{"id": item, "a": one, "b": other} for item, one, other in zip(ids, column(a), second, strict=True)]


MIXED = "yn" * (N // 2)
STUDIES = {
    "one annotator": ([MIXED], [MIXED]),
    "two annotators": ([MIXED], [MIXED, "yy" + MIXED[2:]]),
    "a constant annotator": ([MIXED], [MIXED, "y" * N, MIXED]),
    "all constant": (["y" * N], ["y" * N, "y" * N, "y" * N]),
    "a constant judge": (["n" * N], [MIXED, MIXED, "yy" + MIXED[2:]]),
    "missing labels": (["--" + MIXED[2:]], ["-" * 9 + MIXED[9:], MIXED[:-9] + "-" * 9, MIXED]),
    "nothing shared": (["-" * 18 + MIXED[:18]], [MIXED[:18] + "-" * 18] * 3),
    "a judge without an answer": (["-" * N], [MIXED] * 3),
    "people without an answer": ([MIXED], ["-" * N] * 3),
    "empty texts": (["e" * N], ["e" * N, "ey" * 18, "e" * N]),
    "labels of one person alone": ([MIXED], [MIXED, "z" * N, MIXED]),
    "opposite people": ([MIXED], [MIXED, MIXED[::-1], "yynn" * 9]),
}


def project_of(folder, judges, people):
    project = MetaEvaluator(folder)
    project.draws_charts = False
    for number, said in enumerate(judges):
        project.add_external_judge_results(rows(said), f"judge {number}")
    for number, said in enumerate(people):
        project.add_external_annotation_results(rows(said), f"person {number}")
    return project


def every_metric():
    return [
        MetricConfig(scorer(), names, strategy, way)
        for scorer in SCORERS
        for strategy, names in STRATEGIES.items()
        for way in ("individual_average", "majority_vote")
    ]


def numbers(value):
    if isinstance(value, dict):
        return [one for inner in value.values() for one in numbers(inner)]
    if isinstance(value, list):
        return [one for inner in value for one in numbers(inner)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize("name", STUDIES)
def test_every_scorer_gives_a_value_or_a_reason(tmp_path, name):
    project = project_of(tmp_path, *STUDIES[name])
    project.add_metrics_config(MetricsConfig(every_metric()))
    for results in project.compare_async().values():
        for result in results:
            data = result.to_json()
            json.dumps(data, allow_nan=False)
            assert all(math.isfinite(one) for one in numbers(data))
            assert (result.score is None) == bool(result.reason), data["scorer_name"]
    assert "nan" not in project.score_report.to_csv().lower().replace("annotator", "")
    assert "nan" not in project.score_report.to_text().lower().replace("annotator", "")


EXPECTED = {
    ("one annotator", CohensKappaScorer): "cohens_kappa needs 2 human annotators, and there are 1",
    ("one annotator", AltTestScorer): "alt_test needs 3 human annotators, and there are 1",
    ("two annotators", AltTestScorer): "alt_test needs 3 human annotators, and there are 2",
    ("nothing shared", AccuracyScorer): "no item was rated by both the judge and a person; check that their ids",
    ("a judge without an answer", AccuracyScorer): "the judge rated no item",
    ("people without an answer", AccuracyScorer): "accuracy needs 1 human annotator, and there are 0",
    ("people without an answer", TextSimilarityScorer): "text_similarity needs 1 human annotator, and there are 0",
}


@pytest.mark.parametrize(("name", "scorer"), EXPECTED)
def test_the_reason_says_what_is_missing(tmp_path, name, scorer):
    project = project_of(tmp_path, *STUDIES[name])
    project.add_metrics_config(MetricConfig(scorer(), ["a"], "single"))
    [[result]] = project.compare_async().values()
    assert result.reason.startswith(EXPECTED[name, scorer])


VALUES = {
    ("one annotator", AccuracyScorer): 1.0,
    ("all constant", AccuracyScorer): 1.0,
    ("all constant", CohensKappaScorer): 1.0,
    ("a constant annotator", AccuracyScorer): (1 + 0.5 + 1) / 3,
    ("a constant annotator", CohensKappaScorer): (1 + 0 + 1) / 3,
    ("empty texts", TextSimilarityScorer): (1 + 0.5 + 1) / 3,
    ("labels of one person alone", AccuracyScorer): 2 / 3,
}


@pytest.mark.parametrize(("name", "scorer"), VALUES)
def test_the_value_is_the_one_by_hand(tmp_path, name, scorer):
    project = project_of(tmp_path, *STUDIES[name])
    project.add_metrics_config(MetricConfig(scorer(), ["a"], "single"))
    [[result]] = project.compare_async().values()
    assert result.score == pytest.approx(VALUES[name, scorer])


@pytest.mark.parametrize(
    "ids",
    [list(range(N)), [str(item) for item in range(N)], [float(item) for item in range(N)]],
    ids=["int", "str", "float"],
)
def test_ids_of_any_kind_meet(tmp_path, ids):
    project = MetaEvaluator(tmp_path)
    project.draws_charts = False
    project.add_external_judge_results(rows(MIXED), "j")
    project.add_external_annotation_results(rows(MIXED, ids=ids), "kim")
    project.add_metrics_config(MetricConfig(AccuracyScorer(), ["a"], "single"))
    [[result]] = project.compare_async().values()
    assert (result.score, result.intervals["accuracy"]["n"]) == (1.0, N)


def test_unknown_labels_of_judge_and_people_are_named_and_not_compared(tmp_path):
    project = MetaEvaluator(tmp_path)
    project.draws_charts = False
    project.add_eval_task(EvalTask({"a": ["yes", "no"], "b": None}))
    project.add_external_judge_results(rows("?" + MIXED[1:]), "j")
    project.add_external_annotation_results(rows(MIXED[:-1] + "!"), "kim")
    project.add_metrics_config(MetricConfig(AccuracyScorer(), ["a"], "single"))
    [[result]] = project.compare_async().values()
    coverage = result.intervals["accuracy"]["coverage"]
    assert (result.score, coverage["rated"], coverage["failed"]) == (1.0, N - 2, 1)
    assert project.score_report.notes[:2] == (
        "j, a, item 0: expected one of yes, no, got '?'", "kim, a, item 35: expected one of yes, no, got '!'"
    )  # fmt: skip
