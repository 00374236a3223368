"""The score report as one HTML page: no other file, every text escaped, intervals drawn, readable without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from calibrant.alignment.score_report import Cell, ReportColumn

__all__ = ["report_page"]

STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1b1b1b, #eee); --rule: light-dark(#ccc, #555);
  --best: light-dark(#dcefdc, #1f4a2a); --accent: light-dark(#2f5f93, #8fb8e8); }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); margin: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { border-bottom: 1px solid var(--rule); padding: .45rem .8rem; text-align: left; vertical-align: top; }
th { max-width: 15rem; overflow-wrap: anywhere; }
th button { all: unset; cursor: pointer; font-weight: 600; }
th button:focus-visible { outline: 2px solid var(--accent); }
th[aria-sort=ascending] button::after { content: " \\25B2"; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
td.best { background: var(--best); font-weight: 600; }
td small { display: block; opacity: .75; font-weight: 400; max-width: 15rem; }
svg { display: block; }
svg line { stroke: var(--accent); } svg circle { fill: var(--accent); } svg .axis { stroke: var(--rule); }
"""

SCRIPT = """
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const head = button.closest("th"), body = document.querySelector("tbody"), place = head.cellIndex;
  const up = head.getAttribute("aria-sort") === "descending";
  for (const other of document.querySelectorAll("th")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const key = (row) => row.cells[place].dataset.value;
  const order = (a, b) => {
    const x = key(a), y = key(b);
    if (x === "" || y === "") return (x === "") - (y === "");
    const difference = isNaN(x) || isNaN(y) ? x.localeCompare(y) : x - y;
    return up ? difference : -difference;
  };
  body.append(...[...body.rows].sort(order));
});
"""


def report_page(judges: Sequence[str], columns: Sequence[ReportColumn], notes: Sequence[str] = ()) -> str:
    """The page: a row a judge, a column a score; the best of each is marked by colour and by a star."""
    heads = "".join(f'<th scope="col"><button>{escape(column.name)}</button></th>' for column in columns)
    rows = "".join(_row(judge, columns) for judge in judges)
    listed = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Score report</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><h1>Score report</h1>"
        f'<table><thead><tr><th scope="col"><button>judge_id</button></th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
        "<p>Lines are 95% intervals unless a cell says otherwise; a star marks the best number of a column. "
        "Judges whose intervals overlap may not differ.</p>"
        + (f"<h2>Notes</h2><ul>{listed}</ul>" if listed else "")
        + f"<script>{SCRIPT}</script></body></html>\n"
    )


def _row(judge: str, columns: Sequence[ReportColumn]) -> str:
    cells = "".join(_cell(column, judge) for column in columns)
    name = escape(judge, quote=True)
    return f'<tr><th scope="row" data-value="{name}">{name}</th>{cells}</tr>'


def _cell(column: ReportColumn, judge: str) -> str:
    cell = column.cells.get(judge)
    if cell is None or cell.value is None:
        reason = "there is no result of this judge" if cell is None else cell.reason
        return f'<td data-value="">&ndash;<small>{escape(reason)}</small></td>'
    best = column.best is not None and cell.value == column.best
    mark, star = (' class="best"', " &#9733;") if best else ("", "")
    return f'<td{mark} data-value="{cell.value!r}">{cell.value:.3f}{star}{_interval(cell)}{_note(cell)}</td>'


def _note(cell: Cell) -> str:
    return f"<small>{escape(cell.note)}</small>" if cell.note else ""


def _interval(cell: Cell) -> str:
    """The interval as a line on a scale, and in words; why there is none, where there is none."""
    estimate = cell.estimate
    if estimate is None:
        return ""
    behind = f"n={estimate.n}{estimate.coverage.missing_text()}"
    if estimate.lower is None or estimate.upper is None:
        return f"<small>{escape(behind)}{'; ' + escape(estimate.reason) if estimate.reason else ''}</small>"
    level = "" if estimate.level == 0.95 else f" ({estimate.level:.0%})"
    text = f"[{estimate.lower:.3f}, {estimate.upper:.3f}]{level} {behind}"
    low = -1.0 if min(estimate.lower, cell.value or 0.0) < 0 else 0.0

    def place(value: float) -> str:
        return f"{4 + 112 * (value - low) / (1.0 - low):.1f}"

    drawn = (
        f'<svg width="120" height="12" role="img" aria-label="{escape(text, quote=True)}">'
        '<line class="axis" x1="4" x2="116" y1="6" y2="6"/>'
        f'<line x1="{place(estimate.lower)}" x2="{place(estimate.upper)}" y1="6" y2="6" stroke-width="3"/>'
        f'<circle cx="{place(cell.value or 0.0)}" cy="6" r="4"/></svg>'
    )
    return f"{drawn}<small>{escape(text)}</small>"
