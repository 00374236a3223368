"""People and a constant stand beside every score, by every scorer that can have them, in either aggregation."""

import asyncio

import numpy as np
import polars as pl
import pytest

from calibrant.alignment import (
    AccuracyScorer,
    CohensKappaScorer,
    SemanticSimilarityScorer,
    TaskAggregationMode,
    TextSimilarityScorer,
)
from calibrant.alignment.scorers.likeness import bounds_of_likeness, contributions
from calibrant.models.invoker import BaseLMInvoker, Reply

SINGLE, MULTILABEL = TaskAggregationMode.SINGLE, TaskAggregationMode.MULTILABEL
AVERAGE, MAJORITY = "individual_average", "majority_vote"


def scored(scorer, judge, people, mode=SINGLE, aggregation=AVERAGE):
    judged = pl.DataFrame({"original_id": list(judge), "label": list(judge.values())})
    rows = [(item, name, label) for name, labels in people.items() for item, label in labels.items()]
    said = pl.DataFrame(rows, schema=["original_id", "human_id", "label"], orient="row", infer_schema_length=None)
    return asyncio.run(scorer.compute_score_async(judged, said, "task", "judge", mode, aggregation))


def row(text):
    return dict(enumerate(text))


PEOPLE = {"kim": row("aabbabab"), "lee": row("aabbabba"), "ann": row("aabaabab")}


@pytest.mark.parametrize("scorer", [AccuracyScorer(), CohensKappaScorer()])
def test_a_judge_that_is_one_of_the_people_stands_near_them(scorer):
    found = scored(scorer, PEOPLE["kim"], PEOPLE).metadata
    assert found["floor"]["value"] < found["ceiling"]["value"] < 1
    assert found["relative"]["value"] > 0.9
    assert found["constant"] == "a"


@pytest.mark.parametrize("aggregation", [AVERAGE, MAJORITY])
def test_accuracy_has_bounds_in_both_aggregations(aggregation):
    found = scored(AccuracyScorer(), row("aabbabaa"), PEOPLE, aggregation=aggregation).metadata
    assert {"ceiling", "floor", "relative", "constant", "warnings"} <= set(found)
    for name in ("ceiling", "floor"):
        assert found[name]["n"] == 8
        assert found[name]["lower"] < found[name]["value"] < found[name]["upper"]


def test_by_majority_the_ceiling_is_each_person_against_the_others_vote():
    # The vote of two people is the first of the alphabet where they differ: without ann aabbabaa, without lee
    # aabaabab, without kim aabaabaa; ann, lee and kim agree with these on 6, 5 and 6 of 8 items.
    found = scored(AccuracyScorer(), PEOPLE["kim"], PEOPLE, aggregation=MAJORITY).metadata
    assert found["ceiling"]["value"] == pytest.approx((6 + 5 + 6) / 24)


@pytest.mark.parametrize("aggregation", [AVERAGE, MAJORITY])
def test_label_sets_have_bounds_too(aggregation):
    sets = [["hate", "no"], ["no", "sex"], ["no", "no"], ["hate", "sex"], ["hate", "no"], ["no", "no"]]
    other = [*sets[:4], ["no", "no"], ["no", "sex"]]
    people = {"kim": dict(enumerate(sets)), "lee": dict(enumerate(other)), "ann": dict(enumerate(sets))}
    found = scored(AccuracyScorer(), dict(enumerate(sets)), people, MULTILABEL, aggregation)
    assert found.metadata["floor"]["value"] < found.metadata["ceiling"]["value"] <= 1.0
    assert found.metadata["constant"].startswith("{")


def test_abstaining_votes_abstain_for_the_ceiling_as_well():
    two = {"kim": row("aabb"), "lee": row("abab"), "ann": row("aabb")}
    first = scored(AccuracyScorer(), row("aabb"), two, aggregation=MAJORITY).metadata
    abstained = scored(AccuracyScorer(ties="abstain"), row("aabb"), two, aggregation=MAJORITY).metadata
    assert abstained["ceiling"]["value"] != first["ceiling"]["value"]


