import json
import math

import numpy as np
import pytest

from calibrant.agreement import corrected_rate
from calibrant.errors import InputError, UnknownNameError, WrongTypeError
from calibrant.ratings import Failure


def traffic(theta=0.8, labels=120, items=2000, seed=0, sensitivity=0.9, specificity=0.7):
    random = np.random.default_rng(seed)
    truth = random.random(items) < theta
    judge = np.where(truth, random.random(items) < sensitivity, random.random(items) >= specificity)
    human = [bool(one) if place < labels else None for place, one in enumerate(truth)]
    return [bool(one) for one in judge], human


def test_the_correction_is_nearer_to_the_truth_than_the_judge():
    found = corrected_rate(*traffic(sensitivity=0.95, specificity=0.6, theta=0.6, labels=400))
    assert abs(found.estimate.value - 0.6) < abs(found.judge_rate.value - 0.6)
    assert found.estimate.lower < 0.6 < found.estimate.upper
    assert not found.judge_rate.lower < 0.6 < found.judge_rate.upper
    assert found.estimate.method == "ppi++"
    assert list(found.methods) == ["ppi++", "ppi++, score interval", "rogan-gladen"]


def test_the_labels_are_worth_more_with_a_judge_and_never_less():
    good, bad = (
        corrected_rate(*traffic(sensitivity=0.97, specificity=0.95)),
        corrected_rate(*traffic(sensitivity=0.5, specificity=0.5)),
    )
    assert good.worth > 3 * 120
    assert bad.worth == pytest.approx(120, rel=0.1)
    assert good.worth_text() == f"your 120 labels are worth {good.worth:.0f}"
    assert good.estimate.upper - good.estimate.lower < good.label_rate.upper - good.label_rate.lower


@pytest.mark.parametrize(("labels", "theta"), [(60, 0.6), (200, 0.97), (200, 0.03)])
def test_few_labels_or_rare_answers_get_a_score_interval(labels, theta):
    found = corrected_rate(*traffic(labels=labels, theta=theta))
    assert found.estimate.method == "ppi++, score interval"
    assert 0.0 <= found.estimate.lower <= found.estimate.value <= found.estimate.upper <= 1.0


def test_a_judge_who_made_no_mistake_yet_is_not_taken_to_make_none():
    judge, human = [True] * 40 + [False] * 10 + [True] * 800 + [False] * 200, [True] * 40 + [False] * 10 + [None] * 1000
    found = corrected_rate(judge, human)
    assert found.estimate.value == pytest.approx(0.8)
    assert found.estimate.upper - found.estimate.lower > 0.06


def test_labels_of_one_answer_alone_keep_an_interval():
    found = corrected_rate([True] * 1000, [True] * 50 + [None] * 950)
    assert found.estimate.value == found.estimate.upper == 1.0
    assert 0.85 < found.estimate.lower < 0.97
    assert (
        found.methods["rogan-gladen"].reason
        == "the labels hold only one answer, and the judge's errors on both are needed"
    )


def test_labels_from_elsewhere_take_rogan_and_gladen():
    judge, _ = traffic(theta=0.8, labels=0, items=3000)
    calibration, labels = traffic(theta=0.5, labels=400, items=400, seed=1)
    found = corrected_rate(calibration + judge, labels + [None] * 3000, labels_from="elsewhere")
    assert found.estimate.method == "rogan-gladen"
    assert found.estimate.lower < 0.8 < found.estimate.upper
    assert found.estimate.n == 3000
    assert found.worth is None
    assert found.worth_text() == "your 400 labels say how the judge errs, and not how often people would pass an item"
    assert not found.warnings


def test_labels_that_do_not_look_like_the_traffic_are_warned_about():
    judge, _ = traffic(theta=0.9, labels=0, items=3000)
    calibration, labels = traffic(theta=0.5, labels=400, items=400, seed=1)
    found = corrected_rate(calibration + judge, labels + [None] * 3000)
    assert "the labels do not look like a random sample" in found.warnings[0]


def test_a_judge_no_better_than_chance_corrects_nothing():
    found = corrected_rate(*traffic(sensitivity=0.3, specificity=0.3), labels_from="elsewhere")
    assert found.estimate.value is None
    assert found.estimate.reason.startswith("on the labelled items the judge does no better than chance")
    assert "no estimate" in str(found)


def test_labels_on_everything_are_the_rate():
    judge, human = traffic(labels=300, items=300)
    found = corrected_rate(judge, human)
    assert found.estimate.value == pytest.approx(found.label_rate.value)
    assert found.worth == pytest.approx(300)
    assert found.methods["rogan-gladen"].reason.startswith("every item has a label")


def test_no_label_is_a_reason():
    found = corrected_rate([True, False], [None, None])
    assert found.estimate.reason == "there is no label on an item that was judged"
    assert found.label_rate.value is None
    assert found.judge_rate.value == 0.5
    assert corrected_rate([], []).estimate.value is None


