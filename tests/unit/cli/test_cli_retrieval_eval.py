import csv
import io
import json

import pytest

from calibrant.cli import main

QRELS = "q1 0 a 2\nq1 0 b 0\nq2 0 c 1\n"
RUN = "q1 Q0 b 1 0.9 t\nq1 Q0 a 2 0.8 t\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(RUN)
    (tmp_path / "dense.run").write_text("q2 Q0 c 1 1 t\nq1 Q0 a 1 2 t\nq9 Q0 a 1 2 t\n")


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as stopped:
        main(["retrieval", "eval", *arguments])
    output = capsys.readouterr()
    return stopped.value.code, output.out, output.err


def test_a_table_has_a_row_a_ranking_and_says_the_conventions(capsys):
    code, out, _ = run(capsys, "qrels.txt", "bm25.run", "dense.run", "-m", "rr", "-m", "RBP(p=0.5)")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].split() == ["ranking", "RR", "RBP(p=0.5)", "n", "without", "results"]
    assert lines[1].startswith("bm25     0.250 [")
    assert "0.125+0.625" in lines[1]
    assert lines[2].startswith("dense    1.000 [")
    assert lines[4].startswith("conventions: trec_eval (queries=qrels, ties=trec, score_dtype=float64, gain=linear")
    assert lines[5] == "bm25: without results, counted as 0: q2"
    assert lines[6] == "dense: 1 query of the ranking is ignored, not being in the qrels"


def test_json_is_the_published_schema(capsys):
    code, out, _ = run(capsys, "qrels.txt", "bm25.run", "-m", "nDCG@10", "--json", "--per-query")
    document = json.loads(out)
    assert code == 0
    assert document["schema"] == "calibrant.retrieval/1"
    assert (document["qrels"], document["queries"]) == ("qrels.txt", 2)
    names = ["name", "queries", "ties", "score_dtype", "gain"]
    assert [document["conventions"][name] for name in names] == ["trec_eval", "qrels", "trec", "float64", "linear"]
    (ranking,) = document["rankings"]
    assert (ranking["name"], ranking["path"]) == ("bm25", "bm25.run")
    assert ranking["queries_without_results"] == ["q2"]
    assert ranking["measures"]["nDCG@10"]["n"] == 2
    assert ranking["per_query"]["q1"]["nDCG@10"] == pytest.approx(0.6309297535714575)


def test_per_query_is_only_there_when_asked(capsys):
    _, out, _ = run(capsys, "qrels.txt", "bm25.run", "--json")
    assert "per_query" not in json.loads(out)["rankings"][0]
    assert list(json.loads(out)["rankings"][0]["measures"]) == ["nDCG@10", "AP", "RR", "P@10", "R@100"]


def test_csv_has_a_row_a_measure_or_a_query(capsys):
    _, out, _ = run(capsys, "qrels.txt", "bm25.run", "-m", "RR", "--csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["ranking"], row["measure"], row["value"], row["n"]) == ("bm25", "RR", "0.25", "2")
    assert row["without_results"] == "1"
    _, out, _ = run(capsys, "qrels.txt", "bm25.run", "-m", "RR", "--csv", "--per-query")
    assert out == "ranking,query,measure,value\nbm25,q1,RR,0.5\nbm25,q2,RR,0.0\n"


def test_what_csv_has_no_room_for_is_said_beside_it(capsys):
    _, _, err = run(capsys, "qrels.txt", "bm25.run", "dense.run", "-m", "RR", "--csv")
    assert err.startswith("conventions: trec_eval (queries=qrels, ties=trec")
    assert err.splitlines()[1:] == [
        "bm25: without results, counted as 0: q2",
        "dense: 1 query of the ranking is ignored, not being in the qrels",
    ]
    assert run(capsys, "qrels.txt", "bm25.run", "-m", "RR", "--csv", "--quiet")[2] == ""


def test_per_query_prints_a_second_table(capsys):
    _, out, _ = run(capsys, "qrels.txt", "bm25.run", "-m", "RR", "--per-query")
    assert "bm25     q1     0.5000" in out


def test_policies_are_set_one_by_one(capsys):
    _, out, _ = run(capsys, "qrels.txt", "bm25.run", "-m", "RR", "--policy", "queries=intersection")
    assert "conventions: trec_eval, queries=intersection (queries=intersection, ties=trec" in out
    assert "bm25: without results, left out: q2" in out


def test_rankings_of_one_name_are_told_apart_by_their_paths(capsys, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "bm25.run").write_text(RUN)
    _, out, _ = run(capsys, "qrels.txt", "bm25.run", "other/bm25.run", "-m", "RR", "--json")
    assert [ranking["name"] for ranking in json.loads(out)["rankings"]] == ["bm25.run", "other/bm25.run"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["qrels.txt", "none.run"], "there is no ranking file at none.run"),
        (["bm25.run", "bm25.run"], "bm25.run was given as qrels, and each line has the 6 fields of ranking"),
        (["qrels.txt", "bm25.run", "-m", "ERR"], "unknown measure 'ERR'"),
        (["qrels.txt", "bm25.run", "--conventions", "trec"], "unknown conventions 'trec'"),
        (["qrels.txt", "bm25.run", "--policy", "ties"], "--policy takes NAME=VALUE, for example ties=expected"),
        (["qrels.txt"], "Missing argument 'RANKINGS...'"),
        (["qrels.txt", "bm25.run", "bm25.run"], "'bm25.run' is there twice; name each once"),
    ],
)
def test_wrong_use_ends_with_code_2_and_one_message(capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err
