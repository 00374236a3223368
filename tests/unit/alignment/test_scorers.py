"""The built-in scorers on frames: each gives a value or a reason, never NaN and never an exception."""

import asyncio
import difflib
import json
import logging
import math

import polars as pl
import pytest

from calibrant.alignment import (
    AccuracyScorer,
    AltTestScorer,
    CohensKappaScorer,
    SemanticSimilarityScorer,
    TaskAggregationMode,
    TextSimilarityScorer,
)
from calibrant.errors import EvalError, InputError, ModelCallError, UnknownNameError
from calibrant.models import EmbeddingCache, ScriptedInvoker
from calibrant.models.invoker import BaseLMInvoker, Reply

SINGLE, MULTILABEL = TaskAggregationMode.SINGLE, TaskAggregationMode.MULTILABEL
BUILT_IN = [AccuracyScorer, CohensKappaScorer, AltTestScorer, TextSimilarityScorer]


def judged(labels):
    return pl.DataFrame({"original_id": list(labels), "label": list(labels.values())}, strict=False)


def said(people):
    rows = [(item, person, label) for person, labels in people.items() for item, label in labels.items()]
    return pl.DataFrame(rows, schema=["original_id", "human_id", "label"], orient="row", infer_schema_length=None)


def scored(scorer, judge, people, mode=SINGLE, **settings):
    work = scorer.compute_score_async(judged(judge), said(people), "task", "judge", mode, **settings)
    result = asyncio.run(work)
    json.dumps(result.to_json(), allow_nan=False)
    return result


class Vectors(BaseLMInvoker):
    """An embedder that knows its vectors by heart."""

    name = "known/vectors"

    def __init__(self, vectors):
        self.vectors = vectors
        self.asked = []

    async def invoke(self, request):
        texts = [message.content for message in request.messages]
        self.asked += texts
        return Reply(text="", data=[self.vectors[text] for text in texts])


def test_accuracy_is_the_mean_over_people_of_the_share_that_agrees():
    result = scored(AccuracyScorer(), {1: "x", 2: "y"}, {"kim": {1: "x", 2: "y"}, "lee": {1: "x", 2: "x"}})
    assert result.scores == {"accuracy": 0.75}
    each = result.metadata["by_annotator"]
    assert {name: (one["value"], one["n"]) for name, one in each.items()} == {"kim": (1.0, 2), "lee": (0.5, 2)}
    assert (result.details["total_instances"], result.details["correct_instances"]) == (4, 3)
    assert (result.num_comparisons, result.failed_comparisons) == (4, 0)


def test_integer_ids_meet_text_ids():
    result = scored(AccuracyScorer(), {1: "x", 2: "y"}, {"kim": {"1": "x", "2": "x"}})
    assert result.score == 0.5


def test_float_ids_of_a_column_with_a_gap_meet_integers():
    judge = pl.DataFrame({"original_id": [1.0, 2.0], "label": ["x", "y"]})
    people = said({"kim": {1: "x", 2: "y"}})
    result = asyncio.run(AccuracyScorer().compute_score_async(judge, people, "task", "judge", SINGLE))
    assert result.score == 1.0


def test_numbers_of_a_judge_meet_the_texts_that_a_file_holds():
    assert scored(AccuracyScorer(), {1: 1, 2: 0}, {"kim": {1: "1", 2: "0"}}).score == 1.0
    assert scored(AccuracyScorer(), {1: 1.0, 2: 0.5}, {"kim": {1: "1", 2: "0.5"}}).score == 1.0


def test_truth_values_and_words_are_unlike_kinds_and_a_reason():
    result = scored(AccuracyScorer(), {1: True}, {"kim": {1: "yes"}})
    assert result.score is None
    assert "unlike kinds" in result.reason


def test_missing_labels_are_left_out_and_counted():
    result = scored(AccuracyScorer(), {1: "x", 2: None, 3: "y"}, {"kim": {1: "x", 2: "x", 3: None}})
    assert result.score == 1.0
    assert result.intervals["accuracy"]["n"] == 1


@pytest.mark.parametrize("maker", BUILT_IN)
@pytest.mark.parametrize(
    ("judge", "people", "words"),
    [
        ({}, {"kim": {1: "x"}, "lee": {1: "x"}, "ann": {1: "x"}}, "the judge gave no result"),
        ({1: None}, {"kim": {1: "x"}, "lee": {1: "x"}, "ann": {1: "x"}}, "the judge rated no item"),
        ({7: "x"}, {"kim": {1: "x"}, "lee": {1: "x"}, "ann": {1: "x"}}, "no item was rated by both"),
        ({1: "x"}, {"kim": {1: None}}, "human annotator"),
    ],
)
def test_too_little_data_is_a_reason(maker, judge, people, words):
    result = scored(maker(), judge, people)
    assert result.score is None
    assert words in result.reason
    assert result.failed_comparisons >= 1


