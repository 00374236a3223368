import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.estimates import Coverage, Estimate
from calibrant.report.drawing import Scale, distribution, in_words, interval, label_counts, outcome_bar


def estimate(value, lower=None, upper=None, *, worst=None, reason=""):
    coverage = Coverage(rated=10, failed=0)
    made = Estimate(
        value=value, lower=lower, upper=upper, method="wilson", coverage=coverage, worst_case=worst, reason=reason
    )
    return made.to_json()


def numbers(drawn, name, kind):
    """The attribute `name` of every drawn shape of that class."""
    shapes = [shape for shape in re.findall(r"<(?:line|rect|circle|text)[^>]*>", drawn) if f'class="{kind}"' in shape]
    return [float(re.search(rf' {name}="([^"]+)"', shape)[1]) for shape in shapes]


def test_an_interval_lies_where_its_numbers_are():
    drawn = interval(estimate(0.5, 0.25, 0.75), label="x")
    on = Scale()
    assert numbers(drawn, "cx", "point") == [on.place(0.5)]
    assert (numbers(drawn, "x1", "range"), numbers(drawn, "x2", "range")) == ([on.place(0.25)], [on.place(0.75)])


@given(st.floats(-5, 5), st.floats(-1, 0.4), st.floats(0.5, 2))
def test_every_place_is_on_the_drawing_and_in_order(value, low, high):
    on = Scale(low=low, high=high)
    assert on.place(low) <= on.place(value) <= on.place(high)
    assert 0 < on.place(value) < on.width


def test_what_lies_beyond_the_scale_ends_at_its_edge():
    drawn = interval(estimate(0.98, 0.9, 1.03), label="x")
    assert numbers(drawn, "x2", "range") == [Scale().place(1.0)]


def test_a_bound_that_is_missing_reaches_to_the_end():
    on = Scale()
    assert numbers(interval(estimate(0.5, lower=0.4), label="x"), "x2", "range") == [on.place(1.0)]
    assert numbers(interval(estimate(0.5, upper=0.6), label="x"), "x1", "range") == [on.place(0.0)]
    assert numbers(interval(estimate(0.5), label="x"), "x1", "range") == []


def test_a_worst_case_is_drawn_where_it_says_more():
    assert numbers(interval(estimate(0.5, worst=(0.4, 0.6)), label="x"), "x1", "worst") == [Scale().place(0.4)]
    assert numbers(interval(estimate(0.5, worst=(0.5, 0.5)), label="x"), "x1", "worst") == []


def test_no_estimate_is_an_empty_scale_that_says_why():
    drawn = interval(estimate(None, reason="no item <was> rated"), label="brief")
    assert numbers(drawn, "cx", "point") == []
    assert 'aria-label="brief: no estimate, no item &lt;was&gt; rated"' in drawn


def test_a_threshold_is_a_line_across():
    assert numbers(interval(estimate(0.5), label="x", threshold=0.8), "x1", "threshold") == [Scale().place(0.8)]


def test_a_difference_has_zero_in_its_middle():
    scale = Scale.around_zero([-0.02, 0.04])
    drawn = interval(estimate(0.01, -0.02, 0.04), scale=scale, label="x")
    assert numbers(drawn, "x1", "zero") == [scale.width / 2]
    assert scale.place(0) == scale.width / 2
    assert re.findall(r">(-?[\d.]+)</text>", drawn) == ["-0.05", "0", "0.05"]


@pytest.mark.parametrize(
    ("values", "end"), [([], 0.1), ([0.0], 0.01), ([0.011], 0.02), ([-0.6, 0.2], 1.0), ([250.0], 250.0)]
)
def test_a_scale_around_zero_ends_at_a_round_number(values, end):
    scale = Scale.around_zero(values)
    assert (scale.low, scale.high) == (-end, end)


