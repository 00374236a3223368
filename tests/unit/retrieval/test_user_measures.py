"""Measures of one's own: what the function gets, and what becomes of what it gives."""

import numpy as np
import pytest

from calibrant.errors import InputError
from calibrant.retrieval import UserMeasure, compare_rankings, measure

QRELS = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 3, "e": -1}}
RUN = {"q1": {"x": 9.0, "c": 8.0, "b": 7.0}, "q2": {"d": 1.0}}


def seen(qrels, run, **policies):
    calls = []

    def note(ranks, grades):
        calls.append(list(zip(ranks.tolist(), grades.tolist(), strict=True)))
        return 0.0

    measure(qrels, run, note, **policies)
    return calls


def test_it_is_called_for_every_query_with_all_judged_documents_best_rank_first():
    inf = float("inf")
    assert seen(QRELS, RUN) == [[(2.0, 1.0), (3.0, 0.0), (inf, 2.0)], [(1.0, 3.0), (inf, -1.0)]]


def test_documents_that_were_not_retrieved_come_last_by_grade():
    inf = float("inf")
    grades = {"a": 1, "b": 3, "c": -2, "d": 3, "e": 0}
    assert seen({"q": grades}, {"q": ["d"]}) == [[(1.0, 3.0), (inf, 3.0), (inf, 1.0), (inf, 0.0), (inf, -2.0)]]


def test_queries_without_results_or_judgments_are_asked_too():
    assert seen({"q1": {"a": 1}, "q2": {}}, {}) == [[(float("inf"), 1.0)], []]


def test_the_function_sees_ranks_as_the_conventions_have_them():
    tied = {"q": {"a": 1.0, "b": 1.0}}
    assert seen({"q": {"a": 1}}, tied) == [[(2.0, 1.0)]]
    assert seen({"q": {"a": 1}}, tied, ties="given") == [[(1.0, 1.0)]]


def reciprocal_rank(ranks, grades):
    return float((1 / ranks[grades >= 1]).max(initial=0.0))


def average_precision(ranks, grades):
    relevant = ranks[grades >= 1]
    found = np.arange(1, len(relevant) + 1)
    return float((found / relevant).sum() / max(len(relevant), 1))


def ndcg(ranks, grades):
    gains = np.maximum(grades, 0)
    ideal = (np.sort(gains)[::-1] / np.log2(np.arange(len(gains)) + 2)).sum()
    return float((gains / np.log2(ranks + 1)).sum() / ideal) if ideal else 0.0


@pytest.mark.parametrize(("own", "text"), [(reciprocal_rank, "RR"), (average_precision, "AP"), (ndcg, "nDCG")])
def test_known_measures_can_be_written_as_ones_own(own, text):
    result = measure(QRELS, RUN, [text, own])
    assert result.of(own.__name__) == pytest.approx(result.of(text))


def test_its_name_is_the_functions_or_the_one_given():
    class Depth:
        def __call__(self, ranks, grades):
            return float(np.max(ranks[np.isfinite(ranks)], initial=0.0))

    result = measure(QRELS, RUN, [Depth(), UserMeasure("first", lambda ranks, grades: float(ranks[0])), "AP"])
    assert result.measures == ("Depth", "first", "AP")
    assert result.of("Depth").tolist() == [3.0, 1.0]
    assert result["first"].n == 2
    assert result.to_json(per_query=True)["per_query"]["q1"]["first"] == 2.0


@pytest.mark.parametrize("number", [1, 0.5, True, np.float32(0.25), np.array(2.0)])
def test_every_kind_of_number_is_taken(number):
    assert measure(QRELS, RUN, UserMeasure("own", lambda ranks, grades: number)).of("own").tolist() == [number] * 2


@pytest.mark.parametrize("given", [None, "high", float("nan"), float("inf"), [1.0, 2.0], {}])
def test_what_is_no_finite_number_names_the_measure_and_the_query(given):
    with pytest.raises(InputError) as raised:
        measure(QRELS, RUN, UserMeasure("own", lambda ranks, grades: given if len(ranks) == 2 else 0.0))
    assert str(raised.value).startswith("own gave ")
    assert str(raised.value).endswith(" for query 'q2'; a measure is a finite number")


def test_what_the_function_raises_comes_through_and_says_where():
    def broken(ranks, grades):
        return {}[len(ranks)]

    with pytest.raises(KeyError) as raised:
        measure(QRELS, RUN, broken)
    assert raised.value.__notes__ == ["in the measure broken, for query 'q1'"]


def test_values_outside_of_0_and_1_are_estimated_and_compared():
    def depth(ranks, grades):
        return float(ranks[grades >= 1][0]) if (grades >= 1).any() else 100.0

    qrels = {f"q{number}": {"a": 1} for number in range(12)}
    near, far = dict.fromkeys(qrels, ("x", "a")), dict.fromkeys(qrels, (*"uvwxyz", "a"))
    pair = compare_rankings(qrels, {"far": far, "near": near}, [depth], resamples=200).pairs[0]
    assert pair.compared.difference.value == -5.0
    assert (pair.compared.wins, pair.compared.losses) == (0, 12)
    assert measure(qrels, far, depth)["depth"].value == 7.0
