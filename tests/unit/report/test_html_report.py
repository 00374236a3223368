import json
import re
from html import unescape

import pytest
from sample_runs import brief, items, jury, kept, share, tone

from calibrant import EvalInput
from calibrant.errors import CODES, InputError, UnknownNameError, WrongTypeError
from calibrant.metrics import Canary
from calibrant.report import Section, html_report, section
from calibrant.report.run_sections import answers
from calibrant.retrieval import compare_rankings
from calibrant.runs import compare

LABELS = [
    {"item": f"q{number}", "criterion": "groundedness", "annotator": "kim", "value": "yes" if number % 4 else "no"}
    for number in range(30)
]
CANARIES = [
    Canary(
        item=EvalInput(id=f"canary:{name}", query="?", answer="word", contexts=[f"words {number}"]),
        kind="trap",
        passes=(("groundedness", passes),),
    )
    for name, number, passes in (("gullible", 60, False), ("harsh", 61, True))
]


@pytest.fixture(scope="module")
def made():
    return kept(
        items(),
        [jury(failing={3, 12}), brief, share, tone],
        name="support <b>v1</b>",
        gates=["groundedness.pass_rate >= 0.9", "brief.failing_items <= 30", "coverage >= 0.2"],
        labels=LABELS,
        canaries=CANARIES,
        system=lambda item: item.answer,
    )


@pytest.fixture(scope="module")
def page(made):
    return html_report(made)


def part(page, title):
    """The section of a page whose heading begins with `title`."""
    return re.search(rf"<section id=\"[^\"]*\"><h2>{re.escape(title)}.*?</section>", page, re.DOTALL)[0]


def plain(html):
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", html).split()))


def test_the_page_is_the_run_or_its_json(made, page):
    assert html_report(made.to_json()) == page
    assert html_report(json.loads(json.dumps(made.to_json()))) == page


def test_a_name_from_outside_is_text(page):
    assert "<h1>support &lt;b&gt;v1&lt;/b&gt;</h1>" in page
    assert "<b>v1</b>" not in page


def test_the_page_begins_with_what_was_measured_and_how_the_gates_ended(made, page):
    header = plain(page.partition("<header>")[2].partition("</header>")[0])
    assert f"40 items of items, run {made.id}" in header.replace(" ,", ",")
    assert re.search(r"Gates: \d PASS", header)


def test_sections_stand_in_the_order_in_which_they_are_read(page):
    assert re.findall(r"<h2>([^<]+)</h2>", page) == [
        *("Gates", "Metrics", "What was not rated, by cause", "Distribution of scores", "Canaries"),
        *("Least stable items", "What it took"),
    ]


def test_every_number_of_the_table_is_there_with_its_interval(made, page):
    metrics = plain(part(page, "Metrics"))
    for summary in made.metrics:
        for estimate in (summary.pass_rate, summary.score, summary.corrected_pass_rate):
            if estimate is not None and estimate.value is not None:
                assert f"{estimate.value:.3f} [{estimate.lower:.3f}, {estimate.upper:.3f}]" in metrics
    assert metrics.count("38 of 40") == 1
    assert "2 failed" in metrics
    low, high = made.metric("groundedness").pass_rate.worst_case
    assert f"worst case {low:.3f} to {high:.3f}" in metrics


def test_why_there_is_no_number_is_said(page):
    assert "the metric answers with labels, and nothing says which of them pass (passing_labels)" in plain(
        part(page, "Metrics")
    )


def test_warnings_stand_before_the_numbers(made, page):
    metrics = part(page, "Metrics")
    for warning in made.warnings:
        assert plain(metrics).index(warning) < metrics.index("<table")


def test_gates_say_answer_reason_and_what_would_settle_them(made, page):
    gates = plain(part(page, "Gates"))
    for gate in made.gates:
        assert gate.answer in gates
        assert gate.reason in gates
    assert {"✓", "✕"} & {*gates}


def test_failures_have_their_cause_count_and_an_escaped_example(page):
    failures = part(page, "What was not rated, by cause")
    assert CODES["quorum_not_met"].meaning in plain(failures)
    assert "&lt;b&gt;maybe&lt;/b&gt;" in failures
    assert "q3" in plain(failures)


def test_every_metric_has_its_distribution(made, page):
    drawn = part(page, "Distribution of scores")
    assert drawn.count("<figure>") == 4
    assert drawn.count("<svg") == 4
    tones = made.metric("tone").distribution
    assert (tones.values, sum(tones.counts)) == (("curt", "kind", "neutral"), 40)