def test_an_item_rated_twice_by_one_person_is_a_reason_that_names_it():
    people = pl.DataFrame({"original_id": [1, 1], "human_id": ["kim", "kim"], "label": ["x", "y"]})
    result = asyncio.run(AccuracyScorer().compute_score_async(judged({1: "x"}), people, "task", "judge", SINGLE))
    assert "item '1' is rated 2 times by 'human:kim'" in result.reason


def test_a_frame_without_its_columns_is_a_reason_that_lists_them():
    frame = pl.DataFrame({"original_id": [1]})
    result = asyncio.run(AccuracyScorer().compute_score_async(frame, said({"kim": {1: "x"}}), "t", "judge", SINGLE))
    assert result.reason == "judge_data has no column label; it has: original_id"


def test_a_judge_may_be_called_like_a_person():
    judge, people = judged({1: "x"}), said({"judge": {1: "x"}})
    assert asyncio.run(AccuracyScorer().compute_score_async(judge, people, "t", "judge", SINGLE)).score == 1.0


def test_ties_of_the_majority_go_to_the_first_label_of_the_alphabet():
    people = {"kim": {1: "b"}, "lee": {1: "a"}}
    assert scored(AccuracyScorer(), {1: "a"}, people, annotator_aggregation="majority_vote").score == 1.0
    assert scored(AccuracyScorer(), {1: "b"}, people, annotator_aggregation="majority_vote").score == 0.0
    abstaining = scored(AccuracyScorer(ties="abstain"), {1: "a"}, people, annotator_aggregation="majority_vote")
    assert abstaining.score is None


def test_the_majority_counts_its_ties():
    people = {"kim": {1: "b", 2: "a"}, "lee": {1: "a", 2: "a"}}
    result = scored(AccuracyScorer(), {1: "a", 2: "a"}, people, annotator_aggregation="majority_vote")
    assert result.metadata["ties"] == 1
    assert result.metadata["ground_truth_method"] == "majority_vote"


def test_multilabel_accuracy_is_exact_match_and_two_empty_sets_agree():
    judge = {1: ["hateful", "FALSE"], 2: ["FALSE", "FALSE"], 3: ["hateful", "violent"]}
    person = {1: ["hateful", "FALSE"], 2: ["false", "no"], 3: ["hateful", "FALSE"]}
    assert scored(AccuracyScorer(), judge, {"kim": person}, MULTILABEL).score == pytest.approx(2 / 3)


def test_multilabel_majority_is_by_position():
    people = {"kim": {1: ["a", "b"]}, "lee": {1: ["a", "no"]}, "ann": {1: ["no", "b"]}}
    assert (
        scored(AccuracyScorer(), {1: ["a", "b"]}, people, MULTILABEL, annotator_aggregation="majority_vote").score == 1
    )


def test_lists_of_different_lengths_are_sets_whatever_their_order():
    judge = {1: ["violent", "hateful"], 2: []}
    assert scored(AccuracyScorer(), judge, {"kim": {1: ["hateful", "violent"], 2: []}}, MULTILABEL).score == 1.0


def test_a_gap_in_a_vector_of_labels_is_a_missing_rating():
    result = scored(
        AccuracyScorer(), {1: ["a", None], 2: ["a", "b"]}, {"kim": {1: ["a", "b"], 2: ["a", "b"]}}, MULTILABEL
    )
    assert (result.score, result.num_comparisons) == (1.0, 1)


def test_kappa_needs_two_people_and_says_so():
    result = scored(CohensKappaScorer(), {1: "x", 2: "y"}, {"kim": {1: "x", 2: "y"}})
    assert result.scores == {"kappa": None}
    assert result.reason == "cohens_kappa needs 2 human annotators, and there are 1"


def test_kappa_of_constant_raters_is_perfect_agreement():
    labels = dict.fromkeys(range(5), "x")
    assert scored(CohensKappaScorer(), labels, {"kim": labels, "lee": labels}).score == 1.0


def test_kappa_brings_its_word_and_what_it_is_made_of():
    judge = {1: "a", 2: "a", 3: "b", 4: "b"}
    person = {1: "a", 2: "a", 3: "b", 4: "a"}
    result = scored(CohensKappaScorer(), judge, {"kim": person, "lee": person})
    assert result.score == 0.5
    assert result.details == {"interpretation": "moderate"}
    assert result.metadata["observed_agreement"] == 0.75
    assert result.metadata["expected_agreement"] == 0.5


