"""A comparison of runs as sections of a page: differences around zero, what is settled, and the items behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calibrant.report.comparison_tables import p_value_text, verdict_text
from calibrant.report.drawing import Scale, interval, outcome_bar
from calibrant.report.markup import DASH, Markup, element, joined
from calibrant.report.page import Section, section, table
from calibrant.report.run_sections import answers

__all__ = ["comparison_lead", "comparison_sections", "difference_cell"]

Data = Mapping[str, Any]
HEADER = (
    "Metric",
    "{a}",
    "{b}",
    "{b} \N{MINUS SIGN} {a}",
    "p (Holm)",
    "Effect",
    "{b} wins, ties, losses",
    "What may be said",
)
LEGEND = (
    "Differences are over the items rated in both runs. The ring is the difference, the bar its {level:.0%} interval; "
    "a dotted line shows where it would lie with what could not be rated. p-values are corrected by Holm over the "
    "whole comparison. A full bar are the wins of {b}, a faint one ties, an outlined one losses."
)


def comparison_lead(comparison: Data) -> Markup:
    """Which runs were compared."""
    items = (
        element(
            "li",
            element("strong", run["label"]),
            f" {run['n']:,} items, run ",
            element("span", run["run"], class_="id"),
            "" if run["status"] == "complete" else ", INCOMPLETE: its numbers are partial",
        )
        for run in comparison["runs"]
    )
    return element("ul", *items, class_="plain")


def comparison_sections(comparison: Data) -> Iterator[Section]:
    """The sections of a comparison's JSON (`Comparison.to_json()`): one for every pair of runs."""
    unlike = [f"Unlike, and allowed: {one['text']}" for one in comparison["unlike"]]
    unlike += [f"Not compared: {text}" for text in comparison["only_in"]]
    notes = [element("p", text, class_="note") for text in unlike]
    if comparison.get("gates"):
        yield section("Gates on the comparison", answers(comparison["gates"]))
    pairs = dict.fromkeys((one["a"], one["b"]) for one in comparison["differences"])
    for a, b in pairs:
        found = [one for one in comparison["differences"] if (one["a"], one["b"]) == (a, b)]
        legend = element("p", LEGEND.format(level=comparison["level"], b=b), class_="small")
        yield section(f"{a} and {b} compared", *notes, _table(found), legend, *_behind(found))
        notes = []


def _table(found: Sequence[Data]) -> Markup:
    drawn = [one["difference"] for one in found]
    values = [one[name] for one in drawn for name in ("value", "lower", "upper") if one[name] is not None]
    scale = Scale.around_zero(values)
    a, b = found[0]["a"], found[0]["b"]
    header = [name.format(a=a, b=b) for name in HEADER]
    rows = [_row(one, scale) for one in found]
    return table(header, rows, label=f"{a} and {b} compared", numbers=frozenset({1, 2, 4, 5}))


def _row(one: Data, scale: Scale) -> list[Markup]:
    named = f"{one['metric']}, {one['quantity'].replace('_', ' ')}"
    estimate = one["difference"]
    counted = ", ".join(str(one[name]) for name in ("wins", "ties", "losses"))
    return [
        joined(one["metric"], element("small", one["quantity"].replace("_", " "))),
        joined(_number(one["value_a"])),
        joined(_number(one["value_b"])),
        difference_cell(estimate, f"{named}, {one['b']} minus {one['a']}", scale),
        joined(DASH if one["p_corrected"] is None else p_value_text(one["p_corrected"])),
        joined(DASH if one["effect"] is None else f"{one['effect']:+.2f}"),
        joined(counted, outcome_bar(one["wins"], one["ties"], one["losses"], label=named)),
        element("span", verdict_text(one), class_="value" if one["better"] else None),
    ]


def difference_cell(estimate: Data, label: str, scale: Scale) -> Markup:
    """A difference in a table: its value, its interval drawn and in numbers, and n; or why there is none."""
    if estimate["value"] is None:
        return joined(DASH, element("small", estimate["reason"]))
    low, high = estimate["lower"], estimate["upper"]
    bounds = "" if low is None or high is None else f" [{low:+.3f}, {high:+.3f}]"
    return joined(
        element("span", f"{estimate['value']:+.3f}", class_="value"),
        element("span", bounds, class_="range"),
        interval(estimate, scale=scale, label=label),
        element("small", f"n={estimate['n']:,}"),
    )


def _behind(found: Sequence[Data]) -> Iterator[Markup]:
    """The items that were won, lost, and could not be rated, to be opened."""
    for one in found:
        named = f"{one['metric']}, {one['quantity'].replace('_', ' ')}"
        listed = {
            f"won by {one['b']}": one["items"]["wins"],
            f"won by {one['a']}": one["items"]["losses"],
            f"not rated in {one['a']}": one["failed"]["a"],
            f"not rated in {one['b']}": one["failed"]["b"],
        }
        for text, items in listed.items():
            if items:
                heading = element("summary", f"{named}, {text}: {len(items):,} item{'s' if len(items) > 1 else ''}")
                yield element("details", heading, element("p", ", ".join(items), class_="id"))


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:.3f}"
