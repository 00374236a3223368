"""Rankings compared in pairs: letters, corrections, unjudged documents, and what is refused."""

import json
import random

import numpy as np
import pytest

from calibrant.errors import InputError, UnknownNameError, WrongTypeError
from calibrant.retrieval import Deciding, UserMeasure, compare_rankings, compare_results, measure
from calibrant.retrieval.comparison_table import comparison_text
from calibrant.retrieval.letters import compact_letters
from calibrant.stats import bootstrap

QUERIES = [f"q{number}" for number in range(30)]
QRELS = {query: {"a": 1, "b": 2, "x": 0, "y": 0, "z": 0} for query in QUERIES}


def shuffled(seed, steadiness):
    """The five judged documents in an order that is right as often as the system is steady."""
    rng = random.Random(seed)
    grades = {"b": 2, "a": 1, "x": 0, "y": 0, "z": 0}
    return {
        query: {document: grade * steadiness + rng.gauss(0, 1) for document, grade in grades.items()}
        for query in QUERIES
    }


GOOD, FAIR, POOR = shuffled(1, 3.0), shuffled(2, 0.5), shuffled(3, 0.0)


def compared(rankings, measures=("nDCG@10",), **settings):
    return compare_rankings(QRELS, rankings, list(measures), resamples=500, **settings)


def test_all_pairs_are_compared_on_every_measure_as_b_minus_a():
    comparison = compared({"good": GOOD, "fair": FAIR, "poor": POOR}, ["nDCG@10", "RR"])
    assert [(one.measure, one.a, one.b) for one in comparison.pairs] == [
        (name, *pair) for name in ("nDCG@10", "RR") for pair in (("good", "fair"), ("good", "poor"), ("fair", "poor"))
    ]
    pair = comparison.pair("good", "poor")
    means = {name: result["nDCG@10"].value for name, result in comparison.results.items()}
    assert pair.compared.difference.value == pytest.approx(means["poor"] - means["good"])
    assert pair.bootstrap.lower < pair.compared.difference.value < pair.bootstrap.upper
    assert pair.compared.wins + pair.compared.losses + pair.compared.ties == len(QUERIES)
    assert comparison.systems == ("good", "fair", "poor")
    assert comparison.measures == ("nDCG@10", "RR")
    assert comparison.queries == tuple(QUERIES)


def test_a_pair_is_found_in_either_order():
    comparison = compared({"good": GOOD, "poor": POOR})
    assert comparison.pair("poor", "good") is comparison.pair("good", "poor", "nDCG@10")


def test_letters_part_what_is_significant_and_only_that():
    comparison = compared({"poor": POOR, "good": GOOD, "again": POOR})
    assert comparison.letters["nDCG@10"] == {"good": "a", "poor": "b", "again": "b"}
    assert comparison.pair("poor", "again").p_corrected == 1.0
    assert not comparison.pair("poor", "again").is_significant


def test_overlapping_groups_have_overlapping_letters():
    assert compact_letters(["A", "B", "C", "D"], [("A", "C"), ("D", "A"), ("B", "D")]) == {
        "A": "a",
        "B": "ab",
        "C": "bc",
        "D": "c",
    }


def test_systems_without_any_difference_share_one_letter():
    assert compact_letters(["A", "B", "C"], []) == {"A": "a", "B": "a", "C": "a"}


def test_more_groups_than_small_letters_have_capitals_and_then_pairs():
    names = [str(number) for number in range(60)]
    letters = compact_letters(names, [(one, other) for one in names for other in names if one < other])
    assert (letters["0"], letters["26"], letters["52"], letters["53"]) == ("a", "A", "(aa)", "(ab)")


@pytest.mark.parametrize(("correction", "factors"), [("holm", [3, 2, 1]), ("bh", [3, 3 / 2, 1])])
def test_p_values_are_corrected_over_the_pairs_of_a_measure(correction, factors):
    comparison = compared({"good": GOOD, "fair": FAIR, "poor": POOR}, correction=correction)
    raw = np.array([one.compared.t.p_value for one in comparison.pairs])
    corrected = np.array([one.p_corrected for one in comparison.pairs])
    order = np.argsort(raw)
    stepped = raw[order] * factors
    stepped = np.maximum.accumulate(stepped) if correction == "holm" else np.minimum.accumulate(stepped[::-1])[::-1]
    assert corrected[order] == pytest.approx(np.minimum(stepped, 1))


