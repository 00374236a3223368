"""The score report as HTML: a row a judge, a column a score; sortable where scripts run, and readable where not."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from calibrant.report.drawing import Scale, interval
from calibrant.report.markup import DASH, Markup, element, joined
from calibrant.report.page import Section, page, section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from calibrant.alignment.score_report import Cell, ReportColumn

__all__ = ["report_page", "score_section"]

WIDEST = 6
"""So many scores stand beside each other on a window of 1080 pixels without scrolling."""

SCRIPT = """
for (const button of document.querySelectorAll("table.judges th button")) button.addEventListener("click", () => {
  const head = button.closest("th"), table = button.closest("table"), place = head.cellIndex;
  const up = head.getAttribute("aria-sort") === "descending";
  for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => row.cells[place].dataset.value;
  const order = (a, b) => {
    const x = key(a), y = key(b);
    if (x === "" || y === "") return (x === "") - (y === "");
    const difference = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
    return up ? difference : -difference;
  };
  const body = table.tBodies[0];
  body.append(...[...body.rows].sort(order));
});
"""
LEGEND = "Lines are 95% intervals unless a cell says otherwise; a star marks the best number of a column."
BELOW = " Whether two judges differ is said below: their intervals alone do not tell."


def report_page(
    judges: Sequence[str],
    columns: Sequence[ReportColumn],
    compared: Mapping[str, Sequence[str]],
    notes: Sequence[str] = (),
) -> str:
    """The page: a row a judge, a column a score; the best of each is marked by weight and by a star.

    `compared` says, by metric, how judges differ from each other.
    """
    return page("Score report", [score_section(judges, columns, compared, notes)])


def score_section(
    judges: Sequence[str],
    columns: Sequence[ReportColumn],
    compared: Mapping[str, Sequence[str]],
    notes: Sequence[str] = (),
) -> Section:
    """The same as a section of a page that shows more."""
    return section(
        "Judges against people",
        *(_table(judges, part) for part in _parts(columns)),
        element("p", LEGEND, BELOW if compared else None, class_="small"),
        *(_listed(f"Judge against judge: {name}", lines) for name, lines in compared.items()),
        _listed("Notes", notes),
        script=SCRIPT,
    )


def _listed(title: str, lines: Sequence[str]) -> Markup | None:
    if not lines:
        return None
    return joined(element("h3", title), element("ul", *(element("li", line) for line in lines)))


def _parts(columns: Sequence[ReportColumn]) -> list[list[ReportColumn]]:
    """The columns in as many tables as the page's width asks for; scores of the same tasks stay together."""
    alike = [list(group) for _, group in groupby(columns, key=lambda column: column.about)]
    pieces = [group[at : at + WIDEST] for group in alike for at in range(0, len(group), WIDEST)]
    parts: list[list[ReportColumn]] = []
    for piece in pieces:
        if parts and len(parts[-1]) + len(piece) <= WIDEST:
            parts[-1] += piece
        else:
            parts.append(list(piece))
    return parts or [[]]


def _broken(name: str) -> Markup:
    """A name that a line may break behind every underscore of."""
    first, *others = name.split("_")
    return joined(first, *(joined("_", element("wbr"), other) for other in others))


def _table(judges: Sequence[str], columns: Sequence[ReportColumn]) -> Markup:
    names = [("judge_id", ""), *((column.name, column.about) for column in columns)]
    heads = (
        element(
            "th",
            element("button", _broken(name), type="button"),
            element("small", about) if about else None,
            scope="col",
            title=name,
        )
        for name, about in names
    )
    rows = (
        element(
            "tr",
            element("th", judge, scope="row", data_value=judge),
            *(_cell(column, judge) for column in columns),
        )
        for judge in judges
    )
    drawn = element("table", element("thead", element("tr", *heads)), element("tbody", *rows), class_="judges")
    return element("div", drawn, class_="frame fixed", role="region", aria_label="Judges against people", tabindex="0")


def _cell(column: ReportColumn, judge: str) -> Markup:
    cell = column.cells.get(judge)
    if cell is None or cell.value is None:
        reason = "there is no result of this judge" if cell is None else cell.reason
        return element("td", DASH, element("small", reason), data_value="")
    best = column.best is not None and cell.value == column.best
    return element(
        "td",
        element("span", f"{cell.value:.3f}", class_="value"),
        " ★" if best else None,
        _interval(cell, f"{judge}, {column.name}"),
        element("small", cell.note) if cell.note else None,
        class_="best" if best else None,
        data_value=repr(cell.value),
    )


def _interval(cell: Cell, label: str) -> Markup | None:
    """The interval as a line on a scale, and in words; why there is none, where there is none."""
    estimate = cell.estimate
    if estimate is None:
        return None
    behind = f"n={estimate.n}{estimate.coverage.missing_text()}"
    if estimate.lower is None or estimate.upper is None:
        return element("small", f"{behind}; {estimate.reason}" if estimate.reason else behind)
    level = "" if estimate.level == 0.95 else f" ({estimate.level:.0%})"
    scale = Scale(low=-1.0 if min(estimate.lower, cell.value or 0.0) < 0 else 0.0)
    text = f"[{estimate.lower:.3f}, {estimate.upper:.3f}]{level} {behind}"
    drawn = {**estimate.to_json(), "value": cell.value}
    return joined(interval(drawn, scale=scale, label=label), element("small", text))
