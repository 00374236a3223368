"""By what the cells of a CSV file are parted: spreadsheets of half of Europe write semicolons."""

from __future__ import annotations

import csv

__all__ = ["separator_of"]

LONGEST_HEADER = 100_000
"""So many characters of a first line are looked at; the csv module takes no longer cell unless it is told."""


def separator_of(header: str) -> str:
    """The separator that a first line tells: a comma, unless only semicolons or else only tabs part it.

    >>> separator_of("id;question, in full"), separator_of('"id, or none";question'), separator_of("id")
    (',', ';', ',')
    """
    parting = (one for one in ",;\t" if len(next(csv.reader([header[:LONGEST_HEADER]], delimiter=one), [])) > 1)
    return next(parting, ",")
