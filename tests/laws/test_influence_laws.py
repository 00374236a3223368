"""What leaving a judge out changes, against the plain way: the jury aggregated anew without it."""

from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import Failure, Rating
from calibrant.aggregation import build_aggregation_strategy
from calibrant.metrics import leave_one_out

few = settings(max_examples=60, deadline=None)
vote = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
tables = st.integers(2, 9).flatmap(lambda size: st.lists(st.lists(vote, min_size=size, max_size=size), min_size=1))
methods = st.sampled_from(["majority_vote", "median", "average"])


def ratings(table):
    return [
        Rating(
            item=f"i{item}",
            criterion="c",
            rater=f"m{slot}",
            slot=slot,
            role="vote",
            status="failed" if value is None else "rated",
            value=value,
            failure=Failure(code="judge_timeout", message="slow") if value is None else None,
        )
        for item, row in enumerate(table)
        for slot, value in enumerate(row)
    ]


def plainly(row, method):
    """The jury's score, or None below the quorum of more than half."""
    outputs = [{"error": "x"} if value is None else {"score": value} for value in row]
    if sum(value is not None for value in row) < len(row) // 2 + 1:
        return None
    return build_aggregation_strategy(method).aggregate(outputs, len(outputs))["score"]


@given(tables, methods)
@few
def test_every_influence_is_that_of_the_jury_aggregated_anew(table, method):
    found = leave_one_out(ratings(table), aggregation=method)
    assert [one.slot for one in found] == list(range(len(table[0])))
    for one in found:
        pairs = [(plainly(row, method), plainly([*row[: one.slot], *row[one.slot + 1 :]], method)) for row in table]
        decided = [(before, after) for before, after in pairs if before is not None and after is not None]
        assert one.changed.coverage.rated == len(decided)
        assert one.changed.coverage.failed == len(pairs) - len(decided)
        if decided:
            assert one.changed.value == pytest.approx(fmean((a >= 0.5) != (b >= 0.5) for a, b in decided))
            assert one.shift.value == pytest.approx(fmean(a - b for a, b in decided))
            assert one.pass_rate_without.value == pytest.approx(fmean(b >= 0.5 for _, b in decided))
        else:
            assert one.changed.value is None
            assert one.changed.reason


@given(st.integers(3, 9), st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=6), methods)
@few
def test_of_judges_that_agree_none_changes_anything(size, values, method):
    for one in leave_one_out(ratings([[value] * size for value in values]), aggregation=method):
        assert (one.changed.value, one.shift.value) == (0.0, 0.0)


@given(tables)
@few
def test_the_order_of_the_votes_does_not_matter(table):
    votes = ratings(table)
    first = [(one.rater, one.changed.value, one.shift.value) for one in leave_one_out(votes)]
    turned = [(one.rater, one.changed.value, one.shift.value) for one in leave_one_out(reversed(votes))]
    for (rater, changed, shift), (other, changed_too, shift_too) in zip(first, turned, strict=True):
        assert (rater, changed) == (other, changed_too)
        assert (shift is None and shift_too is None) or shift == pytest.approx(shift_too)
