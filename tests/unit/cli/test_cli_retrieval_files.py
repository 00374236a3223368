"""A search engineer's files through the command: every form measures alike, and what is wrong is said in one screen."""

import csv
import gzip
import io
import json
import subprocess
import sys

import polars as pl
import pytest

from calibrant.cli import main

QRELS = [("301", "FBIS3-10082", 1), ("301", "FBIS3-10169", 0), ("302", "FR94-é", 2), ("303", "never", 1)]
RUN = [
    *[("301", "FBIS3-10169", 12.123456789012345), ("301", "FBIS3-10082", 1.2e1), ("301", "LA-1", -3.5)],
    *[("302", "LA-2", 7.000000000000001), ("302", "FR94-é", 7.0)],
]
WANTED = {"301": {"RR": 0.5}, "302": {"RR": 0.5}, "303": {"RR": 0.0}}


def trec(rows, *, is_run, separator=" ", end="\n"):
    middle = ["Q0"] if is_run else ["0"]
    lines = [
        separator.join([query, *middle, document, *(["1"] if is_run else []), repr(number), *(["t"] if is_run else [])])
        for query, document, number in rows
    ]
    return end.join([*lines, ""]).encode()


def table(rows, number):
    return pl.DataFrame(rows, schema=["query", "doc_id", number], orient="row")


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as stopped:
            main(["retrieval", *arguments])
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return run


def write(folder, form):
    """The qrels and the ranking in one of the forms that tools write; their names."""
    qrels, ranking = table(QRELS, "relevance"), table(RUN, "score")
    if form == "parquet":
        qrels.write_parquet(folder / "qrels.parquet")
        ranking.write_parquet(folder / "run.parquet")
        return "qrels.parquet", "run.parquet"
    if form.startswith(("csv", "tsv")):
        separator = "\t" if form == "tsv" else ","
        for name, frame in (("qrels", qrels), ("run", ranking)):
            text = frame.write_csv(separator=separator).encode()
            (folder / f"{name}.{form}").write_bytes(gzip.compress(text) if form.endswith("gz") else text)
        return f"qrels.{form}", f"run.{form}"
    separator, end, is_packed = {
        "trec": (" ", "\n", False),
        "tabs": ("\t", "\n", False),
        "spaces": ("   ", "\n", False),
        "crlf": (" ", "\r\n", False),
        "gzip": (" ", "\n", True),
    }[form]
    for name, rows in (("qrels", QRELS), ("run", RUN)):
        text = trec(rows, is_run=name == "run", separator=separator, end=end)
        (folder / f"{name}.txt").write_bytes(gzip.compress(text) if is_packed else text)
    return "qrels.txt", "run.txt"


@pytest.mark.parametrize("form", ["trec", "tabs", "spaces", "crlf", "gzip", "csv", "tsv", "csv.gz", "parquet"])
def test_every_form_measures_alike(run, tmp_path, form):
    qrels, ranking = write(tmp_path, form)
    code, out, err = run("eval", qrels, ranking, "-m", "RR", "--json", "--per-query")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["rankings"][0]["per_query"] == WANTED
    assert document["rankings"][0]["queries_without_results"] == ["303"]
    assert document["rankings"][0]["name"] == "run"


def test_queries_in_any_order_and_in_pieces_measure_alike(run, tmp_path):
    write(tmp_path, "trec")
    (tmp_path / "pieces.txt").write_bytes(trec([RUN[4], RUN[0], RUN[3], RUN[2], RUN[1]], is_run=True))
    _, out, _ = run("eval", "qrels.txt", "run.txt", "pieces.txt", "-m", "RR", "-m", "nDCG", "--json", "--per-query")
    whole, pieces = json.loads(out)["rankings"]
    assert pieces["per_query"] == whole["per_query"]


def test_the_table_is_as_a_paper_prints_it(run, tmp_path):
    write(tmp_path, "trec")
    _, out, _ = run("eval", "qrels.txt", "run.txt", "-m", "recip_rank", "-m", "P_1")
    header, row, blank, conventions, missing = out.splitlines()
    assert header.split() == ["ranking", "RR", "P@1", "n", "without", "results"]
    assert row.split()[:2] == ["run", "0.333"]
    assert row.split()[-2:] == ["3", "1"]
    assert blank == ""
    assert conventions.startswith("conventions: trec_eval (queries=qrels, ties=trec, score_dtype=float64, gain=linear")
    assert missing == "run: without results, counted as 0: 303"