def test_one_person_has_a_score_and_a_reason_for_no_ceiling():
    found = scored(AccuracyScorer(), row("aabb"), {"kim": row("aaba")})
    assert found.score == 0.75
    assert found.metadata["ceiling"]["reason"] == "a ceiling needs two people who rated the same items"
    texts = scored(TextSimilarityScorer(), {1: "a cat"}, {"kim": {1: "a cat"}})
    assert texts.metadata["ceiling"]["reason"] == "a ceiling needs two people who wrote about the same items"


def test_a_constant_person_leaves_no_way_to_measure_and_the_result_says_so():
    found = scored(AccuracyScorer(), row("abababab"), {"kim": row("aaaaaaaa"), "lee": row("aaaaaaab")}).metadata
    assert found["relative"]["value"] is None
    assert found["relative"]["reason"]
    assert "such labels can hardly judge a judge" in found["warnings"][0]


WORDS = ["apple", "bread", "cedar", "drum", "ember", "fjord", "grove", "house", "inkwell", "jumper", "kettle", "lemon"]
SAID = {
    "kim": {item: f"{word} {word} is good" for item, word in enumerate(WORDS)},
    "lee": {item: f"{word} {word} was nice" for item, word in enumerate(WORDS)},
    "ann": {item: f"a {word} is {word}" for item, word in enumerate(WORDS)},
}


@pytest.mark.parametrize("aggregation", [AVERAGE, MAJORITY])
def test_texts_are_held_between_a_constant_text_and_people(aggregation):
    found = scored(TextSimilarityScorer(), SAID["kim"], SAID, aggregation=aggregation).metadata
    assert found["floor"]["value"] < found["ceiling"]["value"] < 1
    assert found["ceiling"]["n"] == 12
    assert found["relative"]["lower"] <= found["relative"]["value"] <= found["relative"]["upper"]


def test_the_ceiling_of_texts_is_the_mean_over_pairs_of_people():
    people = {"kim": {1: "abcd", 2: "abcd"}, "lee": {1: "abcd", 2: "ab"}}
    # Ratcliff-Obershelp: 2 * 2 / 6 for abcd and ab.
    found = scored(TextSimilarityScorer(), {1: "x", 2: "y"}, people).metadata
    assert found["ceiling"]["value"] == pytest.approx((1 + 4 / 6) / 2)


def test_the_constant_is_the_most_usual_text_that_says_something():
    people = {"kim": {1: "", 2: "", 3: "ab", 4: "ab"}, "lee": {1: "", 2: "", 3: "cd", 4: "xy"}}
    found = scored(TextSimilarityScorer(), {1: "", 2: "", 3: "ab", 4: "ab"}, people).metadata
    assert found["floor"]["value"] == pytest.approx((0 + 0 + 0.5 + 0.5) / 4)


def test_empty_texts_alone_leave_nothing_between():
    people = {"kim": {1: "", 2: ""}, "lee": {1: "", 2: ""}}
    found = scored(TextSimilarityScorer(), {1: "", 2: ""}, people)
    assert found.score == 1.0
    assert found.metadata["relative"]["reason"] == "people's texts are no more alike than one constant text is to them"


def test_at_most_two_hundred_items_are_compared_for_the_bounds():
    many = {name: {item: f"{name} {item % 9}" for item in range(500)} for name in ("kim", "lee")}
    found = scored(TextSimilarityScorer(), many["kim"], many)
    assert found.intervals["text_similarity"]["n"] == 500
    assert found.metadata["ceiling"]["n"] == 200


def test_texts_of_several_tasks_have_bounds_over_their_positions():
    judge = {1: ["a cat", "yes"], 2: ["a dog", "no"], 3: ["a cow", "yes"]}
    people = {"kim": judge, "lee": {1: ["a cat", "no"], 2: ["a dog", "no"], 3: ["the cow", "yes"]}}
    found = scored(TextSimilarityScorer(), judge, people, MULTILABEL).metadata
    assert 0 < found["floor"]["value"] < found["ceiling"]["value"] < 1


