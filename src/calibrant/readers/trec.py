"""TREC files of rankings and qrels, by columns: a quick way for regular text, an exact way for all other, one result.

The exact way is the definition: lines end at a line feed, fields are separated by any ASCII white space, blank lines
are nothing, numbers are decimal, texts are UTF-8. The quick way reads only blocks of which counting has shown that
every line has its fields with one space between, and leaves everything else to the exact way.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from calibrant.errors import InputError, shortened
from calibrant.readers.rows import BROKEN_GZIP, PROBLEM_LIMIT, Rows, broken_gzip, existing_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader

__all__ = ["QRELS", "RANKING", "TrecLayout", "read_trec"]

BLOCK_BYTES = 16 << 20
STEP_BYTES = 1 << 18  # the checks' temporary arrays stay in the processor's cache
SPACE, LINE_FEED = 32, 10
NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE | re.ASCII)
WHITE_TO_SPACE = bytes.maketrans(b"\t\r\v\f", b"    ")
UTF8_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class TrecLayout:
    """The fields of a line, and which of them is the number."""

    what: str
    fields: tuple[str, ...]
    number: int

    @property
    def kept(self) -> tuple[int, int, int]:
        """Where query, document and number stand."""
        return (0, 2, self.number)


RANKING = TrecLayout("ranking", ("query", "Q0", "document", "rank", "score", "tag"), 4)
QRELS = TrecLayout("qrels", ("query", "iteration", "document", "grade"), 3)


def read_trec(path: str | Path, layout: TrecLayout, *, block_bytes: int = BLOCK_BYTES) -> Iterator[Rows]:
    """The rows of a TREC file, gzipped or not, block by block; every malformed line is named in one error."""
    file_path = existing_file(Path(path), layout.what)
    problems: list[str] = []
    first_line, kept = 1, 0
    for block in _whole_lines(file_path, block_bytes):
        regular = _regular(block, len(layout.fields))
        rows = None if regular is None else _quick(regular, layout)
        if rows is None:
            rows = _exact(block, layout, first_line, problems)
        kept += len(rows)
        if len(problems) >= PROBLEM_LIMIT:
            break
        is_a_row_each = regular is block and not problems
        first_line += len(rows) if is_a_row_each else block.count(b"\n")
        if not problems:
            yield rows
    if problems:
        if not kept:
            _refuse_the_other_kind(path, layout, problems)
        stopped = f" (where reading stopped, after {PROBLEM_LIMIT})" if len(problems) >= PROBLEM_LIMIT else ""
        raise InputError.gathered(f"{path}{stopped}", problems)


def _refuse_the_other_kind(path: str | Path, layout: TrecLayout, problems: list[str]) -> None:
    """Say so when every line is one of a ranking, and qrels were expected, or the other way round."""
    other = RANKING if layout is QRELS else QRELS
    if all(f"got {len(other.fields)}: " in problem for problem in problems):
        raise InputError(
            f"{path} was given as {layout.what}, and each line has the {len(other.fields)} fields of {other.what} "
            f"({' '.join(other.fields)}); the qrels come first, and rankings after them",
            problems,
        )


def _whole_lines(path: Path, size: int) -> Iterator[bytes]:
    """The file, gzipped or not, in pieces of whole lines, each ending in a line feed."""
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        mark = UTF8_MARK
        for block in _unzipped(file, size) if is_gzip else _blocks(file, size):
            yield (block if block.endswith(b"\n") else block + b"\n").removeprefix(mark)
            mark = b""


def _unzipped(file: BufferedReader, size: int) -> Iterator[bytes]:
    try:
        with gzip.open(file) as content:
            while block := content.read(size):
                yield block + content.readline()
    except BROKEN_GZIP as error:
        raise broken_gzip(file.name, error) from error


def _blocks(file: BufferedReader, size: int) -> Iterator[bytes]:
    """Where the line behind `size` bytes ends is looked up before, so that no block has to be copied to grow."""
    begin = 0
    while True:
        file.seek(begin + size)
        file.readline()
        end = file.tell()
        file.seek(begin)
        block = file.read(end - begin)
        if not block:
            return
        yield block
        begin = end


def _regular(block: bytes, fields: int) -> bytes | None:
    """The block when it is regular, or what becomes so by replacing white space; None for any other."""
    if _is_regular(block, fields):
        return block
    spaced = _with_single_spaces(block)
    return spaced if _is_regular(spaced, fields) else None


def _quick(block: bytes, layout: TrecLayout) -> Rows | None:
    """The rows of a regular block; None when a line or a number in it is not what counting took it for."""
    types = {name: pl.Float64 if place == layout.number else pl.String for place, name in enumerate(layout.fields)}
    columns = sorted({*layout.kept, len(layout.fields) - 1})  # a line too short has nothing in its last column
    try:
        frame = pl.read_csv(block, has_header=False, separator=" ", quote_char=None, columns=columns, schema=types)
    except pl.exceptions.PolarsError:
        return None
    if any(column.null_count() for column in frame.get_columns()):
        return None
    query, document, number = frame.get_columns()[:3]
    return Rows(query, document, number.to_numpy())


def _is_regular(block: bytes, fields: int) -> bool:
    """Whether every line has `fields` fields with single spaces between: shown by counts, and by no two marks meeting.

    The counts alone leave lines with a field too many beside as many lines with one too few; the latter show when read.
    """
    data = np.frombuffer(block, np.uint8)
    lines = spaces = marks = 0
    before = True
    for start in range(0, len(data), STEP_BYTES):
        step = data[start : start + STEP_BYTES]
        is_mark = step <= SPACE
        if (before and is_mark[0]) or np.logical_and(is_mark[1:], is_mark[:-1]).any():
            return False
        before = bool(is_mark[-1])
        lines += np.count_nonzero(step == LINE_FEED)
        spaces += np.count_nonzero(step == SPACE)
        marks += np.count_nonzero(is_mark)
    return spaces == lines * (fields - 1) and marks == spaces + lines


def _with_single_spaces(block: bytes) -> bytes:
    spaced = block.translate(WHITE_TO_SPACE).replace(b" \n", b"\n")
    if b"  " in spaced or b"\n " in spaced or b"\n\n" in spaced or spaced[:1] in {b" ", b"\n"}:
        spaced = re.sub(rb" {2,}", b" ", spaced)
        spaced = re.sub(rb" ?\n[ \n]*", b"\n", spaced).lstrip(b" \n")
    return spaced


def _exact(block: bytes, layout: TrecLayout, first_line: int, problems: list[str]) -> Rows:
    kept: list[tuple[str, str, float]] = []
    for number, line in enumerate(block.split(b"\n"), first_line):
        fields = line.split()
        if not fields:
            continue
        try:
            kept.append(_row(fields, layout))
        except ValueError as problem:
            problems.append(f"line {number}: {problem}")
            if len(problems) >= PROBLEM_LIMIT:
                break
    queries, documents, values = zip(*kept, strict=True) if kept else ((), (), ())
    return Rows(
        pl.Series(queries, dtype=pl.String), pl.Series(documents, dtype=pl.String), np.array(values, dtype=np.float64)
    )


def _row(fields: list[bytes], layout: TrecLayout) -> tuple[str, str, float]:
    """A line's query, document and number; a ValueError says what was expected."""
    if len(fields) != len(layout.fields):
        line = b" ".join(fields).decode("utf-8", "replace")
        raise InputError(
            f"expected {len(layout.fields)} fields ({' '.join(layout.fields)}), got {len(fields)}: {shortened(line)}"
        )
    try:
        query, document, number = (fields[place].decode("utf-8") for place in layout.kept)
    except UnicodeDecodeError:
        raise InputError(f"expected UTF-8 text, got {shortened(b' '.join(fields))}") from None
    if NUMBER.fullmatch(number) is None:
        raise InputError(f"expected a number as the {layout.fields[layout.number]}, got {shortened(number)}")
    return query, document, float(number)
