"""Drawings as inline SVG: intervals on a scale, distributions of scores, and what won, lost and tied.

Each says in words what it shows, and none by colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibrant.report.markup import Markup, element

__all__ = ["Scale", "distribution", "interval", "label_counts", "outcome_bar"]

Data = Mapping[str, Any]
MARGIN = 7.0
HEIGHT = 96.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Numbers from `low` to `high` laid out on so many pixels.

    >>> Scale(low=0.0, high=1.0, width=214).place(0.5)
    107.0
    """

    low: float = 0.0
    high: float = 1.0
    width: float = 190.0

    def place(self, value: float) -> float:
        """Where `value` lies; what is beyond an end lies at that end."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(MARGIN + share * (self.width - 2 * MARGIN), 1)

    @classmethod
    def around_zero(cls, values: Sequence[float], *, width: float = 190.0) -> Scale:
        """A scale with 0 in its middle that has room for all of `values`, and ends at a round number.

        >>> Scale.around_zero([-0.031, 0.012]).high, Scale.around_zero([]).high
        (0.05, 0.1)
        """
        most = max((abs(value) for value in values), default=0.1)
        ends = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0)
        end = next((end for end in ends if most <= end), most)
        return cls(low=-end, high=end, width=width)


def interval(estimate: Data, *, scale: Scale | None = None, label: str, threshold: float | None = None) -> Markup:
    """An estimate's JSON drawn: its value as a ring, its interval as a bar, its worst case as a dotted line.

    `threshold` is a dashed line across. An estimate without a value is an empty scale.
    """
    on = scale or Scale()
    middle, centre = 10.0, 0.0 if on.low < 0 else (on.low + on.high) / 2
    ends = [(on.low, "start"), (centre, "middle"), (on.high, "end")]
    parts = [_line("axis", on.place(on.low), middle, on.place(on.high), middle)]
    parts += [
        _line("zero" if end == 0 and on.low < 0 else "axis", on.place(end), middle - 5, on.place(end), middle + 5)
        for end, _ in ends
    ]
    parts += [_text(on.place(end), 28, f"{end:g}", anchor) for end, anchor in ends]
    parts += _marks(estimate, on, middle)
    if threshold is not None:
        parts.append(_line("threshold", on.place(threshold), 0, on.place(threshold), 2 * middle))
    return _drawing(parts, on.width, 31, f"{label}: {in_words(estimate)}", "interval")


def in_words(estimate: Data) -> str:
    """What a drawn interval shows, for those who do not see it.

    >>> in_words({"value": 0.5, "lower": 0.4, "upper": 0.6, "level": 0.95, "worst_case": [0.45, 0.55], "reason": ""})
    '0.500, 95% interval 0.400 to 0.600, worst case 0.450 to 0.550'
    """
    if estimate["value"] is None:
        return f"no estimate, {estimate['reason']}"
    low, high, worst = estimate["lower"], estimate["upper"], estimate["worst_case"]
    bounds = "" if low is None or high is None else f", {estimate['level']:.0%} interval {low:.3f} to {high:.3f}"
    wide = "" if not worst or worst[0] == worst[1] else f", worst case {worst[0]:.3f} to {worst[1]:.3f}"
    return f"{estimate['value']:.3f}{bounds}{wide}"


def distribution(spread: Data, *, label: str, threshold: float | None, higher_is_better: bool = True) -> Markup:
    """A distribution of scores as bars: those that pass are full, the others are outlines.

    `spread` has `values`, `counts`, and the `width` of a bin, which is 0 where the values are single ones.
    """
    values, counts, bin_width = spread["values"], spread["counts"], spread["width"]
    on, most, floor = Scale(width=320.0), max(counts, default=0) or 1, HEIGHT - 18
    span = on.width - 2 * MARGIN
    thick = max(2.0, span * bin_width - 1) if bin_width else min(18.0, span / (2 * len(values) or 1))
    parts: list[Markup] = []
    counted: list[Markup] = []
    for value, count in zip(values, counts, strict=True):
        tall = count / most * (floor - 16)
        drawn = max(tall, 1.0) if count else 0.0
        left = min(max(on.place(value) - thick / 2, 0.0), on.width - thick)
        kind = "pass" if _passes(value, threshold, higher_is_better) else "fail"
        parts.append(_bar(kind, left, floor - drawn, thick, drawn))
        if len(values) <= 8 and count:
            counted.append(_text(left + thick / 2, floor - drawn - 4, f"{count}", "middle", "count"))
    parts.append(_line("axis", 0, floor, on.width, floor))
    parts += [_text(on.place(end), HEIGHT - 4, f"{end:g}", "middle") for end in (0, 0.25, 0.5, 0.75, 1)]
    if threshold is not None:
        parts.append(_line("threshold", on.place(threshold), 4, on.place(threshold), floor))
    parts += counted  # over the line, which would strike a number through
    told = ", ".join(f"{count} at {value:.3g}" for value, count in zip(values, counts, strict=True) if count)
    return _drawing(parts, on.width, HEIGHT, f"{label}: {told or 'no scores'}", "distribution")


def label_counts(spread: Data, *, label: str) -> Markup:
    """How often each label was given, as bars with their words and counts."""
    values, counts = [str(value) for value in spread["values"]], spread["counts"]
    most, row, width = max(counts, default=0) or 1, 22.0, 320.0
    parts: list[Markup] = []
    for place, (value, count) in enumerate(zip(values, counts, strict=True)):
        top = place * row
        parts.append(_text(0, top + 14, value if len(value) <= 18 else f"{value[:17]}…", "start", "count"))
        parts.append(_bar("pass", 125, top + 4, max(1.0, count / most * 150), 13))
        parts.append(_text(131 + max(1.0, count / most * 150), top + 14, f"{count}", "start", "count"))
    told = ", ".join(f"{count} {value}" for value, count in zip(values, counts, strict=True))
    return _drawing(parts, width, max(row * len(values), 1.0), f"{label}: {told}", "distribution")


def outcome_bar(wins: int, ties: int, losses: int, *, label: str) -> Markup:
    """Wins (full), ties (faint) and losses (outlined) as shares of one bar."""
    total, width = wins + ties + losses, 120.0
    parts: list[Markup] = []
    left = 0.5
    for kind, count in (("pass", wins), ("tie", ties), ("fail", losses)):
        wide = (width - 1) * count / total if total else 0.0
        if count:
            parts.append(_bar(kind, left, 0.5, wide, 9))
        left += wide
    return _drawing(parts, width, 10, f"{label}: {wins} wins, {ties} ties, {losses} losses", "interval")


def _marks(estimate: Data, on: Scale, middle: float) -> list[Markup]:
    """The worst case, the interval and the value, one upon the other."""
    if estimate["value"] is None:
        return []
    parts: list[Markup] = []
    worst, low, high = estimate["worst_case"], estimate["lower"], estimate["upper"]
    if worst and worst[0] != worst[1]:
        parts.append(_line("worst", on.place(worst[0]), middle + 7, on.place(worst[1]), middle + 7))
    if low is not None or high is not None:
        left, right = on.place(on.low if low is None else low), on.place(on.high if high is None else high)
        parts.append(_line("range", left, middle, right, middle))
    parts.append(element("circle", cx=on.place(estimate["value"]), cy=middle, r=4, class_="point"))
    return parts


def _passes(value: float, threshold: float | None, higher_is_better: bool) -> bool:  # noqa: FBT001 - a metric's polarity
    return threshold is None or (value >= threshold if higher_is_better else value <= threshold)


def _drawing(parts: Sequence[Markup], width: float, height: float, label: str, kind: str) -> Markup:
    size = {"width": f"{width:g}", "height": f"{height:g}"}
    box = f"0 0 {width:g} {height:g}"
    return element("svg", *parts, **size, viewBox=box, role="img", aria_label=label, class_=kind)


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return element("line", x1=f"{x1:g}", y1=f"{y1:g}", x2=f"{x2:g}", y2=f"{y2:g}", class_=kind)


def _bar(kind: str, x: float, y: float, width: float, height: float) -> Markup:
    size = {name: f"{value:.1f}" for name, value in (("x", x), ("y", y), ("width", width), ("height", height))}
    return element("rect", **size, class_=kind)


def _text(x: float, y: float, text: str, anchor: str, kind: str | None = None) -> Markup:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_=kind)
