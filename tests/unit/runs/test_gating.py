import pytest

from calibrant.errors import InputError
from calibrant.estimates import Coverage, Estimate
from calibrant.metrics import MultiOutputBaseMetric
from calibrant.runs import RunSettings, export, parse_gate, run
from calibrant.runs.gating import judged, rounded_for_people
from calibrant.runs.summaries import MetricSummary
from calibrant.stats import clopper_pearson, wilson


def brief(item):
    return item.answer == "short"


def graded(item):
    if item.answer == "broken":
        raise RuntimeError("no grade")
    return float(item.answer)


def passes(good, bad, *, clusters=None):
    rows = [{"id": str(n), "query": "?", "answer": "short" if n < good else "long"} for n in range(good + bad)]
    if clusters:
        rows = [{**row, "page": f"p{n % clusters}"} for n, row in enumerate(rows)]
    return rows


def grades(*values):
    return [{"id": str(n), "query": "?", "answer": str(value)} for n, value in enumerate(values)]


def answer(rows, metric, gate, **settings):
    return run(rows, [metric], gates=[gate], **settings).gates[0]


def test_a_gate_passes_when_the_lower_bound_is_above_the_threshold():
    found = answer(passes(380, 17), brief, "brief.pass_rate >= 0.90")
    bound = wilson(380, 397, side="lower").lower
    assert (found.answer, found.more_items) == ("PASS", None)
    assert found.reason == f"{380 / 397:.3f}, at least {bound:.3f} with 95% confidence"


def test_a_gate_fails_when_the_upper_bound_is_below_the_threshold():
    found = answer(passes(200, 197), brief, "brief.pass_rate >= 0.90")
    bound = wilson(200, 397, side="upper").upper
    assert found.answer == "FAIL"
    assert found.reason == f"{200 / 397:.3f}, at most {bound:.3f} with 95% confidence"


def test_between_the_bounds_a_gate_is_inconclusive_and_says_how_many_more_items_would_settle_it():
    found = answer(passes(322, 75), brief, "brief.pass_rate >= 0.80")
    assert (found.answer, found.more_items) == ("INCONCLUSIVE", 3000)
    assert found.reason == "0.811, between 0.777 and 0.841"
    assert found.to_json() == {
        "gate": "brief.pass_rate >= 0.80",
        "answer": "INCONCLUSIVE",
        "more_items": 3000,
        "reason": "0.811, between 0.777 and 0.841",
    }


@pytest.mark.parametrize(("gate", "said"), [("<= 0.20", "PASS"), ("< 0.05", "FAIL"), ("<= 0.11", "INCONCLUSIVE")])
def test_at_most_is_judged_by_the_other_bound(gate, said):
    assert answer(passes(40, 360), brief, f"brief.pass_rate {gate}").answer == said


def test_few_items_are_judged_by_the_exact_bound():
    assert clopper_pearson(20, 20, side="lower").lower < 0.9
    found = answer(passes(20, 0), brief, "brief.pass_rate >= 0.9")
    assert (found.answer, found.more_items) == ("INCONCLUSIVE", 5)
    assert answer(passes(29, 0), brief, "brief.pass_rate >= 0.9").answer == "PASS"


def test_an_estimate_on_the_threshold_is_settled_by_no_number_of_items():
    found = answer(passes(50, 50), brief, "brief.pass_rate >= 0.5")
    assert (found.answer, found.more_items) == ("INCONCLUSIVE", None)
    assert "which no number of items settles" in found.reason


def test_scores_are_judged_by_the_bound_of_their_mean():
    rows = grades(*[0.8, 0.9, 0.7, 0.8] * 20)
    assert answer(rows, graded, "graded.score >= 0.75").answer == "PASS"
    assert answer(rows, graded, "graded.score >= 0.85").answer == "FAIL"
    found = answer(rows, graded, "graded.score >= 0.79")
    assert found.answer == "INCONCLUSIVE"
    assert found.more_items == 60  # (1.645 * 0.0711 / 0.01)^2 - 80 = 57


def test_items_of_one_cluster_do_not_count_as_independent():
    rows = [{**row, "page": f"p{n // 40}"} for n, row in enumerate(passes(360, 40))]
    gate = "brief.pass_rate >= 0.8"
    assert answer(rows, brief, gate).answer == "PASS"
    found = answer(rows, brief, gate, settings=RunSettings(cluster="page"))
    assert found.answer == "INCONCLUSIVE"
    assert found.more_items >= 100


