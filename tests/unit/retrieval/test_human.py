"""People's judgments: collected, agreed upon, turned into datasets and qrels."""

import itertools

import pytest
from pydantic import ValidationError

from calibrant.errors import InputError, UnknownNameError, WrongTypeError
from calibrant.retrieval import HumanEvaluationCollector, HumanJudgment, Qrels, ab_testing, measure


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


def test_agreement_has_three_coefficients_with_intervals():
    collector = collected([*table([3, 2, 0, 0, 1, 3, 2, 0], [3, 2, 0, 1, 1, 2, 2, 0])])
    found = collector.agreement(resamples=500)
    assert list(found) == ["kappa", "weighted_kappa", "alpha"]
    assert found["kappa"].value == pytest.approx(collector.compute_agreement())
    for estimate in found.values():
        assert estimate.lower <= estimate.value <= estimate.upper
        assert estimate.coverage.rated == 8
    assert found["weighted_kappa"].value > found["kappa"].value  # all disagreements are of one grade


def test_agreement_does_not_depend_on_the_order_of_judgments_and_does_on_the_seed_alone():
    judgments = [*table([3, 2, 0, 0, 1], [3, 1, 0, 1, 1]), judged("q", "d0", 3, "a"), judged("q", "d1", 0, "a")]
    first = collected(judgments).agreement(resamples=300, seed=3)
    assert collected(judgments[::-1]).agreement(resamples=300, seed=3) == first


def test_queries_can_be_resampled_whole():
    one_query = collected(table([3, 2, 0, 0], [3, 1, 0, 1]))
    assert one_query.agreement(resamples=200, clusters="query")["kappa"].lower is None
    many = collected(
        [one for number in range(8) for one in table([3, 2, 0, number % 4], [3, 1, 0, 1], query=f"q{number}")]
    )
    assert many.agreement(resamples=200, clusters="query")["kappa"].lower is not None


def test_agreement_that_cannot_be_estimated_says_why():
    for collector in (HumanEvaluationCollector(), collected([judged("q", "a", 3, "kim")])):
        for estimate in collector.agreement().values():
            assert estimate.value is None
            assert estimate.reason == "no item was rated by two raters"


def test_trec_text_can_be_read_back(tmp_path):
    collector = collected([judged("q1", "a", 3, "kim"), judged("q1", "b", 0, "kim"), judged("q2", "a", 1, "kim")])
    text = collector.to_trec()
    assert text == "q1 0 a 3\nq1 0 b 0\nq2 0 a 1\n"
    path = tmp_path / "qrels.txt"
    path.write_text(text)
    again = HumanEvaluationCollector()
    again.add_qrels(path, annotator="kim")
    assert again.judgments == collector.judgments
    assert again.to_qrels() == collector.to_qrels()


def test_qrels_go_in_as_a_dict_or_as_the_kernels_own():
    grades = {"q1": {"a": 3, "b": 0}}
    for source in (grades, Qrels.of(grades)):
        collector = HumanEvaluationCollector()
        collector.add_qrels(source)
        assert collector.to_qrels() == grades
        assert {one.annotator for one in collector.judgments} == {"qrels"}


def test_the_kernel_measures_by_what_people_judged():
    collector = collected([judged("q1", "a", 3, "kim"), judged("q1", "b", 0, "kim")])
    assert measure(collector.to_qrels(), {"q1": ["b", "a"]}, ["RR"]).per_query == {"q1": {"RR": 0.5}}


def test_questions_get_ids_before_they_become_trec_text():
    collector = collected([judged("Is it open?", "a", 3, "kim"), judged("Is it shut?", "b c", 1, "kim")])
    with pytest.raises(InputError, match="the qrels as TREC text has 3 problems") as raised:
        collector.to_trec()
    assert "query 'Is it open?' needs an id without white space; pass query_ids={text: id}" in str(raised.value)
    assert "document 'b c' has white space in its id" in str(raised.value)
    collector = collected([judged("Is it open?", "a", 3, "kim"), judged("Is it shut?", "b", 1, "kim")])
    assert collector.to_trec({"Is it open?": "1", "Is it shut?": "2"}) == "1 0 a 3\n2 0 b 1\n"
    with pytest.raises(InputError, match="two queries would have one id"):
        collector.to_trec({"Is it open?": "1", "Is it shut?": "1"})


def test_grades_that_no_judgment_can_have_are_named():
    collector = HumanEvaluationCollector()
    with pytest.raises(InputError, match="no whole numbers from 0 to 3 has 3 problems") as raised:
        collector.add_qrels({"q": {"a": -1, "b": 4, "c": 1.5, "d": 2}})
    assert "document 'a' of query 'q' has the grade -1" in str(raised.value)
    assert collector.judgments == []
