"""Several tasks of one judge as one result: means of what can be averaged, and every task's own beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibrant.alignment.combining import combined, items_of
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.scoring_result import BaseScoringResult
from calibrant.estimates import Coverage, Estimate


def estimate(value, lower, upper, n=50, **more):
    return Estimate(value=value, lower=lower, upper=upper, method="wilson", coverage=Coverage(rated=n), **more)


def result(scores, *, metadata=None, details=None, intervals=None, reason="", compared=50, failed=0):
    return BaseScoringResult(
        scorer_name="accuracy",
        task_name="one",
        judge_id="judge",
        scores=scores,
        metadata=metadata or {},
        aggregation_mode=TaskAggregationMode.SINGLE,
        num_comparisons=compared,
        failed_comparisons=failed,
        intervals={name: one.to_json() for name, one in (intervals or {}).items()},
        details=details or {},
        reason=reason,
    )


def test_scores_are_means_and_counts_are_sums():
    found = combined({"a": result({"x": 0.5}, compared=10, failed=1), "b": result({"x": 1.0}, compared=20)})
    assert found.scores == {"x": 0.75}
    assert (found.task_name, found.num_comparisons, found.failed_comparisons) == ("2_tasks_avg", 30, 1)
    assert found.aggregation_mode is TaskAggregationMode.MULTITASK


def test_rates_over_epsilons_are_averaged_place_by_place():
    rates = [{"winning_rate": {"0.10": 0.0, "0.20": 1.0}}, {"winning_rate": {"0.10": 1.0, "0.20": 1.0}}]
    found = combined({"a": result(rates[0]), "b": result(rates[1])})
    assert found.scores == {"winning_rate": {"0.10": 0.5, "0.20": 1.0}}


def test_a_task_without_a_score_leaves_the_mean_without_one_and_says_which():
    found = combined({"a": result({"x": 0.5}), "b": result({"x": None}, reason="nobody answered")})
    assert (found.scores, found.reason) == ({"x": None}, "b: nobody answered")


def test_the_interval_runs_from_the_mean_lower_to_the_mean_upper_bound():
    each = [estimate(0.5, 0.4, 0.6), estimate(0.9, 0.8, 0.96, n=30)]
    found = combined(
        {name: result({"x": one.value}, intervals={"x": one}) for name, one in zip("ab", each, strict=True)}
    )
    bounds = found.estimate("x")
    assert (bounds.value, bounds.lower, bounds.upper) == pytest.approx((0.7, 0.6, 0.78))
    assert (bounds.n, bounds.method) == (30, "mean of the tasks' bounds")


def test_three_tasks_of_the_same_items_have_their_number_and_not_three_times_it():
    found = combined({name: result({"x": 0.5}, intervals={"x": estimate(0.5, 0.4, 0.6, n=80)}) for name in "abc"})
    data = found.to_json()
    assert (found.estimate("x").n, data["n"], data["coverage"]["rated"]) == (80, 80, 80)
    assert found.metadata["tasks"]["c"]["intervals"]["x"]["n"] == 80


@given(
    st.lists(
        st.builds(
            Coverage,
            rated=st.integers(0, 9),
            failed=st.integers(0, 9),
            skipped=st.integers(0, 9),
            not_applicable=st.integers(0, 9),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_items_over_tasks_are_no_more_than_any_task_rated_and_hide_no_failure(coverages):
    found = items_of(coverages)
    assert found.rated == min(one.rated for one in coverages)
    assert found.failed == max(one.failed for one in coverages)
    assert found.total == max(one.total for one in coverages)
    assert items_of(coverages[:1]) == coverages[0]


def test_codes_of_failures_are_those_of_the_task_with_the_most():
    each = [Coverage(rated=8, failed=2, codes={"judge_timeout": 2}), Coverage(rated=9, failed=1, codes={"x": 1})]
    assert items_of(each).codes == {"judge_timeout": 2, "x": 1}


def test_an_interval_that_one_task_lacks_is_left_out():
    found = combined({"a": result({"x": 0.5}, intervals={"x": estimate(0.5, 0.4, 0.6)}), "b": result({"x": 0.7})})
    assert found.intervals == {}


def test_every_task_s_own_result_is_kept():
    found = combined({"a": result({"x": 0.5}, details={"total": 4}), "b": result({"x": 1.0}, details={"total": 6})})
    assert found.metadata["task_names"] == ["a", "b"]
    assert found.metadata["tasks"]["a"]["scores"] == {"x": 0.5}
    assert found.metadata["tasks"]["b"]["total"] == 6


def test_details_are_summed_worded_or_told_apart():
    found = combined(
        {
            "a": result({"x": 0.5}, details={"correct": 4, "interpretation": "fair", "outcome": "passed", "kind": "k"}),
            "b": result(
                {"x": 0.9}, details={"correct": 6, "interpretation": "perfect", "outcome": "failed", "kind": "k"}
            ),
        }
    )
    assert found.details == {
        "correct": 10, "interpretation": "substantial", "outcome": "a: passed; b: failed", "kind": "k"
    }  # fmt: skip


def test_what_is_said_alike_is_kept_numbers_are_averaged_and_totals_summed():
    shared = combined(
        {
            "a": result({"x": 0.5}, metadata={"model": "m", "seen": 0.5, "total_pairs": 3, "only": "a", "flag": True}),
            "b": result({"x": 0.9}, metadata={"model": "m", "seen": 0.7, "total_pairs": 4, "only": "b", "flag": False}),
        }
    ).metadata
    assert (shared["model"], shared["seen"], shared["total_pairs"]) == ("m", pytest.approx(0.6), 7)
    assert "only" not in shared
    assert "flag" not in shared


def test_estimates_in_the_metadata_are_averaged_as_estimates():
    each = [estimate(0.8, 0.7, 0.9, n=40), estimate(0.6, 0.4, 0.8, n=60)]
    found = combined(
        {name: result({"x": 0.5}, metadata={"ceiling": one.to_json()}) for name, one in zip("ab", each, strict=True)}
    ).metadata["ceiling"]
    assert (found["value"], found["lower"], found["upper"]) == pytest.approx((0.7, 0.55, 0.85))
    assert (found["n"], found["coverage"]["rated"], found["coverage"]["skipped"]) == (40, 40, 20)


def test_an_estimate_that_one_task_lacks_has_no_mean_but_a_reason():
    missing = Estimate.missing("people agree no more than a constant", method="jackknife", coverage=Coverage(rated=60))
    found = combined(
        {
            "a": result({"x": 0.5}, metadata={"relative": estimate(0.8, 0.7, 0.9).to_json()}),
            "b": result({"x": 0.5}, metadata={"relative": missing.to_json()}),
        }
    ).metadata["relative"]
    assert (found["value"], found["lower"], found["reason"]) == (None, None, "people agree no more than a constant")


def test_warnings_are_listed_with_their_task():
    found = combined(
        {"a": result({"x": 0.5}, metadata={"warnings": ["few"]}), "b": result({"x": 0.5}, metadata={"warnings": []})}
    )
    assert found.metadata["warnings"] == ["a: few"]


def test_lists_of_numbers_are_averaged_and_other_lists_are_not():
    found = combined(
        {
            "a": result({"x": 0.5}, metadata={"rho": {"kim": [0.5, 0.7]}, "rows": [{"n": 1, "who": "kim"}]}),
            "b": result({"x": 0.5}, metadata={"rho": {"kim": [0.7, 0.9]}, "rows": [{"n": 2, "who": "lee"}]}),
        }
    ).metadata
    assert found["rho"]["kim"] == pytest.approx([0.6, 0.8])


def test_three_tasks_are_named_by_their_number():
    assert combined({name: result({"x": 0.5}) for name in "abc"}).task_name == "3_tasks_avg"


def test_the_margin_of_several_tasks_is_the_one_at_which_all_pass():
    margins = {
        name: result({"x": 1.0}, metadata={"break_even_epsilon": one}) for name, one in {"a": 0.1, "b": 0.3}.items()
    }
    assert combined(margins).metadata["break_even_epsilon"] == 0.3
    never = {**margins, "c": result({"x": 0.0}, metadata={"break_even_epsilon": None})}
    assert combined(never).metadata["break_even_epsilon"] is None


def test_what_belongs_to_one_task_has_no_mean_and_stays_with_the_task():
    tests = [[{"annotator": "kim", "p": p, "judge_wins": True}] for p in (0.01, 0.9)]
    found = combined(
        {name: result({"x": 1.0}, metadata={"annotators": one}) for name, one in zip("ab", tests, strict=True)}
    )
    assert "annotators" not in found.metadata
    assert [found.metadata["tasks"][name]["metadata"]["annotators"] for name in "ab"] == tests


def test_a_warning_of_several_tasks_is_said_once():
    about = {"warnings": ["three annotators"]}
    found = combined(
        {"a": result({}, metadata=about), "b": result({}, metadata={"warnings": ["three annotators", "odd"]})}
    )
    assert found.metadata["warnings"] == ["a, b: three annotators", "b: odd"]


def test_whole_numbers_that_all_tasks_share_stay_whole():
    about = {"stability": {"same_outcome": 0.5, "resamples": 2000}}
    found = combined(
        {
            "a": result({}, metadata=about),
            "b": result({}, metadata={"stability": {**about["stability"], "same_outcome": 1.0}}),
        }
    )
    assert found.metadata["stability"] == {"same_outcome": 0.75, "resamples": 2000}
    assert isinstance(found.metadata["stability"]["resamples"], int)
