"""Models asked to judge: every vote kept, replies reused, budgets held, and what was not answered counted as failed."""

import json
from collections import Counter

import pytest
from provider_server import ProviderServer, Refuse

from calibrant.alignment import AccuracyScorer, EvalTask, JudgeConfig, MetaEvaluator, MetricConfig, MultiLabelSchema
from calibrant.errors import InputError, UnknownNameError
from calibrant.models import Budget, ScriptedInvoker

SAFE = EvalTask({"safe": ["yes", "no"]}, response_columns=["answer"])


def with_items(folder, task=SAFE, n=6):
    project = MetaEvaluator(folder)
    project.draws_charts = False
    project.add_eval_task(task)
    project.add_data([{"id": item, "answer": f"answer {item}"} for item in range(n)])
    return project


def judged(project, replies, **settings):
    model = ScriptedInvoker(replies)
    project.add_judge(JudgeConfig(id="m", model=model, prompt="Judge {answer}"))
    return project.run_judges("m", **settings)["m"], model


def always(answer):
    return lambda request: {"safe": answer}


def test_every_item_is_asked_about_once_and_answered(tmp_path):
    found, model = judged(with_items(tmp_path), always("yes"))
    assert found.frame["safe"].to_list() == ["yes"] * 6
    assert Counter(request.messages[0].content for request in model.requests) == Counter(
        f"Judge answer {item}" for item in range(6)
    )
    assert found.about["repeats"] == 1
    assert "self_consistency" not in found.about


def test_replies_are_kept_and_another_project_object_asks_nothing_again(tmp_path):
    judged(with_items(tmp_path), always("yes"))
    again = MetaEvaluator(tmp_path, load=True)
    found, model = judged(again, always("no"))
    assert (found.frame["safe"].to_list(), model.requests) == (["yes"] * 6, [])


def test_another_prompt_is_asked_anew(tmp_path):
    project = with_items(tmp_path)
    judged(project, always("yes"))
    model = ScriptedInvoker(always("no"))
    project.add_judge(JudgeConfig(id="m", model=model, prompt="Judge strictly: {answer}"))
    assert project.run_judges("m")["m"].frame["safe"].to_list() == ["no"] * 6


def test_more_items_ask_for_those_alone(tmp_path):
    project = with_items(tmp_path, n=2)
    judged(project, always("yes"))
    project.add_data([{"id": item, "answer": f"answer {item}"} for item in range(5)])
    found, model = judged(project, always("yes"))
    assert len(model.requests) == 3
    assert found.frame.height == 5


def test_a_budget_stops_the_asking_and_a_larger_one_goes_on(tmp_path):
    project = with_items(tmp_path)
    first, _ = judged(project, always("yes"), budget=Budget(calls=2), concurrency=1)
    assert first.failed == frozenset()  # nobody was asked about the other four: they are skipped
    assert first.frame["safe"].null_count() == 4
    assert first.about["failures"] == {"budget_exhausted": 4}
    second, model = judged(project, always("yes"))
    assert (len(model.requests), second.failed) == (4, frozenset())


def test_of_several_votes_the_most_frequent_counts_and_of_tied_ones_the_first_of_the_alphabet(tmp_path):
    answers = {0: "no", 1: "yes", 2: "yes", 3: "no"}
    found, _ = judged(with_items(tmp_path, n=1), lambda request: {"safe": answers[request.slot]}, repeats=3)
    assert found.frame["safe"].to_list() == ["yes"]
    tied, _ = judged(with_items(tmp_path / "tied", n=1), lambda request: {"safe": answers[request.slot]}, repeats=4)
    assert tied.frame["safe"].to_list() == ["no"]
    assert tied.about["votes"] == {"safe": {"0": ["no", "yes", "yes", "no"]}}


def test_a_vote_that_failed_is_no_vote_and_an_item_is_steady_only_with_all(tmp_path):
    def reply(request):
        return "no JSON" if request.slot == 1 else {"safe": "yes"}

    found, _ = judged(with_items(tmp_path, n=4), reply, repeats=2)
    assert found.frame["safe"].to_list() == ["yes"] * 4
    steady = found.about["self_consistency"]["safe"]
    assert (steady["value"], steady["n"], steady["coverage"]["failed"]) == (None, 0, 4)
    assert steady["reason"]


def test_how_steady_the_judge_is_stands_in_the_report_with_its_interval(tmp_path):
    project = with_items(tmp_path, n=10)
    wavering = lambda request: request.slot and "answer 3" in request.messages[0].content  # noqa: E731 - one line
    judged(project, lambda request: {"safe": "no" if wavering(request) else "yes"}, repeats=2)
    project.add_external_annotation_results(dict.fromkeys(range(10), "yes"), "kim")
    project.add_metrics_config(MetricConfig(AccuracyScorer(), ["safe"], "single"))
    project.compare_async()
    # 9 of 10, by the Beta(9.5, 1.5) distribution (Brown, Cai and DasGupta 2001): R's qbeta gives 0.6189 and 0.9890.
    note = "m, safe: asked 2 times, the same answer each time: 0.900 [0.619, 0.989] n=10"
    assert note in project.score_report.notes
    assert note in project.score_report.to_text()
    assert note in MetaEvaluator(tmp_path, load=True).score_report.to_html()


