"""Numbers of papers and of the standard library's documentation."""

import asyncio

import pytest

from calibrant import EvalInput
from calibrant.metrics.similarity import RougeLMetric, common_subsequence, edit_distance, matching_ratio

# Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries, section 3.1: reference S1, candidates S2 and S3.
S1, S2, S3 = "police killed the gunman", "police kill the gunman", "the gunman kill police"


@pytest.mark.parametrize(("candidate", "expected"), [(S2, 3 / 4), (S3, 2 / 4)])
def test_rouge_l_of_lins_example(candidate, expected):
    assert RougeLMetric().similarity(candidate, S1) == pytest.approx(expected)


# Lin (2004), section 3.1: candidate S4 of the same example has an LCS of 2 with S1.
def test_the_longest_common_subsequence_of_lins_example():
    assert common_subsequence(["the", "gunman", "police", "killed"], S1.split()) == 2


# rouge-score 0.1.2, RougeScorer(["rougeL"], use_stemmer=False).score(reference, answer)["rougeL"].fmeasure
@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        (
            "The town library opens at nine on weekdays.",
            "On weekdays the library opens at nine, I think.",
            0.5882352941176471,
        ),
        (
            "Don't set snake_case_names, use 3.5 or v2!",
            "Do not set snake case names; use 3 or 5.",
            0.6666666666666666,
        ),
        ("It costs 1,250 euros (about 10%).", "it costs about 1250 EUROS", 0.5),
        (
            "The cat sat on the mat. The dog barked at the cat.",
            "The dog barked at the cat. The cat sat on the mat.",
            0.5,
        ),
        ("a b c d e f g", "g f e d c b a", 0.14285714285714285),
    ],
)
def test_rouge_l_is_that_of_the_rouge_score_package(reference, answer, expected):
    item = EvalInput(answer=answer, ground_truth=reference)
    assert asyncio.run(RougeLMetric().evaluate(item)).score == pytest.approx(expected, rel=1e-12)


# Wagner and Fischer (1974) define it; these pairs are the usual textbook ones (Gusfield 1997, section 11.2: vintner).
@pytest.mark.parametrize(
    ("first", "second", "distance"), [("vintner", "writers", 5), ("kitten", "sitting", 3), ("saturday", "sunday", 3)]
)
def test_edit_distances_of_textbooks(first, second, distance):
    assert edit_distance(first, second) == distance


# Cormen et al., Introduction to Algorithms, section 15.4: BCBA is a longest common subsequence.
def test_the_longest_common_subsequence_of_a_textbook():
    assert common_subsequence("ABCBDAB", "BDCABA") == 4


# The Python documentation of difflib: SequenceMatcher(None, "tide", "diet").ratio() is 0.25, swapped 0.5.
def test_the_ratio_of_the_documentations_example():
    assert matching_ratio("tide", "diet") == 0.25
    assert matching_ratio("diet", "tide") == 0.5