def test_canaries_and_what_was_said_of_them_are_shown(made, page):
    canaries = plain(part(page, "Canaries"))
    [report] = [one for one in made.canaries if one.right.coverage.total]
    for name, said in report.wrong:
        assert f"{name}: {said}" in canaries
    assert report.wrong
    assert "✕ FAILED" in canaries
    assert "✓ all right" not in canaries  # the other metrics have no canary that fits them
    assert canaries.count("none fits it") == 3
    assert "CANARIES FAILED : groundedness" in plain(page.partition("</header>")[0])


def test_the_least_stable_items_and_their_votes_are_listed(made, page):
    unstable = plain(part(page, "Least stable items"))
    for one in made.metric("groundedness").unstable:
        assert f"{one.item} groundedness {one.passed} of {one.votes} {one.lowest:.2f} to {one.highest:.2f}" in unstable
    assert "two votes on an item disagree on" in unstable


def test_cost_calls_and_the_system_are_told(made, page):
    took = plain(part(page, "What it took"))
    assert f"Calls to models {made.usage.calls}" in took
    assert f"Tokens read {made.usage.input_tokens:,}" in took
    assert "The system, " in took
    assert made.metric("brief").spec.instrument[:23] in took


def test_a_small_run_has_only_the_sections_that_say_something():
    page = html_report(kept(items(3), [brief]))
    assert re.findall(r"<h2>([^<]+)</h2>", page) == ["Metrics", "Distribution of scores", "What it took"]
    assert "nothing: no model was asked" in plain(page)
    assert "a rule: no model was asked" in plain(page)


def test_an_incomplete_run_says_so_first(made):
    from dataclasses import replace

    header = html_report(replace(made, status="incomplete")).partition("</header>")[0]
    assert "INCOMPLETE" in header


def test_a_report_of_an_older_form_is_drawn_without_what_it_lacks(made):
    data = made.to_json()
    for metric in data["metrics"]:
        for name in ("distribution", "threshold", "higher_is_better"):
            metric.pop(name)
    data.pop("canaries", None)
    assert "Distribution of scores" not in html_report(data)


def two():
    return kept(items(words=5), [brief, share], name="old"), kept(
        [{**item, "answer": "word " * (place % 2 + 1)} for place, item in enumerate(items())],
        [brief, share],
        name="new",
    )


def test_a_comparison_is_drawn_around_zero_with_what_may_be_said():
    found = compare(*two(), gates=["brief.pass_rate >= baseline"])
    page = html_report(found)
    compared = plain(part(page, "old and new compared"))
    assert "<h1>old and new</h1>" in page
    assert "new is better" in compared
    one = found.between("brief")
    assert f"{one.difference.value:+.3f} [{one.difference.lower:+.3f}, {one.difference.upper:+.3f}]" in compared
    assert "PASS" in plain(part(page, "Gates on the comparison"))
    assert 'class="zero"' in page


def test_the_items_behind_a_difference_can_be_opened_without_a_script():
    page = html_report(compare(*two()))
    assert "<script" not in page
    assert re.search(r"<details><summary>brief, pass rate, won by new: 16 items</summary><p class=\"id\">q3, q4", page)


def test_what_is_not_settled_is_never_called_better():
    slower = [{**item, "answer": item["answer"] + ("word " if place < 3 else "")} for place, item in enumerate(items())]
    found = compare(kept(items(), [brief], name="one"), kept(slower, [brief], name="other"))
    assert found.between("brief").losses
    page = plain(html_report(found))
    assert "better" not in page
    assert "not settled" in page


def test_what_was_allowed_and_left_out_stands_above_the_numbers():
    first, second = kept(items(9), [brief, tone], name="a"), kept(items(7), [brief], name="b")
    page = plain(html_report(compare(first, second, allow="dataset")))
    assert "Unlike, and allowed: the runs are about other items" in page
    assert "Not compared: tone only in a" in page


def test_nothing_rated_in_both_is_a_dash_and_a_reason():
    page = plain(html_report(compare(kept(items(4), [tone], name="a"), kept(items(4), [tone], name="b"))))
    assert "no item was rated in both runs" in page


