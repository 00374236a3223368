"""People's labels: read row by row, checked before the run, and what they do to the pass rate."""

import pytest

from calibrant import MultiOutputBaseMetric, metric
from calibrant.agreement.correction import corrected_rate
from calibrant.errors import InputError
from calibrant.runs import RunSettings, export, run, verify
from calibrant.runs.people import read_labels
from calibrant.store import LabelRecord


def answered(item):
    return item.answer != "No."


def labelled(values, criterion="answered"):
    return [
        {"item": item, "criterion": criterion, "annotator": "kim", "value": value} for item, value in values.items()
    ]


LEVEL = [*labelled({"1": True}), {**labelled({"1": False})[0], "annotator": "lee"}]


def items(n, share=0.8):
    return [{"id": str(number), "answer": "Yes." if number % 10 < 10 * share else "No."} for number in range(n)]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("yes", True),
        (" YES ", True),
        ("true", True),
        ("pass", True),
        (True, True),
        ("no", False),
        ("False", False),
        ("fail", False),
        ("1", 1.0),
        ("0", 0.0),
        (0.25, 0.25),
        ("0.75", 0.75),
        ("warm", "warm"),
    ],
)
def test_a_value_is_yes_or_no_a_score_or_a_label(written, read):
    (value,) = read_labels(labelled({"a": written}))["answered"]["a"].values()
    assert (value, type(value)) == (read, type(read))


@pytest.mark.parametrize("value", [-0.1, 1.5, "2", float("inf")])
def test_a_score_outside_its_range_is_refused(value):
    with pytest.raises(InputError, match=r"item 1: value is yes or no, a score in \[0, 1\] or a label"):
        read_labels(labelled({"a": value}))


