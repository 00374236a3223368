"""Pieces of Markdown: pages, tables, fences, and docstrings with their examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["code", "docstring", "page", "table"]

PROMPT = ">>> "


def page(title: str, *parts: str) -> str:
    """A page of parts that are not empty, with a blank line between them."""
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"


def code(text: str, language: str) -> str:
    """A fenced block; its fence is longer than any in the text."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A table; bars and line ends in cells are taken care of.

    >>> print(table(("a", "b"), [("1|2", "x")]))
    | a | b |
    |---|---|
    | 1\|2 | x |
    """
    return "\n".join([_row(header), "|---" * len(header) + "|", *(_row([*map(_cell, row)]) for row in rows)])


def docstring(text: str) -> str:
    """A docstring as Markdown: prose as it is, its examples as blocks."""
    return "\n\n".join(_parts(text))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _parts(text: str) -> Iterator[str]:
    """The paragraphs; those that begin with a prompt become blocks, neighbours as one."""
    examples: list[str] = []
    for paragraph in text.strip().split("\n\n"):
        if paragraph.lstrip().startswith(PROMPT):
            examples.append(paragraph)
            continue
        if examples:
            yield code("\n\n".join(examples), "pycon")
            examples = []
        yield code(paragraph, "text") if _is_drawn(paragraph) else paragraph
    if examples:
        yield code("\n\n".join(examples), "pycon")


def _is_drawn(paragraph: str) -> bool:
    """Whether the paragraph's places matter: a drawing, or a table in plain text."""
    return all(line.startswith("    ") for line in paragraph.splitlines())
