"""What holds of corrected rates, ceilings and the alternative annotator test whatever people and judges said."""

import math
import random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from calibrant.agreement import (
    AltTestSettings,
    RatingCube,
    Resampling,
    alt_test,
    ceiling_and_floor,
    ceiling_and_floor_by_vote,
    compare_judges,
    corrected_rate,
    disagreements,
)

QUICK = AltTestSettings(min_items_per_human=2, resampling=Resampling(resamples=200))
NAMES = ["judge", "ann", "bob", "cem"]


@st.composite
def traffic(draw):
    """A judge on everything and labels on some of it."""
    n = draw(st.integers(4, 60))
    judge = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    human = draw(st.lists(st.one_of(st.none(), st.booleans()), min_size=n, max_size=n))
    return judge, human


@st.composite
def studies(draw, labels=("x", "y", "z")):
    n = draw(st.integers(2, 14))
    answer = st.one_of(st.none(), st.sampled_from(labels))
    return {name: dict(enumerate(draw(st.lists(answer, min_size=n, max_size=n)))) for name in NAMES}


def estimates(found):
    return [found.estimate, found.judge_rate, found.label_rate, *found.methods.values()]


@settings(max_examples=80, deadline=None)
@given(traffic(), st.sampled_from(["same_traffic", "elsewhere"]))
def test_every_rate_is_a_share_around_its_bounds_or_has_a_reason(given_traffic, source):
    for one in estimates(corrected_rate(*given_traffic, labels_from=source)):
        assert (one.value is None) == (one.value is None and bool(one.reason))
        if one.value is not None:
            assert 0.0 <= one.value <= 1.0
            assert one.lower is None or 0.0 <= one.lower <= one.value <= one.upper <= 1.0


@settings(max_examples=60, deadline=None)
@given(traffic(), st.randoms(use_true_random=False))
def test_the_order_of_items_changes_no_rate(given_traffic, shuffle):
    judge, human = given_traffic
    order = list(range(len(judge)))
    shuffle.shuffle(order)
    first = corrected_rate(judge, human)
    second = corrected_rate([judge[place] for place in order], [human[place] for place in order])
    for one, other in zip(estimates(first), estimates(second), strict=True):
        assert (one.value is None) == (other.value is None)
        assert one.value is None or math.isclose(one.value, other.value, abs_tol=1e-9)


@settings(max_examples=60, deadline=None)
@given(traffic())
def test_clusters_of_one_item_each_leave_the_value(given_traffic):
    judge, human = given_traffic
    alone = corrected_rate(judge, human, clusters=list(range(len(judge))))
    plain = corrected_rate(judge, human)
    assert (alone.estimate.value is None) == (plain.estimate.value is None)
    assert plain.estimate.value is None or math.isclose(alone.estimate.value, plain.estimate.value, abs_tol=1e-12)


@settings(max_examples=60, deadline=None)
@given(traffic())
def test_labels_are_worth_at_least_themselves(given_traffic):
    found = corrected_rate(*given_traffic)
    assert found.worth is None or found.worth >= found.labels - 1e-9


@settings(max_examples=60, deadline=None)
@given(traffic())
def test_labels_on_everything_are_the_answer(given_traffic):
    judge, human = given_traffic
    labels = [bool(one) for one in human]
    assert math.isclose(corrected_rate(judge, labels).estimate.value, sum(labels) / len(labels), abs_tol=1e-12)


@settings(max_examples=40, deadline=None)
@given(studies())
def test_bounds_are_finite_or_have_reasons(ratings):
    cube = RatingCube.of(ratings)
    for function in (ceiling_and_floor, ceiling_and_floor_by_vote):
        found = function(cube, "judge")
        for one in (found.judge, found.ceiling, found.floor, found.relative):
            assert one.reason if one.value is None else math.isfinite(one.value)


@settings(max_examples=40, deadline=None)
@given(studies())
def test_the_best_constant_is_no_worse_than_any_other(ratings):
    cube = RatingCube.of(ratings)
    found = ceiling_and_floor(cube, "judge")
    assume(found.floor.value is not None)
    people = [name for name in NAMES[1:] if set(cube.answers(name)) & set(cube.answers("judge"))]
    counts = {value: sum(list(cube.answers(name).values()).count(value) for name in people) for value in cube.values}
    assert counts[found.constant] == max(counts.values())


@settings(max_examples=40, deadline=None)
@given(studies(), st.randoms(use_true_random=False))
def test_the_order_of_items_and_people_changes_nothing_of_the_alt_test(ratings, shuffle):
    items = list(ratings["judge"])
    shuffle.shuffle(items)
    turned = {name: {item: ratings[name][item] for item in items} for name in ("cem", "judge", "bob", "ann")}
    first, second = alt_test(ratings, "judge", settings=QUICK), alt_test(turned, "judge", settings=QUICK)
    assert first.outcome == second.outcome
    assert dict(first.winning_rate) == dict(second.winning_rate)
    assert first.human_advantage_probabilities == second.human_advantage_probabilities


@settings(max_examples=40, deadline=None)
@given(studies())
def test_on_every_item_the_judge_or_the_person_does_at_least_as_well(ratings):
    for one in alt_test(ratings, "judge", settings=QUICK).annotators:
        assert one.judge_advantage + one.human_advantage >= 1.0 - 1e-12
        assert 0.0 < one.p <= one.p_bh <= one.p_by <= 1.0


@settings(max_examples=40, deadline=None)
@given(studies())
def test_what_is_dropped_and_what_is_kept_make_up_all_items(ratings):
    found = alt_test(ratings, "judge", settings=QUICK)
    dropped = [item for items in found.dropped_items.values() for item in items]
    assert len(set(dropped)) == len(dropped)
    assert len(dropped) + found.items == len(ratings["judge"])


@settings(max_examples=30, deadline=None)
@given(studies())
def test_differences_of_judges_turn_their_sign_with_the_judges(ratings):
    cube = RatingCube.of(ratings)
    found = compare_judges(cube, ["judge", "ann"], humans=["bob", "cem"])
    again = compare_judges(cube, ["ann", "judge"], humans=["bob", "cem"])
    assert found.reason == again.reason
    for one, other in zip(found.differences, again.differences, strict=True):
        sign = 1.0 if one.first == other.first else -1.0
        assert math.isclose(one.difference.value, sign * other.difference.value, abs_tol=1e-12)


@settings(max_examples=30, deadline=None)
@given(studies(), st.sampled_from([0.6, 0.75, 1.0]))
def test_disagreements_never_name_an_item_twice(ratings, share):
    found = disagreements(RatingCube.of(ratings), "judge", agreement=share)
    listed = [row["item"] for row in found.to_rows()]
    assert len(set(listed)) == len(listed) == found.compared - found.agreed


def test_a_judge_that_mirrors_people_needs_no_margin_and_one_that_guesses_does():
    draw = random.Random(11)
    truth = [draw.choice("abc") for _ in range(300)]

    def rater(right):
        return {item: one if draw.random() < right else draw.choice("abc") for item, one in enumerate(truth)}

    people = {name: rater(0.75) for name in ("ann", "bob", "cem", "dee")}
    margins = [alt_test({**people, "judge": rater(right)}, "judge").break_even_epsilon for right in (0.95, 0.75, 0.4)]
    assert margins == sorted(margins)
    assert margins[0] == 0.0
    assert margins[2] > 0.2
