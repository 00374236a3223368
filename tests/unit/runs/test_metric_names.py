"""A plan and `run` name any shipped metric, and a rubric by its file."""

import pytest

from calibrant.errors import UnknownNameError, WrongTypeError
from calibrant.metrics import SHIPPED_METRICS, GroundednessRule, RubricMetric
from calibrant.readers.plan import read_plan
from calibrant.runs import run
from calibrant.runs.assembly import assembled
from calibrant.runs.preparation import metric_called, metric_list

ITEM = {"answer": "It opens at ten.", "contexts": ["The museum opens at ten."]}
RUBRIC = "---\ncriterion: polite\nfields: [answer]\nlevels:\n  0: rude\n  1: kind\n---\nIs it polite?\n"
PLAN = """
version: 1
name: named
dataset: {path: items.jsonl}
metrics:
  - groundedness_rule
  - {name: length, settings: {most: 3}}
"""


def test_run_takes_a_rule_by_its_name():
    assert run([ITEM], ["groundedness_rule"]).metric("groundedness_rule").pass_rate.value == 1.0


def test_a_name_stands_for_the_class_behind_it():
    (rule,) = metric_list("groundedness_rule")
    assert isinstance(rule, GroundednessRule)
    assert metric_called("groundedness_rule", word_share=0.9).word_share == 0.9


def test_a_path_is_a_rubric_of_the_users_own(tmp_path):
    path = tmp_path / "polite.md"
    path.write_text(RUBRIC, encoding="utf-8")
    found = metric_called(str(path))
    assert isinstance(found, RubricMetric)
    assert found.name == "polite"


def test_an_unknown_name_lists_those_there_are():
    with pytest.raises(UnknownNameError, match="unknown metric 'groundednes'; expected one of: ") as caught:
        run([ITEM], ["groundednes"])
    assert all(name in str(caught.value) for name in ("groundedness_rule", "faithfulness", "exact_match"))
    assert "groundedness" in SHIPPED_METRICS


def test_a_setting_that_a_metric_does_not_have_is_named():
    with pytest.raises(WrongTypeError, match="GroundednessRule has no setting 'wordshare'"):
        metric_called("groundedness_rule", wordshare=0.9)


def test_a_plan_names_rules_and_gives_them_settings(tmp_path):
    (tmp_path / "items.jsonl").write_text('{"answer": "It opens at ten.", "contexts": ["It opens at ten."]}\n')
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN, encoding="utf-8")
    ready = assembled(read_plan(plan), workspace=tmp_path / "kept")
    assert [metric.name for metric in ready.measurement.metrics] == ["groundedness_rule", "length"]
