"""The report: a row a judge, a column a score, everything with its interval or its reason, in every format."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import pytest

from calibrant.alignment.comparing import MetricResults
from calibrant.alignment.modes import TaskAggregationMode
from calibrant.alignment.score_report import ScoreReport, judge_lines
from calibrant.alignment.scoring_result import BaseScoringResult
from calibrant.errors import InputError, UnknownNameError
from calibrant.estimates import Coverage, Estimate

ODD = '<img src=x onerror=alert(1)> & "co"'


def estimate(value, lower, upper, **more):
    return Estimate(
        value=value, lower=lower, upper=upper, method="wilson", coverage=Coverage(rated=90, failed=2), **more
    )


def result(judge, scores, *, intervals=None, scorer="accuracy", **more):
    return BaseScoringResult(
        scorer_name=scorer,
        task_name="safe",
        judge_id=judge,
        scores=scores,
        aggregation_mode=TaskAggregationMode.SINGLE,
        num_comparisons=90,
        intervals={name: one.to_json() for name, one in (intervals or {}).items()},
        **more,
    )


def metric(name, *results, **more):
    return MetricResults(name=name, scorer_name=results[0].scorer_name, results=results, **more)


CEILING = {
    "ceiling": estimate(0.85, 0.8, 0.9).to_json(),
    "floor": estimate(0.5, 0.45, 0.55).to_json(),
    "relative": estimate(0.857, 0.7, 1.01).to_json(),
}
DIFFERENCE = {"first": "good", "second": "weak", "p": 0.0012, "p_holm": 0.0036,
              "difference": estimate(0.2, 0.1, 0.3).to_json()}  # fmt: skip


@pytest.fixture
def report(tmp_path):
    accuracy = metric(
        "accuracy_safe",
        result("good", {"accuracy": 0.8}, intervals={"accuracy": estimate(0.8, 0.7, 0.87)}, metadata=CEILING),
        result("weak", {"accuracy": 0.6}, intervals={"accuracy": estimate(0.6, 0.5, 0.7)},
               metadata={"warnings": ["labels can hardly judge"]}),
        result("none", {"accuracy": None}, reason="the judge rated no item"),
        about="safe; individual_average",
        comparison={"measure": "accuracy", "differences": [DIFFERENCE], "groups": [["good"], ["weak"]], "reason": ""},
    )  # fmt: skip
    own = metric("mine", result("good", {"wins": 3.0, "losses": 1}, scorer="mine"), about="safe; individual_average")
    return ScoreReport([accuracy, own], tmp_path / "scores", ["kim, safe, item 1: expected one of yes, no"])


def test_a_metric_of_one_score_has_one_column_and_others_one_a_score(report):
    assert report.to_frame().columns == ["judge_id", "accuracy_safe", "mine_wins", "mine_losses"]
    assert report.to_frame()["accuracy_safe"].to_list() == [0.8, 0.6, None]


def test_the_text_has_every_number_with_its_interval_or_its_reason(report):
    lines = report.to_text().splitlines()
    assert "accuracy_safe (safe; individual_average)" in lines
    assert (
        "  good: 0.800 [0.700, 0.870] n=90, 2 failed; people 0.850 [0.800, 0.900], constant 0.500 [0.450, 0.550], "
        "0.86 [0.70, 1.01] of the way from a constant to a person"
    ) in lines
    assert "  none: no score: the judge rated no item" in lines
    assert "  good: 3.000 n=90" in lines
    assert "  weak: no score: there is no result of this judge" in lines


def test_judges_stand_against_each_other_below_the_metric(report):
    text = report.to_text()
    assert "accuracy_safe, judge against judge\n  good - weak: 0.200 [0.100, 0.300] n=90, 2 failed, p=0.0012" in text


def test_warnings_of_scorers_and_of_the_data_are_notes(report):
    assert report.notes == (
        "kim, safe, item 1: expected one of yes, no", "accuracy_safe, weak: labels can hardly judge"
    )  # fmt: skip
    assert report.to_text().endswith("Notes:\n  " + "\n  ".join(report.notes))


def test_the_csv_has_numbers_bounds_n_and_reasons(report):
    rows = {row["judge_id"]: row for row in csv.DictReader(io.StringIO(report.to_csv()))}
    good = rows["good"]
    assert [float(good[f"accuracy_safe{part}"]) for part in ("", "_lower", "_upper")] == [0.8, 0.7, 0.87]
    assert good["accuracy_safe_n"] == "90"
    assert rows["none"]["accuracy_safe"] == ""
    assert rows["none"]["accuracy_safe_reason"] == "the judge rated no item"
    assert rows["good"]["mine_wins_lower"] == ""


def test_the_json_is_strict_and_whole(report):
    data = json.loads(report._json_text(), parse_constant=pytest.fail)
    assert data["schema"] == "calibrant.alignment/1"
    assert data["judges"] == ["good", "weak", "none"]
    assert data["metrics"][0]["results"][2]["score"] is None
    assert data["metrics"][0]["comparison"]["differences"][0]["first"] == "good"
    assert data["metrics"][0]["about"] == "safe; individual_average"


class Page(HTMLParser):
    """The tags of a page with their attributes, and what loads anything."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.unclosed = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in {"meta", "br", "link", "img", "wbr"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.unclosed.append(tag)


