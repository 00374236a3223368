"""Which systems may be compared, under which names, on which queries."""

from pathlib import Path

import pytest

from calibrant.errors import InputError, WrongTypeError
from calibrant.retrieval import Conventions, Ranking, compare_results, measure
from calibrant.retrieval.systems import common_queries, named_systems, refuse_unlike

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
ONE, TWO = {"q1": ["a"], "q2": ["x", "b"]}, {"q2": ["b"], "q3": ["c"]}


def results(**changes):
    return {
        "one": measure(QRELS, ONE, ["RR", "AP"]),
        "two": measure(changes.pop("qrels", QRELS), TWO, changes.pop("measures", ["RR", "AP"]), **changes),
    }


def problems(given):
    with pytest.raises(InputError) as raised:
        refuse_unlike(given)
    return str(raised.value).splitlines()


def test_names_of_a_dict_are_kept_as_texts():
    assert list(named_systems({"bm25": ONE, 7: TWO})) == ["bm25", "7"]


def test_files_are_named_after_themselves_and_rankings_after_their_names():
    given = ["runs/bm25.run.gz", Path("runs/dense.parquet"), Ranking.of(ONE, name="hybrid"), Ranking.of(TWO), ONE]
    assert list(named_systems(given)) == ["bm25", "dense", "hybrid", "ranking 4", "ranking 5"]


def test_files_of_one_name_go_by_their_paths():
    assert list(named_systems(["old/bm25.run", "new/bm25.run"])) == ["old/bm25.run", "new/bm25.run"]


def test_one_file_twice_is_refused_with_what_to_do():
    with pytest.raises(InputError) as raised:
        named_systems(["a.run", "b.run", "a.run"])
    assert str(raised.value) == (
        "rankings has 1 problem:\n  'a.run' is there twice; name each once (in Python a dict of names tells them apart)"
    )


@pytest.mark.parametrize("given", ["a.run", Path("a.run"), 7, None])
def test_one_ranking_alone_is_no_list_of_rankings(given):
    with pytest.raises(WrongTypeError, match="rankings are a dict of names, or a list of files, not "):
        named_systems(given)


def test_results_that_are_alike_are_not_refused():
    refuse_unlike(results())
    refuse_unlike(results(qrels={query: dict(found) for query, found in QRELS.items()}))


def test_other_measures_are_refused():
    assert problems(results(measures=["AP", "RR"])) == [
        "the comparison has 1 problem:",
        "  two has other measures than one: ('AP', 'RR'), not ('RR', 'AP')",
    ]


def test_other_conventions_are_refused_even_under_the_same_name():
    assert problems(results(ties="given"))[1] == (
        "  two has other conventions than one: 'trec_eval, ties=given', not 'trec_eval'"
    )
    same_name = results(conventions=Conventions(name="trec_eval", precision="retrieved"))
    assert "two has other conventions than one" in problems(same_name)[1]


@pytest.mark.parametrize(
    "other",
    [
        {**QRELS, "q3": {"c": 2}},
        {**QRELS, "q3": {"d": 1}},
        {**QRELS, "q4": {"d": 1}},
        {"q1": {"a": 1}, "q2": {"b": 1}},
    ],
)
def test_other_judgments_are_refused_even_under_the_same_name(other):
    assert problems(results(qrels=other))[1] == "  two has other qrels than one: 'qrels', not 'qrels'"


def test_every_unlikeness_is_named():
    assert len(problems(results(qrels={"q1": {"a": 1}}, measures=["RR"], gain="exponential"))) == 4


def test_all_queries_are_shared_when_all_count():
    queries, rows = common_queries(results())
    assert queries == ("q1", "q2", "q3")
    assert [found.tolist() for found in rows.values()] == [[0, 1, 2], [0, 1, 2]]


def test_by_intersection_the_rows_of_each_system_are_those_of_the_shared_queries():
    given = {name: measure(QRELS, run, "RR", queries="intersection") for name, run in (("one", ONE), ("two", TWO))}
    queries, rows = common_queries(given)
    assert queries == ("q2",)
    assert {name: found.tolist() for name, found in rows.items()} == {"one": [1], "two": [0]}


def test_means_are_over_the_queries_that_are_compared():
    given = {name: measure(QRELS, run, "RR", queries="intersection") for name, run in (("one", ONE), ("two", TWO))}
    comparison = compare_results(given)
    assert comparison.means == {"RR": {"one": 0.5, "two": 1.0}}
    assert given["one"]["RR"].value == 0.75
    assert comparison.to_json()["comparison"]["means"] == {"RR": {"one": 0.5, "two": 1.0}}


def test_systems_without_a_query_in_common_have_no_means():
    given = {
        name: measure(QRELS, run, "RR", queries="intersection") for name, run in (("a", {"q1": ["a"]}), ("b", TWO))
    }
    comparison = compare_results(given)
    assert comparison.means == {"RR": {"a": None, "b": None}}
    assert comparison.letters == {"RR": {"a": "a", "b": "a"}}
    assert "0 queries are too few to tell systems apart" in comparison.warnings
    assert comparison.pairs[0].compared.difference.value is None
