import gzip

import pytest

from calibrant.errors import InputError
from calibrant.retrieval import measure, read_qrels, read_ranking


def problems(tmp_path, content, read=read_ranking, name="bad.run"):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read(path)
    return str(error.value).removeprefix(str(tmp_path) + "/")


def test_every_malformed_line_is_named_with_what_was_expected(tmp_path):
    content = b"q1 Q0 a 1 0.5 t\nq1 Q0 b 2 t\n\nq1 Q0 c 3 high t\nq1 Q0 \xff 4 0.1 t\nq1 Q0 d 5 0.2 my tag\n"
    assert problems(tmp_path, content) == (
        "bad.run has 4 problems:\n"
        "  line 2: expected 6 fields (query Q0 document rank score tag), got 5: 'q1 Q0 b 2 t'\n"
        "  line 4: expected a number as the score, got 'high'\n"
        "  line 5: expected UTF-8 text, got b'q1 Q0 \\xff 4 0.1 t'\n"
        "  line 6: expected 6 fields (query Q0 document rank score tag), got 7: 'q1 Q0 d 5 0.2 my tag'"
    )


def test_a_line_too_long_is_not_made_up_for_by_one_too_short(tmp_path):
    content = b"q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.4 my tag\nq1 Q0 c 3 0.3\n"
    assert problems(tmp_path, content) == (
        "bad.run has 2 problems:\n"
        "  line 2: expected 6 fields (query Q0 document rank score tag), got 7: 'q1 Q0 b 2 0.4 my tag'\n"
        "  line 3: expected 6 fields (query Q0 document rank score tag), got 5: 'q1 Q0 c 3 0.3'"
    )
    qrels = problems(tmp_path, b"q1 0 a 1 9\nq1 0 b\nq1 0 c 1\n", read_qrels, "qrels.txt")
    assert "line 1: expected 4 fields (query iteration document grade), got 5: 'q1 0 a 1 9'" in qrels
    assert "line 2: expected 4 fields (query iteration document grade), got 3: 'q1 0 b'" in qrels


def test_qrels_name_their_own_fields(tmp_path):
    message = problems(tmp_path, b"q1 0 a 1\nq1 0 b\n", read_qrels, "qrels.txt")
    assert (
        message
        == "qrels.txt has 1 problem:\n  line 2: expected 4 fields (query iteration document grade), got 3: 'q1 0 b'"
    )


def test_reading_stops_at_a_limit(tmp_path):
    message = problems(tmp_path, b"one two\n" * 100_000)
    assert message.startswith("bad.run (where reading stopped, after 100) has 100 problems:\n  line 1:")


def test_csv_names_lines(tmp_path):
    short = problems(tmp_path, b"query,document,score\nq1,a,1,9\nq1,b,0.5\n", name="run.csv")
    assert short == "run.csv has 1 problem:\n  line 2: expected 3 fields, got 4"
    wrong = problems(tmp_path, b"query,document,score\nq1,a,1\nq1,b,x\n,c,1\n", name="run2.csv")
    assert "line 3: expected a number as the score, got 'x'" in wrong
    assert "line 4: expected a text or a whole number as the query, got ''" in wrong


def test_an_empty_csv_says_so(tmp_path):
    assert problems(tmp_path, b"", name="run.csv").endswith(
        "run.csv is empty; expected a header line with the names of its columns"
    )


def test_an_empty_ranking_file_holds_nothing(tmp_path):
    (tmp_path / "empty.run").write_bytes(b"")
    assert len(read_ranking(tmp_path / "empty.run")) == 0
    assert measure({"q": {"a": 1}}, tmp_path / "empty.run", "RR")["RR"].value == 0.0


def test_an_empty_qrels_file_is_refused(tmp_path):
    assert "holds no judgments" in problems(tmp_path, b"\n", read_qrels, "qrels.txt")


@pytest.mark.parametrize("packed", [False, True])
def test_odd_but_right_files_are_read(tmp_path, packed):
    content = "\ufeffq\u00e9 Q0\td1 1 1e-3 t\r\nq2 Q0 d2  1 0.12345678901234567 t\r\n\r\nq\u00e9 Q0 d3 2 -5 t"
    path = tmp_path / "odd.run.gz"
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    ranking = read_ranking(path)
    assert ranking.queries == ("q\u00e9", "q2")
    assert ranking.documents.to_list() == ["d1", "d3", "d2"]
    assert ranking.scores.tolist() == [0.001, -5.0, 0.12345678901234567]
    assert ranking.name == "odd"
