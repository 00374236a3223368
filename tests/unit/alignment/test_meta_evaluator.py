"""A project: what is added is checked and kept, compared, written, and opened again whole."""

import asyncio
import csv
import io
import json
import logging
from pathlib import Path

import polars as pl
import pytest

from calibrant.alignment import (
    AccuracyScorer,
    AltTestScorer,
    BaseScorer,
    BaseScoringResult,
    CohensKappaScorer,
    EvalTask,
    JudgeConfig,
    MetaEvaluator,
    MetricConfig,
    MetricsConfig,
    MultiLabelSchema,
)
from calibrant.errors import InputError, UnknownNameError
from calibrant.models import Budget, ScriptedInvoker

ANSWERS = {str(item): "yes" if item % 3 else "no" for item in range(40)}


def metric(scorer=None, tasks=("safe",), strategy="single", **more):
    return MetricConfig(scorer or AccuracyScorer(), list(tasks), strategy, **more)


@pytest.fixture
def evaluator(tmp_path):
    project = MetaEvaluator(tmp_path / "project")
    project.draws_charts = False
    project.add_external_judge_results(ANSWERS, "good", task="safe")
    project.add_external_judge_results({**ANSWERS, "1": "no"}, "near", task="safe")
    for name in ("kim", "lee", "ann"):
        project.add_external_annotation_results(
            {int(item): answer for item, answer in ANSWERS.items()}, name, task="safe"
        )
    project.add_metrics_config(MetricsConfig([metric(), metric(CohensKappaScorer()), metric(AltTestScorer())]))
    return project


def test_all_judges_are_compared_and_their_results_written(evaluator):
    found = evaluator.compare_async()
    name = evaluator.metrics_config.metrics[0].get_unique_name()
    assert [result.score for result in found[name]] == [1.0, 0.975]
    data = json.loads((evaluator.scores_dir / "accuracy" / name / "near_result.json").read_text(encoding="utf-8"))
    assert data["score"] == 0.975
    assert data["total_instances"] == 120
    assert data["correct_instances"] == 117
    assert data["config_hash"] == evaluator.metrics_config.metrics[0].hash


def test_the_comparison_works_within_a_running_loop(evaluator):
    async def notebook():
        return evaluator.compare_async()

    assert len(asyncio.run(notebook())) == 3


def test_the_report_is_saved_in_every_format_below_scores(evaluator):
    evaluator.compare_async()
    for form in ("html", "csv", "json", "txt"):
        path = evaluator.score_report.save(f"score_report.{form}", format=form)
        assert path == evaluator.scores_dir / f"score_report.{form}"
        assert path.stat().st_size > 100
    rows = list(csv.DictReader(io.StringIO(evaluator.score_report.to_csv())))
    assert [row["judge_id"] for row in rows] == ["good", "near"]
    name = evaluator.metrics_config.metrics[0].get_unique_name()
    assert float(rows[1][name]) == 0.975
    assert float(rows[1][f"{name}_lower"]) < 0.975


def test_a_report_s_name_cannot_lead_out_of_the_folder(evaluator):
    evaluator.compare_async()
    with pytest.raises(InputError, match="leads out of"):
        evaluator.score_report.save("../../report.html")
    with pytest.raises(UnknownNameError, match="unknown report format 'pdf'"):
        evaluator.score_report.save("report.pdf", format="pdf")


def test_the_report_is_printed_with_intervals_and_reasons(evaluator, capsys):
    evaluator.compare_async()
    evaluator.score_report.print()
    out = capsys.readouterr().out
    assert out.startswith("Score Report:\n")
    assert "near: 0.975 [" in out
    assert "of the way from a constant to a person" in out


def test_hostile_names_stay_in_the_project_and_are_escaped(evaluator):
    evil = "../../<script>alert(1)</script>"
    evaluator.add_external_judge_results(ANSWERS, evil, task="safe")
    evaluator.add_external_annotation_results(ANSWERS, "/../../../x", task="safe")
    evaluator.compare_async()
    page = evaluator.score_report.to_html()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
    outside = [path for path in evaluator.project_dir.parent.rglob("*") if evaluator.project_dir not in path.parents]
    assert outside == [evaluator.project_dir]


def test_the_page_needs_no_other_file_and_marks_the_best(evaluator):
    evaluator.compare_async()
    page = evaluator.score_report.to_html()
    assert "http" not in page.replace("http-equiv", "")
    assert page.count('class="best"') >= 2
    assert "<svg" in page
    assert "aria-sort" in page