def test_csv_of_a_comparison_has_a_row_a_pair(run, tmp_path):
    write(tmp_path, "trec")
    (tmp_path / "better.txt").write_bytes(trec([("301", "FBIS3-10082", 2.0), ("302", "FR94-é", 1.0)], is_run=True))
    code, out, _ = run("compare", "qrels.txt", "run.txt", "better.txt", "-m", "RR", "-m", "P@1", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [(row["measure"], row["a"], row["b"]) for row in rows] == [("RR", "run", "better"), ("P@1", "run", "better")]
    assert float(rows[0]["difference"]) == pytest.approx(1 / 3)
    assert (rows[0]["wins"], rows[0]["losses"], rows[0]["ties"]) == ("2", "0", "1")
    assert rows[0]["is_significant"] == "False"
    assert float(rows[0]["p_corrected"]) == float(rows[0]["p_t"])
    # Were LA-1 (rank 3) and LA-2 (rank 1), which only `run` returned, relevant, 302 alone would change, to 1.
    assert float(rows[0]["unjudged_lower"]) == pytest.approx((1 / 2 + 0) / 3)
    assert float(rows[0]["unjudged_upper"]) == pytest.approx(1 / 3)
    _, out, _ = run("compare", "qrels.txt", "run.txt", "better.txt", "-m", "RR", "--csv", "--per-query")
    assert out.splitlines()[:2] == ["ranking,query,measure,value", "run,301,RR,0.5"]
    assert len(out.splitlines()) == 7


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("r.run", b"301 Q0 a 1 0.5\n", "line 1: expected 6 fields (query Q0 document rank score tag), got 5"),
        ("r.run", b"301 Q0 a 1 high t\n", "line 1: expected a number as the score, got 'high'"),
        (
            "r.run",
            b"301 Q0 a 1 nan t\n",
            "document 'a' of query '301' is not a number; pass --policy on_nan=drop",
        ),
        (
            "r.run",
            b"301 Q0 a 1 1 t\n301 Q0 a 2 2 t\n",
            "has document 'a' 2 times; pass --policy on_duplicate=first",
        ),
        ("r.csv", b"query,doc,score\n301,a\n", "line 2: expected 3 fields, got 2"),
        ("r.csv", b"topic,text\n301,a\n", "r.csv has no column 'document' (nor document_id, doc_id, docid"),
        ("r.parquet", b"PAR1", "r.parquet cannot be read as a Parquet file"),
        (
            "r.run.gz",
            gzip.compress(b"301 Q0 a 1 1 t\n", mtime=0)[:-3],
            "r.run.gz is a gzip file that cannot be read to its end",
        ),
    ],
)
def test_a_wrong_file_is_code_2_and_says_where(run, tmp_path, name, content, message):
    write(tmp_path, "trec")
    (tmp_path / name).write_bytes(content)
    for command in (["eval", "qrels.txt", name], ["compare", "qrels.txt", "run.txt", name]):
        code, out, err = run(*command)
        assert (code, out) == (2, "")
        assert err.startswith("error: ")
        assert message in err
        assert name in err


def test_the_real_command_ends_with_its_code_and_no_traceback(tmp_path):
    write(tmp_path, "trec")
    (tmp_path / "cut.run.gz").write_bytes(gzip.compress(trec(RUN, is_run=True))[:-5])
    command = [sys.executable, "-m", "calibrant", "retrieval", "eval", "qrels.txt"]
    right = subprocess.run([*command, "run.txt", "-m", "RR"], cwd=tmp_path, capture_output=True, check=False)
    wrong = subprocess.run([*command, "cut.run.gz", "-m", "RR"], cwd=tmp_path, capture_output=True, check=False)
    assert (right.returncode, right.stderr) == (0, b"")
    assert right.stdout.startswith(b"ranking  RR ")
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert wrong.stderr.count(b"\n") == 1
