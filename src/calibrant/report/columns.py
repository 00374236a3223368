"""Plain tables for the terminal: columns as wide as their widest cell, numbers to the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["aligned"]


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[str] = frozenset()) -> str:
    """The rows under their header, one line each; columns named in `right` are set flush right.

    >>> print(aligned(["metric", "n"], [["polite", "7"], ["brief", "12"]], right=frozenset({"n"})))
    metric   n
    polite   7
    brief   12
    """
    widths = [max(len(row[place]) for row in [header, *rows]) for place in range(len(header))]
    lines: list[str] = []
    for row in [header, *rows]:
        cells = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(header, row, widths, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
