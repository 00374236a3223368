"""Answers that differ in capitals alone: counted apart, as everywhere, and said aloud."""

import polars as pl
import pytest

from calibrant.alignment import MetaEvaluator
from calibrant.alignment.rater_results import RaterResults
from calibrant.alignment.spellings import MOST_LABELS, spelled_apart, spelling_notes

ITEMS = [f"t{number}" for number in range(12)]
SAID = ["yes" if number % 3 else "no" for number in range(12)]


def rater(name, answers, task="helpful"):
    return RaterResults(rater=name, frame=pl.DataFrame({"original_id": ITEMS[: len(answers)], task: answers}))


def test_capitals_and_blanks_around_set_labels_apart_and_nothing_else_does():
    assert spelled_apart(["yes", "Yes ", "YES", "no", "none"]) == [("YES", "Yes ", "yes")]
    assert spelled_apart(["Straße", "STRASSE"]) == [("STRASSE", "Straße")]
    assert spelled_apart(["yes", "no"]) == []


def test_a_note_names_the_task_and_every_way_of_writing():
    notes = spelling_notes([rater("judge", SAID), rater("bob", [said.title() for said in SAID])])
    assert notes == [
        "helpful: 'No', 'no' count as different answers; write them alike if they are meant alike",
        "helpful: 'Yes', 'yes' count as different answers; write them alike if they are meant alike",
    ]


def test_two_tasks_do_not_mix():
    assert spelling_notes([rater("judge", SAID), rater("bob", [said.title() for said in SAID], task="polite")]) == []


def test_numbers_have_no_capitals_and_free_text_may_have_them():
    assert spelling_notes([rater("judge", [1.0, 2.0])]) == []
    words = [f"word {number}" for number in range(MOST_LABELS)]
    frame = pl.DataFrame({"original_id": [str(n) for n in range(MOST_LABELS + 1)], "why": [*words, "Word 1"]})
    assert spelling_notes([RaterResults(rater="kim", frame=frame)]) == []


@pytest.fixture
def project(tmp_path):
    project = MetaEvaluator(tmp_path / "project")
    project.draws_charts = False
    project.add_external_judge_results(dict(zip(ITEMS, SAID, strict=True)), "judge", task="helpful")
    people = {"anna": SAID, "bob": [said.title() for said in SAID]}
    for name, answers in people.items():
        project.add_external_annotation_results(dict(zip(ITEMS, answers, strict=True)), name, task="helpful")
    project.add_usual_metrics()
    project.compare_async()
    return project


def test_the_report_says_why_people_who_agree_have_no_agreement(project):
    assert project.score_report.notes[0].startswith("helpful: 'No', 'no' count as different answers")
    assert "'Yes', 'yes' count as different answers" in project.score_report.to_text()
    assert "&#x27;Yes&#x27;" in project.score_report.to_html() or "'Yes'" in project.score_report.to_html()