def test_counts_and_coverage_are_judged_exactly():
    rows = grades(*[0.9] * 18, 0.1, "broken")
    found = run(
        rows,
        [graded],
        gates=[
            "graded.failing_items <= 2",
            "graded.failing_items < 1",
            "graded.failures <= 1",
            "coverage >= 0.95",
            "graded.coverage > 0.95",
        ],
    ).gates
    assert [one.answer for one in found] == ["PASS", "FAIL", "PASS", "PASS", "FAIL"]
    assert found[0].reason == "1 of 19 fail, and 1 that could not be rated may be failing too"
    assert found[3].reason == "graded: 19 of 20 rated"


def test_failing_items_that_failures_may_hide_are_inconclusive():
    rows = grades(*[0.9] * 10, 0.1, "broken", "broken")
    assert answer(rows, graded, "graded.failing_items <= 2").answer == "INCONCLUSIVE"
    assert answer(rows, graded, "graded.failing_items <= 3").answer == "PASS"
    assert answer(rows, graded, "graded.failing_items <= 0").answer == "FAIL"


def test_the_coverage_of_a_run_is_that_of_its_worst_metric():
    rows = [{**row, "answer": "broken" if n % 5 == 0 else "0.5"} for n, row in enumerate(passes(50, 0))]
    found = run(rows, [graded, brief], gates=["coverage >= 0.85"]).gates[0]
    assert (found.answer, found.reason) == ("FAIL", "graded: 40 of 50 rated")


def test_a_judge_that_fails_on_three_rows_of_ten_never_makes_a_headline_look_better():
    def judge(item):
        if item.answer == "bad":
            raise RuntimeError("the judge broke on what it should have failed")
        return True

    def honest(item):
        return item.answer != "bad"

    rows = [{"id": str(n), "query": "?", "answer": "bad" if n % 10 < 3 else "good"} for n in range(400)]
    gates = ["{}.pass_rate >= 0.90", "coverage >= 0.98"]
    broken = run(rows, [judge], gates=[gate.format("judge") for gate in gates])
    sound = run(rows, [honest], gates=[gate.format("honest") for gate in gates])
    assert [gate.answer for gate in sound.gates] == ["FAIL", "PASS"]
    assert [gate.answer for gate in broken.gates] == ["INCONCLUSIVE", "FAIL"]
    assert "0.700 if the 120 that failed were not for it" in broken.gates[0].reason
    assert broken.exit_code == sound.exit_code == 1
    assert broken.metrics[0].pass_rate.worst_case == (0.7, 1.0)
    assert broken.metrics[0].pass_rate.worst_case[0] <= sound.metrics[0].pass_rate.value


def test_failures_that_could_save_a_gate_leave_it_open_too():
    rows = grades(*[0.1] * 50, *["broken"] * 150)
    found = answer(rows, graded, "graded.pass_rate >= 0.5")
    assert found.answer == "INCONCLUSIVE"
    assert found.reason == "0.000, between 0.000 and 0.051; but 0.750 if the 150 that failed were for it"


def test_naming_a_gate_that_failed_is_corrected_for_the_number_of_gates():
    rows = passes(84, 16)  # upper bound 0.890 at 95%, above 0.90 once it is divided by ten
    one = run(rows, [brief], gates=["brief.pass_rate >= 0.90"]).gates
    ten = run(
        rows, [brief], gates=["brief.pass_rate >= 0.90", *[f"brief.pass_rate >= 0.{n}" for n in range(60, 69)]]
    ).gates
    assert one[0].answer == "FAIL"
    assert ten[0].answer == "INCONCLUSIVE"
    assert "it fails by its own bound, but not after Holm's correction over the gates" in ten[0].reason
    assert {gate.answer for gate in ten[1:]} == {"PASS"}


def test_holm_goes_on_after_the_clearest_failure():
    rows = passes(84, 16)
    clear = ["brief.pass_rate >= 0.99", "brief.pass_rate >= 0.98", "brief.pass_rate >= 0.97"]
    assert {gate.answer for gate in run(rows, [brief], gates=[*clear, "brief.pass_rate >= 0.90"]).gates} == {"FAIL"}