def test_the_sign_flip_test_decides_when_asked():
    pair = compared({"fair": FAIR, "poor": POOR}, test="sign-flip").pairs[0]
    assert pair.p_corrected == pair.compared.randomisation.p_value


def test_the_same_seed_gives_the_same_result():
    first, same, other = (
        compared({"fair": FAIR, "poor": POOR}, ["AP"], seed=seed).to_json()["comparison"]["pairs"] for seed in (7, 7, 8)
    )
    assert first == same
    assert first[0]["bootstrap"] != other[0]["bootstrap"]


def test_a_difference_that_unjudged_documents_could_make_is_warned_of():
    better = {query: ["x", "u1", "u2", "a"] for query in QUERIES[:15]} | {query: ["b", "a"] for query in QUERIES[15:]}
    worse = {query: ["u1", "u2", "b"] for query in QUERIES}
    comparison = compared({"worse": worse, "better": better}, ["P@2"])
    pair = comparison.pairs[0]
    assert pair.compared.difference.value == pytest.approx(0.5)
    # All unjudged relevant: `worse` gains two of two everywhere, `better` one of two on half of the queries.
    assert pair.unjudged == pytest.approx((0.5 - 1.0, 0.5 + 0.25))
    assert pair.depends_on_unjudged
    assert comparison.warnings == (
        "P@2: better - worse is +0.5000, but unjudged documents could make it anything from -0.5000 to +0.7500",
    )


def test_documents_of_one_system_that_turn_out_relevant_are_missed_by_the_other():
    # `wide` found 4 of the 5 known ones, `narrow` all 5. Were the 6 unjudged ones of `wide` relevant, it would have
    # found 10 of 11 and `narrow` 5 of 11: the other one would be better.
    known = [f"d{number}" for number in range(5)]
    wide = [*known[:4], *(f"u{number}" for number in range(6))]
    qrels = {query: dict.fromkeys(known, 1) for query in QUERIES}
    systems = {name: dict.fromkeys(QUERIES, found) for name, found in (("wide", wide), ("narrow", known))}
    comparison = compare_rankings(qrels, systems, ["R@10"])
    pair = comparison.pairs[0]
    assert pair.compared.difference.value == pytest.approx(0.2)
    assert pair.unjudged == pytest.approx((5 / 11 - 10 / 11, 0.2))
    assert pair.depends_on_unjudged
    assert comparison.warnings == (
        "R@10: narrow - wide is +0.2000, but unjudged documents could make it anything from -0.4545 to +0.2000",
    )


def test_many_pairs_that_depend_on_unjudged_documents_are_warned_of_in_one_line_a_measure():
    lists = {"one": ["u1", "a"], "two": ["a"], "three": ["u2", "a"], "four": ["a"]}
    comparison = compared({name: dict.fromkeys(QUERIES, found) for name, found in lists.items()}, ["RR", "P@1"])
    assert sum(one.depends_on_unjudged for one in comparison.pairs) == 8
    rest = (
        "unjudged documents could undo or turn the differences of 4 of 6 pairs; `unjudged` says how far each could go"
    )
    assert comparison.warnings == (f"RR: {rest}", f"P@1: {rest}")


def test_a_difference_among_judged_documents_stands():
    comparison = compared({"good": GOOD, "poor": POOR})
    pair = comparison.pairs[0]
    assert pair.unjudged == pytest.approx((pair.compared.difference.value,) * 2)
    assert not pair.depends_on_unjudged
    assert comparison.warnings == ()


def test_of_a_measure_of_ones_own_nothing_is_known_about_unjudged_documents():
    first_rank = UserMeasure("first", lambda ranks, grades: float(min(ranks, default=0.0)))
    pair = compared({"good": GOOD, "poor": POOR}, [first_rank]).pairs[0]
    assert (pair.unjudged, pair.depends_on_unjudged) == (None, False)


def test_queries_without_results_count_zero_and_are_named():
    partial = {query: GOOD[query] for query in QUERIES[:22]}
    comparison = compared({"partial": partial, "good": GOOD})
    assert comparison.pairs[0].compared.wins == 8
    assert comparison.warnings == (
        "partial has no results for 8 of the queries, which count 0: q22, q23, q24, q25, q26, ...",
    )