def test_everything_drawn_is_also_said():
    assert in_words(estimate(0.5)) == "0.500"
    assert in_words(estimate(0.5, 0.4, 0.6)) == "0.500, 95% interval 0.400 to 0.600"
    assert in_words(estimate(0.5, 0.4, 0.6, worst=(0.3, 0.7))).endswith("worst case 0.300 to 0.700")
    for drawn in (
        interval(estimate(0.5, 0.4, 0.6), label="brief"),
        distribution({"values": [0.5], "counts": [3], "width": 0.0}, label="brief", threshold=0.5),
        label_counts({"values": ["kind"], "counts": [3], "width": 0.0}, label="brief"),
        outcome_bar(1, 2, 3, label="brief"),
    ):
        assert drawn.startswith("<svg ")
        assert 'role="img"' in drawn
        assert 'aria-label="brief: ' in drawn


def test_bars_are_as_tall_as_their_counts_and_filled_when_they_pass():
    spread = {"values": [0.0, 0.5, 1.0], "counts": [2, 4, 8], "width": 0.0}
    drawn = distribution(spread, label="x", threshold=0.5)
    assert len(numbers(drawn, "height", "fail")) == 1
    low, high = numbers(drawn, "height", "pass")
    assert high == pytest.approx(2 * low, abs=0.1)
    assert re.findall(r'class="count">(\d+)<', drawn) == ["2", "4", "8"]


def test_a_count_stands_over_the_threshold_that_would_strike_it_through():
    drawn = distribution({"values": [0.0, 0.5, 1.0], "counts": [14, 27, 19], "width": 0.0}, label="x", threshold=0.5)
    assert drawn.index('class="threshold"') < drawn.index(">14<") < drawn.index(">27<") < drawn.index(">19<")


def test_polarity_turns_what_is_filled():
    spread = {"values": [0.0, 1.0], "counts": [1, 3], "width": 0.0}
    drawn = distribution(spread, label="x", threshold=0.5, higher_is_better=False)
    assert len(numbers(drawn, "height", "fail")) == len(numbers(drawn, "height", "pass")) == 1
    assert numbers(drawn, "height", "fail") > numbers(drawn, "height", "pass")
    assert len(numbers(distribution(spread, label="x", threshold=None), "height", "pass")) == 2


def test_one_item_among_thousands_still_shows():
    drawn = distribution({"values": [0.0, 1.0], "counts": [1, 100_000], "width": 0.0}, label="x", threshold=0.5)
    assert min(numbers(drawn, "height", "fail")) >= 1.0


def test_bins_stay_within_the_drawing_and_empty_ones_are_empty():
    spread = {"values": [0.025 + 0.05 * place for place in range(20)], "counts": [*range(20)], "width": 0.05}
    drawn = distribution(spread, label="x", threshold=0.5)
    lefts = numbers(drawn, "x", "fail") + numbers(drawn, "x", "pass")
    assert len(lefts) == 20
    assert min(lefts) >= 0
    assert max(lefts) <= 320
    assert 'class="count"' not in drawn
    assert min(numbers(drawn, "height", "fail")) == 0.0


def test_no_scores_are_an_empty_drawing():
    drawn = distribution({"values": [], "counts": [], "width": 0.0}, label="x", threshold=None)
    assert 'aria-label="x: no scores"' in drawn
    assert "<rect" not in drawn


def test_labels_are_shortened_escaped_and_counted():
    spread = {"values": ["<b>", "a label that is long"], "counts": [4, 2], "width": 0.0}
    drawn = label_counts(spread, label="tone")
    assert "&lt;b&gt;" in drawn
    assert "a label that is l…" in drawn
    first, second = numbers(drawn, "width", "pass")
    assert first == pytest.approx(2 * second)
    assert 'aria-label="tone: 4 &lt;b&gt;, 2 a label that is long"' in drawn


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_wins_ties_and_losses_share_the_bar(wins, ties, losses):
    drawn = outcome_bar(wins, ties, losses, label="x")
    widths = [float(one) for one in re.findall(r'<rect[^>]* width="([\d.]+)"', drawn)]
    assert len(widths) == sum(count > 0 for count in (wins, ties, losses))
    if widths:
        assert sum(widths) == pytest.approx(119, abs=0.3)
