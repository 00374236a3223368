import pytest

from calibrant import Failure, Rating, score_agg
from calibrant.aggregation import what_if_verdicts, what_if_votes
from calibrant.errors import InputError, UnknownNameError


def vote(slot, value):
    return Rating(item="a", criterion="polite", rater="m", slot=slot, role="vote", value=value)


def test_stored_votes_are_scored_under_every_strategy():
    votes = [vote(0, 1.0), vote(1, 1.0), vote(2, 0.0), vote(3, 0.4)]
    assert what_if_votes(votes) == {"majority_vote": 1.0, "median": 1.0, "average": 0.6}


def test_failed_votes_stay_out():
    failure = Failure(code="judge_timeout", message="slow")
    failed = Rating(item="a", criterion="polite", rater="m", slot=1, role="vote", status="failed", failure=failure)
    assert what_if_votes([vote(0, 1.0), failed, vote(2, 0.5)])["average"] == 0.75


def test_outputs_and_bare_scores_do_too():
    assert what_if_votes([{"score": 1.0}, {"error": "down"}, 0.5])["median"] == 1.0


def test_votes_that_all_failed_cannot_be_scored():
    with pytest.raises(InputError, match="none of the 1 judges gave a valid result"):
        what_if_votes([{"error": "down"}])


def test_stored_verdicts_are_scored_at_every_temperature():
    scores = what_if_verdicts(["fully", "none", 0.7])
    assert scores == {t: score_agg([1.0, 0.0, 0.7], t) for t in (0.1, 0.3, 0.5, 0.7, 1.0)}


def test_temperatures_and_penalty_can_be_chosen():
    assert what_if_verdicts(["fully", "none"], temperatures=[0.5], penalty=0.0) == {0.5: pytest.approx(0.5)}


def test_an_unknown_verdict_is_named():
    with pytest.raises(UnknownNameError, match="unknown verdict 'maybe'"):
        what_if_verdicts(["maybe"])


def test_labels_have_no_what_if_and_the_error_says_what_has():
    with pytest.raises(InputError, match=r"\(for labels use majority_label\) has 2 problems"):
        what_if_votes(["calm", "angry"])