def test_one_label_gives_a_value_and_a_wide_interval():
    found = corrected_rate([True] * 50, [True] + [None] * 49)
    assert found.estimate.upper - found.estimate.lower > 0.5
    assert all(number is None or math.isfinite(number) for number in (found.estimate.value, found.worth))


def test_items_are_joined_by_id_and_labels_without_a_judge_are_named():
    judge, human = traffic(items=400)
    by_list = corrected_rate(judge, human)
    labelled = {str(place): one for place, one in enumerate(human) if one is not None} | {"other": True}
    by_id = corrected_rate(dict(enumerate(judge)), labelled)
    assert by_id.estimate.value == by_list.estimate.value
    assert by_id.warnings == ("1 labelled item was not judged, and left out",)


def test_failures_of_the_judge_are_counted_and_bound_the_worst_case():
    judge, human = traffic(items=400)
    judge[399] = Failure(code="judge_timeout", message="60 s")
    judge[398] = None
    found = corrected_rate(judge, human)
    assert str(found.estimate.coverage) == "398 rated, 1 failed, 1 skipped (1 judge_timeout)"
    low, high = found.estimate.worst_case
    assert low < found.estimate.value < high


def test_answers_may_be_labels():
    judge, human = traffic(items=400)
    words = {True: "pass", False: "fail", None: None}
    named = corrected_rate([words[one] for one in judge], [words[one] for one in human], positive="pass")
    assert named.estimate == corrected_rate(judge, human).estimate
    with pytest.raises(InputError, match=r"nobody answered True; say positive=\.\.\. as one of: 'fail', 'pass'"):
        corrected_rate([words[one] for one in judge], [words[one] for one in human])


def test_numpy_arrays_with_nan_are_taken():
    judge, human = traffic(items=400)
    labels = np.array([np.nan if one is None else float(one) for one in human])
    assert corrected_rate(np.array(judge), labels).estimate == corrected_rate(judge, human).estimate


def test_clusters_that_repeat_items_count_once():
    judge, human = traffic(items=500)
    plain = corrected_rate(judge * 4, human * 4)
    clusters = list(range(500)) * 4
    clustered = corrected_rate(judge * 4, human * 4, clusters=clusters)
    once = corrected_rate(judge, human)
    assert clustered.estimate.value == pytest.approx(plain.estimate.value)
    assert clustered.worth == pytest.approx(once.worth, rel=0.15)
    assert clustered.estimate.upper - clustered.estimate.lower > 1.7 * (plain.estimate.upper - plain.estimate.lower)
    outside = clustered.methods["rogan-gladen"], plain.methods["rogan-gladen"]
    assert outside[0].upper - outside[0].lower > 1.5 * (outside[1].upper - outside[1].lower)


def test_clusters_may_be_named_by_item():
    judge, human = traffic(items=300)
    named = {item: item // 3 for item in range(300)}
    labels = {item: one for item, one in enumerate(human) if one is not None}
    found = corrected_rate(dict(enumerate(judge)), labels, clusters=named)
    assert found.estimate.lower < found.estimate.value < found.estimate.upper
    with pytest.raises(InputError, match="item '299' has no cluster"):
        corrected_rate(dict(enumerate(judge)), labels, clusters=dict.fromkeys(range(299), 0))


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(
        UnknownNameError, match="unknown source of labels 'here'; expected one of: elsewhere, same_traffic"
    ):
        corrected_rate([True], [True], labels_from="here")
    with pytest.raises(WrongTypeError, match="judge, human and clusters are all mappings of items, or all sequences"):
        corrected_rate([True], {"a": True})
    with pytest.raises(WrongTypeError):
        corrected_rate("yes", "yes")
    with pytest.raises(InputError, match=r"the same items in the same order, but have \{'judge': 2, 'human': 1\}"):
        corrected_rate([True, False], [True])


def test_the_rate_prints_and_becomes_json():
    found = corrected_rate(*traffic())
    assert "the judge alone says" in str(found)
    assert "your 120 labels are worth" in str(found)
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["labels"] == 120


@pytest.mark.parametrize(("theta", "labels"), [(0.6, 50), (0.8, 100), (0.95, 50), (0.95, 200)])
def test_the_default_interval_covers_the_truth_as_often_as_it_says(theta, labels):
    random = np.random.default_rng(1)
    hits = 0
    for _ in range(400):
        truth = random.random(1000) < theta
        judge = np.where(truth, random.random(1000) < 0.95, random.random(1000) < 0.4)
        human = np.where(np.arange(1000) < labels, truth, np.nan)
        found = corrected_rate(judge.astype(float), human, positive=1.0).estimate
        hits += found.lower <= theta <= found.upper
    assert hits / 400 > 0.93 - 2 * math.sqrt(0.95 * 0.05 / 400)


def test_a_level_that_is_a_text_is_named():
    with pytest.raises(WrongTypeError, match="level must be a number between 0 and 1, not '0.95'"):
        corrected_rate([True, False], [True, None], level="0.95")
