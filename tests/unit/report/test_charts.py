"""Charts as files: whatever the names and numbers, a picture comes out, and nothing global is touched."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.image import imread

from calibrant.estimates import Coverage, Estimate
from calibrant.report.charts import Bar, bar_chart, line_chart, scatter_chart

ODD = ["$x^2$", "a_b^c", "ü漢字", "x" * 200, "", "<b>&", "back\\slash", "per%cent"]


def estimate(value, lower=None, upper=None):
    reason = "" if lower is not None or value is None else "no interval"
    return Estimate(value=value, lower=lower, upper=upper, method="m", coverage=Coverage(rated=9),
                    reason=reason or ("nothing" if value is None else ""))  # fmt: skip


def ink(path):
    """The share of the picture that is not white."""
    picture = imread(path)[..., :3]
    return float((picture.mean(-1) < 0.99).mean())


def test_a_bar_has_its_interval_and_more_bars_are_a_wider_picture(tmp_path):
    one = bar_chart([Bar(label="a", estimate=estimate(0.8, 0.7, 0.9))], tmp_path / "one.png", title="accuracy")
    many = [Bar(label=f"judge {number}", estimate=estimate(number / 12, 0.0, 1.0)) for number in range(12)]
    wide = bar_chart(many, tmp_path / "many.png", title="accuracy")
    assert imread(wide).shape[1] > imread(one).shape[1]
    assert ink(one) > 0.01


@pytest.mark.parametrize(
    "bars",
    [
        [],
        [Bar(label="none", estimate=None, reason="one person alone")],
        [Bar(label="none", estimate=estimate(None))],
        [Bar(label="point", estimate=estimate(0.5))],
        [Bar(label="negative", estimate=estimate(-0.4, -0.8, 0.1))],
        [Bar(label="zero", estimate=estimate(0.0, 0.0, 0.0))],
        [Bar(label=name, estimate=estimate(0.5, 0.4, 0.6)) for name in ODD],
    ],
    ids=["empty", "reason", "missing", "point", "negative", "zero", "odd names"],
)
def test_whatever_the_bars_a_picture_is_drawn(tmp_path, bars):
    path = bar_chart(bars, tmp_path / "deep" / "chart.png", title="kappa")
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "lines",
    [
        {},
        {"a": {}},
        {"a": {"0.00": None, "0.10": None}},
        {"a": {"0.00": 0.0, "0.30": 1.0}, "b": {"0.00": None, "0.30": 0.5}},
        {name: {"0.00": 0.5} for name in ODD},
    ],
    ids=["empty", "no rates", "not tested", "two", "odd names"],
)
def test_whatever_the_rates_lines_are_drawn(tmp_path, lines):
    path = line_chart(lines, tmp_path / "lines.png", mark=0.5)
    assert path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "people",
    [{}, {"a": {}}, {"a": {"kim": [0.9, 0.8], "lee": [0.7, 1.0]}}, {name: {"kim": [0.5, 0.5]} for name in ODD}],
)
def test_whatever_the_people_points_are_drawn(tmp_path, people):
    assert scatter_chart(people, tmp_path / "points.png").read_bytes().startswith(b"\x89PNG")


def test_more_judges_than_markers_are_drawn(tmp_path):
    lines = {f"judge {number}": {"0.00": 0.1, "0.30": 0.9} for number in range(15)}
    assert ink(line_chart(lines, tmp_path / "lines.png", mark=0.5)) > 0.02


def test_an_interval_shows_in_the_picture(tmp_path):
    without = bar_chart([Bar(label="a", estimate=estimate(0.5))], tmp_path / "a.png", title="t")
    within = bar_chart([Bar(label="a", estimate=estimate(0.5, 0.1, 0.9))], tmp_path / "b.png", title="t")
    assert not np.array_equal(imread(without), imread(within))


def test_the_settings_of_matplotlib_stay_as_they_were(tmp_path):
    before = dict(mpl.rcParams)
    bar_chart([Bar(label="a", estimate=estimate(0.5, 0.4, 0.6))], tmp_path / "a.png", title="t")
    line_chart({"a": {"0.00": 0.5}}, tmp_path / "b.png", mark=0.5)
    assert dict(mpl.rcParams) == before


def test_the_same_chart_is_the_same_picture(tmp_path):
    bars = [Bar(label="a", estimate=estimate(0.5, 0.4, 0.6))]
    first, second = (imread(bar_chart(bars, tmp_path / name, title="t")) for name in ("a.png", "b.png"))
    assert np.array_equal(first, second)
