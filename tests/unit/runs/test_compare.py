import math

import numpy as np
import pytest
from sample_runs import brief, items, kept, share, tone
from scipy import stats as scipy_stats

from calibrant.errors import InputError, UnknownNameError, UnlikeRunsError, WrongTypeError
from calibrant.runs import compare, export


def passes(wanted, *, name="run", metric="good", **settings):
    """A run in which item k passes where `wanted[k]` says so; None is an item that could not be rated."""

    def good(item):
        said = wanted[int(item.id[1:])]
        if said is None:
            raise RuntimeError("the checker broke")
        return said

    good.__name__ = metric
    return kept([{"id": f"q{place}", "query": "?"} for place in range(len(wanted))], [good], name=name, **settings)


def both(first, second, **settings):
    """Two runs of one instrument: the function reads its answers from a table that changes in between."""
    table = {}

    def good(item):
        said = table[item.id]
        if said is None:
            raise RuntimeError("the checker broke")
        return said

    runs = []
    for name, values in (("a", first), ("b", second)):
        table |= {f"q{place}": value for place, value in enumerate(values)}
        rows = [{"id": f"q{place}", "query": "?", "customer": f"c{place // 2}"} for place in range(len(values))]
        runs.append(kept(rows, [good], name=name, **settings))
    return runs


def test_pass_rates_are_compared_by_mcnemar_s_exact_test():
    first = [True] * 20 + [False] * 20
    second = [True] * 17 + [False] * 3 + [True] * 12 + [False] * 8
    found = compare(*both(first, second)).between("good")
    # The exact test is the binomial test on the discordant pairs; scipy has it.
    assert found.test.p_value == pytest.approx(scipy_stats.binomtest(3, 15).pvalue)
    assert found.difference.value == pytest.approx(9 / 40)
    assert (len(found.wins), len(found.losses), len(found.ties)) == (12, 3, 25)
    assert found.wins[0] == "q20"
    assert found.losses == ("q17", "q18", "q19")


def test_the_effect_of_two_pass_rates_is_cohen_s_h():
    found = compare(*both([True] * 10 + [False] * 30, [True] * 30 + [False] * 10)).between("good")
    # Cohen (1988): h = 2 asin(sqrt(p1)) - 2 asin(sqrt(p2)).
    assert found.effect == pytest.approx(2 * math.asin(math.sqrt(0.75)) - 2 * math.asin(math.sqrt(0.25)))


