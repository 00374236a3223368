import pytest

from calibrant.errors import InputError
from calibrant.runs import Gate, parse_gate
from calibrant.runs.gate_text import checked_gates

METRICS = {"polite": False, "brief": False, "ranking": True}


@pytest.mark.parametrize(
    ("text", "metric", "quantity", "operator", "limit", "is_paired"),
    [
        ("groundedness.pass_rate >= 0.90", "groundedness", "pass_rate", ">=", 0.9, False),
        ("groundedness.pass_rate>=90%", "groundedness", "pass_rate", ">=", 0.9, False),
        ("polite.score >= baseline - 0.02", "polite", "score", ">=", -0.02, True),
        ("polite.pass_rate >= baseline-2%", "polite", "pass_rate", ">=", -0.02, True),
        ("polite.score > baseline", "polite", "score", ">", 0.0, True),
        ("polite.score <= baseline + 0.1", "polite", "score", "<=", 0.1, True),
        ("brief.failing_items <= 2", "brief", "failing_items", "<=", 2.0, False),
        ("brief.failures < 1", "brief", "failures", "<", 1.0, False),
        ("coverage >= 0.98", None, "coverage", ">=", 0.98, False),
        ("  brief.coverage >= .5 ", "brief", "coverage", ">=", 0.5, False),
        ("polite.corrected_pass_rate >= 0.8", "polite", "corrected_pass_rate", ">=", 0.8, False),
        ("ranking/nDCG@10.score >= 0.4", "ranking/nDCG@10", "score", ">=", 0.4, False),
    ],
)
def test_a_gate_is_read_as_it_is_written(text, metric, quantity, operator, limit, is_paired):
    gate = parse_gate(text)
    assert (gate.metric, gate.quantity, gate.operator, gate.is_paired) == (metric, quantity, operator, is_paired)
    assert gate.limit == pytest.approx(limit)
    assert str(gate) == gate.text == text.strip()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("polite", "gate 'polite' is no condition; expected METRIC.QUANTITY >= NUMBER"),
        ("polite.score => 0.5", "is no condition"),
        ("polite.score == 0.5", "is no condition"),
        ("", "gate '' is no condition"),
        (3, "gate 3 is no condition"),
        ("polite >= 0.9", "gate 'polite >= 0.9' does not say what of which metric"),
        (".score >= 0.9", "does not say what of which metric"),
        (
            "polite.mean >= 0.9",
            "'mean'; expected one of: corrected_pass_rate, coverage, failing_items, failures, pass_rate, score",
        ),
        ("polite.score >= high", "has the limit 'high'; expected a number, a percentage or baseline"),
        ("polite.score >= baseline * 2", "has the limit 'baseline * 2'"),
        ("polite.score >= nan", "has the limit 'nan'"),
        ("polite.pass_rate >= 90", "has the limit 90, but pass_rate lies between 0 and 1; did you mean 90%?"),
        ("coverage >= -1", "has the limit -1, but coverage lies between 0 and 1"),
        ("polite.score >= baseline - 2", "moves the baseline's score by -2, but it lies between 0 and 1"),
        (
            "polite.corrected_pass_rate >= baseline",
            (
                "holds corrected_pass_rate against the baseline; that works for coverage, failing_items, failures, "
                "pass_rate, score"
            ),
        ),
    ],
)
def test_a_gate_that_cannot_be_read_says_what_was_expected(text, said):
    with pytest.raises(InputError) as caught:
        parse_gate(text)
    assert said in str(caught.value)


def test_gates_are_held_against_the_metrics_of_the_run():
    gates = checked_gates(
        ["polite.score > 0.5", "ranking/RR.score > 0.5", parse_gate("coverage > 0")], METRICS, has_baseline=False
    )
    assert [gate.metric for gate in gates] == ["polite", "ranking/RR", None]
    assert all(isinstance(gate, Gate) for gate in gates)
    with pytest.raises(InputError, match="is about 'plite'; the metrics of this run are: polite, brief, ranking"):
        checked_gates(["plite.score > 0.5"], METRICS, has_baseline=False)


def test_one_gate_may_be_a_text_alone():
    assert len(checked_gates("polite.score > 0.5", METRICS, has_baseline=False)) == 1


def test_a_gate_against_a_baseline_needs_one():
    with pytest.raises(InputError, match="needs a baseline; name an exported run, or one of the workspace"):
        checked_gates(["polite.score >= baseline"], METRICS, has_baseline=False)
    assert checked_gates(["polite.score >= baseline"], METRICS, has_baseline=True)


def test_everything_wrong_with_the_gates_is_said_at_once():
    with pytest.raises(InputError) as caught:
        checked_gates(["polite", "brief.score >= 7", "polite.score > 0"], METRICS, has_baseline=False)
    assert str(caught.value).startswith("gates has 2 problems:")
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize(
    ("operator", "holds"),
    [
        (">=", (False, True, True)),
        (">", (False, False, True)),
        ("<=", (True, True, False)),
        ("<", (True, False, False)),
    ],
)
def test_a_number_on_the_limit_satisfies_only_a_gate_that_includes_it(operator, holds):
    gate = parse_gate(f"polite.score {operator} 0.5")
    assert tuple(gate.holds(number) for number in (0.4, 0.5, 0.6)) == holds
    assert gate.wants_more == operator.startswith(">")
