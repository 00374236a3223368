"""A session that is killed while it writes leaves what was there, and what is broken all the same is named."""

import pytest

from calibrant.alignment import AccuracyScorer, MetaEvaluator, MetricConfig
from calibrant.alignment.whole_files import write_json, write_whole

ANSWERS = {item: "yes" if item % 3 else "no" for item in range(30)}


@pytest.fixture
def project(tmp_path):
    made = MetaEvaluator(tmp_path / "p")
    made.draws_charts = False
    for judge in ("one", "two"):
        made.add_external_judge_results(ANSWERS, judge, task="safe")
    made.add_external_annotation_results(ANSWERS, "kim", task="safe")
    made.add_metrics_config(MetricConfig(AccuracyScorer(), ["safe"], "single"))
    made.compare_async()
    return made.project_dir


def test_what_stops_in_the_middle_leaves_the_file_before(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"a": 1})
    before = path.read_bytes()

    def half(fresh):
        fresh.write_text("{", encoding="utf-8")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_whole(path, half)
    assert path.read_bytes() == before
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert path.read_bytes() == before


def test_nothing_unfinished_stays_in_a_project(project):
    assert not list(project.rglob("*.new"))


@pytest.mark.parametrize("content", ["", '{"judge_id": "tw', None])
def test_a_judge_whose_result_is_broken_stays_in_the_report_with_that_reason(project, content):
    path = next((project / "scores").rglob("two_result.json"))
    path.unlink() if content is None else path.write_text(content, encoding="utf-8")
    report = MetaEvaluator(project, load=True).score_report
    assert report.judges == ("one", "two")
    assert "two: no score: two_result.json cannot be read; call compare_async() again" in report.to_text()


@pytest.mark.parametrize("content", ['{"metrics": [', "[]", "{}"])
def test_a_broken_index_costs_the_report_and_not_the_project(project, content, caplog):
    (project / "scores" / "comparison.json").write_text(content, encoding="utf-8")
    opened = MetaEvaluator(project, load=True)
    assert "cannot be read, so there is no report of the last comparison" in caplog.text
    opened.draws_charts = False
    assert len(opened.compare_async()) == 1
