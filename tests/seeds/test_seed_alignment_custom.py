"""A scorer of the user's own, by the interface of the seed's page: it counts who uses more capital As.

The page's own listing was run as it is written; here is the same scorer in fewer words.
"""

import json

import pytest

from calibrant.alignment import BaseScorer, BaseScoringResult, MetaEvaluator, MetricConfig, MetricsConfig


class MyCustomScorer(BaseScorer):
    def __init__(self):
        super().__init__(scorer_name="my_custom_scorer")

    def can_score_task(self, sample_label):
        return isinstance(sample_label[0] if isinstance(sample_label, list) and sample_label else sample_label, str)

    async def compute_score_async(self, judge_data, human_data, task_name, judge_id, aggregation_mode):
        joined = judge_data.join(human_data, on="original_id", how="inner")
        wins = []
        for _, rows in joined.group_by("human_id"):
            more = [
                str(said).count("A") > str(theirs).count("A")
                for said, theirs in zip(rows["label"].to_list(), rows["label_right"].to_list(), strict=True)
            ]
            wins.append(sum(more) > len(more) - sum(more))
        return BaseScoringResult(
            scorer_name=self.scorer_name,
            task_name=task_name,
            judge_id=judge_id,
            scores={"win_rate": sum(wins) / len(wins) if wins else 0.0},
            metadata={"human_annotators": len(wins)},
            aggregation_mode=aggregation_mode,
            num_comparisons=len(joined),
            failed_comparisons=0,
        )


class Counting(MyCustomScorer):
    """The seed's scorer, which also remembers that it was asked to aggregate."""

    def __init__(self):
        super().__init__()
        self._aggregated = []

    def aggregate_results(self, results, scores_dir, unique_name=""):
        super().aggregate_results(results, scores_dir, unique_name)
        self._aggregated.append((len(results), scores_dir, unique_name))


LOUD = {item: "AAA" if item % 4 else "a" for item in range(12)}
CALM = dict.fromkeys(range(12), "A")


@pytest.fixture
def project(tmp_path):
    made = MetaEvaluator(project_dir=tmp_path / "my_project")
    made.draws_charts = True
    made.add_external_judge_results(LOUD, "loud", task="text")
    made.add_external_judge_results(CALM, "calm", task="text")
    for name in ("kim", "lee"):
        made.add_external_annotation_results({str(item): "A" for item in range(12)}, name, task="text")
    return made


def configured(project, scorer):
    config = MetricConfig(
        scorer=scorer,
        task_names=["text"],
        task_strategy="single",
        annotator_aggregation="individual_average",
    )
    project.add_metrics_config(MetricsConfig(metrics=[config]))
    project.compare_async()
    return config


def test_it_gives_the_win_rate_that_it_counts(project):
    config = configured(project, MyCustomScorer())
    folder = project.scores_dir / "my_custom_scorer" / config.get_unique_name()
    loud = json.loads((folder / "loud_result.json").read_text(encoding="utf-8"))
    calm = json.loads((folder / "calm_result.json").read_text(encoding="utf-8"))
    assert (loud["scores"], calm["scores"]) == ({"win_rate": 1.0}, {"win_rate": 0.0})
    assert loud["metadata"]["human_annotators"] == 2
    assert (loud["num_comparisons"], loud["failed_comparisons"]) == (24, 0)


def test_its_column_is_in_every_form_of_the_report(project):
    name = configured(project, MyCustomScorer()).get_unique_name()
    report = project.score_report
    assert report.to_frame()[name].to_list() == [1.0, 0.0]
    assert name in report.to_html()
    assert name in report.to_csv().splitlines()[0]
    assert "  loud: 1.000 n=24" in report.to_text()


def test_its_aggregation_is_called_once_with_all_judges(project):
    scorer = Counting()
    name = configured(project, scorer).get_unique_name()
    assert scorer._aggregated == [(2, str(project.scores_dir), name)]


def test_several_texts_in_one_are_given_to_it_as_lists(project):
    for name, answers in {"loud": LOUD, "calm": CALM}.items():
        project.add_external_judge_results(
            [{"original_id": item, "text": one, "more": one} for item, one in answers.items()], name
        )
    for name in ("kim", "lee"):
        project.add_external_annotation_results(
            [{"original_id": item, "text": "A", "more": "A"} for item in LOUD], name
        )
    config = MetricConfig(scorer=MyCustomScorer(), task_names=["text", "more"], task_strategy="multilabel")
    project.add_metrics_config(MetricsConfig(metrics=[config]))
    [results] = project.compare_async().values()
    assert [one.score for one in results] == [1.0, 0.0]


def test_over_several_tasks_it_is_asked_of_each_and_averaged(project):
    project.add_external_judge_results([{"original_id": item, "text": "AA", "more": "a"} for item in LOUD], "mixed")
    for name in ("kim", "lee"):
        project.add_external_annotation_results(
            [{"original_id": item, "text": "A", "more": "A"} for item in LOUD], name
        )
    config = MetricConfig(scorer=MyCustomScorer(), task_names=["text", "more"], task_strategy="multitask")
    project.add_metrics_config(MetricsConfig(metrics=[config]))
    [results] = project.compare_async().values()
    mixed = next(one for one in results if one.judge_id == "mixed")
    assert mixed.scores == {"win_rate": 0.5}
    assert mixed.metadata["tasks"]["more"]["scores"] == {"win_rate": 0.0}
