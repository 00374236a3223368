"""What a metric may be, and the name under which it is kept."""

import pytest

from calibrant.alignment import (
    AccuracyScorer,
    AltTestScorer,
    CohensKappaScorer,
    MetricConfig,
    MetricsConfig,
    SemanticSimilarityScorer,
    TaskAggregationMode,
)


def metric(scorer=None, tasks=("a",), strategy="single", **more):
    return MetricConfig(scorer=scorer or AccuracyScorer(), task_names=list(tasks), task_strategy=strategy, **more)


@pytest.mark.parametrize(
    ("tasks", "strategy", "words"),
    [
        (["a", "b"], "single", "takes exactly one of task_names, not 2"),
        (["a"], "multitask", "takes two or more task_names, not 1"),
        (["a"], "multilabel", "takes two or more task_names, not 1"),
        ([], "single", "task_names is empty"),
        (["a", "a"], "multitask", "names a task twice"),
        ([" "], "single", "holds names of tasks"),
        (["a"], "average", "unknown task_strategy 'average'; expected one of: multilabel, multitask, single"),
    ],
)
def test_a_violated_strategy_is_a_value_error(tasks, strategy, words):
    with pytest.raises(ValueError, match=words):
        metric(tasks=tasks, strategy=strategy)


def test_one_text_is_no_list_of_tasks():
    with pytest.raises(ValueError, match="task_names is a list of names, not 'abc'"):
        MetricConfig(scorer=AccuracyScorer(), task_names="abc", task_strategy="single")


def test_an_unknown_aggregation_is_a_value_error():
    with pytest.raises(ValueError, match="unknown annotator_aggregation 'mean'"):
        metric(annotator_aggregation="mean")


def test_a_class_is_no_scorer():
    with pytest.raises(TypeError, match="scorer is a BaseScorer"):
        MetricConfig(scorer=AccuracyScorer, task_names=["a"], task_strategy="single")


def test_the_strategy_may_be_the_enum():
    assert metric(strategy=TaskAggregationMode.SINGLE).task_strategy == "single"


def test_every_parameter_gives_another_name():
    metrics = [
        metric(),
        metric(AccuracyScorer(ties="abstain")),
        metric(tasks=["b"]),
        metric(annotator_aggregation="majority_vote"),
        metric(tasks=["a", "b"], strategy="multitask"),
        metric(tasks=["a", "b"], strategy="multilabel"),
        metric(AltTestScorer()),
        metric(AltTestScorer(epsilon=0.1)),
        metric(AltTestScorer(min_humans_per_item=3)),
        metric(CohensKappaScorer()),
        metric(CohensKappaScorer(weights="linear", order=["a", "b"])),
        metric(SemanticSimilarityScorer("local/wordllama")),
        metric(SemanticSimilarityScorer("openai/text-embedding-3-large")),
        metric(SemanticSimilarityScorer("openai/text-embedding-3-large", dimensions=256)),
    ]
    assert len({one.get_unique_name() for one in metrics}) == len(metrics)


def test_the_name_follows_an_attribute_that_is_set_later():
    scorer = AltTestScorer()
    config = metric(scorer)
    before = config.get_unique_name()
    scorer.min_instances_per_human = 10
    assert config.get_unique_name() != before


def test_a_key_is_no_part_of_what_is_hashed():
    scorer = SemanticSimilarityScorer("openai/x", api_key="sk-secret")
    assert "sk-secret" not in str(scorer.parameters())


def test_the_display_name_replaces_the_name():
    assert metric(display_name="Rejection").get_unique_name() == "Rejection"


def test_two_metrics_of_one_name_are_refused():
    with pytest.raises(ValueError, match="2 metrics are named 'rejection'"):
        MetricsConfig(metrics=[metric(display_name="Rejection"), metric(tasks=["b"], display_name="rejection")])


def test_no_metrics_are_refused():
    with pytest.raises(ValueError, match="metrics is empty"):
        MetricsConfig(metrics=[])
