"""What a run keeps of a metric, and what a stored value counts for under it."""

import pytest

from calibrant import ScriptedInvoker, metric
from calibrant.metrics import RubricMetric
from calibrant.runs.specification import MetricSpec


def spec(**settings):
    return MetricSpec(name="polite", instrument="sha256:x", **settings)


@pytest.mark.parametrize(
    ("settings", "value", "score", "passed"),
    [
        ({}, 0.5, 0.5, True),
        ({}, 0.49, 0.49, False),
        ({}, True, 1.0, True),
        ({}, False, 0.0, False),
        ({"threshold": 0.9}, 0.9, 0.9, True),
        ({"higher_is_better": False, "threshold": 0.2}, 0.2, 0.2, True),
        ({"higher_is_better": False, "threshold": 0.2}, 0.3, 0.3, False),
        ({"strict_mode": True}, 0.99, 0.0, False),
        ({"strict_mode": True}, 1.0, 1.0, True),
        ({"strict_mode": True, "higher_is_better": False, "threshold": 0.5}, 0.0, 0.0, True),
        ({"strict_mode": True, "higher_is_better": False, "threshold": 0.5}, 0.01, 1.0, False),
        ({}, "warm", None, None),
        ({"passing_labels": ("warm",)}, "warm", None, True),
        ({"passing_labels": ("warm",)}, "cold", None, False),
        ({"passing_labels": ("a, b",)}, frozenset({"b", "a"}), None, True),
    ],
)
def test_what_a_value_counts_for(settings, value, score, passed):
    assert spec(**settings).outcome(value) == (score, passed)


def test_a_metric_is_kept_whole_and_read_again_as_it_was():
    made = MetricSpec.of(
        RubricMetric("groundedness", models=[ScriptedInvoker("x", name="a/one"), ScriptedInvoker("y", name="b/two")])
    )
    assert made.judges == ("a/one", "b/two")
    assert MetricSpec.from_json(made.to_json()) == made


def test_an_output_is_a_metric_of_its_own_with_the_name_of_its_parent():
    part = spec(has_parts=True, threshold=0.7).part("at_5")
    assert (part.name, part.parent, part.has_parts, part.threshold) == ("polite/at_5", "polite", False, 0.7)
    assert MetricSpec.from_json(part.to_json()) == part


def test_a_function_has_no_judges_and_its_labels_in_order():
    made = MetricSpec.of(metric(lambda item: "a", name="tone", passing_labels={"warm", "kind"}))
    assert (made.judges, made.passing_labels, made.rater) == ((), ("kind", "warm"), "rule:tone")
