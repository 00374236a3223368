"""Answers that differ only in capitals or blanks: `Yes` and `yes` are two labels, which hardly anyone means."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["spelled_apart"]


def spelled_apart(labels: Iterable[str]) -> list[tuple[str, ...]]:
    """The labels that differ only in capitals or in blanks around them, together.

    >>> spelled_apart(["yes", "no", "Yes", "No "])
    [('No ', 'no'), ('Yes', 'yes')]
    """
    alike: dict[str, set[str]] = {}
    for label in labels:
        alike.setdefault(label.strip().casefold(), set()).add(label)
    return [tuple(sorted(found)) for _, found in sorted(alike.items()) if len(found) > 1]