def test_a_metric_without_an_estimate_is_inconclusive_with_its_reason():
    def label(item):
        return "good"

    found = run(
        passes(5, 0),
        [label],
        gates=[
            "label.pass_rate >= 0.5",
            "label.score >= 0.5",
            "label.failing_items <= 1",
            "label.corrected_pass_rate >= 0.5",
        ],
    ).gates
    assert {gate.answer for gate in found} == {"INCONCLUSIVE"}
    assert found[1].reason == "the metric answers with labels, not numbers"
    assert "nothing says which of them pass" in found[0].reason
    assert found[3].reason == "there are no labels to correct the judge by"


def test_one_item_has_no_bound_for_its_mean():
    found = answer(grades(0.5), graded, "graded.score >= 0.4")
    assert found.answer == "INCONCLUSIVE"
    assert "one value does not say how far values vary" in found.reason


def test_the_corrected_pass_rate_is_judged_by_its_own_interval():
    done = run(passes(90, 10), [brief])
    corrected = Estimate(value=0.8, lower=0.7, upper=0.9, method="rogan-gladen", coverage=Coverage(rated=100))
    old = done.metrics[0]
    summary = MetricSummary(
        spec=old.spec, pass_rate=old.pass_rate, score=old.score, corrected_pass_rate=corrected, failing_items=10
    )
    changed = type(done)(id="r", name="", status="complete", dataset=done.dataset, metrics=(summary,))
    gates = [parse_gate(f"brief.corrected_pass_rate >= {limit}") for limit in (0.71, 0.72, 0.92)]
    # One-sided, 1.645 / 1.96 of the half width: 0.8 - 0.084 and 0.8 + 0.109 (Holm, three gates).
    assert [one.answer for one in judged(gates, changed)] == ["PASS", "INCONCLUSIVE", "FAIL"]
    assert judged(gates, changed)[1].more_items == 10


def test_a_baseline_is_compared_on_the_same_items(tmp_path):
    before = run(grades(*[0.5, 0.6, 0.7, 0.8] * 20), [graded])
    same = grades(*[0.5, 0.6, 0.7, 0.8] * 19, 0.5, 0.6, 0.7, 0.75)
    worse = grades(*[0.4, 0.5, 0.5, 0.6] * 20)
    gate = "graded.score >= baseline - 0.02"
    assert answer(same, graded, gate, baseline=before).answer == "PASS"
    assert answer(worse, graded, gate, baseline=before).answer == "FAIL"
    file = export(before, tmp_path / "before.jsonl")
    found = answer(worse, graded, gate, baseline=str(file))
    assert found.answer == "FAIL"
    assert found.reason == "-0.150, at most -0.141 with 95% confidence"


def test_pass_rates_against_a_baseline_rest_on_the_items_that_differ():
    before, after = run(passes(180, 20), [brief]), passes(179, 21)
    assert answer(after, brief, "brief.pass_rate >= baseline - 0.05", baseline=before).answer == "PASS"
    found = answer(after, brief, "brief.pass_rate >= baseline", baseline=before)
    assert (found.answer, found.reason) == ("INCONCLUSIVE", "-0.005, between -0.019 and +0.009")
    assert found.more_items == 300


def test_the_same_ratings_again_say_how_many_items_would_exclude_a_loss():
    before = run(passes(50, 0), [brief])
    found = answer(passes(50, 0), brief, "brief.pass_rate >= baseline - 0.02", baseline=before)
    assert (found.answer, found.more_items) == ("INCONCLUSIVE", 60)
    assert (
        answer(
            passes(120, 0), brief, "brief.pass_rate >= baseline - 0.02", baseline=run(passes(120, 0), [brief])
        ).answer
        == "PASS"
    )


def test_counts_are_held_against_the_baseline_exactly():
    before = run(passes(45, 5), [brief])
    gates = ["brief.failing_items <= baseline", "brief.failing_items <= baseline + 1", "coverage >= baseline"]
    found = run(passes(44, 6), [brief], gates=gates, baseline=before).gates
    assert [gate.answer for gate in found] == ["FAIL", "PASS", "PASS"]
    assert found[0].reason == "6 of 50 fail (the baseline: 5 of 50 fail)"


