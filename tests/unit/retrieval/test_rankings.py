"""Rankings in memory and in blocks of files."""

import numpy as np
import polars as pl
import pytest

from calibrant.errors import InputError
from calibrant.retrieval import Ranking, measure, read_ranking
from calibrant.retrieval.rankings import ScatteredQueriesError, ranking_blocks
from calibrant.retrieval.sources import file_name


def lines(*rows):
    return "".join(f"{query} Q0 {document} 0 {score} tag\n" for query, document, score in rows)


def test_a_dict_of_scores_keeps_them_and_a_dict_of_lists_has_its_order_alone():
    scored, listed = Ranking.of({"q": {"a": 0.5, "b": 0.9}}), Ranking.of({"q": ["b", "a"]})
    assert scored.scores.tolist() == [0.5, 0.9]
    assert scored.documents.to_list() == ["a", "b"]
    assert listed.scores is None
    assert listed.documents.to_list() == ["b", "a"]


def test_queries_without_documents_are_not_in_a_ranking():
    ranking = Ranking.of({"none": {}, "q": {"a": 1.0}, "nothing": {}, "r": {"b": 1.0, "c": 2.0}})
    assert ranking.queries == ("q", "r")
    assert ranking.starts.tolist() == [0, 1, 3]
    assert Ranking.of({"none": [], "q": ["a"]}).queries == ("q",)


def test_ids_of_one_text_are_one_query():
    ranking = Ranking.of({1: {"a": 1.0}, 2: {"x": 0.5}, "1": {"b": 2.0}})
    assert (ranking.queries, ranking.starts.tolist()) == (("1", "2"), [0, 2, 3])
    assert ranking.documents.to_list() == ["a", "b", "x"]


def test_only_dicts_with_texts_are_known_to_have_each_document_once():
    assert Ranking.of({"q": {"a": 1.0}}).is_distinct
    assert not Ranking.of({"q": {7: 1.0, "7": 2.0}}).is_distinct
    assert not Ranking.of({"q": ["a"]}).is_distinct
    assert not Ranking.of([("q", "a", 1.0)]).is_distinct
    assert not Ranking.of({1: {"a": 1.0}, "1": {"a": 2.0}}).is_distinct


@pytest.mark.parametrize("run", [{"q": {7: 1.0, "7": 2.0}}, {1: {"7": 1.0}, "1": {"7": 2.0}}, {"1": ["7", 7]}])
def test_a_document_that_comes_twice_under_two_spellings_is_found(run):
    with pytest.raises(InputError, match=r"query '[q1]' has document '7' 2 times"):
        measure({"q": {"7": 1}, "1": {"7": 1}}, run, "RR")


def test_a_name_is_ones_own_or_the_files(tmp_path):
    path = tmp_path / "bm25.run"
    path.write_text(lines(("q", "a", 1)))
    assert (Ranking.of(path).name, Ranking.of(path).path) == ("bm25", str(path))
    assert (Ranking.of({"q": ["a"]}).name, Ranking.of({"q": ["a"]}).path) == ("ranking", None)
    assert read_ranking(path, name="dense").name == "dense"
    assert Ranking.of({"q": ["a"]}, name="mine").name == "mine"


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("bm25.run", "bm25"),
        ("bm25.run.gz", "bm25"),
        ("bm25.trec.txt.gz", "bm25"),
        ("k1=0.9.b=0.4.res", "k1=0.9.b=0.4"),
        ("run.parquet", "run"),
        (".run", ".run"),
        ("input.STANDARD", "input.STANDARD"),
    ],
)
def test_a_file_is_called_by_its_name_without_how_it_is_written(tmp_path, name, called):
    assert file_name(tmp_path / name) == called


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 100])
def test_blocks_hold_whole_queries_and_all_of_them(rows):
    ranking = Ranking.of({f"q{number}": {f"d{place}": 1.0 for place in range(number)} for number in range(1, 6)})
    blocks = list(ranking.blocks(rows))
    assert tuple(query for block in blocks for query in block.queries) == ranking.queries
    assert pl.concat([block.documents for block in blocks]).equals(ranking.documents)
    assert np.concatenate([block.scores for block in blocks]).tolist() == ranking.scores.tolist()
    assert all(block.starts[0] == 0 and block.starts[-1] == len(block) for block in blocks)
    assert all(block.is_distinct and block.name == "ranking" for block in blocks)


def test_blocks_of_a_ranking_without_scores_have_none():
    assert all(block.scores is None for block in Ranking.of({"q": ["a", "b"], "r": ["c"]}).blocks(1))


def test_an_empty_ranking_has_no_blocks():
    assert list(Ranking.of({}).blocks()) == []
    assert len(Ranking.of({})) == 0


def test_a_file_comes_in_blocks_of_whole_queries(tmp_path):
    path = tmp_path / "a.run"
    path.write_text(lines(("q1", "a", 2), ("q1", "b", 1), ("q2", "c", 1)))
    assert [block.queries for block in ranking_blocks(path)] == [("q1",), ("q2",)]
    assert [block.documents.to_list() for block in ranking_blocks(path)] == [["a", "b"], ["c"]]


def test_a_query_that_goes_on_later_is_seen(tmp_path):
    path = tmp_path / "a.run"
    path.write_text(lines(("q1", "a", 2), ("q2", "c", 1), ("q1", "b", 1), ("q3", "d", 1)))
    with pytest.raises(ScatteredQueriesError):
        list(ranking_blocks(path))
    assert read_ranking(path).queries == ("q1", "q2", "q3")
    result = measure({"q1": {"b": 1}, "q2": {"c": 1}}, path, ["RR", "SetP"])
    assert result.per_query == {"q1": {"RR": 0.5, "SetP": 0.5}, "q2": {"RR": 1.0, "SetP": 1.0}}


def test_a_file_without_scores_is_in_its_order(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("query,doc\nq,b\nq,a\nr,a\n")
    assert [block.scores for block in ranking_blocks(path)] == [None, None]
    assert measure({"q": {"a": 1}}, path, "RR").of("RR").tolist() == [0.5]


def test_problems_of_scores_and_documents_name_the_file(tmp_path):
    path = tmp_path / "a.run"
    path.write_text(lines(("q", "a", 1), ("q", "a", 2)))
    with pytest.raises(InputError) as raised:
        measure({"q": {"a": 1}}, path, "RR")
    assert str(raised.value).startswith(f"{path} has 1 problem:\n  query 'q' has document 'a' 2 times")
    path.write_text(lines(("q", "a", "nan")))
    with pytest.raises(InputError) as raised:
        measure({"q": {"a": 1}}, path, "RR")
    assert str(raised.value).startswith(f"{path} has 1 problem:\n  the score of document 'a' of query 'q' is not a")


def test_a_query_of_which_all_scores_were_dropped_is_without_results():
    run = {"q": {"a": float("nan")}, "r": {"b": 1.0, "c": float("nan")}}
    result = measure({"q": {"a": 1}, "r": {"b": 1}}, run, "RR", on_nan="drop")
    assert result.queries_without_results == ("q",)
    assert result.warnings == ("2 rows were dropped, with a score that is not a number",)
    assert measure({"q": {"a": 1}, "r": {"b": 1}}, run, "RR", on_nan="drop", queries="intersection").queries == ("r",)