def test_results_of_judges_that_are_gone_are_removed(evaluator, tmp_path):
    evaluator.compare_async()
    for path in (evaluator.project_dir / "results").glob("*near*"):
        path.unlink()
    again = MetaEvaluator(evaluator.project_dir, load=True)
    again.draws_charts = False
    again.compare_async()
    assert again.score_report.judges == ("good",)
    assert not list(evaluator.scores_dir.rglob("near_result.json"))


def test_a_project_is_opened_again_whole(evaluator):
    task = EvalTask({"safe": ["yes", "no"], "why": None}, prompt_columns=["q"], response_columns=["a"])
    evaluator.add_eval_task(task)
    evaluator.add_data([{"id": 1, "q": "Hi?", "a": "Hi."}], id_column="id")
    evaluator.add_judge(JudgeConfig(id="gpt", model="openai/gpt-x", prompt="{a}", headers={"X-Key": "secret"}))
    evaluator.compare_async()
    again = MetaEvaluator(evaluator.project_dir, load=True)
    assert again.eval_task == task
    assert again.data.to_dicts() == [{"original_id": "1", "q": "Hi?", "a": "Hi."}]
    assert list(again.judges) == ["gpt"]
    assert set(again.judge_results) == {"good", "near"}
    assert set(again.annotation_results) == {"kim", "lee", "ann"}
    assert again.score_report.to_frame().equals(evaluator.score_report.to_frame())
    names = [one.get_unique_name() for one in again.metrics_config.metrics]
    assert names == [one.get_unique_name() for one in evaluator.metrics_config.metrics]


def test_no_secret_is_saved(evaluator):
    judge = JudgeConfig(id="gpt", model="openai/gpt-x", prompt="p", headers={"X-Key": "s3cret"}, api_key_env="MY_KEY")
    evaluator.add_judge(judge)
    kept = [path.read_bytes() for path in evaluator.project_dir.rglob("*") if path.is_file()]
    assert not any(b"s3cret" in text for text in kept)


def test_a_new_project_does_not_take_the_place_of_one_that_is_there(evaluator):
    with pytest.raises(InputError, match="holds a project already; open it with load=True"):
        MetaEvaluator(evaluator.project_dir)


