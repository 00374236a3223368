"""Worked examples, with their sources."""

import math

import pytest

from calibrant.retrieval import measure


def ranked(grades, text, *, unretrieved=(), **policies):
    """A measure of one query whose first documents have these grades (None: not judged)."""
    documents = [f"d{place:02d}" for place in range(len(grades))]
    qrels = {document: grade for document, grade in zip(documents, grades, strict=True) if grade is not None}
    qrels |= {f"u{place}": grade for place, grade in enumerate(unretrieved)}
    return measure({"q": qrels}, {"q": documents}, text, **policies).of(text)[0]


# Manning, Raghavan and Schuetze, Introduction to Information Retrieval, exercise 8.8: two rankings of relevant (R) and
# other (N) documents, 4 relevant in all; by hand (1 + 2/3 + 3/9 + 4/10) / 4 and (1/2 + 2/5 + 3/6 + 4/7) / 4.
@pytest.mark.parametrize(("marks", "value"), [("RNRNNNNNRR", 0.6), ("NRNNRRRNNN", 0.49)])
def test_average_precision_as_in_iir_exercise_8_8(marks, value):
    assert ranked([int(mark == "R") for mark in marks], "AP") == pytest.approx(value, abs=0.005)


# Manning et al., exercise 8.9 (8 relevant documents in the collection): RRNNN NNNRN RNNNR NNNNR; precision of the
# first 20 is 6/20, F1 is 3/7, MAP of the first 20 is (1 + 1 + 3/9 + 4/11 + 5/15 + 6/20) / 8 = 0.416.
def test_precision_f1_and_average_precision_as_in_iir_exercise_8_9():
    grades = [int(mark == "R") for mark in "RRNNNNNNRNRNNNRNNNNR"]
    assert ranked(grades, "P@20", unretrieved=[1, 1]) == pytest.approx(0.3)
    assert ranked(grades, "F1@20", unretrieved=[1, 1]) == pytest.approx(3 / 7)
    assert ranked(grades, "AP", unretrieved=[1, 1]) == pytest.approx(0.416, abs=5e-4)


# Jaervelin and Kekaelaeinen (2002), Cumulated gain-based evaluation of IR techniques, section 2.2: the gain vector
# G' = <3, 2, 3, 0, 0, 1, 2, 2, 3, 0> and the ideal I' = <3, 3, 3, 2, 2, 2, 1, 1, 1, 1>. The later discount
# log2(rank + 1) is used here: DCG by hand for the first three ranks.
def test_ndcg_of_the_gain_vector_of_jarvelin_and_kekalainen():
    gains, ideal = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0], [3, 3, 3, 2, 2, 2, 1, 1, 1, 1]
    left = list(ideal)
    for gain in gains:
        if gain:
            left.remove(gain)
    log3 = math.log2(3)
    assert ranked(gains, "nDCG@3", unretrieved=left) == pytest.approx((3 + 2 / log3 + 1.5) / (3 + 3 / log3 + 1.5))
    exponential = (7 + 3 / log3 + 3.5) / (7 + 7 / log3 + 3.5)
    assert ranked(gains, "nDCG(gain=exponential)@3", unretrieved=left) == pytest.approx(exponential)
    assert ranked(gains, "nDCG@3", unretrieved=left, gain="exponential") == pytest.approx(exponential)


# Moffat and Zobel (2008), Rank-biased precision for measurement of retrieval effectiveness: (1 - p) times the sum of
# p**(rank - 1); by hand for relevant documents at 1 and 6. The residual of d judged documents is p**d.
def test_rank_biased_precision_and_its_residual():
    grades = [1, 0, 0, 0, 0, 1, 0]
    assert ranked(grades, "RBP(p=0.5)") == pytest.approx(0.5 + 0.5**6)
    documents = [f"d{place}" for place in range(7)]
    result = measure({"q": dict(zip(documents, grades, strict=True))}, {"q": documents}, "RBP(p=0.5)")
    assert result.residual("RBP(p=0.5)")[0] == pytest.approx(0.5**7)
    assert result.residuals["RBP(p=0.5)"] == pytest.approx(0.5**7)


# Buckley and Voorhees (2004), Retrieval evaluation with incomplete information: bpref = 1/R sum (1 - n above r / R)
# for R relevant documents, with only the first R judged non-relevant ones counted. By hand: R = 2, N = 2,
# ranking n r n r: (1 - 1/2 + 1 - 2/2) / 2 = 0.25; an unjudged document changes nothing.
@pytest.mark.parametrize("grades", [[0, 1, 0, 1], [0, None, 1, None, None, 0, 1], [None, 0, 1, 0, 1, None]])
def test_bpref_ignores_what_was_not_judged(grades):
    assert ranked(grades, "bpref") == pytest.approx(0.25)


# McSherry and Najork (2008), Computing IR performance measures efficiently in the presence of tied scores: with r of n
# tied documents relevant, the expected precision at k <= n is r/n, and the expected reciprocal rank of 1 in n is H_n/n.
def test_expected_values_of_one_great_tie():
    run = {"q": {f"d{place}": 1.0 for place in range(4)}}
    result = measure({"q": {"d2": 1}}, run, ["P@1", "P@2", "RR", "AP"], ties="expected")
    harmonic = (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4
    assert list(result.per_query["q"].values()) == pytest.approx([1 / 4, 1 / 4, harmonic, harmonic])


# design 7.7, the seed's example: one retrieved, relevant, of two relevant, k = 3: precision 1.0.
def test_the_seeds_precision_divides_by_what_was_retrieved():
    assert ranked([1], "P@3", unretrieved=[1], conventions="seed") == 1.0
    assert ranked([1], "P@3", unretrieved=[1]) == pytest.approx(1 / 3)
