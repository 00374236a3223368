"""One query, one field and one cell are named as one."""

import pytest

from calibrant.agreement import RatingCube, alt_test, corrected_rate, disagreements
from calibrant.errors import InputError
from calibrant.report import html_report
from calibrant.retrieval import Ranking, compare_rankings

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}


def test_one_query_is_one():
    comparison = compare_rankings({"q1": {"a": 1}}, {"one": {"q1": ["a"]}, "two": {"q1": ["x"]}}, ["RR"])
    assert str(comparison).startswith("1 query of qrels, ")
    assert "1 query is too few to tell systems apart" in comparison.warnings
    assert "1 query judged in qrels" in html_report(comparison)


@pytest.mark.parametrize(
    ("queries", "said"),
    [
        ("qrels", "part has no results for 1 of the queries, which counts 0: q2"),
        ("intersection", "part has no results for 1 of the queries, which is left out: q2"),
    ],
)
def test_one_query_without_results_counts_or_is_left_out(queries, said):
    whole, part = {"q1": ["a"], "q2": ["b"]}, {"q1": ["a"]}
    assert said in compare_rankings(QRELS, {"whole": whole, "part": part}, ["RR"], queries=queries).warnings


def test_one_field_is_one():
    with pytest.raises(InputError, match=r"expected rows of \(query, document, score\), got 1 field: "):
        Ranking.of([("q1",)])


def test_one_person_and_one_item_are_one():
    ratings = {"judge": {1: "x", 2: "y"}, "kim": {1: "x", 2: "y"}}
    assert alt_test(RatingCube.of(ratings), "judge").reason == "1 person rated items, and the test needs 3"
    both = {"judge": {1: "x"}, "kim": {1: "y"}, "lee": {1: "y"}}
    assert str(disagreements(RatingCube.of(both), "judge")).startswith("of 1 item, the judge and people agree on 0; ")


def test_one_label_too_many_is_one():
    judge = {item: item % 3 > 0 for item in range(50)}
    human = {item: judge.get(item, True) for item in (*range(20), 99)}
    assert corrected_rate(judge, human).warnings == ("1 labelled item was not judged, and left out",)
