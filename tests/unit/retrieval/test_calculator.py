"""The six metrics of one list, and what may stand for a document."""

import math

import pytest
from pydantic import ValidationError

from calibrant.errors import InputError, WrongTypeError
from calibrant.retrieval import ContextItem, RetrievalMetrics, RetrievalMetricsCalculator, SourceType


def items(*ids):
    return [ContextItem(id=one, content="x", source=SourceType.RETRIEVAL) for one in ids]


def test_the_seeds_example_divides_by_what_was_retrieved():
    metrics = RetrievalMetricsCalculator(k=5).evaluate(items("a"), relevant=["a", "b"], k=3)
    assert metrics.precision_at_k == 1.0
    assert metrics.recall_at_k == 0.5
    assert metrics.f1_at_k == pytest.approx(2 / 3)
    assert metrics.mrr == 1.0
    assert metrics.hit_rate == 1.0


def test_a_worked_list_has_the_six_values_that_the_formulas_give():
    # Relevant at ranks 2 and 4 of 4, three relevant in all; by hand from the definitions.
    metrics = RetrievalMetricsCalculator().evaluate(items("x", "a", "y", "b"), relevant=["a", "b", "c"])
    gained = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert metrics.precision_at_k == 0.5
    assert metrics.recall_at_k == pytest.approx(2 / 3)
    assert metrics.f1_at_k == pytest.approx(2 * 0.5 * (2 / 3) / (0.5 + 2 / 3))
    assert metrics.mrr == 0.5
    assert metrics.ndcg == pytest.approx(gained / ideal)
    assert metrics.hit_rate == 1.0


def test_the_result_says_which_conventions_were_used():
    calculator = RetrievalMetricsCalculator()
    assert calculator.evaluate(items("a"), ["a"]).conventions == "seed"
    assert calculator.evaluate(items("a"), ["b"]).conventions == "seed"


def test_all_six_are_cut_at_k():
    metrics = RetrievalMetricsCalculator(k=2).evaluate(items("x", "y", "a"), relevant=["a"])
    assert set(metrics.model_dump(exclude={"conventions"}).values()) == {0.0}


def test_the_ideal_of_ndcg_is_cut_at_k():
    metrics = RetrievalMetricsCalculator(k=2).evaluate(items("a", "b"), relevant=["a", "b", "c", "d"])
    assert metrics.ndcg == 1.0
    assert metrics.recall_at_k == 0.5


def test_more_relevant_documents_than_were_retrieved_count_in_the_ideal():
    metrics = RetrievalMetricsCalculator(k=10).evaluate(items("a"), relevant=["a", "b"])
    assert metrics.ndcg == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_precision_divides_by_k_when_more_was_retrieved():
    assert RetrievalMetricsCalculator(k=2).evaluate(items("a", "x", "y", "z"), relevant=["a"]).precision_at_k == 0.5


def test_k_of_the_call_goes_before_k_of_the_calculator():
    calculator = RetrievalMetricsCalculator(k=1)
    assert calculator.evaluate(items("x", "a"), ["a"]).hit_rate == 0.0
    assert calculator.evaluate(items("x", "a"), ["a"], k=2).hit_rate == 1.0


def test_a_document_retrieved_twice_counts_once():
    metrics = RetrievalMetricsCalculator(k=3).evaluate(items("a", "a", "b"), relevant=["a", "b"])
    assert (metrics.precision_at_k, metrics.recall_at_k, metrics.ndcg) == (1.0, 1.0, 1.0)


def test_a_document_retrieved_twice_does_not_push_another_out_of_the_cutoff():
    assert RetrievalMetricsCalculator(k=2).evaluate(["x", "x", "a"], relevant=["a"]).mrr == 0.5


def test_a_relevant_id_named_twice_counts_once():
    assert RetrievalMetricsCalculator().evaluate(["a"], relevant=["a", "a"]).recall_at_k == 1.0


@pytest.mark.parametrize(("retrieved", "relevant"), [([], ["a"]), (["a"], []), ([], []), (["x"], ["a"])])
def test_nothing_retrieved_or_nothing_relevant_is_zero(retrieved, relevant):
    metrics = RetrievalMetricsCalculator().evaluate(retrieved, relevant)
    assert set(metrics.model_dump(exclude={"conventions"}).values()) == {0.0}


