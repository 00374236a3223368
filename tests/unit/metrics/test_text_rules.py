"""Rules about texts: what each says, and what it refuses."""

import asyncio
import re

import pytest

from calibrant import EvalInput
from calibrant.errors import InputError, WrongTypeError
from calibrant.metrics import (
    ContainsMetric,
    EditSimilarityMetric,
    ExactMatchMetric,
    JSONEqualityMetric,
    JSONSchemaMetric,
    LengthMetric,
    NumericMetric,
    RegexMetric,
    RougeLMetric,
    SemanticSimilarityMetric,
    TextSimilarityMetric,
)

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name"],
}


def score(metric, answer, reference="reference"):
    result = asyncio.run(metric.evaluate(EvalInput(id="q1", answer=answer, ground_truth=reference)))
    assert result.error is None, result.error
    assert result.success is (result.score >= metric.threshold)
    return result.score


def failure(metric, answer, reference="reference"):
    return asyncio.run(metric.evaluate(EvalInput(id="q1", answer=answer, ground_truth=reference))).error


@pytest.mark.parametrize(
    ("metric", "answer", "reference", "expected"),
    [
        (ExactMatchMetric(), "Paris", "Paris", 1.0),
        (ExactMatchMetric(), "paris", "Paris", 0.0),
        (ExactMatchMetric(normalise=True), " paris\n", "Paris", 1.0),
        (ExactMatchMetric(), "b", ["a", "b"], 1.0),
        (ExactMatchMetric(), ["a", "b"], ["a", "b"], 1.0),
        (ExactMatchMetric(), ["b", "a"], ["a", "b"], 0.0),
        (ExactMatchMetric(), 1, True, 0.0),
        (ContainsMetric(), "It is in Paris.", "paris", 1.0),
        (ContainsMetric(case_sensitive=True), "It is in Paris.", "paris", 0.0),
        (ContainsMetric(), "a b", ["a", "c"], 0.5),
        (ContainsMetric(), "a b", ["c", ""], 0.0),
        (ContainsMetric(["a", "b", "c", "d"]), "a b c", None, 0.75),
        (ContainsMetric("ten"), "open at ten", None, 1.0),
        (ContainsMetric(excluded="sorry"), "I am sorry", None, 0.0),
        (ContainsMetric(excluded=["sorry"]), "Yes", None, 1.0),
        (ContainsMetric("yes", excluded=["sorry"]), "Yes, sorry", None, 0.0),
        (RegexMetric(r"\d{4}"), "in 1999", None, 1.0),
        (RegexMetric(r"\d{4}", full=True), "in 1999", None, 0.0),
        (RegexMetric("PARIS", flags=re.IGNORECASE), "paris", None, 1.0),
        (NumericMetric(), "It is 1,234.5.", 1234.5, 1.0),
        (NumericMetric(), "12%", "0.12", 1.0),
        (NumericMetric(), "12 %", "0.12", 1.0),
        (NumericMetric(), "12\u00a0%", "12%", 1.0),
        (NumericMetric(), "1e400 or 7", 7, 1.0),
        (NumericMetric(), 3, 3.0, 1.0),
        (NumericMetric(absolute=0.5), "9.6", "10", 1.0),
        (NumericMetric(relative=0.01), "9.8", "10", 0.0),
        (NumericMetric(), "2 + 2 = 4", 4, 0.0),
        (NumericMetric(last=True), "2 + 2 = 4", 4, 1.0),
        (NumericMetric(), "no idea", 4, 0.0),
        (NumericMetric(), "-5", 5, 0.0),
        (LengthMetric(most=3), "one two three", None, 1.0),
        (LengthMetric(most=2), "one two three", None, 0.0),
        (LengthMetric(least=4), "one two three", None, 0.0),
        (LengthMetric(most=5, unit="characters"), "12345", None, 1.0),
        (LengthMetric(least=2, unit="lines"), "a\nb", None, 1.0),
        (JSONSchemaMetric(PERSON), '{"name": "Kim", "age": 3}', None, 1.0),
        (JSONSchemaMetric(PERSON), '{"age": 3}', None, 0.0),
        (JSONSchemaMetric(PERSON), '{"name": "Kim", "age": -3}', None, 0.0),
        (JSONSchemaMetric(PERSON), "Kim", None, 0.0),
        (JSONSchemaMetric(PERSON), '{"name": NaN}', None, 0.0),
        (JSONSchemaMetric(PERSON), {"name": "Kim"}, None, 1.0),
        (JSONEqualityMetric(), '{"a": 1, "b": [1.0, true]}', '{"b": [1, true], "a": 1.0}', 1.0),
        (JSONEqualityMetric(), '{"a": 1}', {"a": True}, 0.0),
        (JSONEqualityMetric(), "[1, 2]", [2, 1], 0.0),
        (JSONEqualityMetric(), "no json", {"a": 1}, 0.0),
        (JSONEqualityMetric(), {"a": None}, '{"a": null}', 1.0),
        (RougeLMetric(), "", "", 1.0),
        (RougeLMetric(), "Same words.", "same WORDS", 1.0),
        (RougeLMetric(case_sensitive=True), "same", "SAME", 0.0),
        (RougeLMetric(), "a b", ["c d", "a b"], 1.0),
        (RougeLMetric(), "caf\u00e9", "cafe\u0301", 1.0),
        (EditSimilarityMetric(), "caf\u00e9", "cafe\u0301", 1.0),
        (TextSimilarityMetric(case_sensitive=True), "caf\u00e9", "cafe\u0301", 1.0),
        (RougeLMetric(), "करना", "करनी", 0.0),
        (RougeLMetric(), "東京は首都", "東京は日本の首都", 10 / 13),
        (EditSimilarityMetric(), "kitten", "sitting", 1 - 3 / 7),
        (EditSimilarityMetric(), "", "", 1.0),
        (TextSimilarityMetric(), "abcd", "bcde", 0.75),
    ],
)
def test_a_rule_says(metric, answer, reference, expected):
    assert score(metric, answer, reference) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "answer", "reference", "code", "message"),
    [
        (RegexMetric("a"), 5, None, "metric_error", "answer of item 'q1' is a text for this metric, not 5"),
        (RougeLMetric(), "a", [1], "metric_error", "ground_truth of item 'q1' is a text or a list of texts"),
        (RougeLMetric(), "a", [], "not_applicable", "item 'q1' has no reference"),
        (ContainsMetric(), "a", [], "not_applicable", "names no text that shall be contained"),
        (ContainsMetric(), "a", "", "not_applicable", "names no text that shall be contained"),
        (ExactMatchMetric(), "a", [], "not_applicable", "item 'q1' has no reference"),
        (NumericMetric(), "4", "four", "metric_error", "the reference of item 'q1' is one number, not 'four'"),
        (JSONEqualityMetric(), "{}", "{", "metric_error", "the reference of item 'q1' is no JSON"),
    ],
)
def test_what_a_rule_cannot_judge_is_no_score(metric, answer, reference, code, message):
    found = failure(metric, answer, reference)
    assert found.code == code
    assert message in found.message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RegexMetric("a", flags="i"), r"flags is a number, such as re.IGNORECASE \(2\), not 'i'"),
        (lambda: ContainsMetric(""), "texts is a text or a list of texts, and none is empty, not ''"),
        (lambda: ContainsMetric(["a", 5]), "texts is a text or a list of texts, and none is empty, not .'a', 5"),
        (lambda: ContainsMetric("a", excluded=5), "excluded is a text or a list of texts, and none is empty, not 5"),
        (lambda: RegexMetric("("), "pattern '\\(' is no regular expression"),
        (lambda: LengthMetric(unit="pages"), "unit is one of characters, words, lines, not 'pages'"),
        (lambda: LengthMetric(least=3, most=2), "length is between least and most, not between 3 and 2"),
        (lambda: NumericMetric(absolute=-1), "absolute is a tolerance, finite and not negative, not -1"),
        (lambda: JSONSchemaMetric({"properties": {"a": {"uniqueItems": True}}}), "the schema uses uniqueItems, which"),
    ],
)
def test_settings_that_mean_nothing_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_rule_may_be_about_another_field():
    metric = LengthMetric(field="query", most=2, name="brief_query")
    result = asyncio.run(metric.evaluate(EvalInput(query="one two three")))
    assert (result.score, result.explanation) == (0.0, "3 words")
    assert asyncio.run(metric.evaluate(EvalInput(answer="x"))).error.code == "missing_field"


