"""`calibrant retrieval compare` on real files: the table, the JSON, and wrong use."""

import json
import random

import pytest

from calibrant.cli import main

GRADES = {"a": 2, "b": 1, "x": 0, "y": 0}


@pytest.fixture
def files(tmp_path):
    rng = random.Random(4)
    lines = [f"q{query} 0 {document} {grade}\n" for query in range(20) for document, grade in GRADES.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    for name, steady in (("weak", 0.0), ("strong", 3.0)):
        rows = [
            f"q{query} Q0 {document} 1 {grade * steady + rng.gauss(0, 1)} {name}\n"
            for query in range(20)
            for document, grade in GRADES.items()
        ]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    return tmp_path


@pytest.fixture
def run(capsys, files, monkeypatch):
    monkeypatch.chdir(files)

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main(["retrieval", "compare", *arguments])
        captured = capsys.readouterr()
        return ended.value.code, captured.out, captured.err

    return run


def test_the_table_has_a_row_a_system_with_letters_and_a_row_a_pair(run):
    code, out, err = run("qrels.txt", "weak.run", "strong.run", "-m", "nDCG@10", "-m", "RR")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "20 queries of qrels, conventions trec_eval"
    assert lines[2].split() == ["system", "nDCG@10", "RR"]
    assert lines[3].split()[0] == "weak"
    assert lines[3].split()[2::2] == ["b", "b"]
    assert lines[4].split()[0] == "strong"
    assert lines[4].split()[2::2] == ["a", "a"]
    assert "Systems that share a letter cannot be told apart (paired t-test, Holm over pairs, alpha 0.05)." in out
    assert "nDCG@10  strong - weak  +0." in out
    assert "*" in out
    assert "Intervals at 0.95; 10000 flips and resamples, seed 0." in out
    assert "warning" not in out


def test_json_is_the_comparison_and_nothing_else(run):
    code, out, _ = run("qrels.txt", "weak.run", "strong.run", "--correction", "bh", "--seed", "3", "--json")
    data = json.loads(out)
    assert code == 0
    assert data["schema"] == "calibrant.retrieval/1"
    assert data["comparison"]["correction"] == "bh"
    assert data["comparison"]["seed"] == 3
    assert data["comparison"]["letters"]["nDCG@10"] == {"strong": "a", "weak": "b"}
    assert "per_query" not in data["rankings"][0]


def test_json_has_the_queries_when_asked(run):
    _, out, _ = run("qrels.txt", "weak.run", "strong.run", "--json", "--per-query")
    assert len(json.loads(out)["rankings"][0]["per_query"]) == 20


def test_warnings_stand_beside_csv(run, files):
    (files / "other.run").write_text("q0 Q0 unjudged 1 0.5 other\n")
    code, _, err = run("qrels.txt", "weak.run", "other.run", "--csv")
    assert code == 0
    assert "warning: other has no results for 19 of the queries, which count 0: q1, q2, q3, q4, q5, ...\n" in err


def test_warnings_end_the_table(run, files):
    (files / "other.run").write_text("q0 Q0 unjudged 1 0.5 other\n")
    _, out, _ = run("qrels.txt", "weak.run", "other.run", "--test", "sign-flip", "--alpha", "0.1")
    assert "(sign-flip test, Holm over pairs, alpha 0.1)" in out
    assert "Intervals at 0.9; 10000 flips" in out
    assert "warning: other has no results for 19 of the queries, which count 0: q1, q2, q3, q4, q5, ..." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels.txt", "weak.run"], "error: a comparison is of at least two rankings; there is 1\n"),
        (
            ["qrels.txt", "weak.run", "strong.run", "-m", "nDGC@10"],
            "error: unknown measure 'nDGC'; expected one of: AP",
        ),
        (["qrels.txt", "weak.run", "strong.run", "--alpha", "5"], "error: a significance level lies between 0 and 1"),
        (["qrels.txt", "weak.run", "strong.run", "--conventions", "mine"], "error: unknown conventions 'mine'"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(run, arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_files_that_are_not_there_are_wrong_use(run):
    assert run("qrels.txt", "weak.run", "gone.run") == (
        2,
        "",
        "error: there is no ranking file at gone.run; give the path of a file that exists\n",
    )
    assert run("gone.txt", "weak.run", "strong.run") == (
        2,
        "",
        "error: there is no qrels file at gone.txt; give the path of a file that exists\n",
    )


def test_policies_are_chosen_by_name_and_said(run):
    policies = ("--policy", "ties=expected", "--policy", "gain = exponential")
    code, out, _ = run("qrels.txt", "weak.run", "strong.run", *policies)
    assert code == 0
    assert out.splitlines()[0] == "20 queries of qrels, conventions trec_eval, ties=expected, gain=exponential"
    _, out, _ = run("qrels.txt", "weak.run", "strong.run", *policies, "--json")
    data = json.loads(out)
    assert (data["conventions"]["ties"], data["conventions"]["gain"]) == ("expected", "exponential")
    assert data["qrels"] == "qrels.txt"


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        (["ties"], "error: --policy takes NAME=VALUE, for example ties=expected, not 'ties'"),
        (["tie=trec"], "error: unknown policy 'tie'; expected one of: gain, on_duplicate, on_nan, precision"),
        (["ties=best"], "error: unknown ties policy 'best'; expected one of: expected, given, trec"),
        (["seed=3"], "error: unknown policy 'seed'"),
        (["ties=trec", "ties=given"], "error: --policy ties is there twice: 'trec' and 'given'"),
    ],
)
def test_a_policy_that_is_none_is_wrong_use(run, policies, message):
    chosen = [word for policy in policies for word in ("--policy", policy)]
    code, out, err = run("qrels.txt", "weak.run", "strong.run", *chosen)
    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_the_table_ends_with_every_query_when_asked(run):
    _, out, _ = run("qrels.txt", "weak.run", "strong.run", "-m", "RR", "--per-query")
    table = out.rpartition("\n\n")[2].splitlines()
    assert table[0].split() == ["ranking", "query", "RR"]
    assert [line.split()[:2] for line in table[1:3]] == [["weak", "q0"], ["weak", "q1"]]
    assert len(table) == 41
