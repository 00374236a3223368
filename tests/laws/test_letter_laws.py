"""Letters say exactly which systems can be told apart, whatever the pattern of differences."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from calibrant.retrieval.letters import compact_letters


@st.composite
def patterns(draw):
    names = [f"s{number}" for number in range(draw(st.integers(1, 7)))]
    pairs = list(combinations(names, 2))
    return names, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


@given(patterns())
def test_two_share_a_letter_if_and_only_if_they_cannot_be_told_apart(pattern):
    names, different = pattern
    letters = compact_letters(names, different)
    for pair in combinations(names, 2):
        assert bool(set(letters[pair[0]]) & set(letters[pair[1]])) == (pair not in different)


@given(patterns())
def test_every_system_has_a_letter_and_the_best_has_the_first(pattern):
    names, different = pattern
    letters = compact_letters(names, different)
    assert all(letters.values())
    assert "a" in letters[names[0]]


@given(patterns())
def test_the_order_of_the_pairs_and_within_them_does_not_matter(pattern):
    names, different = pattern
    turned = [(second, first) for first, second in reversed(different)]
    assert compact_letters(names, different) == compact_letters(names, turned)


@given(patterns())
def test_no_letter_is_there_for_nothing(pattern):
    names, different = pattern
    letters = compact_letters(names, different)
    groups = {letter: {name for name in names if letter in letters[name]} for letter in "".join(letters.values())}
    assert not any(one < other for one in groups.values() for other in groups.values())
