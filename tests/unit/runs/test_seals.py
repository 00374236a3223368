from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.ratings import Failure, Rating
from calibrant.runs.seals import Seal
from calibrant.runs.tally import spread

values = st.one_of(st.booleans(), st.floats(0, 1), st.text(max_size=5), st.frozensets(st.text(max_size=3), max_size=3))
ratings = st.builds(
    lambda item, slot, value: Rating(item=item, criterion="c", rater="m", slot=slot, value=value),
    st.text(min_size=1, max_size=4),
    st.integers(0, 3),
    values,
)
placed = st.lists(st.tuples(st.integers(0, 50), ratings), max_size=12)
ONE = Rating(item="a", criterion="c", rater="m", instrument="i", value=0.5, explanation="Because.")


def sealed(rows):
    seal = Seal()
    for position, rating in rows:
        seal.add(position, rating)
    return str(seal)


@given(placed, st.randoms())
def test_the_order_of_ratings_does_not_matter(rows, random):
    shuffled = [*rows]
    random.shuffle(shuffled)
    assert sealed(rows) == sealed(shuffled)


@given(placed, st.integers(0, 50), ratings)
def test_one_rating_more_is_another_seal(rows, position, rating):
    assert sealed(rows) != sealed([*rows, (position, rating)])


@pytest.mark.parametrize(
    "change",
    [
        {"value": 0.75},
        {"value": True},
        {"item": "b"},
        {"criterion": "d"},
        {"rater": "n"},
        {"instrument": "j"},
        {"slot": 1},
        {"role": "vote"},
        {"status": "failed", "value": None, "failure": Failure(code="judge_timeout", message="late")},
    ],
)
def test_whatever_counts_is_under_the_seal(change):
    assert sealed([(0, ONE)]) != sealed([(0, replace(ONE, **change))])
    assert sealed([(0, ONE)]) != sealed([(1, ONE)])


def test_texts_are_not_under_the_seal_so_that_they_may_be_dropped():
    assert sealed([(0, ONE)]) == sealed([(0, replace(ONE, explanation=""))])
    failed = replace(ONE, status="failed", value=None, failure=Failure(code="judge_timeout", message="late"))
    other = replace(failed, failure=Failure(code="judge_timeout", message="another text"))
    assert sealed([(0, failed)]) == sealed([(0, other)])


def test_clusters_are_under_the_seal():
    first, second = Seal(), Seal()
    first.place(0, "kim")
    second.place(0, "lee")
    assert str(first) != str(second)
    assert str(Seal()) == f"sum-sha256:{0:064x}"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=200))
def test_a_distribution_counts_every_score_once(scores):
    import numpy as np

    found = spread(np.array(scores))
    assert sum(found.counts) == len(scores)
    assert len(found.values) == len(found.counts) <= 20
    assert (found.width == 0) == (len({*scores}) <= 12)


def test_a_distribution_of_few_scores_is_exact_and_of_many_in_bins():
    import numpy as np

    assert spread(np.array([0.5, 1.0, 0.5])).to_json() == {"values": [0.5, 1.0], "counts": [2, 1], "width": 0.0}
    binned = spread(np.linspace(0, 1, 101))
    assert (len(binned.values), binned.width, binned.values[0], binned.values[-1]) == (20, 0.05, 0.025, 0.975)
    assert spread(np.array([])).to_json() == {"values": [], "counts": [], "width": 0.0}