class Hit:
    def __init__(self, name):
        self.id = name


@pytest.mark.parametrize(
    "retrieved",
    [["x", "7"], ["x", 7], [Hit("x"), Hit(7)], [{"id": "x"}, {"id": 7}], ("x", "7"), items("x", "7"), [*items("x"), 7]],
)
def test_ids_mappings_and_objects_with_an_id_are_documents(retrieved):
    assert RetrievalMetricsCalculator().evaluate(retrieved, relevant=[7]).mrr == 0.5


def test_a_generator_is_a_list_too():
    assert RetrievalMetricsCalculator().evaluate((one for one in ["x", "a"]), relevant={"a"}).mrr == 0.5


@pytest.mark.parametrize("k", [0, -1])
def test_a_cutoff_below_one_is_a_value_error_in_both_places(k):
    with pytest.raises(ValueError, match=f"k is the number of documents looked at, so at least 1; got {k}"):
        RetrievalMetricsCalculator(k=k)
    with pytest.raises(ValueError, match="at least 1"):
        RetrievalMetricsCalculator().evaluate([], [], k=k)


@pytest.mark.parametrize("k", ["ten", 2.5, True])
def test_a_cutoff_that_is_no_whole_number_is_a_type_error(k):
    with pytest.raises(TypeError, match="k is a whole number, not"):
        RetrievalMetricsCalculator(k=k)


def test_very_large_cutoffs_take_no_room():
    metrics = RetrievalMetricsCalculator(k=10**12).evaluate(["x", "a"], relevant=["a", "b"])
    assert metrics.ndcg == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))


def test_one_text_is_no_list_of_letters():
    with pytest.raises(WrongTypeError, match=r"relevant is a list of ids .*, not one text: 'abc'"):
        RetrievalMetricsCalculator().evaluate(["a"], relevant="abc")
    with pytest.raises(WrongTypeError, match="retrieved is a list of ids"):
        RetrievalMetricsCalculator().evaluate("abc", relevant=["a"])


def test_grades_are_sent_to_the_kernel_instead_of_losing_their_values():
    with pytest.raises(WrongTypeError, match=r"not a mapping: .*graded judgments go to calibrant.retrieval.measure"):
        RetrievalMetricsCalculator().evaluate(["a"], relevant={"a": 0})


def test_what_has_no_id_is_named():
    with pytest.raises(InputError, match="a document is an id, or something with an `id`; got <object"):
        RetrievalMetricsCalculator().evaluate([object()], relevant=["a"])
    with pytest.raises(InputError, match="document id is empty"):
        RetrievalMetricsCalculator().evaluate([""], relevant=["a"])
    with pytest.raises(WrongTypeError, match="relevant is a list of ids or of items with an `id`, not 5"):
        RetrievalMetricsCalculator().evaluate(["a"], relevant=5)


def test_metrics_are_immutable_and_bounded():
    metrics = RetrievalMetricsCalculator().evaluate(["a"], ["a"])
    with pytest.raises(ValidationError, match="frozen"):
        metrics.mrr = 0.0
    fields = metrics.model_dump()
    for wrong in (1.0001, -0.1, math.nan, math.inf):
        with pytest.raises(ValidationError):
            RetrievalMetrics(**{**fields, "mrr": wrong})


def test_metrics_survive_json():
    metrics = RetrievalMetricsCalculator().evaluate(["x", "a"], ["a"])
    assert RetrievalMetrics.model_validate_json(metrics.model_dump_json()) == metrics


def test_a_context_item_keeps_fields_of_its_own_and_cannot_be_changed():
    item = ContextItem(id=3, content="x", source="memory", page=12)
    assert (item.id, item.source, item.page) == ("3", SourceType.MEMORY, 12)
    with pytest.raises(ValidationError, match="frozen"):
        item.content = "y"
    with pytest.raises(ValidationError, match="document id is empty"):
        ContextItem(id=" ", content="x")
