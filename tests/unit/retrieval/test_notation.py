import numpy as np
import pytest

from calibrant.errors import InputError, UnknownNameError, WrongTypeError
from calibrant.retrieval.formulas import FORMULAS
from calibrant.retrieval.notation import FAMILIES, Measure, UserMeasure, named_measures

TEXTS = [
    *["nDCG@10", "nDCG(gain=linear)@5", "AP", "AP@1000", "RR", "R@100", "P(rel=2)@10", "P(rel=1)@10", "F1@10"],
    *["RBP(p=0.8)", "RBP(p=0.95, rel=2)@100", "judged@10", "Rprec", "bpref", "hit@5", "Success@5"],
    *["SetP", "SetR", "SetF1"],
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_of_a_measure_is_its_name(text):
    measure = Measure.parse(text)
    assert str(measure) == measure.name == text
    assert Measure.parse(str(measure)) == measure


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("ndcg@10", "nDCG@10"),
        (" P ( rel = 2 ) @ 10 ", "P(rel=2)@10"),
        ("map", "AP"),
        ("MRR@10", "RR@10"),
        ("recall@5", "R@5"),
        ("precision@5", "P@5"),
        ("RBP(p=.80)", "RBP(p=0.8)"),
        ("RBP(rel=2,p=0.9)", "RBP(p=0.9, rel=2)"),
        ("nDCG(gain=exp)@3", "nDCG(gain=exponential)@3"),
        ("P(rel=2.0)@1", "P(rel=2)@1"),
        ("AP()", "AP"),
        ("R-Precision", "Rprec"),
    ],
)
def test_other_spellings_come_to_one_text(text, canonical):
    assert str(Measure.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nDCG@@10", "expected a measure like 'nDCG@10' or 'P(rel=2)@5', got 'nDCG@@10'"),
        ("", "expected a measure like"),
        ("P@0", "expected a whole number from 1 behind the @ of 'P@0', got '0'"),
        ("P@ten", "expected a whole number from 1 behind the @ of 'P@ten', got 'ten'"),
        ("P@1.5", "got '1.5'"),
        ("P@²", "got '²'"),
        ("Rprec@10", "Rprec has no cutoff, but 'Rprec@10' names one"),
        ("P(relevance=2)@5", "P takes rel=...; got 'relevance=2' in 'P(relevance=2)@5'"),
        ("P(rel=2,rel=3)@5", "got 'rel=3'"),
        ("judged(rel=1)@5", "judged takes no parameters; got 'rel=1'"),
        ("RBP(p=1)", "p is a persistence between 0 and 1, not 1 as in 'RBP(p=1)'"),
        ("RBP(p=x)", "expected a number, got 'x' in 'RBP(p=x)'"),
        ("P(rel=0)@5", "rel is the lowest relevant grade and above 0, not 0 as in 'P(rel=0)@5'"),
        ("nDCG(gain=log)@5", "gain is linear or exponential, not 'log' as in 'nDCG(gain=log)@5'"),
        ("P(2)@5", "P takes rel=...; got '2'"),
    ],
)
def test_a_text_that_is_no_measure_says_what_is_wrong(text, message):
    with pytest.raises(InputError) as error:
        Measure.parse(text)
    assert message in str(error.value)


def test_an_unknown_name_lists_the_measures():
    with pytest.raises(UnknownNameError, match=r"unknown measure 'ERR'; expected one of: AP, F1, P, R, RBP"):
        Measure.parse("ERR@10")


def test_every_family_has_a_formula():
    assert set(FAMILIES) == set(FORMULAS)


def test_parameters_that_were_not_given_are_the_defaults():
    assert Measure.parse("RBP").parameter("p") == 0.8
    assert Measure.parse("P@5").parameter("rel") == 1


def test_one_measure_needs_no_list():
    assert list(named_measures("AP")) == ["AP"]
    assert list(named_measures(Measure.parse("AP"))) == ["AP"]


def test_a_plain_function_is_a_measure_by_its_name():
    def deepest(ranks, grades):
        return float(np.max(ranks, initial=0))

    named = named_measures(["AP", deepest])
    assert list(named) == ["AP", "deepest"]
    assert isinstance(named["deepest"], UserMeasure)


def test_the_same_measure_twice_is_one():
    assert list(named_measures(["AP", "ap", "MAP"])) == ["AP"]


def test_two_measures_of_one_name_are_refused():
    with pytest.raises(InputError, match="two measures are called 'AP'; give one of them another name"):
        named_measures(["AP", UserMeasure("AP", lambda ranks, grades: 0.0)])


def test_no_measures_are_refused():
    with pytest.raises(InputError, match="no measure was asked for"):
        named_measures([])


def test_a_number_is_no_measure():
    with pytest.raises(WrongTypeError, match="a measure is a text like 'nDCG@10' or a function, not 10"):
        named_measures([10])


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("ndcg", "nDCG"),
        ("NDCG_CUT.5", "nDCG@5"),
        (" P_10 ", "P@10"),
        ("p.5", "P@5"),
        ("recall_1000", "R@1000"),
        ("success_1", "Success@1"),
        ("recip_rank", "RR"),
        ("set_P", "SetP"),
        ("set_recall", "SetR"),
        ("set_F", "SetF1"),
        ("P", "P"),
        ("recall", "R"),
    ],
)
def test_trec_evals_names_come_to_the_same_text(text, canonical):
    assert str(Measure.parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndcg_cut_0", "expected a whole number from 1 behind the @ of 'ndcg_cut_0', got '0'"),
        ("set_P_5", "SetP has no cutoff, but 'set_P_5' names one"),
        ("ndcg_cut_x", "unknown measure 'ndcg_cut_x'"),
        ("ndcg_10", "unknown measure 'ndcg_10'"),
        ("P_5@10", "unknown measure 'P_5'"),
        ("num_ret", "unknown measure 'num_ret'"),
    ],
)
def test_what_trec_eval_does_not_have_either_is_refused(text, message):
    with pytest.raises((InputError, UnknownNameError)) as error:
        Measure.parse(text)
    assert message in str(error.value)


def test_a_parameter_of_another_family_is_refused_by_its_name():
    with pytest.raises(InputError, match="nDCG takes gain=...; got 'rel=2' in"):
        Measure.parse("nDCG(rel=2)@10")
    with pytest.raises(InputError, match=r"RBP takes p=..., rel=...; got 'q=0.8' in"):
        Measure.parse("RBP(q=0.8)")


def test_measures_of_other_texts_are_other_measures():
    assert Measure.parse("RBP") != Measure.parse("RBP(p=0.8)")
    assert list(named_measures(["P@5", "P(rel=1)@5", "P@10"])) == ["P@5", "P(rel=1)@5", "P@10"]
