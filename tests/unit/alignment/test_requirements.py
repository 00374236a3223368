"""Conditions on a report: how they are written, what they are held against, and what they answer."""

import pytest

from calibrant.alignment.comparing import MetricResults
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.requirements import Requirement, answered
from calibrant.alignment.score_report import ScoreReport
from calibrant.alignment.scoring_result import BaseScoringResult
from calibrant.errors import InputError, UnknownNameError
from calibrant.estimates import Coverage, Estimate


def result(judge, scores, intervals=None, scorer="cohens_kappa", **more):
    return BaseScoringResult(
        scorer_name=scorer,
        task_name="safe",
        judge_id=judge,
        scores=scores,
        aggregation_mode=TaskAggregationMode.SINGLE,
        num_comparisons=10,
        intervals={name: one.to_json() for name, one in (intervals or {}).items()},
        **more,
    )


def estimate(value, lower, upper, **counts):
    return Estimate(value=value, lower=lower, upper=upper, method="test", coverage=Coverage(**{"rated": 90, **counts}))


@pytest.fixture
def report(tmp_path):
    kappa = [
        result("good", {"kappa": 0.8}, {"kappa": estimate(0.8, 0.7, 0.9)}),
        result("weak", {"kappa": 0.5}, {"kappa": estimate(0.5, 0.3, 0.7, failed=10)}),
        result("none", {"kappa": None}, reason="one person alone"),
    ]
    rates = [
        result("good", {"winning_rate": {"0.10": 0.0, "0.20": 1.0}, "advantage_probability": 0.9}, scorer="alt_test",
               metadata={"winning_rate_at_epsilon": 1.0})
    ]  # fmt: skip
    metrics = [
        MetricResults(name="kappa_of_safe", scorer_name="cohens_kappa", results=tuple(kappa)),
        MetricResults(name="alt_1", scorer_name="alt_test", results=tuple(rates)),
    ]
    return ScoreReport(metrics, tmp_path)


def verdicts(report, text):
    return {one.judge: one.answer for one in answered(report, [text])}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kappa >= 0.8", ("PASS", "FAIL", "INCONCLUSIVE")),
        ("kappa > 0.8", ("FAIL", "FAIL", "INCONCLUSIVE")),
        ("kappa.value < 0.8", ("FAIL", "PASS", "INCONCLUSIVE")),
        ("kappa.lower >= 0.3", ("PASS", "PASS", "INCONCLUSIVE")),
        ("kappa.upper <= 0.9", ("PASS", "PASS", "INCONCLUSIVE")),
        ("kappa.n >= 90", ("PASS", "PASS", "INCONCLUSIVE")),
        ("kappa.coverage >= 0.95", ("PASS", "FAIL", "INCONCLUSIVE")),
        ("cohens_kappa.lower>=0.5", ("PASS", "FAIL", "INCONCLUSIVE")),
        ("kappa_of_safe.lower >= 0.5", ("PASS", "FAIL", "INCONCLUSIVE")),
        ("  kappa   >=   -1  ", ("PASS", "PASS", "INCONCLUSIVE")),
    ],
)
def test_every_judge_is_held_against_the_condition(report, text, expected):
    assert tuple(verdicts(report, text).values()) == expected


def test_a_rate_over_epsilons_is_that_at_the_epsilon_asked_for(report):
    [found] = answered(report, ["winning_rate >= 0.5"])
    assert (found.answer, found.actual) == ("PASS", 1.0)


def test_what_has_no_number_says_why(report):
    found = {one.judge: one for one in answered(report, ["kappa.lower >= 0.5"])}
    assert str(found["none"]) == "INCONCLUSIVE: kappa.lower >= 0.5 (none, kappa_of_safe: one person alone)"
    assert str(found["weak"]) == "FAIL: kappa.lower >= 0.5 (weak, kappa_of_safe: 0.300)"
    [bound] = answered(report, ["advantage_probability.lower >= 0.5"])
    assert (bound.answer, bound.reason) == ("INCONCLUSIVE", "advantage_probability has no lower")


def test_an_answer_as_json_has_every_field(report):
    [found, *_] = answered(report, ["kappa >= 0.8"])
    assert found.to_json() == {
        "requirement": "kappa >= 0.8", "judge": "good", "metric": "kappa_of_safe", "answer": "PASS", "actual": 0.8,
        "reason": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", "kappa", "kappa >= high", ">= 0.5", "kappa = 0.5", "kappa >= 0.5 or so", "a b > 1"]
)
def test_what_is_no_condition_shows_how_one_is_written(report, text):
    with pytest.raises(InputError, match=r"a requirement is written like 'kappa.lower >= 0.6', not "):
        answered(report, [text])


@pytest.mark.parametrize(
    ("text", "name", "field"),
    [
        ("'tone, v1.2'.lower >= 0.5", "tone, v1.2", "lower"),
        ('"tone, v1.2" >= 0.5', "tone, v1.2", "value"),
        ("'kappa'.n >= 0.5", "kappa", "n"),
        ('"it\'s >= good" >= 0.5', "it's >= good", "value"),
        ("it's.lower >= 0.5", "it's", "lower"),
    ],
)
def test_a_name_of_several_words_or_with_a_dot_is_quoted(text, name, field):
    found = Requirement.parsed(text)
    assert (found.name, found.field, found.limit) == (name, field, 0.5)


def test_an_open_quote_shows_how_a_name_is_quoted():
    with pytest.raises(InputError, match=r"""stands in quotes of its own: "'tone, v1.2'.lower >= 0.6\""""):
        Requirement.parsed("tone v1.2 >= 0.5")


def test_unknown_names_are_listed(report):
    with pytest.raises(UnknownNameError, match="unknown score 'kapa'; did you mean 'kappa'|expected one of"):
        answered(report, ["kapa >= 0.5"])
    with pytest.raises(
        UnknownNameError, match="unknown field of kappa 'mean'; expected one of: coverage, lower, n, upper"
    ):
        answered(report, ["kappa.mean >= 0.5"])


@pytest.mark.parametrize(("text", "limit"), [("a>=1", 1.0), ("a >= -0.25", -0.25), ("a >= 1.", 1.0), ("a<.5", 0.5)])
def test_limits_are_numbers_of_any_sign(text, limit):
    assert Requirement.parsed(text).limit == limit


def test_several_conditions_are_answered_in_order(report):
    found = answered(report, ["winning_rate >= 0.5", "kappa >= 0.9"])
    assert [one.requirement for one in found] == ["winning_rate >= 0.5", *["kappa >= 0.9"] * 3]


def test_no_conditions_have_no_answers(report):
    assert answered(report, []) == []
