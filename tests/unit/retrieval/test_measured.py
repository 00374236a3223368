"""What measuring gives: values, estimates, names, and what it warns of."""

import json

import numpy as np
import pytest
from scipy import stats as scipy_stats

from calibrant import Estimate
from calibrant.errors import UnknownNameError
from calibrant.retrieval import Conventions, MeasureResult, measure

QRELS = {f"q{number}": {"a": 1, "b": 2, "c": 0} for number in range(5)}
RUN = {"q0": ["a", "b"], "q1": ["c", "a"], "q2": ["x"], "q3": ["b", "x", "a"]}


@pytest.fixture(scope="module")
def result():
    return measure(QRELS, RUN, ["nDCG@10", "RR", "P(rel=2)@1"], name="bm25")


def test_it_has_a_value_for_every_query_and_measure(result):
    assert isinstance(result, MeasureResult)
    assert result.measures == ("nDCG@10", "RR", "P(rel=2)@1")
    assert result.queries == tuple(QRELS)
    assert result.of("RR").tolist() == [1.0, 0.5, 0.0, 1.0, 0.0]
    assert result.of("P(rel=2)@1").tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]
    assert result.per_query["q1"]["RR"] == 0.5


def test_values_by_query_and_by_measure_are_the_same(result):
    for text in result.measures:
        assert [result.per_query[query][text] for query in result.queries] == result.of(text).tolist()


def test_the_estimate_is_the_mean_with_its_t_interval_within_the_measures_scale(result):
    estimate = result["nDCG@10"]
    values = result.of("nDCG@10")
    assert isinstance(estimate, Estimate)
    assert estimate.value == pytest.approx(values.mean())
    wanted = scipy_stats.t.interval(0.95, len(values) - 1, values.mean(), scipy_stats.sem(values))
    assert wanted[0] < 0.0
    assert (estimate.lower, estimate.upper) == (0.0, pytest.approx(wanted[1]))
    assert (estimate.n, estimate.method) == (5, "t")
    assert list(result.estimates) == list(result.measures)


@pytest.mark.parametrize("spelling", ["rr", "RR", " RR ", "mrr", "recip_rank"])
def test_it_is_asked_by_any_spelling_of_what_it_has(result, spelling):
    assert result[spelling] is result["RR"]
    assert np.array_equal(result.of(spelling), result.of("RR"))


@pytest.mark.parametrize("text", ["AP", "RR@10", "nonsense", "P@1", ""])
def test_what_it_does_not_have_lists_what_it_has(result, text):
    with pytest.raises(UnknownNameError, match=r"unknown measure of this result .*; expected one of: P\(rel=2\)@1, RR"):
        result[text]


def test_it_says_what_was_measured_by_what(result):
    assert (result.name, result.path, result.qrels) == ("bm25", None, "qrels")
    assert result.conventions == Conventions()
    assert result.queries_without_results == ("q4",)
    assert result.warnings == ()


def test_names_and_paths_are_the_files(tmp_path):
    (tmp_path / "web.qrels").write_text("q0 0 a 1\n")
    (tmp_path / "dense.run").write_text("q0 Q0 a 1 1 t\n")
    found = measure(tmp_path / "web.qrels", tmp_path / "dense.run", "RR")
    assert (found.name, found.path, found.qrels) == ("dense", str(tmp_path / "dense.run"), "web")
    assert measure(tmp_path / "web.qrels", tmp_path / "dense.run", "RR", name="mine").name == "mine"


def test_json_holds_it_without_any_array(result):
    entry = json.loads(json.dumps(result.to_json(per_query=True), allow_nan=False))
    assert entry["measures"]["RR"]["value"] == pytest.approx(0.5)
    assert entry["per_query"]["q3"] == result.per_query["q3"]
    assert "residuals" not in entry


@pytest.mark.parametrize(
    ("run", "warnings"),
    [
        ({"q0": ["a"]}, ()),
        ({"q0": ["a"], "new": ["a"]}, ("1 query of the ranking is ignored, not being in the qrels",)),
        ({"q0": ["zz"]}, ("no document that was retrieved is judged: do the ids of the documents agree?",)),
        (
            {"Q0": ["a"], "Q1": ["b"]},
            (
                "2 queries of the ranking are ignored, not being in the qrels",
                "no query of the qrels has results: do the ids of the queries agree?",
            ),
        ),
        ({}, ("no query of the qrels has results: do the ids of the queries agree?",)),
    ],
)
def test_what_looks_wrong_is_warned_of(run, warnings):
    assert measure(QRELS, run, "RR").warnings == warnings


def test_one_query_has_a_value_and_no_interval():
    estimate = measure({"q": {"a": 1}}, {"q": ["a"]}, "RR")["RR"]
    assert (estimate.value, estimate.lower, estimate.upper) == (1.0, None, None)
    assert "one value does not say how far values vary" in estimate.reason


def test_equal_values_have_an_interval_that_is_not_a_point():
    estimate = measure(QRELS, dict.fromkeys(QRELS, ("b", "a")), "RR")["RR"]
    assert estimate.value == estimate.upper == 1.0
    assert estimate.lower < 1.0


def test_forty_thousand_rows_are_measured_in_blocks_as_in_one(tmp_path):
    draw = np.random.default_rng(11)
    qrels = {f"q{query}": {f"d{place}": int(place % 3) for place in range(0, 100, 7)} for query in range(400)}
    run = {query: {f"d{place}": float(draw.integers(0, 50)) for place in draw.permutation(100)} for query in qrels}
    path = tmp_path / "big.run"
    path.write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, found in run.items() for d, s in found.items()))
    texts = ["nDCG@10", "AP", "RR", "P@10", "bpref", "RBP"]
    from_file, from_dict = measure(qrels, path, texts), measure(qrels, run, texts)
    assert from_file.per_query == from_dict.per_query


def test_no_measure_of_rankings_has_a_bound_beyond_the_best_value():
    qrels = {f"q{n}": {"a": 1} for n in range(25)}
    ranking = {f"q{n}": {"a": 1.0} if n % 12 else {"b": 2.0, "a": 1.0} for n in range(25)}
    found = measure(qrels, ranking, ["RR", "nDCG@10"])
    for name in found.measures:
        assert 0.9 < found[name].value < found[name].upper <= 1.0
