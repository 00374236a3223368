"""Charts as PNG files, from plain records: the only module that touches matplotlib, and never its global settings."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant.errors import MissingExtraError, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from calibrant.estimates import Estimate

__all__ = ["Bar", "bar_chart", "line_chart", "scatter_chart"]

INK, GRID, FILL = "#222222", "#dddddd", "#4878a8"
MARKERS = "osD^vPX*<>"
DASHES = ("-", "--", "-.", ":")
INCHES_PER_BAR = 0.7
SHOWN_NAME = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One bar: its label and its estimate, or why it has none."""

    label: str
    estimate: Estimate | None
    reason: str = ""


def bar_chart(bars: Sequence[Bar], path: Path, *, title: str) -> Path:
    """Bars with their intervals and values; a bar without a value is a dash, and none at all is an empty chart."""

    def draw(axes: Any) -> None:
        places = range(len(bars))
        values = [0.0 if one.estimate is None else one.estimate.value or 0.0 for one in bars]
        axes.bar(places, values, color=FILL, width=0.6, zorder=2)
        for place, one, value in zip(places, bars, values, strict=True):
            _whisker(axes, place, one.estimate, value)
        axes.set_xticks(places, [_shown(one.label) for one in bars], rotation=30, ha="right")
        axes.set_ylim(min(0.0, *(_lowest(one.estimate) for one in bars), 0.0), 1.1)
        axes.set_ylabel(title)

    return _saved(draw, path, title=f"{title} by judge", width=2.5 + INCHES_PER_BAR * len(bars))


def line_chart(lines: Mapping[str, Mapping[str, float | None]], path: Path, *, mark: float) -> Path:
    """Winning rates over epsilon, one line a judge, with the pass mark; lines differ by dash and marker too."""

    def draw(axes: Any) -> None:
        for number, (label, rates) in enumerate(lines.items()):
            points = [(float(epsilon), rate) for epsilon, rate in rates.items() if rate is not None]
            axes.plot(
                [epsilon for epsilon, _ in points],
                [rate for _, rate in points],
                marker=MARKERS[number % len(MARKERS)],
                linestyle=DASHES[number % len(DASHES)],
                label=_tested(label, points),
            )
        axes.axhline(mark, color=INK, linewidth=1, linestyle=":")
        axes.annotate(f"passes from {mark:g}", (0.0, mark), textcoords="offset points", xytext=(2, 4), fontsize=8)
        axes.set_ylim(-0.05, 1.05)
        axes.set_xlabel("epsilon")
        axes.set_ylabel("winning rate")
        if lines:
            axes.legend(fontsize=8, frameon=False)

    return _saved(draw, path, title="Winning rate by epsilon", width=6.5)


def scatter_chart(people: Mapping[str, Mapping[str, Sequence[float]]], path: Path) -> Path:
    """For each judge and person, how often the judge and how often the person did at least as well."""

    def draw(axes: Any) -> None:
        for number, (label, rates) in enumerate(people.items()):
            points = [pair for pair in rates.values() if len(pair) == 2]
            axes.scatter(
                [human for _, human in points],
                [judge for judge, _ in points],
                marker=MARKERS[number % len(MARKERS)],
                label=_tested(label, points),
                zorder=2,
            )
        axes.plot([0, 1], [0, 1], color=INK, linewidth=1, linestyle=":")
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_xlabel("the person agrees with the rest at least as well")
        axes.set_ylabel("the judge agrees with the rest at least as well")
        if people:
            axes.legend(fontsize=8, frameon=False)

    return _saved(draw, path, title="Judge and left-out person", width=6.0)


def _whisker(axes: Any, place: int, estimate: Estimate | None, value: float) -> None:
    if estimate is None or estimate.value is None:
        axes.annotate("-", (place, 0.02), ha="center")
        return
    lower, upper = estimate.lower, estimate.upper
    if lower is not None and upper is not None:
        errors = [[max(value - lower, 0.0)], [max(upper - value, 0.0)]]
        axes.errorbar([place], [value], yerr=errors, color=INK, capsize=4, zorder=3)
    axes.annotate(f"{value:.3f}", (place, max(value, upper or value) + 0.015), ha="center", fontsize=8)


def _lowest(estimate: Estimate | None) -> float:
    if estimate is None or estimate.value is None:
        return 0.0
    return min(estimate.value, estimate.value if estimate.lower is None else estimate.lower)


def _tested(name: str, points: Sequence[object]) -> str:
    return _shown(name) if points else f"{_shown(name)} (not tested)"


def _shown(name: str) -> str:
    """A name as it stands in a chart: short, and with no dollar sign, which would begin a formula."""
    return shortened(name, limit=SHOWN_NAME).strip("'").replace("$", r"\$")


def _saved(draw: Callable[[Any], None], path: Path, *, title: str, width: float) -> Path:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("charts", "drawing charts") from None
    figure = Figure(figsize=(min(width, 40.0), 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.grid(visible=True, axis="y", color=GRID, zorder=0)
    axes.spines[["top", "right"]].set_visible(False)
    draw(axes)
    axes.set_title(title, fontsize=11)
    path.parent.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        # A sign that the font lacks is drawn as a box; that is no news to who runs the comparison.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(path, dpi=120)
    return path
