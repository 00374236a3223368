import csv
import io
import re

import pytest
from sample_runs import brief, items, jury, kept, share, tone

from calibrant import metric, run
from calibrant.report import comparison_csv, comparison_text, run_csv, run_text
from calibrant.report.columns import aligned
from calibrant.report.comparison_tables import p_value_text, verdict_text
from calibrant.report.tables import estimate_text, gate_lines, money, named_item
from calibrant.runs import compare


@pytest.fixture(scope="module")
def made():
    labels = [
        {"item": f"q{number}", "criterion": "groundedness", "annotator": "kim", "value": "yes" if number % 4 else "no"}
        for number in range(30)
    ]
    return kept(
        items(),
        [jury(failing={3}), brief],
        name="support",
        cluster="customer",
        labels=labels,
        gates=["brief.failing_items <= 2", "groundedness.pass_rate >= 0.62"],
        system=lambda item: item.answer,
    )


@pytest.fixture(scope="module")
def blocks(made):
    return run_text(made.to_json()).split("\n\n")


def test_tokens_that_no_provider_counted_are_not_none_at_all(made):
    none = {**made.to_json()["usage"], "calls": 3, "cached": 1, "input_tokens": 0, "output_tokens": 0}
    for usage, said in (
        (none, "3 calls, 1 from the workspace, no tokens counted by the provider"),
        ({**none, "calls": 0, "cached": 3}, "0 calls, 3 from the workspace, 0 tokens read, 0 written"),
        ({**none, "output_tokens": 2}, "3 calls, 1 from the workspace, 0 tokens read, 2 written"),
    ):
        assert said in run_text({**made.to_json(), "usage": usage}).splitlines()[-1]


def test_the_first_line_says_which_run_of_what(made, blocks):
    assert blocks[0] == f"support  {made.id}  40 items of items in 7 clusters"
    assert (
        run_text({**made.to_json(), "status": "incomplete"})
        .splitlines()[0]
        .endswith("INCOMPLETE: the numbers are partial")
    )


def test_one_row_a_metric_with_interval_counts_and_cost(made, blocks):
    header, judged, rule = blocks[1].splitlines()
    assert header.split("  ")[0] == "metric"
    rate = made.metric("groundedness").pass_rate
    assert f"{rate.value:.3f} [{rate.lower:.3f}, {rate.upper:.3f}]" in judged
    assert "1 quorum_not_met" in judged
    low, high = rate.worst_case
    assert f"{low:.3f} to {high:.3f}" in judged
    assert rule.split()[0] == "brief"
    assert rule.rstrip().endswith("-")


def test_the_corrected_rate_stands_beside_the_judge_s_own(made, blocks):
    [line] = [block for block in blocks if block.startswith("groundedness: corrected by people")]
    assert line.endswith(f"the judge's own {estimate_text(made.metric('groundedness').pass_rate.to_json())}")


def test_failures_are_named_with_an_example_that_is_cut(blocks):
    [line] = [block for block in blocks if block.startswith("groundedness: 1 quorum_not_met")]
    assert line.startswith("groundedness: 1 quorum_not_met, for example item q3: 0 of 3 judges answered")
    assert line.endswith("...")


def test_gates_votes_system_and_calls_are_told(made, blocks):
    text = "\n\n".join(blocks)
    assert "FAIL  brief.failing_items <= 2 (16 of 40 fail)" in text
    assert "groundedness: least stable " in text
    assert "; two votes disagree on " in text
    assert f"system {made.system.name}: 40 calls, p50 " in text
    assert blocks[-1].startswith(f"{made.usage.calls} calls, 0 from the workspace, ")


def test_a_rule_asks_no_model():
    assert run_text(kept(items(2), [brief]).to_json()).endswith("no model was asked")


def test_the_csv_has_a_row_for_every_estimate(made):
    rows = list(csv.DictReader(io.StringIO(run_csv(made.to_json()))))
    assert [(row["metric"], row["estimate"]) for row in rows] == [
        ("groundedness", "pass_rate"),
        ("groundedness", "score"),
        ("groundedness", "corrected_pass_rate"),
        ("brief", "pass_rate"),
        ("brief", "score"),
    ]
    assert float(rows[3]["value"]) == made.metric("brief").pass_rate.value
    assert (rows[0]["rated"], rows[0]["failed"]) == ("39", "1")
    assert float(rows[0]["worst_high"]) == made.metric("groundedness").pass_rate.worst_case[1]


@pytest.mark.parametrize(
    ("estimate", "text"),
    [
        (None, "-"),
        ({"value": None, "lower": None, "upper": None}, "-"),
        ({"value": 0.5, "lower": None, "upper": None}, "0.500"),
        ({"value": 0.5, "lower": 0.25, "upper": None}, "0.500 [0.250, inf]"),
        ({"value": 0.5, "lower": None, "upper": 0.75}, "0.500 [-inf, 0.750]"),
        ({"value": 0.5, "lower": 0.25, "upper": 0.75}, "0.500 [0.250, 0.750]"),
    ],
)
def test_an_estimate_in_a_cell(estimate, text):
    assert estimate_text(estimate) == text


@pytest.mark.parametrize(
    ("usd", "text"), [(None, "unknown"), (0, "$0"), (0.00004, "$0.0000"), (0.5, "$0.5000"), (12.345, "$12.35")]
)
def test_money_in_a_cell(usd, text):
    assert money(usd) == text