class Letters(BaseLMInvoker):
    """An embedder of texts by how often letters occur in them."""

    name = "test/letters"

    def __init__(self):
        self.asked = []

    async def invoke(self, request):
        texts = [message.content for message in request.messages]
        self.asked += texts
        return Reply(
            text="", data=[[text.count(one) + 0.01 for one in "abcdefghijklmnopqrstuvwxyz "] for text in texts]
        )


def test_meanings_have_bounds_and_no_text_is_embedded_twice():
    model = Letters()
    found = scored(SemanticSimilarityScorer(model), SAID["kim"], SAID).metadata
    assert found["floor"]["value"] < found["ceiling"]["value"]
    assert len(model.asked) == len(set(model.asked)) == 36


def test_contributions_average_to_the_mean_over_people():
    likeness = np.array([[0.2, 0.4, np.nan], [0.6, np.nan, np.nan]])
    assert contributions(likeness).mean() == pytest.approx((0.3 + 0.6) / 2)
    assert len(contributions(likeness)) == 2


def test_the_place_between_is_a_ratio_of_means_over_shared_items():
    judged, among, floor = np.array([[0.5, 0.7, np.nan]]), np.array([[0.8, 0.8, 0.8]]), np.array([[0.2, 0.2, 0.2]])
    found = bounds_of_likeness(judged, among, floor)
    assert found["relative"]["value"] == pytest.approx((0.6 - 0.2) / (0.8 - 0.2))
    assert (found["ceiling"]["n"], found["ceiling"]["coverage"]["skipped"]) == (2, 1)


def test_the_spread_of_the_place_is_that_of_a_ratio_of_means():
    # The delta method against ten thousand draws of items.
    random = np.random.default_rng(1)
    floor = random.normal(0.2, 0.05, 400)
    ceiling, judged = floor + random.normal(0.5, 0.1, 400), floor + random.normal(0.4, 0.1, 400)
    found = bounds_of_likeness(judged[None], ceiling[None], floor[None])["relative"]
    drawn = random.integers(0, 400, (10_000, 400))
    room = (ceiling[drawn] - floor[drawn]).mean(1)
    places = (judged[drawn] - floor[drawn]).mean(1) / room
    assert (found["upper"] - found["lower"]) / 2 == pytest.approx(1.966 * places.std(), rel=0.04)


def test_what_people_and_a_constant_text_score_stays_on_the_scale_of_likeness():
    found = scored(TextSimilarityScorer(), row(["", "abc", " "]), {"a": row(["", "", "x"]), "b": row(["hey", "abc"])})
    for one in (found.metadata["ceiling"], found.metadata["floor"]):
        assert 0.0 <= one["lower"] <= one["value"] <= one["upper"] <= 1.0


def test_bounds_of_texts_count_clusters_as_those_of_labels_do():
    draw = np.random.default_rng(3)
    likeness = [np.repeat(draw.random((2, 10)), 20, axis=1) for _ in range(3)]
    judged, among, constant = likeness[0], 0.5 + likeness[1] / 2, likeness[2] / 4
    clusters = np.repeat(np.arange(10, dtype=np.int32), 20)
    alone = bounds_of_likeness(judged, among, constant)
    shared = bounds_of_likeness(judged, among, constant, clusters=clusters)
    means = bounds_of_likeness(judged[:, ::20], among[:, ::20], constant[:, ::20])
    for name in ("ceiling", "floor", "relative"):
        assert shared[name]["value"] == pytest.approx(alone[name]["value"])
        # Twenty copies of an item say what the one item says: the interval is that of the ten.
        assert shared[name]["lower"] == pytest.approx(means[name]["lower"])
        assert shared[name]["lower"] < alone[name]["lower"]
