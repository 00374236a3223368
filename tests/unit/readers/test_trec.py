"""TREC text as real tools write it, and what is said of what they did not mean to write."""

import gzip

import pytest

from calibrant.errors import InputError
from calibrant.readers.rows import PROBLEM_LIMIT, Rows
from calibrant.readers.trec import QRELS, RANKING, read_trec


def read(path, layout=RANKING, **settings):
    return Rows.joined(list(read_trec(path, layout, **settings)))


def written(tmp_path, text, name="a.run"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def columns(rows):
    return rows.queries.to_list(), rows.documents.to_list(), rows.values.tolist()


def test_a_ranking_has_query_document_and_score_whatever_rank_and_tag_say(tmp_path):
    path = written(tmp_path, "301 Q0 FR940202-2-00150 17 2.129133 STANDARD\n301 Q0 FR940104-0-00001 3 1.5 other\n")
    assert columns(read(path)) == (["301", "301"], ["FR940202-2-00150", "FR940104-0-00001"], [2.129133, 1.5])


def test_qrels_have_query_document_and_grade_whatever_the_iteration_says(tmp_path):
    path = written(tmp_path, "301 0 FBIS3-10082 1\n301 Q0 FBIS3-10169 -1\n302 7 x 2\n", "qrels.txt")
    assert columns(read(path, QRELS)) == (["301", "301", "302"], ["FBIS3-10082", "FBIS3-10169", "x"], [1.0, -1.0, 2.0])


@pytest.mark.parametrize(
    "text",
    [
        "q1 Q0 a 1 0.5 t\nq2 Q0 b 1 0.25 t\n",
        "q1 Q0 a 1 0.5 t\nq2 Q0 b 1 0.25 t",
        "q1 Q0 a 1 0.5 t\r\nq2 Q0 b 1 0.25 t\r\n",
        "q1\tQ0\ta\t1\t0.5\tt\nq2\tQ0\tb\t1\t0.25\tt\n",
        "  q1   Q0 a 1\t 0.5 t  \n\n \t \nq2 Q0 b 1 0.25 t \n\n",
        "\ufeffq1 Q0 a 1 0.5 t\nq2 Q0 b 1 0.25 t\n",
        "q1 Q0 a 1 5e-1 t\nq2 Q0 b 1 +2.5E-01 t\n",
        "q1\vQ0\fa 1 .5 t\nq2 Q0 b 1 0.250 t\n",
    ],
)
@pytest.mark.parametrize("block_bytes", [1, 7, 1 << 20])
@pytest.mark.parametrize("is_packed", [False, True])
def test_white_space_line_ends_and_the_size_of_blocks_change_nothing(tmp_path, text, block_bytes, is_packed):
    content = text.encode()
    path = written(tmp_path, gzip.compress(content) if is_packed else content)
    assert columns(read(path, block_bytes=block_bytes)) == (["q1", "q2"], ["a", "b"], [0.5, 0.25])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.12345678901234567", 0.12345678901234567),
        ("12345678901234567", 1.2345678901234568e16),
        ("1e-320", 1e-320),
        ("4.9406564584124654e-324", 5e-324),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("2.2250738585072011e-308", 2.225073858507201e-308),
        ("-0", 0.0),
        ("inf", float("inf")),
        ("-Infinity", float("-inf")),
    ],
)
def test_numbers_are_read_to_the_last_digit(tmp_path, text, number):
    assert read(written(tmp_path, f"q Q0 d 1 {text} t\n")).values.tolist() == [number]


@pytest.mark.parametrize(
    "document", ["é", "\U0001f600", "a,b", '"quoted"', "#1", "NULL", "nan", "http://x.org/?a=1&b=2", "\u00a0", "a\x1cb"]
)
def test_any_text_without_white_space_is_an_id(tmp_path, document):
    rows = read(written(tmp_path, f"{document} Q0 {document} 1 1 t\n"))
    assert (rows.queries.to_list(), rows.documents.to_list()) == ([document], [document])


def test_a_file_of_blank_lines_has_no_rows(tmp_path):
    assert len(read(written(tmp_path, "\n \n\t\n"))) == 0
    assert len(read(written(tmp_path, ""))) == 0


@pytest.mark.parametrize("number", ["high", "1_0", "0x10", "1,5", "--1", "1e", ".", "true", "1d3"])
def test_what_is_no_number_is_named(tmp_path, number):
    path = written(tmp_path, f"q Q0 a 1 0.5 t\nq Q0 b 2 {number} t\n")
    with pytest.raises(InputError) as raised:
        read(path)
    assert str(raised.value) == f"{path} has 1 problem:\n  line 2: expected a number as the score, got {number!r}"