def test_every_bad_row_of_a_file_is_named(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item,criterion,annotator,value\na,answered,kim,yes\n,answered,kim,no\nb,answered,kim,7\n")
    with pytest.raises(InputError) as caught:
        read_labels(path)
    assert caught.value.problems == (
        "line 3: has no item; a label has item, criterion, annotator, value",
        "line 4: value is yes or no, a score in [0, 1] or a label, not 7.0",
    )


def test_an_annotator_may_be_missing_and_whole_numbers_are_ids():
    assert read_labels([{"item": 7, "criterion": "answered", "value": "yes"}]) == {"answered": {"7": {"": True}}}


def test_labels_of_the_store_are_read_as_they_are():
    record = LabelRecord(item="a", criterion="answered", annotator="human:kim", value=True)
    assert read_labels([record]) == {"answered": {"a": {"human:kim": True}}}


def test_what_an_annotator_says_last_counts():
    twice = [*labelled({"a": "yes"}), *labelled({"a": "no"})]
    assert read_labels(twice)["answered"]["a"] == {"kim": False}


def test_the_corrected_rate_is_that_of_the_correction_alone():
    data = items(200)
    labels = {str(n): "yes" if n % 10 < 6 else "no" for n in range(100)}
    found = run(data, [answered], labels=labelled(labels)).metric("answered").corrected_pass_rate
    alone = corrected_rate(
        [item["answer"] != "No." for item in data],
        [labels[item["id"]] == "yes" if item["id"] in labels else None for item in data],
    )
    assert (found.value, found.lower, found.upper) == (
        alone.estimate.value,
        alone.estimate.lower,
        alone.estimate.upper,
    )


def test_most_of_several_annotators_count_and_level_ones_do_not():
    said = {"0": ["yes", "yes", "no"], "1": ["yes", "no"], "2": ["no"]}
    rows = [
        {"item": item, "criterion": "answered", "annotator": f"a{place}", "value": value}
        for item, values in said.items()
        for place, value in enumerate(values)
    ]
    warnings = run(items(10), [answered], labels=rows).warnings
    assert any("your 2 labels" in text for text in warnings)


def test_labels_of_items_that_are_not_there_are_told():
    result = run(items(50), [answered], labels=labelled({"1": "yes", "x1": "no", "x2": "no", "x3": "no", "x4": "no"}))
    assert "answered: 4 of 5 labelled items are not in what was rated: x1, x2, x3, ..." in result.warnings


def test_labels_of_no_item_leave_the_rate_uncorrected_and_say_why():
    result = run(items(50), [answered], labels=labelled({"x": "yes"}))
    corrected = result.metric("answered").corrected_pass_rate
    assert (corrected.value, corrected.reason) == (None, "there is no label on an item that was judged")


def test_scores_of_people_pass_by_the_metrics_threshold():
    @metric(threshold=0.7)
    def graded(item):
        return 0.9

    rows = labelled({str(n): 0.6 if n < 60 else 0.8 for n in range(100)}, "graded")
    found = run(items(100), [graded], labels=rows).metric("graded")
    assert found.pass_rate.value == 1.0
    assert found.corrected_pass_rate.value == pytest.approx(0.4, abs=0.05)


def test_labels_in_words_need_to_know_which_words_pass():
    def tone(item):
        return "warm"

    rows = labelled({str(n): "cold" if n % 2 else "warm" for n in range(100)}, "tone")
    with pytest.raises(InputError, match="people labelled tone with 'cold', and nothing says whether that passes"):
        run(items(100), [tone], labels=rows)
    told = run(items(100), [metric(tone, passing_labels={"warm"})], labels=rows).metric("tone")
    assert told.corrected_pass_rate.value == pytest.approx(0.5, abs=0.05)


def test_labels_on_a_metric_that_is_not_there_cost_no_call():
    asked = []

    def counted(item):
        asked.append(item.id)
        return True

    with pytest.raises(InputError, match="the labels are on other, third, but the metrics of this run are counted"):
        run(items(5), [counted], labels=[*labelled({"1": "yes"}, "third"), *labelled({"1": "yes"}, "other")])
    assert asked == []


def test_labels_may_be_on_one_output_of_a_metric_that_has_several():
    class Depths(MultiOutputBaseMetric):
        name = "hits"

        async def _evaluate(self, data):
            return {"at_1": 1.0, "at_5": 1.0}

    rows = labelled({str(n): "yes" if n % 2 else "no" for n in range(60)}, "hits/at_1")
    result = run(items(60), [Depths()], labels=rows)
    assert result.metric("hits/at_1").corrected_pass_rate.value == pytest.approx(0.5, abs=0.06)
    assert result.metric("hits/at_5").corrected_pass_rate is None


def test_clusters_widen_the_corrected_interval_too():
    data = [{**item, "customer": str(n // 30)} for n, item in enumerate(items(300))]
    rows = labelled({str(n): "yes" if (n // 30) % 2 else "no" for n in range(150)})
    plain, robust = (
        run(data, [answered], labels=rows, settings=RunSettings(cluster=cluster)).metrics[0].corrected_pass_rate
        for cluster in (None, "customer")
    )
    assert robust.upper - robust.lower > plain.upper - plain.lower


def test_the_correction_can_be_gated():
    rows = labelled({str(n): "yes" if n % 10 < 2 else "no" for n in range(200)})
    gates = ["answered.corrected_pass_rate >= 0.7", "answered.pass_rate >= 0.7"]
    answers = run(items(400), [answered], labels=rows, gates=gates).gates
    assert [gate.answer for gate in answers] == ["FAIL", "PASS"]


def test_rows_that_differ_and_name_nobody_are_a_problem(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item,criterion,value\n1,answered,yes\n1,answered,yes\n1,answered,no\n2,answered,no\n")
    with pytest.raises(InputError) as caught:
        read_labels(path)
    told = "line 4: answered of item '1' is labelled already, and otherwise; name the annotator of each row"
    assert caught.value.problems == (told,)


def test_items_on_which_people_are_level_are_told():
    given = [*labelled({str(n): True for n in range(2, 20)}), *LEVEL]
    warnings = run(items(40), [answered], labels=given).warnings
    assert "answered: people are tied on 1 of 19 labelled items, which count as not labelled: 1" in warnings


def test_a_run_verifies_also_where_labels_are_of_strangers_or_level(tmp_path):
    given = [*labelled({str(n): n % 5 > 0 for n in range(2, 60)}), *LEVEL]
    result = run(items(40), [answered], labels=given, settings=RunSettings(workspace=tmp_path))
    assert "answered: 20 of 59 labelled items are not in what was rated: 40, 41, 42, ..." in result.warnings
    assert verify(result).is_ok
    assert verify(export(result, tmp_path / "run.jsonl")).is_ok
    result.close()
