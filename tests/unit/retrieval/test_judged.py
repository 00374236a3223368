"""A ranking reduced to the ranks of its judged documents."""

import numpy as np
import polars as pl
import pytest

from calibrant.retrieval import Conventions, Qrels, Ranking
from calibrant.retrieval.duplicates import document_hashes, document_keys
from calibrant.retrieval.judged import JudgedIndex, joined, judged_ranks
from calibrant.retrieval.order import counts_above, descending_order

QRELS = Qrels.of({"q1": {"a": 2, "b": 0}, "q2": {"a": 1, "c": 3}})


def reduced(run, qrels=QRELS, **policies):
    return judged_ranks(Ranking.of(run), JudgedIndex(qrels), Conventions.of(**policies))


def rows(judged):
    return list(zip(judged.queries.tolist(), judged.ranks.tolist(), judged.grades.tolist(), strict=True))


def test_only_judged_documents_remain_with_their_ranks_and_grades():
    judged = reduced({"q2": {"x": 9.0, "c": 8.0, "y": 7.0, "a": 6.0}, "q1": {"c": 5.0, "b": 4.0}})
    assert rows(judged) == [(1, 2, 3.0), (1, 4, 1.0), (0, 2, 0.0)]
    assert judged.retrieved.tolist() == [2, 4]
    assert judged.present.tolist() == [True, True]
    assert (judged.dropped, judged.unknown, judged.sizes) == (0, 0, None)


def test_a_document_that_another_query_judges_is_not_judged():
    assert rows(reduced({"q1": {"c": 1.0}})) == []


def test_queries_that_the_qrels_do_not_have_are_counted_and_hold_nothing():
    judged = reduced({"q0": {"a": 1.0, "c": 2.0}, "q1": {"a": 1.0}, "q9": {"b": 1.0}})
    assert rows(judged) == [(0, 1, 2.0)]
    assert judged.unknown == 2
    assert judged.present.tolist() == [True, False]


def test_expected_ties_keep_how_many_share_a_rank():
    judged = reduced({"q1": {"x": 2.0, "a": 1.0, "b": 1.0, "y": 1.0, "z": 0.0}}, ties="expected")
    assert rows(judged) == [(0, 2, 2.0), (0, 2, 0.0)]
    assert judged.sizes.tolist() == [3, 3]


def test_a_list_has_no_ties_to_expect_over():
    assert reduced({"q1": ["b", "a"]}, ties="expected").sizes.tolist() == [1, 1]


def test_blocks_are_joined_by_query_and_rank():
    index, conventions = JudgedIndex(QRELS), Conventions()
    parts = [
        judged_ranks(Ranking.of(run), index, conventions)
        for run in ({"q2": {"a": 1.0}, "q5": {"a": 1.0}}, {"q1": {"b": 2.0, "a": 3.0}})
    ]
    both = joined(parts)
    assert rows(both) == [(0, 1, 2.0), (0, 2, 0.0), (1, 1, 1.0)]
    assert both.retrieved.tolist() == [2, 1]
    assert both.present.tolist() == [True, True]
    assert both.unknown == 1


@pytest.mark.parametrize("queries", [1, 2, 3, 4, 255, 256, 1000])
def test_keys_put_the_query_first_and_none_behind_all(queries):
    hashes = np.array([0, (1 << 64) - 1], dtype=np.uint64)
    first = document_keys(hashes, np.zeros(2, dtype=np.int64), queries)
    last = document_keys(hashes, np.full(2, queries - 1), queries)
    unknown = document_keys(hashes, np.full(2, -1), queries)
    assert first[0] == 0
    assert first.max() <= last.max() < unknown.min()
    assert len({*first.tolist(), *last.tolist(), *unknown.tolist()}) == (4 if queries == 1 else 6)


def test_equal_hashes_of_unequal_documents_are_told_apart_by_their_texts():
    index = JudgedIndex(QRELS)
    documents = pl.Series(["zz", "a"])
    key = index.keys_of(document_hashes(pl.Series(["a"]), index.seed), np.array([0]))[0]
    found, judgments = index.find(documents, np.array([key, key], dtype=np.uint64))
    assert found.tolist() == [1]
    assert QRELS.grades[judgments].tolist() == [2.0]


def test_a_key_beyond_all_is_not_found():
    found, judgments = JudgedIndex(QRELS).find(pl.Series(["a"]), np.array([(1 << 64) - 1], dtype=np.uint64))
    assert (len(found), len(judgments)) == (0, 0)


def test_a_great_many_queries_of_one_document_are_found_each():
    many = {f"q{number}": {f"d{number}": number % 3} for number in range(5000)}
    qrels = Qrels.of(many)
    judged = reduced({query: {**found, "other": -1.0} for query, found in many.items()}, qrels)
    assert judged.queries.tolist() == list(range(5000))
    assert judged.grades.tolist() == qrels.grades.tolist()


def test_scores_in_order_and_out_of_order_are_counted_alike():
    ordered = np.array([3.0, 2.0, 2.0, 1.0, 5.0, 5.0, 5.0])
    starts = np.array([0, 4, 7])
    every, segments = np.arange(7), np.array([0, 0, 0, 0, 1, 1, 1])
    above, equal = counts_above(ordered, starts, every, segments)
    assert above.tolist() == [0, 1, 1, 3, 0, 0, 0]
    assert equal.tolist() == [1, 2, 2, 1, 3, 3, 3]
    mixed = np.array([2.0, 1.0, 3.0, 2.0, 5.0, 5.0, 5.0])
    above, equal = counts_above(mixed, starts, every, segments)
    assert above.tolist() == [1, 3, 0, 1, 0, 0, 0]
    assert equal.tolist() == [2, 1, 1, 2, 3, 3, 3]
    assert mixed.tolist() == [2.0, 1.0, 3.0, 2.0, 5.0, 5.0, 5.0]


def test_the_order_of_rows_is_sorted_only_for_the_queries_asked():
    scores, starts = np.array([1.0, 2.0, 1.0, 3.0, 4.0]), np.array([0, 3, 5])
    assert descending_order(scores, starts, np.array([0])).tolist() == [1, 0, 2, 3, 4]
    assert descending_order(scores, starts, np.array([0, 1])).tolist() == [1, 0, 2, 4, 3]


def test_queries_without_rows_have_nothing_to_count():
    above, equal = counts_above(np.zeros(0), np.array([0, 0]), np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert (above.tolist(), equal.tolist()) == ([], [])
    above, equal = counts_above(np.array([1.0]), np.array([0, 0, 1, 1]), np.array([0]), np.array([1]))
    assert (above.tolist(), equal.tolist()) == ([0], [1])
