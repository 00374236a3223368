"""Names of files, the usual metrics, and answers of files as columns."""

import json
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.alignment import EvalTask
from calibrant.alignment.answer_columns import answers_by_item, clusters_by_item
from calibrant.alignment.rater_results import RaterResults, Ratings
from calibrant.alignment.safe_names import safe_name
from calibrant.alignment.usual_metrics import usual_metrics
from calibrant.errors import InputError, UnknownNameError

names = st.text(max_size=200)


@given(names)
def test_a_safe_name_is_one_part_of_a_path_that_every_system_takes(name):
    safe = safe_name(name)
    assert re.fullmatch(r"[\w .()+=@,-]{1,140}", safe, flags=re.ASCII)
    assert safe.strip(". ") not in {"", ".."}
    assert safe.upper() not in {"CON", "PRN", "AUX", "NUL", "COM1", "LPT1"}


@given(names, names)
def test_two_names_never_share_a_file(first, second):
    if first != second:
        assert safe_name(first) != safe_name(second)


@pytest.mark.parametrize("name", ["gpt_4_judge", "a-b.c", "Person 1", "x@y=z"])
def test_a_plain_name_stays(name):
    assert safe_name(name) == name


@pytest.mark.parametrize("name", ["", ".", "..", " ", "con", "NUL.txt", "a/b", "a\\b", "ä", "a\x00b", "x" * 300])
def test_an_odd_name_carries_a_piece_of_its_hash(name):
    assert re.search(r"-[0-9a-f]{8}$", safe_name(name))


def ratings(people, judge=None):
    frames = {
        name: RaterResults(
            rater=name,
            frame=pl.DataFrame(
                {"original_id": [str(item) for item in range(len(next(iter(tasks.values()))))], **tasks}
            ),
        )
        for name, tasks in people.items()
    }
    return Ratings({"judge": frames[judge or next(iter(frames))]}, frames)


def asked(config):
    return [one.get_unique_name() for one in config.metrics]


def test_labels_are_asked_for_agreement_and_free_text_for_similarity():
    texts = [f"because of reason number {item}" for item in range(20)]
    given_answers = ratings({"kim": {"safe": ["yes", "no"] * 10, "why": texts}})
    assert asked(usual_metrics(given_answers)) == [
        "accuracy_safe", "cohens_kappa_safe", "alt_test_safe", "text_similarity_why"
    ]  # fmt: skip


def test_the_task_says_what_is_free_text():
    given_answers = ratings({"kim": {"why": ["same", "same", "other"]}})
    assert asked(usual_metrics(given_answers, (), EvalTask({"why": None}))) == ["text_similarity_why"]
    assert asked(usual_metrics(given_answers)) == ["accuracy_why", "cohens_kappa_why", "alt_test_why"]


def test_tasks_can_be_named_and_those_without_labels_are_left_out():
    given_answers = ratings({"kim": {"a": ["x", "y"], "b": ["x", "y"], "c": [None, None]}})
    assert {name.rsplit("_", 1)[1] for name in asked(usual_metrics(given_answers))} == {"a", "b"}
    assert {name.rsplit("_", 1)[1] for name in asked(usual_metrics(given_answers, ["b"]))} == {"b"}


def test_nothing_to_compare_with_is_said():
    with pytest.raises(InputError, match="no task has labels of people, so there is nothing to compare with"):
        usual_metrics(ratings({"kim": {"a": [None, None]}}))


def csv(folder, text, name="human.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_one_column_of_answers_is_read_by_item(tmp_path):
    path = csv(tmp_path, "id,safe\n1,yes\n2,\n3,no\n")
    assert answers_by_item(path) == {"1": "yes", "2": None, "3": "no"}


def test_of_several_people_the_most_frequent_answer_counts_and_a_tie_is_none(tmp_path):
    rows = ["1,kim,yes", "1,lee,yes", "1,ann,no", "2,kim,yes", "2,lee,no", "3,kim,no"]
    path = csv(tmp_path, "id,annotator_id,safe\n" + "\n".join(rows) + "\n")
    assert answers_by_item(path) == {"1": "yes", "2": None, "3": "no"}


def test_a_pair_of_json_is_read_in_the_same_way(tmp_path):
    path = tmp_path / "people.json"
    path.write_text(json.dumps({"kim": {"1": True, "2": False}, "lee": {"1": True}}), encoding="utf-8")
    assert answers_by_item(path) == {"1": "true", "2": "false"}


def test_several_tasks_need_a_name(tmp_path):
    path = csv(tmp_path, "id,safe,tone\n1,yes,warm\n")
    with pytest.raises(InputError, match="human.csv has answers to safe, tone; name one with --task"):
        answers_by_item(path)
    assert answers_by_item(path, "tone") == {"1": "warm"}
    with pytest.raises(UnknownNameError, match="unknown task 'ton'"):
        answers_by_item(path, "ton")


def test_a_column_that_is_no_answer_can_be_left_out(tmp_path):
    path = csv(tmp_path, "id,safe,customer\n1,yes,acme\n2,no,\n")
    assert answers_by_item(path, without="customer") == {"1": "yes", "2": "no"}
    assert clusters_by_item(path, "customer") == {"1": "acme"}
    with pytest.raises(InputError, match="human.csv has no column 'client'; it has: id, safe, customer"):
        clusters_by_item(path, "client")