@pytest.mark.parametrize("block_bytes", [1, 40, 1 << 20])
def test_lines_are_counted_through_blocks_that_are_regular_and_blocks_that_are_not(tmp_path, block_bytes):
    good = "q1 Q0 a 1 0.5 t\n" * 5
    path = written(tmp_path, f"{good}\n\n{good}q1  Q0\tb 2 0.4 t\n{good}q1 Q0 c 3\n{good}q2 Q0 d 1 x t\n")
    with pytest.raises(InputError) as raised:
        read(path, block_bytes=block_bytes)
    assert str(raised.value).splitlines()[1:] == [
        "  line 19: expected 6 fields (query Q0 document rank score tag), got 4: 'q1 Q0 c 3'",
        "  line 25: expected a number as the score, got 'x'",
    ]


def test_problems_are_gathered_up_to_the_limit_over_blocks(tmp_path):
    path = written(tmp_path, "q Q0 a 1 0.5 t\n" + "q Q0 a\n" * (2 * PROBLEM_LIMIT))
    with pytest.raises(InputError) as raised:
        read(path, block_bytes=64)
    lines = str(raised.value).splitlines()
    assert lines[0] == f"{path} (where reading stopped, after {PROBLEM_LIMIT}) has {PROBLEM_LIMIT} problems:"
    assert lines[1].startswith("  line 2: expected 6 fields")


def test_rows_before_a_problem_come_and_the_problem_ends_the_reading(tmp_path):
    path = written(tmp_path, "q Q0 a 1 0.5 t\nq Q0 b 2 0.4 t\nbroken\nq Q0 c 3 0.3 t\n")
    reading = read_trec(path, RANKING, block_bytes=1)
    assert next(reading).documents.to_list() == ["a"]
    assert next(reading).documents.to_list() == ["b"]
    with pytest.raises(InputError, match="line 3: expected 6 fields"):
        list(reading)


def test_a_long_line_is_shortened_in_the_message(tmp_path):
    with pytest.raises(InputError) as raised:
        read(written(tmp_path, "q " + "x" * 10_000 + "\n"))
    assert len(str(raised.value)) < 400


def test_text_that_is_no_utf8_is_named(tmp_path):
    with pytest.raises(InputError, match=r"line 2: expected UTF-8 text, got b'q Q0 \\xe9 1 1 t'"):
        read(written(tmp_path, b"q Q0 a 1 1 t\nq Q0 \xe9 1 1 t\n"))


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda packed: packed[:-9], "Compressed file ended before the end-of-stream marker was reached"),
        (lambda packed: packed[:2] + b"\xff" + packed[3:], "Unknown compression method"),
        (lambda packed: packed[:-8] + b"\0" * 8, "CRC check failed"),
        (lambda packed: packed[:12] + b"\xff" * 20 + packed[32:], "Error -3 while decompressing"),
    ],
)
def test_a_gzip_file_that_is_broken_is_wrong_input(tmp_path, damage, reason):
    packed = gzip.compress(b"".join(b"q Q0 d%d 1 %d t\n" % (number, number) for number in range(500)))
    path = written(tmp_path, damage(packed), "bm25.run.gz")
    with pytest.raises(InputError) as raised:
        read(path)
    assert str(raised.value).startswith(f"{path} is a gzip file that cannot be read to its end ({reason}")
    assert str(raised.value).endswith("); was it copied whole?")


def test_what_is_packed_is_seen_by_its_content_and_not_by_its_name(tmp_path):
    text = b"q Q0 a 1 0.5 t\n"
    assert columns(read(written(tmp_path, gzip.compress(text), "packed.txt"))) == (["q"], ["a"], [0.5])
    assert columns(read(written(tmp_path, text, "plain.gz"))) == (["q"], ["a"], [0.5])


def test_a_folder_and_a_path_to_nothing_are_no_files(tmp_path):
    for path in (tmp_path, tmp_path / "gone.run"):
        with pytest.raises(InputError, match="there is no ranking file at .*; give the path of a file that exists"):
            read(path)
    with pytest.raises(InputError, match="there is no qrels file at"):
        read(tmp_path / "gone", QRELS)


RANKED = "".join(f"q{query} Q0 d{query} 1 0.5 bm25\n" for query in range(300))
GRADED = "".join(f"q{query} 0 d{query} 1\n" for query in range(300))


@pytest.mark.parametrize(
    ("text", "layout", "said"),
    [
        (RANKED, QRELS, "was given as qrels, and each line has the 6 fields of ranking"),
        (GRADED, RANKING, "was given as ranking, and each line has the 4 fields of qrels"),
    ],
)
def test_files_in_the_wrong_order_are_told_in_one_sentence(tmp_path, text, layout, said):
    (tmp_path / "given.txt").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said) as refused:
        list(read_trec(tmp_path / "given.txt", layout))
    assert "the qrels come first, and rankings after them" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_with_a_few_lines_of_the_other_kind_has_them_named(tmp_path):
    (tmp_path / "qrels.txt").write_text(f"q0 0 d0 1\n{RANKED.splitlines()[1]}\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 2: expected 4 fields"):
        list(read_trec(tmp_path / "qrels.txt", QRELS))