def test_a_missing_field_is_skipped():
    assert asyncio.run(ExactMatchMetric().evaluate(EvalInput(answer="x"))).error.code == "missing_field"
    assert asyncio.run(ContainsMetric().evaluate(EvalInput(answer="x"))).error.code == "missing_field"
    assert asyncio.run(ContainsMetric("x").evaluate(EvalInput(answer="x"))).score == 1.0


def test_rules_ask_nobody_and_say_what_they_are():
    metric = RegexMetric("a")
    result = asyncio.run(metric.evaluate(EvalInput(answer="a")))
    assert metric.estimated_calls(EvalInput(answer="a")) == 0
    assert (result.judges[0].rater, result.judges[0].usage) == ("rule:regex", None)
    assert RegexMetric("a").instrument != RegexMetric("b").instrument


class Embedder:
    name = "test/plane"

    async def embed(self, texts):
        return [[float(len(text)), 1.0] for text in texts]


def test_semantic_similarity_is_the_cosine_of_the_angle():
    assert score(SemanticSimilarityMetric(Embedder()), "aa", "bb") == pytest.approx(1.0)
    vectors = {"a": [1.0, 0.0], "b": [1.0, 1.0], "c": [-1.0, 0.0]}
    metric = SemanticSimilarityMetric(lambda texts: [vectors[text] for text in texts])
    assert score(metric, "a", "b") == pytest.approx(0.5**0.5)
    assert score(metric, "a", "c") == 0.0
    assert score(metric, "a", ["c", "b"]) == pytest.approx(0.5**0.5)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0]], "2 texts need as many embeddings, got 1"),
        ([[0.0], [1.0]], "an embedding of zeros has no direction"),
        ([[float("nan")], [1.0]], "an embedding is a row of finite numbers"),
        ([[1.0, 2.0], [1.0]], "embeddings of 2 and 1 numbers cannot be compared"),
    ],
)
def test_embeddings_that_are_none_are_failures_and_not_zeros(vectors, message):
    assert message in failure(SemanticSimilarityMetric(lambda texts: vectors), "a", "b").message


def test_an_embedder_is_a_function_or_a_name():
    with pytest.raises(WrongTypeError, match="embedder is a function from texts to vectors, or a name, not 5"):
        SemanticSimilarityMetric(5)
    named = [SemanticSimilarityMetric(one).instrument for one in ("local/wordllama", "other", Embedder())]
    assert len(set(named)) == 3
