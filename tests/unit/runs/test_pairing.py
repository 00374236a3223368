import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import brief, items, kept, share

from calibrant import metric
from calibrant.runs.likeness import unlikeness
from calibrant.runs.pairing import difference, pairs_of
from calibrant.runs.tally import Outcomes

RATED, FAILED, SKIPPED, NOT_APPLICABLE = 1, 2, 3, 4


def outcomes(values, *, names=None, clusters=None):
    """Outcomes of these scores; "failed", "skipped" and "absent" are items that were not rated."""
    words = {"failed": FAILED, "skipped": SKIPPED, "absent": NOT_APPLICABLE}
    numbers = [np.nan if isinstance(value, str) else float(value) for value in values]
    return Outcomes(
        items=names or [f"q{place}" for place in range(len(values))],
        scores=np.array(numbers),
        passed=np.array([-1 if isinstance(value, str) else int(value >= 0.5) for value in values], dtype=np.int8),
        statuses=np.array(
            [words.get(value, RATED) if isinstance(value, str) else RATED for value in values], dtype=np.int8
        ),
        clusters=clusters,
    )


def test_items_are_paired_by_name_whatever_their_order():
    found = pairs_of(outcomes([0.1, 0.2, 0.3]), outcomes([0.9, 0.8, 0.7], names=["q2", "q1", "x"]), "score")
    assert found.items == ["q1", "q2"]
    assert found.differences.tolist() == pytest.approx([0.6, 0.6])


def test_what_was_not_rated_is_lost_to_its_side():
    found = pairs_of(outcomes([1, "failed", "skipped", 0]), outcomes([1, 1, 1, "failed"]), "pass_rate")
    assert (found.items, found.lost_a, found.lost_b, found.lost) == (["q0"], ("q1", "q2"), ("q3",), 3)


def test_lost_in_both_counts_once():
    found = pairs_of(outcomes(["failed", 1]), outcomes(["failed", 1]), "pass_rate")
    assert (found.lost_a, found.lost_b, found.lost) == (("q0",), ("q0",), 1)


def test_what_the_question_does_not_apply_to_is_left_out():
    found = pairs_of(outcomes(["absent", 1, 1]), outcomes([1, "absent", 0]), "pass_rate")
    assert (found.items, found.lost) == (["q2"], 0)
    assert found.worst_case == (-1.0, -1.0)


def test_nothing_in_common_is_no_estimate():
    found = pairs_of(outcomes([1]), outcomes([1], names=["other"]), "pass_rate")
    assert (found.items, found.worst_case) == ([], None)
    assert difference(found).reason == "no item was rated in both runs"


def test_zeros_and_ones_are_binary_whatever_they_are_called():
    assert pairs_of(outcomes([0, 1]), outcomes([1, 1]), "score").is_binary
    assert not pairs_of(outcomes([0, 0.5]), outcomes([1, 1]), "score").is_binary


def test_one_side_of_the_interval_is_asked_for():
    found = pairs_of(outcomes([0, 1] * 20), outcomes([1, 1] * 20), "pass_rate")
    lower, upper = difference(found, side="lower"), difference(found, side="upper")
    assert (lower.upper, upper.lower) == (None, None)
    both = difference(found)
    assert both.lower < lower.lower < both.value < upper.upper < both.upper


def test_clusters_widen_the_interval():
    first = [0.2, 0.2, 0.8, 0.8] * 10
    second = [0.4, 0.4, 0.7, 0.7] * 10
    names = [f"c{place // 2}" for place in range(40)]
    plain = difference(pairs_of(outcomes(first), outcomes(second), "score"))
    robust = difference(pairs_of(outcomes(first, clusters=names), outcomes(second, clusters=names), "score"))
    assert plain.value == pytest.approx(robust.value)
    assert robust.upper - robust.lower > plain.upper - plain.lower
    assert robust.method.startswith("paired")


scores = st.lists(st.one_of(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.just("failed")), min_size=1, max_size=30)


@given(scores, st.randoms())
def test_a_difference_turns_its_sign_when_the_runs_change_places(first, random):
    second = [random.choice([0.0, 0.5, 1.0]) for _ in first]
    for quantity in ("score", "pass_rate"):
        there = difference(pairs_of(outcomes(first), outcomes(second), quantity))
        back = difference(pairs_of(outcomes(second), outcomes(first), quantity))
        assert there.coverage == back.coverage
        if there.value is None:
            assert back.value is None
            continue
        assert there.value == pytest.approx(-back.value)
        if there.lower is not None and there.upper is not None:
            assert (there.lower, there.upper) == (pytest.approx(-back.upper), pytest.approx(-back.lower))
            assert there.lower <= there.value + 1e-12
            assert there.value <= there.upper + 1e-12


@given(scores)
def test_the_worst_case_holds_the_value_that_all_items_would_have_given(first):
    second = [1.0 for _ in first]
    found = pairs_of(outcomes(first), outcomes(second), "score")
    low, high = found.worst_case
    for guess in (0.0, 0.5, 1.0):
        true = np.mean([1.0 - (guess if one == "failed" else one) for one in first])
        assert low - 1e-12 <= true <= high + 1e-12


def test_like_runs_have_nothing_unlike():
    assert unlikeness(kept(items(), [brief]), kept(items(), [brief]), ["brief"]) == []


def test_other_inputs_under_the_same_ids_are_told():
    rows = [{**item, "query": "Another?"} for item in items(4)]
    [found] = unlikeness(kept(items(4), [brief]), kept(rows, [brief]), ["brief"])
    assert found.text.endswith("their ids are the same, but their inputs (or their order) are not")


def test_items_that_only_one_has_are_counted_and_shown():
    first, second = kept(items(9), [brief]), kept(items(4), [brief])
    [found] = unlikeness(first, second, ["brief"])
    assert f"5 only in {first.id} (q4, q5, q6, ...)" in found.text
    assert found.to_json() == {"kind": "dataset", "metric": None, "text": found.text}


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"threshold": 0.9}, "threshold 0.5 -> 0.9"),
        ({"higher_is_better": False}, "higher_is_better True -> False"),
        ({"strict_mode": True}, "strict_mode False -> True"),
    ],
)
def test_every_setting_that_differs_is_named(settings, told):
    first, second = kept(items(3), [share]), kept(items(3), [metric(share, name="share", **settings)])
    [found] = unlikeness(first, second, ["share"])
    assert (found.kind, found.metric) == ("instrument", "share")
    assert told in found.text