def test_the_page_is_one_file_whole_and_sortable(report):
    page = Page(report.to_html())
    assert (page.open, page.unclosed) == ([], [])
    loaded = [attributes for tag, attributes in page.tags if tag in {"link", "img", "iframe"} or "src" in attributes]
    assert loaded == []
    heads = [tag for tag, _ in page.tags if tag == "button"]
    assert len(heads) == 4
    cells = [attributes for tag, attributes in page.tags if tag == "td"]
    assert len(cells) == 9
    assert all("data-value" in attributes for attributes in cells)


def test_the_best_of_each_column_is_marked_and_one_judge_alone_is_not(report, tmp_path):
    text = report.to_html()
    assert len(re.findall(r'class="best" data-value="0\.8"', text)) == 1
    alone = ScoreReport([metric("a", result("only", {"a": 0.9}))], tmp_path)
    assert 'class="best"' not in alone.to_html()


def test_where_less_is_better_the_least_is_the_best(tmp_path):
    rows = [result("a", {"error": 0.9}, scorer="mine"), result("b", {"error": 0.1}, scorer="mine")]
    found = ScoreReport([metric("error", *rows, higher_is_better=False)], tmp_path)
    assert re.search(r'class="best" data-value="0\.1"', found.to_html())


def test_intervals_are_drawn_with_words_for_those_who_do_not_see_them(report):
    text = report.to_html()
    assert text.count("<svg") == 2
    assert "good, accuracy_safe: 0.800, 95% interval 0.700 to 0.870" in text


def test_every_text_on_the_page_is_escaped(tmp_path):
    rows = result(ODD, {ODD: 0.5}, scorer="mine", metadata={"warnings": [ODD]})
    compared = {"reason": ODD}
    page = ScoreReport([metric(ODD, rows, about=ODD, comparison=compared)], tmp_path, [ODD]).to_html()
    assert "<img" not in page
    assert page.count("&lt;img src=x onerror=alert(1)&gt;") >= 6


def test_an_alt_test_shows_the_rate_at_its_epsilon_its_outcome_and_from_where_it_passes(tmp_path):
    row = result(
        "j",
        {"winning_rate": {"0.10": 0.0, "0.20": 1.0}, "advantage_probability": 0.9},
        scorer="alt_test",
        intervals={"advantage_probability": estimate(0.9, 0.8, 0.95)},
        metadata={"winning_rate_at_epsilon": 1.0, "break_even_epsilon": 0.1234, "epsilon": 0.2},
        details={"outcome": "passed"},
    )
    report = ScoreReport([metric("alt", row)], tmp_path)
    assert report.to_frame().row(0) == ("j", 1.0, 0.9)
    assert "  j: 0.900 [0.800, 0.950] n=90, 2 failed; passed at epsilon 0.2; passes from 0.123" in report.to_text()


def test_a_table_of_numbers_by_another_scorer_is_a_column_each(tmp_path):
    row = result("j", {"by_class": {"yes": 0.5, "no": None}}, scorer="mine", reason="no item was no")
    report = ScoreReport([metric("m", row)], tmp_path)
    assert report.to_frame().columns == ["judge_id", "m_by_class_yes", "m_by_class_no"]
    assert "  j: no score: no item was no" in report.to_text()


@pytest.mark.parametrize("name", ["r.html", "r.csv", "r.json", "r.txt", "deep/er/r.html", "r"])
def test_a_report_is_saved_below_scores_by_its_ending(report, name):
    path = report.save(name)
    assert path == report.scores_dir / name
    assert path.stat().st_size > 100


def test_a_format_may_be_said_and_an_unknown_one_is_listed(report):
    assert report.save("r.data", format="csv").read_text(encoding="utf-8").startswith("judge_id,")
    with pytest.raises(UnknownNameError, match="unknown report format 'pdf'; expected one of: csv, html, json, txt"):
        report.save("r.pdf")


def test_a_report_goes_elsewhere_only_by_a_whole_path(report, tmp_path):
    with pytest.raises(InputError, match=r"'\.\./r.html' leads out of .*; give a whole path to write elsewhere"):
        report.save("../r.html")
    assert report.save(tmp_path / "elsewhere" / "r.html").is_file()


def test_the_report_prints_itself_and_says_how_large_it_is(report, capsys):
    report.print()
    assert capsys.readouterr().out == report.to_text() + "\n"
    assert repr(report) == "ScoreReport(3 judges, 3 columns)"


