"""What a project remembers: all of it, nothing secret, and nothing of another meta-evaluator's lost."""

import json
import logging

import polars as pl
import pytest

from calibrant.alignment import (
    AccuracyScorer,
    AltTestScorer,
    BaseScorer,
    CohensKappaScorer,
    EvalTask,
    JudgeConfig,
    MetaEvaluator,
    MetricConfig,
    MetricsConfig,
    MultiLabelSchema,
    SemanticSimilarityScorer,
    TextSimilarityScorer,
)
from calibrant.alignment.former_state import secrets_in, without_secrets
from calibrant.errors import InputError
from calibrant.models import ScriptedInvoker

ANSWERS = {str(item): "yes" if item % 3 else "no" for item in range(6)}


class Mine(BaseScorer):
    def __init__(self):
        super().__init__(scorer_name="mine")

    def can_score_task(self, sample_label):
        return True

    async def compute_score_async(self, judge_data, human_data, task_name, judge_id, aggregation_mode):
        raise NotImplementedError


class Stricter(AccuracyScorer):
    """A scorer of the user's own that is built on one of ours."""


def reopened(folder):
    return MetaEvaluator(folder, load=True)


def configured(folder, *metrics):
    project = MetaEvaluator(folder)
    project.add_metrics_config(MetricsConfig(list(metrics)))
    return project


@pytest.mark.parametrize(
    "scorer",
    [
        AccuracyScorer(ties="abstain"),
        CohensKappaScorer(weights="linear", order=["low", "mid", "high"]),
        AltTestScorer(epsilon=0.12, multiplicative_epsilon=True, q_fdr=0.1, min_humans_per_item=3,
                      min_instances_per_human=12, scoring_function="accuracy"),
        TextSimilarityScorer(),
        SemanticSimilarityScorer(),
        SemanticSimilarityScorer("openai/embed-x", base_url="http://localhost:1/v1", dimensions=64),
    ],
)  # fmt: skip
def test_a_built_in_scorer_comes_back_with_all_that_it_was_told(tmp_path, scorer):
    first = configured(tmp_path, MetricConfig(scorer, ["safe"], "single", "majority_vote", display_name="Safe"))
    [again] = reopened(tmp_path).metrics_config.metrics
    assert type(again.scorer) is type(scorer)
    assert again.hash == first.metrics_config.metrics[0].hash
    assert (again.annotator_aggregation, again.display_name) == ("majority_vote", "Safe")


@pytest.mark.parametrize(
    "scorer", [Mine(), Stricter(), SemanticSimilarityScorer(ScriptedInvoker([]))], ids=["own", "derived", "model"]
)
def test_a_scorer_that_is_code_is_not_kept_and_said_to_be_missing(tmp_path, caplog, scorer):
    configured(tmp_path, MetricConfig(scorer, ["safe"], "single"), MetricConfig(AccuracyScorer(), ["safe"], "single"))
    with caplog.at_level(logging.WARNING):
        project = reopened(tmp_path)
    assert [one.scorer.scorer_name for one in project.metrics_config.metrics] == ["accuracy"]
    assert f"the metric {type(scorer).__name__} of safe is not in the saved project" in caplog.text


def test_a_saved_metric_that_makes_no_sense_any_more_is_said_and_left_out(tmp_path, caplog):
    project = configured(tmp_path, MetricConfig(AccuracyScorer(), ["safe"], "single"))
    path = project.save_state()
    state = json.loads(path.read_text(encoding="utf-8"))
    state["metrics"][0]["task_strategy"] = "sideways"
    path.write_text(json.dumps(state), encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        assert reopened(tmp_path).metrics_config is None
    assert "a saved metric cannot be made again: unknown task_strategy 'sideways'" in caplog.text


def test_data_and_its_clusters_come_back(tmp_path):
    project = MetaEvaluator(tmp_path)
    project.add_data([{"id": 1, "doc": "a", "text": "ü"}, {"id": 2, "doc": "a", "text": None}], cluster_column="doc")
    again = reopened(tmp_path)
    assert again.cluster_column == "doc"
    assert again.data.to_dicts() == [
        {"original_id": "1", "doc": "a", "text": "ü"}, {"original_id": "2", "doc": "a", "text": None}
    ]  # fmt: skip


def test_clusters_that_the_data_has_not_are_refused(tmp_path):
    with pytest.raises(InputError, match="the data has no column doc; it has: id"):
        MetaEvaluator(tmp_path).add_data([{"id": 1}], cluster_column="doc")


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "json"])
def test_data_comes_from_every_format(tmp_path, ending):
    frame = pl.DataFrame({"ticket": ["007", "8"], "text": ["a", "b"]})
    path = tmp_path / f"data.{ending}"
    {"csv": frame.write_csv, "jsonl": frame.write_ndjson, "parquet": frame.write_parquet, "json": frame.write_json}[
        ending
    ](path)
    project = MetaEvaluator(tmp_path / "project")
    project.add_data(path, id_column="ticket")
    assert reopened(tmp_path / "project").data["original_id"].to_list() == ["007", "8"]