def test_a_baseline_of_other_items_or_by_another_instrument_settles_nothing():
    gate = "brief.pass_rate >= baseline - 0.5"
    other = answer(passes(50, 0), brief, gate, baseline=run(passes(60, 0), [brief]))
    assert other.answer == "INCONCLUSIVE"
    assert other.reason.startswith("unlike the baseline: the runs are about other items: 60 items")
    before = run(passes(50, 0), [brief])

    def changed(item):
        return len(item.answer) < 6

    changed.__name__ = "brief"
    found = answer(passes(50, 0), changed, gate, baseline=before)
    assert found.answer == "INCONCLUSIVE"
    assert "unlike the baseline: brief was measured by another instrument: function 'sha256:" in found.reason


def test_wrong_gates_are_an_error_before_anything_is_rated():
    asked = []

    def counting(item):
        asked.append(item.id)
        return True

    for gates, baseline in (
        [["counting.pass_rate > 2"], None],
        [["other.score > 0"], None],
        [["counting.score >= baseline"], None],
        [["coverage > 0"], "nowhere.jsonl"],
    ):
        with pytest.raises(InputError):
            run(passes(3, 0), [counting], gates=gates, baseline=baseline)
    assert not asked


def test_a_gate_may_ask_for_one_output_of_a_metric_with_several():
    class Both(MultiOutputBaseMetric):
        name = "both"

        async def _evaluate(self, data):
            return {"first": 1.0, "second": 0.0}

    found = run(passes(40, 0), [Both()], gates=["both/first.pass_rate >= 0.9", "both/second.failing_items <= 3"]).gates
    assert [gate.answer for gate in found] == ["PASS", "FAIL"]


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        ([], 0),
        (["brief.pass_rate >= 0.5"], 0),
        (["brief.pass_rate >= 0.5", "brief.pass_rate >= 0.9"], 3),
        (["brief.pass_rate >= 0.99", "brief.pass_rate >= 0.9"], 1),
    ],
)
def test_the_exit_code_says_what_became_of_the_gates(gates, code):
    assert run(passes(90, 10), [brief], gates=gates).exit_code == code


def test_an_incomplete_run_says_so_before_its_gates():
    done = run(passes(90, 10), [brief], gates=["brief.pass_rate >= 0.99"])
    partial = type(done)(
        id="r", name="", status="incomplete", dataset=done.dataset, metrics=done.metrics, gates=done.gates
    )
    assert (done.exit_code, partial.exit_code) == (1, 4)


def test_the_number_of_items_is_rounded_to_what_is_known():
    assert [rounded_for_people(n) for n in (1, 9, 14, 96, 3117, 128_000)] == [1, 9, 10, 100, 3000, 100_000]


@pytest.mark.parametrize("clusters", [None, 12])
@pytest.mark.parametrize(("good", "limit"), [(58, 0.92), (60, 0.95), (35, 0.7), (30, 0.4)])
def test_a_score_of_zeros_and_ones_is_judged_as_the_rate_that_it_is(good, limit, clusters):
    settings = RunSettings(cluster="page") if clusters else None
    gates = [f"brief.pass_rate >= {limit}", f"brief.score >= {limit}"]
    rate, score = run(passes(good, 60 - good, clusters=clusters), [brief], gates=gates, settings=settings).gates
    assert (rate.answer, rate.reason, rate.more_items) == (score.answer, score.reason, score.more_items)


def test_the_t_interval_of_zeros_and_ones_would_have_passed_too_easily():
    found = answer(passes(58, 2), brief, "brief.score >= 0.92")
    bounds = [wilson(58, 60, level=0.95, side=side) for side in ("lower", "upper")]
    assert found.answer == "INCONCLUSIVE"
    assert found.reason == f"0.967, between {bounds[0].lower:.3f} and {bounds[1].upper:.3f}"


def test_paired_scores_of_zeros_and_ones_are_judged_as_paired_rates():
    before = run(passes(30, 30), [brief])
    rows = [{**row, "answer": "short" if n < 32 else "long"} for n, row in enumerate(passes(30, 30))]
    gates = [f"brief.{quantity} >= baseline - 0.02" for quantity in ("pass_rate", "score")]
    rate, score = run(rows, [brief], gates=gates, baseline=before).gates
    assert (rate.answer, rate.reason, rate.more_items) == (score.answer, score.reason, score.more_items)