def test_a_reply_without_a_required_answer_is_a_failure_of_that_item(tmp_path):
    task = EvalTask({"safe": ["yes", "no"], "why": None}, response_columns=["answer"])

    def reply(request):
        return {"why": "w"} if "answer 1" in request.messages[0].content else {"safe": "yes"}

    found, _ = judged(with_items(tmp_path, task, n=3), reply)
    assert found.failed == {"1"}
    assert found.frame["why"].to_list() == [None, "w", None]


def test_an_answer_outside_of_the_task_is_a_failure_that_is_named(tmp_path):
    found, _ = judged(with_items(tmp_path, n=2), lambda request: json.dumps({"safe": "perhaps"}))
    assert found.failed == {"0", "1"}
    assert found.frame["safe"].to_list() == [None, None]
    assert any("perhaps" in note for note in found.notes)


def test_label_sets_come_as_lists(tmp_path):
    task = EvalTask({"harms": MultiLabelSchema(["hate", "sex"])}, response_columns=["answer"])
    found, _ = judged(with_items(tmp_path, task, n=2), lambda request: {"harms": ["hate"]})
    assert found.frame["harms"].to_list() == [["hate"], ["hate"]]
    none, _ = judged(with_items(tmp_path / "none", task, n=2), lambda request: {"harms": []})
    assert none.frame["harms"].to_list() == [[], []]
    assert none.failed == frozenset()


def test_an_item_that_is_skipped_is_not_asked_about(tmp_path):
    task = EvalTask(SAFE.task_schemas, skip_function=lambda row: row["original_id"] in {"0", "2"})
    project = with_items(tmp_path, task, n=4)
    found, model = judged(project, always("yes"))
    assert (len(model.requests), found.frame["original_id"].to_list()) == (2, ["1", "3"])


def test_all_items_skipped_is_a_result_without_rows(tmp_path):
    task = EvalTask({"safe": ["yes", "no"]}, response_columns=["answer"], skip_function=lambda row: True)
    found, model = judged(with_items(tmp_path, task), always("yes"))
    assert (found.frame.height, model.requests) == (0, [])


def test_all_judges_are_asked_unless_some_are_named(tmp_path):
    project = with_items(tmp_path, n=1)
    for name in ("a", "b"):
        project.add_judge(JudgeConfig(id=name, model=ScriptedInvoker(always("yes"), name=name), prompt="p"))
    assert list(project.run_judges()) == ["a", "b"]
    assert list(project.run_judges(["b"])) == ["b"]


def test_what_cannot_be_run_says_what_is_missing(tmp_path):
    with pytest.raises(
        InputError, match=r"judges need items and a task; call add_data\(\) and add_eval_task\(\) first"
    ):
        MetaEvaluator(tmp_path).run_judges()
    project = with_items(tmp_path / "p")
    with pytest.raises(UnknownNameError, match=r"unknown judge '\(none was added\)'"):
        project.run_judges()
    project.add_judge(JudgeConfig(id="strict", model=ScriptedInvoker([]), prompt="p"))
    with pytest.raises(UnknownNameError, match="unknown judge 'strct'; did you mean 'strict'|expected one of: strict"):
        project.run_judges("strct")
    with pytest.raises(InputError, match="repeats is a whole number of at least 1, not 0"):
        project.run_judges(repeats=0)


def verdict(body):
    text = body["messages"][-1]["content"]
    return json.dumps({"safe": "no" if "answer 3" in text else "yes", "why": "it says so"})


def judges_file(folder, server):
    (folder / "strict.md").write_text("Is this safe?\n\n{answer}", encoding="utf-8")
    path = folder / "judges.yaml"
    path.write_text(
        "judges:\n  - id: strict\n    llm_client: openai\n    model: gpt-x\n    prompt_file: strict.md\n"
        f"    temperature: 0\n    base_url: {server.openai_url}\n    extra_headers: {{X-Team: s3cret-team}}\n",
        encoding="utf-8",
    )
    return path


def test_a_judge_of_a_yaml_file_judges_over_the_wire_and_resumes(tmp_path):
    task = EvalTask({"safe": ["yes", "no"], "why": None}, response_columns=["answer"])
    with ProviderServer(verdict) as server:
        project = with_items(tmp_path / "p", task)
        project.load_judges_from_yaml(judges_file(tmp_path, server))
        found = project.run_judges()["strict"]
        asked = len(server.requests)
        project.run_judges()
    assert found.frame["safe"].to_list() == ["yes", "yes", "yes", "no", "yes", "yes"]
    assert (asked, len(server.requests)) == (6, 6)
    assert all(request.headers["X-Team"] == "s3cret-team" for request in server.requests)
    assert server.requests[0].body["temperature"] == 0
    assert "Is this safe?" in server.requests[0].question
    kept = [path.read_bytes() for path in (tmp_path / "p").rglob("*") if path.is_file()]
    assert not any(b"s3cret-team" in text for text in kept)


def test_a_provider_that_refuses_is_a_failure_for_each_item_with_its_reason(tmp_path):
    def refuse(body):
        raise Refuse(401, {"error": {"message": "no such key"}})

    with ProviderServer(refuse) as server:
        project = with_items(tmp_path / "p", n=2)
        project.load_judges_from_yaml(judges_file(tmp_path, server))
        found = project.run_judges()["strict"]
    assert found.failed == {"0", "1"}
    assert sum(found.about["failures"].values()) == 2
    assert any("no such key" in note for note in found.notes)