def test_by_intersection_only_the_queries_that_all_have_are_compared():
    one = {query: GOOD[query] for query in QUERIES[:20]}
    other = {query: POOR[query] for query in QUERIES[5:]}
    comparison = compared({"one": one, "other": other}, queries="intersection")
    assert comparison.queries == tuple(QUERIES[5:20])
    coverage = comparison.pairs[0].compared.difference.coverage
    assert (coverage.rated, coverage.skipped) == (15, 15)
    assert "which are left out: q20, q21, q22, q23, q24, ..." in comparison.warnings[0]


def test_one_query_tells_nothing_apart_and_says_so():
    comparison = compare_rankings({"q": {"a": 1}}, {"one": {"q": ["a"]}, "two": {"q": ["x", "a"]}}, ["RR"])
    assert comparison.letters["RR"] == {"one": "a", "two": "a"}
    assert comparison.pairs[0].bootstrap is None
    assert comparison.pairs[0].p_corrected == 1.0
    assert "1 query is too few to tell systems apart" in comparison.warnings


def test_systems_measured_before_are_compared_without_measuring_again():
    results = {name: measure(QRELS, one, ["RR"]) for name, one in (("good", GOOD), ("poor", POOR))}
    comparison = compare_results(results, Deciding(resamples=500))
    assert comparison.to_json() == compared({"good": GOOD, "poor": POOR}, ["RR"]).to_json()


def test_results_that_were_measured_otherwise_are_not_compared():
    one, other = measure(QRELS, GOOD, ["RR"]), measure(QRELS, POOR, ["AP"], ties="given")
    with pytest.raises(InputError, match="the comparison has 2 problems") as raised:
        compare_results({"one": one, "other": other})
    assert "other has other measures than one: ('AP',), not ('RR',)" in str(raised.value)
    assert "other has other conventions than one: 'trec_eval, ties=given', not 'trec_eval'" in str(raised.value)


def test_the_json_holds_no_nan_and_the_schemas_keys():
    comparison = compared({"good": GOOD, "poor": POOR})
    data = json.loads(json.dumps(comparison.to_json(per_query=True), allow_nan=False))
    assert data["schema"] == "calibrant.retrieval/1"
    assert data["queries"] == 30
    assert [one["name"] for one in data["rankings"]] == ["good", "poor"]
    assert data["rankings"][0]["per_query"]["q0"]["nDCG@10"] >= 0
    assert data["comparison"]["correction"] == "holm"
    assert data["comparison"]["letters"]["nDCG@10"] == {"good": "a", "poor": "b"}
    assert set(data["comparison"]["pairs"][0]) == {
        "measure", "a", "b", "difference", "t", "randomisation", "effect_size", "needed", "wins", "losses", "ties",
        "bootstrap", "p_corrected", "is_significant", "better", "doubt", "unjudged", "depends_on_unjudged",
    }  # fmt: skip


EQUAL = {f"q{number}": {"a": 1} for number in range(6)}
SECOND, FIRST = (dict.fromkeys(EQUAL, given) for given in (["x", "a"], ["a", "x"]))


@pytest.mark.parametrize("test", ["t", "sign-flip"])
def test_what_p_value_and_interval_do_not_both_say_is_not_settled(test):
    comparison = compare_rankings(EQUAL, {"old": SECOND, "new": FIRST}, ["nDCG@10"], test=test)
    pair = comparison.pair("old", "new")
    assert (pair.p_corrected, pair.is_significant) == (0.03125, True)
    assert pair.compared.difference.lower < 0 < pair.compared.difference.upper
    assert (pair.better, pair.doubt) == (None, "p is below 0.05, but the interval holds 0")
    assert comparison.letters["nDCG@10"] == {"new": "a", "old": "a"}
    assert comparison.warnings[0] == "nDCG@10: new - old is not settled: p is below 0.05, but the interval holds 0"
    assert "0.0312*" not in str(comparison)


def test_what_both_say_is_settled():
    comparison = compared({"good": GOOD, "poor": POOR})
    pair = comparison.pair("good", "poor")
    assert pair.compared.difference.upper < 0
    assert (pair.better, pair.doubt, pair.to_json()["better"]) == ("good", "", "good")


