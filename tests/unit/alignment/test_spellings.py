"""Answers that differ in capitals alone: counted apart, as everywhere, and said aloud."""

import pytest

from calibrant.alignment import MetaEvaluator
from calibrant.alignment.spellings import spelled_apart

ITEMS = [f"t{number}" for number in range(12)]
SAID = ["yes" if number % 3 else "no" for number in range(12)]


def test_capitals_and_blanks_around_set_labels_apart_and_nothing_else_does():
    assert spelled_apart(["yes", "Yes ", "YES", "no", "none"]) == [("YES", "Yes ", "yes")]
    assert spelled_apart(["Straße", "STRASSE"]) == [("STRASSE", "Straße")]
    assert spelled_apart(["yes", "no"]) == []


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


def test_the_report_says_once_why_people_who_agree_have_no_agreement(project):
    (said,) = [note for note in project.score_report.notes if "'Yes'" in note]
    assert said.startswith("accuracy_helpful, cohens_kappa_helpful")
    assert said.endswith("judge: 'Yes' and 'yes' differ only in case or spaces, and count as different labels")
    assert said in project.score_report.to_text()
    assert "&#x27;Yes&#x27;" in project.score_report.to_html() or "'Yes'" in project.score_report.to_html()
