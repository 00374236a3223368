"""A comparison as text: what stands in each row, and what a dash says."""

import random

import pytest

from calibrant.retrieval import compare_rankings, measure
from calibrant.retrieval.comparison_table import aligned, comparison_text, query_table

QUERIES = [f"q{number}" for number in range(16)]
QRELS = {query: {"a": 2, "b": 1, "x": 0} for query in QUERIES}


def system(seed, steadiness):
    rng = random.Random(seed)
    return {
        query: {name: grade * steadiness + rng.gauss(0, 1) for name, grade in QRELS[query].items()} for query in QUERIES
    }


@pytest.fixture(scope="module")
def comparison():
    rankings = {"good": system(1, 4.0), "poor": system(2, 0.0), "other": system(3, 0.0)}
    return compare_rankings(QRELS, rankings, ["nDCG@3", "RR"], resamples=500)


def parts(comparison):
    return comparison_text(comparison).split("\n\n")


def test_it_begins_with_the_queries_and_the_conventions(comparison):
    assert parts(comparison)[0] == "16 queries of qrels, conventions trec_eval"


def test_each_system_has_a_row_with_its_means_and_letters(comparison):
    header, *rows = [line.split() for line in parts(comparison)[1].splitlines()]
    assert header == ["system", "nDCG@3", "RR"]
    for row in rows:
        name = row[0]
        assert row[1] == f"{comparison.means['nDCG@3'][name]:.4f}"
        assert row[2] == comparison.letters["nDCG@3"][name]
        assert row[3] == f"{comparison.means['RR'][name]:.4f}"
    assert [row[0] for row in rows] == ["good", "poor", "other"]


def test_each_pair_has_a_row_with_all_that_was_found(comparison):
    header, *rows = parts(comparison)[3].splitlines()
    names = "measure pair difference interval bootstrap p t p flips p Holm d W/L/T needed"
    assert " ".join(header.split()) == names
    assert len(rows) == 6
    pair = comparison.pair("good", "poor")
    compared = pair.compared
    cells = [cell for cell in rows[0].split("  ") if cell.strip()]
    assert [cell.strip() for cell in cells[:3]] == ["nDCG@3", "poor - good", f"{compared.difference.value:+.4f}"]
    assert f"{compared.wins}/{compared.losses}/{compared.ties}" in rows[0]
    assert "*" in rows[0]
    assert "*" not in rows[2]


def test_the_deciding_test_and_the_correction_are_named(comparison):
    assert parts(comparison)[2] == (
        "Systems that share a letter cannot be told apart (paired t-test, Holm over pairs, alpha 0.05)."
    )
    other = compare_rankings(
        QRELS, {"a": system(1, 1), "b": system(2, 1)}, "RR", test="sign-flip", correction="bh", alpha=0.01, resamples=99
    )
    assert "(sign-flip test, BH over pairs, alpha 0.01)" in comparison_text(other)
    assert "Intervals at 0.99; 99 flips and resamples, seed 0." in comparison_text(other)
    assert "p BH" in comparison_text(other)


def test_what_one_query_cannot_say_is_a_dash():
    one = compare_rankings({"q": {"a": 1}}, {"a": {"q": ["a"]}, "b": {"q": ["x", "a"]}}, "RR")
    row = parts(one)[3].splitlines()[1].split()
    assert row[:5] == ["RR", "b", "-", "a", "-0.5000"]
    assert row[5:7] == ["-", "-"]
    assert row[-1] == "-"


def test_nothing_in_common_is_dashes_and_a_warning():
    none = compare_rankings(
        {"q": {"a": 1}, "r": {"a": 1}}, {"a": {"q": ["a"]}, "b": {"r": ["a"]}}, "RR", queries="intersection"
    )
    text = comparison_text(none)
    assert parts(none)[1].splitlines()[1].split() == ["a", "-", "a"]
    assert text.splitlines()[-1] == "warning: 0 queries are too few to tell systems apart"


def test_small_p_values_are_bounds_and_never_zero(comparison):
    assert "<0.0001" in comparison_text(comparison)
    assert " 0.0000" not in comparison_text(comparison)


def test_every_query_of_every_ranking_has_a_line():
    results = {name: measure(QRELS, system(seed, 1.0), ["RR", "P@1"]) for seed, name in enumerate(("long name", "b"))}
    header, *lines = query_table(results)
    assert header.split() == ["ranking", "query", "RR", "P@1"]
    assert len(lines) == 2 * len(QUERIES)
    first = results["long name"].per_query["q0"]
    assert lines[0] == f"long name  q0     {first['RR']:.4f}  {first['P@1']:.4f}"
    assert lines[len(QUERIES)].startswith("b          q0 ")


def test_columns_begin_below_each_other_and_lines_end_without_space():
    lines = aligned([["a", "long", ""], ["longer", "b", "c"], ["", "", ""]])
    assert lines == ["a       long", "longer  b     c", ""]
