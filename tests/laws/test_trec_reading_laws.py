"""The quick and the exact way of reading TREC files give the same rows, and refuse the same files."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant.errors import InputError
from calibrant.readers.rows import Rows
from calibrant.readers.trec import QRELS, RANKING, _exact, _quick, _regular, read_trec

WHITE = st.sampled_from([b" "] * 12 + [b"\t", b"  ", b" \t", b"\r", b"\x0b", b"\x0c", b"\x1c"])
ENDS = st.sampled_from([b"\n"] * 10 + [b"\r\n", b" \n", b"\n\n", b"\n \n", b" \r\n"])
WORDS = st.sampled_from([b"q1", b"d", "é\U0001f600".encode(), b'"q', b"a,b", b"\xff", b"\xc2\xa0", b"#", b"NULL", b"1"])
NUMBERS = st.one_of(
    st.floats().map(lambda number: repr(number).encode()),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: f"{number:.17g}".encode()),
    st.integers(-(10**30), 10**30).map(lambda number: str(number).encode()),
    st.sampled_from(
        [b"1e-3", b"+2.5", b".5", b"5.", b"-.5E+2", b"NaN", b"-nan", b"Infinity", b"-INF", b"1e400", b"-0"]
    ),
    st.sampled_from([b"x", b"1_0", b"0x1p3", b"1e", b"1d", b"1,5", b"", b".", b"--1", b"true", b"\xd9\xa1"]),
)


@st.composite
def trec_lines(draw, layout):
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        fields = [draw(WORDS) for _ in layout.fields]
        fields[layout.number] = draw(NUMBERS)
        fields = fields[: draw(st.sampled_from([len(fields)] * 15 + [len(fields) - 1]))]
        if draw(st.sampled_from([False] * 15 + [True])):
            fields.append(b"more")
        text = draw(st.sampled_from([b""] * 12 + [b" "]))
        for field in fields[:-1]:
            text += field + draw(WHITE)
        lines.append(text + fields[-1] + draw(ENDS))
    return b"".join(lines)


def as_tuples(rows):
    return rows.queries.to_list(), rows.documents.to_list(), [repr(value) for value in rows.values.tolist()]


def quickly(text, layout):
    regular = _regular(text, len(layout.fields))
    return None if regular is None else _quick(regular, layout)


@settings(max_examples=400, deadline=None)
@given(st.data(), st.sampled_from([RANKING, QRELS]))
def test_what_the_quick_way_reads_the_exact_way_reads_alike(data, layout):
    text = data.draw(trec_lines(layout))
    quick = quickly(text, layout)
    if quick is not None:
        problems = []
        exact = _exact(text, layout, 1, problems)
        assert problems == []
        assert as_tuples(quick) == as_tuples(exact)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["q1", "q2", "é"]), st.text("abc€", min_size=1), st.floats()), min_size=1))
def test_a_regular_file_takes_the_quick_way_and_comes_back_as_it_was(rows):
    text = "".join(f"{query} Q0 {document} 1 {score!r} tag\n" for query, document, score in rows).encode()
    quick = quickly(text, RANKING)
    assert quick is not None
    queries, documents, scores = zip(*rows, strict=True)
    assert as_tuples(quick) == (list(queries), list(documents), [repr(score) for score in scores])


@settings(max_examples=40, deadline=None)
@given(trec_lines(RANKING), st.integers(1, 200))
def test_the_size_of_the_blocks_changes_nothing(tmp_path_factory, text, size):
    path = tmp_path_factory.mktemp("trec") / "run.gz"
    path.write_bytes(gzip.compress(text))

    def read(block_bytes):
        try:
            return as_tuples(Rows.joined(list(read_trec(path, RANKING, block_bytes=block_bytes))))
        except InputError as error:
            return error.problems

    assert read(size) == read(1 << 20)


@pytest.mark.parametrize("separator", [b"\t", b"  ", b" \t "])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n"])
def test_any_white_space_takes_the_quick_way_too(separator, end):
    text = (
        end.join(separator.join([b"q1", b"Q0", b"d%d" % number, b"1", b"0.5", b"tag"]) for number in range(3)) + b"\n"
    )
    quick = quickly(text, RANKING)
    assert quick is not None
    assert quick.documents.to_list() == ["d0", "d1", "d2"]
    assert np.array_equal(quick.values, [0.5, 0.5, 0.5])
