import json
import random

import pytest

from calibrant.agreement import AltTestSettings, RatingCube, Resampling, alt_test
from calibrant.errors import InputError, UnknownNameError


def study(items=120, humans=4, seed=1, labels="abc", judge=0.8, human=0.8):
    draw = random.Random(seed)
    truth = [draw.choice(labels) for _ in range(items)]
    rights = {"judge": judge, **{f"h{number}": human for number in range(humans)}}
    return {
        rater: {item: one if draw.random() < right else draw.choice(labels) for item, one in enumerate(truth)}
        for rater, right in rights.items()
    }


def test_a_judge_as_good_as_people_passes_and_a_bad_one_fails():
    good, bad = alt_test(study(judge=0.95), "judge"), alt_test(study(judge=0.1), "judge")
    assert (good.outcome, good.passed, good.winning_rate_at_epsilon) == ("passed", True, 1.0)
    assert (bad.outcome, bad.passed, bad.winning_rate_at_epsilon) == ("failed", False, 0.0)
    assert str(good).startswith(
        "judge: passed at epsilon 0.2, winning against 4 of 4 annotators; advantage probability 0."
    )
    assert good.break_even_epsilon < 0.2 < bad.break_even_epsilon


def test_the_winning_rate_has_every_epsilon_of_the_grid_and_the_one_that_was_asked_for():
    grid = ["0.00", "0.05", "0.10", "0.15", "0.20", "0.25", "0.30"]
    assert list(alt_test(study(), "judge").winning_rate) == grid
    asked = alt_test(study(), "judge", settings=AltTestSettings(epsilon=0.12))
    assert list(asked.winning_rate) == [*grid[:3], "0.12", *grid[3:]]
    assert asked.winning_rate_at_epsilon == asked.winning_rate["0.12"]


def test_the_break_even_epsilon_is_where_the_judge_begins_to_pass():
    found = alt_test(study(), "judge")
    edge = found.break_even_epsilon
    assert alt_test(study(), "judge", settings=AltTestSettings(epsilon=edge + 1e-5)).passed
    assert not alt_test(study(), "judge", settings=AltTestSettings(epsilon=edge - 1e-5)).passed


def test_a_judge_that_never_passes_has_no_break_even_epsilon():
    same = dict.fromkeys(range(40), "x")
    other = dict.fromkeys(same, "y")
    found = alt_test({"judge": other, "a": same, "b": same, "c": same}, "judge")
    assert found.break_even_epsilon is None
    assert found.winning_rate_at_epsilon == 0.0


def test_a_judge_equal_to_unanimous_people_wins_at_every_margin_above_zero():
    same = {item: "xy"[item % 2] for item in range(40)}
    found = alt_test({"judge": same, "a": same, "b": same, "c": same}, "judge")
    assert found.winning_rate == {"0.00": 0.0, **dict.fromkeys(["0.05", "0.10", "0.15", "0.20", "0.25", "0.30"], 1.0)}
    assert all(0.0 < one.p < 1e-300 for one in found.annotators)
    assert found.advantage_probability.value == found.advantage_probability.upper == 1.0
    assert 0.85 < found.advantage_probability.lower < 1.0
    assert found.stability.same_outcome == 1.0


def test_each_person_has_both_probabilities_and_all_p_values():
    found = alt_test(study(), "judge")
    assert [one.annotator for one in found.annotators] == ["h0", "h1", "h2", "h3"]
    assert found.human_advantage_probabilities["h0"] == [
        found.annotators[0].judge_advantage,
        found.annotators[0].human_advantage,
    ]
    for one in found.annotators:
        assert one.n == 120
        assert one.p <= one.p_bh <= one.p_by <= 1.0
        assert one.p <= one.p_holm
    mean = sum(one.judge_advantage for one in found.annotators) / 4
    assert found.advantage_probability.value == pytest.approx(mean)
    assert found.advantage_probability.lower < mean < found.advantage_probability.upper


def test_what_is_dropped_is_named_with_the_reason():
    ratings = study(items=60)
    del ratings["judge"][0]
    for human in ("h1", "h2", "h3"):
        del ratings[human][1]
    ratings["h3"] = {item: ratings["h3"][item] for item in range(2, 22)}
    found = alt_test(ratings, "judge")
    assert found.items == 58
    assert found.dropped_items == {"the judge did not rate it": ("0",), "fewer than 2 people rated it": ("1",)}
    assert found.dropped_annotators == {
        "h3": "rated 20 of the items that are kept, and 30 are needed; still one of the rest for others"
    }
    assert [one.annotator for one in found.annotators] == ["h0", "h1", "h2"]
    assert str(found.advantage_probability.coverage) == "58 rated, 2 skipped"


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (study(humans=2), "2 people rated items, and the test needs 3"),
        (study(items=20), "nobody rated 30 items that the judge and at least 2 people rated"),
        ({**study(), "judge": {"other": "a"}}, "nobody rated 30 items that the judge and at least 2 people rated"),
    ],
)
def test_too_little_data_is_a_result_with_its_reason(ratings, reason):
    found = alt_test(ratings, "judge")
    assert (found.outcome, found.passed, found.reason) == ("not_tested", None, reason)
    assert set(found.winning_rate.values()) == {None}
    assert found.advantage_probability.value is None
    assert found.stability is None
    assert str(found) == f"judge: not tested, because {reason}"
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["outcome"] == "not_tested"


