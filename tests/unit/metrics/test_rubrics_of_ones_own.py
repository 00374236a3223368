"""A rubric in the user's folder is a metric without any code: by its path, by its name, and in a plan."""

import asyncio
import json

import pytest

from calibrant import EvalInput, ScriptedInvoker
from calibrant.errors import InputError, UnknownNameError
from calibrant.metrics import Rubric, RubricExample, RubricMetric, read_rubric, rubric_text
from calibrant.metrics.rubric_files import parse_rubric, rubric_markdown
from calibrant.readers.plan import read_plan
from calibrant.runs.assembly import assembled

POLITE = """\
---
fields: [answer]
levels: {1: Rude., 2: Curt., 3: Kind.}
---
Whether the answer is polite.
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rubrics").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("place", "asked"),
    [
        ("polite.md", "polite.md"),
        ("polite.md", "polite"),
        ("rubrics/polite.md", "rubrics/polite.md"),
        ("rubrics/polite.md", "rubrics/polite"),
        ("rubrics/polite.md", "polite"),
        ("polite.txt", "polite.txt"),
        ("polite", "polite"),
    ],
)
def test_a_file_is_found_by_path_or_name(folder, place, asked):
    (folder / place).write_text(POLITE)
    metric = RubricMetric(asked, models=ScriptedInvoker({"explanation": "Thanks.", "score": 3}))
    assert metric.name == "polite"
    assert asyncio.run(metric.evaluate(EvalInput(answer="Thank you!"))).score == 1.0


def test_an_absolute_path_may_leave_its_ending_out(folder):
    (folder / "rubrics" / "polite.md").write_text(POLITE)
    assert read_rubric(str(folder / "rubrics" / "polite")).criterion == "polite"
    assert read_rubric(folder / "rubrics" / "polite").criterion == "polite"


def test_a_file_beside_wins_over_one_in_rubrics(folder):
    (folder / "polite.md").write_text(POLITE)
    (folder / "rubrics" / "polite.md").write_text(POLITE.replace("Whether", "If"))
    assert read_rubric("polite").definition.startswith("Whether")


def test_a_shipped_name_is_the_shipped_rubric_and_a_path_is_the_file(folder):
    (folder / "fluency.md").write_text(POLITE)
    assert read_rubric("fluency").definition != "Whether the answer is polite."
    assert (
        read_rubric("fluency.md").definition == read_rubric("./fluency").definition == "Whether the answer is polite."
    )


def test_a_name_that_is_nowhere_says_where_it_was_looked_for(folder):
    with pytest.raises(UnknownNameError, match=r"unknown rubric 'kind'; expected a file of yours \(kind.md, rubrics/"):
        RubricMetric("kind")
    with pytest.raises(InputError, match="cannot read the rubric rubrics/kind.md"):
        RubricMetric("rubrics/kind")
    with pytest.raises(InputError, match="cannot read the rubric rubrics"):
        RubricMetric("rubrics/")


def test_a_shipped_rubric_is_a_file_to_start_ones_own_from(folder):
    (folder / "mine.md").write_text(rubric_text("redundancy").replace("threshold: 0.5", "threshold: 0.25"))
    mine = RubricMetric("mine.md")
    assert (mine.name, mine.threshold, mine.higher_is_better) == ("redundancy", 0.25, False)
    assert mine.instrument != RubricMetric("redundancy").instrument


def test_every_word_of_a_rubric_is_part_of_the_instrument():
    base = parse_rubric(POLITE, "polite.md")
    changed = [
        POLITE.replace("Whether", "If"),
        POLITE.replace("Kind.", "Very kind."),
        POLITE.replace("levels", "steps: [Look.]\nlevels"),
        POLITE.replace("levels", "polarity: lower\nlevels"),
        POLITE.replace("levels", "optional: [query]\nlevels"),
        POLITE.replace("levels", "threshold: 0.6\nlevels"),
        POLITE.replace("levels", "labels: [rude, curt, kind]\nlevels"),
        POLITE.replace("levels", "examples: [{answer: Hi., level: 2}]\nlevels"),
    ]
    hashes = {RubricMetric(parse_rubric(text, "polite.md")).instrument for text in [POLITE, *changed]}
    assert len(hashes) == 1 + len(changed)
    assert RubricMetric(base).instrument == RubricMetric(parse_rubric(POLITE, "elsewhere/polite.md")).instrument


def test_levels_need_not_be_three_nor_begin_at_one(folder):
    (folder / "deep.md").write_text(POLITE.replace("{1: Rude., 2: Curt., 3: Kind.}", "{0: None., 5: Half., 10: All.}"))
    judge = ScriptedInvoker([{"explanation": "x", "score": level} for level in (0, 5, 10, 7)])
    metric = RubricMetric("deep.md", models=judge)
    results = [asyncio.run(metric.evaluate(EvalInput(answer="x"))) for _ in range(4)]
    assert [one.score for one in results] == [0.0, 0.5, 1.0, None]
    assert results[3].error.message == "expected a score that is one of 0, 5, 10, got {'explanation': 'x', 'score': 7}"


def test_a_level_may_be_given_as_a_whole_float_and_never_as_a_bool(folder):
    (folder / "polite.md").write_text(POLITE)
    judge = ScriptedInvoker([{"explanation": "x", "score": level} for level in (2.0, True, 2.5, "2")])
    metric = RubricMetric("polite.md", models=judge)
    results = [asyncio.run(metric.evaluate(EvalInput(answer="x"))) for _ in range(4)]
    assert [one.rubric_score for one in results] == [2, None, None, None]
    assert {one.error.code for one in results[1:]} == {"reply_unparsable"}


def test_examples_of_a_rubric_are_shown_with_their_levels():
    rubric = Rubric(
        criterion="polite",
        definition="Is it polite?",
        fields=("answer",),
        levels={1: "rude", 2: "kind"},
        labels=("rude", "kind"),
        examples=(RubricExample(texts={"answer": "Hi."}, level=2, explanation="It greets."),),
    )
    assert "Hi." in rubric.instructions()
    assert "Level: It greets. (2)" in rubric.instructions()
    assert "Level: It greets. (kind)" in rubric.instructions(labelled=True)
    again = parse_rubric(rubric_markdown(rubric), "polite.md")
    assert again == rubric
    assert hash(again) == hash(rubric)


def test_a_rubric_survives_being_sent_to_another_process():
    import pickle

    rubric = read_rubric("groundedness")
    assert pickle.loads(pickle.dumps(rubric)) == rubric


@pytest.mark.parametrize(
    ("labels", "problem"),
    [
        (("A", "B"), "labels name every level once: expected 3, got 2"),
        (("A", "B", "AB"), "no label may begin another one, but A does"),
        (("a", "A", "b"), "no label may begin another one, but A, a does"),
        (("1", "B", "C"), "label '1' must be letters or words: a digit may be part of a longer number"),
        (("", "B", "C"), "label '' must be letters or words"),
    ],
)
def test_labels_that_could_be_mistaken_are_refused(labels, problem):
    with pytest.raises(InputError) as told:
        Rubric(criterion="c", definition="d", fields=("answer",), levels={1: "a", 2: "b", 3: "c"}, labels=labels)
    assert problem in str(told.value)


def test_a_plan_takes_a_rubric_file_and_settings(folder):
    (folder / "polite.md").write_text(POLITE)
    (folder / "data.jsonl").write_text(json.dumps({"id": 1, "answer": "Hello."}))
    (folder / "plan.yaml").write_text(
        "version: 1\ndataset: data.jsonl\njudges: [openai/x]\n"
        "metrics:\n  - {name: manners, rubric: polite.md, threshold: 1.0, settings: {scoring: sampled, samples: 3}}\n"
    )
    [metric] = assembled(read_plan(folder / "plan.yaml")).measurement.metrics
    assert (metric.name, metric.threshold, metric.scoring) == ("manners", 1.0, "sampled")
    assert metric.estimated_calls(EvalInput(answer="Hello.")) == 3