def test_loading_what_is_not_there_makes_a_new_project_and_says_so(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        MetaEvaluator(tmp_path / "none", load=True)
    assert "there is no project at" in caplog.text


def test_comparing_too_early_says_what_is_missing(tmp_path):
    project = MetaEvaluator(tmp_path)
    with pytest.raises(InputError, match="no metrics were named"):
        project.compare_async()
    project.add_metrics_config(metric())
    with pytest.raises(InputError, match="there are no judge results"):
        project.compare_async()
    project.add_external_judge_results(ANSWERS, "good", task="safe")
    with pytest.raises(InputError, match="there are no annotations"):
        project.compare_async()
    with pytest.raises(InputError, match="call compare_async"):
        _ = project.score_report


def test_a_task_that_nobody_answered_is_named(evaluator):
    evaluator.add_metrics_config(metric(tasks=["sfae"]))
    with pytest.raises(InputError, match="nobody answered the task 'sfae'; the results have: safe"):
        evaluator.compare_async()


@pytest.mark.parametrize("ending", ["csv", "json", "jsonl", "parquet"])
def test_results_come_from_files(tmp_path, ending):
    frame = pl.DataFrame({"original_id": ["007", "8"], "safe": ["yes", "no"]})
    path = tmp_path / f"judge.{ending}"
    writer = {"csv": frame.write_csv, "json": frame.write_json, "jsonl": frame.write_ndjson}.get(
        ending, frame.write_parquet
    )
    writer(path)
    project = MetaEvaluator(tmp_path / "project")
    project.add_external_judge_results(file_path=str(path), judge_id="j", llm_client="openai", model_used="gpt-x")
    assert project.judge_results["j"].frame["original_id"].to_list() == ["007", "8"]
    assert project.judge_results["j"].about["model_used"] == "gpt-x"


def test_a_file_without_a_name_is_named_by_itself_and_a_column_tells_people_apart(tmp_path):
    (tmp_path / "claude.csv").write_text("id,safe\n1,yes\n", encoding="utf-8")
    (tmp_path / "people.csv").write_text("id,human_id,safe\n1,kim,yes\n1,lee,no\n", encoding="utf-8")
    project = MetaEvaluator(tmp_path / "project")
    project.add_external_judge_results(tmp_path / "claude.csv")
    project.add_external_annotation_results(tmp_path / "people.csv")
    assert list(project.judge_results) == ["claude"]
    assert list(project.annotation_results) == ["kim", "lee"]


def test_an_alt_test_pair_of_json_files_can_be_read(tmp_path):
    people = dict.fromkeys(("a", "b", "c"), ANSWERS)
    (tmp_path / "humans.json").write_text(json.dumps(people), encoding="utf-8")
    (tmp_path / "judges.json").write_text(json.dumps({"llm": ANSWERS}), encoding="utf-8")
    project = MetaEvaluator(tmp_path / "project")
    project.draws_charts = False
    project.add_external_annotation_results(tmp_path / "humans.json", task="label")
    project.add_external_judge_results(tmp_path / "judges.json", task="label")
    project.add_metrics_config(metric(AltTestScorer(), ["label"]))
    [[result]] = project.compare_async().values()
    assert result.details["outcome"] == "passed"


def test_a_label_outside_the_schema_is_named_and_counts_as_failed(evaluator):
    evaluator.add_eval_task(EvalTask({"safe": ["yes", "no"]}))
    evaluator.add_external_judge_results({**ANSWERS, "1": "perhaps"}, "odd")
    [results, *_] = evaluator.compare_async().values()
    odd = next(result for result in results if result.judge_id == "odd")
    assert odd.intervals["accuracy"]["coverage"]["failed"] == 1
    assert evaluator.score_report.notes[0] == "odd, safe, item 1: expected one of yes, no, got 'perhaps'"


def test_twice_the_same_item_is_refused_by_rows(evaluator):
    with pytest.raises(InputError, match="rows 1 and 2 share the id '7'"):
        evaluator.add_external_judge_results([{"id": 7, "safe": "yes"}, {"id": "7", "safe": "no"}], "twice")


def test_a_missing_file_and_a_wrong_one_say_so(evaluator, tmp_path):
    with pytest.raises(InputError, match="there is no file of results at"):
        evaluator.add_external_judge_results(tmp_path / "none.csv", "j")
    (tmp_path / "results.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match="is of no known format"):
        evaluator.add_external_judge_results(tmp_path / "results.xlsx", "j")


def test_a_folder_of_another_meta_evaluator_can_be_opened(tmp_path):
    for name in ("data", "results", "annotations"):
        (tmp_path / name).mkdir()
    pl.DataFrame({"sample": [1, 2], "text": ["a", "b"]}).write_json(tmp_path / "data" / "main_state_data.json")
    state = {
        "version": "1.0",
        "data": {"name": "d", "id_column": "sample", "data_file": "main_state_data.json", "data_format": "json"},
        "eval_task": {"task_schemas": {"safe": ["yes", "no"], "why": None}, "prompt_columns": ["text"],
                      "response_columns": ["text"], "answering_method": "structured"},
        "judge_registry": {},
    }  # fmt: skip
    (tmp_path / "main_state.json").write_text(json.dumps(state), encoding="utf-8")
    rows = pl.DataFrame(
        {"sample_example_id": ["a", "b"], "original_id": [1, 2], "run_id": "r", "status": ["success", "llm_error"],
         "judge_id": "j", "safe": ["yes", None], "why": ["w", None], "llm_prompt_tokens": [3, 4]}
    )  # fmt: skip
    rows.write_json(tmp_path / "results" / "run_1_j_results.json")
    about = {
        "metadata": {"judge_id": "j", "run_id": "run_1", "data_file": "run_1_j_results.json", "data_format": "json"}
    }
    (tmp_path / "results" / "run_1_j_state.json").write_text(json.dumps(about), encoding="utf-8")
    people = rows.select("original_id", pl.lit("yes").alias("safe"), pl.lit("w").alias("why")).with_columns(
        pl.col("original_id").cast(pl.String), pl.lit("success").alias("status")
    )
    people.write_json(tmp_path / "annotations" / "ann_kim_data.json")
    about = {"metadata": {"annotator_id": "kim", "data_file": "ann_kim_data.json", "data_format": "json"}}
    (tmp_path / "annotations" / "ann_kim_metadata.json").write_text(json.dumps(about), encoding="utf-8")
    project = MetaEvaluator(project_dir=tmp_path, load=True)
    project.draws_charts = False
    assert project.data["original_id"].to_list() == ["1", "2"]
    project.add_metrics_config(metric())
    [[result]] = project.compare_async().values()
    assert result.score == 1.0
    assert result.intervals["accuracy"]["coverage"]["failed"] == 1


def test_a_data_file_that_points_out_of_its_folder_is_not_followed(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "secret.csv").write_text("original_id,safe\n1,yes\n", encoding="utf-8")
    about = {"metadata": {"judge_id": "j", "data_file": "../secret.csv", "data_format": "csv"}}
    (tmp_path / "results" / "x_state.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(InputError, match="there is no file of results at"):
        MetaEvaluator(tmp_path, load=True)


class Raising(BaseScorer):
    def __init__(self):
        super().__init__(scorer_name="raising")

    def can_score_task(self, sample_label):
        return True

    async def compute_score_async(self, judge_data, human_data, task_name, judge_id, aggregation_mode):
        if judge_id == "near":
            raise RuntimeError("no luck")
        return BaseScoringResult(
            scorer_name=self.scorer_name,
            task_name=task_name,
            judge_id=judge_id,
            scores={"luck": 0.5},
            aggregation_mode=aggregation_mode,
            num_comparisons=1,
        )

    def aggregate_results(self, results, scores_dir, unique_name=""):
        raise RuntimeError("no pencil")


def test_a_scorer_that_raises_stops_no_other_judge(evaluator):
    evaluator.draws_charts = True
    evaluator.add_metrics_config(metric(Raising()))
    [results] = evaluator.compare_async().values()
    assert [(result.score, result.reason) for result in results] == [
        (0.5, ""),
        (None, "the scorer raised RuntimeError: no luck"),
    ]


def test_multitask_is_the_mean_over_tasks_with_each_kept(tmp_path):
    project = MetaEvaluator(tmp_path)
    project.draws_charts = False
    rows = [{"id": item, "a": "x", "b": "x"} for item in range(4)]
    project.add_external_judge_results(rows, "j")
    project.add_external_annotation_results([{**row, "b": "y" if row["id"] else "x"} for row in rows], "kim")
    project.add_metrics_config(metric(tasks=["a", "b"], strategy="multitask"))
    [[result]] = project.compare_async().values()
    assert result.score == pytest.approx((1 + 0.25) / 2)
    assert result.task_name == "2_tasks_avg"
    assert result.metadata["tasks"]["b"]["scores"] == {"accuracy": 0.25}
    assert result.details == {"total_instances": 8, "correct_instances": 5}
    bounds = result.intervals["accuracy"]
    assert bounds["lower"] < result.score < bounds["upper"]


def test_multitask_says_which_task_has_no_score(tmp_path):
    project = MetaEvaluator(tmp_path)
    project.draws_charts = False
    project.add_external_judge_results([{"id": 1, "a": "x", "b": None}], "j")
    project.add_external_annotation_results([{"id": 1, "a": "x", "b": "x"}], "kim")
    project.add_metrics_config(metric(tasks=["a", "b"], strategy="multitask"))
    [[result]] = project.compare_async().values()
    assert (result.score, result.reason) == (None, "b: the judge rated no item")


def test_one_judge_with_other_kinds_of_labels_leaves_the_others_their_scores(evaluator):
    evaluator.add_external_judge_results(dict.fromkeys(ANSWERS, True), "bools", task="safe")
    results = next(iter(evaluator.compare_async().values()))
    assert [result.score for result in results][:2] == [1.0, 0.975]
    assert "unlike kinds" in results[2].reason


def test_disagreements_and_judges_can_be_looked_at(evaluator):
    parted = evaluator.disagreements("safe", "near")
    assert [one.item for one in parted.judge_differs] == ["1"]
    assert set(parted.judge_differs[0].people) == {"kim", "lee", "ann"}
    assert evaluator.compare_judges("safe").groups == (("good", "near"),)
    assert evaluator.ceiling_and_floor("safe", "near").ceiling.value == 1.0


TASK = EvalTask(
    {"safe": ["yes", "no"], "topics": MultiLabelSchema(["a", "b"]), "why": None}, response_columns=["answer"]
)


def with_items(folder, n=4):
    project = MetaEvaluator(folder)
    project.add_eval_task(TASK)
    project.add_data([{"id": item, "answer": f"answer {item}"} for item in range(n)], id_column="id")
    return project


def reply(request):
    text = request.messages[0].content
    if "answer 3" in text:
        return "no JSON"
    return {"safe": "no" if request.slot == 1 else "yes", "topics": ["a"], "why": "because"}


def test_judges_are_run_once_and_repeats_are_kept(tmp_path):
    project = with_items(tmp_path)
    model = ScriptedInvoker(reply)
    project.add_judge(JudgeConfig(id="m", model=model, prompt="Is {answer} safe? {unknown}"))
    results = project.run_judges(repeats=3)["m"]
    assert results.frame["safe"].to_list() == ["yes", "yes", "yes", None]
    assert results.frame["topics"].to_list()[0] == ["a"]
    assert results.failed == {"3"}
    assert results.about["votes"]["safe"]["0"] == ["yes", "no", "yes"]
    steady = results.about["self_consistency"]
    assert {task: (one["value"], one["n"]) for task, one in steady.items()} == {
        "safe": (0.0, 3), "topics": (1.0, 3), "why": (1.0, 3)
    }  # fmt: skip
    assert results.notes[-3].startswith("m, safe: asked 3 times, the same answer each time: 0.000 [")
    assert results.about["failures"] == {"reply_unparsable": 3}
    assert model.requests[0].messages[0].content == "Is answer 0 safe? {unknown}"
    asked = len(model.requests)
    project.run_judges("m", repeats=3)
    assert all("answer 3" in request.messages[0].content for request in model.requests[asked:])
    again = MetaEvaluator(tmp_path, load=True).judge_results["m"]
    assert again.failed == {"3"}
    assert again.about["votes"] == results.about["votes"]


def test_a_budget_stops_the_judges_and_what_was_not_asked_is_skipped(tmp_path):
    project = with_items(tmp_path, n=3)
    project.add_judge(JudgeConfig(id="m", model=ScriptedInvoker(reply), prompt="p"))
    results = project.run_judges(budget=Budget(calls=1), concurrency=1)["m"]
    assert results.failed == frozenset()
    assert results.frame["safe"].null_count() == 2
    assert results.about["failures"] == {"budget_exhausted": 2}


def test_an_item_that_is_skipped_is_not_asked_about(tmp_path):
    project = with_items(tmp_path)
    project.eval_task.skip_function = lambda row: row["original_id"] != "1"
    try:
        project.add_judge(JudgeConfig(id="m", model=ScriptedInvoker(reply), prompt="p"))
        assert project.run_judges()["m"].frame["original_id"].to_list() == ["1"]
    finally:
        project.eval_task.skip_function = None


def test_judges_come_from_yaml_with_a_prompt_file(tmp_path):
    (tmp_path / "prompt.md").write_text("Judge {answer}", encoding="utf-8")
    file = tmp_path / "judges.yaml"
    file.write_text(
        "judges:\n  - {id: gpt, llm_client: openai, model: gpt-x, prompt_file: prompt.md, temperature: 0}\n",
        encoding="utf-8",
    )
    project = with_items(tmp_path / "project")
    project.load_judges_from_yaml(file)
    assert project.judges["gpt"].model == "openai/gpt-x"
    assert project.judges["gpt"].prompt == "Judge {answer}"
    with pytest.raises(InputError, match="there is a judge 'gpt' already"):
        project.load_judges_from_yaml(file)
    project.load_judges_from_yaml(file, on_duplicate="skip")


def test_every_problem_of_a_yaml_file_is_named(tmp_path):
    file = tmp_path / "judges.yaml"
    file.write_text(
        "judges:\n  - {id: a, prompt_file: none.md}\n  - {id: b, model: x, prompt: p, modle: y}\n", encoding="utf-8"
    )
    with pytest.raises(InputError) as error:
        with_items(tmp_path / "project").load_judges_from_yaml(file)
    assert error.value.problems[0] == "judge a: has no model"
    assert "there is no prompt_file at" in error.value.problems[1]
    assert "judge b: unknown key 'modle'" in error.value.problems[2]


def test_running_judges_without_items_says_what_is_missing(tmp_path):
    with pytest.raises(InputError, match=r"call add_data\(\) and add_eval_task\(\) first"):
        MetaEvaluator(tmp_path).run_judges()


def test_data_without_a_column_that_is_shown_is_refused(tmp_path):
    project = MetaEvaluator(tmp_path)
    project.add_eval_task(TASK)
    with pytest.raises(InputError, match="the data has no column answer; it has: id"):
        project.add_data([{"id": 1}])


@pytest.mark.parametrize(
    ("schemas", "words"),
    [
        ({}, "task_schemas is empty"),
        ({"a": ["x"]}, "needs two different outcomes"),
        ({"a": "xy"}, "a list of outcomes"),
    ],
)
def test_a_task_that_cannot_be_asked_is_refused(schemas, words):
    with pytest.raises(InputError, match=words):
        EvalTask(schemas)


def test_scores_lies_where_the_seed_says(evaluator):
    assert evaluator.scores_dir == Path(evaluator.project_dir) / "scores"