def test_scores_are_compared_by_sign_flips():
    rng = np.random.default_rng(5)
    first = rng.uniform(0.2, 0.6, 10).round(2).tolist()
    second = [min(1.0, round(value + rng.normal(0.1, 0.1), 2)) for value in first]
    found = compare(*both(first, second)).between("good", "score")
    reference = scipy_stats.permutation_test(
        (np.array(second), np.array(first)), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert found.test.p_value == pytest.approx(reference.pvalue)
    assert found.difference.value == pytest.approx(np.mean(np.subtract(second, first)))


def test_p_values_are_corrected_over_the_whole_comparison():
    first, second = both([0.2, 0.4, 0.6, 0.8] * 5, [0.3, 0.5, 0.7, 0.9] * 5)
    found = compare(first, second)
    raw = [one.test.p_value for one in found.differences]
    assert len(raw) == 2
    # Holm: the smallest times their number, and each next one at least as large.
    ordered = sorted(raw)
    assert min(one.p_corrected for one in found.differences) == pytest.approx(min(1.0, 2 * ordered[0]))
    assert max(one.p_corrected for one in found.differences) == pytest.approx(max(2 * ordered[0], ordered[1]))


def test_a_difference_is_named_only_when_it_is_settled():
    settled = compare(*both([False] * 20, [True] * 20)).between("good")
    assert (settled.better, settled.verdict) == ("b", "b is better")
    open_one = compare(*both([True] * 20, [False] * 3 + [True] * 17)).between("good")
    assert (open_one.better, open_one.verdict) == (None, "not settled")
    worse = compare(*both([True] * 20, [False] * 20)).between("good")
    assert (worse.better, worse.verdict) == ("a", "a is better")


@pytest.mark.parametrize("changed", range(6))
def test_never_better_with_fewer_than_six_items_that_differ(changed):
    """Below six discordant items no exact two-sided test reaches 0.05: 2 / 2^5 is 0.0625."""
    found = compare(*both([False] * 40, [True] * changed + [False] * (40 - changed)))
    assert found.between("good").better is None
    assert "better" not in str(found)
    assert found.settled == ()


def test_identical_runs_tie_on_everything():
    found = compare(*both([True, False] * 10, [True, False] * 10)).between("good")
    assert (found.difference.value, found.test.p_value, found.better) == (0.0, 1.0, None)
    assert len(found.ties) == 20
    assert found.wins == found.losses == ()


def test_what_failed_in_one_run_is_left_out_and_named():
    found = compare(*both([True, None, True, False], [True, True, None, True])).between("good")
    assert (found.lost_a, found.lost_b) == (("q1",), ("q2",))
    assert found.difference.coverage.failed == 2
    assert found.difference.n == 2
    low, high = found.difference.worst_case
    # Item 1 is 0 to 1 in A, item 2 is 0 to 1 in B; the others give 0 and +1.
    assert (low, high) == (pytest.approx((0 + 0 - 1 + 1) / 4), pytest.approx((0 + 1 + 0 + 1) / 4))


def test_nothing_rated_in_both_is_no_estimate_with_a_reason():
    found = compare(*both([True, None], [None, True])).between("good")
    assert found.difference.value is None
    assert found.difference.reason == "no item was rated in both runs"
    assert (found.test, found.p_corrected, found.effect, found.detectable) == (None, None, None, None)
    assert found.better is None


def test_one_item_is_compared_without_an_interval_that_pretends():
    found = compare(*both([False], [True])).between("good")
    assert (found.difference.value, found.detectable, found.better) == (1.0, None, None)


def test_clusters_are_flipped_whole():
    first, second = both([0.2] * 12, [0.4, 0.45] * 6, cluster="customer")
    found = compare(first, second).between("good", "score")
    # Six clusters all moved one way: of 2^6 sign patterns two are as extreme.
    assert found.test.p_value == pytest.approx(2 / 2**6)
    assert found.difference.value == pytest.approx(0.225)


def test_the_detectable_difference_shrinks_with_the_items():
    few = compare(*both([True, False, True, True] * 5, [False, True, True, True] * 5)).between("good")
    many = compare(*both([True, False, True, True] * 100, [False, True, True, True] * 100)).between("good")
    assert 0 < many.detectable < few.detectable <= 1


def test_lower_is_better_turns_wins_around():
    from calibrant import metric

    rows = items(20)
    first = kept(rows, [metric(lambda item: 0.8, name="rude", higher_is_better=False)], name="a")
    second = kept(rows, [metric(lambda item: 0.2, name="rude", higher_is_better=False)], name="b")
    found = compare(first, second, allow="instrument").between("rude", "score")
    assert found.difference.value == pytest.approx(-0.6)
    assert (len(found.wins), len(found.losses), found.better) == (20, 0, "b")


def test_three_runs_are_compared_pair_by_pair():
    rows = [[{**item, "answer": "word " * (n % words + 1)} for n, item in enumerate(items())] for words in (5, 3, 2)]
    runs = [kept(one, [brief], name=name) for one, name in zip(rows, ("old", "mid", "new"), strict=True)]
    found = compare(*runs)
    assert [(one.a, one.b) for one in found.differences] == [("old", "mid"), ("old", "new"), ("mid", "new")]
    assert found.between("brief", a="mid", b="new").difference.value == 0.0
    assert len(found.settled) == 2
    assert str(found).count("A = ") == 3


def test_runs_of_the_same_name_and_id_get_letters():
    one = kept(items(), [brief], name="same")
    found = compare(one, one)
    assert [run.label for run in found.runs] == ["A", "B"]


def test_runs_of_the_same_name_are_called_by_their_ids():
    first, second = both([True] * 3, [True] * 3)
    other = passes([True] * 3, name="a", metric="good")
    found = compare(first, other, allow=["instrument", "dataset"])
    assert {run.label for run in found.runs} == {first.id, other.id}
    assert second.id not in {run.label for run in found.runs}


def test_metrics_that_not_all_have_are_named():
    first, second = kept(items(), [brief, tone], name="a"), kept(items(), [brief, share], name="b")
    found = compare(first, second)
    assert found.only_in == ("tone only in a", "share only in b")
    assert "not compared: tone only in a" in str(found)


def test_labels_without_passing_ones_are_not_compared():
    found = compare(kept(items(), [tone], name="a"), kept(items(), [tone], name="b")).between("tone")
    assert found.difference.value is None
    assert "not compared: no item was rated in both runs" in str(compare(kept(items(), [tone]), kept(items(), [tone])))


def test_runs_that_share_no_metric_are_an_error_that_lists_them():
    with pytest.raises(InputError, match=r"the runs share no metric \(a: brief; b: share\)"):
        compare(kept(items(), [brief], name="a"), kept(items(), [share], name="b"))


def test_another_dataset_is_refused_unless_it_is_allowed():
    first, second = kept(items(10), [brief], name="a"), kept(items(12), [brief], name="b")
    with pytest.raises(UnlikeRunsError) as refused:
        compare(first, second)
    assert "these runs were not measured alike:" in str(refused.value)
    assert 'to compare them all the same, allow "dataset" (--allow dataset)' in str(refused.value)
    assert "2 only in" in str(refused.value)
    found = compare(first, second, allow="dataset")
    assert [one.kind for one in found.unlike] == ["dataset"]
    assert found.between("brief").difference.n == 10
    assert "unlike, and allowed: the runs are about other items" in str(found)


def test_another_instrument_is_refused_and_what_differs_is_said():
    from calibrant import metric

    first = kept(items(10), [metric(brief, name="brief", threshold=0.5)], name="a")
    second = kept(items(10), [metric(brief, name="brief", threshold=0.9)], name="b")
    with pytest.raises(UnlikeRunsError, match=r"brief was measured by another instrument: threshold 0\.5 -> 0\.9"):
        compare(first, second)
    with pytest.raises(UnlikeRunsError, match="--allow instrument"):
        compare(first, second, allow=["dataset"])
    assert compare(first, second, allow=["instrument"]).unlike[0].metric == "brief"


def test_items_that_have_nothing_in_common_cannot_be_paired():
    rows = [{**item, "id": f"x{item['id']}"} for item in items(10)]
    with pytest.raises(InputError, match="a and b have no item in common, so nothing can be paired"):
        compare(kept(items(10), [brief], name="a"), kept(rows, [brief], name="b"), allow="dataset")


def test_an_unknown_difference_to_allow_is_named_with_those_there_are():
    one = kept(items(3), [brief])
    with pytest.raises(UnknownNameError, match="unknown difference to allow 'judges'") as told:
        compare(one, one, allow="judges")
    assert "dataset" in str(told.value)


def test_what_is_no_run_is_refused():
    with pytest.raises(WrongTypeError, match="expected a Run, an exported file or the name of a run, got 7"):
        compare(7, 8)


def test_exported_files_and_runs_compare_alike(tmp_path):
    first, second = kept(items(words=5), [brief, share], name="a"), kept(items(words=5), [brief, share], name="b")
    paths = [export(one, tmp_path / f"{one.name}.jsonl") for one in (first, second)]
    direct, through_files = compare(first, second).to_json(), compare(paths[0], str(paths[1])).to_json()
    assert direct["differences"] == through_files["differences"]


def test_gates_hold_b_against_a():
    runs = both([True] * 40, [True] * 39 + [False])
    assert compare(*runs).exit_code == 0
    passed = compare(*runs, gates=["good.pass_rate >= baseline - 0.2"])
    assert ([gate.answer for gate in passed.gates], passed.exit_code) == (["PASS"], 0)
    failed = compare(*both([True] * 40, [False] * 40), gates="good.pass_rate >= baseline - 0.2")
    assert (failed.gates[0].answer, failed.exit_code) == ("FAIL", 1)
    unsettled = compare(*runs, gates=["good.pass_rate >= baseline - 0.02"])
    assert (unsettled.gates[0].answer, unsettled.exit_code) == ("INCONCLUSIVE", 3)
    assert "INCONCLUSIVE  good.pass_rate >= baseline - 0.02" in str(unsettled)
    assert unsettled.to_json()["gates"][0]["answer"] == "INCONCLUSIVE"


def test_gates_are_for_two_runs_and_known_metrics():
    runs = both([True] * 4, [True] * 4)
    with pytest.raises(InputError, match="gates hold one run against another; compare two runs with them, not 3"):
        compare(*runs, runs[0], gates=["good.pass_rate >= baseline"])
    with pytest.raises(InputError, match="is about 'bad'; the metrics of this run are: good"):
        compare(*runs, gates=["bad.pass_rate >= baseline"])


def test_an_incomplete_run_is_said_and_shows_in_the_exit_code():
    from dataclasses import replace

    first, second = both([True] * 4, [True] * 4)
    found = compare(first, replace(second, status="incomplete"))
    assert found.exit_code == 4
    assert "b: 4 items, INCOMPLETE: the numbers are partial" in str(found)


def test_an_unknown_difference_is_named():
    with pytest.raises(UnknownNameError, match="unknown difference 'good.score of a and b'"):
        compare(*both([True] * 4, [False] * 4)).between("good", "score")


def test_the_json_has_every_key_of_its_schema_and_no_nan():
    import json

    data = json.loads(json.dumps(compare(*both([True, None], [None, True])).to_json(), allow_nan=False))
    assert data["schema"] == "calibrant.comparison/1"
    assert set(data) == {
        *("schema", "runs", "level", "seed", "unlike", "only_in", "gates", "exit_code", "differences"),
    }
    assert set(data["differences"][0]) == {
        *("metric", "quantity", "a", "b", "value_a", "value_b", "difference", "test", "p_corrected", "effect"),
        *("detectable", "better", "wins", "losses", "ties", "items", "failed"),
    }


def test_the_same_seed_gives_the_same_numbers():
    rng = np.random.default_rng(1)
    values = [rng.uniform(0, 1, 60).round(3).tolist() for _ in range(2)]
    runs = both(*values)
    assert compare(*runs, seed=3).to_json() == compare(*runs, seed=3).to_json()
