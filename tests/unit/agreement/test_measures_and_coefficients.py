"""Measures as values, coefficients as they are published, and a judge against each of several people."""

import json
import math
import pickle

import pytest

from calibrant.agreement import (
    Coefficient,
    Measure,
    RatingCube,
    Resampling,
    against_each,
    against_majority,
    cohens_kappa,
)
from calibrant.agreement.measures import AVERAGES, MEASURES, WEIGHTS, measure_of
from calibrant.agreement.published import interpreted, value_text
from calibrant.errors import InputError, UnknownNameError
from calibrant.estimates import Coverage

QUICK = Resampling(resamples=200)


def cube(**rows):
    return RatingCube.of({name: dict(enumerate(row)) for name, row in rows.items()})


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_is_its_name_or_itself(name):
    assert measure_of(name) == Measure(name=name)
    assert measure_of(Measure(name=name)) is not None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"name": "kapa"}, "unknown measure 'kapa'; did you mean 'kappa'|expected one of"),
        ({"name": "kappa", "weights": "cubic"}, "unknown weights 'cubic'; expected one of: linear, quadratic"),
        ({"name": "f1", "average": "mean"}, "unknown average 'mean'; expected one of: macro, micro, weighted"),
    ],
)
def test_unknown_words_are_refused(settings, words):
    with pytest.raises(UnknownNameError, match=words):
        Measure(**settings)


@pytest.mark.parametrize("name", sorted(set(MEASURES) - {"kappa", "ac2"}))
def test_only_kappa_and_ac2_have_weights(name):
    with pytest.raises(InputError, match=f"{name} has no weights; kappa and ac2 have"):
        Measure(name=name, weights="linear")


def test_ac2_without_weights_is_quadratic():
    assert Measure(name="ac2").weights == "quadratic"


@pytest.mark.parametrize(
    ("measure", "ordered", "share"),
    [
        (Measure(name="accuracy"), False, True),
        (Measure(name="kappa"), False, False),
        (Measure(name="kappa", weights="linear"), True, False),
        (Measure(name="ac2"), True, False),
        (Measure(name="spearman"), True, False),
        (Measure(name="precision", positive="x"), False, True),
        (Measure(name="recall", positive="x"), False, True),
        (Measure(name="f1", positive="x"), False, False),
        (Measure(name="f1", average="micro"), False, True),
        (Measure(name="precision", average="macro"), False, False),
    ],
)
def test_a_measure_knows_what_it_needs_and_how_its_interval_is_made(measure, ordered, share):
    assert (measure.needs_order, measure.is_share) == (ordered, share)


@pytest.mark.parametrize(
    ("value", "word"),
    [(-1.0, "poor"), (-1e-9, "poor"), (0.0, "slight"), (0.2, "slight"), (0.2001, "fair"), (0.4, "fair"),
     (0.6, "moderate"), (0.61, "substantial"), (0.8, "substantial"), (0.81, "almost perfect"), (1.0, "almost perfect")],
)  # fmt: skip
def test_the_words_are_landis_and_koch_s_with_limits_in_the_lower_class(value, word):
    assert interpreted(value) == word


@pytest.mark.parametrize(
    ("value", "text"),
    [("yes", "yes"), (True, "true"), (False, "false"), (2, "2"), (2.0, "2"), (0.25, "0.25"),
     (frozenset(), "{}"), (frozenset({"b", "a"}), "{a, b}")],
)  # fmt: skip
def test_values_are_written_as_tables_have_them(value, text):
    assert value_text(value) == text


def test_a_coefficient_is_an_estimate_with_what_is_needed_to_read_it():
    found = cohens_kappa(["yes"] * 30 + ["no"] * 10, ["yes"] * 28 + ["no"] * 12, resampling=QUICK)
    data = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert data["name"] == "kappa"
    assert data["prevalence"] == {"no": 22 / 80, "yes": 58 / 80}
    assert (data["observed"], data["expected"]) == (0.95, pytest.approx(0.75 * 0.7 + 0.25 * 0.3))
    assert data["value"] == pytest.approx((0.95 - 0.6) / 0.4)
    assert Coefficient.from_json(data).to_json() == data


def test_a_coefficient_can_be_sent_and_put_in_a_set():
    found = cohens_kappa("xxyy", "xxyx", resampling=QUICK)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert len({found, again}) == 1
    with pytest.raises(TypeError):
        found.prevalence["x"] = 1.0


