"""Qrels: what they hold, how they are asked, and which are refused."""

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.retrieval import Qrels, read_qrels

GRADED = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 3}, "q3": {"x": 0, "y": -1}}


def test_rows_stand_by_query_in_the_order_they_came():
    qrels = Qrels.of(GRADED)
    assert qrels.queries == ("q1", "q2", "q3")
    assert qrels.starts.tolist() == [0, 3, 4, 6]
    assert qrels.documents.to_list() == ["a", "b", "c", "a", "x", "y"]
    assert qrels.grades.tolist() == [2, 0, 1, 3, 0, -1]
    assert qrels.codes.tolist() == [0, 0, 0, 1, 2, 2]
    assert (len(qrels), qrels.places) == (6, {"q1": 0, "q2": 1, "q3": 2})


def test_rows_of_a_query_that_stand_apart_come_together():
    rows = [("q2", "a", 1), ("q1", "b", 2), ("q2", "c", 0), ("q1", "a", 1)]
    assert Qrels.of(rows).to_dict() == {"q2": {"a": 1, "c": 0}, "q1": {"b": 2, "a": 1}}


@pytest.mark.parametrize(("level", "counts"), [(1.0, [2, 1, 0]), (2.0, [1, 1, 0]), (0.0, [3, 1, 1]), (9.0, [0, 0, 0])])
def test_relevant_documents_are_those_with_at_least_a_grade(level, counts):
    qrels = Qrels.of(GRADED)
    assert qrels.relevant(level).tolist() == counts
    assert qrels.relevant(level) is qrels.relevant(level)


def test_one_is_the_lowest_relevant_grade_unless_told():
    assert Qrels.of(GRADED).relevant().tolist() == [2, 1, 0]


def test_a_dict_comes_back_as_it_went_in():
    assert Qrels.of(GRADED).to_dict() == GRADED
    assert Qrels.of({"q": {"a": 0.5, "b": 2.0}}).to_dict() == {"q": {"a": 0.5, "b": 2}}


def test_queries_without_documents_stay_at_the_end():
    qrels = Qrels.of({"none": {}, "q": {"a": 1}, "nothing": {}})
    assert qrels.queries == ("q", "none", "nothing")
    assert qrels.starts.tolist() == [0, 1, 1, 1]
    assert qrels.to_dict() == {"q": {"a": 1}, "none": {}, "nothing": {}}


def test_ids_of_one_text_are_one_query():
    assert Qrels.of({1: {"a": 1}, "1": {"b": 2}, 2: {"c": 1}}).to_dict() == {"1": {"a": 1, "b": 2}, "2": {"c": 1}}


def test_ids_of_one_text_are_one_document_and_so_come_twice():
    with pytest.raises(InputError, match="qrels has 1 problem:\n  query 'q' has document '7' 2 times; pass on_dup"):
        Qrels.of({"q": {7: 1, "7": 2}})
    assert Qrels.of({"q": {7: 1, "7": 2}}, on_duplicate="last").to_dict() == {"q": {"7": 2}}
    assert Qrels.of({"q": {7: 1, "7": 2}}, on_duplicate="first").to_dict() == {"q": {"7": 1}}


def test_qrels_are_handed_through():
    qrels = Qrels.of(GRADED)
    assert Qrels.of(qrels) is qrels


def test_a_name_is_the_files_or_ones_own(tmp_path):
    path = tmp_path / "robust04.qrels.txt"
    path.write_text("301 0 a 1\n")
    assert read_qrels(path).name == "robust04"
    assert Qrels.of(path, name="robust").name == "robust"
    assert Qrels.of(GRADED).name == "qrels"


def test_judgments_in_a_file_are_named_with_the_file(tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("q 0 a 1\nq 0 a 2\nr 0 b 1\n")
    with pytest.raises(InputError) as raised:
        read_qrels(path)
    assert str(raised.value) == (
        f"{path} has 1 problem:\n"
        "  query 'q' has document 'a' 2 times; pass on_duplicate=\"first\" or \"last\" to keep one"
    )
    assert read_qrels(path, on_duplicate="first").to_dict() == {"q": {"a": 1}, "r": {"b": 1}}
    path.write_text("q 0 a inf\nq 0 b 1\nr 0 c nan\n")
    with pytest.raises(InputError) as raised:
        read_qrels(path)
    assert str(raised.value).splitlines() == [
        f"{path} has 2 problems:",
        "  document 'a' of query 'q' has the grade inf",
        "  document 'c' of query 'r' has the grade nan",
    ]
    path.write_text("\n")
    with pytest.raises(InputError, match=r"qrels\.txt holds no judgments; qrels need at least one query with a judged"):
        read_qrels(path)


@pytest.mark.parametrize(
    ("other", "agree"),
    [
        (GRADED, True),
        ({**GRADED, "q4": {"a": 1}}, False),
        ({**GRADED, "q2": {"a": 2}}, False),
        ({**GRADED, "q2": {"b": 3}}, False),
        ({"q2": {"a": 3}, "q1": GRADED["q1"], "q3": GRADED["q3"]}, False),
    ],
)
def test_qrels_agree_when_all_judgments_do(other, agree):
    qrels = Qrels.of(GRADED)
    assert qrels.agrees_with(Qrels.of(other, name="other")) is agree
    assert qrels.agrees_with(qrels)


@pytest.mark.parametrize("largest", [3, 1 << 20, (1 << 20) + 1, 1e300])
def test_any_size_of_grades_is_put_in_order(largest):
    qrels = Qrels.of({"q": {"a": 1, "b": largest, "c": 2}, "r": {"a": 0, "b": 1}})
    assert [qrels.documents[row] for row in qrels.by_grade.tolist()] == ["b", "c", "a", "b"]


def test_grades_as_numpy_has_them_are_numbers():
    grades = {"a": np.int64(2), "b": np.float32(0.5), "c": np.bool_(True)}
    assert Qrels.of({"q": grades}).to_dict() == {"q": {"a": 2, "b": 0.5, "c": 1}}
