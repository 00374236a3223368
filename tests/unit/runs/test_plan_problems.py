"""All that is wrong with a plan, in its text, in what it names and in its items, is one report."""

import sys

import pytest

from calibrant.errors import InputError
from calibrant.readers.plan import read_plan, surveyed_plan
from calibrant.runs.assembly import assembled_file

PLAN = """\
version: 1
dataset: faq.csv
treshold: 0.5
judges: openai/gpt-x
metrics:
  - fluency
  - {name: polite, rubric: nowhere.md}
  - {name: brief, function: "checks:breif"}
labels: labels.csv
concurrency: many
gates:
  - fluency.pass_rate >= 0.9
  - helpful.pass_rate >= 0.9
  - polite.failing_items <= 2
"""


@pytest.fixture
def told(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", [*sys.path])
    (tmp_path / "faq.csv").write_text("id,query,answer\n1,Open?\n2,Why?,So.\n")
    (tmp_path / "labels.csv").write_text("item,criterion,annotator,value\n1,polite,kim\n")
    (tmp_path / "checks.py").write_text("def brief(item):\n    return True\n")

    def problems(text):
        (tmp_path / "plan.yaml").write_text(text)
        with pytest.raises(InputError) as raised:
            assembled_file(tmp_path / "plan.yaml")
        assert str(raised.value).startswith(f"plan.yaml has {len(raised.value.problems)} problem")
        return [problem.partition(";")[0] for problem in raised.value.problems]

    yield problems
    sys.modules.pop("checks", None)


def test_text_files_functions_items_labels_and_gates_are_told_together(told):
    assert told(PLAN) == [
        "line 2: faq.csv has 1 problem:\n    line 2: has 2 cells, the header has 3",
        "line 3: unknown key 'treshold' in the plan",
        "line 7: there is no file 'nowhere.md' beside the plan",
        "line 8: metric 'brief': module 'checks' has no 'breif'",
        "line 9: labels.csv has 1 problem:\n    line 2: has 3 cells, the header has 4",
        "line 10: concurrency is a whole number, not 'many'",
        "line 13: gate 'helpful.pass_rate >= 0.9' is about 'helpful'",
    ]


def test_an_unknown_judge_is_told_once_and_not_with_every_metric(told):
    found = told(PLAN.replace("openai/gpt-x", "gpt-x"))
    assert [line for line in found if "judge" in line or "fluency" in line] == ["line 4: unknown judge 'gpt-x'"]
    assert len(found) == 7


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("judges: openai/gpt-x", "judge: openai/gpt-x", "line 4: unknown key 'judge' in the plan"),
        ("judges: openai/gpt-x", "system: 7", "line 4: system is a text, not 7"),
        ("dataset: faq.csv", "datasets: faq.csv", "line 2: unknown key 'datasets' in the plan"),
        ("dataset: faq.csv", "dataset: [faq.csv]", "line 2: dataset is a text or a mapping, not a list"),
    ],
)
def test_what_leaves_the_rest_open_is_told_without_what_would_follow_from_it(told, right, wrong, problem):
    found = told(PLAN.replace(right, wrong))
    assert problem in found
    assert all("unknown key" in line or " is a " in line or "has no 'dataset'" in line for line in found)


def test_a_dataset_alone_at_fault_is_told_under_its_own_name(tmp_path, told):
    (tmp_path / "plan.yaml").write_text(
        "version: 1\ndataset: faq.csv\nmetrics: [{name: brief, function: 'checks:brief'}]"
    )
    with pytest.raises(InputError, match=r"^faq\.csv has 1 problem:\n  line 2: has 2 cells"):
        assembled_file(tmp_path / "plan.yaml")


def test_reading_a_plan_tells_its_text_and_its_files_together(tmp_path, told):
    (tmp_path / "plan.yaml").write_text(PLAN)
    with pytest.raises(InputError) as raised:
        read_plan(tmp_path / "plan.yaml")
    assert [problem.partition(":")[0] for problem in raised.value.problems] == ["line 3", "line 7", "line 10"]


def test_a_plan_is_surveyed_without_what_does_not_fit_and_its_lines_stay(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    plan, found = surveyed_plan(tmp_path / "plan.yaml")
    assert (plan.concurrency, plan.judges, plan.line("gates", 1)) == (None, ("openai/gpt-x",), 13)
    assert [one.line for one in found] == [2, 3, 7, 9, 10]
    (tmp_path / "plan.yaml").write_text("- 1\n")
    assert surveyed_plan(tmp_path / "plan.yaml")[0] is None
