"""The page that every HTML report is: one file, no network, light and dark, readable on a phone and in print."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from calibrant.report.markup import Child, Markup, element, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Section", "page", "section", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of the page: its title, its body, and a script that makes it more convenient and that it does not need."""

    title: str
    body: Markup
    script: str = ""


def section(title: str, *body: Child, script: str = "") -> Section:
    """A section of these elements."""
    return Section(title=title, body=joined(*body), script=script)


def page(title: str, sections: Sequence[Section], *, lead: Markup | None = None) -> str:
    """The whole page: heading, lead, a list of the sections where there are several, and the sections.

    Its own policy forbids whatever is not in the file: nothing is fetched, and no script runs but the sections' own.

    >>> text = page("A < B", [section("Numbers", element("p", "0.9"))])
    >>> "<h1>A &lt; B</h1>" in text, "http" in text.replace("http-equiv", "")
    (True, False)
    """
    scripts = list(dict.fromkeys(one.script for one in sections if one.script))
    anchors = _anchors([one.title for one in sections])
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(_style(), scripts)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        # Trusted texts of this package, which escaping would break.
        Markup(f"<style>{_style()}</style>"),
    )
    body = element(
        "body",
        element("a", "Skip to the numbers", class_="skip", href="#numbers"),
        element("header", element("h1", title), lead, _contents(sections, anchors)),
        element(
            "main",
            *(
                element("section", element("h2", one.title), one.body, id=anchor)
                for one, anchor in zip(sections, anchors, strict=True)
            ),
            id="numbers",
        ),
        *(Markup(f"<script>{script}</script>") for script in scripts),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def table(
    header: Sequence[str], rows: Iterable[Sequence[Child]], *, label: str, numbers: frozenset[int] = frozenset()
) -> Markup:
    """A table named `label`, whose first cells head their rows; the columns at `numbers` are set flush right.

    Where the screen is too narrow for its columns, each row becomes a block with the column's name beside each value.
    The roles are said because a table that is laid out as blocks would lose them.
    """
    kinds = ["number" if place in numbers else None for place in range(len(header))]
    heads = (
        element("th", name, scope="col", role="columnheader", class_=kind)
        for name, kind in zip(header, kinds, strict=True)
    )
    body = (element("tr", *_cells(header, kinds, row), role="row") for row in rows)
    drawn = element(
        "table",
        element("thead", element("tr", *heads, role="row"), role="rowgroup"),
        element("tbody", *body, role="rowgroup"),
        role="table",
        aria_label=label,
    )
    return element("div", drawn, class_="frame")


def _cells(header: Sequence[str], kinds: Sequence[str | None], row: Sequence[Child]) -> Iterator[Markup]:
    """The cells of one row; what a cell holds is one element, so that it can stand beside its column's name."""
    yield element("th", row[0], scope="row", role="rowheader")
    for name, kind, content in zip(header[1:], kinds[1:], row[1:], strict=True):
        yield element("td", element("div", content), role="cell", class_=kind, data_label=name)


def _contents(sections: Sequence[Section], anchors: Sequence[str]) -> Markup | None:
    if len(sections) < 2:
        return None
    links = (
        element("li", element("a", one.title, href=f"#{anchor}")) for one, anchor in zip(sections, anchors, strict=True)
    )
    return element("nav", element("ul", *links), aria_label="Sections")


def _anchors(titles: Iterable[str]) -> list[str]:
    found: list[str] = []
    for title in titles:
        plain = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "section"
        anchor, number = plain, 1
        while anchor in {"numbers", *found}:
            number += 1
            anchor = f"{plain}-{number}"
        found.append(anchor)
    return found


def _policy(style: str, scripts: Sequence[str]) -> str:
    allowed = " ".join(_digest(script) for script in scripts) or "'none'"
    return f"default-src 'none'; style-src {_digest(style)}; script-src {allowed}; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _style() -> str:
    return (resources.files("calibrant.report") / "page.css").read_text(encoding="utf-8")
