"""What the readers of qrels and rankings give: rows of a query, a document and a number, column by column."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from gzip import BadGzipFile
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from calibrant.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["BROKEN_GZIP", "PROBLEM_LIMIT", "Rows", "broken_gzip", "existing_file"]

PROBLEM_LIMIT = 100
"""So many problems of one file are gathered; reading stops there, since a wrong file is wrong everywhere."""

BROKEN_GZIP = (EOFError, zlib.error, BadGzipFile)
"""What reading a gzip file raises that was cut short or damaged."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Queries, documents and numbers, row by row: scores of a ranking, grades of qrels."""

    queries: pl.Series
    documents: pl.Series
    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.values)

    def part(self, first: int, last: int) -> Rows:
        """The rows from `first` to before `last`."""
        return Rows(self.queries[first:last], self.documents[first:last], self.values[first:last])

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """The rows of all `parts`, one after the other; no parts give no rows."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls(pl.Series(dtype=pl.String), pl.Series(dtype=pl.String), np.empty(0))
        return cls(
            pl.concat([part.queries for part in parts], rechunk=True),
            pl.concat([part.documents for part in parts], rechunk=True),
            np.concatenate([part.values for part in parts]),
        )


def broken_gzip(path: str | Path, error: Exception) -> InputError:
    """What to raise instead of `error`, which reading the gzip file at `path` has raised."""
    return InputError(f"{path} is a gzip file that cannot be read to its end ({error}); was it copied whole?")


def existing_file(path: Path, what: str) -> Path:
    """`path`, when there is a file; `what` names it in the error."""
    if not path.is_file():
        raise InputError(f"there is no {what} file at {path}; give the path of a file that exists")
    return path