def test_a_gate_says_what_would_settle_it():
    gate = {"gate": "x.score >= 1", "answer": "INCONCLUSIVE", "more_items": 3000, "reason": "0.9"}
    assert [*gate_lines([gate, {"gate": "coverage >= 0", "answer": "PASS", "more_items": None, "reason": ""}])] == [
        "INCONCLUSIVE  x.score >= 1 (0.9); about 3,000 more items would settle it",
        "PASS  coverage >= 0",
    ]


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1"), (0.04999, "0.05"), (0.0001, "0.0001"), (0.00009, "<0.0001"), (0.0, "<0.0001")]
)
def test_a_p_value_is_never_zero(p, text):
    assert p_value_text(p) == text


@pytest.mark.parametrize(
    ("one", "text"),
    [
        ({"better": "new", "detectable": 0.1, "difference": {"value": 0.2}}, "new is better"),
        ({"better": None, "detectable": 0.1, "difference": {"value": 0.0}}, "not settled: 0.100 would have shown"),
        (
            {"better": None, "detectable": None, "difference": {"value": 0.0}},
            "not settled: the two differ on too few items",
        ),
        (
            {"better": None, "detectable": None, "difference": {"value": None, "reason": "none rated"}},
            "not compared: none rated",
        ),
    ],
)
def test_what_may_be_said_of_a_difference(one, text):
    assert verdict_text(one) == text


@pytest.fixture(scope="module")
def comparison():
    changed = [{**item, "answer": "word " * (place % 2 + 1)} for place, item in enumerate(items())]
    return compare(kept(items(), [brief, share], name="old"), kept(changed, [brief, share], name="new")).to_json()


def test_a_comparison_in_the_terminal(comparison):
    heading, table, behind = comparison_text(comparison).split("\n\n")
    assert heading.splitlines() == ["old: 40 items", "new: 40 items"]
    first, header, *rows = table.splitlines()
    assert first == "A = old, B = new"
    assert header.split()[:4] == ["metric", "of", "A", "B"]
    assert [row.split()[0] for row in rows] == ["brief", "share", "share"]
    assert all("+" in row or "-" in row for row in rows)
    assert "brief: by pass rate, B wins on q3, q4, q8, q9, q13, ... (16 in all)" in behind


def test_what_was_not_rated_is_named_below_the_comparison():
    def checked(item):
        if item.id == "q1" and "word word" in item.answer:
            raise RuntimeError("broken")
        return True

    changed = [{**item, "answer": "x"} for item in items(6)]
    text = comparison_text(
        compare(kept(items(6), [checked], name="old"), kept(changed, [checked], name="new")).to_json()
    )
    assert "checked: 1 not rated in A, and left out: q1" in text
    assert "with what could not be rated, B - A lies between +0.000 and +0.167" in text


def test_a_comparison_as_csv(comparison):
    rows = list(csv.DictReader(io.StringIO(comparison_csv(comparison))))
    assert [(row["metric"], row["quantity"]) for row in rows] == [
        ("brief", "pass_rate"),
        ("share", "pass_rate"),
        ("share", "score"),
    ]
    assert (rows[0]["wins"], rows[0]["losses"], rows[0]["better"]) == ("16", "0", "new")
    assert float(rows[0]["value"]) == comparison["differences"][0]["difference"]["value"]


def test_columns_are_as_wide_as_their_widest_cell():
    assert aligned(["a", "n"], []) == "a  n"
    assert (
        aligned(["a", "n"], [["long", "1"], ["b", "100"]], right=frozenset({"n"})) == "a       n\nlong    1\nb     100"
    )


def test_an_estimate_that_is_missing_says_why():
    text = run_text(kept(items(6), [tone]).to_json())
    assert "tone, pass rate: the metric answers with labels, and nothing says which of them pass" in text
    assert "tone, score: the metric answers with labels, not numbers" in text


def test_an_estimate_without_an_interval_says_why_once_for_rate_and_score():
    rows = [{**row, "customer": "one"} for row in items(6)]
    text = run_text(kept(rows, [brief], cluster="customer").to_json())
    assert "brief, pass rate and score: no interval: one cluster does not say how far values vary" in text


def test_there_is_no_worst_case_where_nothing_failed():
    rows = [*items(5), {"id": "q5", "query": "Without an answer?"}]

    @metric(required_fields=["answer"])
    def short(item):
        return len(item.answer.split()) <= 3

    line = run_text(kept(rows, [short]).to_json()).splitlines()[3]
    assert line.split()[-4:] == ["1", "missing_field", "-", "-"]


def test_a_metric_that_rated_nothing_is_told_in_one_warning():
    def broken(item):
        raise RuntimeError("no")

    result = kept(items(5), [broken])
    (warning,) = result.warnings
    assert warning.startswith("broken: no item was rated (5 metric_error); mend what the metric's own code raised")
    assert str(result).splitlines()[0].endswith("INCONCLUSIVE: broken rated nothing")
    assert "broken, pass rate" not in str(result)


def test_runs_that_go_by_letters_are_not_told_that_a_is_a():
    run = kept(items(6), [brief], name="same")
    text = comparison_text(compare(run, run).to_json())
    assert text.startswith("A (same): 6 items\nB (same): 6 items\n\nmetric")
    assert "A = A" not in text


def test_an_example_without_an_id_is_found_by_its_place():
    def broken(item):
        raise RuntimeError("no")

    rows = [{"query": f"Why {n}?", "answer": "So."} for n in range(3)]
    found = run(rows, [broken])
    (line,) = [line for line in str(found).splitlines() if line.startswith("broken: 3 metric_error")]
    assert re.search(r"for example item [0-9a-f]{16} \(number 1\): RuntimeError: no", line)
    assert found.to_json()["metrics"][0]["failures"][0]["number"] == 1
    assert "(number" not in str(run([{"id": "t1", **rows[0]}], [broken]))


def test_a_report_from_before_places_were_kept_is_shown_without():
    assert named_item({"item": "95c3c1f0a6b7d8e9"}) == "95c3c1f0a6b7d8e9"
