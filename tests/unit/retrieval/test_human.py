"""People's judgments: collected, agreed upon, turned into datasets and qrels."""

import itertools

import pytest
from pydantic import ValidationError

from calibrant.errors import InputError, UnknownNameError, WrongTypeError
from calibrant.retrieval import HumanEvaluationCollector, HumanJudgment, ab_testing


def judged(query, item, relevance, annotator):
    return HumanJudgment(query=query, item_id=item, relevance=relevance, annotator=annotator)


def table(first, second, query="q"):
    """Two annotators' grades of the same documents."""
    pairs = enumerate(zip(first, second, strict=True))
    return [judged(query, f"d{row}", grade, who) for row, both in pairs for who, grade in zip("kl", both, strict=True)]


def collected(judgments, **settings):
    collector = HumanEvaluationCollector(**settings)
    collector.add_judgments(judgments)
    return collector


def test_judgments_are_handed_out_as_a_copy():
    collector = collected([judged("q", "a", 3, "kim")])
    collector.judgments.clear()
    assert collector.judgments == [judged("q", "a", 3, "kim")]


@pytest.mark.parametrize("relevance", [-1, 4, 1.5])
def test_a_relevance_is_a_whole_number_from_0_to_3(relevance):
    with pytest.raises(ValidationError, match="relevance"):
        judged("q", "a", relevance, "kim")


def test_a_judgment_is_immutable_and_its_ids_are_texts():
    one = HumanJudgment(query="q", item_id=7, relevance=3, annotator=1)
    assert (one.item_id, one.annotator, one.metadata) == ("7", "1", {})
    with pytest.raises(ValidationError, match="frozen"):
        one.relevance = 0


def test_nothing_judged_in_common_is_no_agreement():
    assert HumanEvaluationCollector().compute_agreement() == 0.0
    assert collected([judged("q", "a", 3, "kim"), judged("q", "b", 3, "lee")]).compute_agreement() == 0.0
    assert collected([judged("q", "a", 3, "kim"), judged("q2", "a", 3, "lee")]).compute_agreement() == 0.0


def test_two_constant_annotators_agree_fully_when_equal_and_not_at_all_when_not():
    assert collected(table([2, 2, 2], [2, 2, 2])).compute_agreement() == 1.0
    assert collected(table([2, 2, 2], [1, 1, 1])).compute_agreement() == 0.0


def test_agreement_is_the_same_whatever_order_the_judgments_came_in():
    judgments = [
        *table([3, 1, 0, 2], [3, 0, 0, 2]),
        judged("q", "d0", 2, "a"),
        judged("q", "d1", 1, "a"),
        judged("q", "d3", 2, "a"),
    ]
    values = {
        collected(order).compute_agreement()
        for order in itertools.islice(itertools.permutations(judgments), 0, 40000, 997)
    }
    assert len(values) == 1


def test_more_than_two_annotators_have_the_mean_of_their_pairs():
    # a and b agree fully on two documents (1.0); c gives a constant grade, so its kappa with either is 0.0.
    judgments = [
        judged("q", item, grade, who)
        for who, grades in {"a": (0, 3), "b": (0, 3), "c": (3, 3)}.items()
        for item, grade in zip("xy", grades, strict=True)
    ]
    assert collected(judgments).compute_agreement() == pytest.approx(1 / 3)


def test_relevant_is_what_has_at_least_the_threshold_as_its_mean():
    collector = collected(
        [
            judged("q1", "a", 3, "kim"),
            judged("q1", "a", 1, "lee"),
            judged("q1", "b", 2, "kim"),
            judged("q1", "b", 1, "lee"),
            judged("q2", "c", 0, "kim"),
        ]
    )
    dataset = collector.to_dataset()
    assert type(dataset) is ab_testing.EvaluationDataset
    assert {one.query: one.relevant_ids for one in dataset.samples} == {"q1": ["a"], "q2": []}
    assert collector.to_dataset(threshold=1).samples[0].relevant_ids == ["a", "b"]
    assert collector.to_dataset(threshold=3).samples[0].relevant_ids == []


@pytest.mark.parametrize("threshold", [-1, 4])
def test_a_threshold_that_no_relevance_can_have_is_refused(threshold):
    with pytest.raises(InputError, match=f"threshold is a relevance from 0 to 3, not {threshold}"):
        HumanEvaluationCollector().to_dataset(threshold)


def test_metrics_are_the_seeds_five():
    collector = collected([*table([3, 1], [3, 0]), judged("q2", "x", 1, "m")])
    assert collector.compute_metrics() == {
        "mean_relevance": pytest.approx(8 / 5),
        "agreement": pytest.approx(collector.compute_agreement()),
        "num_judgments": 5,
        "num_annotators": 3,
        "num_queries": 2,
    }


def test_metrics_of_nothing_are_zero():
    assert set(HumanEvaluationCollector().compute_metrics().values()) == {0.0}


@pytest.mark.parametrize(("policy", "relevant"), [("last", ["a"]), ("first", [])])
def test_a_repeated_judgment_counts_by_the_policy_and_is_kept(policy, relevant):
    collector = collected([judged("q", "a", 0, "kim"), judged("q", "a", 3, "kim")], on_repeat=policy)
    assert collector.to_dataset().samples[0].relevant_ids == relevant
    assert collector.to_dataset().metadata["on_repeat"] == policy
    assert len(collector.judgments) == 2
    assert collector.compute_metrics()["mean_relevance"] == (3.0 if policy == "last" else 0.0)


def test_a_repeated_judgment_does_not_make_an_annotator_agree_with_itself():
    assert collected([judged("q", "a", 3, "kim"), judged("q", "a", 3, "kim")]).compute_agreement() == 0.0


def test_a_repeated_judgment_can_be_an_error_and_then_none_is_added():
    collector = collected([judged("q", "a", 0, "kim")], on_repeat="error")
    with pytest.raises(InputError, match="judgment 2: 'kim' judged 'a' for 'q' before"):
        collector.add_judgments([judged("q", "b", 1, "kim"), judged("q", "a", 3, "kim")])
    assert len(collector.judgments) == 1


def test_an_unknown_policy_names_those_that_exist():
    with pytest.raises(UnknownNameError, match="unknown policy on_repeat 'mean'; expected one of: error, first, last"):
        HumanEvaluationCollector(on_repeat="mean")


def test_what_is_no_judgment_is_refused_with_its_place():
    with pytest.raises(WrongTypeError, match=r"judgment 2: expected a HumanJudgment, got \{'query': 'q'\}"):
        HumanEvaluationCollector().add_judgments([judged("q", "a", 1, "kim"), {"query": "q"}])


def test_qrels_have_the_mean_rounded_down_so_that_they_agree_with_the_dataset():
    collector = collected(
        [judged("q", "a", 3, "kim"), judged("q", "a", 2, "lee"), judged("q", "b", 1, "kim"), judged("q", "b", 2, "lee")]
    )
    assert collector.to_qrels() == {"q": {"a": 2, "b": 1}}
    assert collector.to_dataset(2).samples[0].relevant_ids == ["a"]