def test_many_pairs_that_are_not_settled_share_one_line():
    systems = {"old": SECOND} | {f"new{number}": FIRST for number in range(4)}
    comparison = compare_rankings(EQUAL, systems, ["nDCG@10"], correction="bh", alpha=0.1)
    assert set(comparison.letters["nDCG@10"].values()) == {"a"}
    assert comparison.warnings[0] == (
        "nDCG@10: 4 of 10 pairs are not settled: p is small, but their interval does not leave out 0"
    )


def test_the_bootstrap_of_every_pair_is_that_of_the_pair_alone():
    """The same seed draws the same queries, so that one draw serves all pairs."""
    comparison = compared({"good": GOOD, "poor": POOR, "again": POOR}, alpha=0.1, seed=4)
    values = {name: result.of("nDCG@10") for name, result in comparison.results.items()}
    pair = comparison.pair("good", "poor", "nDCG@10")
    alone = bootstrap(values["poor"] - values["good"], np.mean, resamples=500, level=0.9, seed=4)
    assert list(pair.bootstrap) == pytest.approx(list(alone), abs=1e-12)
    assert comparison.pair("poor", "again", "nDCG@10").bootstrap is None


def test_files_go_by_their_names_and_by_their_paths_when_names_are_equal(tmp_path):
    (tmp_path / "old").mkdir()
    good, poor = tmp_path / "good.run", tmp_path / "old" / "poor.run"
    for path, ranking in ((good, GOOD), (poor, POOR)):
        with path.open("w") as file:
            for query, scores in ranking.items():
                file.writelines(f"{query} Q0 {document} 1 {score!r} t\n" for document, score in scores.items())
    comparison = compare_rankings(QRELS, [good, poor], ["RR"], resamples=100)
    assert comparison.systems == ("good", "poor")
    in_memory = compare_rankings(QRELS, {"good": GOOD, "poor": POOR}, ["RR"], resamples=100)
    assert comparison.to_json()["comparison"] == in_memory.to_json()["comparison"]
    same = tmp_path / "old" / "good.run"
    same.write_text(poor.read_text())
    assert compare_rankings(QRELS, [good, same], ["RR"], resamples=100).systems == (str(good), str(same))


def test_unnamed_rankings_are_numbered():
    assert compare_rankings(QRELS, [GOOD, POOR], ["RR"], resamples=100).systems == ("ranking 1", "ranking 2")


def test_what_cannot_be_compared_is_refused_with_what_to_do():
    with pytest.raises(InputError, match="a comparison is of at least two rankings; there is 1"):
        compared({"good": GOOD})
    with pytest.raises(WrongTypeError, match=r"rankings are a dict of names, or a list of files, not 'a\.run'"):
        compared("a.run")
    with pytest.raises(InputError, match=r"'a\.run' is there twice; name each once \(in Python a dict"):
        compared(["a.run", "a.run"])
    comparison = compared({"good": GOOD, "poor": POOR})
    with pytest.raises(UnknownNameError, match="unknown system 'bad'; expected one of: good, poor"):
        comparison.pair("good", "bad")
    with pytest.raises(UnknownNameError, match=r"unknown measure of this comparison 'AP'; expected one of: nDCG@10"):
        comparison.pair("good", "poor", "AP")
    with pytest.raises(InputError, match="a pair is of two systems, not of 'good' and itself"):
        comparison.pair("good", "good")


def test_wrong_settings_name_those_that_exist():
    with pytest.raises(UnknownNameError, match="unknown correction 'bonferroni'; expected one of: bh, holm"):
        compared({"good": GOOD, "poor": POOR}, correction="bonferroni")
    with pytest.raises(UnknownNameError, match="unknown test 'wilcoxon'; expected one of: sign-flip, t"):
        compared({"good": GOOD, "poor": POOR}, test="wilcoxon")
    with pytest.raises(InputError, match="a significance level lies between 0 and 1"):
        compared({"good": GOOD, "poor": POOR}, alpha=0)
    with pytest.raises(InputError, match="resamples is a number of at least 1, not 0"):
        Deciding(resamples=0)
    with pytest.raises(UnknownNameError, match="unknown policy 'tie'"):
        compared({"good": GOOD, "poor": POOR}, tie="given")


def test_a_comparison_prints_as_its_table():
    found = compared({"one": shuffled(1, 3), "two": shuffled(2, 0)})
    assert str(found) == comparison_text(found)
    assert str(found).splitlines()[0].startswith(f"{len(found.queries)} queries")