def test_everything_that_was_added_is_on_disk_at_once(tmp_path):
    project = MetaEvaluator(tmp_path)
    project.add_eval_task(EvalTask({"safe": ["yes", "no"]}))
    project.add_judge(JudgeConfig(id="gpt", model="openai/x", prompt="p"))
    project.add_external_judge_results(ANSWERS, "gpt")
    project.add_external_annotation_results(ANSWERS, "kim")
    again = reopened(tmp_path)
    assert again.eval_task == project.eval_task
    assert list(again.judges) == ["gpt"]
    assert again.judge_results["gpt"].frame.equals(project.judge_results["gpt"].frame)
    assert list(again.annotation_results) == ["kim"]


@pytest.mark.parametrize(
    ("text", "words"), [("{", "main_state.json is no JSON"), ("[1]", "main_state.json holds no project's state")]
)
def test_a_state_that_is_no_state_is_named(tmp_path, text, words):
    (tmp_path / "main_state.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        reopened(tmp_path)


def test_a_data_file_that_is_gone_is_named(tmp_path):
    project = MetaEvaluator(tmp_path)
    project.add_data([{"id": 1}])
    (tmp_path / "data" / "main_state_data.parquet").unlink()
    with pytest.raises(InputError, match="there is no file of results at .*main_state_data.parquet"):
        reopened(tmp_path)


@pytest.fixture
def another(tmp_path):
    """A folder as another meta-evaluator leaves it: flat accounts, rows with statuses, ids as numbers and texts."""
    for name in ("data", "results", "annotations"):
        (tmp_path / name).mkdir()
    pl.DataFrame({"id": list(range(6)), "text": list("abcdef")}).write_csv(tmp_path / "data" / "items.csv")
    task = {"task_schemas": {"safe": ["yes", "no"], "why": None}, "prompt_columns": None,
            "response_columns": ["text"], "answering_method": "structured"}  # fmt: skip
    state = {
        "version": "1.0",
        "data": {"name": "items", "id_column": "id", "data_file": "items.csv", "data_format": "csv",
                 "type": "EvalData"},
        "eval_task": task,
        "judge_registry": {
            "strict": {"id": "strict", "llm_client": "openai", "model": "gpt-4o", "temperature": None,
                       "prompt": {"id": "p", "prompt": "Judge {text}"}, "eval_task": task,
                       "extra_headers": {"Authorization": "Bearer s3cret"}}
        },
    }  # fmt: skip
    (tmp_path / "main_state.json").write_text(json.dumps(state), encoding="utf-8")
    rows = pl.DataFrame(
        {
            "sample_example_id": [f"s{item}" for item in range(6)],
            "original_id": list(range(6)),
            "run_id": ["run_1"] * 6,
            "status": ["success", "success", "success", "llm_error", "skipped", "partial"],
            "judge_id": ["strict"] * 6,
            "safe": ["no", "yes", "yes", None, None, "yes"],
            "why": ["w", "w", "w", None, None, None],
            "llm_raw_response_content": [None] * 6,
        }
    )
    rows.write_json(tmp_path / "results" / "run_1_strict_data.json")
    about = {"run_id": "run_1", "judge_id": "strict", "llm_client": "openai", "model_used": "gpt-4o",
             "timestamp_local": "2025-01-15T10:30:00", "data_file": "run_1_strict_data.json", "data_format": "json",
             "total_count": 6, "succeeded_count": 3}  # fmt: skip
    (tmp_path / "results" / "run_1_strict_state.json").write_text(json.dumps(about), encoding="utf-8")
    for name in ("kim", "lee"):
        people = pl.DataFrame(
            {"original_id": [str(item) for item in range(6)], "status": ["success"] * 6, "annotator_id": [name] * 6,
             "safe": [ANSWERS[str(item)] for item in range(6)], "why": ["w"] * 6}
        )  # fmt: skip
        people.write_parquet(tmp_path / "annotations" / f"{name}_data.parquet")
        about = {"annotator_id": name, "run_id": "a1", "data_file": f"{name}_data.parquet", "data_format": "parquet"}
        (tmp_path / "annotations" / f"{name}_metadata.json").write_text(json.dumps(about), encoding="utf-8")
    return tmp_path


def test_another_s_folder_is_opened_with_data_task_judges_and_results(another):
    project = reopened(another)
    assert project.data["original_id"].to_list() == ["0", "1", "2", "3", "4", "5"]
    assert project.eval_task.task_schemas == {"safe": ("yes", "no"), "why": None}
    assert (project.judges["strict"].model, project.judges["strict"].prompt) == ("openai/gpt-4o", "Judge {text}")
    assert project.judge_results["strict"].failed == {"3", "5"}
    assert sorted(project.annotation_results) == ["kim", "lee"]


def test_another_s_numbers_and_texts_as_ids_meet_and_its_statuses_are_told_apart(another):
    project = reopened(another)
    project.draws_charts = False
    project.add_metrics_config(MetricConfig(AccuracyScorer(), ["safe"], "single"))
    [[result]] = project.compare_async().values()
    coverage = result.intervals["accuracy"]["coverage"]
    assert (coverage["rated"], coverage["failed"], coverage["skipped"]) == (4, 1, 1)
    assert result.score == 1.0


def test_another_s_state_is_put_aside_before_ours_takes_its_name(another):
    state = json.loads((another / "main_state.json").read_text(encoding="utf-8"))
    del state["judge_registry"]["strict"]["extra_headers"]
    before = json.dumps(state)
    (another / "main_state.json").write_text(before, encoding="utf-8")
    project = reopened(another)
    project.add_metrics_config(MetricConfig(AccuracyScorer(), ["safe"], "single"))
    assert (another / "main_state.1.0.json").read_text(encoding="utf-8") == before
    ours = (another / "main_state.json").read_text(encoding="utf-8")
    assert json.loads(ours)["version"].startswith("calibrant.")
    again = reopened(another)
    again.save_state()
    assert (another / "main_state.1.0.json").read_text(encoding="utf-8") == before
    assert list(again.judges) == ["strict"]


def test_no_secret_of_another_s_is_left_in_the_folder_and_nobody_loses_it_unwarned(another, caplog):
    before = (another / "main_state.json").read_text(encoding="utf-8")
    project = reopened(another)
    where = "judge_registry.strict.extra_headers"
    assert f"holds what may be secret ({where})" in caplog.text
    assert (another / "main_state.json").read_text(encoding="utf-8") == before
    assert project.judges["strict"].headers == {"Authorization": "Bearer s3cret"}
    caplog.clear()
    project.add_metrics_config(MetricConfig(AccuracyScorer(), ["safe"], "single"))
    assert f"is kept as main_state.1.0.json, without what may be secret: {where}" in caplog.text
    files = [path for path in another.rglob("*") if path.is_file()]
    assert not [path for path in files if b"s3cret" in path.read_bytes()]
    expected = json.loads(before)
    expected["judge_registry"]["strict"]["extra_headers"] = "(left out: it may be secret)"
    assert json.loads((another / "main_state.1.0.json").read_text(encoding="utf-8")) == expected
    caplog.clear()
    assert list(reopened(another).judges) == ["strict"]
    assert "secret" not in caplog.text


def test_what_was_put_aside_before_stays(another):
    (another / "main_state.1.0.json").write_text("mine", encoding="utf-8")
    reopened(another).save_state()
    assert (another / "main_state.1.0.json").read_text(encoding="utf-8") == "mine"
    assert json.loads((another / "main_state.1.0-2.json").read_text(encoding="utf-8"))["version"] == "1.0"


@pytest.mark.parametrize(
    ("entry", "where"),
    [
        ({"api_key": "sk-1"}, ["judge.api_key"]),
        ({"options": [{"auth_token": "t"}]}, ["judge.options.0.auth_token"]),
        ({"default_headers": {"X-Team": "a"}}, ["judge.default_headers"]),
        ({"extra_headers": {}, "api_key": None, "api_key_env": "KEY", "max_tokens": 9}, []),
        ({"eval_task": {"task_schemas": {"token": ["yes", "no"]}}}, []),
    ],
)
def test_what_may_be_secret_is_known_by_its_name(entry, where):
    assert list(secrets_in({"judge": entry})) == where
    assert (without_secrets({"judge": entry}) == {"judge": entry}) is not bool(where)


def test_label_sets_of_another_s_task_are_read(another):
    state = json.loads((another / "main_state.json").read_text(encoding="utf-8"))
    state["eval_task"]["task_schemas"]["harms"] = {"outcomes": ["hate", "sex"]}
    (another / "main_state.json").write_text(json.dumps(state), encoding="utf-8")
    assert reopened(another).eval_task.task_schemas["harms"] == MultiLabelSchema(["hate", "sex"])