def test_an_empty_report_is_a_report(tmp_path):
    report = ScoreReport([], tmp_path)
    assert report.to_frame().columns == ["judge_id"]
    assert report.to_csv() == "judge_id\n"
    assert "<table" in report.to_html()


@pytest.mark.parametrize(
    ("comparison", "lines"),
    [
        ({"reason": "no item was rated by all judges"}, ["no comparison: no item was rated by all judges"]),
        (
            {"differences": [{**DIFFERENCE, "p": None, "p_holm": None}], "groups": [["good", "weak"]]},
            ["good - weak: 0.200 [0.100, 0.300] n=90, 2 failed, no p-value", "cannot be told apart: good, weak"],
        ),
    ],
)
def test_a_comparison_says_what_it_cannot_tell(comparison, lines):
    assert judge_lines(comparison) == lines


@pytest.mark.parametrize(
    ("metadata", "mode", "said"),
    [
        ({"epsilon": 0.1, "break_even_epsilon": 1e-6}, "single", "passed at epsilon 0.1; passes at any above 0"),
        ({"epsilon": 0.1, "multiplicative_epsilon": True}, "single", "passed at multiplicative epsilon 0.1"),
        ({"epsilon": 0.2, "break_even_epsilon": 0.3}, "multitask", "passed at epsilon 0.2; every task passes from 0.3"),
    ],
)
def test_the_outcome_of_an_alt_test_names_its_margin(tmp_path, metadata, mode, said):
    row = result(
        "j", {"advantage_probability": 0.9}, scorer="alt_test", metadata=metadata, details={"outcome": "passed"}
    )
    row = row.model_copy(update={"aggregation_mode": TaskAggregationMode(mode)})
    assert ScoreReport([metric("alt", row)], tmp_path).to_text().splitlines()[-1].endswith(f"; {said}")


def test_a_warning_of_several_judges_is_said_once(tmp_path):
    rows = [result(name, {"x": 0.5}, scorer="mine", metadata={"warnings": ["odd"]}) for name in ("a", "b")]
    assert ScoreReport([metric("m", *rows)], tmp_path).notes == ("m, a, b: odd",)


def test_the_embedder_stands_beside_the_similarity_that_it_made(tmp_path):
    row = result("j", {"semantic_similarity": 0.9}, scorer="mine", metadata={"embedding_model": "local/words"})
    assert "embeddings by local/words" in ScoreReport([metric("m", row)], tmp_path).to_text()


def test_a_table_that_is_wider_than_the_terminal_is_several(tmp_path):
    names = [f"accuracy_1tasks_0000000{number}_single" for number in range(5)]
    report = ScoreReport([metric(name, result("gpt", {"x": 0.5}, scorer="mine")) for name in names], tmp_path)
    tables = report.to_text(100).split("\n\n")[0]
    assert max(map(len, tables.splitlines())) <= 100
    assert tables.count("judge_id") == 3
    assert report.to_text().split("\n\n")[0].count("judge_id") == 1


def scored_tasks(tmp_path, count, scores):
    """A report on so many tasks, each with so many scores of its own."""
    rows = [
        metric(f"m{task}", result("judge", {f"score_{n}": 0.5 for n in range(scores)}, scorer="mine"), about=f"t{task}")
        for task in range(count)
    ]
    return ScoreReport(rows, tmp_path).to_html()


def heads_of_tables(text):
    return [
        re.sub("<[^>]+>", " ", table).split() for table in re.findall("<thead>.*?</thead>", text.replace("<wbr>", ""))
    ]


def test_many_scores_are_several_tables_and_those_of_a_task_stay_together(tmp_path):
    tables = heads_of_tables(scored_tasks(tmp_path, count=3, scores=4))
    assert [{word for word in head if re.fullmatch(r"t\d", word)} for head in tables] == [{"t0"}, {"t1"}, {"t2"}]
    assert all(head[0] == "judge_id" for head in tables)
    assert len(heads_of_tables(scored_tasks(tmp_path, count=6, scores=1))) == 1
    assert len(heads_of_tables(scored_tasks(tmp_path, count=1, scores=8))) == 2


def test_a_long_name_may_break_behind_its_underscores(tmp_path):
    assert "m0_<wbr>score_<wbr>1" in scored_tasks(tmp_path, count=1, scores=2)


def test_the_legend_speaks_of_judges_compared_only_where_some_were(report, tmp_path):
    said = "Whether two judges differ is said below"
    assert said not in ScoreReport([metric("a", result("only", {"a": 0.9}))], tmp_path).to_html()
    assert (
        said
        in ScoreReport(
            [metric("a", result("only", {"a": 0.9}), comparison={"reason": "one judge"})], tmp_path
        ).to_html()
    )
