"""Similarities of answer and reference: several references, letters of all kinds, embedders, and failures."""

import asyncio
import importlib.util
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant import EvalInput
from calibrant.errors import ModelCallError, UnknownNameError
from calibrant.metrics import (
    EditSimilarityMetric,
    RougeLMetric,
    SemanticSimilarityMetric,
    TextSimilarityMetric,
    common_subsequence,
    edit_distance,
    matching_ratio,
)
from calibrant.metrics.similarity import words_of
from calibrant.models.gguf_files import is_fetched
from calibrant.runs import run

ALL = pytest.mark.parametrize("made", [RougeLMetric, EditSimilarityMetric, TextSimilarityMetric])


def result_of(metric, answer, reference):
    return asyncio.run(metric.evaluate(EvalInput(id="q1", answer=answer, ground_truth=reference)))


@ALL
def test_equal_texts_are_alike_and_texts_without_a_letter_in_common_are_not(made):
    assert result_of(made(), "It opens at ten.", "It opens at ten.").score == 1.0
    assert result_of(made(), "aaa", "bbb").score == 0.0
    assert result_of(made(), "", "").score == 1.0
    assert result_of(made(), "", "abc").score == 0.0


@ALL
def test_case_counts_only_where_it_is_asked_for(made):
    assert result_of(made(), "OPEN", "open").score == 1.0
    assert result_of(made(case_sensitive=True), "OPEN", "open").score == 0.0
    assert made().instrument != made(case_sensitive=True).instrument


@ALL
def test_the_reference_that_is_most_alike_counts_and_is_told(made):
    result = result_of(made(), "at ten", ["nothing here", "at ten", "at ten o'clock"])
    assert (result.score, result.details["reference"]) == (1.0, 1)
    assert "reference" not in result_of(made(), "at ten", ["at ten"]).details
    tied = result_of(made(), "at ten", ["at ten", "at ten"])
    assert tied.details["reference"] == 0


@ALL
@pytest.mark.parametrize("reference", [5, ["a", 5], {"a": "b"}])
def test_a_reference_that_is_no_text_is_an_error_and_no_score(made, reference):
    found = result_of(made(), "a", reference)
    assert (found.score, found.error.code) == (None, "metric_error")
    assert "ground_truth of item 'q1' is a text or a list of texts for this metric, not " in found.error.message


@ALL
def test_an_answer_that_is_no_text_is_an_error_and_no_score(made):
    found = result_of(made(), ["a"], "a")
    assert "answer of item 'q1' is a text for this metric, not ['a']" in found.error.message


@ALL
def test_an_item_without_a_reference_is_not_applicable_and_without_the_field_skipped(made):
    assert result_of(made(), "a", []).status == "not_applicable"
    found = asyncio.run(made().evaluate(EvalInput(id="q1", answer="a")))
    assert (found.status, found.error.code) == ("skipped", "missing_field")


@ALL
def test_another_field_may_be_compared(made):
    metric = made(field="summary")
    result = asyncio.run(metric.evaluate(EvalInput(summary="at ten", ground_truth="at ten")))
    assert result.score == 1.0


@pytest.mark.parametrize(
    ("answer", "reference", "score"),
    [
        ("the the the", "the", 2 * 1 / 4),
        ("b a", "a b", 2 * 1 / 4),
        ("one, two; three!", "one two three", 1.0),
        ("don't", "do not", 0.0),
        ("été à Paris", "ÉTÉ À PARIS", 1.0),
        ("a b c d", "a c", 2 * 2 / 6),
        ("...", "!", 1.0),
    ],
)
def test_rouge_l_counts_words_in_their_order(answer, reference, score):
    assert result_of(RougeLMetric(), answer, reference).score == pytest.approx(score)


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("flaw", "lawn", 2),
        ("intention", "execution", 5),  # Jurafsky and Martin, Speech and Language Processing, section 2.5
        ("\U0001f600a", "a", 1),
        ("e\u0301", "\u00e9", 2),
        ("a" * 1000, "b" * 1000, 1000),
        ("a" * 1000, "a" * 999, 1),
    ],
)
def test_edit_distances_count_code_points(first, second, distance):
    assert edit_distance(first, second) == edit_distance(second, first) == distance


def test_subsequences_are_of_whatever_can_be_hashed():
    assert common_subsequence([1, "a", None], [None, 1, "a"]) == 2
    assert common_subsequence([], [1]) == common_subsequence([1], []) == 0