def test_kappa_of_label_sets_is_a_reason():
    sets = {1: ["a", "b"]}
    result = scored(CohensKappaScorer(), sets, {"kim": sets, "lee": sets}, MULTILABEL)
    assert result.reason.startswith("cohens_kappa cannot score labels such as [")
    assert result.reason.endswith("; name each task in a metric of its own, or all with task_strategy='multitask'")


def test_weighted_kappa_takes_the_order_of_labels():
    judge = {1: "low", 2: "mid", 3: "high"}
    person = {1: "low", 2: "high", 3: "high"}
    plain = scored(CohensKappaScorer(), judge, {"kim": person, "lee": person}).score
    order = ["low", "mid", "high"]
    weighted = scored(CohensKappaScorer(weights="linear", order=order), judge, {"kim": person, "lee": person}).score
    assert weighted > plain


@pytest.mark.parametrize("maker", [CohensKappaScorer, AltTestScorer])
def test_agreement_scorers_warn_of_a_majority_and_average_instead(maker, caplog):
    labels = {item: "ab"[item % 2] for item in range(40)}
    people = {"kim": labels, "lee": labels, "ann": labels}
    with caplog.at_level(logging.WARNING):
        voted = scored(maker(), labels, people, annotator_aggregation="majority_vote")
    assert "individual_average is used instead of majority_vote" in caplog.text
    assert voted.scores == scored(maker(), labels, people).scores


def test_an_unknown_aggregation_is_an_error():
    with pytest.raises(UnknownNameError, match="unknown annotator_aggregation 'vote'"):
        scored(AccuracyScorer(), {1: "x"}, {"kim": {1: "x"}}, annotator_aggregation="vote")


def alt_test_data(n=60):
    right = {item: ["yes", "no", "maybe"][item % 3] for item in range(n)}
    people = {
        name: {**right, **dict.fromkeys(range(start, start + 6), "no")} for start, name in enumerate(["a", "b", "c"])
    }
    return right, people


def test_the_alt_test_gives_every_epsilon_and_the_one_that_was_asked_for():
    right, people = alt_test_data()
    result = scored(AltTestScorer(epsilon=0.12), right, people)
    assert list(result.scores["winning_rate"]) == ["0.00", "0.05", "0.10", "0.12", "0.15", "0.20", "0.25", "0.30"]
    assert result.details["outcome"] == "passed"
    assert result.metadata["winning_rate_at_epsilon"] == 1.0
    assert 0 <= result.scores["advantage_probability"] <= 1
    assert set(result.metadata["human_advantage_probabilities"]) == {"a", "b", "c"}
    assert [one["annotator"] for one in result.metadata["annotators"]] == ["a", "b", "c"]


def test_the_alt_test_s_attributes_can_be_set_after_construction():
    right, people = alt_test_data(20)
    scorer = AltTestScorer()
    assert "nobody rated 30 items" in scored(scorer, right, people).reason
    scorer.min_instances_per_human = 10
    assert scored(scorer, right, people).reason == ""


def test_the_alt_test_without_enough_people_has_a_reason_at_every_epsilon():
    right, people = alt_test_data()
    result = scored(AltTestScorer(), right, {"a": people["a"]})
    assert result.reason == "alt_test needs 3 human annotators, and there are 1"
    assert set(result.scores["winning_rate"].values()) == {None}


def test_the_alt_test_compares_label_sets_by_jaccard_and_numbers_by_distance():
    sets = {item: ["a", "no"] if item % 2 else ["no", "no"] for item in range(40)}
    result = scored(AltTestScorer(), sets, dict.fromkeys("abc", sets), MULTILABEL)
    assert result.metadata["scoring_function"] == "jaccard"
    numbers = {item: item / 7 for item in range(40)}
    result = scored(AltTestScorer(), numbers, dict.fromkeys("abc", numbers))
    assert result.metadata["scoring_function"] == "neg_rmse"
    assert result.scores["winning_rate"]["0.05"] == 1.0


def test_a_wrong_epsilon_is_refused_at_once_and_a_later_one_is_a_reason():
    with pytest.raises(InputError, match="epsilon is a margin"):
        AltTestScorer(epsilon=2)
    right, people = alt_test_data()
    scorer = AltTestScorer()
    scorer.epsilon = 2.0
    assert "epsilon is a margin" in scored(scorer, right, people).reason


