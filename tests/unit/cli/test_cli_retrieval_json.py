"""What `retrieval eval --json` and `compare --json` print, key by key."""

import json
import math

import pytest

from calibrant.cli import main

ESTIMATE = {"value", "lower", "upper", "level", "method", "n", "coverage", "worst_case", "reason"}
COVERAGE = {"rated", "failed", "skipped", "not_applicable", "codes"}
TOP = ["schema", "qrels", "queries", "conventions", "rankings", "warnings"]
CONVENTIONS = ["name", "queries", "ties", "score_dtype", "gain", "on_duplicate", "on_nan", "precision"]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text("".join(f"q{number} 0 d{number} 1\nq{number} 0 x 0\n" for number in range(6)))
    rows = [
        f"q{number} Q0 {name} 1 {score} t\n" for number in range(6) for name, score in (("x", 2), (f"d{number}", 1))
    ]
    (tmp_path / "bm25.run").write_text("".join(rows[:-2]))
    (tmp_path / "dense.run").write_text("".join(row.replace(" 1 2 ", " 1 0 ") for row in rows))


def printed(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(["retrieval", *arguments])
    assert stopped.value.code == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return json.loads(captured.out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_eval_has_the_keys_of_the_schema(capsys):
    document = printed(capsys, "eval", "qrels.txt", "bm25.run", "-m", "nDCG@10", "-m", "AP", "--json")
    assert list(document) == TOP
    assert (document["schema"], document["qrels"], document["queries"]) == ("calibrant.retrieval/1", "qrels.txt", 6)
    assert list(document["conventions"]) == CONVENTIONS
    (ranking,) = document["rankings"]
    assert list(ranking) == ["name", "path", "queries_without_results", "measures"]
    assert (ranking["name"], ranking["path"], ranking["queries_without_results"]) == ("bm25", "bm25.run", ["q5"])
    assert list(ranking["measures"]) == ["nDCG@10", "AP"]
    assert document["warnings"] == []


def test_every_measure_is_an_estimate(capsys):
    document = printed(capsys, "eval", "qrels.txt", "bm25.run", "-m", "RR", "--json")
    estimate = document["rankings"][0]["measures"]["RR"]
    assert set(estimate) == ESTIMATE
    assert set(estimate["coverage"]) == COVERAGE
    assert estimate["value"] == pytest.approx(5 * 0.5 / 6)
    assert estimate["lower"] < estimate["value"] < estimate["upper"]
    assert (estimate["n"], estimate["level"], estimate["method"], estimate["reason"]) == (6, 0.95, "t", "")


def test_queries_left_out_are_skipped_in_the_coverage(capsys):
    document = printed(capsys, "eval", "qrels.txt", "bm25.run", "-m", "RR", "--json", "--conventions", "pytrec_eval")
    estimate = document["rankings"][0]["measures"]["RR"]
    assert (estimate["n"], estimate["coverage"]["rated"], estimate["coverage"]["skipped"]) == (5, 5, 1)
    assert document["conventions"]["name"] == "pytrec_eval"
    assert document["conventions"]["score_dtype"] == "float32"


def test_a_mean_of_nothing_is_null_with_its_reason(capsys, tmp_path):
    (tmp_path / "empty.run").write_text("")
    document = printed(capsys, "eval", "qrels.txt", "empty.run", "--json", "--policy", "queries=intersection")
    estimate = document["rankings"][0]["measures"]["AP"]
    assert (estimate["value"], estimate["lower"], estimate["n"]) == (None, None, 0)
    assert estimate["reason"] == "there were no values"
    assert document["warnings"] == ["empty: no query of the qrels has results: do the ids of the queries agree?"]


def test_per_query_has_every_query_and_measure(capsys):
    document = printed(capsys, "eval", "qrels.txt", "bm25.run", "-m", "RR", "-m", "P@1", "--json", "--per-query")
    per_query = document["rankings"][0]["per_query"]
    assert list(per_query) == [f"q{number}" for number in range(6)]
    assert per_query["q0"] == {"RR": 0.5, "P@1": 0.0}
    assert per_query["q5"] == {"RR": 0.0, "P@1": 0.0}


def test_rank_biased_precision_has_its_residual_beside_it(capsys):
    document = printed(capsys, "eval", "qrels.txt", "dense.run", "-m", "RBP(p=0.5)", "-m", "RR", "--json")
    ranking = document["rankings"][0]
    assert ranking["residuals"] == {"RBP(p=0.5)": pytest.approx(0.25)}


def test_ids_in_other_scripts_are_printed_as_they_are(capsys, tmp_path):
    (tmp_path / "q.txt").write_text("žluťoučký 0 d 1\n", encoding="utf-8")
    (tmp_path / "r.run").write_text("žluťoučký Q0 d 1 1 t\n", encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["retrieval", "eval", "q.txt", "r.run", "-m", "RR", "--json", "--per-query"])
    out = capsys.readouterr().out
    assert '"žluťoučký"' in out
    assert json.loads(out)["rankings"][0]["per_query"] == {"žluťoučký": {"RR": 1.0}}


def test_compare_has_the_same_document_and_the_comparison(capsys):
    arguments = ["qrels.txt", "bm25.run", "dense.run", "-m", "RR", "--json"]
    compared, evaluated = printed(capsys, "compare", *arguments), printed(capsys, "eval", *arguments)
    assert list(compared) == [*TOP[:-1], "comparison", "warnings"]
    assert compared["rankings"] == evaluated["rankings"]
    assert compared["conventions"] == evaluated["conventions"]
    assert compared["queries"] == evaluated["queries"] == 6


def test_the_comparison_names_how_it_was_decided_and_every_pair(capsys):
    arguments = ["qrels.txt", "bm25.run", "dense.run", "-m", "RR", "--json", "--seed", "5", "--resamples", "200"]
    comparison = printed(capsys, "compare", *arguments)["comparison"]
    settings = {"test": "t", "correction": "holm", "alpha": 0.05, "resamples": 200, "seed": 5}
    assert {name: comparison[name] for name in settings} == settings
    assert list(comparison) == [*settings, "means", "pairs", "letters"]
    assert comparison["means"]["RR"] == {"bm25": pytest.approx(5 / 12), "dense": 1.0}
    (pair,) = comparison["pairs"]
    assert (pair["measure"], pair["a"], pair["b"]) == ("RR", "bm25", "dense")
    assert set(pair["difference"]) == ESTIMATE
    assert set(pair["t"]) == set(pair["randomisation"]) == {"p_value", "statistic", "method", "n"}
    assert (pair["wins"], pair["losses"], pair["ties"]) == (6, 0, 0)
    assert pair["difference"]["value"] == pytest.approx(7 / 12)
    assert len(pair["bootstrap"]) == len(pair["unjudged"]) == 2
    assert pair["is_significant"] is (pair["p_corrected"] < 0.05)
    assert comparison["letters"]["RR"] == {"dense": "a", "bm25": "b"}


def test_what_is_not_known_is_null_and_never_nan(capsys):
    arguments = ["qrels.txt", "dense.run", "bm25.run", "-m", "hit@2", "--policy", "queries=intersection", "--json"]
    pair = printed(capsys, "compare", *arguments)["comparison"]["pairs"][0]
    assert (pair["needed"], pair["difference"]["value"], pair["t"]["p_value"]) == (None, 0.0, 1.0)
    assert all(value is None or not isinstance(value, float) or math.isfinite(value) for value in pair.values())
