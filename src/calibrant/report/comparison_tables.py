"""A comparison of runs in the terminal: one row a difference, then the items behind it and what could not be rated."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from calibrant.report.columns import aligned
from calibrant.report.tables import gate_lines

__all__ = ["comparison_csv", "comparison_text", "p_value_text", "verdict_text"]

Data = Mapping[str, Any]
HEADER = ("metric", "of", "A", "B", "B - A", "p (Holm)", "effect", "wins", "losses", "ties", "verdict")
RIGHT = frozenset({"p (Holm)", "effect", "wins", "losses", "ties"})
SHOWN_ITEMS = 5


def comparison_text(comparison: Data) -> str:
    """A comparison's JSON (`Comparison.to_json()`) as one screen of text; with more than two runs, a block a pair."""
    answers = "\n".join(gate_lines(comparison.get("gates", ())))
    blocks = ["\n".join(_heading(comparison)), *_blocks(comparison), answers]
    return "\n\n".join(block for block in blocks if block)


def comparison_csv(comparison: Data) -> str:
    """A comparison's JSON as CSV: one row for every difference."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    numbers = ("value", "lower", "upper", "level", "method", "n", "reason")
    plain = ("metric", "quantity", "a", "b", "value_a", "value_b")
    behind = ("p_corrected", "effect", "detectable", "wins", "losses", "ties", "better")
    writer.writerow([*plain, *numbers, "test", "p_value", *behind, "failed_a", "failed_b"])
    for one in comparison["differences"]:
        test = one["test"] or {"method": None, "p_value": None}
        failed = [len(one["failed"][side]) for side in ("a", "b")]
        row = [one[name] for name in plain] + [one["difference"][name] for name in numbers]
        writer.writerow([*row, test["method"], test["p_value"], *[one[name] for name in behind], *failed])
    return out.getvalue()


def verdict_text(one: Data) -> str:
    """What may be said of one difference: which run is better, or what these data could have shown.

    >>> verdict_text({"better": None, "detectable": 0.0541, "difference": {"value": 0.01}})
    'not settled: 0.054 would have shown'
    """
    if one["better"] is not None:
        return f"{one['better']} is better"
    if one["difference"]["value"] is None:
        return f"not compared: {one['difference']['reason']}"
    if one["detectable"] is None:
        return "not settled: the two differ on too few items"
    return f"not settled: {one['detectable']:.3f} would have shown"


def _heading(comparison: Data) -> Iterator[str]:
    for run in comparison["runs"]:
        partial = "" if run["status"] == "complete" else ", INCOMPLETE: the numbers are partial"
        name = f" ({run['name']})" if run["name"] not in {"", run["label"]} else ""
        yield f"{run['label']}{name}: {run['n']} items{partial}"
    for unlike in comparison["unlike"]:
        yield f"unlike, and allowed: {unlike['text']}"
    for text in comparison["only_in"]:
        yield f"not compared: {text}"


def _blocks(comparison: Data) -> Iterator[str]:
    pairs = dict.fromkeys((one["a"], one["b"]) for one in comparison["differences"])
    for a, b in pairs:
        found = [one for one in comparison["differences"] if (one["a"], one["b"]) == (a, b)]
        table = aligned(HEADER, [_row(one) for one in found], right=RIGHT)
        yield table if [*pairs] == [("A", "B")] else f"A = {a}, B = {b}\n{table}"
        yield "\n".join(dict.fromkeys(line for one in found for line in _behind(one)))


def _row(one: Data) -> list[str]:
    p = one["p_corrected"]
    return [
        one["metric"],
        _named(one),
        _number(one["value_a"]),
        _number(one["value_b"]),
        _difference(one["difference"]),
        "-" if p is None else p_value_text(p),
        "-" if one["effect"] is None else f"{one['effect']:+.2f}",
        *(str(one[name]) for name in ("wins", "losses", "ties")),
        verdict_text(one),
    ]


def _behind(one: Data) -> Iterator[str]:
    for name, side in (("wins", "B"), ("losses", "A")):
        items = one["items"][name]
        if items:
            yield f"{one['metric']}: by {_named(one)}, {side} wins on {_listed(items)}"
    for side in ("a", "b"):
        lost = one["failed"][side]
        if lost:
            yield f"{one['metric']}: {len(lost)} not rated in {side.upper()}, and left out: {_listed(lost)}"
    worst = one["difference"]["worst_case"]
    if worst is not None and worst[0] != worst[1]:
        yield f"{one['metric']}: with what could not be rated, B - A lies between {worst[0]:+.3f} and {worst[1]:+.3f}"


def _listed(items: list[str]) -> str:
    return ", ".join(items[:SHOWN_ITEMS]) + (f", ... ({len(items)} in all)" if len(items) > SHOWN_ITEMS else "")


def _named(one: Data) -> str:
    return one["quantity"].replace("_", " ")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _difference(estimate: Data) -> str:
    if estimate["value"] is None:
        return "-"
    low, high = estimate["lower"], estimate["upper"]
    interval = "" if low is None or high is None else f" [{low:+.3f}, {high:+.3f}]"
    return f"{estimate['value']:+.3f}{interval}"


def p_value_text(p: float) -> str:
    """A p-value to three digits; a tiny one as what it is below.

    >>> p_value_text(0.0214), p_value_text(1e-9)
    ('0.0214', '<0.0001')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.3g}"