def test_a_coefficient_without_a_value_has_a_reason_and_no_word():
    missing = Coefficient(value=None, method="kappa", coverage=Coverage(rated=0), reason="nobody", name="kappa")
    assert missing.interpretation is None
    assert str(missing) == "no estimate: nobody (n=0)"


PEOPLE = {"ann": "xxyyxy", "bob": "xyyyxx", "cem": "xxyyyy"}


def test_the_mean_over_people_is_the_plain_mean():
    found = against_each(cube(judge="xxyyxx", **PEOPLE), "judge", resampling=QUICK)
    assert [one.value for one in found.each.values()] == pytest.approx([5 / 6, 5 / 6, 4 / 6])
    assert found.average.value == pytest.approx(14 / 18)
    assert found.to_json()["each"]["ann"]["n"] == 6


def test_people_weigh_alike_however_much_they_rated():
    rows = cube(judge="xxxxxxxx", much="xxxxxxxx", little=["y", *[None] * 7])
    assert against_each(rows, "judge", resampling=QUICK).average.value == 0.5


def test_who_has_no_such_measure_is_left_out_and_named():
    rows = cube(judge="xyxy", ann="xyxx", constant="xxxx", nobody=[None] * 4)
    found = against_each(rows, "judge", "matthews", resampling=QUICK)
    assert set(found.left_out) == {"constant", "nobody"}
    assert found.left_out["nobody"] == "no item was rated by both"
    assert "always gave one answer" in found.left_out["constant"]
    assert found.average.value == found.each["ann"].value


def test_nobody_at_all_is_a_reason_and_not_a_number():
    found = against_each(cube(judge="xx", ann="xx"), "judge", "matthews", resampling=QUICK).average
    assert found.value is None
    assert "always gave one answer, so matthews is not defined" in found.reason


def test_the_coverage_is_of_items_and_failures_of_the_judge_are_failures():
    rows = cube(judge="xyxy", ann=["x", "y", None, "y"], bob=["x", None, None, "y"])
    codes = rows.codes.copy()
    codes[0, 1] = -2
    failed = RatingCube(items=rows.items, raters=rows.raters, values=rows.values, codes=codes)
    coverage = against_each(failed, "judge", resampling=QUICK).average.coverage
    assert (coverage.rated, coverage.failed, coverage.skipped) == (2, 1, 1)


def test_against_the_majority_ties_and_abstentions_are_counted():
    rows = cube(judge="xyxx", ann="xxyx", bob="xyxx")
    first = against_majority(rows, "judge", resampling=QUICK)
    assert (first.value, first.ties, first.abstained, first.n) == (0.75, 2, 0, 4)
    abstained = against_majority(rows, "judge", ties="abstain", resampling=QUICK)
    assert (abstained.value, abstained.ties, abstained.abstained, abstained.n) == (1.0, 2, 2, 2)


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_of_every_average_and_weight_is_finite_or_has_a_reason(name):
    rows = RatingCube.of(
        {"judge": {1: 1, 2: 2, 3: 3, 4: 1}, "ann": {1: 1, 2: 3, 3: 3, 4: 2}, "bob": {1: 1, 2: 1, 3: 1}}
    )
    settings = [{"average": one} for one in AVERAGES]
    settings += [{"weights": one} for one in WEIGHTS] if name in {"kappa", "ac2"} else []
    settings += [{"positive": 1}, {"positive": 9}] if name in {"precision", "recall", "f1"} else []
    for given in settings:
        found = against_each(rows, "judge", Measure(name=name, **given), resampling=QUICK)
        for one in (found.average, *found.each.values()):
            assert one.reason if one.value is None else math.isfinite(one.value)


def test_labels_are_weighted_by_the_order_that_is_given():
    rows = cube(judge=["low", "high", "mid", "low"], ann=["low", "mid", "mid", "high"])
    without = against_each(rows, "judge", Measure(name="kappa", weights="linear"), resampling=QUICK).average
    assert without.reason == "labels have no order of their own; say order=[...] from low to high for kappa"
    order = ["low", "mid", "high"]
    within = against_each(rows, "judge", Measure(name="kappa", weights="linear", order=order), resampling=QUICK).average
    # By hand: seen disagreement (0 + 1/2 + 0 + 1) / 4 = 3/8; by chance (1/2, 1/4, 1/4) x (1/4, 1/2, 1/4) = 7/16.
    assert within.value == pytest.approx(1 - (3 / 8) / (7 / 16))