def test_three_runs_have_a_section_for_each_pair():
    runs = [kept(items(words=words), [brief], name=f"w{words}") for words in (3, 4, 5)]
    runs = [
        kept([{**item, "answer": "word " * words} for item in items()], [brief], name=f"w{words}")
        for words in (1, 3, 5)
    ]
    titles = re.findall(r"<h2>([^<]+)</h2>", html_report(compare(*runs)))
    assert titles == ["w1 and w3 compared", "w1 and w5 compared", "w3 and w5 compared"]


QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}, "q3": {"d": 1}}
RANKINGS = {
    "words": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}, "q3": {"d": 1.0}},
    "meaning <i>": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {"e": 1.0}},
}


def test_rankings_and_their_comparison_are_sections():
    found = compare_rankings(QRELS, RANKINGS, ["nDCG@5", "R@5"])
    page = html_report(found)
    rankings, pairs = (
        plain(part(page, "Rankings<")[:-1] if "Rankings<" in page else page),
        plain(part(page, "Rankings compared")),
    )
    for result in found.to_json()["rankings"]:
        assert f"{result['measures']['nDCG@5']['value']:.3f}" in rankings
    assert "not settled" in pairs
    for pair in found.to_json()["comparison"]["pairs"]:
        bounds = pair["difference"]
        assert f"{bounds['value']:+.3f} [{bounds['lower']:+.3f}, {bounds['upper']:+.3f}]" in pairs
        assert f"n={bounds['n']}" in pairs
    assert "meaning <i> \N{MINUS SIGN} words" in pairs
    assert "meaning &lt;i&gt;" in page
    assert "<h1>Rankings</h1>" in page


def test_an_evaluation_without_a_comparison_is_one_section():
    data = compare_rankings(QRELS, RANKINGS, ["nDCG@5"]).to_json()
    data.pop("comparison")
    assert re.findall(r"<h2>([^<]+)</h2>", html_report(data)) == ["Rankings"]


def test_rankings_that_only_the_p_value_parts_are_not_settled_on_the_page():
    qrels = {f"q{number}": {"a": 1} for number in range(6)}
    rankings = {"old": {key: ["x", "a"] for key in qrels}, "new": {key: ["a", "x"] for key in qrels}}
    page = plain(part(html_report(compare_rankings(qrels, rankings, ["nDCG@5"])), "Rankings compared"))
    assert "is better" not in page
    assert "not settled P is below 0.05, but the interval holds 0." in page


def test_one_page_holds_everything_in_the_order_given():
    first, second = two()
    own = section("What we decided", "Ship it.")
    page = html_report(
        first, second, compare(first, second), compare_rankings(QRELS, RANKINGS, ["R@5"]), own, title="All"
    )
    titles = re.findall(r"<h2>([^<]+)</h2>", page)
    assert titles[0] == "old: metrics"
    assert "new: metrics" in titles
    assert titles.index("new: metrics") < titles.index("old and new compared") < titles.index("Rankings")
    assert titles[-1] == "What we decided"
    assert f"run {first.id}" in plain(part(page, "old: metrics")).replace(" .", ".")
    assert len(set(re.findall(r'<section id="([^"]+)"', page))) == len(titles)


def test_a_section_of_one_s_own_is_a_page():
    assert "<h1>Mine</h1>" in html_report(section("Mine", "text"))
    assert isinstance(section("Mine"), Section)


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(InputError, match="a report needs something to show"):
        html_report()
    with pytest.raises(
        WrongTypeError, match="a part of a report is a run, a comparison, their JSON or a Section, not 7"
    ):
        html_report(7)
    with pytest.raises(UnknownNameError, match="unknown schema to report 'calibrant.forecast/1'"):
        html_report({"schema": "calibrant.forecast/1"})


def test_a_comparison_names_its_runs_and_no_letters():
    first, second = kept(items(), [brief], name="main {b}"), kept(items(words=4), [brief], name="mine <v2>")
    compared = plain(part(html_report(compare(first, second, allow="dataset")), "main {b} and mine"))
    assert "mine <v2> \N{MINUS SIGN} main {b} p (Holm) Effect mine <v2> wins, ties, losses" in compared
    assert "A full bar are the wins of mine <v2>, a faint one ties" in compared


@pytest.mark.parametrize(("more", "said"), [(1, "About 1 more item would"), (3000, "About 3,000 more items would")])
def test_a_gate_says_how_many_more_items_would_settle_it(more, said):
    gate = {"gate": "coverage >= 0.98", "answer": "INCONCLUSIVE", "reason": "0.9", "more_items": more}
    assert f"{said} settle it." in plain(answers([gate]))
