"""The same label, once from a frame and once from a file, is one label; kinds that mean different things never mix."""

import polars as pl
import pytest

from calibrant.alignment import AccuracyScorer, MetaEvaluator, MetricConfig, MetricsConfig
from calibrant.alignment.scorers.label_kinds import label_texts, stacked
from calibrant.errors import InputError


def frames(*columns):
    return [pl.DataFrame({"label": column}, strict=False) for column in columns]


def joined(*columns):
    return stacked(frames(*columns), "label")["label"].to_list()


def accuracy(folder, judge, people, *, tasks=("safe",), strategy="single"):
    evaluator = MetaEvaluator(folder)
    evaluator.draws_charts = False
    evaluator.add_external_judge_results(judge, "judge", task="safe")
    for name, labels in people.items():
        evaluator.add_external_annotation_results(labels, name, task="safe")
    evaluator.add_metrics_config(MetricsConfig([MetricConfig(AccuracyScorer(), list(tasks), strategy)]))
    return next(iter(evaluator.compare_async().values()))[0]


def test_a_number_is_the_text_of_its_digits_whatever_an_empty_cell_made_of_it():
    assert joined(["1", "0"], [1.0, None], [1, 0]) == ["1", "0", "1", None, "1", "0"]
    assert joined(["0.5"], [0.5, 12345678.0]) == ["0.5", "0.5", "12345678"]


def test_texts_that_all_name_truth_values_are_such_beside_truth_values():
    assert joined([True, None], ["False", "TRUE", None]) == [True, None, False, True, None]


@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        (([True], ["yes"]), "Boolean, String"),
        (([True], [1]), "Boolean, Int64"),
        ((["a"], [["a"]]), "List\\(String\\), String"),
    ],
)
def test_kinds_that_cannot_be_told_to_mean_the_same_are_an_error(columns, kinds):
    with pytest.raises(InputError, match=f"unlike kinds \\({kinds}\\); write them alike"):
        joined(*columns)


def test_frames_of_one_kind_and_empty_columns_stay_as_they_are():
    assert joined([1.5], [2.5]) == [1.5, 2.5]
    assert joined([None], ["a"]) == [None, "a"]
    assert (
        stacked([pl.DataFrame({"label": ["a"]}, schema={"label": pl.Enum(["a"])})], "label")["label"].dtype == pl.String
    )


def test_texts_of_labels_are_what_a_file_would_hold():
    assert label_texts(pl.Series([1.0, 0.25, None])).to_list() == ["1", "0.25", None]
    assert label_texts(pl.Series([True, False])).to_list() == ["true", "false"]
    with pytest.raises(InputError, match="'tags' are lists"):
        label_texts(pl.Series("tags", [["a"]]))


def test_one_person_from_a_frame_with_a_gap_and_one_from_a_file_agree(tmp_path):
    people = {"frame": {"1": 1.0, "2": 0.0, "3": None}, "file": {"1": "1", "2": "0", "3": "0"}}
    found = accuracy(tmp_path, {"1": "1", "2": "0", "3": "1"}, people)
    assert found.score == pytest.approx((1.0 + 2 / 3) / 2)


def test_a_judge_of_truth_values_is_compared_with_people_who_wrote_them(tmp_path):
    found = accuracy(tmp_path, {"1": True, "2": False}, {"kim": {"1": "True", "2": "True"}})
    assert found.score == 0.5


def test_people_who_name_one_label_and_people_who_list_several_are_a_reason(tmp_path):
    people = {"lists": {"1": ["a"], "2": ["b"]}, "texts": {"1": "a", "2": "b"}}
    found = accuracy(tmp_path, {"1": ["a"], "2": ["b"]}, people)
    assert found.score is None
    assert found.reason.endswith("(List(String), String); write them alike")


def test_several_tasks_as_one_set_take_numbers_with_gaps_for_what_they_are(tmp_path):
    judge = [{"id": 1, "rude": 1, "sexual": 0}, {"id": 2, "rude": 0, "sexual": 0}]
    kim = pl.DataFrame({"id": [1, 2, 3], "rude": [1.0, 0.0, None], "sexual": [0.0, 0.0, 1.0]})
    found = accuracy(tmp_path, judge, {"kim": kim}, tasks=("rude", "sexual"), strategy="multilabel")
    assert (found.score, found.intervals["accuracy"]["n"]) == (1.0, 2)


@pytest.mark.parametrize(
    ("judge", "people", "warning"),
    [
        (["Yes", "No ", "YES"], ["yes", "no", "yes"], "'YES' and 'Yes' and 'yes' differ only in case or spaces"),
        ([1, 0, 1], ["yes", "no", "yes"], "no label in common: the judge says 0, 1, and people say no, yes"),
        (["yes", "no", "yes"], ["yes", "yes", "no"], None),
        (["yes", "yes", "yes"], ["no", "no", "no"], None),
    ],
)
def test_labels_that_only_look_different_are_warned_about_beside_the_score(tmp_path, judge, people, warning):
    found = accuracy(tmp_path, dict(enumerate(judge)), {"kim": dict(enumerate(people))})
    said = found.metadata["warnings"]
    assert found.score is not None
    assert said == [] if warning is None else warning in "; ".join(said)


def test_labels_within_sets_are_compared_by_their_spelling_too(tmp_path):
    people = {"kim": {"1": ["a"], "2": ["a", "b"]}}
    found = accuracy(tmp_path, {"1": ["A"], "2": ["A", "b"]}, people)
    assert found.metadata["warnings"] == ["'A' and 'a' differ only in case or spaces, and count as different labels"]
