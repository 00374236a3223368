import itertools

import pytest

from calibrant.aggregation import LabelMajorityAggregationStrategy, majority_label
from calibrant.errors import InputError, RatingError, UnknownNameError


def test_the_majority_wins():
    vote = majority_label(["rude", "polite", "polite"])
    assert vote.label == "polite"
    assert vote.counts == {"polite": 2, "rude": 1}
    assert not vote.tied


@pytest.mark.parametrize("labels", list(itertools.permutations(["rude", "polite", "angry", "rude", "polite"], 5))[::17])
def test_a_tie_is_the_alphabetically_first_whatever_the_order(labels):
    vote = majority_label(labels)
    assert vote.label == "polite"
    assert vote.leading == ["polite", "rude"]
    assert vote.tied


def test_a_tie_may_abstain():
    assert majority_label(["a", "b"], ties="abstain").label is None
    assert majority_label(["a", "b", "b"], ties="abstain").label == "b"


def test_no_labels_have_no_majority():
    with pytest.raises(InputError, match="there are no labels to take a majority of"):
        majority_label([])


def test_unknown_tie_policies_are_refused():
    with pytest.raises(UnknownNameError, match="unknown tie policy 'last'; expected one of: abstain, first"):
        majority_label(["a"], ties="last")
    with pytest.raises(UnknownNameError, match="unknown tie policy 'last'"):
        LabelMajorityAggregationStrategy(ties="last")


def test_a_jury_of_labels_gives_a_real_judge_s_result():
    votes = [{"score": "b", "explanation": "1"}, {"score": "a", "explanation": "2"}, {"score": "b", "explanation": "3"}]
    result = LabelMajorityAggregationStrategy().aggregate([*votes, {"error": "down"}], 4)
    assert (result["score"], result["explanation"], result["agreement"]) == ("b", "1", 2 / 3)
    assert result["score_distribution"] == {"a": 1, "b": 2}
    assert result["aggregation_method"] == "majority_vote"
    assert not result["tied"]


def test_a_jury_that_abstains_on_a_tie_fails_with_its_code():
    with pytest.raises(RatingError, match="the judges are level between a, b") as error:
        LabelMajorityAggregationStrategy(ties="abstain").aggregate([{"score": "b"}, {"score": "a"}], 2)
    assert error.value.code == "jury_tied"


def sets_that_print_unlike():
    """Two equal sets whose members come in another order: which ones do depends on the process's hashes."""
    words = [f"w{number}" for number in range(60)]
    pairs = ((frozenset([one, other]), frozenset([other, one])) for one, other in itertools.combinations(words, 2))
    return next(pair for pair in pairs if str(pair[0]) != str(pair[1]))


def test_equal_sets_of_labels_are_one_label_however_they_print():
    one, other = sets_that_print_unlike()
    votes = [{"score": frozenset({"a1"})}, {"score": one}, {"score": other}]
    result = LabelMajorityAggregationStrategy().aggregate(votes, 3)
    shown = ", ".join(sorted(one))
    assert (result["score"], result["tied"], result["agreement"]) == (one, False, 2 / 3)
    assert result["score_distribution"] == {"a1": 1, shown: 2}


def test_a_set_and_a_lone_label_are_counted_apart():
    result = LabelMajorityAggregationStrategy().aggregate([{"score": frozenset({"b", "a"})}, {"score": "z"}], 2)
    assert (result["score"], result["tied"]) == (frozenset({"a", "b"}), True)


def test_labels_and_numbers_have_no_majority_together():
    with pytest.raises(InputError, match=r"some judges gave labels and others numbers, such as 0\.5"):
        LabelMajorityAggregationStrategy().aggregate([{"score": "calm"}, {"score": 0.5}, {"score": "calm"}], 3)