def test_text_similarity_is_the_ratio_of_the_standard_library_without_its_junk():
    first = " ".join(f"word{number}" for number in range(100))
    second = first.replace("word5", "other")
    result = scored(TextSimilarityScorer(), {1: first}, {"kim": {1: second}})
    assert result.score == pytest.approx(difflib.SequenceMatcher(None, first, second, autojunk=False).ratio())


def test_text_similarity_of_empty_texts_is_a_value():
    result = scored(TextSimilarityScorer(), {1: "", 2: ""}, {"kim": {1: "", 2: "some"}})
    assert result.score == 0.5
    assert result.metadata["total_comparisons"] == 2


def test_text_similarity_averages_people_or_takes_the_most_similar():
    people = {"kim": {1: "abcd", 2: "abcd"}, "lee": {1: "wxyz", 2: "abcd"}}
    judge = {1: "abcd", 2: "abcd"}
    assert scored(TextSimilarityScorer(), judge, people).score == 0.75
    best = scored(TextSimilarityScorer(), judge, people, annotator_aggregation="majority_vote")
    assert best.score == 1.0
    assert best.num_comparisons == 2


def test_text_similarity_describes_its_spread():
    result = scored(TextSimilarityScorer(), {1: "ab", 2: "ab"}, {"kim": {1: "ab", 2: "cd"}})
    shown = {name: result.metadata[name] for name in ("mean_similarity", "median_similarity", "std_similarity")}
    assert shown == {"mean_similarity": 0.5, "median_similarity": 0.5, "std_similarity": 0.5}


def test_people_with_few_items_weigh_as_much_as_others():
    people = {"kim": {1: "ab", 2: "ab", 3: "ab"}, "lee": {1: "cd"}}
    result = scored(TextSimilarityScorer(), dict.fromkeys((1, 2, 3), "ab"), people)
    assert result.score == pytest.approx(0.5)
    bounds = result.intervals["text_similarity"]
    assert 0.0 <= bounds["lower"] <= 0.5 <= bounds["upper"] <= 1.0


def test_texts_of_several_tasks_are_the_mean_over_positions():
    result = scored(TextSimilarityScorer(), {1: ["ab", "ab"]}, {"kim": {1: ["ab", "cd"]}}, MULTILABEL)
    assert result.score == 0.5


def test_lists_of_texts_of_different_lengths_cannot_be_compared():
    result = scored(TextSimilarityScorer(), {1: ["ab"], 2: ["a", "b"]}, {"kim": {1: ["ab"], 2: ["c"]}}, MULTILABEL)
    assert "these lists have different lengths" in result.reason


def test_numbers_are_no_texts():
    assert "cannot score labels such as 1" in scored(TextSimilarityScorer(), {1: 1}, {"kim": {1: 1}}).reason


def test_semantic_similarity_is_the_cosine_and_asks_for_each_text_once():
    model = Vectors({"a": [1, 0], "b": [0, 1], "c": [1, 1]})
    scorer = SemanticSimilarityScorer(model, cache=EmbeddingCache())
    result = scored(scorer, {1: "a", 2: "a", 3: "b"}, {"kim": {1: "a", 2: "b", 3: "c"}})
    assert result.score == pytest.approx((1 + 0 + math.sqrt(0.5)) / 3)
    assert sorted(model.asked) == ["a", "b", "c"]
    assert result.metadata["embedding_model"] == "known/vectors"


def test_an_empty_text_has_no_embedding_and_is_not_compared():
    scorer = SemanticSimilarityScorer(Vectors({"a": [1, 0]}), cache=EmbeddingCache())
    result = scored(scorer, {1: "a", 2: " "}, {"kim": {1: "a", 2: "a"}})
    assert (result.score, result.num_comparisons) == (1.0, 1)
    assert result.intervals["semantic_similarity"]["coverage"]["skipped"] == 1


def test_a_failed_embedding_is_a_failure_with_its_reason_and_never_a_zero():
    broken = ScriptedInvoker(ModelCallError("the server is down", code="judge_unreachable"))
    scorer = SemanticSimilarityScorer(broken, cache=EmbeddingCache())
    result = scored(scorer, {1: "a", 2: "b"}, {"kim": {1: "a", 2: "c"}})
    assert result.scores == {"semantic_similarity": None}
    assert result.reason == "the server is down"
    assert result.failed_comparisons == 2
    assert result.intervals["semantic_similarity"]["coverage"]["codes"] == {"judge_unreachable": 2}


@pytest.mark.parametrize("setting", ["q_fdr", "epsilon"])
def test_a_setting_of_the_alt_test_that_is_a_text_is_named(setting):
    with pytest.raises(EvalError, match=rf"{setting} .*not '0.05'"):
        AltTestScorer(**{setting: "0.05"})