def test_the_numbers_of_people_and_items_can_be_chosen():
    settings = AltTestSettings(min_items_per_human=10, min_humans=2)
    assert alt_test(study(items=20, humans=2), "judge", settings=settings).outcome in {"passed", "failed"}
    three = AltTestSettings(min_humans_per_item=3)
    ratings = study(humans=3)
    del ratings["h0"][5]
    assert alt_test(ratings, "judge", settings=three).dropped_items == {"fewer than 3 people rated it": ("5",)}


def test_three_annotators_with_two_labels_are_warned_about():
    found = alt_test(study(humans=3, labels="yn"), "judge")
    assert found.warnings[0].startswith("three annotators and two labels (n, y): the judge loses an item only where")
    assert len({one.judge_advantage for one in found.annotators}) == 1
    assert not alt_test(study(humans=4, labels="yn"), "judge").warnings
    assert not alt_test(study(humans=3), "judge").warnings


def test_whole_numbers_taken_as_a_scale_are_warned_about():
    assert "whole numbers were taken as a scale" in alt_test(study(labels=[1, 2, 3]), "judge").warnings[0]
    settings = AltTestSettings(scoring="accuracy")
    assert not alt_test(study(labels=[1, 2, 3]), "judge", settings=settings).warnings
    assert alt_test(study(labels=[True, False]), "judge").scoring == "accuracy"


def test_too_few_tested_annotators_are_warned_about():
    ratings = study(items=60)
    for human in ("h2", "h3"):
        ratings[human] = {item: ratings[human][item] for item in range(10)}
    assert alt_test(ratings, "judge").warnings == ("only 2 of 4 annotators rated enough items to be tested",)


def test_free_texts_compared_exactly_are_warned_about():
    texts = {name: {item: f"{name} {item}" for item in range(50)} for name in ("judge", "a", "b", "c")}
    assert alt_test(texts, "judge").warnings == (
        "200 distinct answers are compared exactly: free texts agree only when they are identical",
    )


def test_ties_of_floats_are_ties():
    # 0.7 - 0.5 and 0.5 - 0.3 differ in their last bit, and are the same distance.
    rest, high, low = dict.fromkeys(range(40), 0.5), dict.fromkeys(range(40), 0.7), dict.fromkeys(range(40), 0.3)
    found = alt_test({"judge": high, "a": low, "b": rest, "c": rest}, "judge")
    assert found.human_advantage_probabilities["a"] == [1.0, 1.0]


def test_scorings_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="neg_rmse compares numbers, and the ratings are values such as 'a'"):
        alt_test(study(), "judge", settings=AltTestSettings(scoring="neg_rmse"))
    with pytest.raises(InputError, match="jaccard compares sets of labels"):
        alt_test(study(), "judge", settings=AltTestSettings(scoring="jaccard"))
    with pytest.raises(UnknownNameError, match="unknown scoring 'bleu'; expected one of: accuracy, jaccard, neg_rmse"):
        alt_test(study(), "judge", settings=AltTestSettings(scoring="bleu"))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"epsilon": -0.1}, "epsilon is a margin of at least 0 and below 1, not -0.1"),
        ({"epsilon": "0.2"}, "epsilon is a margin of at least 0 and below 1, not '0.2'"),
        ({"epsilon": 1.0}, "epsilon is a margin"),
        ({"q": 5}, "q must lie between 0 and 1"),
        ({"min_humans_per_item": 1}, "min_humans_per_item must be at least 2"),
        ({"min_items_per_human": 1}, "min_items_per_human must be at least 2"),
        ({"min_humans": 1}, "min_humans must be at least 2"),
    ],
)
def test_settings_that_make_no_sense_are_refused(changes, said):
    with pytest.raises(InputError, match=said):
        AltTestSettings(**changes)


def test_stability_is_said_in_words_that_are_no_p_value():
    found = alt_test(study(), "judge")
    assert found.stability.resamples == 2_000
    assert 0.5 <= found.stability.same_outcome <= 1.0
    assert str(found.stability).endswith("this is how much it hangs on the choice of items, and no error rate")
    assert found.stability == alt_test(study(), "judge").stability


def test_clusters_lower_the_stability_and_widen_the_interval():
    once = study(items=40, judge=0.75)
    often = {
        rater: {4 * item + copy: one for item, one in of.items() for copy in range(4)} for rater, of in once.items()
    }
    plain = alt_test(often, "judge")
    clustered = alt_test(RatingCube.of(often, clusters={item: item // 4 for item in range(160)}), "judge")
    assert clustered.winning_rate == plain.winning_rate
    narrow, wide = plain.advantage_probability, clustered.advantage_probability
    assert wide.upper - wide.lower > 1.5 * (narrow.upper - narrow.lower)
    assert clustered.stability.same_outcome <= plain.stability.same_outcome


def test_the_people_can_be_named():
    found = alt_test(study(humans=5), "judge", humans=["h4", "h1", "h2"])
    assert [one.annotator for one in found.annotators] == ["h4", "h1", "h2"]


def test_the_result_as_json_has_no_nan():
    settings = AltTestSettings(multiplicative=True, resampling=Resampling(resamples=500))
    data = json.loads(json.dumps(alt_test(study(), "judge", settings=settings).to_json(), allow_nan=False))
    assert data["multiplicative_epsilon"] is True
    assert data["stability"]["resamples"] == 500
    assert data["annotators"][0]["annotator"] == "h0"


def test_items_that_share_clusters_are_warned_about_since_the_tests_take_them_as_independent():
    shared = RatingCube.of(study(), clusters={item: item // 4 for item in range(120)})
    assert (
        alt_test(shared, "judge").warnings[0].startswith("120 items share 30 clusters: the test takes items as indep")
    )
    alone = RatingCube.of(study(), clusters={item: item for item in range(120)})
    assert not alt_test(alone, "judge").warnings