def test_long_texts_that_differ_in_one_word_of_ten_stay_alike():
    # With difflib's popularity heuristic such texts score 0.03 to 0.45.
    words = ["word", "other", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
    first = " ".join(words * 10)
    second = " ".join([*words[:9], "changed"] * 10)
    assert len(first) > 200
    assert matching_ratio(first, second) > 0.85


def test_a_run_takes_similarities_without_any_model():
    items = [{"id": 1, "answer": "at ten", "ground_truth": "at ten"}, {"id": 2, "answer": "no", "ground_truth": "yes"}]
    result = run(items, [RougeLMetric(), EditSimilarityMetric(), TextSimilarityMetric()])
    assert [summary.pass_rate.value for summary in result.metrics] == [0.5, 0.5, 0.5]
    assert result.usage.calls == 0


def plane(texts):
    """Texts of the same length are alike, longer ones lie further round."""
    return [(float(len(text)), 1.0) for text in texts]


async def slow_plane(texts):
    await asyncio.sleep(0)
    return plane(texts)


class Embedder:
    name = "test/plane"

    def __init__(self, embed):
        self.embed = embed


@pytest.mark.parametrize("embedder", [plane, slow_plane, Embedder(plane), Embedder(slow_plane)])
def test_an_embedder_is_a_function_or_has_one_sync_or_async(embedder):
    metric = SemanticSimilarityMetric(embedder)
    assert result_of(metric, "aa", "bb").score == pytest.approx(1.0)
    assert result_of(metric, "aa", "bbbbbbbb").score < 1.0
    assert result_of(metric, "aa", ["bbbbbbbb", "bb"]).score == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        ([[1.0], [1.0], [1.0]], "2 texts need as many embeddings, got 3"),
        ([[1.0], []], "an embedding is a row of finite numbers, and one of these is not"),
        ([[1.0], [float("inf")]], "an embedding is a row of finite numbers, and one of these is not"),
        ([[1.0, 0.0], [0.0, 0.0]], "an embedding of zeros has no direction, so it cannot be compared"),
    ],
)
def test_what_is_no_embedding_is_a_failure_and_never_zero(vectors, problem):
    found = result_of(SemanticSimilarityMetric(lambda texts: vectors), "a", "b")
    assert (found.score, found.error is None) == (None, False)
    assert problem in found.error.message


def test_an_embedder_that_raises_is_a_failure_of_the_item_alone():
    def moody(texts):
        if "bad" in texts[0]:
            raise RuntimeError("no")
        return plane(texts)

    items = [EvalInput(id=str(n), answer=text, ground_truth="good") for n, text in enumerate(["good", "bad", "good"])]
    found = asyncio.run(SemanticSimilarityMetric(moody).evaluate(items))
    assert [one.status for one in found] == ["rated", "failed", "rated"]
    assert "RuntimeError: no" in found[1].error.message


def test_huge_and_tiny_numbers_do_not_overflow():
    metric = SemanticSimilarityMetric(lambda texts: [[1e200, 1e200], [1e-200, 1e-200]])
    assert result_of(metric, "a", "b").score == pytest.approx(1.0)


@pytest.mark.skipif(importlib.util.find_spec("wordllama") is None, reason="needs the extra [local]")
@pytest.mark.skipif(not is_fetched("local/smollm2"), reason="the offline models were not fetched")
def test_the_offline_embedder_works_by_its_name_and_shows_why_alike_is_not_faithful():
    metric = SemanticSimilarityMetric("local/wordllama")
    near = result_of(metric, "The card costs 12 euros a year.", "The card costs 21 euros a year.")
    far = result_of(metric, "Dogs are not allowed in the pool.", "The card costs 21 euros a year.")
    assert near.score > far.score
    assert near.score > 0.8


@pytest.mark.parametrize(
    ("answer", "reference", "why"),
    [
        ("", "Paris", "item 'q1' has nothing in answer, so there is nothing to embed"),
        (" \n", ["Paris"], "item 'q1' has nothing in answer, so there is nothing to embed"),
        ("Paris", " ", "item 'q1' has no reference"),
        ("Paris", ["", " "], "item 'q1' has no reference"),
        ("Paris", [], "item 'q1' has no reference"),
    ],
)
def test_what_cannot_be_embedded_is_not_applicable_and_no_embedder_is_asked(answer, reference, why):
    def never(texts):
        raise AssertionError(texts)

    result = result_of(SemanticSimilarityMetric(never), answer, reference)
    assert (result.score, result.error.code, result.error.message) == (None, "not_applicable", why)


def test_an_empty_reference_beside_others_is_left_out():
    seen = []

    def noting(texts):
        seen.append(texts)
        return [[1.0, 0.0]] * len(texts)

    assert result_of(SemanticSimilarityMetric(noting), "Paris", ["", "Lutetia"]).score == 1.0
    assert seen == [["Paris", "Lutetia"]]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        (
            "local/wordlama",
            UnknownNameError,
            "unknown local embedding model 'local/wordlama'; expected one of: local",
        ),
        ("nobody/embedder", UnknownNameError, "unknown .*provider 'nobody'"),
        ("anthropic/claude", ModelCallError, "gives no embeddings over the OpenAI wire; name another model"),
    ],
)
def test_an_embedder_that_there_is_not_is_refused_when_the_metric_is_made(name, error, message):
    with pytest.raises(error, match=message):
        SemanticSimilarityMetric(name)


@given(st.text(st.characters(max_codepoint=0x2100), max_size=30))
def test_words_are_the_same_whether_a_text_is_read_at_once_or_letter_by_letter(text):
    # A letter of a script without spaces has the text read letter by letter.
    assert [*words_of(text), "\u0e01"] == words_of(f"{text} \u0e01")


def test_no_mark_is_parted_from_its_letter():
    marks = [letter for letter in map(chr, range(0x110000)) if unicodedata.category(letter).startswith("M")]
    assert [f"{ord(mark):x}" for mark in marks if words_of(f"a{mark}b") != [f"a{mark}b"]] == []
